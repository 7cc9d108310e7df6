"""Poses of ligands as other programs write them: SDF files with coordinates in a receptor."""

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rdkit import Chem, rdBase

from ligen_py.errors import InputError
from ligen_py.molecules.graph import Graph
from ligen_py.molecules.library.reading import GUESSED, Record
from ligen_py.molecules.library.sdf_mol2 import sdf_blocks, sdf_record
from ligen_py.molecules.typing.gnina import ligand_channels
from ligen_py.records.ledger import Reason

log = logging.getLogger("ligen_py")


@dataclass(frozen=True)
class PosedMolecule:
    """A pose as gnina's networks see it."""

    record: int
    """Its number in the file, from 1."""
    name: str
    xyz: np.ndarray
    """(atoms, 3), Angstrom."""
    element: np.ndarray
    channel: np.ndarray
    """Channels of densities (atoms,)."""


def read_poses(path: Path) -> tuple[list[PosedMolecule], int]:
    """The poses of an SDF file, plain or compressed, and how many records were left out.

    Hydrogens that it leaves out are added. What is wrong with a record is logged, and an InputError
    where there is no other.
    """
    found, faults = [], []
    with rdBase.BlockLogs():
        for number, block in enumerate(sdf_blocks(path), 1):
            try:
                found.append(_posed(number, sdf_record(block, GUESSED)))
            except InputError as error:
                faults.append(f"{path}: record {number} {error}")
    if not found and not faults:
        raise InputError(f"{path}: contains no poses; give an SDF file of docked ligands")
    if not found:
        raise InputError(faults[0])
    for fault in faults:
        log.warning("left out: %s", fault)
    return found, len(faults)


def _posed(number: int, record: Record) -> PosedMolecule:
    if record.reason != Reason.NONE:
        raise InputError(f"cannot be used: {record.text}")
    mol = Chem.MolFromMolBlock(record.text, removeHs=False)
    if mol is None:
        raise InputError("is no molecule that RDKit reads; write it anew, or take it out")
    if not mol.GetNumHeavyAtoms():
        raise InputError("has no heavy atoms; take it out")
    if not mol.GetNumConformers() or not mol.GetConformer().Is3D():
        raise InputError("has no 3-D coordinates; give docked poses")
    whole = Chem.AddHs(mol, addCoords=True)
    if not all(atom.GetAtomicNum() for atom in whole.GetAtoms()):
        raise InputError("has a dummy atom; give the whole molecule")
    try:
        graph = Graph.of(whole)
    except ValueError as error:
        raise InputError(f"cannot be used: {error}") from error
    xyz = whole.GetConformer().GetPositions()
    return PosedMolecule(number, record.name, xyz, graph.element, ligand_channels(graph))
