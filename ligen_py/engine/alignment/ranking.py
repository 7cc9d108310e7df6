"""The best scores of a database, ties in its order."""

from typing import NamedTuple

import numpy as np


class Ranked(NamedTuple):
    """Records with the best scores, best first; of equal ones the first in the database."""

    record: np.ndarray
    """i8."""
    score: np.ndarray
    """i4, each above 0."""


NONE = Ranked(np.empty(0, "i8"), np.empty(0, "i4"))


def best(record: np.ndarray, score: np.ndarray, count: int) -> Ranked:
    """The `count` best of some records; a score of 0 is no alignment, and counts for nothing."""
    if len(score) > count:
        least = max(1, int(np.partition(score, len(score) - count)[len(score) - count]))
    else:
        least = 1
    rows = np.flatnonzero(score >= least)
    rows = rows[np.lexsort((record[rows], -score[rows]))][:count]
    return Ranked(record[rows], score[rows])


def merged(parts: list[Ranked], count: int) -> Ranked:
    """The best of several parts of one database."""
    some = parts or [NONE]
    record = np.concatenate([part.record for part in some])
    return best(record, np.concatenate([part.score for part in some]), count)
