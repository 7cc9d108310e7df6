"""Oclgrind watches every kernel: no access out of bounds, no data race."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ligen_py.opencl.device import devices

HERE = Path(__file__).parent

FAULTY = """
import numpy as np, pyopencl as cl
from ligen_py.opencl.device import select
device = select("oclgrind")
source = "__kernel void f(__global int *a) { a[get_global_id(0) / 2] = get_global_id(0); }"
program = cl.Program(device.context, source).build(cache_dir=False)
buffer = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, 8)
cl.Kernel(program, "f")(device.queue, (8,), (4,), buffer)
device.queue.finish()
"""


def watched(arguments: list[str], log: Path) -> str:
    """Run Python under Oclgrind's checks; what the simulator complains of."""
    environment = os.environ | {
        "OCLGRIND_DATA_RACES": "1",
        "OCLGRIND_LOG": str(log),
        "PYTHONPATH": str(HERE.parents[1]),
    }
    result = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return log.read_text() if log.exists() else ""


@pytest.fixture(autouse=True)
def simulator() -> None:
    if not any(device.is_simulator for device in devices()):
        pytest.skip("Oclgrind is not installed")


def test_a_fault_is_seen(tmp_path: Path) -> None:
    complaints = watched(["-c", FAULTY], tmp_path / "log")
    assert "Invalid write" in complaints
    assert "race" in complaints


def test_kernels_are_clean(tmp_path: Path) -> None:
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "Oclgrind", str(HERE)]
    assert watched(arguments, tmp_path / "log") == ""
