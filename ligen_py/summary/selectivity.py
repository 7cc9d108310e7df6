"""How the same molecules rank in several targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ligen_py.store.campaign.reader import Every
from ligen_py.summary.dossier import Dossier, Row
from ligen_py.summary.fence import fenced
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
    """Its score in standard deviations above the mean of the target's molecules (`fenced`)."""

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
    molecules = _molecules([one.every for one in dossiers])
    places = [Places.of(one, keys) for one, keys in zip(dossiers, molecules, strict=True)]
    chosen: dict[int, str] = {}
    for one, place in zip(dossiers, places, strict=True):
        for row, key in zip(one.hits[:BEST], place.best.tolist(), strict=True):
            chosen.setdefault(key, row.name)
    found = []
    for key, name in chosen.items():
        pairs = [(place, int(place.rows(np.array([key]))[0])) for place in places]
        found.append(
            Selected(
                name,
                [None if i < 0 else float(place.every.score[i]) for place, i in pairs],
                [None if i < 0 else int(place.every.rank[i]) for place, i in pairs],
                [None if i < 0 else place.deviation(i) for place, i in pairs],
            )
        )
    found.sort(key=lambda one: -(one.margin or 0.0))
    figures = [
        _figure(dossiers[one], dossiers[two], places[one], places[two])
        for one, two in list(combinations(range(len(dossiers)), 2))[:MOST_PAIRS]
    ]
    return Selectivity([one.target.name for one in dossiers], found, figures)


def _molecules(every: Sequence[Every]) -> list[np.ndarray]:
    """A number for each molecule of each target: by where it stands in the input (i8)."""
    files = 1 + max(int(one.file.max()) for one in every)
    lines = 1 + max(int(one.line.max()) for one in every)
    return [(one.library.astype("i8") * files + one.file) * lines + one.line for one in every]


@dataclass(frozen=True)
class Places:
    """Where the molecules of a target stand among all of it."""

    every: Every
    molecule: np.ndarray
    """Of each row."""
    order: np.ndarray
    """Rows by their molecule."""
    ascending: np.ndarray
    """Molecules in that order."""
    best: np.ndarray
    """Molecules of the first hits."""
    score: np.ndarray
    """Of each row, `fenced`."""
    mean: float
    spread: float

    @classmethod
    def of(cls, dossier: Dossier, molecule: np.ndarray) -> "Places":
        """The places of a target's molecules, whose numbers are given."""
        every, hits = dossier.every, dossier.hits[:BEST]
        rows = np.flatnonzero(every.rank <= max((row.rank for row in hits), default=0))
        row_of = dict(zip(every.rank[rows].tolist(), rows.tolist(), strict=True))
        best = molecule[[row_of[row.rank] for row in hits]]
        score = fenced(every.score)
        mean, spread = float(score.mean()), float(score.std())
        order = np.argsort(molecule)
        return cls(every, molecule, order, molecule[order], best, score, mean, spread)

    def rows(self, molecules: np.ndarray) -> np.ndarray:
        """The rows of some molecules (i8); -1 where the target has no such."""
        found = np.searchsorted(self.ascending, molecules)
        found[found == len(self.ascending)] = 0
        return np.where(self.ascending[found] == molecules, self.order[found], -1)

    def deviation(self, row: int) -> float:
        """The score of a row in standard deviations above the mean."""
        return (float(self.score[row]) - self.mean) / self.spread if self.spread else 0.0


def _figure(one: Dossier, two: Dossier, here: Places, there: Places) -> Figure:
    rows = there.rows(here.molecule)
    xs, ys = here.every.score[rows >= 0], there.every.score[rows[rows >= 0]]
    marks = []
    for kind, hits, place in (("hit", one.hits, here), ("other", two.hits, there)):
        x, y = here.rows(place.best), there.rows(place.best)
        for hit, i, j in zip(hits[:BEST], x.tolist(), y.tolist(), strict=True):
            if i >= 0 and j >= 0:
                marks.append(_mark(kind, hit, here.every.score[i], there.every.score[j]))
    return scatter(f"score in {one.target.name}", f"score in {two.target.name}", xs, ys, marks)


def _mark(kind: str, hit: Row, x: float, y: float) -> tuple[float, float, str, str]:
    return float(x), float(y), kind, f"{hit.name}: {x:.2f} and {y:.2f}"
