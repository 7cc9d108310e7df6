"""Are these scores believable? Signs of a wrong box, a frozen device or a broken kernel.

Each check counts suspect ligands among those looked at. A few mean nothing, many are an alarm. The
scores are those of best poses by the first function: larger is better, minus the affinity. The twin
looks at every function that contributes to the ranking.
"""

from collections.abc import Mapping

import numpy as np

from ligen_py.engine.pose_arrays import take
from ligen_py.engine.scoring.checks import ENOUGH, Row, table
from ligen_py.functions import load
from ligen_py.records.pocket import GeometricField
from ligen_py.records.poses import Poses
from ligen_py.records.rows import rows_below, subset
from ligen_py.records.scores import Check, Checks, Scores
from ligen_py.records.typed import Typed

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
    field: GeometricField,
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
    last = field.origin + field.spacing * (np.array(field.value.shape) - 1)
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


def _row(check: Check, suspect: np.ndarray, what: str) -> Row:
    count = int(np.count_nonzero(suspect))
    words = f"{count} of {len(suspect)} {what}"
    return check, count, len(suspect), count / max(len(suspect), 1), words


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

    The largest one of the terms that the function names in `WATCHED`.
    """
    some = subset(typed.ligands, rows_below(typed.ligands, "ligand", rows))
    given = take(poses, best[rows], np.ones(len(rows), np.int64))
    reference = load(function, "reference")
    twin = reference.score_poses(some, typed.receptor, given)
    absolute, relative = TWIN_TOLERANCE
    result = np.zeros(len(rows))
    for name in reference.WATCHED:
        expected = twin[name].astype(np.float64)
        gaps = np.abs(terms[name][best[rows]] - expected) / (absolute + relative * np.abs(expected))
        result = np.maximum(result, np.where(np.isfinite(gaps), gaps, np.inf))
    return result
