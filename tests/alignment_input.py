"""Proteins for the tests of alignments, and what other programs say of them."""

import hashlib
from typing import Any

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


def families(number: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """A random query of up to 90 residues, and 97 targets, every other one a relative of it."""
    query = np.random.default_rng(1000 + number).integers(0, 24, 10 + 7 * number % 83).astype("u1")
    return query, relatives(query, 97, 90, 2000 + number)


FAMILIES = 104
"""Families that are compared with parasail: 13 for each matrix, 10,088 pairs."""


def long_proteins() -> tuple[np.ndarray, list[np.ndarray]]:
    """A query of 5,478 residues, and targets: 35,213 residues, scores beyond 32,767, and short."""
    rng = np.random.default_rng(77)
    query = np.concatenate([rng.integers(0, 20, 1978), np.full(3500, 17)]).astype("u1")
    titin = rng.integers(0, 20, 35_213).astype("u1")
    titin[20_000:21_978] = query[:1978]
    runs = [np.full(length, 17, "u1") for length in (22, 23, 24, 2978, 2979, 3500)]
    return query, [titin, *runs, query[:0], query[:1], query]


def summed(found: np.ndarray) -> dict[str, Any]:
    """What is kept of many scores."""
    digest = hashlib.sha256(found.astype("<i4").tobytes()).hexdigest()
    return {"count": len(found), "sha256": digest, "first": found[:20].tolist()}
