"""The NumPy twin of the field of Vinardo, which is that of Vina with other numbers."""

from ligen_py.engine.functions.vina.field_reference import view

__all__ = ["view"]
