"""The same molecules in two rankings: pairs, correlation of the ranks, who came and who went."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from statistics import NormalDist
from typing import Any

import numpy as np

from ligen_py.store.campaign.reader import TargetReader
from ligen_py.store.files.table import PIECE
from ligen_py.summary.fence import fenced

_LINE = re.compile(r"line-\d+")
"""The name of a record that has none."""

LEAST_FOR_CORRELATION = 4
"""With fewer pairs the interval of a correlation is not defined."""

Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Ranking:
    """One side; columns have one value a ranked molecule, best first."""

    label: str
    name: np.ndarray
    """Equal for equal names: hashes, as texts would take half a kilobyte a molecule."""
    key: np.ndarray
    """Hashes of content keys: equal parents have equal keys."""
    unnamed: np.ndarray
    """Whether a record has no name, and is called after its line: bool."""
    score: np.ndarray
    scored_by: Mapping[str, Any]
    """What the score means, by setting."""
    names: Callable[[np.ndarray], np.ndarray]
    """Reads the names at some places."""

    @classmethod
    def of(cls, label: str, target: TargetReader, scored_by: Mapping[str, Any]) -> "Ranking":
        """The ranking of a target, whose file stays open as long as names are read."""
        order, size = target.order(), target.scored
        name, key, unnamed = np.empty(size, "u8"), np.empty(size, "u8"), np.empty(size, bool)
        for start in range(0, size, PIECE):
            rows = slice(start, start + PIECE)
            names = target.column("name", rows)
            name[rows], key[rows] = _hashes(names), _hashes(target.column("key", rows))
            unnamed[rows] = [_LINE.fullmatch(one) is not None for one in names]
        return cls(
            label=label,
            name=name[order],
            key=key[order],
            unnamed=unnamed[order],
            score=target.column("score")[order],
            scored_by=scored_by,
            names=lambda places: target.column("name", order[places]),
        )


def _hashes(texts: np.ndarray) -> np.ndarray:
    """u8; any two of 10^8 texts share one with a probability of 3 in 10,000."""
    octets = b"".join(blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(octets, "u8")


@dataclass(frozen=True)
class Pairs:
    """Places (from 0) of the molecules that both rankings have; equal lengths, by place in one."""

    one: np.ndarray
    other: np.ndarray
    by_name: np.ndarray
    """Whether the names agree, else the structures do: bool."""
    same_structure: np.ndarray
    """Whether the structures agree: bool."""


def pairs_of(one: Ranking, other: Ranking) -> Pairs:
    """Match molecules by name, and the others by canonical structure.

    A name that a ranking has twice decides nothing, nor has a structure more than one partner. A
    record without a name is called after its line, which is another record's in another file: such
    a name decides where the structures agree, or where neither has a partner by structure.
    """
    left, right = _partners(one.name, other.name)
    sure = ~one.unnamed[left] | (one.key[left] == other.key[right])
    rest_one = np.setdiff1d(np.arange(len(one.name)), left[sure], assume_unique=True)
    rest_other = np.setdiff1d(np.arange(len(other.name)), right[sure], assume_unique=True)
    i, j = _partners(one.key[rest_one], other.key[rest_other])
    sure |= ~(np.isin(left, rest_one[i]) | np.isin(right, rest_other[j]))
    left, right = left[sure], right[sure]
    first = np.concatenate([left, rest_one[i]])
    second = np.concatenate([right, rest_other[j]])
    named = np.arange(len(first)) < len(left)
    order = np.argsort(first)
    first, second, named = first[order], second[order], named[order]
    return Pairs(first, second, named, one.key[first] == other.key[second])


def _partners(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of the values that occur once in both columns."""

    def once(values: np.ndarray) -> np.ndarray:
        """Places of the values that no other place has."""
        _, places, counts = np.unique(values, return_index=True, return_counts=True)
        return places[counts == 1]

    left, right = once(one), once(other)
    _, i, j = np.intersect1d(one[left], other[right], assume_unique=True, return_indices=True)
    return left[i], right[j]


@dataclass(frozen=True)
class Correlation:
    """Spearman's correlation of the ranks of the common molecules."""

    value: float
    low: float
    high: float
    """Ends of the interval of 95 %."""


def correlation(pairs: Pairs) -> Correlation | None:
    """Spearman's correlation of the common molecules; None for fewer than four.

    The interval is that of D. G. Bonett, T. A. Wright, Psychometrika 65 (2000) 23-28: Fisher's
    transformation with the variance (1 + r^2 / 2) / (n - 3).
    """
    count = len(pairs.one)
    if count < LEAST_FOR_CORRELATION:
        return None
    # Ranks among the common ones; the places are distinct, so there are no ties.
    one, other = np.argsort(np.argsort(pairs.one)), np.argsort(np.argsort(pairs.other))
    gaps = (one - other).astype("f8")
    value = float(1 - 6 * (gaps**2).sum() / (count * (float(count) ** 2 - 1)))
    if abs(value) == 1:
        return Correlation(value, value, value)
    half = Z * np.sqrt((1 + value**2 / 2) / (count - 3))
    low, high = np.tanh(np.arctanh(value) + np.array([-half, half]))
    return Correlation(value, float(low), float(high))


def selectivity(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """How much better the scores of one side are than those of the other, in standard deviations.

    Each side's scores (pairs,) are first brought to mean 0 and standard deviation 1 over the common
    molecules, because the scores of two targets have different scales.
    """
    return _standard(one) - _standard(other)


def _standard(scores: np.ndarray) -> np.ndarray:
    values = fenced(scores.astype("f8"))
    spread = values.std() if len(values) else 0.0
    return (values - values.mean()) / spread if spread else np.zeros(len(values))
