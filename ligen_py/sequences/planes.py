"""A genome as bit planes: three bits a base, 32 bases a word, with the records' places."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ligen_py.sequences.iupac import BASES

GAP = 8
"""Words without a base before the first record, between records and behind the last one: more than
the widest window, so that none with a match spans two records."""

WORD = 32
"""Bases of a word; the first one is in the lowest bit."""

LETTERS: np.ndarray = np.frombuffer(4 * b"N" + BASES.encode(), np.uint8)
"""Bits valid, high, low of a base -> its letter."""


@dataclass(frozen=True)
class Genome:
    """Bases of all records on one line of places, and the records' names.

    A base with the code `h l` (see `iupac`) has the bit h in the plane `high`, l in `low` and 1 in
    `valid`; any other letter has three zeros. Letters other than A, C, G, T and N stand by
    themselves, so that every letter can be had again. Case is not kept.
    """

    planes: np.ndarray
    """uint32 (3, words): high, low, valid."""
    names: tuple[str, ...]
    """First word of each record's header."""
    headers: tuple[str, ...]
    """The whole header."""
    lengths: np.ndarray
    """int64 (records): letters."""
    starts: np.ndarray
    """int64 (records): place of the first letter, a multiple of `WORD`, rising."""
    other_places: np.ndarray
    """int64: places of letters other than A, C, G, T and N, rising."""
    other_letters: np.ndarray
    """uint8: these letters, upper case."""
    digest: Callable[[], str] = str
    """Gives the SHA-256 of the files that it was read from, once they have been read for it."""

    @property
    def bases(self) -> int:
        """Letters of all records."""
        return int(self.lengths.sum())

    def bases_in(self, words: tuple[int, int]) -> int:
        """Letters of all records in words of the planes: the first one, the one behind the last."""
        first, last = (np.clip(word * WORD - self.starts, 0, self.lengths).sum() for word in words)
        return int(last - first)

    def letters(self, starts: np.ndarray, length: int) -> np.ndarray:
        """ASCII letters (starts, length), upper case, of windows; N where there is no record."""
        words = (starts >> 5)[:, None] + np.arange(1 + -(-length // WORD))
        words = np.clip(words, 0, self.planes.shape[1] - 1)
        high, low, valid = (
            np.unpackbits(plane[words].view(np.uint8), axis=1, bitorder="little")
            for plane in self.planes
        )
        within = (starts & 31)[:, None] + np.arange(length)
        found = LETTERS[np.take_along_axis(valid << 2 | high << 1 | low, within, 1)]
        if len(self.other_places):
            places = starts[:, None] + np.arange(length)
            row = np.searchsorted(self.other_places, places)
            row = np.minimum(row, len(self.other_places) - 1)
            found = np.where(self.other_places[row] == places, self.other_letters[row], found)
        return found

    def record_of(self, places: np.ndarray) -> np.ndarray:
        """The record of each place: the last one that begins there or before (int64)."""
        return np.maximum(np.searchsorted(self.starts, places, side="right") - 1, 0)


def layout(lengths: np.ndarray) -> tuple[np.ndarray, int]:
    """Places of the records' first letters, and the words of a plane, for records of lengths."""
    words = -(-lengths // WORD) + GAP
    ends = GAP + np.cumsum(words)
    return (ends - words) * WORD, int(ends[-1]) if len(ends) else GAP
