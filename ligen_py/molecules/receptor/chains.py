"""Sequences of a receptor's protein chains, and which of their residues line a site."""

from pathlib import Path
from typing import NamedTuple

import gemmi
import numpy as np

from ligen_py.errors import InputError
from ligen_py.molecules.receptor.selection import Selection, in_sequence
from ligen_py.molecules.receptor.structure import OTHER, read_atoms
from ligen_py.molecules.residues import SAME_AS

REACH = 6.0
"""Residues with a heavy atom this near (Angstrom) to an anchor of a pocket line it."""


class ProteinChain(NamedTuple):
    """One chain, as far as the structure shows it."""

    name: str
    sequence: str
    """One letter a residue; X for one that is no standard amino acid."""
    residues: list[str]
    """chain/residue name/number of each, as audits write them."""


def protein_chains(path: Path) -> list[ProteinChain]:
    """The protein chains of a structure file's first model, in the order of their names.

    Residues stand as they are bound, and else as they are numbered. Those that the structure does
    not show are left out, so their neighbours stand side by side. So is a free amino acid in HETATM
    records, which is a ligand. InputError where there is no protein.
    """
    atoms = read_atoms(path)
    first = atoms.model == atoms.model.min()
    selection = Selection(atoms, str(path))
    # Without these atoms, as in a trace of CA, nothing speaks against a residue.
    selection.open = first & np.isin(atoms.name, ("C", "N")) & np.isfinite(atoms.xyz).all(axis=1)
    selection.connect()
    seen = (atoms.name == "CA") & first & selection.polymer[selection.residue]
    shown = np.zeros(len(selection.places), bool)
    shown[selection.residue[seen]] = True
    found: dict[str, dict[tuple[int, str], tuple[str, str]]] = {}
    for number, _ in in_sequence(selection, selection.open | seen):
        place = selection.places[number]
        if not shown[number]:
            continue
        name = place.residue.removesuffix(OTHER)
        known = gemmi.find_tabulated_residue(SAME_AS.get(name, name))
        if known.is_amino_acid():
            letter = known.one_letter_code.upper().strip() or "X"
            chain = found.setdefault(place.chain, {})
            chain.setdefault((place.number, place.insertion), (letter, str(place)))
    if not found:
        raise InputError(
            f"{path}: contains no protein; give a receptor, or a FASTA file of the query"
        )
    return [
        ProteinChain(name, "".join(letter for letter, _ in rows), [place for _, place in rows])
        for name, rows in ((name, list(chain.values())) for name, chain in found.items())
    ]


def lining(label: np.ndarray, xyz: np.ndarray, anchor: np.ndarray) -> set[str]:
    """Residues (chain/residue name/number) of a pocket's atoms that line its anchors."""
    distance = np.linalg.norm(xyz[:, None] - anchor[None], axis=2).min(axis=1)
    return {str(label[row]).rpartition("/")[0] for row in np.flatnonzero(distance <= REACH)}
