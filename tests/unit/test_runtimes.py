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
from ligen_py.opencl.device import Device, select, select_all

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
kernel = cl.Kernel(program, "busy")

def used():
    times = {}
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/schedstat") as stat:
            times[task] = int(stat.read().split()[0])
    return times

def run():
    kernel(device.queue, (1 << 17,), (64,), buffer).wait()

run()  # what is still to be compiled is compiled now
before = used()
run()
print(*sorted(time - before.get(task, 0) for task, time in used().items())[-2:])
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
    # With two cores two threads share the work.
    assert less < most / 10


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
    monkeypatch.setattr(module, "devices", lambda: [card(0, platform)])
    assert select("gpu").kind == "gpu"
    with pytest.raises(DeviceError, match="was given no card"):
        select()


@pytest.fixture
def two_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node of two NVIDIA cards, of which CUDA_VISIBLE_DEVICES lets a process see some."""
    platform = SimpleNamespace(name="NVIDIA CUDA", version="3")

    def shown() -> list[Device]:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0,1").split(",")
        return [card(int(number), platform) for number in visible if number]

    monkeypatch.setattr(module, "devices", shown)
    for variable in ("LIGEN_DEVICE", "PYOPENCL_CTX", "SLURM_GPUS_ON_NODE", "SLURM_STEP_GPUS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("SLURM_JOB_ID", "7")


@pytest.mark.parametrize("selector", [None, "gpu", "nvidia", "gpu:0", "all"])
def test_two_jobs_of_one_node_take_different_cards(
    two_cards: None, monkeypatch: pytest.MonkeyPatch, selector: str | None
) -> None:
    monkeypatch.setenv("SLURM_GPUS_ON_NODE", "1")
    for own in ("0", "1"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", own)
        assert [device.handle.name for device in select_all(selector)] == [f"card {own}"]


@pytest.mark.parametrize("variable", ["SLURM_STEP_GPUS", "SLURM_JOB_GPUS"])
def test_cards_are_counted_where_slurm_only_lists_them(
    two_cards: None, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "2,3")
    assert [device.handle.name for device in select_all("all")] == ["card 0", "card 1"]
    monkeypatch.setenv(variable, "3")
    with pytest.raises(DeviceError, match="given 1 of the 2 cards"):
        select("gpu")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert select().handle.name == "card 1"


def test_jobs_without_a_card_do_not_meet_on_the_first_one(
    two_cards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DeviceError, match=r"given none of the 2 cards .* such as gpu:0"):
        select("gpu")
    assert select("gpu:1").handle.name == "card 1"
    assert len(select_all("gpu:all")) == 2
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert select("gpu").handle.name == "card 0"


def test_a_limit_that_is_no_number_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIGEN_DEVICE_MINUTES", "soon")
    with pytest.raises(DeviceError, match="LIGEN_DEVICE_MINUTES=soon is no number of minutes"):
        select("cpu")
