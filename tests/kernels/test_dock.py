"""The dock kernel against its NumPy twin, bit for bit, on every OpenCL device found."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.engine.docking import batched as docking
from ligen_py.engine.docking import reference as docking_reference
from ligen_py.engine.docking.batched import Docker, Job
from ligen_py.engine.docking.latency import LatencyDocker
from ligen_py.engine.docking.search import Plan, pack
from ligen_py.engine.filtering.batched import is_bumped
from ligen_py.engine.geometry import rebuild
from ligen_py.engine.pose_arrays import take
from ligen_py.engine.random_input import make_field, make_ligands
from ligen_py.errors import DeviceError
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.tuning import Tuning
from ligen_py.records.ligands import Ligands
from ligen_py.records.poses import Poses
from ligen_py.settings.dock import DockSettings


def plan(restarts: int, **changes: float) -> Plan:
    settings = {"num_restart": restarts, "num_iterations": 2, "max_num_poses": 0, **changes}
    return Plan.of(make_field(), DockSettings(**settings))


def expect_equal(poses: Poses, twin_plan: Plan, ligands: Ligands, number: int) -> None:
    """Every column of one ligand's poses equals the twin's."""
    batch = pack(ligands, np.array([number]), twin_plan)
    results, quaternions, shifts, turns = docking_reference.dock(twin_plan, batch, 0)
    mine = slice(poses.first_pose[number], poses.first_pose[number + 1])
    torsions = slice(poses.first_torsion[mine.start], poses.first_torsion[mine.stop])
    columns = np.stack(
        [
            poses.score[mine],
            poses.internal_bumps[mine],
            poses.pocket_bumps[mine],
            poses.outside[mine],
        ],
        axis=1,
    )
    assert np.array_equal(columns, results)
    assert np.array_equal(poses.quaternion[mine], quaternions)
    assert np.array_equal(poses.translation[mine], twin_plan.to_angstrom(shifts))
    steps = poses.torsion[torsions].reshape(turns.shape) / (360 / twin_plan.settings.n_angles)
    assert np.array_equal(steps, turns)


@pytest.fixture(params=["sub-groups", "lanes", "vectors"])
def form(request: pytest.FixtureRequest, device: Device, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each form of the kernel; where a lane is a restart, with one and with many in a work-item."""
    if request.param == "sub-groups":
        if device.back_end == "local" and not device.is_simulator:
            pytest.skip("PoCL compiles so many barriers for minutes, and takes the other form")
        return docking.BY_SUB_GROUPS
    vectors = {device.kind: 16} if request.param == "vectors" else {}
    monkeypatch.setattr(docking, "VECTORS", vectors)
    return docking.BY_LANES


@pytest.mark.lanes_64("Oclgrind")
def test_kernel_equals_twin(device: Device, form: str) -> None:
    sizes = [(9, 2), (14, 0)] if device.is_simulator else [(5, 0), (20, 4), (31, 6)]
    sizes += [(70, 9), (130, 12)] if device.back_end != "local" else []
    restarts = 2 if device.is_simulator else 20
    ligands = make_ligands(sizes)
    search = plan(restarts, num_iterations=1 if device.is_simulator else 2)
    poses = Docker(device, search, source=form).dock(ligands)
    for number in range(len(sizes)):
        expect_equal(poses, search, ligands, number)


COLUMNS = (
    "score",
    "internal_bumps",
    "pocket_bumps",
    "outside",
    "quaternion",
    "translation",
    "torsion",
)


def sizes_for(device: Device) -> list[tuple[int, int]]:
    return [(9, 2), (8, 1)] if device.is_simulator else [(20, 4), (9, 2), (31, 6), (12, 0), (25, 5)]


def rows_of(poses: Poses, number: int) -> dict[str, np.ndarray]:
    """All columns of one ligand's poses."""
    mine = slice(poses.first_pose[number], poses.first_pose[number + 1])
    turns = slice(poses.first_torsion[mine.start], poses.first_torsion[mine.stop])
    return {name: getattr(poses, name)[turns if name == "torsion" else mine] for name in COLUMNS}


def expect_same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> None:
    for name in COLUMNS:
        assert np.array_equal(left[name], right[name]), name


def test_order_and_company_change_nothing(device: Device) -> None:
    sizes, restarts = sizes_for(device), 2 if device.is_simulator else 4
    ligands = make_ligands(sizes)
    docker = Docker(device, plan(restarts, num_iterations=1))
    together = docker.dock(ligands)
    for number in range(len(sizes)):
        alone = docker.dock(ligands, np.array([number]))
        expect_same(rows_of(together, number), rows_of(alone, number))
        assert len(alone.restart) == restarts


