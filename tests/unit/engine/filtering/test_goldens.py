"""Distances and clusters of poses against spyrmsd."""

import numpy as np
import pytest

from ligen_py.engine.filtering import reference as filtering_reference
from ligen_py.engine.geometry import rebuild
from ligen_py.records.kept import Verdict
from tests import goldens


def test_distances_and_clusters_are_those_of_spyrmsd() -> None:
    ligands, poses, rmsd, limit = goldens.clustered()
    count = len(poses.score)
    places = rebuild(
        ligands.xyz,
        ligands.torsion_axis,
        ligands.torsion_range,
        poses.torsion.reshape(count, -1),
        poses.quaternion,
        poses.translation,
    )[:, : int(ligands.heavy[0])]
    for pose in range(count):
        squared = filtering_reference.squared_distances(places[pose], places)
        assert np.sqrt(squared / places.shape[1]) == pytest.approx(rmsd[pose], abs=2e-4)

    free = np.zeros(count, bool)
    kept, verdict, cluster = filtering_reference.select_poses(
        poses.score, free, places, limit, count
    )
    leader = goldens.leaders(poses.score, rmsd, limit)
    assert len(set(leader.tolist())) > 5
    representative = kept[verdict == Verdict.REPRESENTATIVE]
    assert representative.tolist() == sorted(set(leader.tolist()), key=lambda i: -poses.score[i])
    found = {int(cluster[verdict == Verdict.REPRESENTATIVE][i]): int(pose)
             for i, pose in enumerate(representative)}  # fmt: skip
    assert [found[int(number)] for number in cluster] == leader[kept].tolist()
