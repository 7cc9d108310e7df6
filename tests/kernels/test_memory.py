"""Launches that fail for want of memory are tried again with less, on every OpenCL device found."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pyopencl as cl
import pytest

from ligen_py.engine.docking import latency
from ligen_py.engine.docking.batched import Docker
from ligen_py.engine.docking.latency import LatencyDocker
from ligen_py.engine.filtering.batched import filter_poses
from ligen_py.engine.genetic.batched import Form
from ligen_py.engine.random_input import make_ligands, make_poses
from ligen_py.opencl import buffers, program
from ligen_py.opencl.device import Device
from ligen_py.opencl.tuning import tuned
from tests.kernels.test_dock import plan
from tests.kernels.test_filter import settings
from tests.kernels.test_lga import field_of, ligands_of, searched
from tests.runtimes import leave_to_the_first

CODES = [
    cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE,
    cl.status_code.OUT_OF_RESOURCES,
    cl.status_code.OUT_OF_HOST_MEMORY,
]


def error(code: int) -> cl.Error:
    """An error as pyopencl raises it where a call returns a code."""
    kind = {CODES[0]: cl.MemoryError}.get(code, cl.RuntimeError)
    return kind(cl._cl._ErrorRecord("a call", code, "clCall"))


def failing(
    call: Callable[..., Any], at: int, fault: Exception | None = None
) -> Callable[..., Any]:
    """A call that fails once, the `at`-th time."""
    left = [at]

    def called(*given: Any, **more: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise fault or error(CODES[0])
        return call(*given, **more)

    return called


class Failing:
    """A kernel whose first launch fails."""

    def __init__(self, kernel: Any, code: int) -> None:
        self.kernel, self.launch = kernel, failing(kernel, 1, error(code))

    def __call__(self, *given: Any) -> Any:
        return self.launch(*given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let a launch of a kernel fail, with a code."""

    def fails(name: str, code: int = CODES[0]) -> None:
        made = program.Program.new_kernel

        def new_kernel(self: program.Program, wanted: str) -> Any:
            kernel = made(self, wanted)
            return Failing(kernel, code) if wanted == name else kernel

        monkeypatch.setattr(program, "_programs", {})
        monkeypatch.setattr(program.Program, "new_kernel", new_kernel)

    return fails


@pytest.mark.parametrize(
    ("name", "code"), [("place", CODES[0]), ("select_poses", CODES[1]), ("select_poses", CODES[2])]
)
def test_filter(
    device: Device, name: str, code: int, fails: Any, caplog: pytest.LogCaptureFixture
) -> None:
    ligands = make_ligands([(5, 0), (9, 2), (14, 0)])
    poses = make_poses(ligands, 6)
    expected = filter_poses(device, ligands, poses, settings(3))
    fails(name, code)
    found = filter_poses(device, ligands, poses, settings(3))
    assert "trying again with 2 ligands at a time" in caplog.text
    for left, right in zip(expected, found, strict=True):
        for column, values in vars(left).items():
            assert np.array_equal(values, getattr(right, column))


def test_docking(device: Device, fails: Any, caplog: pytest.LogCaptureFixture) -> None:
    ligands, search = make_ligands([(5, 0), (9, 2), (14, 1)]), plan(4, num_iterations=1)
    expected = Docker(device, search).dock(ligands)
    fails("dock")
    found = Docker(device, search).dock(ligands)
    assert "trying again with" in caplog.text
    for column, values in vars(expected).items():
        assert np.array_equal(values, getattr(found, column))


@pytest.mark.parametrize("call", ["enqueue_nd_range_kernel", "enqueue_copy", "wait"])
@pytest.mark.parametrize("at", [1, 4])
def test_latency(
    device: Device,
    call: str,
    at: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ligands in flight are half as many, and each is docked once."""
    if device.is_simulator:
        pytest.skip("the order is the host's")
    ligands, search = make_ligands([(5, 0), (9, 2), (14, 1), (7, 1), (8, 0)]), plan(4)
    every = np.arange(5)
    monkeypatch.setattr(latency, "tuned", lambda *given: replace(tuned(*given), queues=3))
    expected, docker, docked = LatencyDocker(device, search), LatencyDocker(device, search), []
    with monkeypatch.context() as once:
        if call == "wait":
            waited = failing(buffers.wait_in_turn, at, buffers.OutOfMemoryError("full"))
            once.setattr(buffers, "wait_in_turn", waited)
        else:
            once.setattr(cl, call, failing(getattr(cl, call), at))
        found = docker.search(ligands, every, docked.append)
    assert "trying again with 1 ligands at a time" in caplog.text
    assert docked == [1] * 5
    for left, right in zip(expected.search(ligands, every), found, strict=True):
        assert np.array_equal(left, right)


@pytest.mark.parametrize("form", get_args(Form))
@pytest.mark.parametrize("call", ["enqueue_fill_buffer", "enqueue_nd_range_kernel", "wait"])
def test_genetic(
    device: Device,
    form: Form,
    call: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    if device.is_simulator:
        pytest.skip("the order is the host's")
    leave_to_the_first(device)
    ligands = ligands_of([(12, 3), (13, 2), (10, 1)])
    given: dict[str, Any] = {"generations": 3, "iterations": 3, "form": form}
    system = ligands, field_of(ligands, device)
    expected = searched(system, device, **given)
    with monkeypatch.context() as once:
        if call == "wait":
            waited = failing(buffers.wait_in_turn, 1, buffers.OutOfMemoryError("full"))
            once.setattr(buffers, "wait_in_turn", waited)
        else:
            once.setattr(cl, call, failing(getattr(cl, call), 1))
        found = searched(system, device, **given)
    assert "trying again with" in caplog.text
    assert found.keys() == expected.keys()
    for row, one in found.items():
        assert np.array_equal(one.energy, expected[row].energy)
        assert np.array_equal(one.torsion, expected[row].torsion)


@pytest.mark.parametrize(
    ("said", "status", "memory"),
    [
        *((code, 0, True) for code in CODES),
        *((buffers.FAILED, code, True) for code in CODES),
        (cl.status_code.OUT_OF_HOST_MEMORY, 0, True),
        (buffers.FAILED, cl.status_code.INVALID_VALUE, False),
        (cl.status_code.INVALID_EVENT, 0, False),
    ],
)
def test_a_command_that_failed_says_why(said: int, status: int, memory: bool) -> None:
    def wait() -> None:
        raise error(said)

    queue = SimpleNamespace(device=SimpleNamespace(name="a card"))
    event: Any = SimpleNamespace(wait=wait, command_execution_status=status, command_queue=queue)
    for waited in (buffers.wait_in_turn, buffers.busy, buffers.span):
        with pytest.raises(buffers.OutOfMemoryError if memory else cl.Error) as raised:
            waited([event])
        assert ("a card is out of memory" in str(raised.value)) == memory
