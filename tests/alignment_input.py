"""Proteins for the tests of alignments, and what other programs say of them."""

import numpy as np

from ligen_py.engine.alignment.packing import NO_SEQUENCE
from ligen_py.records.database import Blocks
from ligen_py.sequences.alphabets import AMINO_ACIDS


def letters(text: str) -> np.ndarray:
    return np.array([AMINO_ACIDS.index(letter) for letter in text], "u1")


def relatives(query: np.ndarray, count: int, longest: int, seed: int) -> list[np.ndarray]:
    """Random proteins, of which every other one holds a damaged copy of a query; two are empty."""
    rng = np.random.default_rng(seed)
    found = [np.empty(0, "u1"), np.array([17], "u1")]
    for number in range(count - 3):
        target = rng.integers(0, 24, rng.integers(1, longest)).astype("u1")
        if number % 2:
            copy = np.where(rng.random(len(query)) < 0.7, query, rng.integers(0, 20, len(query)))
            cut = rng.integers(0, len(copy) + 1)
            target = np.concatenate([target[:9], copy[:cut], target[:4], copy[cut:]]).astype("u1")
        found.append(target)
    return [*found, np.empty(0, "u1")]


def by_record(blocks: Blocks, scores: np.ndarray, count: int) -> np.ndarray:
    """Scores of places as scores of records."""
    record = blocks.record.reshape(-1)
    found = np.zeros(count, "i4")
    found[record[record != NO_SEQUENCE]] = scores[record != NO_SEQUENCE]
    return found
