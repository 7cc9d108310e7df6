"""Uncertainty of means and of shares."""

import math

import numpy as np

DRAWS = 10_000
"""Bootstrap samples behind an interval."""


def interval(values: np.ndarray, draws: int = DRAWS) -> tuple[float, float]:
    """Bootstrap interval of 95 % of a mean over complexes (seeded)."""
    rng = np.random.default_rng(0)
    means = rng.choice(values.astype(np.float64), (draws, len(values))).mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Wilson interval of 95 % of a share; a bootstrap has no width where all or none are hits."""
    z, share = 1.96, hits / count
    middle = share + z * z / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max((middle - half) / scale, 0.0), min((middle + half) / scale, 1.0)
