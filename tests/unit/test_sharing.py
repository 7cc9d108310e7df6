"""Processes that share some devices spread over them."""

import fcntl
import os
import tempfile
from pathlib import Path

import pytest

from ligen_py.errors import DeviceError
from ligen_py.opencl import device as module
from ligen_py.opencl import sharing
from ligen_py.opencl.device import devices, select, select_all, selectors
from tests.unit.test_device import CPU, GPU, fake


@pytest.fixture(autouse=True)
def freed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test takes is free after it."""
    monkeypatch.setattr(sharing, "_taken", [])


def release(handle: int) -> None:
    fcntl.flock(handle, fcntl.LOCK_UN)
    os.close(handle)


def test_the_least_used_name_is_taken(tmp_path: Path) -> None:
    named = ["gpu:0", "gpu:1", "gpu:2"]
    taken = [sharing.least_used(named, tmp_path) for _ in range(7)]
    assert taken == ["gpu:0", "gpu:1", "gpu:2", "gpu:0", "gpu:1", "gpu:2", "gpu:0"]
    release(sharing._taken[4])  # a process on gpu:1 ends
    assert sharing.least_used(named, tmp_path) == "gpu:1"
    assert sharing.least_used(["gpu:1"], tmp_path) == "gpu:1"


def test_a_name_twice_counts_as_two(tmp_path: Path) -> None:
    taken = [sharing.least_used(["gpu:0", "gpu:1", "gpu:1"], tmp_path) for _ in range(6)]
    assert taken == ["gpu:0", "gpu:1", "gpu:1"] * 2


def test_selectors_name_one_device_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIGEN_DEVICE", raising=False)
    name = devices()[0].handle.platform.name.split()[0].lower()
    assert selectors(name) == [name]
    twice = selectors(f"{name}:0,0")
    assert twice == [f"{name}:0"] * 2
    assert select(twice[0]) is devices()[0]
    monkeypatch.setenv("LIGEN_DEVICE", f"{name}:0,0")
    assert selectors() == twice
    with pytest.raises(DeviceError):
        selectors("no such device")


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("0,0", ["0", "0"]),
        ("0,1", ["0", "1"]),
        ("all:0,2", ["0", "2"]),
        ("all", ["1", "2"]),
        ("gpu:all", ["gpu:0", "gpu:1"]),
    ],
)
def test_a_selector_without_words_numbers_all_devices(
    monkeypatch: pytest.MonkeyPatch, selector: str, expected: list[str]
) -> None:
    found = [fake("processor", CPU), fake("one", GPU), fake("two", GPU)]
    monkeypatch.setattr(module, "devices", lambda: found)
    assert selectors(selector) == expected
    assert [select(name) for name in expected] == select_all(selector)


def test_a_device_is_taken_from_the_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sharing, "local_cache", lambda: tmp_path)
    name = devices()[0].handle.platform.name.split()[0].lower()
    assert sharing.take_one(name) == name
    assert not list(tmp_path.iterdir())
    assert sharing.take_one(f"{name}:0,0") == f"{name}:0"
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_a_device_is_taken_where_another_user_has_the_folders_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine = os.getuid()
    for prefix in ("ligen_py-cache", "ligen-devices"):
        (tmp_path / f"{prefix}-{mine + 1}").mkdir(mode=0o500)
    name = devices()[0].handle.platform.name.split()[0].lower()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    assert sharing.take_one(f"{name}:0,0") == f"{name}:0"
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
