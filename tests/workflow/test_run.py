"""`ligen run`: how it ends when something went wrong."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from ligen_py import run
from tests.workflow.small import write_campaign


def ligen_run(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start the campaign of a folder."""
    command = [sys.executable, "-m", "ligen_py.run", str(folder / "c.yaml"), *words]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )


def test_the_sentence_of_the_stage_that_failed_is_the_last(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "run", 1)
    (folder / "drugs.smi").write_text("no molecule\n")
    process = ligen_run(folder)
    _, printed = process.communicate(timeout=300)
    assert process.returncode == 1
    last = printed.splitlines()[-1]
    assert last.startswith("ligen run: error: parse: drugs.smi: no record can be docked; ")
    assert last.endswith(f"(log: {folder / 'logs/parse/drugs/1-of-1.log'})")
    assert "Traceback" not in printed


def test_a_run_beside_another_and_one_that_is_stopped_say_how_to_go_on(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "run", 1)
    first = ligen_run(folder)
    end = time.monotonic() + 200
    while not list(folder.glob(".snakemake/locks/*.lock")):
        assert time.monotonic() < end
        assert first.poll() is None
        time.sleep(0.1)
    second = ligen_run(folder)
    _, printed = second.communicate(timeout=300)
    assert second.returncode == 1
    assert "another run works in this folder, or one was killed there" in printed.splitlines()[-1]
    first.terminate()
    _, printed = first.communicate(timeout=300)
    assert first.returncode == 1
    assert printed.splitlines()[-1].endswith("stopped as asked; the same command goes on from here")


def test_what_the_rules_refuse_is_said_last(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "run", 1)
    process = ligen_run(folder, "--", "--keep-incomplete")
    _, printed = process.communicate(timeout=300)
    assert process.returncode == 1
    last = printed.splitlines()[-1]
    assert last.startswith(
        "ligen run: error: keep-incomplete takes half-written files for complete"
    )


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("a line\nligen stage dock: error: p.h5: damaged\n", "dock: p.h5: damaged"),
        ("error: the device has not answered\n", "error: the device has not answered"),
        (
            "Traceback (most recent call last):\n  File\nValueError: odd\n",
            "ValueError: odd; this is",
        ),
        ("docked 7 ligands\n", ""),
        ("", ""),
    ],
)
def test_the_error_at_the_end_of_a_log(tmp_path: Path, log: str, words: str) -> None:
    path = tmp_path / "dock.log"
    path.write_text(log)
    assert run._error_at_the_end(path).startswith(words)
    assert bool(run._error_at_the_end(path)) == bool(words)
