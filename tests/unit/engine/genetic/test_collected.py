"""Poses of the genetic algorithm, as they are written: by hand."""

import numpy as np
import pytest

from ligen_py.engine.genetic.batched import Found
from ligen_py.engine.genetic.collected import Collected


def test_batches_become_poses_in_the_order_of_ligands() -> None:
    """Of ligands with 2, 0 and 1 torsions the second is not docked; the third comes first."""
    collected = Collected(np.array([2, 0, 1]), np.array([0, 2]), 2)
    third, first = (
        Found(
            translation=base + np.arange(6.0).reshape(2, 3),
            quaternion=np.array([[1.0, 0, 0, 0], [0, 1, 0, 0]]),
            torsion=torsion,
            energy=energy,
            evaluations=np.array([base, base + 1]),
            generations=np.array([3, 4]),
        )
        for base, torsion, energy in (
            (10, np.array([np.pi / 2, -np.pi / 2]), np.array([-7.1234, 3e6])),
            (20, np.array([0, 4 * np.pi + 1, -1, 6.25]), np.array([-0.5, 1.25])),
        )
    )
    collected.add(np.array([1]), third)
    collected.add(np.array([0]), first)
    poses = collected.poses()
    assert poses.first_pose.tolist() == [0, 2, 2, 4]
    assert poses.first_torsion.tolist() == [0, 2, 4, 5, 6]
    assert poses.restart.tolist() == [0, 1, 0, 1]
    assert poses.score.tolist() == [500, -1250, 7123, -1_000_000_000]
    assert poses.translation.tolist() == [[20, 21, 22], [23, 24, 25], [10, 11, 12], [13, 14, 15]]
    assert poses.quaternion.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]] * 2
    expected = [0, np.rad2deg(1), 360 - np.rad2deg(1), np.rad2deg(6.25), 90, 270]
    assert poses.torsion == pytest.approx(expected, abs=1e-3)
    assert collected.evaluations == 20 + 21 + 10 + 11
