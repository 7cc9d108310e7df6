"""How a group of molecules ranks among all others: ROC AUC and enrichment factors."""

import math
from dataclasses import dataclass

import numpy as np

FRACTIONS = (0.05, 0.10)
"""Fractions of the ranking for which an enrichment factor is reported."""

REPLICATES = 2000
"""Bootstrap samples behind an interval."""

LEAST_FOR_INTERVAL = 5
"""With fewer members there is no bootstrap interval."""


@dataclass(frozen=True, slots=True)
class Factor:
    """Enrichment in the best part of a ranking."""

    fraction: float
    top: int
    """Molecules in that part."""
    hits: int
    """Members among them."""
    value: float
    """Fraction of members in that part over their fraction in all."""
    highest: float
    """The largest possible value."""


@dataclass(frozen=True, slots=True)
class Enrichment:
    """Ranks of a group's members among all ranked molecules."""

    size: int
    members: int
    median_rank: float
    auc: float
    """Chance that a member scores above another molecule; ties count half."""
    interval: tuple[float, float] | None
    """2.5 and 97.5 percentile of the bootstrap of `auc`; None for fewer than five members."""
    factors: tuple[Factor, ...]
    nulls: tuple[tuple[str, float], ...] = ()
    """Rankings by one property alone, in words, and the members' `auc` in them; best first."""


def enrichment(scores: np.ndarray, members: np.ndarray, ranks: np.ndarray) -> Enrichment | None:
    """Compare a group with all others.

    Args:
        scores: of all ranked molecules, members included (n,).
        members: scores of the members (m,).
        ranks: ranks of the members (m,), from 1, in any order.

    Returns:
        None where there are no members or no others.
    """
    if not len(members) or len(members) >= len(scores):
        return None
    own, others = _slots(scores, members)
    return Enrichment(
        size=len(scores),
        members=len(members),
        median_rank=float(np.median(ranks)),
        auc=float(_auc(own, others)),
        interval=_interval(own, others) if len(members) >= LEAST_FOR_INTERVAL else None,
        factors=tuple(_factor(fraction, len(scores), ranks) for fraction in FRACTIONS),
    )


def area(scores: np.ndarray, members: np.ndarray) -> float:
    """The AUC of `Enrichment`, of the scores of all molecules (n,) and of the members (m,)."""
    return float(_auc(*_slots(scores, members)))


def _slots(scores: np.ndarray, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Members (levels,) and others (2 levels + 1,), counted by slot.

    Every molecule is at, or between, the distinct scores of the members: slot 2 i + 1 is the i-th,
    slots 2 i and 2 i + 2 are around it. The AUC needs only counts by slot, so the time of a
    bootstrap grows with the members, not with the library.
    """
    levels, own = np.unique(members, return_counts=True)
    slots = np.searchsorted(levels, scores, "left") + np.searchsorted(levels, scores, "right")
    others = np.bincount(slots, minlength=2 * len(levels) + 1)
    others[1::2] -= own
    return own, others


def _auc(own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """AUC of (..., levels) members and (..., 2 levels + 1) others counted by slot."""
    below = np.cumsum(others, axis=-1)[..., :-1:2] + 0.5 * others[..., 1::2]
    return (own * below).sum(axis=-1) / (own.sum(axis=-1) * others.sum(axis=-1))


def _interval(own: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """Stratified bootstrap, 95 %: members and others are resampled separately."""
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(own.sum(), own / own.sum(), REPLICATES)
    rest = rng.multinomial(others.sum(), others / others.sum(), REPLICATES)
    low, high = np.percentile(_auc(drawn, rest), [2.5, 97.5])
    return float(low), float(high)


def _factor(fraction: float, size: int, ranks: np.ndarray) -> Factor:
    top = math.ceil(fraction * size)
    hits = int(np.count_nonzero(ranks <= top))
    expected = len(ranks) * top / size
    return Factor(fraction, top, hits, hits / expected, min(top, len(ranks)) / expected)
