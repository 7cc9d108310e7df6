"""What the genetic algorithm found, batch by batch, as the poses of all ligands of a file."""

from collections.abc import Callable

import numpy as np

from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.genetic.batched import Found, Lga
from ligen_py.engine.pose_arrays import ranges
from ligen_py.engine.refinement.maps import Grid
from ligen_py.opencl.device import Device
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Receptor
from ligen_py.records.pocket import GeometricField
from ligen_py.records.poses import WORST_RUN, Poses
from ligen_py.records.rows import rows_below, subset
from ligen_py.settings.lga import LgaSettings

MILLI = 1000
"""Scores count in cal/mol: energies of kcal/mol times this."""


class Collected:
    """Poses of ligands, a pose for each run."""

    def __init__(self, torsions: np.ndarray, rows: np.ndarray, runs: int) -> None:
        """Expect poses of the ligands `rows` of those that have these numbers of torsions."""
        self._runs = runs
        counts = np.zeros(len(torsions), np.int64)
        counts[rows] = runs
        self._first_pose = np.concatenate([[0], np.cumsum(counts)])
        self._torsions = torsions[rows]
        lengths = np.repeat(self._torsions, runs)
        self._first_torsion = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        poses = len(rows) * runs
        self._translation = np.zeros((poses, 3), np.float32)
        self._quaternion = np.zeros((poses, 4), np.float32)
        self._torsion = np.zeros(int(lengths.sum()), np.float32)
        self._energy = np.zeros(poses)
        self.evaluations = 0

    def add(self, batch: np.ndarray, found: Found) -> None:
        """Put what was found of some of the expected ligands in its place."""
        count = np.full(len(batch), self._runs)
        poses = ranges(batch * self._runs, count)
        self._translation[poses] = found.translation
        self._quaternion[poses] = found.quaternion
        self._energy[poses] = found.energy
        lengths = np.repeat(self._torsions[batch], self._runs)
        turns = ranges(self._first_torsion[poses], lengths)
        degrees = np.rad2deg(found.torsion.astype(np.float64))
        self._torsion[turns] = np.mod(degrees, 360).astype(np.float32)
        self.evaluations += int(found.evaluations.astype(np.int64).sum())

    def poses(self) -> Poses:
        """The poses as a record."""
        poses = len(self._energy)
        score = np.clip(-np.round(self._energy * MILLI), WORST_RUN, -WORST_RUN)
        none = np.zeros(poses, np.int32)  # the energy has a wall there, so bumps are not counted
        return Poses(
            first_pose=self._first_pose.astype(np.int64),
            first_torsion=self._first_torsion,
            restart=np.tile(np.arange(self._runs, dtype=np.int32), poses // self._runs),
            translation=self._translation,
            quaternion=self._quaternion,
            torsion=self._torsion,
            score=score.astype(np.int32),
            internal_bumps=none,
            pocket_bumps=none,
            outside=none,
        )


def docked(
    device: Device,
    ligands: Ad4Ligands,
    receptor: Ad4Receptor,
    box: GeometricField,
    rows: np.ndarray,
    settings: LgaSettings,
    done: Callable[[int], None] = lambda count: None,
) -> Collected:
    """Search for poses of the ligands `rows` in a box of a receptor.

    After each batch `done` is called with the number of its ligands.
    """
    collected = Collected(np.diff(ligands.first_torsion), rows, settings.runs)
    if len(rows):
        fitting = subset(ligands, rows_below(ligands, "ligand", rows))
        field = Ad4Field(device, receptor, Grid.over(box, settings.spacing), fitting)
        for batch, found in Lga(device, field).search(fitting, settings):
            collected.add(batch, found)
            done(len(batch))
    return collected
