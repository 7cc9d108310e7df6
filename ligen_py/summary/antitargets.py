"""The table of scores in a target and in its anti-targets."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.store.files.text import as_written, harmless
from ligen_py.summary.table import counted

COLUMNS = (
    "target",
    "rank",
    "ligand",
    "library",
    "score",
    "best_antitarget",
    "antitarget_score",
    "difference",
)
"""Of selectivity.tsv; a column for each anti-target follows."""


@dataclass(frozen=True)
class Row:
    """A molecule."""

    target: str
    rank: int
    ligand: str
    library: str
    score: float
    antitargets: dict[str, float]
    """Score in each anti-target; NaN where none was found."""

    @property
    def best(self) -> tuple[str, float]:
        """The anti-target with the highest score, the first of several; NaN where there is none."""
        known = {name: value for name, value in self.antitargets.items() if not math.isnan(value)}
        name = max(known, key=lambda name: known[name], default="")
        return name, known.get(name, math.nan)

    @property
    def difference(self) -> float:
        """Score less the best score in an anti-target, each at least 0; NaN where there is none.

        A molecule that does not fit clashes, and may score hundreds below 0: how far says nothing.
        The fence of other comparisons is no help, since in a tight site all may clash.
        """
        own, there = np.maximum((self.score, self.best[1]), 0)
        return float(own - there)


def table(rows: Sequence[Row], names: Sequence[str]) -> Iterator[str]:
    """selectivity.tsv: a header, a molecule a line, best first for each target."""
    yield "\t".join([*COLUMNS, *names]) + "\n"
    for row in rows:
        name, score = row.best
        cells = [
            harmless(row.target),
            str(row.rank),
            harmless(" ".join(row.ligand.split())),
            harmless(row.library),
            _number(row.score),
            name,
            _number(score),
            _number(row.difference),
            *(_number(row.antitargets[one]) for one in names),
        ]
        yield "\t".join(cells) + "\n"


def read_table(path: Path) -> list[Row]:
    """The rows of a table; InputError where it is none."""
    try:
        first, *lines = path.read_text("utf-8").splitlines()
        names = first.split("\t")[len(COLUMNS) :]
        rows = []
        for line in lines:
            cells = line.split("\t")
            values = [float(cell) if cell else math.nan for cell in cells[len(COLUMNS) :]]
            there = dict(zip(names, values, strict=True))
            target, ligand, library = map(as_written, (cells[0], cells[2], cells[3]))
            rows.append(Row(target, int(cells[1]), ligand, library, float(cells[4]), there))
        return rows
    except (ValueError, IndexError) as error:
        raise InputError(f"{path}: is no table of selectivity; make it again") from error


def higher(rows: Sequence[Row]) -> Iterator[str]:
    """A sentence for each target: how many molecules score higher in an anti-target."""
    for target in dict.fromkeys(row.target for row in rows):
        own = [row for row in rows if row.target == target]
        count = sum(row.difference < 0 for row in own)
        best = counted(len(own), "best molecule")
        yield f"{count} of the {best} of {target} score higher in an anti-target"


def unlisted(panel: Path, names: Sequence[str]) -> list[str]:
    """Anti-targets that a search's panel.tsv does not list; InputError where the file is none."""
    try:
        header, *lines = [line.split("\t") for line in panel.read_text("utf-8").splitlines()]
        place = header.index("accession")
        listed = {line[place] for line in lines}
    except (ValueError, IndexError) as error:
        raise InputError(f"{panel}: is no panel.tsv of `panel`; give that of the search") from error
    return [name for name in names if name not in listed]


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4f}"
