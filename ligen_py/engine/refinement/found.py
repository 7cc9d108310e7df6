"""What a device found of the poses of some ligands, and the poses with it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ligen_py.engine.geometry import in_blocks
from ligen_py.engine.pose_arrays import gathered, take
from ligen_py.records.poses import Poses


class Found(NamedTuple):
    """Refined poses of some ligands, those of a ligand together."""

    ligand: np.ndarray
    """Rows (poses,) of their ligands."""
    number: np.ndarray
    """(poses,): which of its ligand's given poses each was."""
    cluster: np.ndarray
    quaternion: np.ndarray
    translation: np.ndarray
    """Angstrom."""
    radians: np.ndarray
    """Torsions, one pose after another."""
    energies: np.ndarray
    """(poses, 2): before and after, kcal/mol."""
    gradients: np.ndarray
    """(poses, freedoms), kcal/mol by every degree of freedom; or (poses, 0)."""


def in_order(every: Sequence[Found], torsions: np.ndarray, width: int) -> Found:
    """The poses of all launches in the order of their ligands, which have so many torsions."""
    none = Found(
        *(np.zeros(0, kind) for kind in (np.int64, np.int64, np.int32)),
        *(np.zeros(shape, np.float32) for shape in ((0, 4), (0, 3), 0, (0, 2), (0, width))),
    )
    found = Found(*map(np.concatenate, zip(none, *every, strict=True)))
    order = np.argsort(found.ligand, kind="stable")
    turns = torsions[found.ligand]
    radians = gathered(found.radians, (np.cumsum(turns) - turns)[order], turns[order])
    columns = {name: column[order] for name, column in found._asdict().items() if name != "radians"}
    return Found(**columns, radians=radians)


def lowered(poses: Poses, found: Found) -> Poses:
    """Those of the given poses that were found, with what was found where its energy is lower."""
    counts = np.bincount(found.ligand, minlength=len(poses.first_pose) - 1)
    given = take(poses, poses.first_pose[found.ligand] + found.number, counts)
    better = found.energies[:, 1] < found.energies[:, 0]
    turns = np.repeat(better, np.diff(given.first_torsion))
    return replace(
        given,
        translation=np.where(better[:, None], found.translation, given.translation),
        quaternion=np.where(better[:, None], found.quaternion, given.quaternion),
        torsion=np.where(turns, in_blocks(_wrapped, found.radians), given.torsion),
    )


def _wrapped(radians: np.ndarray) -> np.ndarray:
    """Angles in degrees from 0 to 360; no negative zero."""
    degrees = np.rad2deg(radians)
    far = np.flatnonzero(np.abs(degrees) >= 360)
    found = degrees + np.where(degrees < 0, 360.0, 0.0)  # np.mod does so in ten times the time
    found[far] = np.mod(degrees[far], 360)
    return found + 0.0
