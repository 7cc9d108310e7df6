"""A prepared receptor as a PDB file."""

from collections.abc import Mapping

import gemmi
import numpy as np

from ligen_py.molecules.pdbqt import parents, seqid
from ligen_py.molecules.receptor.structure import OTHER
from ligen_py.records.functions.ad4 import Ad4Receptor, Ad4Type
from ligen_py.records.pocket import Whole


def receptor_pdb(whole: Whole, charged: Ad4Receptor) -> str:
    """A receptor with the polar hydrogens that scoring uses, near the site only.

    Chains are named as in the structure file; names longer than a letter, such as those of an
    assembly's copies, are replaced by one that is free. So are names of residues longer than three.

    Args:
        whole: all heavy atoms.
        charged: atoms near the site, with AutoDock4's types; its hydrogens are taken.
    """
    hydrogens = charged.xyz[charged.type == Ad4Type.HD]
    own: dict[int, list[np.ndarray]] = {}
    # At the rim of what is scored a polar hydrogen may lie near a carbon that is left out there.
    donors = np.where(whole.element[:, None] == 6, np.inf, whole.xyz)
    for number, parent in parents(hydrogens, donors):
        own.setdefault(parent, []).append(hydrogens[number])
    chains: dict[str, gemmi.Chain] = {}
    last: list[str] = []
    hydrogen = gemmi.Element("H")
    for i, label in enumerate(whole.label):
        *at, name = str(label).split("/")
        if last != at:
            last, (chain, residue, place) = at, at
            new = chains.setdefault(chain, gemmi.Chain(chain)).add_residue(gemmi.Residue())
            new.name, new.seqid = residue.removesuffix(OTHER), seqid(place)
            new.het_flag = "H" if whole.hetero[i] else "A"
        element = gemmi.Element(int(whole.element[i]))
        new.add_atom(atom_of(name, element, whole.xyz[i]))
        mine = own.get(i, [])
        for k, xyz in enumerate(mine, start=1):
            new.add_atom(atom_of(hydrogen_name(name, element.name, k, len(mine)), hydrogen, xyz))
    for one in chains.values():
        _end(one)
    return text_of(chains)


def text_of(chains: Mapping[str, gemmi.Chain]) -> str:
    """Chains by name as the text of a PDB file."""
    structure, model = gemmi.Structure(), gemmi.Model(1)
    for chain in chains.values():
        model.add_chain(chain)
    structure.add_model(model)
    structure.shorten_chain_names()
    structure.shorten_ccd_codes()
    options = gemmi.PdbWriteOptions(minimal=True, cryst1_record=False)
    return str(structure.make_pdb_string(options))


def _end(chain: gemmi.Chain) -> None:
    """Mark what stands before the TER line: all up to the last residue that is no hetero group.

    Amber's tleap binds the ends of two chains where there is none.
    """
    flags = [residue.het_flag for residue in chain]
    length = max((n for n, flag in enumerate(flags, start=1) if flag == "A"), default=0)
    for residue in list(chain)[:length]:
        residue.entity_type = gemmi.EntityType.Polymer


def atom_of(name: str, element: gemmi.Element, xyz: np.ndarray) -> gemmi.Atom:
    """An atom at a position (3,), Angstrom."""
    atom = gemmi.Atom()
    atom.name, atom.element, atom.occ, atom.b_iso = name, element, 1.0, 0.0
    atom.pos = gemmi.Position(*xyz.astype(float))
    return atom


def hydrogen_name(parent: str, symbol: str, number: int, count: int) -> str:
    """The name of a hydrogen after that of its heavy atom, as in the PDB.

    >>> hydrogen_name("NZ", "N", 2, 3), hydrogen_name("OG1", "O", 1, 1)
    ('HZ2', 'HG1')
    """
    stem = "H" + parent.upper().removeprefix(symbol.upper())
    return f"{stem}{number}"[:4] if count > 1 else stem[:4]
