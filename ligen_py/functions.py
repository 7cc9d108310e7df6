"""The table of scoring functions, one row each; everything that offers a choice reads it.

A function is one package with these modules, which nothing imports by name:

- `scorer`: `SCORER`, terms of poses on a device, `pose_energy`, what chooses a ligand's pose, and
  `OWN`, the term of it that is the ligand's own energy, or None;
- `reference`: `score_poses`, its NumPy twin, and `WATCHED`, the terms that the watch compares;
- `field`: `FIELD`, the maps and pair energies that poses are refined in;
- `field_reference`: `view`, a ligand as the twin of the refinement sees it.

Functions with the same atom types share one row of `AtomTypes`. A stage's digest covers
the modules that the stage loads (`load` and `load_types` with the module's name as a literal).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class AtomTypes:
    """What a function knows of atoms beside element, bonds and place."""

    group: str
    """Its group in the ligands file, and in the pocket file where the receptor has types, too."""
    records: str
    """Module with `LIGANDS` and `RECEPTOR`: records that add columns to those of every molecule."""
    typing: str
    """Module with `ligand_columns` and `receptor_columns`, which fill these."""


@dataclass(frozen=True)
class Function:
    """A row of the table."""

    package: str
    """Package with the modules above."""
    types: AtomTypes | None = None
    """None: element, bonds and place are all that the function needs."""
    is_energy: bool = True
    """Whether it is one, in which poses can be refined and by which molecules are ranked. What is
    none has no modules `field` and `field_reference`; it can choose a ligand's pose."""


def _types(group: str) -> AtomTypes:
    records, typing = "ligen_py.records.functions", "ligen_py.molecules.typing"
    return AtomTypes(group, f"{records}.{group}", f"{typing}.{group}")


VINA_TYPES = _types("vina")

FUNCTIONS: dict[str, Function] = {
    "vina": Function("ligen_py.engine.functions.vina", VINA_TYPES),
    "vinardo": Function("ligen_py.engine.functions.vinardo", VINA_TYPES),
    "ad4": Function("ligen_py.engine.functions.ad4", _types("ad4")),
    "xscore": Function("ligen_py.engine.functions.xscore", _types("xscore")),
    "gnina": Function("ligen_py.engine.functions.gnina", _types("gnina"), is_energy=False),
}
"""Scoring functions by the names that they have in settings and files."""


def load(function: str, module: str) -> Any:
    """A module of a function's package."""
    return import_module(f"{FUNCTIONS[function].package}.{module}")


def typed_records(name: str) -> dict[str, Any]:
    """Group -> record `LIGANDS` or `RECEPTOR` of all atom types."""
    return {types.group: getattr(load_types(types, "records"), name) for types in all_types()}


def all_types() -> Iterator[AtomTypes]:
    """The atom types of all functions, each once."""
    yield from dict.fromkeys(row.types for row in FUNCTIONS.values() if row.types is not None)


def load_types(types: AtomTypes, module: str) -> Any:
    """The module `records` or `typing` of some atom types."""
    return import_module(getattr(types, module))
