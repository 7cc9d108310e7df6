"""Choosing a device: by words, by number, by environment; never a silent fall-back."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ligen_py.errors import DeviceError
from ligen_py.opencl import device as module
from ligen_py.opencl import runtimes
from ligen_py.opencl.device import Device, devices, select, select_all
from ligen_py.records.devices import device_class

ROOT = Path(__file__).parents[2]

# PoCL with a compiler's option that no compiler has, and no kernel of an earlier run.
BROKEN = {"POCL_EXTRA_BUILD_FLAGS": "-mcpu=nosuch"}
SAID = r"(Invalid build option: -mcpu=nosuch|its compiler takes this processor for a znver\d, .*)"


def sound() -> list[Device]:
    return [device for device in devices() if device.fault is None]


def test_the_default_is_no_simulator() -> None:
    chosen = select()
    assert not chosen.is_simulator
    assert chosen.back_end in ("khr", "ptx", "local")


def test_a_gpu_comes_first_then_real_sub_groups() -> None:
    found = [device for device in sound() if not device.is_simulator]
    chosen = select()
    if any(device.kind == "gpu" for device in found):
        assert chosen.kind == "gpu"
    elif any(device.back_end == "khr" for device in found):
        assert chosen.back_end == "khr"


def test_every_device_is_found_by_words_of_its_line() -> None:
    for device in sound():
        platform = device.handle.platform.name.split()[0]
        assert select(platform.lower()).handle.platform == device.handle.platform
        assert select(f"{platform}:0".upper()).handle.platform == device.handle.platform


def test_a_process_has_one_context_of_a_device() -> None:
    assert select("cpu") is select("cpu")


def test_the_environment_counts_where_no_flag_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    last = sound()[-1]
    monkeypatch.setenv("LIGEN_DEVICE", last.handle.platform.name.split()[0])
    assert select().handle.platform == last.handle.platform
    first = sound()[0]
    assert select(first.handle.platform.name.split()[0]).handle.platform == first.handle.platform
    monkeypatch.delenv("LIGEN_DEVICE")
    monkeypatch.setenv("PYOPENCL_CTX", last.handle.platform.name.split()[0])
    assert select().handle.platform == last.handle.platform


@pytest.mark.parametrize("selector", ["no such device", "intel:nvidia", "cpu:99"])
def test_no_match_names_all_devices_and_the_cure(selector: str) -> None:
    with pytest.raises(DeviceError) as error:
        select(selector)
    message = str(error.value)
    assert f"no OpenCL device matches '{selector}'" in message
    assert all(device.label in message for device in devices())
    assert "pip install intel-opencl-rt" in message


def test_no_device_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "devices", list)
    monkeypatch.setenv("OCL_ICD_VENDORS", "/cache/ligen_py/opencl-vendors-0123")
    with pytest.raises(DeviceError, match="no OpenCL device was found; install"):
        select()
    monkeypatch.setenv("OCL_ICD_VENDORS", "/nowhere")
    words = "no OpenCL device was found by OCL_ICD_VENDORS=/nowhere; unset it, or install"
    with pytest.raises(DeviceError, match=words):
        select()


def test_a_simulator_alone_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    simulators = [device for device in sound() if device.is_simulator]
    if not simulators:
        pytest.skip("Oclgrind is not installed")
    monkeypatch.setattr(module, "devices", lambda: simulators)
    with pytest.raises(DeviceError, match="only a simulator was found"):
        select()
    assert select("oclgrind").is_simulator


def test_several_devices_by_number_and_all_of_a_kind() -> None:
    every = devices()
    chosen = select()
    name = chosen.handle.platform.name.split()[0].lower()
    same = [device for device in every if name in device.label.lower()]
    working = [device.label for device in same if device.fault is None]
    assert [each.label for each in select_all(f"{name}:all")] == working
    number = same.index(chosen)
    assert [each.label for each in select_all(f"{name}:{number},{number}")] == [chosen.label] * 2
    gpus = [device.label for device in sound() if device.kind == "gpu"]
    assert [each.label for each in select_all("all")] == (gpus or [chosen.label])
    assert select_all("all")[0].handle == select().handle
    with pytest.raises(DeviceError, match="no OpenCL device matches"):
        select_all(f"{name}:0,99")


def fake(name: str, kind: int, fault: str | None = None) -> Device:
    platform = SimpleNamespace(name="Vendor", version="OpenCL 3.0")
    handle = SimpleNamespace(
        platform=platform, name=name, driver_version="1", vendor="v", type=kind, extensions=""
    )
    device = Device(handle)
    device.__dict__["fault"] = fault  # the cached property: there is no driver to ask
    return device


GPU, CPU = module.cl.device_type.GPU, module.cl.device_type.CPU


def names(chosen: list[Device]) -> list[str]:
    return [device.handle.name for device in chosen]


def test_a_device_that_builds_no_kernel_is_left_out_in_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = [fake("old", CPU, "unknown target CPU 'generic'"), fake("new", CPU)]
    monkeypatch.setattr(module, "devices", lambda: found)
    for selector in (None, "vendor", "vendor:all", "cpu"):
        caplog.clear()
        module._warn_once.cache_clear()
        assert names(select_all(selector)) == ["new"]
        (line,) = [
            record.getMessage() for record in caplog.records if record.levelname == "WARNING"
        ]
        assert line == (
            "device left out: Vendor / old (cpu, driver 1) cannot build a kernel: "
            "unknown target CPU 'generic'"
        )


def test_stages_of_one_process_say_once_that_they_use_one_device(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "devices", lambda: [fake("one", GPU), fake("two", GPU)])
    module._warn_once.cache_clear()
    for _ in ("filter", "refine", "score"):
        assert select("all").handle.name == "one"
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert said == ["only the first of 2 devices is used; the stage `dock` uses all of them"]


@pytest.mark.parametrize(
    ("version", "flags", "too_old"),
    [
        ("OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-znver3", "fma avx512f bmi2", True),
        ("OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-znver3", "fma avx2 bmi2", False),
        ("OpenCL 3.0 PoCL HSTR: cpu-x86_64-unknown-linux-gnu-znver4", "fma avx512f bmi2", False),
    ],
)
def test_a_compiler_that_takes_the_processor_for_an_older_one_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, version: str, flags: str, too_old: bool
) -> None:
    monkeypatch.setattr(runtimes, "instruction_sets", lambda: f"flags : {flags}\n")
    device = Device(SimpleNamespace(version=version))
    device.__dict__["context"] = None  # asked for where the line is compiled
    if too_old:
        assert "znver3" in str(device.fault)
    else:
        with pytest.raises(AttributeError):
            _ = device.fault


def test_a_driver_that_cannot_list_its_devices_hides_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> None:
        raise module.cl.RuntimeError("clGetDeviceIDs failed: OUT_OF_HOST_MEMORY")

    platforms = [SimpleNamespace(name="Bad", get_devices=fail), *module.cl.get_platforms()]
    monkeypatch.setattr(module.cl, "get_platforms", lambda: platforms)
    monkeypatch.setattr(module, "_broken", {})
    monkeypatch.delenv("LIGEN_DEVICE", raising=False)
    if any(device.kind == "gpu" for device in devices()):
        pytest.skip("a GPU is taken where none is named")
    assert select("cpu").kind == "cpu"
    with pytest.raises(DeviceError, match=r"Bad: its devices cannot be listed \(clGet.*; repair"):
        select()
    del platforms[1:]
    with pytest.raises(DeviceError, match=r"Bad: its devices cannot be listed .*; no OpenCL dev"):
        select("cpu")


def test_a_runtime_in_a_folder_with_a_blank_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*words: object) -> None:
        raise module.cl.RuntimeError("Context failed: DEVICE_NOT_AVAILABLE")

    platform = SimpleNamespace(name="Intel(R) OpenCL")
    device = Device(SimpleNamespace(version="OpenCL 3.0", platform=platform))
    device.__dict__["context"] = None
    monkeypatch.setattr(module, "compiled", refuse)
    monkeypatch.setattr(runtimes, "INTEL_LIBRARY", tmp_path / "my files" / "libintelocl.so")
    words = f"in no folder with a blank in its path, such as {tmp_path}/my files; install it"
    assert words in str(device.fault)
    del device.__dict__["fault"]
    monkeypatch.setattr(runtimes, "INTEL_LIBRARY", tmp_path / "libintelocl.so")
    assert device.fault == "Context failed: DEVICE_NOT_AVAILABLE"


@pytest.mark.parametrize("selector", ["cpu:0", "old", "cpu:0,1"])
def test_a_device_that_was_named_and_builds_no_kernel_is_an_error(
    selector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [fake("old", CPU, "unknown target CPU 'generic'"), fake("new", CPU)]
    monkeypatch.setattr(module, "devices", lambda: found)
    with pytest.raises(DeviceError, match=r"old .* cannot build a kernel: unknown .*; update"):
        select_all(selector)


def test_no_processor_stands_in_for_a_gpu_that_builds_no_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, other, processor = fake("a", GPU, "out of memory"), fake("b", GPU), fake("c", CPU)
    monkeypatch.setattr(module, "devices", lambda: [broken, processor])
    for selector in (None, "all", "gpu"):
        with pytest.raises(DeviceError, match=r"a .* cannot build a kernel: out of memory; update"):
            select_all(selector)
    assert names(select_all("cpu")) == ["c"]
    monkeypatch.setattr(module, "devices", lambda: [broken, other, processor])
    assert names(select_all(None)) == names(select_all("all")) == ["b"]


@pytest.mark.parametrize("width", [32, 64])
def test_a_sub_group_of_amds_has_the_lanes_that_run_in_step(width: int) -> None:
    query = "cl_khr_fp64 cl_amd_device_attribute_query"
    handle = SimpleNamespace(type=GPU, extensions=query, wavefront_width_amd=width)
    assert module._sub_group_size(handle) == width
    handle.extensions = "cl_khr_fp64"
    assert module._sub_group_size(handle) == 32


INTELS = [device for device in devices() if device.label.startswith("Intel")]
ORIGIN = "from ligen_py.opencl.device import select; print(select('intel:cpu').origin)"


@pytest.mark.skipif(not INTELS, reason="Intel's runtime is not installed")
def test_the_origin_of_results_tells_instruction_sets_apart(tmp_path: Path) -> None:
    def origin(**told: str) -> str:
        environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)} | told
        return subprocess.check_output(
            [sys.executable, "-c", ORIGIN], cwd=ROOT, env=environment, text=True
        ).strip()

    own, old = origin(), origin(CL_CONFIG_CPU_TARGET_ARCH="corei7")
    assert re.fullmatch(r"Intel.*\(cpu, driver [\d._]+, functions [0-9a-f]{8}\)", own)
    assert own.partition(", functions")[0] == old.partition(", functions")[0]
    assert device_class(own) != device_class(old)
    assert own == origin() == INTELS[0].origin
    assert old == origin(CL_CONFIG_CPU_TARGET_ARCH="corei7")


def test_a_class_of_devices_has_platform_kind_and_functions() -> None:
    one = "Intel(R) OpenCL / AMD EPYC (cpu, driver 1, functions 12345678)"
    same = "Intel(R) OpenCL / Intel(R) Xeon(R) (cpu, driver 2, functions 12345678)"
    assert device_class(one) == device_class(same)
    assert device_class(one) != device_class(one.replace("12345678", "12345679"))
    assert device_class(one) != device_class(one.replace(", functions 12345678", ""))
    card = "NVIDIA CUDA / NVIDIA H200 (gpu, driver 570.1)"
    assert device_class(card) == device_class("NVIDIA CUDA / NVIDIA A100 (gpu, driver 560.2)")
    assert fake("H200", GPU).origin == fake("H200", GPU).label


def has_pocl() -> bool:
    return any("Portable" in device.handle.platform.name for device in devices())


@pytest.mark.skipif(not has_pocl(), reason="PoCL is not installed")
def test_a_runtime_that_builds_no_kernel_says_what_its_compiler_said() -> None:
    program = "from ligen_py.opencl.device import select; select('portable')"
    done = subprocess.run(
        [sys.executable, "-c", f"from ligen_py import cli\n{program}"],
        env=os.environ | BROKEN,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "Portable Computing Language" in last
    assert re.search(f"cannot build a kernel: {SAID}; update its driver", last), last


@pytest.mark.skipif(not has_pocl(), reason="PoCL is not installed")
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_tests_skip_a_runtime_that_builds_no_kernel_and_count_it(workers: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers]
    command += ["tests/kernels/test_filter.py", "-k", "Portable"]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | BROKEN, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert re.search(
        r"^left out: \d+ tests?: Portable Computing Language cannot build a kernel here: "
        rf"{SAID}$",
        done.stdout,
        re.MULTILINE,
    ), done.stdout
