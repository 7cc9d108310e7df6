"""`python -m ligen_py.doctor`: what it says of this machine, and of a sick one."""

import importlib.metadata
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ligen_py import doctor
from ligen_py.errors import DeviceError
from ligen_py.opencl.device import Device


def test_a_sound_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main(["--device", "intel"]) == 0
    said = capsys.readouterr().out
    assert "Kernels equal to their twins bit for bit: dock, filter" in said
    assert said.endswith("This machine can run a campaign.\n")


def test_an_unknown_device_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main(["--device", "nonsense"]) == 2
    assert "no OpenCL device matches 'nonsense'" in capsys.readouterr().err


def wrong(device: Device) -> Iterator[tuple[str, bool]]:
    yield from (("dock", True), ("filter", False))


def broken(device: Device) -> Iterator[tuple[str, bool]]:
    yield "dock", True
    raise DeviceError("out of registers")


@pytest.mark.parametrize(
    ("test", "words"),
    [(wrong, "wrong results on it: filter"), (broken, "cannot run on it: out of registers")],
)
def test_a_device_that_fails_ends_it(
    test: object, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "self_test", test)
    assert doctor.main(["--device", "intel"]) == 2
    printed = capsys.readouterr()
    assert words in printed.out
    assert "the device failed its test" in printed.err


def test_a_runtime_that_builds_no_kernel_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fault(device: Device) -> str | None:
        return None if "Intel" in device.label else "unknown target CPU 'generic'"

    monkeypatch.setattr(Device, "fault", property(fault))
    assert doctor.main(["--no-test"]) == 0
    said = capsys.readouterr().out
    assert "left out, because it cannot build a kernel: unknown target CPU 'generic'" in said
    assert "A stage takes Intel" in said


def test_networks_that_cannot_be_used_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LIGEN_NETWORKS", str(tmp_path))
    words = "Advice: a campaign of the effort 'thorough' or 'exhaustive' will not start: "
    assert doctor.main(["--device", "intel", "--no-test"]) == 0
    said = capsys.readouterr().out
    assert f"{words}{tmp_path}/crossdock_default2018.pt: there is no such file" in said
    assert "unset LIGEN_NETWORKS, or put the three .pt files of that package into the" in said
    assert "name their folder" not in said  # it is named
    (tmp_path / "crossdock_default2018.pt").write_bytes(b"half of it")
    assert doctor.main(["--device", "intel", "--no-test"]) == 0
    assert f"{words}{tmp_path}/crossdock_default2018.pt: cannot be read" in capsys.readouterr().out
    monkeypatch.setenv("LIGEN_NETWORKS", __file__)
    assert doctor.main(["--device", "intel", "--no-test"]) == 0
    assert "Not a directory" in capsys.readouterr().out


def test_what_is_missing_is_advised(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def version(name: str) -> str:
        if name == "snakemake":
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert doctor.main(["--device", "intel", "--no-test"]) == 2
    said, ended = capsys.readouterr()
    assert "snakemake is missing" in said
    assert "Advice: snakemake: campaigns need it" in said
    assert "can run a campaign" not in said
    assert "no campaign; install it: pip install " in ended
    assert " 'snakemake>=9.27' snakemake-executor-plugin-slurm " in ended


def test_a_machine_without_a_device_gets_all_its_advice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "LITTLE_DISK", 1 << 62)
    assert doctor.main(["--device", "nonsense"]) == 2
    assert "Advice: little room is left in this folder" in capsys.readouterr().out


def test_a_tmpdir_that_takes_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", "/proc/nowhere")
    assert doctor.main(["--device", "intel", "--no-test"]) == 0
    said = capsys.readouterr().out
    assert "Advice: TMPDIR, /proc/nowhere, cannot be written: temporary files go to" in said
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", f"{tmp_path}/")
    assert doctor.main(["--device", "intel", "--no-test"]) == 0
    assert "TMPDIR" not in capsys.readouterr().out
