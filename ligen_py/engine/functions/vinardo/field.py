"""The field of Vinardo, by the maps of Vina."""

from ligen_py.engine.functions.vina.field import VinaField
from ligen_py.engine.functions.vinardo.constants import VINARDO


class VinardoField(VinaField):
    """Vinardo's terms, by atom types."""

    form = VINARDO


FIELD = VinardoField
