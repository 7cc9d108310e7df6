"""Docked molecules for people and other programs: SDF records, SMILES, RMSD to a crystal pose."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rdkit import Chem, rdBase
from rdkit.Chem import rdMolAlign
from rdkit.Geometry import Point3D

from ligen_py.errors import InputError
from ligen_py.molecules.mol2 import read_mol2
from ligen_py.molecules.pdbqt_input import ligand_as_pdb
from ligen_py.molecules.receptor.perception import perceive
from ligen_py.molecules.receptor.structure import ligand_kind, read_text
from ligen_py.molecules.stored import molecule_of, stored

log = logging.getLogger("ligen_py")

CONTROL = "".join(map(chr, (*range(32), *range(127, 160), 0x2028, 0x2029)))
"""Characters that end lines or show nothing."""

_BLANKS = str.maketrans(dict.fromkeys(CONTROL, " "))

TITLE_LENGTH = 80
"""Longest title line of an SDF record (CTfile formats, BIOVIA 2020)."""

MOST_MATCHES = 100_000
"""Symmetric atom mappings tried for an RMSD; a molecule with more gets an upper bound."""


def one_line(text: str) -> str:
    """Text on one line: every control character and line separator becomes a space."""
    return text.translate(_BLANKS)


def sdf_record(
    molecule: np.ndarray, xyz: np.ndarray, name: str, properties: Mapping[str, str]
) -> str:
    """One SDF record with explicit hydrogens and Kekule bond orders, its ``$$$$`` line included.

    `name` and `properties` may contain anything: they are written on one line, the title is cut at
    80 characters, and nothing in them can end a value or the record.

    Args:
        molecule: as stored, u1.
        xyz: positions (atoms, 3) in the molecule's order, Angstrom.
        name: title.
        properties: data items; their names must be plain words.
    """
    return sdf_text(_with_poses(molecule_of(molecule), xyz[None]), name, properties)


def sdf_text(mol: Chem.Mol, name: str, properties: Mapping[str, str]) -> str:
    """As `sdf_record`, of a molecule of RDKit with a conformer."""
    block = Chem.MolToMolBlock(mol).split("\n", 1)[1]
    items = "".join(f">  <{_item(key)}>\n{_value(value)}\n\n" for key, value in properties.items())
    return f"{_value(name)[:TITLE_LENGTH].rstrip()}\n{block}{items}$$$$\n"


def posed(molecule: np.ndarray, xyz: np.ndarray, items: Mapping[str, str]) -> Chem.Mol:
    """A docked molecule with hydrogens, bond orders and one conformer, its items as properties.

    Args:
        molecule: as stored, u1.
        xyz: positions (atoms, 3) in the molecule's order, Angstrom.
        items: properties; `name` is the title, too.
    """
    mol = _with_poses(molecule_of(molecule), xyz[None])
    mol.SetProp("_Name", items.get("name", ""))
    for key, value in items.items():
        mol.SetProp(key, value)
    return mol


def _item(name: str) -> str:
    """The name of an item on one line, without what would end it."""
    return one_line(name).translate({ord("<"): "(", ord(">"): ")"})


def _value(text: str) -> str:
    """One line that no reader mistakes for a delimiter, a data header or the end of a value."""
    line = one_line(text)
    return f" {line}" if line.startswith(("$$$$", ">")) else line


def _with_poses(mol: Chem.Mol, poses: np.ndarray) -> Chem.Mol:
    """The molecule with some positions (poses, atoms, 3) as its conformers."""
    mol.RemoveAllConformers()
    for xyz in poses:
        if len(xyz) != mol.GetNumAtoms():
            raise ValueError("a pose has not as many atoms as its molecule")
        conformer = Chem.Conformer(mol.GetNumAtoms())
        for i, point in enumerate(xyz.astype(float)):
            conformer.SetAtomPosition(i, Point3D(*point))
        mol.AddConformer(conformer, assignId=True)
    return mol


def symmetric_rmsd(molecule: np.ndarray, poses: np.ndarray, crystal: Path) -> np.ndarray | None:
    """Heavy-atom RMSD (poses,) in Angstrom to a crystal pose, without alignment.

    The least value over all mappings of equal atoms (symmetry, and conjugated end groups such as
    carboxylates). Where bond orders in the crystal file differ from the docked molecule's, as they
    do in PDB files, atoms are matched by element and connectivity alone.

    Args:
        molecule: as stored, u1.
        poses: positions (poses, atoms, 3) in the molecule's order, Angstrom.
        crystal: SDF, MOL, MOL2, PDB or PDBQT file, plain or .gz; its first record is used.

    Returns:
        None if the crystal file contains another molecule.

    Raises:
        InputError: the crystal file cannot be read.
    """
    docked = Chem.RemoveAllHs(_with_poses(molecule_of(molecule), poses), sanitize=False)
    for reference in _fragments(_read_crystal(crystal), docked.GetNumAtoms()):
        for view in (_as_given, _skeleton):
            try:
                return _rmsd(view(docked), view(reference))
            except RuntimeError:  # RDKit: no mapping between the two
                continue
    return None


class CrystalPose(NamedTuple):
    """A reference ligand where the crystal has it."""

    smiles: str
    """Canonical isomeric SMILES."""
    xyz: np.ndarray
    """Positions (atoms, 3), Angstrom, f4; hydrogens stand where RDKit builds them."""
    molecule: np.ndarray
    """The molecule with hydrogens as it is stored, atoms in this order, u1."""


def heavy_atoms_of(molecule: np.ndarray) -> Chem.Mol:
    """The heavy atoms of a molecule as it is stored, u1; ValueError where they are none."""
    return Chem.RemoveAllHs(molecule_of(molecule))


def crystal_pose(crystal: Path, model: Chem.Mol | None) -> CrystalPose | None:
    """The reference ligand of a file, in the state that was docked where the two are one molecule.

    Bond orders and charges of a crystal file are often wrong, those of a PDB file missing: they are
    taken from `model`, the heavy atoms of what was docked, where its skeleton is the crystal's.
    Without it, those of a PDB or PDBQT file are perceived from the geometry; None where that is not
    sure, as its interactions would be another molecule's. None, too, where an atom has more bonds
    than can be, which is said in the log.

    Raises InputError where the file cannot be read.
    """
    mol = _read_crystal(crystal)
    for fragment in [] if model is None else _fragments(mol, model.GetNumAtoms()):
        match = _skeleton(fragment).GetSubstructMatch(_skeleton(model))
        if match:
            xyz = fragment.GetConformer().GetPositions()[list(match)]
            return _placed(model, xyz)
    chosen = max(
        Chem.GetMolFrags(Chem.RemoveAllHs(mol, sanitize=False), asMols=True, sanitizeFrags=False),
        key=Chem.Mol.GetNumAtoms,
        default=None,
    )
    if chosen is None:
        raise InputError(f"{crystal}: the reference ligand has no heavy atoms")
    xyz = chosen.GetConformer().GetPositions()
    if ligand_kind(crystal) in ("pdb", "pdbqt"):
        perceived = _perceived(chosen)
        return None if perceived is None else _placed(perceived, xyz)
    with rdBase.BlockLogs(), suppress(ValueError):
        Chem.SanitizeMol(chosen)
    chosen.UpdatePropertyCache(strict=False)
    try:
        with rdBase.BlockLogs():
            return _placed(chosen, xyz)
    except ValueError as error:
        log.warning(
            "%s: the reference ligand is no molecule (%s), and is not shown; correct its bonds and "
            "charges, or give it as an SDF file",
            crystal,
            error,
        )
        return None


def _perceived(mol: Chem.Mol) -> Chem.Mol | None:
    """Heavy atoms with the bond orders and charges that their places show; None if unsure."""
    symbols = [atom.GetSymbol() for atom in mol.GetAtoms()]
    bonded = [[near.GetIdx() for near in atom.GetNeighbors()] for atom in mol.GetAtoms()]
    found = perceive(symbols, mol.GetConformer().GetPositions(), bonded)
    return None if found is None else Chem.RemoveAllHs(found)


def _placed(heavy: Chem.Mol, xyz: np.ndarray) -> CrystalPose:
    """A molecule of heavy atoms at some positions, with hydrogens built upon them."""
    mol = _with_poses(Chem.Mol(heavy), xyz[None])
    full = Chem.AddHs(mol, addCoords=True)
    places = full.GetConformer().GetPositions().astype("f4")
    return CrystalPose(Chem.MolToSmiles(Chem.RemoveAllHs(full)), places, stored(full))


def _rmsd(docked: Chem.Mol, reference: Chem.Mol) -> np.ndarray:
    values = [
        rdMolAlign.CalcRMS(docked, reference, prbId=conformer.GetId(), maxMatches=MOST_MATCHES)
        for conformer in docked.GetConformers()
    ]
    return np.array(values, dtype="f8")


def _as_given(mol: Chem.Mol) -> Chem.Mol:
    return Chem.Mol(mol)


def _skeleton(mol: Chem.Mol) -> Chem.Mol:
    """The same atoms without charges, hydrogens, aromaticity and bond orders."""
    result = Chem.RWMol(mol)
    for atom in result.GetAtoms():
        atom.SetFormalCharge(0)
        atom.SetIsAromatic(False)
        atom.SetNumExplicitHs(0)
        atom.SetNoImplicit(True)
    for bond in result.GetBonds():
        bond.SetBondType(Chem.BondType.SINGLE)
        bond.SetIsAromatic(False)
    return result.GetMol()


def _fragments(mol: Chem.Mol, atoms: int) -> list[Chem.Mol]:
    """Connected parts with as many heavy atoms as the docked molecule, without hydrogens."""
    heavy = Chem.RemoveAllHs(mol, sanitize=False)
    parts = Chem.GetMolFrags(heavy, asMols=True, sanitizeFrags=False)
    return [part for part in parts if part.GetNumAtoms() == atoms]


def _read_crystal(path: Path) -> Chem.Mol:
    kind = ligand_kind(path)
    text = read_text(path)
    if kind == "pdbqt":
        text, kind = ligand_as_pdb(path, text), "pdb"
    with rdBase.BlockLogs():
        mol = _parse(kind, text, True) or _parse(kind, text, False)
    if mol is None or not mol.GetNumConformers():
        raise InputError(f"{path}: contains no readable molecule with coordinates")
    return mol


def _parse(kind: str, text: str, sanitize: bool) -> Chem.Mol | None:
    if kind == "pdb":
        return Chem.MolFromPDBBlock(text, sanitize=sanitize, removeHs=False)
    if kind == "mol2":
        if sanitize:
            return read_mol2(text)
        return Chem.MolFromMol2Block(text, sanitize=False, removeHs=False)
    block = text.partition("$$$$")[0]
    return Chem.MolFromMolBlock(block, sanitize=sanitize, removeHs=False, strictParsing=False)
