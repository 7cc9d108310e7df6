"""Which records of a target are the same molecule, and the order of the others, best first.

For `aggregate`: rows are sorted on disk, so that memory does not grow with the campaign.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ligen_py.engine.scoring.ranking import (
    KEYED,
    PLACED,
    RANKED,
    VALUED,
    ranks,
    with_first,
)
from ligen_py.records.ledger import Status
from ligen_py.store.campaign.layout import BLOCK
from ligen_py.store.campaign.part import Part
from ligen_py.store.campaign.writer import TargetWriter
from ligen_py.store.files.runs import Runs

PAIR = np.dtype([("row", "i8"), ("first", "i8")])

NAMED = 1 << 18
"""Duplicates that are described at once: their names, and those of the others, are in memory."""


class Molecules:
    """Collects the records of a target, while its parts are appended, and puts them in order."""

    def __init__(self, writer: TargetWriter, output: Path) -> None:
        """Runs that do not fit into memory lie beside `output`."""
        self._writer, self._output = writer, output
        self._records = Runs(output, KEYED)

    def add(self, part: Part, ligands: np.ndarray, hashes: np.ndarray, file: int) -> None:
        """Add a part that is appended next.

        `ligands` are its `scored()`, `hashes` those of its records' keys, `file` the number of its
        file.
        """
        left = part.left()[part.status[part.left()] == Status.DUPLICATE]
        places = np.searchsorted(part.left(), left)
        rows = self._writer.rows + np.arange(len(ligands)), self._writer.rows_left + places
        for number, (own, row) in enumerate(zip((part.entry[ligands], left), rows, strict=True)):
            found = np.empty(len(own), KEYED)
            found["high"], found["low"] = hashes[own]["high"], hashes[own]["low"]
            found["left"] = number
            found["file"], found["line"], found["row"] = file, part.line[own], row
            self._records.add(found)

    def take_out_duplicates(self, libraries: Sequence[str], files: Sequence[str]) -> int:
        """Mark all but the first record of each molecule; how many there are."""
        later, left = Runs(self._output, PAIR), Runs(self._output, PAIR)
        count = 0
        for piece, first in with_first(self._records):
            scored = piece["left"] == 0
            again = scored & (first != piece["row"])
            for runs, chosen in ((later, again), (left, ~scored)):
                found = np.empty(np.count_nonzero(chosen), PAIR)
                found["row"], found["first"] = piece["row"][chosen], first[chosen]
                runs.add(found)
            count += int(np.count_nonzero(again))
        self._writer.flush()
        self._writer.join_names(_pairs(left))
        self._writer.take_out_duplicates(_pairs(later), libraries, files)
        self._writer.flush()
        return count

    def rank_by_consensus(self) -> None:
        """Let minus the mean of the ranks by all functions rank, in place of the score."""
        totals = self._writer.totals()
        found = Runs(self._output, PLACED)
        for values in totals:
            runs = Runs(self._output, VALUED)
            for start, out in self._blocks("duplicate"):
                rows = np.empty(len(out), VALUED)
                rows["negative"] = -values[start : start + len(out)]
                rows["row"], rows["out"] = np.arange(start, start + len(out)), out
                runs.add(rows)
            for piece in ranks(runs):
                found.add(piece)
        self._writer.replace_scores(_means(found, len(totals), self._writer.rows))

    def ranking(self, duplicates: int, top: int) -> np.ndarray:
        """Write the order of all but the duplicates; the rows (i8) of the best, ascending."""
        runs = Runs(self._output, RANKED)
        for start, out in self._blocks("duplicate"):
            rows, some = np.flatnonzero(out == 0), slice(start, start + len(out))
            found = np.empty(len(rows), RANKED)
            found["row"] = start + rows
            found["negative"] = -self._writer.column("score", some)[rows]
            for name in ("file", "line"):
                found[name] = self._writer.column(name, some)[rows]
            runs.add(found)
        best = [np.empty(0, "i8")]

        def pieces() -> Iterator[np.ndarray]:
            """Rows in the order of the ranking; `best` takes the first `top` of them on the way."""
            for piece in runs:
                missing = top - sum(map(len, best))
                best.append(piece["row"][:missing])
                yield piece["row"]

        self._writer.write_ranking(pieces(), self._writer.rows - duplicates)
        return np.sort(np.concatenate(best))

    def _blocks(self, name: str) -> Iterator[tuple[int, np.ndarray]]:
        """A column of the scored records in blocks, each with its first row."""
        for start in range(0, self._writer.rows, BLOCK):
            yield start, self._writer.column(name, slice(start, start + BLOCK))


def _pairs(runs: Runs) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for piece in runs:
        for start in range(0, len(piece), NAMED):
            some = piece[start : start + NAMED]
            yield some["row"], some["first"]


def _means(found: Runs, functions: int, rows: int) -> Iterator[np.ndarray]:
    """Minus the mean rank (f4) of each row in turn; zeros where no function ranks."""
    if not functions:
        yield np.zeros(rows, "f4")
        return
    rest = np.empty(0, "i8")
    for piece in found:
        values = np.concatenate([rest, piece["rank"]])
        whole = len(values) // functions * functions
        rest = values[whole:]
        yield (-values[:whole].reshape(-1, functions).sum(axis=1) / functions).astype("f4")
