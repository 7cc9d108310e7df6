"""Ligands and a receptor as one scoring function sees them."""

from typing import Any, NamedTuple


class Typed(NamedTuple):
    """Records of the function's atom types (`ligen_py.functions.AtomTypes`)."""

    ligands: Any
    """`Ligands`, or a record that extends them."""
    receptor: Any
    """`Receptor`, a record that extends it, or one of its own atoms."""
