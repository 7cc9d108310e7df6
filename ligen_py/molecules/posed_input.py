"""Poses of ligands as other programs write them: SDF files with coordinates in a receptor."""

import gzip
import logging
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rdkit import Chem, rdBase

from ligen_py.errors import InputError
from ligen_py.molecules.graph import Graph
from ligen_py.molecules.typing.gnina import ligand_channels

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
    """The poses of an SDF file, plain or .gz, and how many records were left out.

    Hydrogens that it leaves out are added. What is wrong with a record is logged, and an InputError
    where there is no other.
    """
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(f"{path}: the .gz is damaged or cut short; make it again") from error
    text = data.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise InputError(f"{path}: contains no poses; give an SDF file of docked ligands")
    found, faults, records = [], [], Chem.SDMolSupplier()
    with rdBase.BlockLogs():
        records.SetData(text, removeHs=False)
        for number, mol in enumerate(records, 1):
            try:
                found.append(_posed(number, mol))
            except InputError as error:
                faults.append(f"{path}: record {number} {error}")
    if not found:
        raise InputError(faults[0])
    for fault in faults:
        log.warning("left out: %s", fault)
    return found, len(faults)


def _posed(number: int, mol: Chem.Mol | None) -> PosedMolecule:
    if mol is None:
        raise InputError("is no molecule that RDKit reads; write it anew, or take it out")
    if not mol.GetNumHeavyAtoms():
        raise InputError("has no heavy atoms; take it out")
    if not mol.GetNumConformers() or not mol.GetConformer().Is3D():
        raise InputError("has no 3-D coordinates; give docked poses")
    name = mol.GetProp("_Name") if mol.HasProp("_Name") else ""
    whole = Chem.AddHs(mol, addCoords=True)
    graph = Graph.of(whole)
    xyz = whole.GetConformer().GetPositions()
    return PosedMolecule(number, name, xyz, graph.element, ligand_channels(graph))
