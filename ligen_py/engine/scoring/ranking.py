"""Order molecules by score, and find the molecules that occur twice in a campaign.

Memory: 16 bytes a ligand to find duplicates, about 40 bytes a ligand while a target is sorted.
Beyond some 1e9 ligands a target an external sort would be needed.
"""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


def hash_keys(keys: np.ndarray) -> np.ndarray:
    """64-bit hashes (u8) of text keys, the same on every machine.

    Two different molecules of a campaign of n share a hash with probability n^2 / 2^65: 3e-8 for a
    million, 3 % for a thousand million.
    """
    digests = b"".join(blake2b(key.encode(), digest_size=8).digest() for key in keys)
    return np.frombuffer(digests, dtype="<u8")


def duplicates(
    hashes: np.ndarray, files: np.ndarray, lines: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of molecules that occur earlier in the campaign, and the rows of those earlier ones.

    Args:
        hashes: of the content keys (n,), u8.
        files: numbers of the libraries' files (n,), and
        lines: source lines (n,), i8: they give the order whatever the order of the rows.

    Returns:
        Two i8 arrays of equal length: the later rows, ascending, and the first row of each.
    """
    order = np.lexsort((lines, files, hashes))
    same = np.zeros(len(order), dtype=bool)
    same[1:] = hashes[order[1:]] == hashes[order[:-1]]
    head = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
    later, first = order[same], order[head[same]]
    by_row = np.argsort(later)
    return later[by_row].astype("i8"), first[by_row].astype("i8")


def consensus(columns: Sequence[np.ndarray], out: np.ndarray) -> np.ndarray:
    """Minus the mean of the ranks by several scores (n,), f4: -1 for one that is first in all.

    Equal scores share the better rank. Rows where `out` is set are not counted; they get the rank
    that they would have.
    """
    total = np.zeros(len(out))
    for scores in columns:
        total += 1 + np.searchsorted(np.sort(-scores[out == 0]), -scores)
    return (-total / max(len(columns), 1)).astype("f4")


def ranking(
    scores: np.ndarray, files: np.ndarray, lines: np.ndarray, out: np.ndarray
) -> np.ndarray:
    """Rows (i8) by score (f4), largest first; equal scores by file, then by source line.

    Rows where `out` is set are excluded.
    """
    rows = np.flatnonzero(out == 0)
    order = np.lexsort((lines[rows], files[rows], -scores[rows]))
    return rows[order].astype("i8")
