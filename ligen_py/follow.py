"""Shows how far a campaign is while it runs.

The workflow starts `follow`: bars on a terminal, else a line a minute in Snakemake's log, and one
in logs/progress.log in both cases.
"""

import atexit
import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ligen_py.errors import InputError
from ligen_py.progress import MINUTE, Progress, State
from ligen_py.store.campaign.expected import Expected
from ligen_py.store.campaign.manifest import Manifest, PartFiles, read_manifest

GLANCE = 5.0
"""Seconds between two looks where bars show them."""


class Bars:
    """Parts and records as two bars at the foot of a terminal; other lines scroll above them."""

    def __init__(self, streams: Sequence[Any] = (), console: Any = None) -> None:
        """`streams` are log handlers that write to the terminal: from now on above the bars."""
        from rich import progress as rich  # comes with the workflow

        self._bars = rich.Progress(
            rich.TextColumn("{task.description}"),
            rich.BarColumn(),
            rich.TextColumn("{task.fields[words]}"),
            console=console,
        )
        # A row appears when there is something to show in it.
        self._parts, self._records, self._searches = (
            self._bars.add_task(row, total=None, words="", visible=False)
            for row in ("parts", "records", "searches")
        )
        self._streams = [(handler, handler.stream) for handler in streams]
        self._bars.start()
        for handler, _ in self._streams:
            handler.setStream(sys.stderr)

    def show_searches(self, done: int, of: int) -> None:
        """Draw how many parts of searches are done."""
        words = f"{done} of {of} parts"
        self._bars.update(self._searches, completed=done, total=of, words=words, visible=True)

    def show(self, state: State) -> None:
        """Draw a new state."""
        about = "" if state.exact else "about "
        words = (f"{state.parts} of {state.all_parts}", state.speed)
        self._bars.update(
            self._parts,
            completed=state.parts,
            total=state.all_parts,
            words="; ".join(filter(None, words)),
            visible=True,
        )
        self._bars.update(
            self._records,
            completed=state.records,
            total=state.all_records or None,
            visible=True,
            words="; ".join(
                filter(
                    None,
                    (
                        f"{state.records} of {about}{state.all_records:.0f}",
                        state.losses,
                        state.best,
                    ),
                )
            ),
        )

    def stop(self) -> None:
        """Leave the bars as they are, and give the terminal back."""
        self._bars.stop()
        for handler, stream in self._streams:
            handler.setStream(stream)


class Running:
    """A campaign that runs: its screens, whose list of parts may change, and its searches."""

    def __init__(
        self,
        manifest: Path,
        searches: Sequence[str | Path] = (),
        is_old: Callable[[PartFiles], bool] | None = None,
        marks: Sequence[Path] = (),
    ) -> None:
        """`searches` are the files of all parts of searches of sequences.

        `is_old` and `marks` are those of `Progress`. Neither `manifest` nor any other file need be
        there yet.
        """
        # What looks at the end may find itself in another folder.
        self._here = here = Path.cwd()
        self._manifest = here / manifest
        self._searches = [here / path for path in searches]
        self._is_old, self._marks = is_old, [here / mark for mark in marks]
        self._lock = threading.Lock()
        self._known: tuple[int, int] | None = None
        self._progress: Progress | None = None

    def look(self, at_end: bool = False) -> State | None:
        """Where the screens stand, as `Progress.look` says; None before there is a list of parts.

        May be called from several threads.
        """
        with self._lock:
            if self._manifest.exists():
                status = self._manifest.stat()
                found = status.st_ino, status.st_mtime_ns
                if found != self._known:
                    self._known = found
                    parts = read_manifest(self._manifest).parts
                    moved = Manifest(tuple(part.moved(self._here) for part in parts))
                    expected = Expected.read(self._here)
                    self._progress = Progress(
                        moved, expected=expected, is_old=self._is_old, marks=self._marks
                    )
            return self._progress.look(at_end) if self._progress else None

    def searched(self) -> tuple[int, int]:
        """How many parts of searches are done, and how many there are."""
        return sum(path.exists() for path in self._searches), len(self._searches)


def follow(
    running: Running,
    log: Path,
    report: Callable[[str], object],
    streams: Sequence[Any] = (),
    pause: float = MINUTE,
) -> None:
    """Start to report how far a campaign is, until this process ends.

    On a terminal bars show it, if `streams` names the log handlers that write there; else a line
    goes to `report` once a `pause` (seconds). A line a `pause` goes to the end of `log` in both
    cases, and one at the end. A campaign never stops because of this.
    """
    bars = Bars(streams) if streams and sys.stderr.isatty() else None
    follower = _Follower(running, Path.cwd() / log, report, pause, bars)
    threading.Thread(target=follower.run, daemon=True, name="progress").start()
    atexit.register(follower.finish)


@dataclass(frozen=True)
class _Follower:
    """Looks at a campaign from a thread, and once more at the end; see `follow`."""

    running: Running
    log: Path
    report: Callable[[str], object]
    pause: float
    bars: Bars | None

    def _look(self, at_end: bool = False) -> str:
        """Count what is finished; the line is empty before there is anything to count."""
        state = self.running.look(at_end)
        done, count = self.running.searched()
        if self.bars and state:
            self.bars.show(state)
        if self.bars and count:
            self.bars.show_searches(done, count)
        words = f"{done} of {count} parts of searches" if count else ""
        return "; ".join(filter(None, (str(state) if state else "", words)))

    def run(self) -> None:
        """Look again and again; a thread does so until the program ends."""
        written = -math.inf
        while True:
            line = ""
            try:
                line = self._look()
                if line and time.monotonic() - written >= self.pause:
                    written = time.monotonic()
                    _append(self.log, line)
                    if not self.bars:
                        self.report(line)
            except (InputError, OSError) as error:
                # A run deletes what it makes again, perhaps while it is read here.
                if not isinstance(error.__cause__ or error, FileNotFoundError):
                    self.report(f"progress: {error}")
            often = min(self.pause, GLANCE) if self.bars else self.pause
            time.sleep(often if line else min(self.pause, 1.0))

    def finish(self) -> None:
        """Write the last line, and leave the terminal to others."""
        # A file that is read here for the first time needs threads, which Python starts no more.
        with suppress(InputError, OSError, RuntimeError):
            if line := self._look(at_end=True):
                _append(self.log, line)
        if self.bars:
            self.bars.stop()


def _append(log: Path, line: str) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as stream:
        stream.write(f"{time.strftime('%Y-%m-%d %H:%M')}  {line}\n")
