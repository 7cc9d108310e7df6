"""The filter kernels against their NumPy twin, on every OpenCL device found."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ligen_py.engine.batches import spans
from ligen_py.engine.filtering import batched as filtering
from ligen_py.engine.filtering import reference as filtering_reference
from ligen_py.engine.filtering.batched import filter_poses, is_bumped
from ligen_py.engine.pose_arrays import places
from ligen_py.engine.random_input import make_ligands, make_poses
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.tuning import Tuning
from ligen_py.records.kept import Verdict
from ligen_py.records.ligands import Ligands
from ligen_py.records.poses import Poses
from ligen_py.settings.filter import FilterSettings


def settings(keep: int) -> FilterSettings:
    return FilterSettings(max_num_poses=keep, max_pocket_bumps=0, cluster_rmsd=2.0)


def twin(
    ligands: Ligands,
    poses: Poses,
    number: int,
    keep: int,
    rmsd: float,
    ways: np.ndarray | None = None,
) -> tuple:
    """The kept poses of one ligand, from the twin."""
    atoms = slice(ligands.first_atom[number], ligands.first_atom[number + 1])
    rows = slice(poses.first_pose[number], poses.first_pose[number + 1])
    heavy = places(ligands, poses, number)[:, ligands.element[atoms] != 1]
    return filtering_reference.select_poses(
        poses.score[rows], is_bumped(poses, 0)[rows], heavy, rmsd, keep, ways
    )


@pytest.mark.parametrize(("apart", "clusters"), [(2.0, 1), (2.0 + 2**-20, 2)])
def test_poses_at_the_limit_are_one_cluster(device: Device, apart: float, clusters: int) -> None:
    ligands = make_ligands([(6, 0)])
    # Quarters of an Angstrom: all coordinates, their differences and squares are exact.
    ligands = replace(ligands, xyz=np.round(ligands.xyz * 4) / np.float32(4))
    poses = make_poses(ligands, 2)
    poses = replace(
        poses,
        translation=np.array([[0, 0, 0], [apart, 0, 0]], "f4"),
        quaternion=np.tile(np.array([1, 0, 0, 0], "f4"), (2, 1)),
        pocket_bumps=np.zeros(2, "i4"),
        internal_bumps=np.zeros(2, "i4"),
    )
    _, verdicts = filter_poses(device, ligands, poses, settings(2))
    assert len(np.unique(verdicts.cluster)) == clusters
    assert len(np.unique(twin(ligands, poses, 0, 2, 2.0)[2])) == clusters


@pytest.mark.lanes_64("Oclgrind", "Portable")
def test_kernels_equal_twin(device: Device) -> None:
    sizes = [(9, 2), (14, 0)] if device.is_simulator else [(5, 0), (20, 4), (33, 6), (70, 9)]
    ligands = make_ligands(sizes)
    poses = make_poses(ligands, 6 if device.is_simulator else 70)
    for keep in (3, 50):
        kept, verdicts = filter_poses(device, ligands, poses, settings(keep))
        for number in range(len(sizes)):
            rows = slice(kept.first_pose[number], kept.first_pose[number + 1])
            chosen, verdict, cluster = twin(ligands, poses, number, keep, 2.0)
            assert np.array_equal(kept.number[rows], chosen)
            assert np.array_equal(verdicts.verdict[rows], verdict)
            assert np.array_equal(verdicts.cluster[rows], cluster)


def test_the_nearest_of_the_symmetric_poses_counts(device: Device) -> None:
    ligands = make_ligands([(5, 0), (9, 2), (14, 0)])
    poses = make_poses(ligands, 6 if device.is_simulator else 40)
    heavy = [
        int((ligands.element[first:last] != 1).sum())
        for first, last in zip(ligands.first_atom[:-1], ligands.first_atom[1:], strict=True)
    ]
    # The molecule the other way round, and by one atom further, as if all atoms were alike.
    ways = [
        np.array([np.arange(n), np.arange(n)[::-1], np.roll(np.arange(n), 1)], np.uint16)
        for n in heavy
    ]
    apart = settings(50).model_copy(update={"cluster_rmsd": 3.0})
    without = filter_poses(device, ligands, poses, apart)[1]
    kept, verdicts = filter_poses(device, ligands, poses, apart, ways)
    leads = Verdict.REPRESENTATIVE
    assert (verdicts.verdict == leads).sum() <= (without.verdict == leads).sum()
    for number, own in enumerate(ways):
        rows = slice(kept.first_pose[number], kept.first_pose[number + 1])
        chosen, verdict, cluster = twin(ligands, poses, number, 50, 3.0, own)
        assert np.array_equal(kept.number[rows], chosen)
        assert np.array_equal(verdicts.verdict[rows], verdict)
        assert np.array_equal(verdicts.cluster[rows], cluster)


def test_without_a_radius_every_pose_free_of_bumps_is_a_cluster(device: Device) -> None:
    """Also where two lie in one place."""
    ligands = make_ligands([(9, 2), (14, 0)])
    poses = make_poses(ligands, 8)
    for column in (poses.translation, poses.quaternion, poses.pocket_bumps, poses.internal_bumps):
        column[9] = column[8]
    free = settings(8).model_copy(update={"cluster_rmsd": 0.0})
    kept, verdicts = filter_poses(device, ligands, poses, free)
    assert (verdicts.verdict == Verdict.REPRESENTATIVE).any()
    assert (verdicts.verdict != Verdict.BUMP_FREE).all()
    for number in range(2):
        rows = slice(kept.first_pose[number], kept.first_pose[number + 1])
        chosen, verdict, cluster = twin(ligands, poses, number, 8, 0.0)
        assert np.array_equal(kept.number[rows], chosen)
        assert np.array_equal(verdicts.verdict[rows], verdict)
        assert np.array_equal(verdicts.cluster[rows], cluster)
        own = cluster[cluster >= 0]
        assert own.tolist() == list(range(len(own)))


def test_order_of_verdicts(device: Device) -> None:
    ligands = make_ligands([(9, 2)])
    poses = make_poses(ligands, 8)
    kept, verdicts = filter_poses(device, ligands, poses, settings(8))
    assert len(kept.number) == 8
    assert (np.diff(verdicts.verdict.astype(int)) >= 0).all()
    for verdict in Verdict:
        assert (np.diff(poses.score[kept.number][verdicts.verdict == verdict]) <= 0).all()
    assert (verdicts.cluster[verdicts.verdict == Verdict.BUMPED] == -1).all()
    assert (verdicts.cluster[verdicts.verdict != Verdict.BUMPED] >= 0).all()


def test_a_batch_has_no_more_ways_than_kernels_can_number(monkeypatch: pytest.MonkeyPatch) -> None:
    ligands = make_ligands([(9, 0)] * 4)
    poses = make_poses(ligands, 1)
    batches: list[tuple[int, int]] = []

    def noted(_: object, __: object, members: np.ndarray, *sizes: Any) -> list[Any]:
        """The first pose of each ligand, without a device."""
        batches[:] = spans(*sizes)
        return [(members, tuple(np.zeros(len(members), kind) for kind in filtering.CHOSEN))]

    monkeypatch.setattr(filtering, "by_batches", noted)
    monkeypatch.setattr(buffers, "budget", lambda _: 40_000)
    few = [np.zeros((1, 9), "u2")] * 4
    many = [np.zeros((1000, 9), "u2")] * 4
    for ways, expected in ((few, [(0, 4)]), (many, [(0, 2), (2, 4)]), (None, [(0, 4)])):
        filter_poses(None, ligands, poses, settings(1), ways)  # type: ignore[arg-type]
        assert batches == expected


@pytest.mark.parametrize(("poses", "group"), [(256, 4), (3072, 4), (3073, 3), (4096, 3)])
def test_work_groups_are_smaller_where_local_memory_holds_fewer_poses(
    poses: int, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """48 KB, as NVIDIA's GPUs have."""
    card = SimpleNamespace(handle=SimpleNamespace(local_mem_size=48 << 10))
    monkeypatch.setattr(filtering, "tuned", lambda *_: Tuning(sub_groups=4))
    monkeypatch.setattr(filtering, "build_tuned", lambda *given: given[4])
    macros, found = filtering.program_of(card, 30, poses)  # type: ignore[arg-type]
    assert found == macros["WG_SUB_GROUPS"] == group  # type: ignore[index]
    assert 4 * group * macros["MAX_POSES"] <= 48 << 10  # type: ignore[index]
