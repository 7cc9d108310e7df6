"""Vinardo of poses on a device, by the kernel of Vina."""

from ligen_py.engine.functions.vina.scorer import OWN, Vina, pose_energy
from ligen_py.engine.functions.vinardo.constants import VINARDO

__all__ = ["OWN", "SCORER", "Vinardo", "pose_energy"]


class Vinardo(Vina):
    """Vinardo of poses in one receptor, on one device."""

    form = VINARDO


SCORER = Vinardo
