"""Snakemake as a process of `ligen run`, which passes signals to end on to it and to its jobs."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals to end: Ctrl-C, a request of the system, a terminal that closes."""


@contextmanager
def started(
    command: Sequence[str], environment: Mapping[str, str]
) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """Start Snakemake; pass signals to end on to it, and to its jobs, for which it would wait.

    Gives the process and the signals. What `nohup` or a shell has us ignore stays ignored.
    """
    signals: list[int] = []
    kept = {number: signal.getsignal(number) for number in SIGNALS}
    # Of a terminal that closes Snakemake would die at once, and leave its lock.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with subprocess.Popen(command, env=environment) as process:

            def pass_on(number: int, frame: FrameType | None) -> None:
                """Remember a signal, and send it on if the terminal did not."""
                signals.append(number)
                if number == signal.SIGINT and _reaches_all():
                    return
                # Snakemake first: it must not take the next job for that of an ended one. But
                # listed before it knows, since `scancel`, which it starts then, must live.
                for one in (process.pid, *_started_by(process.pid)):
                    with suppress(ProcessLookupError):
                        os.kill(one, signal.SIGTERM if number == signal.SIGHUP else number)

            for number, handler in kept.items():
                signal.signal(number, handler if handler == signal.SIG_IGN else pass_on)
            yield process, signals
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _started_by(process: int) -> list[int]:
    """The processes that a process has started, and those that they have; none without /proc."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            # The parent is the second word behind the name, which is in brackets.
            parent = int(status.read_text(errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(status.parent.name))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found[1:]


def _reaches_all() -> bool:
    """Whether Ctrl-C of a terminal reaches this process, and so those that it has started."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
