"""The best scores of a database, ties in its order."""

from typing import NamedTuple

import numpy as np


class Ranked(NamedTuple):
    """Records with the best scores, best first; of equal ones the first in the database."""

    record: np.ndarray
    """i8."""
    score: np.ndarray
    """i4, each above 0."""


ROW = 64
"""Scores of which the highest is looked at first."""

NONE = Ranked(np.empty(0, "i8"), np.empty(0, "i4"))


def best(record: np.ndarray, score: np.ndarray, count: int) -> Ranked:
    """The `count` best of some records; a score of 0 is no alignment, and counts for nothing."""
    # The count-th highest of the rows' maxima: no fewer scores reach it, and few more.
    rows = score[: len(score) // ROW * ROW].reshape(-1, ROW).max(axis=1)
    least = 1
    if len(rows) > count:
        least = max(1, int(np.partition(rows, len(rows) - count)[len(rows) - count]))
    rows = np.flatnonzero(score >= least)
    rows = rows[np.lexsort((record[rows], -score[rows]))][:count]
    return Ranked(record[rows], score[rows])


def merged(parts: list[Ranked], count: int) -> Ranked:
    """The best of several parts of one database."""
    some = parts or [NONE]
    record = np.concatenate([part.record for part in some])
    return best(record, np.concatenate([part.score for part in some]), count)
