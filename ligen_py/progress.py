"""How far a campaign is: records done, rate, time left, what became of the others.

Reads the manifest and whatever ligands and scores files exist. The workflow starts `follow` by
itself: one line a minute to Snakemake's log and to logs/progress.log. By hand:

    ligen progress results/manifest.tsv
"""

import argparse
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ligen_py import cli
from ligen_py.errors import InputError
from ligen_py.records.column import Kind
from ligen_py.records.ledger import Reason
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.scores import SCORES
from ligen_py.store.campaign.manifest import Manifest, read_manifest
from ligen_py.store.files.read import read_columns

MINUTE = 60.0


@dataclass
class Progress:
    """Counts the records of finished parts; each file is read once."""

    manifest: Manifest
    clock: Callable[[], float] = time.monotonic
    _sizes: dict[Path, int] = field(default_factory=dict)
    _done: dict[Path, int] = field(default_factory=dict)
    _left: Counter[str] = field(default_factory=Counter)
    _start: tuple[float, int] | None = None

    def line(self) -> str:
        """Where the campaign stands now, in one line."""
        for part in self.manifest.parts:
            self._size(part.ligands)
            if part.scores not in self._done and part.scores.exists():
                self._count(part.scores)
        done, now = sum(self._done.values()), self.clock()
        start, before = self._start = self._start or (now, done)
        rate = (done - before) / (now - start) if now > start else 0.0
        parts = self.manifest.parts
        words = f"{len(self._done)} of {len(parts)} parts, {done} of {self._total()} records done"
        if rate:
            left = max(self._expected() - done, 0) / rate
            words += f"; {rate:.3g} records/s, {_span(left)} left"
        lost = ", ".join(f"{count} {reason}" for reason, count in self._left.most_common())
        return f"{words}; {lost or 'none lost'}"

    def _size(self, path: Path) -> None:
        if path not in self._sizes and path.exists():
            self._sizes[path] = len(_column(path, LIGANDS, "ledger/status"))

    def _count(self, path: Path) -> None:
        status = _column(path, SCORES, "ledger/status")
        reason = _column(path, SCORES, "ledger/reason")
        self._done[path] = len(status)
        for value, count in zip(*np.unique(reason[reason > 0], return_counts=True), strict=True):
            self._left[Reason(value).name.lower().replace("_", " ")] += int(count)

    def _expected(self) -> float:
        """Records of all parts; of files that are not there yet the mean of the others."""
        known = [self._sizes.get(part.ligands) for part in self.manifest.parts]
        sizes = [size for size in known if size is not None]
        return sum(sizes) / len(sizes) * len(known) if sizes else 0.0

    def _total(self) -> str:
        complete = all(part.ligands in self._sizes for part in self.manifest.parts)
        return f"{'' if complete else 'about '}{self._expected():.0f}"


def _column(path: Path, kind: Kind, name: str) -> np.ndarray:
    return read_columns(path, kind, (name,))[name]


def _span(seconds: float) -> str:
    minutes = round(seconds / MINUTE)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"


def follow(manifest: Path, log: Path, tell: Callable[[str], object], pause: float = MINUTE) -> None:
    """Start to tell how far a campaign is, once a `pause` (seconds), until this process ends.

    Lines go to `tell` and to the end of `log`. A campaign never stops because of this.
    """

    def run() -> None:
        progress: Progress | None = None
        while True:
            try:
                if progress is None and manifest.exists():
                    progress = Progress(read_manifest(manifest))
                if progress is not None:
                    line = progress.line()
                    tell(line)
                    log.parent.mkdir(parents=True, exist_ok=True)
                    with log.open("a", encoding="utf-8") as stream:
                        stream.write(f"{time.strftime('%Y-%m-%d %H:%M')}  {line}\n")
            except (InputError, OSError) as error:
                tell(f"progress: {error}")
            time.sleep(pause if progress else min(pause, 1.0))

    threading.Thread(target=run, daemon=True, name="progress").start()


def main(argv: Sequence[str] | None = None) -> int:
    """Say once how far a campaign is; returns the exit code."""
    parser = cli.parser("ligen_py.progress", __doc__)
    parser.add_argument("manifest", type=cli.input_file, help="manifest of the campaign")
    return cli.run(parser, argv, _say)


def _say(options: argparse.Namespace) -> None:
    manifest = read_manifest(options.manifest)
    print(Progress(manifest.found_from(options.manifest)).line())


if __name__ == "__main__":
    sys.exit(main())
