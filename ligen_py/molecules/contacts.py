"""Which residues a pose touches."""

import numpy as np
from rdkit import Chem

from ligen_py.records.pocket import Receptor

REACH = 4.0
"""Distance of two heavy atoms below which they are in contact, in Angstrom."""


def residues_in_contact(molecule: np.ndarray, xyz: np.ndarray, receptor: Receptor) -> set[str]:
    """Residues with a heavy atom nearer than `REACH` to one of a pose, as 'chain/name/number'.

    Args:
        molecule: RDKit binary molecule, u1.
        xyz: positions (atoms, 3) in the molecule's order, Angstrom.
        receptor: heavy atoms of the pocket.
    """
    atoms = Chem.Mol(molecule.tobytes()).GetAtoms()
    heavy = xyz[[atom.GetAtomicNum() > 1 for atom in atoms]].astype("f8")
    gaps = receptor.xyz.astype("f8")[:, None] - heavy[None]
    near = ((gaps**2).sum(axis=2) < REACH**2).any(axis=1)
    return {residue_of(label) for label in receptor.label[near]}


def residue_of(label: str) -> str:
    """The residue of an atom's label.

    >>> residue_of("B/ASP/168/OD1")
    'B/ASP/168'
    """
    return str(label).rpartition("/")[0]


def residues_named(given: str, receptor: Receptor) -> set[str]:
    """Residues of a pocket that a word names: ASP168, B/ASP168, B/ASP/168 or 168."""
    chain, _, rest = given.rpartition("/") if given.count("/") == 1 else ("", "", given)
    wanted = (
        (chain, rest)
        if given.count("/") < 2
        else (given.split("/")[0], given[given.index("/") + 1 :])
    )
    plain = wanted[1].replace("/", "").upper()
    return {
        residue
        for residue in map(residue_of, dict.fromkeys(receptor.label))
        if (parts := residue.split("/"))
        and (not wanted[0] or parts[0] == wanted[0])
        and plain in ("".join(parts[1:]).upper(), parts[-1].upper())
    }
