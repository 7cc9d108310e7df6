"""Which docked poses a refinement is given: those that the filter has kept."""

import numpy as np

from ligen_py.engine.pose_arrays import take
from ligen_py.records.kept import Chosen
from ligen_py.records.poses import Poses


def kept_of(poses: Poses, kept: Chosen) -> Poses:
    """The kept ones of docked poses, in the filter's order."""
    return take(poses, kept.rows(poses.first_pose), np.diff(kept.first_pose))


def as_docked(poses: Poses, kept: Chosen) -> Poses:
    """The kept ones in the order in which they were docked; not copied where all are kept."""
    if len(kept.number) == len(poses.restart):
        return poses
    return take(poses, np.sort(kept.rows(poses.first_pose)), np.diff(kept.first_pose))
