"""How a database lies in memory: blocks of sequences of like length, their letters interleaved.

    block     32 sequences, the longest first; blocks from the longest to the shortest
    column    the k-th letter of each of the 32, beside one another; PAD after a sequence's end

A device reads one column of many sequences at a time, and sequences that run together end together.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ligen_py.records.database import Blocks
from ligen_py.sequences.alphabets import PAD

BLOCK = 32
"""Sequences of a block (kernels/sequences)."""
COLUMNS = 4
"""A block has a multiple of so many columns."""

NO_SEQUENCE = -1
"""In `Blocks.record`: there is none."""


def pack(length: np.ndarray, sequence: Callable[[int], np.ndarray]) -> Blocks:
    """Blocks of sequences, by their lengths and what gives their letters (u1)."""
    order = np.argsort(-length.astype("i8"), kind="stable")
    blocks = -(-len(order) // BLOCK)
    record = np.full((blocks, BLOCK), NO_SEQUENCE, "i8")
    record.reshape(-1)[: len(order)] = order
    lengths = np.zeros((blocks, BLOCK), "i4")
    lengths.reshape(-1)[: len(order)] = length[order]
    columns = -(-lengths[:, 0].astype("i8") // COLUMNS) * COLUMNS
    first = np.concatenate([[0], np.cumsum(columns)]).astype("i8")
    letters = np.empty((first[-1], BLOCK), "u1")
    for block in range(blocks):
        mine = record[block][record[block] != NO_SEQUENCE]
        rows = np.full((BLOCK, columns[block]), PAD, "u1")
        inside = np.arange(columns[block]) < lengths[block][:, None]
        rows[inside] = np.concatenate([sequence(number) for number in mine])
        letters[first[block] : first[block + 1]] = rows.T
    return Blocks(first, lengths, record, letters)


def pack_all(sequences: Sequence[np.ndarray]) -> Blocks:
    """Blocks of sequences that are all in memory."""
    lengths = np.fromiter(map(len, sequences), "i4", len(sequences))
    return pack(lengths, lambda number: sequences[number])


def some(blocks: Blocks, start: int, end: int) -> Blocks:
    """The blocks from `start` to before `end`."""
    a, b = blocks.first[start], blocks.first[end]
    first = blocks.first[start : end + 1] - a
    return Blocks(first, blocks.length[start:end], blocks.record[start:end], blocks.letters[a:b])


def sequence(blocks: Blocks, place: int) -> np.ndarray:
    """The letters of one sequence, by its place in `record` (flat)."""
    block, lane = divmod(place, BLOCK)
    start = blocks.first[block]
    return np.array(blocks.letters[start : start + blocks.length[block, lane], lane])


def chosen(blocks: Blocks, places: np.ndarray) -> Blocks:
    """New blocks of the sequences at some places (flat), whose `record` has the places."""
    found = pack(blocks.length.reshape(-1)[places], lambda n: sequence(blocks, int(places[n])))
    there = found.record != NO_SEQUENCE
    record = np.where(there, places[found.record * there], NO_SEQUENCE)
    return Blocks(found.first, found.length, record, found.letters)


def pieces(first: np.ndarray, start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of the blocks from `start` to before `end`, of at most `most` bytes or one block."""
    while start < end:
        stop = int(np.searchsorted(first, first[start] + most // BLOCK, "right")) - 1
        stop = min(max(stop, start + 1), end)
        yield start, stop
        start = stop


def share(first: np.ndarray, index: int, count: int) -> tuple[int, int]:
    """The blocks of part `index` (from 1) of `count`, which have about equally many letters."""
    ends = first[-1] * np.arange(count + 1) // count
    cuts = np.searchsorted(first, ends)
    return int(cuts[index - 1]), int(cuts[index])
