"""Do the scores of one chunk lie where those of the first ones do?"""

import numpy as np

from ligen_py.engine.scoring.checks import table, too_many
from ligen_py.errors import InputError
from ligen_py.records.scores import Check, Checks

FIRST = 1000
"""Ligands of the first chunks that later ones are compared with."""


class Drift:
    """Holds the scores of each chunk against those of the first ones."""

    def __init__(self, most: float) -> None:
        self._most = most
        self._first = np.empty(0, np.float32)

    def checks(self, scores: np.ndarray, label: str) -> Checks:
        """How far the scores (ligands,) of one more chunk lie from the first ones'.

        Measured by Kolmogorov-Smirnov's distance. 0: equal distributions; 1: apart. Raises
        InputError with the part's `label` where it is more than `most`.
        """
        first, distance = np.sort(self._first), 0.0
        words = "the first scores"
        if len(first) and len(scores):
            both = np.sort(np.concatenate([first, scores]))  # in order they are found faster
            below = [np.searchsorted(x, both, side="right") for x in (first, np.sort(scores))]
            distance = float(np.abs(below[0] / len(first) - below[1] / len(scores)).max())
            medians = np.median(scores), np.median(first)
            words = "apart by {:.2f} from the first scores: median {:.2f}, theirs {:.2f}"
            words = words.format(distance, *medians)
        if len(first) < FIRST:
            self._first = np.concatenate([first, scores])
        found = table([(Check.DRIFT, 0, min(len(first), len(scores)), distance, words)])
        if too_many(found, self._most):
            raise InputError(
                f"part {label}: its scores are {words}; if the library is sorted so, raise "
                "--max-drift"
            )
        return found
