"""What a job was given: its cores, its memory, its cards; and what a hanging device comes to."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ligen_py.errors import DeviceError
from ligen_py.opencl import device as module
from ligen_py.opencl import runtimes
from ligen_py.opencl.device import Device, select

HERE = len(os.sched_getaffinity(0))

BUSY = """
import os, sys
from ligen_py.opencl.device import select
import pyopencl as cl
device = select(sys.argv[1])
program = cl.Program(device.context, '''
__kernel void busy(__global float *x) {
    float a = x[get_global_id(0)];
    for (int i = 0; i < 20000; i++) a = a * 1.0001f + 0.5f;
    x[get_global_id(0)] = a;
}''').build()
buffer = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, 1 << 19)
program.busy(device.queue, (1 << 17,), (64,), buffer).wait()
ticks = []
for task in os.listdir("/proc/self/task"):
    with open(f"/proc/self/task/{task}/stat") as stat:
        ticks.append(int(stat.read().rsplit(")", 1)[1].split()[11]))
print(*sorted(ticks)[-2:])
"""


def test_cores_are_the_fewest_that_anything_grants(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SLURM_CPUS_PER_TASK", "OMP_NUM_THREADS"):
        monkeypatch.delenv(variable, raising=False)
    assert runtimes.cores() == HERE
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "1")
    assert runtimes.cores() == 1
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "999")
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert runtimes.cores() == HERE
    monkeypatch.setenv("OMP_NUM_THREADS", "1,4")
    assert runtimes.cores() == 1


@pytest.mark.parametrize("runtime", ["intel", "portable"])
def test_kernels_keep_to_the_cores_of_the_job(runtime: str) -> None:
    if HERE < 2 or not any(runtime in device.label.lower() for device in module.devices()):
        pytest.skip(f"needs two cores and the {runtime} runtime")
    done = subprocess.run(
        [sys.executable, "-c", BUSY, runtime],
        env={**os.environ, "OMP_NUM_THREADS": "1", "POCL_AFFINITY": "1", "DPCPP_CPU_NUM_CUS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    less, most = map(int, done.stdout.split())
    # With two cores two threads share the work; with one, the other at most compiles.
    assert less < most / 2


def test_memory_is_the_least_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = tmp_path / "cgroup"
    monkeypatch.delenv("SLURM_MEM_PER_NODE", raising=False)
    assert list(runtimes._memory_limits(nowhere)) == []
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "1000")
    assert list(runtimes._memory_limits(nowhere)) == [1000 << 20]
    limit = runtimes.memory()
    assert limit is not None
    assert limit <= 1000 << 20


def card(number: int, platform: object) -> Device:
    handle = SimpleNamespace(
        platform=platform, name=f"card {number}", driver_version="1", vendor="v", type=4
    )
    return Device(handle)


def test_a_slurm_job_keeps_to_its_own_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    platform = SimpleNamespace(name="NVIDIA CUDA", version="3")
    processors = [device for device in module.devices() if device.kind == "cpu"]
    monkeypatch.setattr(
        module, "devices", lambda: [card(0, platform), card(1, platform), *processors]
    )
    monkeypatch.delenv("LIGEN_DEVICE", raising=False)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_GPUS_ON_NODE", "2")
    assert select().kind == "gpu"
    monkeypatch.setenv("SLURM_GPUS_ON_NODE", "1")
    with pytest.raises(DeviceError, match="given 1 of the 2 cards that OpenCL shows"):
        select()
    monkeypatch.delenv("SLURM_GPUS_ON_NODE")
    assert select().kind == "cpu"
    assert select("gpu").kind == "gpu"
    monkeypatch.setattr(module, "devices", lambda: [card(0, platform)])
    with pytest.raises(DeviceError, match="was given no card"):
        select()


def test_a_limit_that_is_no_number_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIGEN_DEVICE_MINUTES", "soon")
    with pytest.raises(DeviceError, match="LIGEN_DEVICE_MINUTES=soon is no number of minutes"):
        select("cpu")
