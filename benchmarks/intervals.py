"""Rates and their uncertainty."""

import numpy as np

DRAWS = 10_000
"""Bootstrap samples behind an interval."""


def interval(values: np.ndarray, draws: int = DRAWS) -> tuple[float, float]:
    """Bootstrap interval of 95 % of a mean over complexes (seeded)."""
    rng = np.random.default_rng(0)
    means = rng.choice(values.astype(np.float64), (draws, len(values))).mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