@pytest.mark.parametrize(
    ("module_name", "value"),
    [("WAVES", 1), ("WAVES", 3), ("LIGANDS_PER_RESIDENT", 0)],
)
def test_splits_and_batches_change_nothing(
    device: Device, form: str, module_name: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if device.is_simulator and module_name == "WAVES" and value > 1:
        pytest.skip("other numbers take the same way")
    ligands = make_ligands(sizes_for(device))
    search = plan(3 if device.is_simulator else 5, num_iterations=1)
    expected = Docker(device, search, source=form).dock(ligands)
    monkeypatch.setattr(docking, module_name, value)
    found = Docker(device, search, source=form).dock(ligands)
    for number in range(len(ligands.entry)):
        expect_same(rows_of(expected, number), rows_of(found, number))


@pytest.mark.parametrize("form", [Docker, LatencyDocker])
@pytest.mark.parametrize("kept", [1, 34])
def test_best_poses_are_those_of_the_full_set(
    device: Device, kept: int, form: type[Docker | LatencyDocker]
) -> None:
    if device.is_simulator:
        pytest.skip("minutes of simulation")
    ligands = make_ligands(sizes_for(device))
    full = Docker(device, plan(45, num_iterations=1)).dock(ligands)
    found = form(device, plan(45, num_iterations=1, max_num_poses=kept)).dock(ligands)
    assert np.array_equal(np.diff(found.first_pose), np.full(len(ligands.entry), kept))
    bumped = is_bumped(full, 1)
    for number in range(len(ligands.entry)):
        mine = range(*full.first_pose[number : number + 2])
        best = sorted(sorted(mine, key=lambda pose: (bumped[pose], -full.score[pose], pose))[:kept])
        expected = take(full, np.array(best), np.array([kept]))
        restarts = found.restart[kept * number : kept * (number + 1)]
        assert np.array_equal(restarts, full.restart[best])
        expect_same(rows_of(expected, 0), rows_of(found, number))


@pytest.mark.parametrize(
    "tuning",
    [
        # Few, since a processor's compiler takes 5 to 10 s for each.
        Tuning(sub_groups=3, registers=64, look_up="bricks"),
        Tuning(sub_groups=1, look_up="image", unroll=4, poses_per_item=1),
        Tuning(lanes=8, sub_groups=2, unroll=1),
        Tuning(lanes=16, look_up="bricks"),
    ],
    ids=str,
)
def test_tuning_changes_nothing(device: Device, tuning: Tuning) -> None:
    if device.back_end == "local" and not device.is_simulator:
        pytest.skip("minutes to compile")
    if device.kind == "cpu" and not tuning.lanes:  # of 32 each takes three times as long
        tuning = replace(tuning, lanes=8)
    fault = tuning.fault_on(device.back_end, device.sub_group_size, docking.BY_SUB_GROUPS)
    if fault:
        pytest.skip(fault)
    sizes = [(9, 2), (8, 1)] if device.is_simulator else [(20, 4), (60, 6), (12, 0)]
    # Each class of sizes is another program, which a processor's compiler takes long for.
    sizes = sizes[:1] if device.kind == "cpu" else sizes
    ligands, search = make_ligands(sizes), plan(5, num_iterations=1)
    poses = Docker(device, search, tuning).dock(ligands)
    for number in range(len(sizes)):
        expect_equal(poses, search, ligands, number)


def test_more_iterations_never_cost_a_clean_pose_its_score(device: Device) -> None:
    if device.is_simulator:
        pytest.skip("its poses are the twin's, so that they have what the other devices' have")
    ligands = make_ligands(sizes_for(device))
    # Rebuilding from the genotype moves atoms by rounding only; a field that does not change from
    # point to point within half a cell would make this exact, so allow one atom to change cells.
    before = Docker(device, plan(6, num_iterations=0)).dock(ligands)
    after = Docker(device, plan(6, num_iterations=2)).dock(ligands)
    clean = before.internal_bumps == 0
    assert clean.any()
    assert (after.internal_bumps[clean] == 0).all()
    assert (after.score[clean] >= before.score[clean] - 26).all()
    assert after.score.sum() > before.score.sum()


def test_bond_lengths_survive(device: Device) -> None:
    if device.is_simulator:
        pytest.skip("its poses are the twin's, so that they have what the other devices' have")
    ligands = make_ligands([(20, 4)])
    poses = Docker(device, plan(6)).dock(ligands)
    places = rebuild(
        ligands.xyz,
        ligands.torsion_axis,
        ligands.torsion_range,
        poses.torsion.reshape(6, -1),
        poses.quaternion,
        poses.translation,
    )

    def lengths(xyz: np.ndarray) -> np.ndarray:
        return np.linalg.norm(
            xyz[..., ligands.bond[:, 0], :] - xyz[..., ligands.bond[:, 1], :], axis=-1
        )

    assert np.allclose(lengths(places), lengths(ligands.xyz), atol=1e-3)
    assert np.allclose(np.linalg.norm(poses.quaternion, axis=1), 1, atol=1e-5)


def test_short_memory_halves_the_batch_and_changes_nothing(
    device: Device, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if device.is_simulator:
        pytest.skip("what is tried again is the host's matter")
    ligands = make_ligands(sizes_for(device))
    search = plan(4, num_iterations=1)
    expected = Docker(device, search).dock(ligands)
    free, room = buffers.empty, [2]

    def scarce(on: Device, count: int, dtype: object) -> object:
        if dtype is np.int32 and count > room[0] * 4 * 4:  # results of so many ligands
            raise buffers.OutOfMemoryError("no room")
        return free(on, count, dtype)

    monkeypatch.setattr(docking, "LIGANDS_PER_RESIDENT", 5)
    monkeypatch.setattr(docking, "resident", lambda *_: 1)
    monkeypatch.setattr(docking.buffers, "empty", scarce)
    for room[0] in (2, 1):
        found = Docker(device, search).dock(ligands)
        for number in range(len(ligands.entry)):
            expect_same(rows_of(expected, number), rows_of(found, number))
    assert "no room; trying again with" in caplog.text
    monkeypatch.setattr(docking.buffers, "empty", _nothing)
    with pytest.raises(DeviceError, match="not one byte"):
        Docker(device, search).dock(ligands)


def test_a_batch_has_no_more_turns_than_kernels_can_number(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An int numbers a torsion of a pose."""
    ligands, search = make_ligands([(70, 64)]), plan(4096)
    docker = Docker(device, search)
    monkeypatch.setattr(buffers, "budget", lambda _: 1 << 50)
    monkeypatch.setattr(Docker, "_resident", lambda *_: 1 << 20)
    rows = np.zeros(20_000, np.int64)
    sizes = [len(bucket.members) for bucket in docker._buckets(Job(ligands, rows))]
    assert sum(sizes) == 20_000
    most = 4096 * len(ligands.torsion_axis) * max(sizes)
    assert 0.99 * 2**31 < most < 2**31


def test_buffers_are_used_again_and_grow(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small batch after a large one asks the device for nothing, and gets the same results."""
    ligands = make_ligands(sizes_for(device))
    docker = Docker(device, plan(2 if device.is_simulator else 4, num_iterations=1))
    every, first = np.arange(len(ligands.entry)), np.array([0])
    for rows in (first, every, first):  # both reserves have met the largest
        docker.search(ligands, every)
        expected = docker.search(ligands, rows)
    monkeypatch.setattr(docking.buffers, "empty", _nothing)
    for left, right in zip(expected, docker.search(ligands, first), strict=True):
        assert np.array_equal(left, right)


def _nothing(*_: object) -> object:
    raise buffers.OutOfMemoryError("not one byte")


def test_jobs_overlap_and_change_nothing(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next job is under way before the last is fetched; jobs without ligands have a turn."""
    if device.is_simulator:
        pytest.skip("the order is the host's")
    ligands = make_ligands(sizes_for(device))
    docker = Docker(device, plan(4, num_iterations=1))
    wanted: list[list[int]] = [[], [0, 3], [1], [], [2, 4], []]
    jobs = [Job(ligands, np.array(rows, np.int64)) for rows in wanted]
    expected = [docker.search(*job) for job in jobs]
    said: list[str] = []
    launch, fetch = docker._launch, docker._fetch
    monkeypatch.setattr(
        docker, "_launch", lambda *given: (said.append("launch"), launch(*given))[1]
    )
    monkeypatch.setattr(docker, "_fetch", lambda *given: (said.append("fetch"), fetch(*given))[1])
    found = list(docker.searches(jobs))
    assert said == ["launch", *["launch", "fetch"] * (len(said) // 2 - 1), "fetch"]
    for left, right in zip(expected, found, strict=True):
        assert all(map(np.array_equal, left, right))
