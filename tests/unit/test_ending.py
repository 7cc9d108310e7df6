"""Signals that end a process, wherever they come."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ligen_py.ending import (
    ENDING,
    PART_OF,
    Ended,
    callback,
    end_with,
    ending_as_asked,
    ending_as_ctrl_c,
)


@pytest.fixture(autouse=True)
def usual_handlers() -> Iterator[None]:
    """Signals as in a terminal: a shell ignores SIGINT behind an '&', nohup SIGHUP."""
    usual = {signal.SIGINT: signal.default_int_handler, **dict.fromkeys(ENDING, signal.SIG_DFL)}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@callback
def of_c(number: int) -> None:
    """Stands for a function that C calls: no exception comes out of it."""
    signal.raise_signal(number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_signal_raises_once_it_is_heard(number: int, is_late: bool) -> None:
    """A late one comes at the end of the block, which may come first."""

    def block() -> None:
        with ending_as_ctrl_c():
            of_c(number)
            if not is_late:
                threading.Event().wait(10)

    before = {one: signal.getsignal(one) for one in (number, signal.SIGTERM)}
    with pytest.raises(KeyboardInterrupt) as caught:
        block()
    assert isinstance(caught.value, Ended) == (number != signal.SIGINT)
    assert {one: signal.getsignal(one) for one in before} == before


def test_a_block_within_another_leaves_signals_to_it() -> None:

    def block() -> None:
        with ending_as_ctrl_c():
            outer = sys.unraisablehook
            with ending_as_ctrl_c():
                assert sys.unraisablehook is outer
                of_c(signal.SIGTERM)
                threading.Event().wait(10)

    hook = sys.unraisablehook
    with pytest.raises(Ended) as caught:
        block()
    assert caught.value.name == "SIGTERM"
    assert sys.unraisablehook is hook


def test_nothing_changes_in_another_thread() -> None:
    found = []

    def look() -> None:
        with ending_as_ctrl_c():
            found.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [before]


SCRIPT = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_DFL)
from ligen_py.ending import ending_as_asked
with ending_as_asked():
    signal.raise_signal(signal.SIGTERM)
"""


def test_a_script_of_someone_else_ends_by_the_signal() -> None:
    done = subprocess.run(
        [sys.executable, "-u", "-c", SCRIPT],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGTERM
    assert done.stderr == ""
    with pytest.raises(ValueError, match="as it is"), ending_as_asked():
        raise ValueError("as it is")


WHOLE = """
import time
from ligen_py.ending import this_process
print(this_process(), flush=True)
time.sleep(600)
"""

A_PART = """
import signal, time
from ligen_py import cli
signal.signal(signal.SIGTERM, signal.SIG_DFL)
def wait(options):
    print("begun", flush=True)
    time.sleep(600)
raise SystemExit(cli.run(cli.parser("part", ""), [], wait))
"""


def test_a_part_ends_with_the_process_that_was_killed() -> None:
    """The stages of a Snakemake that was killed went on, and replaced what a later one had made."""
    path = {"PYTHONPATH": str(Path(__file__).parents[2])}
    words = [sys.executable, "-c"]
    with subprocess.Popen([*words, WHOLE], env=os.environ | path, stdout=subprocess.PIPE) as whole:
        assert whole.stdout
        name = whole.stdout.readline().decode().strip()
        part = subprocess.Popen(
            [*words, A_PART],
            env=os.environ | path | {PART_OF: name},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with part:
            assert part.stdout
            assert part.stdout.readline() == "begun\n"
            whole.kill()  # nobody has waited for it yet
            said = part.communicate()[1]
    assert part.returncode == 128 + signal.SIGTERM
    assert said.endswith("error: stopped by SIGTERM\n")


def test_of_a_process_in_another_container_nothing_is_known() -> None:
    threads = threading.active_count()
    end_with("1 pid:[1]")
    assert threading.active_count() == threads
