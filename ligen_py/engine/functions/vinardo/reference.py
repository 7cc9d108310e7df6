"""Vinardo in NumPy, by the twin of Vina."""

import numpy as np

from ligen_py.engine.functions.vina.reference import WATCHED, score_form
from ligen_py.engine.functions.vinardo.constants import VINARDO
from ligen_py.records.functions.vina import VinaLigands, VinaReceptor
from ligen_py.records.poses import Poses

__all__ = ["WATCHED", "score_poses"]


def score_poses(
    ligands: VinaLigands, receptor: VinaReceptor, poses: Poses
) -> dict[str, np.ndarray]:
    """Term -> float32 array with one value a pose (`TERMS` of Vina; NaN: not finite)."""
    return score_form(VINARDO, ligands, receptor, poses)
