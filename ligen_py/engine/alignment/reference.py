"""Smith-Waterman with affine gaps in NumPy: the specification of the kernels, and tracebacks.

    H(i,j) = max(0, H(i-1,j-1) + s(i,j), E(i,j), F(i,j))       i: residue of the query
    E(i,j) = max(H(i,j-1) - first, E(i,j-1) - next)            j: residue of the target
    F(i,j) = max(H(i-1,j) - first, F(i-1,j) - next)

One column after another, all rows at once, several targets side by side. F needs no loop over the
rows: because a gap never pays less for its first residue, it opens at some row k above, in a cell
that no F has made, and F(i) = max over k < i of H(k) - first - (i - k - 1) next.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.sequences.alphabets import PAD

_CELLS = 1 << 22
"""Cells of a traceback's matrices in memory, 12 bytes each."""

_NOTHING = np.int32(-(1 << 30))


class Alignment(NamedTuple):
    """One best local alignment of a query and a target; places count from 0, ends are exclusive.

    Of several with the best score it is the one that ends first in the target, then in the query;
    on its way back it takes a pair before a gap, and a gap in the query before one in the target.
    """

    score: int
    query_start: int
    query_end: int
    target_start: int
    target_end: int
    cigar: str
    """Runs of M (a pair), I (residues of the query only) and D (of the target only)."""


def scores(query: np.ndarray, targets: Sequence[np.ndarray], scoring: Scoring) -> np.ndarray:
    """Best local scores (i4) of a query against targets, all as numbers of `AMINO_ACIDS`."""
    if not len(targets) or not len(query):
        return np.zeros(len(targets), "i4")
    best = np.zeros(len(targets), "i4")
    before = _outside(len(targets), len(query))
    for column in _columns(query, _side_by_side(targets), scoring, before):
        np.maximum(best, column.h.max(axis=1), out=best)
    return best


def align(query: np.ndarray, targets: Sequence[np.ndarray], scoring: Scoring) -> list[Alignment]:
    """A best local alignment of a query with each target.

    Targets of like length are filled in side by side. Of a large matrix only some columns are
    kept, and the pieces between them are filled in again on the way back.
    """
    found: dict[int, Alignment] = {}
    order = sorted(range(len(targets)), key=lambda number: len(targets[number]))
    while order:
        some = [order.pop(0)]
        while order and len(query) * len(targets[order[0]]) * (len(some) + 1) <= _CELLS:
            some.append(order.pop(0))
        matrices = _Matrices(query, _side_by_side([targets[n] for n in some]), scoring)
        found |= {number: matrices.alignment(place) for place, number in enumerate(some)}
    return [found[number] for number in range(len(targets))]


class _Column(NamedTuple):
    """H, E and F of one residue of each target; (targets, rows) i4."""

    h: np.ndarray
    e: np.ndarray
    f: np.ndarray


def _side_by_side(targets: Sequence[np.ndarray]) -> np.ndarray:
    """Letters (targets, columns) u1, filled up with PAD."""
    letters = np.full((len(targets), max(map(len, targets))), PAD, "u1")
    for row, target in zip(letters, targets, strict=True):
        row[: len(target)] = target
    return letters


def _outside(targets: int, rows: int) -> _Column:
    """What stands before the first column."""
    nothing = np.full((targets, rows), _NOTHING, "i4")
    return _Column(np.zeros_like(nothing), nothing, nothing)


def _columns(
    query: np.ndarray, letters: np.ndarray, scoring: Scoring, before: _Column
) -> Iterator[_Column]:
    """One column after another, from the one `before`."""
    first, further = scoring.gap_first, scoring.gap_next
    pairs = np.full((PAD + 1, len(query)), _NOTHING, "i4")
    pairs[:PAD] = scoring.matrix[query].T
    ramp = np.arange(len(query), dtype="i4") * further
    h, e, _ = before
    for column in letters.T:
        e = np.maximum(h - first, e - further)
        new = pairs[column]
        new[:, 1:] += h[:, :-1]
        np.maximum(new, e, out=new)
        np.maximum(new, 0, out=new)
        f = np.full_like(new, _NOTHING)
        f[:, 1:] = np.maximum.accumulate(new + ramp, axis=1)[:, :-1] - ramp[:-1] - first
        h = np.maximum(new, f)
        yield _Column(h, e, f)


class _Matrices:
    """H, E and F of a query with some targets, one piece of the columns at a time."""

    def __init__(self, query: np.ndarray, letters: np.ndarray, scoring: Scoring) -> None:
        self._query, self._letters, self._scoring = query, letters, scoring
        targets, columns = letters.shape
        shape = targets, len(query)
        whole = targets * len(query) * columns <= _CELLS
        # Columns kept and columns of a piece take the same room.
        self._size = max(1, columns if whole else math.isqrt(columns))
        self._best, self._row, self._column = np.zeros((3, targets), int)
        self._before = [_outside(*shape)]
        self._piece, self._start = np.empty((self._size, 3, *shape), "i4"), 0
        for number, column in enumerate(_columns(query, letters, scoring, self._before[0])):
            if number and number % self._size == 0:
                self._before.append(_Column(*self._piece[-1].copy()))
                self._start = number
            self._piece[number - self._start] = column
            better = np.flatnonzero(column.h.max(axis=1, initial=0) > self._best)
            self._best[better] = column.h[better].max(axis=1, initial=0)
            self._row[better] = column.h[better].argmax(axis=1) if len(query) else 0
            self._column[better] = number

    def _cell(self, matrix: int, target: int, row: int, column: int) -> int:
        """A value of H (0), E (1) or F (2); `column` falls from call to call, but for one step."""
        if row < 0 or column < 0:
            return 0
        if column < self._start - 1:
            self._fill(column // self._size)
        if column < self._start:
            return int(self._before[self._start // self._size][matrix][target, row])
        return int(self._piece[column - self._start, matrix, target, row])

    def _fill(self, number: int) -> None:
        self._start = number * self._size
        letters = self._letters[:, self._start : self._start + self._size]
        before = self._before[number]
        for place, column in enumerate(_columns(self._query, letters, self._scoring, before)):
            self._piece[place] = column

    def alignment(self, target: int) -> Alignment:
        """Trace the best alignment of a target back from its end."""
        score = int(self._best[target])
        if not score:
            return Alignment(0, 0, 0, 0, 0, "")
        if self._start and len(self._before) > 1:
            self._fill(int(self._column[target]) // self._size)
        first, matrix = self._scoring.gap_first, 0
        row, column = int(self._row[target]), int(self._column[target])
        end_row, end_column = row + 1, column + 1
        steps = []
        while value := self._cell(matrix, target, row, column):
            if matrix == 0:
                letter = self._letters[target, column]
                pair = int(self._scoring.matrix[self._query[row], letter])
                if value == self._cell(0, target, row - 1, column - 1) + pair:
                    steps.append("M")
                    row, column = row - 1, column - 1
                else:
                    matrix = 1 if value == self._cell(1, target, row, column) else 2
            elif matrix == 1:
                steps.append("D")
                column -= 1
                matrix = 0 if value == self._cell(0, target, row, column) - first else 1
            else:
                steps.append("I")
                row -= 1
                matrix = 0 if value == self._cell(0, target, row, column) - first else 2
        runs = (f"{len(list(run))}{step}" for step, run in groupby(reversed(steps)))
        return Alignment(score, row + 1, end_row, column + 1, end_column, "".join(runs))
