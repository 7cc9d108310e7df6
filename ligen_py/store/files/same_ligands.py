"""Check that a poses file belongs to a ligands file, and a kept file to a poses file."""

from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.records.kept import Chosen
from ligen_py.records.ligands import Ligands
from ligen_py.records.poses import Poses
from ligen_py.store.files.memory import current


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


def require_kept_of(
    kept_file: Path, kept: Chosen, poses_file: Path, first_pose: np.ndarray
) -> None:
    """Raise InputError unless every kept pose is one of its ligand's poses, each kept once.

    `first_pose` are the offsets of the poses file. What stages of one process hand on was made from
    what the same process read.
    """
    if current():
        return
    cure = f"make {kept_file} again from {poses_file}"
    found, expected = len(kept.first_pose) - 1, len(first_pose) - 1
    if found != expected:
        raise InputError(
            f"{kept_file}: chooses poses of {found} ligands, {poses_file} has {expected}; {cure}"
        )
    owner = np.repeat(np.arange(expected), np.diff(kept.first_pose))
    beyond = kept.number >= np.diff(first_pose)[owner]
    rows = kept.rows(first_pose)[~beyond]
    if np.count_nonzero(np.bincount(rows)) < len(owner):
        raise InputError(f"{kept_file}: its poses are not those of {poses_file}; {cure}")
