"""Oclgrind's checks, which end every test of a kernel, see what they are there for."""

from collections.abc import Callable

import pyopencl as cl
import pytest

from ligen_py.opencl.device import Device, devices

FAULTY = "__kernel void f(__global int *a) { a[get_global_id(0) / 2] = get_global_id(0); }"


@pytest.fixture
def simulator() -> Device:
    for device in devices():
        if device.is_simulator:
            return device
    pytest.skip("Oclgrind is not installed")


@pytest.mark.parametrize(("numbers", "seen"), [(2, "Invalid write"), (4, "Write-write data race")])
def test_a_fault_is_seen(
    simulator: Device, complaints: Callable[[], str], numbers: int, seen: str
) -> None:
    program = cl.Program(simulator.context, FAULTY).build(cache_dir=False)
    buffer = cl.Buffer(simulator.context, cl.mem_flags.READ_WRITE, 4 * numbers)
    assert complaints() == ""
    cl.Kernel(program, "f")(simulator.queue, (8,), (4,), buffer)
    simulator.queue.finish()
    assert seen in complaints()
    assert complaints() == ""
