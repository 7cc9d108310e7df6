"""The MIT score of off-targets of SpCas9 (Hsu et al., Nature Biotechnology 31, 827, 2013).

An off-target with n mismatches at places p (0: far from the PAM, 19: beside it) scores

    product over p of (1 - W[p])  *  1 / (4 (19 - d) / 19 + 1)  *  1 / n^2

where d is the mean distance between neighbouring mismatches; the second factor is 1 for n = 1, and
a perfect site scores 1. The specificity of a guide is 100 / (1 + sum over its off-targets). With
scores in per cent, as the authors' site gave them, that is 100 * 100 / (100 + sum).
"""

import numpy as np

WEIGHTS = np.array([
    0.0, 0.0, 0.014, 0.0, 0.0, 0.395, 0.317, 0.0, 0.389, 0.079,
    0.445, 0.508, 0.613, 0.851, 0.732, 0.828, 0.615, 0.804, 0.685, 0.583,
])  # fmt: skip
"""Of a mismatch at each base of the guide, from the end without PAM."""

LENGTH = len(WEIGHTS)


def hit_scores(mismatch: np.ndarray) -> np.ndarray:
    """Scores (float64, 0 to 1) of off-targets: bool (off-targets, 20), True for a mismatch."""
    number = mismatch.sum(1)
    score = np.where(mismatch, 1 - WEIGHTS, 1.0).prod(1)
    several = number > 1
    first = mismatch.argmax(1)
    last = LENGTH - 1 - mismatch[:, ::-1].argmax(1)
    mean = (last - first)[several] / (number[several] - 1)
    score[several] /= 4 * (LENGTH - 1 - mean) / (LENGTH - 1) + 1
    return np.asarray(score / np.maximum(number, 1) ** 2)


def specificities(guide: np.ndarray, score: np.ndarray, guides: int) -> np.ndarray:
    """Specificity (float64, 0 to 100) of each of so many guides, from its off-targets' scores."""
    return np.asarray(100 / (1 + np.bincount(guide, score, guides)))
