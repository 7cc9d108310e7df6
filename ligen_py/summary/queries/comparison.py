"""The same molecules in two rankings: pairs, correlation of the ranks, who came and who went."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

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
    key: np.ndarray
    """Content keys: equal parents have equal keys."""
    score: np.ndarray
    scored_by: Mapping[str, Any]
    """What the score means, by setting."""


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
    unnamed = np.array([_LINE.fullmatch(name) is not None for name in one.name[left]], bool)
    sure = ~unnamed | (one.key[left] == other.key[right])
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
    """Places of the texts that occur once in both columns."""
    import pyarrow
    from pyarrow import compute

    def once(texts: np.ndarray) -> np.ndarray:
        """Places of the texts that no other place has."""
        codes = pyarrow.array(texts, pyarrow.string()).dictionary_encode().indices.to_numpy()
        return np.flatnonzero(np.bincount(codes)[codes] == 1) if len(codes) else codes.astype("i8")

    left, right = once(one), once(other)
    if not len(left) or not len(right):
        return np.empty(0, "i8"), np.empty(0, "i8")
    known = pyarrow.array(other[right], pyarrow.string())
    found = compute.index_in(pyarrow.array(one[left], pyarrow.string()), value_set=known)
    places = found.to_numpy(zero_copy_only=False)
    has = ~np.isnan(places)
    return left[has], right[places[has].astype("i8")]


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
    values = scores.astype("f8")
    spread = values.std() if len(values) else 0.0
    return (values - values.mean()) / spread if spread else np.zeros(len(values))
