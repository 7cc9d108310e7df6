"""Are these scores believable? Signs of a wrong box, a frozen device or a broken kernel.

Each check counts suspect ligands among those looked at. A few mean nothing, many are an alarm. The
scores are those of best poses by the first function: larger is better, minus the affinity. The twin
looks at every function that has a say in what ranks.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from ligen_py.engine.filtering.batched import take
from ligen_py.errors import InputError
from ligen_py.functions import load
from ligen_py.records.pocket import Field
from ligen_py.records.poses import Poses
from ligen_py.records.rows import rows_below, subset
from ligen_py.records.scores import Check, Checks, Scores
from ligen_py.records.typed import Typed

ALARM = {
    Check.ZERO: 0.05,
    Check.POSITIVE: 0.05,
    Check.SENTINEL: 0.0,
    Check.FROZEN: 0.2,
    Check.OUTSIDE: 0.05,
    Check.TWIN: 0.1,
    Check.DRIFT: 0.5,
}
"""A larger share of suspect ligands is an alarm; for drift a larger distance."""

ENOUGH = 20
"""Ligands without which a share says nothing, and the smallest sample for the twin."""

FIRST = 1000
"""Ligands of the first chunks that later ones are compared with."""

WORST_AFFINITY = 10.0
"""kcal/mol; a refined pose without clashes does not come near it."""

HUGE = 1e4
"""What only an error value reaches."""

TWIN_TOLERANCE = (1e-2, 1e-3)
"""Absolute and relative difference between a device and its twin; measured: below 1e-4, but for the
step of X-Score's HM (docs/determinism.md)."""


def watch(
    typed: Mapping[str, Typed],
    poses: Poses,
    scores: Scores,
    field: Field,
    terms: Mapping[str, Mapping[str, np.ndarray]],
    every: int,
) -> Checks:
    """Look at a chunk's best poses; score one in `every` again by the twins of some functions.

    `typed` holds ligands and receptor as each of these functions sees them, the first function's
    first.
    """
    found = scores.best >= 0
    best = scores.best[found]
    score = terms[next(iter(typed))]["total"][best].astype(np.float64)
    repeated = int(np.unique(score, return_counts=True)[1].max(initial=0))
    last = field.origin + field.spacing * (np.array(field.value.shape[1:]) - 1)
    place = poses.translation[best]
    outside = ((place < field.origin) | (place > last)).any(axis=1)
    some = sample(scores, every)
    gaps = np.zeros(len(some))
    for function, seen in typed.items():
        apart = _twin_gaps(function, seen, poses, scores.best, some, terms[function])
        gaps = np.maximum(gaps, apart)
    unlike = f"scores unlike the twin's; largest difference {gaps.max(initial=0):.2g} tolerances"
    rows = [
        _row(Check.ZERO, score == 0, "scores of exactly 0"),
        _row(Check.POSITIVE, score < -WORST_AFFINITY, f"scores below {-WORST_AFFINITY:g}"),
        _row(Check.SENTINEL, np.abs(score) >= HUGE, f"scores beyond {HUGE:g}"),
        _row(Check.FROZEN, np.arange(len(score)) < repeated * (repeated > 1), "equal scores"),
        _row(Check.OUTSIDE, outside, "best poses centred outside the box"),
        _row(Check.TWIN, gaps > 1, unlike),
    ]
    return table(rows)


Row = tuple[Check, int, int, float, str]


def _row(check: Check, suspect: np.ndarray, what: str) -> Row:
    count = int(np.count_nonzero(suspect))
    words = f"{count} of {len(suspect)} {what}"
    return check, count, len(suspect), count / max(len(suspect), 1), words


def table(rows: list[Row]) -> Checks:
    """Checks from (check, suspect ligands, ligands looked at, measure, words)."""
    alarms = [
        measure > ALARM[check] and (seen >= ENOUGH or check == Check.SENTINEL)
        for check, _, seen, measure, _ in rows
    ]
    return Checks(
        check=np.array([row[0] for row in rows], "u1"),
        suspect=np.array([row[1] for row in rows], "i8"),
        seen=np.array([row[2] for row in rows], "i8"),
        measure=np.array([row[3] for row in rows], "f4"),
        alarm=np.array(alarms, "u1"),
        detail=np.array([row[4] for row in rows], object),
    )


class Drift:
    """Holds the scores of each chunk against those of the first ones."""

    def __init__(self, most: float) -> None:
        self._most = most
        self._first = np.empty(0, np.float32)

    def checks(self, scores: np.ndarray, label: str) -> Checks:
        """How far the scores (ligands,) of one more chunk lie from the first ones'.

        Measured by Kolmogorov-Smirnov's distance. 0: equal distributions; 1: apart. Raises
        InputError with the part's `label` where it is more than `most`.
        """
        first, distance = np.sort(self._first), 0.0
        words = "the first scores"
        if len(first) and len(scores):
            both = np.concatenate([first, scores])
            below = [np.searchsorted(np.sort(x), both, side="right") for x in (first, scores)]
            distance = float(np.abs(below[0] / len(first) - below[1] / len(scores)).max())
            medians = np.median(scores), np.median(first)
            words = "apart by {:.2f} from the first scores: median {:.2f}, theirs {:.2f}"
            words = words.format(distance, *medians)
        if len(first) < FIRST:
            self._first = np.concatenate([first, scores])
        found = table([(Check.DRIFT, 0, min(len(first), len(scores)), distance, words)])
        if too_many(found, self._most):
            raise InputError(
                f"part {label}: its scores are {words}; if the library is sorted so, raise "
                "--max-drift"
            )
        return found


def sample(scores: Scores, every: int) -> np.ndarray:
    """Ligands for the twin: one in `every`, but `ENOUGH` at least, evenly spread; with 0 nobody."""
    rows = np.flatnonzero(scores.best >= 0)
    count = min(len(rows), max(ENOUGH, len(rows) // every)) if every else 0
    return rows[np.linspace(0, max(len(rows) - 1, 0), count).astype(int)]


def _twin_gaps(
    function: str,
    typed: Typed,
    poses: Poses,
    best: np.ndarray,
    rows: np.ndarray,
    terms: Mapping[str, np.ndarray],
) -> np.ndarray:
    """Differences (rows,) between device and twin over the tolerance, of some ligands' best poses.

    The largest one of the terms that the function's room has watched.
    """
    some = subset(typed.ligands, rows_below(typed.ligands, "ligand", rows))
    given = take(poses, best[rows], np.ones(len(rows), np.int64))
    room = load(function, "reference")
    twin = room.score_poses(some, typed.receptor, given)
    absolute, relative = TWIN_TOLERANCE
    result = np.zeros(len(rows))
    for name in room.WATCHED:
        expected = twin[name].astype(np.float64)
        gaps = np.abs(terms[name][best[rows]] - expected) / (absolute + relative * np.abs(expected))
        result = np.maximum(result, np.where(np.isfinite(gaps), gaps, np.inf))
    return result


def alarms(checks: Checks) -> Iterator[str]:
    """Each alarm in words."""
    for row in np.flatnonzero(checks.alarm):
        yield f"{Check(checks.check[row]).name.lower()}: {checks.detail[row]}"


def too_many(checks: Checks, limit: float) -> bool:
    """Whether an alarm's suspect ligands are a larger share than `limit`."""
    return bool(((checks.measure > limit) & (checks.alarm > 0)).any())
