"""Compiled programs are kept: what is damaged, foreign or can't be written is compiled instead."""

import os
import uuid
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest
from pyopencl.characterize import has_src_build_cache

from ligen_py.opencl import compiled as module
from ligen_py.opencl import runtimes
from ligen_py.opencl.compiled import compiled
from ligen_py.opencl.device import Device, devices

SOURCE = "__kernel void times(__global int *numbers) { numbers[get_global_id(0)] *= FACTOR; }"


@pytest.fixture
def device() -> Device:
    """A runtime without a cache of its own."""
    for found in devices():
        if not (found.is_simulator or found.fault or has_src_build_cache(found.handle)):
            return found
    pytest.skip("every runtime here keeps compiled programs itself")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "cache_folder", lambda name: tmp_path / "cache" / name)
    return tmp_path / "cache" / "kernels"


def product(device: Device, factor: int, text: str = SOURCE) -> int:
    """Three times the factor, by the kernel."""
    program, _ = compiled(device.context, text, [f"-DFACTOR={factor}"])
    numbers = np.array([3], np.int32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffer = cl.Buffer(device.context, flags, hostbuf=numbers)
    program.times(device.queue, (1,), None, buffer)
    cl.enqueue_copy(device.queue, numbers, buffer)
    return int(numbers[0])


def test_a_program_is_compiled_once(
    device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert product(device, 5) == 15
    (file,) = folder.iterdir()
    kept, before = file.read_bytes(), file.stat().st_ino
    assert product(device, 5) == 15
    assert file.stat().st_ino == before
    # What is in the file is what runs.
    assert product(device, 7) == 21
    (other,) = set(folder.iterdir()) - {file}
    other.write_bytes(kept)
    assert product(device, 7) == 15


def test_what_makes_another_program_has_another_file(
    device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    product(device, 5)
    product(device, 6)
    product(device, 5, f"{SOURCE}\n")
    monkeypatch.setattr(runtimes, "instruction_sets", lambda: "flags : another processor\n")
    product(device, 5)
    assert len(list(folder.iterdir())) == 4
    compiled(device.context, SOURCE, ["-DFACTOR=5"], ["-I", "/a/folder/that/may/be/another"])
    assert len(list(folder.iterdir())) == 4


@pytest.mark.parametrize("place", [0, 64, 70, -1])
def test_a_damaged_file_is_made_again(device: Device, folder: Path, place: int) -> None:
    product(device, 5)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    damaged = bytearray(whole)
    damaged[place] ^= 1
    for content in (bytes(damaged), whole[: len(whole) // 2], b"", b"\xff"):
        file.write_bytes(content)
        assert product(device, 5) == 15
        module._read(file)


def test_a_binary_that_the_driver_refuses_is_made_again(device: Device, folder: Path) -> None:
    product(device, 5)
    (file,) = folder.iterdir()
    module._write(file, "", b"no program of any device")
    assert product(device, 5) == 15
    assert module._read(file)[1] != b"no program of any device"


def test_without_a_folder_to_write_in_it_is_compiled(device: Device, folder: Path) -> None:
    folder.parent.parent.mkdir(exist_ok=True)
    folder.parent.write_text("a file in the way")
    assert product(device, 5) == 15


def test_the_log_is_kept_with_the_program(device: Device, folder: Path) -> None:
    text = f"{SOURCE}\n#warning of a thing\n"
    with pytest.warns(cl.CompilerWarning):
        _, said = compiled(device.context, text, ["-DFACTOR=5"])
    assert "of a thing" in said
    assert compiled(device.context, text, ["-DFACTOR=5"])[1] == said


def test_other_users_read_the_file_as_the_umask_lets_them(device: Device, folder: Path) -> None:
    before = os.umask(0o027)
    try:
        assert product(device, 5) == 15
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o640]


def test_no_failed_write_leaves_a_file(
    device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert product(device, 5) == 15
    assert not list(folder.iterdir())


def test_pocl_prints_no_warnings_and_keeps_the_words_of_errors(
    capfd: pytest.CaptureFixture[str],
) -> None:
    runtimes_here = (one for one in devices() if "Portable" in one.handle.platform.name)
    device = next((one for one in runtimes_here if not one.fault), None)
    if device is None:
        pytest.skip("PoCL is not here, or cannot build a kernel")
    text = f"{SOURCE} // {uuid.uuid4()}"  # else it comes from PoCL's cache, without a word
    compiled(device.context, text, ["-DFACTOR=1e99f"])
    assert capfd.readouterr().err == ""
    with pytest.raises(cl.RuntimeError, match="undeclared identifier 'nothing'"):
        compiled(device.context, text, ["-DFACTOR=nothing"])
