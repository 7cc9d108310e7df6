"""What a job was given: its cores, its memory, its cards; and what a hanging device comes to."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from ligen_py import granted
from ligen_py.errors import DeviceError
from ligen_py.opencl import device as module
from ligen_py.opencl import runtimes
from ligen_py.opencl.device import Device, select, select_all

HERE = len(os.sched_getaffinity(0))

MEET = """
import sys
import numpy as np
from ligen_py.opencl.device import select
import pyopencl as cl
device = select(sys.argv[1])
program = cl.Program(device.context, '''
__kernel void meet(volatile __global int *inside, volatile __global int *most,
                   volatile __global int *patience) {
    atomic_max(most, atomic_inc(inside) + 1);
    while (*most < 2 && atomic_dec(patience) > 0) {}
    atomic_dec(inside);
}''').build(cache_dir=False)
counts = [cl.Buffer(device.context, cl.mem_flags.READ_WRITE, 4) for _ in range(3)]
for buffer, start in zip(counts, (0, 0, 200_000_000), strict=True):
    cl.enqueue_copy(device.queue, buffer, np.int32([start]))
cl.Kernel(program, "meet")(device.queue, (256,), (1,), *counts)
most = np.empty(1, np.int32)
cl.enqueue_copy(device.queue, most, counts[1])
print(*most)
"""
"""Work-groups that wait, for a second or two of processor time, until two run at once; prints the
most that did."""


def sound(runtime: str) -> bool:
    found = [device for device in module.devices() if runtime in device.label.lower()]
    return any(device.fault is None for device in found)


def test_kernels_have_no_more_cores_than_their_rule_has_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(granted, "cores", lambda: 3)
    for given, cores in (("many", 3), ("8", 3), ("2", 2), ("1,4", 1)):
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        assert runtimes.cores() == cores


@pytest.mark.parametrize("runtime", ["intel", "portable"])
def test_kernels_keep_to_the_cores_of_the_job(runtime: str) -> None:
    if HERE < 2 or not sound(runtime):
        pytest.skip(f"needs two cores and the {runtime} runtime")
    for threads in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", MEET, runtime],
            env=os.environ
            | {"OMP_NUM_THREADS": threads, "POCL_AFFINITY": "1", "DPCPP_CPU_NUM_CUS": "2"},
            capture_output=True,
            text=True,
            check=True,
        )
        # Which thread runs when is the machine's affair; that two run at once is not.
        assert done.stdout.strip() == threads


def card(number: int, platform: object) -> Device:
    handle = SimpleNamespace(
        platform=platform, name=f"card {number}", driver_version="1", vendor="v", type=4
    )
    device = Device(handle)
    device.__dict__["fault"] = None  # the cached property: there is no driver to ask
    return device


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


@pytest.mark.parametrize("minutes", ["soon", "0", "-1", "nan"])
def test_a_limit_that_is_no_number_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, minutes: str
) -> None:
    """0 and less turned the watch off, and so did nan."""
    monkeypatch.setenv("LIGEN_DEVICE_MINUTES", minutes)
    said = f"LIGEN_DEVICE_MINUTES={minutes} is no number of minutes above 0; give one, or inf"
    with pytest.raises(DeviceError, match=said):
        select("cpu")


@pytest.fixture
def vendors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's vendor files, on a machine with a runtime that came by pip."""
    folder = tmp_path / "vendors"
    folder.mkdir()
    (folder / "card.icd").write_text("libcard.so.1\n")
    monkeypatch.setattr(runtimes, "SYSTEM_VENDORS", folder)
    monkeypatch.setattr(runtimes, "INTEL_LIBRARY", Path(__file__))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("OCL_ICD_VENDORS", "")
    monkeypatch.delenv("OCL_ICD_VENDORS")
    return folder


def test_a_runtime_that_pip_has_put_elsewhere_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `pip install --user` does: ~/.local/lib beside ~/.local/lib/python3.x/site-packages."""
    record = tmp_path / "lib" / "python3" / "site-packages" / "intel_opencl_rt-1.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text("Name: intel-opencl-rt\nVersion: 1\n")
    (record / "RECORD").write_text("../../libintelocl.so,,\n../../libother.so,,\n")
    library = tmp_path / "lib" / "libintelocl.so"
    library.touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "usr"))
    monkeypatch.setattr(sys, "path", [str(record.parent)])
    assert runtimes.intel_library() == library
    monkeypatch.setattr(sys, "path", [])
    assert runtimes.intel_library() == tmp_path / "usr" / "lib" / "libintelocl.so"


def test_what_is_left_of_a_driver_is_passed_over(vendors: Path) -> None:
    (vendors / "gone.icd").symlink_to("/nowhere/gone.icd")
    (vendors / "folder.icd").mkdir()
    (vendors / "binary.icd").write_bytes(b"\x7fELF\xff")
    runtimes.register()
    found = Path(os.environ["OCL_ICD_VENDORS"])
    assert sorted(path.name for path in found.iterdir()) == ["card.icd", "intel-from-pip.icd"]
    (found / "card.icd").write_bytes(b"\xff")
    os.environ["OCL_ICD_VENDORS"] = ""
    runtimes.register()
    assert (found / "card.icd").read_text() == "libcard.so.1\n"


def test_a_cache_that_takes_nothing_hides_no_runtime(
    vendors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = vendors / "cache"
    cache.mkdir()
    (cache / "ligen_py").write_text("a file that stands where the folder belongs")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setattr(tempfile, "tempdir", str(vendors))
    runtimes.register()
    spare = vendors / f"ligen_py-cache-{os.getuid()}"
    assert Path(os.environ["OCL_ICD_VENDORS"]).is_relative_to(spare)


def test_an_empty_word_names_no_vendors(vendors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", "")
    runtimes.register()
    assert list(Path(os.environ["OCL_ICD_VENDORS"]).glob("intel*.icd"))


@pytest.mark.skipif(not sound("intel"), reason="Intel's runtime is not installed")
def test_kernels_run_where_pyopencl_can_keep_nothing(tmp_path: Path) -> None:
    (tmp_path / "pytools").write_text("a file that stands where pyopencl's folder belongs")
    environment = {k: v for k, v in os.environ.items() if k != "PYOPENCL_NO_CACHE"}
    done = subprocess.run(
        [sys.executable, "-c", MEET, "intel:cpu"],
        env=environment | {"XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
