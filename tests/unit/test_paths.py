"""Where caches are kept, also for a user whose home folder takes nothing."""

import errno
import os
import pwd
import re
import shlex
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ligen_py import command
from ligen_py.errors import InputError
from ligen_py.paths import (
    cache_folder,
    local_cache,
    network_folder,
    shapes_cure,
    shapes_file,
    unknown_user,
    user_cache,
)

ROOT = Path(__file__).parents[2]
NOWHERE = "/proc/nowhere"
"""A folder that not even root can make."""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    return tmp_path


def test_the_cache_is_the_users(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(temporary / "home"))
    assert user_cache() == temporary / "home" / ".cache"
    assert cache_folder("x") == temporary / "home" / ".cache" / "ligen_py" / "x"
    monkeypatch.setenv("XDG_CACHE_HOME", str(temporary / "given"))
    assert user_cache() == temporary / "given"
    monkeypatch.chdir(temporary)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert user_cache() == temporary / "relative"


@pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME"])
def test_a_home_that_takes_nothing_is_replaced(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, NOWHERE)
    found = user_cache()
    assert found == local_cache() == temporary / f"ligen_py-cache-{os.getuid()}"
    assert stat.S_IMODE(found.stat().st_mode) == 0o700


def test_a_home_without_room_is_replaced(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The databases of pyopencl and Snakemake there ended every command with a traceback."""

    def full(*words: object, dir: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("HOME", str(temporary / "home"))
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert user_cache() == local_cache()


def test_a_folder_of_another_user_is_not_taken(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", NOWHERE)
    taken = temporary / f"ligen_py-cache-{os.getuid() + 1}"
    taken.mkdir()
    monkeypatch.setattr(os, "getuid", lambda: taken.stat().st_uid + 1)
    assert local_cache() is None
    assert user_cache().parent == temporary
    assert user_cache() != taken


def test_a_file_where_the_folder_would_be_is_no_folder(temporary: Path) -> None:
    (temporary / f"ligen_py-cache-{os.getuid()}").touch()
    assert local_cache() is None


def test_a_device_is_found_without_a_home() -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("XDG_CACHE_HOME", "HOME")}
    done = subprocess.run(
        [sys.executable, "-m", "ligen_py", "stage", "dock", "--help"],
        env=environment | {"HOME": NOWHERE, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_user_whom_the_system_does_not_know_has_a_name_and_a_home(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(number: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/")
    assert unknown_user() == {"LOGNAME": str(os.getuid())}
    monkeypatch.delenv("HOME")
    assert unknown_user() == {"LOGNAME": str(os.getuid()), "HOME": str(local_cache())}
    monkeypatch.setenv("USER", "me")
    monkeypatch.setenv("HOME", "/")
    assert unknown_user() == {}


def test_shapes_lie_in_a_folder_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite opens no folder, and every shape was made anew without a word."""
    monkeypatch.setenv("LIGEN_SHAPES", str(tmp_path))
    assert shapes_file() == tmp_path / "pieces.sqlite"
    assert shapes_file(tmp_path / "mine") == tmp_path / "mine"
    monkeypatch.setenv("LIGEN_SHAPES", str(tmp_path / "node.sqlite"))
    assert shapes_file() == tmp_path / "node.sqlite"


def test_only_a_file_of_our_cache_is_to_be_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("LIGEN_SHAPES", raising=False)
    assert shapes_cure(shapes_file()) == "delete it"
    cure = "name another file in LIGEN_SHAPES or by --shapes"
    assert shapes_cure(tmp_path / "letter.txt") == cure


@pytest.mark.parametrize(
    ("variable", "asked"), [("LIGEN_SHAPES", shapes_file), ("LIGEN_NETWORKS", network_folder)]
)
def test_the_home_of_nobody_is_a_sentence(
    variable: str, asked: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "~nobody-at-all/x")
    with pytest.raises(InputError, match=rf"{variable}=~nobody-at-all/x: there is no such home"):
        asked()


def test_a_computer_without_room_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    environment = {k: v for k, v in os.environ.items() if k != "OCL_ICD_VENDORS"}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-c", f"ulimit -f 0; {sys.executable} -m ligen_py doctor --no-test | cat"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stderr.startswith("ligen doctor: error: No usable temporary directory found in [")
    assert done.stderr.endswith("make room in one of them, or set TMPDIR to a folder of yours\n")


def test_a_command_that_is_stopped_while_it_starts_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "import_module", stopped)
    with pytest.raises(SystemExit, match="130"):
        command.main(["dock", "--help"])
    assert capsys.readouterr().err == "ligen dock: error: stopped as asked\n"


@pytest.mark.parametrize("rest", [[], ["--help"], ["--ligands", "my library.h5"]])
def test_a_stage_that_is_typed_as_a_command_is_given_back_as_the_line_to_type(
    rest: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(["score", *rest])
    last = capsys.readouterr().err.splitlines()[-1]
    line = shlex.join(["ligen", "stage", "score", *rest])
    assert last == f"ligen: error: 'score' is a single stage: type `{line}`"


@pytest.mark.parametrize("package", ["numpy", "pydantic", "rdkit"])
def test_a_package_that_is_missing_is_a_sentence(package: str) -> None:
    hidden = f"import sys; sys.modules[{package!r}] = None; "
    done = subprocess.run(
        [sys.executable, "-c", hidden + "from ligen_py.command import main; main(['doctor'])"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    said = rf"ligen doctor: error: {package}[.\w]* is missing; install ligen_py again, .*\n"
    assert re.fullmatch(said, done.stderr)
    assert done.returncode == 1
