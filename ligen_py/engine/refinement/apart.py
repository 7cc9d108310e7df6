"""Poses of two searches are refined apart: each as if there were no other, so that both are kept.

A near pose of one search has often a higher energy than thirty poses of the other
(docs/notes/accuracy.md, "Two searches together").
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ligen_py.engine.pose_arrays import take
from ligen_py.records.kept import Verdicts
from ligen_py.records.poses import WORST_RUN, Poses
from ligen_py.records.refined import Refinement
from ligen_py.records.rows import concatenated

Kept = tuple[Poses, Verdicts, Refinement]
"""Poses that a refinement keeps, lowest energy first."""


def apart(poses: Poses) -> list[Poses]:
    """The poses of each search; mostly there is one."""
    is_run = poses.score >= WORST_RUN
    if is_run.all() or not is_run.any():
        return [poses]
    count = len(poses.first_pose) - 1
    owner = _owner(poses)
    return [
        take(poses, rows, np.bincount(owner[rows], minlength=count))
        for rows in (np.flatnonzero(is_run), np.flatnonzero(~is_run))
    ]


def joined(found: Sequence[Kept]) -> Kept:
    """What was kept of the poses of each search, as one; lowest energy of a ligand first."""
    if len(found) == 1:
        return found[0]
    (first, verdicts, _), (second, others, _) = found
    others = replace(others, cluster=others.cluster + verdicts.cluster.max(initial=-1) + 1)
    refinement = concatenated([one for _, _, one in found])
    order = np.lexsort((refinement.after, np.concatenate([_owner(first), _owner(second)])))
    counts = np.diff(first.first_pose) + np.diff(second.first_pose)
    words = concatenated([verdicts, others])
    return (
        take(concatenated([first, second]), order, counts),
        Verdicts(words.verdict[order], words.cluster[order]),
        Refinement(refinement.before[order], refinement.after[order]),
    )


def _owner(poses: Poses) -> np.ndarray:
    """The ligand (poses,) of each pose."""
    counts = np.diff(poses.first_pose)
    return np.repeat(np.arange(len(counts)), counts)
