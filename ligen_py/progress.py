"""How far a campaign is: records done, rate, time left, what became of the others.

Reads the manifest and whatever ligands and scores files exist. The workflow shows it by itself
(`ligen_py.follow`). By hand:

    ligen progress results/manifest.tsv
"""

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from ligen_py import cli
from ligen_py.errors import InputError
from ligen_py.records.column import Kind
from ligen_py.records.ledger import Reason
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.scores import SCORES
from ligen_py.store.campaign.expected import Expected
from ligen_py.store.campaign.manifest import Manifest, PartFiles, read_manifest
from ligen_py.store.files.read import read_columns, searched
from ligen_py.summary.table import cut, readable

MINUTE = 60.0


@dataclass(frozen=True)
class State:
    """Where a campaign stands at one moment. A record of a library counts once for each pocket.

    A reference ligand that is redocked is a part, but no record, as in ledger and report.
    """

    parts: int
    all_parts: int
    records: int
    all_records: float
    """Of files that are not parsed yet, the mean of those of the same library."""
    exact: bool
    """Whether all files are parsed."""
    rate: float
    """Records a second; 0 while nobody knows."""
    left: float | None
    """Seconds; None while nobody knows."""
    lost: Counter[str]
    """Records without a score, by reason."""
    best: str = ""
    """The best score so far and its molecule, in words."""
    planned: bool = False
    """Whether `left` is what `plan` expected, because nothing is finished yet."""

    @property
    def speed(self) -> str:
        """Rate and time left in words; empty while nobody knows."""
        if self.left is None:
            return ""
        if self.planned:
            return f"{_span(self.left)} expected by plan"
        return f"{self.rate:.3g} records/s, {_span(self.left)} left"

    @property
    def losses(self) -> str:
        """The lost records in words."""
        lost = (f"{count} {reason}" for reason, count in self.lost.most_common())
        return ", ".join(lost) or "none lost"

    def __str__(self) -> str:
        """One line."""
        of = f" of {'' if self.exact else 'about '}{self.all_records:.0f}"
        words = f"{self.parts} of {self.all_parts} parts, "
        words += f"{self.records}{of if self.all_records else ''} records done"
        return "; ".join(filter(None, (words, self.speed, self.losses, self.best)))


@dataclass(frozen=True, eq=False)
class _Finished:
    """What is known of a finished part."""

    part: PartFiles
    changed: int
    """When its scores file was made, in nanoseconds."""
    records: int
    lost: Counter[str]
    best: float
    """The best score; -inf where nothing was scored, or of a control."""
    ligand: int
    """Row of the best ligand."""


