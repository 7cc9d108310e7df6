"""Choosing a device: by words, by number, by environment; never a silent fall-back."""

import pytest

from ligen_py.errors import DeviceError
from ligen_py.opencl import device as module
from ligen_py.opencl.device import devices, select, select_all


def test_the_default_is_no_simulator() -> None:
    chosen = select()
    assert not chosen.is_simulator
    assert chosen.back_end in ("khr", "ptx", "local")


def test_a_gpu_comes_first_then_real_sub_groups() -> None:
    found = [device for device in devices() if not device.is_simulator]
    chosen = select()
    if any(device.kind == "gpu" for device in found):
        assert chosen.kind == "gpu"
    elif any(device.back_end == "khr" for device in found):
        assert chosen.back_end == "khr"


def test_every_device_is_found_by_words_of_its_line() -> None:
    for device in devices():
        platform = device.handle.platform.name.split()[0]
        assert select(platform.lower()).handle.platform == device.handle.platform
        assert select(f"{platform}:0".upper()).handle.platform == device.handle.platform


def test_a_process_has_one_context_of_a_device() -> None:
    assert select("cpu") is select("cpu")


def test_the_environment_counts_where_no_flag_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    last = devices()[-1]
    monkeypatch.setenv("LIGEN_DEVICE", last.handle.platform.name.split()[0])
    assert select().handle.platform == last.handle.platform
    first = devices()[0]
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
    with pytest.raises(DeviceError, match="no OpenCL device was found; install"):
        select()


def test_a_simulator_alone_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    simulators = [device for device in devices() if device.is_simulator]
    if not simulators:
        pytest.skip("Oclgrind is not installed")
    monkeypatch.setattr(module, "devices", lambda: simulators)
    with pytest.raises(DeviceError, match="only a simulator was found"):
        select()
    assert select("oclgrind").is_simulator


def test_several_devices_by_number_and_all_of_a_kind() -> None:
    every = devices()
    name = select().handle.platform.name.split()[0].lower()
    same = [device for device in every if name in device.label.lower()]
    assert [each.label for each in select_all(f"{name}:all")] == [each.label for each in same]
    assert [each.label for each in select_all(f"{name}:0,0")] == [same[0].label] * 2
    gpus = [device.label for device in every if device.kind == "gpu"]
    assert [each.label for each in select_all("all")] == gpus or not gpus
    assert select_all("all")[0].handle == select().handle
    with pytest.raises(DeviceError, match="no OpenCL device matches"):
        select_all(f"{name}:0,99")
