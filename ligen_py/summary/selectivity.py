"""How the same molecules rank in several targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ligen_py.store.campaign.reader import Every
from ligen_py.summary.dossier import Dossier, Row
from ligen_py.summary.figures import Figure, scatter

MOST_PAIRS = 6
BEST = 12
"""Molecules of each target that the table lists."""


@dataclass(frozen=True)
class Selected:
    """A molecule in every target."""

    name: str
    scores: Sequence[float | None]
    ranks: Sequence[int | None]
    deviations: Sequence[float | None]
    """Its score in standard deviations above the mean of the target's molecules."""

    @property
    def best(self) -> int:
        """Number of the target that it prefers."""
        values = [-np.inf if value is None else value for value in self.deviations]
        return int(np.argmax(values))

    @property
    def margin(self) -> float | None:
        """By how much more than the next, in standard deviations; None where no next is known."""
        values = sorted((value for value in self.deviations if value is not None), reverse=True)
        return values[0] - values[1] if len(values) > 1 else None


@dataclass(frozen=True)
class Selectivity:
    """All targets against each other."""

    targets: Sequence[str]
    molecules: Sequence[Selected]
    figures: Sequence[Figure]


def selectivity(dossiers: Sequence[Dossier]) -> Selectivity | None:
    """The comparison of the targets in which a molecule is scored; None of a single one."""
    dossiers = [one for one in dossiers if len(one.every.score)]
    if len(dossiers) < 2:
        return None
    places = [_places(one.every) for one in dossiers]
    ranks = [one.every.rank for one in dossiers]
    # Row of `every` of each hit: the hit's rank says which.
    chosen: dict[tuple[int, int, int], str] = {}
    for number, one in enumerate(dossiers):
        by_rank = {int(rank): row for row, rank in enumerate(ranks[number])}
        keys = list(places[number])
        for row in one.hits[:BEST]:
            if row.rank in by_rank:
                chosen.setdefault(keys[by_rank[row.rank]], row.name)
    found = []
    for key, name in chosen.items():
        rows = [place.get(key) for place in places]
        pairs = list(zip(dossiers, rows, strict=True))
        found.append(
            Selected(
                name,
                [None if i is None else float(d.every.score[i]) for d, i in pairs],
                [None if i is None else int(ranks[n][i]) for n, i in enumerate(rows)],
                [None if i is None else _deviation(d.every.score, i) for d, i in pairs],
            )
        )
    found.sort(key=lambda one: -(one.margin or 0.0))
    figures = [
        _figure(dossiers[one], dossiers[two], places[one], places[two])
        for one, two in list(combinations(range(len(dossiers)), 2))[:MOST_PAIRS]
    ]
    return Selectivity([one.target.name for one in dossiers], found, figures)


def _places(every: Every) -> dict[tuple[int, int, int], int]:
    """Row of each molecule by where it stands in the input."""
    columns = (every.library.tolist(), every.file.tolist(), every.line.tolist())
    return {key: row for row, key in enumerate(zip(*columns, strict=True))}


def _deviation(score: np.ndarray, row: int) -> float:
    spread = float(score.std())
    return float(score[row] - score.mean()) / spread if spread else 0.0


def _figure(
    one: Dossier, two: Dossier, here: dict[tuple[int, int, int], int], there: dict
) -> Figure:
    shared = [(row, there[key]) for key, row in here.items() if key in there]
    rows = np.array(shared, "i8").reshape(-1, 2)
    xs, ys = one.every.score[rows[:, 0]], two.every.score[rows[:, 1]]
    by_rank = {int(rank): row for row, rank in enumerate(one.every.rank)}
    other = {int(rank): row for row, rank in enumerate(two.every.rank)}
    back = {row: place for place, row in shared}
    forth = dict(shared)
    marks = []
    for hit in one.hits[:BEST]:
        row = by_rank.get(hit.rank)
        if row in forth:
            marks.append(_mark(hit, one.every.score[row], two.every.score[forth[row]]))
    for hit in two.hits[:BEST]:
        row = other.get(hit.rank)
        if row in back:
            marks.append(_mark(hit, one.every.score[back[row]], two.every.score[row]))
    return scatter(f"score in {one.target.name}", f"score in {two.target.name}", xs, ys, marks)


def _mark(hit: Row, x: np.ndarray, y: np.ndarray) -> tuple[float, float, str, str]:
    return float(x), float(y), "hit", f"{hit.name}: {x:.2f} and {y:.2f}"
