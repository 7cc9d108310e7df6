"""Order molecules by score, and find the molecules that occur twice in a campaign.

Campaigns may have more molecules than memory holds, so everything here works on sorted pieces: a
piece starts where the one before it ended.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b

import numpy as np

HASH = np.dtype([("high", "u8"), ("low", "u8")])

KEYED = np.dtype(
    [("high", "u8"), ("low", "u8"), ("left", "u1"), ("file", "u4"), ("line", "i8"), ("row", "i8")]
)
"""A record whose molecule counts: `left` is 0 for a row of the scored records, 1 for one of those
that were left out as duplicates. Number of the file and line order the records of a molecule."""

RANKED = np.dtype([("negative", "f4"), ("file", "u4"), ("line", "i8"), ("row", "i8")])
"""A scored record in the order of the ranking: minus its score; of equal ones the first counts."""

VALUED = np.dtype([("negative", "f4"), ("row", "i8"), ("out", "u1")])
"""A scored record by one of several scores; `out` is 1 where it is not ranked."""

PLACED = np.dtype([("row", "i8"), ("rank", "i8")])


def hash_keys(keys: np.ndarray) -> np.ndarray:
    """128-bit hashes (`HASH`) of text keys, the same on every machine.

    Two different molecules of a campaign of n share a hash with probability n^2 / 2^129: 1e-21 for
    a thousand million.
    """
    digests = b"".join(blake2b(key.encode(), digest_size=16).digest() for key in keys)
    return np.frombuffer(digests, dtype="<u8").view(HASH)


def with_first(pieces: Iterable[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Sorted pieces of KEYED, each with the scored row (i8) that stands for each of its rows.

    That is the first scored record of the same molecule, or -1 where none was scored.
    """
    last, stands = (-1, -1), -1
    for piece in pieces:
        high, low = piece["high"], piece["low"]
        new = np.ones(len(piece), bool)
        new[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
        new[:1] = (int(high[0]), int(low[0])) != last
        start = np.maximum.accumulate(np.where(new, np.arange(len(piece)), -1))
        heads = np.where(piece["left"] == 0, piece["row"], -1)
        first = np.where(start < 0, stands, heads[start])
        yield piece, first
        last, stands = (int(high[-1]), int(low[-1])), int(first[-1])


def ranks(pieces: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Sorted pieces of VALUED as rows of PLACED: the ranks from 1; equal values share the better.

    Rows that are out are not counted; they get the rank that they would have.
    """
    counted, last, shared = 0, np.nan, 0
    for piece in pieces:
        values, counts = piece["negative"], piece["out"] == 0
        before = counted + np.cumsum(counts) - counts
        new = np.ones(len(piece), bool)
        new[1:] = values[1:] != values[:-1]
        new[:1] = values[0] != last
        start = np.maximum.accumulate(np.where(new, np.arange(len(piece)), -1))
        better = np.where(start < 0, shared, before[start])
        found = np.empty(len(piece), PLACED)
        found["row"], found["rank"] = piece["row"], better + 1
        yield found
        counted, last, shared = counted + int(counts.sum()), values[-1], int(better[-1])
