"""Rankings by one property alone: a score that is not better has found no chemistry."""

from dataclasses import dataclass

import numpy as np

from ligen_py.summary.enrichment import area

NULLS = {
    "heavy": ("many heavy atoms", "few heavy atoms"),
    "logp": ("high logP", "low logP"),
    "states": ("many docked states", "few docked states"),
}
"""Property -> its two rankings in words, the largest first and the smallest first."""


@dataclass(frozen=True, slots=True)
class Null:
    """The better of a property's two rankings."""

    words: str
    auc: float
    scores: np.ndarray
    """Larger is better; -inf where the property is unknown."""


def null_of(name: str, values: np.ndarray, is_member: np.ndarray) -> Null:
    """The ranking by a property (molecules,) that places the members (molecules,) higher."""
    known = np.isfinite(values)
    found = []
    for words, sign in zip(NULLS[name], (1, -1), strict=True):
        scores = np.where(known, sign * values.astype("f4"), -np.inf)
        found.append(Null(words, area(scores, scores[is_member]), scores))
    return max(found, key=lambda null: null.auc)
