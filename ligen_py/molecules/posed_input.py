"""Poses of ligands as other programs write them: SDF files with coordinates in a receptor."""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rdkit import Chem

from ligen_py.errors import InputError
from ligen_py.molecules.graph import Graph
from ligen_py.molecules.typing.gnina import ligand_channels


@dataclass(frozen=True)
class PosedMolecule:
    """A pose as gnina's networks see it."""

    name: str
    xyz: np.ndarray
    """(atoms, 3), Angstrom."""
    element: np.ndarray
    channel: np.ndarray
    """Channels of densities (atoms,)."""


def read_poses(path: Path) -> list[PosedMolecule]:
    """The poses of an SDF file, plain or .gz; hydrogens that it leaves out are added.

    Raises InputError that names the record which cannot be read, or has no coordinates.
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
    found, records = [], Chem.SDMolSupplier()
    records.SetData(text, removeHs=False)
    for number, mol in enumerate(records, 1):
        if mol is None:
            raise InputError(f"{path}: record {number} is no molecule that RDKit reads")
        if not mol.GetNumConformers() or not mol.GetConformer().Is3D():
            raise InputError(f"{path}: record {number} has no 3-D coordinates; give docked poses")
        name = mol.GetProp("_Name") if mol.HasProp("_Name") else ""
        whole = Chem.AddHs(mol, addCoords=True)
        graph = Graph.of(whole)
        xyz = whole.GetConformer().GetPositions()
        found.append(PosedMolecule(name, xyz, graph.element, ligand_channels(graph)))
    return found
