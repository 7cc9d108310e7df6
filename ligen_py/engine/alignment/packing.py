"""How a database lies in memory: blocks of sequences of like length, their letters interleaved.

    block     32 sequences, the longest first; blocks from the longest to the shortest
    column    the k-th letter of each of the 32, beside one another; PAD after a sequence's end

A device reads one column of many sequences at a time, and sequences that run together end together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ligen_py.sequences.alphabets import PAD

BLOCK = 32
"""Sequences of a block (kernels/sequences)."""
COLUMNS = 4
"""A block has a multiple of so many columns."""

NO_SEQUENCE = -1


@dataclass(frozen=True)
class Blocks:
    """Some blocks of a database."""

    letters: np.ndarray
    """u1 (columns of all blocks, 32): numbers of `AMINO_ACIDS`, or PAD."""
    first: np.ndarray
    """i8 (blocks + 1): the first column of each block."""
    length: np.ndarray
    """i4 (blocks, 32): residues of each sequence, falling; 0 where there is none."""
    record: np.ndarray
    """i8 (blocks, 32): which record of the database it is; NO_SEQUENCE where there is none."""

    def __len__(self) -> int:
        """Blocks."""
        return len(self.first) - 1

    def some(self, start: int, end: int) -> "Blocks":
        """The blocks from `start` to before `end`."""
        a, b = self.first[start], self.first[end]
        return Blocks(
            self.letters[a:b],
            self.first[start : end + 1] - a,
            self.length[start:end],
            self.record[start:end],
        )

    def sequence(self, place: int) -> np.ndarray:
        """The letters of one sequence, by its place in `record` (flat)."""
        block, lane = divmod(place, BLOCK)
        start = self.first[block]
        return np.array(self.letters[start : start + self.length[block, lane], lane])

    def chosen(self, places: np.ndarray) -> "Blocks":
        """New blocks of the sequences at some places of `record` (flat), which tell the places."""
        found = pack(self.length.reshape(-1)[places], lambda number: self.sequence(places[number]))
        record = np.where(found.record == NO_SEQUENCE, NO_SEQUENCE, places[found.record])
        return Blocks(found.letters, found.first, found.length, record)

    def pieces(self, most: int) -> Iterator[tuple[int, int]]:
        """Ranges of blocks with about `most` bytes of letters each, or one block."""
        start = 0
        while start < len(self):
            end = int(np.searchsorted(self.first, self.first[start] + most // BLOCK, "right")) - 1
            end = min(max(end, start + 1), len(self))
            yield start, end
            start = end


def pack(length: np.ndarray, sequence: Callable[[int], np.ndarray]) -> Blocks:
    """Blocks of sequences, by their lengths and what gives their letters."""
    order = np.argsort(-length.astype("i8"), kind="stable")
    blocks = -(-len(order) // BLOCK)
    record = np.full((blocks, BLOCK), NO_SEQUENCE, "i8")
    record.reshape(-1)[: len(order)] = order
    lengths = np.where(record == NO_SEQUENCE, 0, length[record] if len(order) else 0).astype("i4")
    columns = -(-lengths[:, 0].astype("i8") // COLUMNS) * COLUMNS
    first = np.concatenate([[0], np.cumsum(columns)]).astype("i8")
    letters = np.full((first[-1], BLOCK), PAD, "u1")
    for block in range(blocks):
        mine = record[block][record[block] != NO_SEQUENCE]
        rows = np.full((BLOCK, columns[block]), PAD, "u1")
        inside = np.arange(columns[block]) < lengths[block][:, None]
        rows[inside] = np.concatenate([sequence(number) for number in mine])
        letters[first[block] : first[block + 1]] = rows.T
    return Blocks(letters, first, lengths, record)


def pack_all(sequences: Sequence[np.ndarray]) -> Blocks:
    """Blocks of sequences that are all in memory."""
    lengths = np.fromiter(map(len, sequences), "i4", len(sequences))
    return pack(lengths, lambda number: sequences[number])
