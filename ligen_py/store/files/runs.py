"""Rows that are sorted on disk, and rows that are only kept there: memory does not grow with them.

Both use files without a name in the folder of an output, so a killed process leaves nothing behind.
"""

import os
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py.store.files.disk import writing

ROWS = 1 << 22
"""Rows that are sorted in memory at once: a hundred megabytes, and twice that while they are."""

PIECE = 1 << 20
"""Rows that are handed out at once, at most, where none went to disk."""


class Spool:
    """Rows on disk in the order in which they came; any of them can be read again."""

    def __init__(self, output: Path, dtype: np.dtype[Any]) -> None:
        self._output, self.dtype = output, dtype
        with writing(output):
            self._file = tempfile.TemporaryFile(dir=output.parent)  # noqa: SIM115 - until collected
        weakref.finalize(self, self._file.close)
        self.count = 0

    def add(self, rows: np.ndarray) -> None:
        """Append rows."""
        data = np.ascontiguousarray(rows, self.dtype).view("u1").data
        with writing(self._output):
            os.lseek(self._file.fileno(), 0, os.SEEK_END)
            while len(data):
                data = data[os.write(self._file.fileno(), data) :]
        self.count += len(rows)

    def between(self, first: int, last: int) -> np.ndarray:
        """Rows first to last - 1."""
        size = self.dtype.itemsize
        with writing(self._output):
            data = os.pread(self._file.fileno(), (last - first) * size, first * size)
        return np.frombuffer(data, self.dtype)

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """Some rows, one after another."""
        found = [self.between(number, number + 1) for number in numbers.tolist()]
        return np.concatenate([np.empty(0, self.dtype), *found])


class Runs:
    """Rows that come in any order and are read in ascending order, by their fields in turn.

    As many as fit into memory are sorted together and written, a run; reading merges the runs.
    """

    def __init__(self, output: Path, dtype: np.dtype[Any], rows: int = ROWS) -> None:
        self._output, self._dtype, self._rows = output, dtype, rows
        self._held: list[np.ndarray] = []
        self._in_memory = 0
        self._disk: Spool | None = None
        self._ends = [0]

    def add(self, rows: np.ndarray) -> None:
        """Add rows; a run is written where there are enough."""
        self._held.append(rows)
        self._in_memory += len(rows)
        if self._in_memory >= self._rows:
            self._write()

    def _write(self) -> None:
        if self._disk is None:
            self._disk = Spool(self._output, self._dtype)
        self._disk.add(self._sorted())
        self._ends.append(self._disk.count)

    def _sorted(self) -> np.ndarray:
        """What is in memory, which is free afterwards."""
        rows = np.concatenate([np.empty(0, self._dtype), *self._held])
        self._held, self._in_memory = [], 0
        return rows[_order(rows)]

    def __iter__(self) -> Iterator[np.ndarray]:
        """All rows, ascending, in pieces; once."""
        if self._disk is None:
            rows = self._sorted()
            for start in range(0, len(rows), PIECE):
                yield rows[start : start + PIECE]
            return
        self._write()
        yield from self._merged(self._disk)

    def _merged(self, disk: Spool) -> Iterator[np.ndarray]:
        """Rows of all runs: each time those that no later row of a run can precede."""
        each = max(1, self._rows // len(self._ends))
        starts, ends = self._ends[:-1], self._ends[1:]
        blocks = [disk.between(a, a) for a in starts]
        while True:
            for i, block in enumerate(blocks):
                if not len(block) and starts[i] < ends[i]:
                    last = min(starts[i] + each, ends[i])
                    blocks[i], starts[i] = disk.between(starts[i], last), last
            if not any(map(len, blocks)):
                return
            waiting = [blocks[i][-1:] for i in range(len(blocks)) if starts[i] < ends[i]]
            if waiting:
                lasts = np.concatenate(waiting)
                bound = lasts[_order(lasts)[0]]
                cuts = [_up_to(block, bound) for block in blocks]
            else:
                cuts = [len(block) for block in blocks]
            taken = np.concatenate([block[:cut] for block, cut in zip(blocks, cuts, strict=True)])
            blocks = [block[cut:] for block, cut in zip(blocks, cuts, strict=True)]
            yield taken[_order(taken)]


def _order(rows: np.ndarray) -> np.ndarray:
    """Places of rows in ascending order, by the first field, then by the second, and so on."""
    names = rows.dtype.names or ()
    return np.lexsort([rows[name] for name in reversed(names)])


def _up_to(rows: np.ndarray, bound: np.void) -> int:
    """How many of some ascending rows do not exceed a row."""
    first, last = 0, len(rows)
    for name in rows.dtype.names or ():
        column, start = rows[name][first:last], first
        first = start + int(np.searchsorted(column, bound[name], "left"))
        last = start + int(np.searchsorted(column, bound[name], "right"))
    return last