@dataclass
class Progress:
    """Counts the records of finished parts; each file is read once.

    What is not there any more, or was made again, is forgotten: it looks for that once in `MINUTE`.
    What the run has yet to make again does not count.
    """

    manifest: Manifest
    clock: Callable[[], float] = time.monotonic
    expected: Expected | None = None
    is_old: Callable[[PartFiles], bool] | None = None
    """Whether a part is not what it would be now, by `fresh.is_old`; None: all parts count."""
    marks: Sequence[Path] = ()
    """Files that are newer than the scores of parts that were asked for again."""
    _sizes: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """Of ligands files: when one was made, in nanoseconds, and its records."""
    _done: dict[Path, _Finished] = field(default_factory=dict)
    _old: dict[Path, int] = field(default_factory=dict)
    """Scores that the run will make again, and when they were made."""
    _judged: dict[Path, tuple[tuple[int, ...], bool]] = field(default_factory=dict)
    """When scores, ligands and pocket were made, and whether the part `is_old`."""
    _work: "_Work | None" = None
    _checked: float = -math.inf
    _accepted: set[str] = field(default_factory=set)

    def look(self, at_end: bool = False) -> State:
        """Where the campaign stands now; `at_end` nothing is left that was made again since."""
        parts, now = self.manifest.parts, self.clock()
        if at_end or now - self._checked >= MINUTE:
            self._checked = now
            self._forget()
        for part in parts:
            self._size(part.ligands)
            made = 0 if part.scores in self._done else _changed(part.scores)
            if made and made != self._old.get(part.scores):
                self._count(part)
        done = sum(part.records for part in self._done.values())
        if accepted := self._controls() - self._accepted:
            # What was done before the libraries could begin says nothing of their speed.
            self._accepted |= accepted
            self._work = None
        if self._work is None and any(self._can_start(part) for part in parts):
            self._work = _Work(now, now, len(self._done), done, done)
        if self._work and done > self._work.records:
            self._work.last, self._work.records = now, done
        expected = self._expected()
        rate = self._work.rate(now, len(self._done)) if self._work else 0.0
        left = None
        if self._work and rate:
            # What runs now has been worked at since the last part was finished.
            left = max(max(expected - done, 0) / rate - (now - self._work.last), 0.0)
        planned = left is None and self.expected is not None and bool(expected)
        if planned and self.expected:
            left = max(expected - done, 0) * self.expected.seconds
        exact = all(part.ligands in self._sizes for part in parts)
        size = len(self._done), len(parts)
        lost = sum((part.lost for part in self._done.values()), Counter[str]())
        return State(*size, done, expected, exact, rate, left, lost, self._words(), planned)

    def _forget(self) -> None:
        """Leave out what is not there any more, was made again or will be."""
        changed = cache(_changed)  # parts share pockets and ligands
        for path, (made, _) in list(self._sizes.items()):
            if changed(path) != made:
                del self._sizes[path]
        marked = max(map(changed, self.marks), default=0)
        self._old = {
            part.scores: changed(part.scores)
            for part in self.manifest.parts
            if self._will_be_made(part, changed, marked)
        }
        for path, part in list(self._done.items()):
            if changed(path) != part.changed or path in self._old:
                del self._done[path]
                self._work = None  # its rate counted this part

    def _will_be_made(self, part: PartFiles, changed: Callable[[Path], int], marked: int) -> bool:
        """Whether scores are there that the run makes again."""
        made = changed(part.scores)
        if not made or self.is_old is None:
            return False
        times = made, changed(part.ligands), changed(part.pocket)
        when, is_old = self._judged.get(part.scores, ((), False))
        if when != times:
            with suppress(
                InputError, OSError
            ):  # what cannot be read ends the run, or is made again
                is_old = self.is_old(part)
            self._judged[part.scores] = times, is_old
        return is_old or marked > made

    def _controls(self) -> set[str]:
        """Targets whose controls were accepted, so that libraries are docked into them."""
        places = {
            part.target: part.pocket.parent.parent / "controls" for part in self.manifest.parts
        }
        return {name for name, place in places.items() if (place / name / "accepted.txt").exists()}

    def _words(self) -> str:
        """The best score so far of each target, and its molecule.

        By consensus another may rank first: mean ranks are known when all parts are.
        """
        several = len(self.manifest.targets) > 1
        best: dict[str, _Finished] = {}
        for one in self._done.values():
            target = one.part.target
            if one.best > (best[target].best if target in best else -math.inf):
                best[target] = one
        found = [
            f"{one.best:.2f} {cut(readable(_name(one)))}{f' in {target}' if several else ''}"
            for target, one in best.items()
        ]
        return f"best score so far {', '.join(found)}" if found else ""

    def _can_start(self, part: PartFiles) -> bool:
        ready = part.ligands in self._sizes and part.pocket.exists()
        return part.scores not in self._done and ready

    def _size(self, path: Path) -> None:
        if path not in self._sizes and path.exists():
            changed = _changed(path)
            with searched():
                self._sizes[path] = changed, len(_column(path, LIGANDS, "ledger/status"))

    def _count(self, part: PartFiles) -> None:
        changed = _changed(part.scores)
        with searched():
            reason = _column(part.scores, SCORES, "ledger/reason")
            scores = read_columns(part.scores, SCORES, ("scores/best", "scores/score"))
        if part.control:
            reason = reason[:0]
        lost = Counter[str]()
        for value, count in zip(*np.unique(reason[reason > 0], return_counts=True), strict=True):
            lost[Reason(value).name.lower().replace("_", " ")] += int(count)
        best, ligand = -math.inf, -1
        score = np.where(scores["scores/best"] >= 0, scores["scores/score"], -np.inf)
        if len(score) and not part.control:
            best, ligand = float(score.max()), int(score.argmax())
        self._done[part.scores] = _Finished(part, changed, len(reason), lost, best, ligand)

    def _expected(self) -> float:
        """Records of all libraries; of files that are not there yet the mean of their library's."""
        known: dict[str, list[int]] = {}
        waiting: Counter[str] = Counter()
        for part in self.manifest.parts:
            if part.control:
                continue
            if part.ligands in self._sizes:
                known.setdefault(part.library, []).append(self._sizes[part.ligands][1])
            else:
                waiting[part.library] += 1
        every = [size for sizes in known.values() for size in sizes]
        total = float(sum(map(sum, known.values())))
        for library, count in waiting.items():
            sizes = known.get(library, every)
            if not sizes:
                return 0.0
            total += count * sum(sizes) / len(sizes)
        return total


@dataclass
class _Work:
    """What was finished since the first part could be docked."""

    start: float
    last: float
    """When the last part was finished."""
    parts_before: int
    before: int
    records: int

    def rate(self, now: float, parts: int) -> float:
        """Records a second, over the time until the last part was finished.

        While no part takes longer than the mean, the rate stays as it is; then it falls.
        """
        if self.records == self.before:
            return 0.0
        mean = (self.last - self.start) / max(parts - self.parts_before, 1)
        seconds = max(self.last - self.start, now - self.start - mean)
        return (self.records - self.before) / seconds if seconds else 0.0


@lru_cache
def _name(one: _Finished) -> str:
    """The name of a part's best molecule."""
    columns = read_columns(one.part.ligands, LIGANDS, ("entries/name", "ligands/entry"))
    return str(columns["entries/name"][columns["ligands/entry"][one.ligand]])


def _changed(path: Path) -> int:
    """When a file was made, in nanoseconds; 0 where it is not there."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _column(path: Path, kind: Kind, name: str) -> np.ndarray:
    return read_columns(path, kind, (name,))[name]


def _span(seconds: float) -> str:
    minutes = round(seconds / MINUTE)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"


def main(argv: Sequence[str] | None = None) -> int:
    """Say once how far a campaign is; returns the exit code."""
    parser = cli.parser("ligen_py.progress", __doc__)
    parser.add_argument("manifest", type=cli.input_file, help="manifest of the campaign")
    return cli.run(parser, argv, _say)


def _say(options: argparse.Namespace) -> None:
    manifest = read_manifest(options.manifest)
    print(Progress(manifest.found_from(options.manifest)).look())


if __name__ == "__main__":
    sys.exit(main())
