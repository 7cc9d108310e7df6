"""The score terms of a scores file."""

from pathlib import Path

import numpy as np

from ligen_py.records.scores import SCORES
from ligen_py.store.files.guard import child, dataset_of
from ligen_py.store.files.read import open_file


def read_terms(path: Path, poses: slice = slice(None)) -> dict[str, dict[str, np.ndarray]]:
    """Score terms of a scores file, or of some of its poses: function -> term -> f4 (poses,)."""
    with open_file(path, SCORES) as file:
        terms = child(file, "terms")
        return {
            function: {
                term: dataset_of(terms, f"{function}/{term}", np.dtype("f4"), 1)[poses]
                for term in child(terms, function)
            }
            for function in terms
        }
