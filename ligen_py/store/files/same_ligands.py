"""Check that a poses file belongs to a ligands file."""

from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.records.ligands import Ligands
from ligen_py.records.poses import Poses


def require_same_ligands(
    ligands_file: Path, ligands: Ligands, poses_file: Path, poses: Poses
) -> None:
    """Raise InputError unless every pose has the torsions of its ligand."""
    cure = f"make {poses_file} again from {ligands_file}"
    found, expected = len(poses.first_pose) - 1, len(ligands.entry)
    if found != expected:
        raise InputError(
            f"{poses_file}: contains poses of {found} ligands, "
            f"{ligands_file} has {expected}; {cure}"
        )
    owner = np.repeat(np.arange(expected), np.diff(poses.first_pose))
    torsions = np.diff(ligands.first_torsion)[owner]
    if (np.diff(poses.first_torsion) != torsions).any():
        raise InputError(f"{poses_file}: its torsions are not those of {ligands_file}; {cure}")
