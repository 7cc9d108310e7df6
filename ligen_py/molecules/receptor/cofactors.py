"""Cofactors, lipids, buffers and modified residues with their bonds and charges, by residue name.

A structure file has neither bond orders nor, mostly, hydrogens. `cofactors.tsv` has both as SMILES,
in the protonation state of pH 7; a config may add others, as SMILES or as files. A residue is laid
over the SMILES by its elements and bonds, so names of atoms do not matter, and atoms may be
missing.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from rdkit import Chem, rdBase

from ligen_py.errors import InputError
from ligen_py.molecules.elements import METALS
from ligen_py.molecules.mol2 import read_mol2
from ligen_py.molecules.receptor.structure import read_text
from ligen_py.settings.pocket import Structure

TABLE = Path(__file__).with_name("cofactors.tsv")


@cache
def known() -> Mapping[str, str]:
    """Residue name -> SMILES."""
    with TABLE.open(newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {name: row["smiles"] for row in rows for name in row["residues"].split()}


def smiles_of(structure: Structure) -> dict[str, str]:
    """Residue name -> SMILES of the cofactors that a config gives, as SMILES or as files.

    Raises InputError where one cannot be read.
    """
    found = dict(structure.cofactors)
    for name, text in found.items():
        path = structure.cofactor_files.get(name)
        with rdBase.BlockLogs():
            mol = _molecule_of(Path(path)) if path else Chem.MolFromSmiles(text)
        if mol is None or not mol.GetNumAtoms():
            what = "no molecule can be read from" if path else "the SMILES cannot be read:"
            raise InputError(f"cofactors.{name}: {what} {text!r}")
        if path:
            found[name] = Chem.MolToSmiles(mol)
    return found


def _molecule_of(path: Path) -> Chem.Mol | None:
    """The first molecule of a file."""
    text = read_text(path)
    if path.suffix.lower() != ".mol2":
        return Chem.MolFromMolBlock(text.partition("$$$$")[0])
    mol = read_mol2(text)
    return Chem.RemoveHs(mol) if mol else None


def placed(
    smiles: str, symbols: Sequence[str], bonded: Sequence[Sequence[int]]
) -> dict[int, int] | None:
    """Atom of a residue -> atom of the SMILES with hydrogens (`molecule`).

    `symbols` are elements, `bonded` the neighbours of each atom within the residue; metals are left
    out. None where the residue is not that molecule or a part of it.
    """
    rows = [i for i, symbol in enumerate(symbols) if symbol.upper() not in METALS]
    skeleton, place = Chem.RWMol(), {}
    for i in rows:
        place[i] = skeleton.AddAtom(Chem.Atom(symbols[i].capitalize()))
    for i in rows:
        for other in bonded[i]:
            if other in place and i < other:
                skeleton.AddBond(place[i], place[other], Chem.BondType.SINGLE)
    if not rows:
        return None
    match = _skeleton(smiles).GetSubstructMatch(skeleton.GetMol())
    return dict(zip(rows, match, strict=True)) if match else None


@cache
def molecule(smiles: str) -> Chem.Mol:
    """A cofactor with explicit hydrogens; heavy atoms in the order of the SMILES."""
    return Chem.AddHs(Chem.MolFromSmiles(smiles))


@cache
def _skeleton(smiles: str) -> Chem.Mol:
    """Its heavy atoms and bonds, without orders and charges."""
    mol = Chem.MolFromSmiles(smiles)
    result = Chem.RWMol()
    for atom in mol.GetAtoms():
        result.AddAtom(Chem.Atom(atom.GetAtomicNum()))
    for bond in mol.GetBonds():
        result.AddBond(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), Chem.BondType.SINGLE)
    return result.GetMol()
