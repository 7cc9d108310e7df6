"""Scores of several targets beside each other."""

import numpy as np

FENCE = 3.0
"""Standard deviations below the median, these by the quartiles."""

QUARTILES = 1.349
"""Standard deviations between the quartiles of a normal distribution."""


def fenced(scores: np.ndarray) -> np.ndarray:
    """Scores of a target's molecules, none lower than a fence, or than 0 if that is lower.

    A molecule that does not fit clashes, and may score hundreds below all others. How far below
    says nothing, and one such molecule would decide the mean and the spread.
    """
    if not len(scores):
        return scores
    low, median, high = np.percentile(scores, (25, 50, 75))
    spread = (high - low) / QUARTILES
    return np.maximum(scores, min(median - FENCE * spread, 0)).astype(scores.dtype)
