"""The latency kernels against the twin, and against the batched kernel, bit for bit."""

from typing import Any, Literal

import numpy as np
import pytest

from ligen_py.engine.docking import latency
from ligen_py.engine.docking.batched import Docker
from ligen_py.engine.docking.latency import LatencyDocker
from ligen_py.engine.random_input import make_ligands
from ligen_py.errors import DeviceError
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.stream import Stream
from ligen_py.opencl.tuning import Tuning
from tests.kernels.test_dock import expect_equal, expect_same, plan, rows_of, sizes_for


@pytest.mark.lanes_64("Oclgrind")
def test_kernels_equal_twin(device: Device) -> None:
    # Kernels are compiled per atom class; PoCL needs a minute for each, so it gets one. 32 atoms
    # fill theirs: behind the last one stands the next restart.
    sizes = [(9, 2), (14, 0)] if device.is_simulator else [(5, 0), (20, 4), (32, 6)]
    sizes += [(130, 12)] if device.back_end != "local" else []
    ligands = make_ligands(sizes)
    search = plan(2, num_iterations=1) if device.is_simulator else plan(12)
    poses = LatencyDocker(device, search).dock(ligands)
    for number in range(len(sizes)):
        expect_equal(poses, search, ligands, number)


@pytest.mark.parametrize(
    ("launches", "team", "n_angles"),
    [("fragment", 4, 32), ("ligand", 3, 40)],
)
def test_launches_and_teams_change_nothing(
    device: Device,
    launches: Literal["ligand", "fragment"],
    team: int,
    n_angles: int,
) -> None:
    if device.back_end == "local" and not device.is_simulator:
        pytest.skip("minutes to compile")
    # The simulator watches a team for races.
    ligands = make_ligands([(12, 3)] if device.is_simulator else [(30, 5)])
    search = plan(2, num_iterations=1 if device.is_simulator else 2, n_angles=n_angles)
    docker = LatencyDocker(device, search, launches, Tuning(sub_groups=team))
    expect_equal(docker.dock(ligands), search, ligands, 0)


@pytest.mark.parametrize(("lanes", "look_up", "n_angles"), [(8, "bricks", 12), (16, "image", 20)])
def test_lanes_and_look_up_change_nothing(
    device: Device, lanes: int, look_up: str, n_angles: int
) -> None:
    tuning = Tuning(lanes=lanes, look_up=look_up, sub_groups=2)
    fault = tuning.fault_on(device.back_end, device.sub_group_size, latency.KERNELS)
    if device.back_end == "local" or fault:
        pytest.skip("minutes to compile, or not possible here")
    ligands, search = make_ligands([(60, 6)]), plan(4, n_angles=n_angles)
    docker = LatencyDocker(device, search, tuning=tuning)
    expect_equal(docker.dock(ligands), search, ligands, 0)


@pytest.mark.parametrize(("queues", "window"), [(1, 128), (3, 2)])
def test_queues_and_company_change_nothing(
    device: Device, queues: int, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = sizes_for(device)
    ligands = make_ligands(sizes)
    search = plan(4, num_iterations=1)
    expected = Docker(device, search).dock(ligands)
    monkeypatch.setitem(latency.QUEUES, device.kind, queues)
    monkeypatch.setattr(latency, "WINDOW", window)
    docker = LatencyDocker(device, search)
    for rows in (np.arange(len(sizes)), np.arange(0, len(sizes), 2), np.array([0])):
        poses = docker.dock(ligands, rows)
        assert len(poses.restart) == 4 * len(rows)
        for number in rows:
            expect_same(rows_of(expected, number), rows_of(poses, number))


def test_short_memory_means_fewer_queues(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    ligands = make_ligands(sizes_for(device))
    docker = LatencyDocker(device, plan(4, num_iterations=1))
    expected = docker.dock(ligands)
    room = [Stream]

    def scarce(*arguments: Any) -> Stream:
        if not room:
            raise buffers.OutOfMemoryError("not one byte")
        return room.pop()(*arguments)

    monkeypatch.setattr(latency, "Stream", scarce)
    docker = LatencyDocker(device, docker.plan)
    found = docker.dock(ligands)
    for number in range(len(ligands.entry)):
        expect_same(rows_of(expected, number), rows_of(found, number))
    with pytest.raises(DeviceError, match="not one byte"):
        LatencyDocker(device, docker.plan).dock(ligands)
