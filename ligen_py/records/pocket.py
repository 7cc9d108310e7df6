"""A receptor around a site, its field, and the audit of its atoms: the file of `pocket`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ligen_py.functions import typed_records
from ligen_py.records.column import STRING, Bounds, Kind, Record, column


@dataclass(frozen=True, slots=True)
class Receptor(Record):
    """Receptor heavy atoms close enough to the box to be scored."""

    xyz: np.ndarray = column("f4", "atom", 3, units="angstrom", doc="position")
    element: np.ndarray = column("u1", "atom", doc="atomic number")
    residue: np.ndarray = column("i4", "atom", doc="index of the residue: equal within one residue")
    label: np.ndarray = column(STRING, "atom", doc="chain/residue name/number/atom name")

    def bounds(self) -> Bounds:
        """Finite positions."""
        yield "xyz", np.isfinite(self.xyz)


@dataclass(frozen=True, slots=True)
class Whole(Record):
    """All heavy atoms of the receptor that were kept, also those too far from the box to score."""

    xyz: np.ndarray = column("f4", "atom", 3, units="angstrom", doc="position")
    element: np.ndarray = column("u1", "atom", doc="atomic number")
    label: np.ndarray = column(STRING, "atom", doc="chain/residue name/number/atom name")
    hetero: np.ndarray = column("u1", "atom", doc="1 for what is no residue of a chain")

    def bounds(self) -> Bounds:
        """Finite positions."""
        yield "xyz", np.isfinite(self.xyz)


@dataclass(frozen=True, slots=True)
class GeometricField(Record):
    """The geometric field on the pocket's grid (point i, j, k at origin + spacing * (i, j, k))."""

    origin: np.ndarray = column("f8", 3, units="angstrom", doc="position of point 0, 0, 0")
    spacing: np.ndarray = column("f8", 1, units="angstrom", doc="distance between points")
    value: np.ndarray = column(
        "i1", "x", "y", "z", doc="what a heavy atom scores there; -12 is a bump"
    )
    anchor: np.ndarray = column("f4", "anchor", 3, units="angstrom", doc="where ligands start")

    def bounds(self) -> Bounds:
        """A grid of finite size with an anchor."""
        yield "origin", np.isfinite(self.origin)
        yield "spacing", (self.spacing > 0.01) & (self.spacing < 100)
        yield "anchor", np.isfinite(self.anchor) & (len(self.anchor) > 0)
        yield "value", self.value.size > 0


WARNED = "warned"
"""Action of a row of an audit that has the words of a warning."""


@dataclass(frozen=True, slots=True)
class Audit(Record):
    """What was done with each part of the receptor file; every atom is counted in a row."""

    part: np.ndarray = column(STRING, "row", doc="chain/residue name/number, or a count of them")
    action: np.ndarray = column(
        STRING, "row", doc="warned, chosen, changed, added, noted, kept, dropped"
    )
    atoms: np.ndarray = column(
        "i4", "row", doc="atoms concerned; kept and dropped ones add up to the file's and to copies"
    )
    reason: np.ndarray = column(STRING, "row", doc="why")

    @property
    def warnings(self) -> list[str]:
        """The words of all warnings."""
        return [str(words) for words in self.reason[self.action == WARNED]]

    def warned(self, warnings: Sequence[str]) -> "Audit":
        """This audit behind a row for each of some warnings, once for equal ones."""
        words = list(dict.fromkeys(warnings))
        rows = {"part": "receptor", "action": WARNED, "atoms": 0, "reason": words}
        columns = {}
        for name, value in rows.items():
            old: np.ndarray = getattr(self, name)
            first = np.empty(len(words), old.dtype)
            first[:] = value
            columns[name] = np.concatenate([first, old])
        return Audit(**columns)


@dataclass(frozen=True, slots=True)
class FoundCavity:
    """A place for ligands that a search of the receptor found; it is not stored."""

    rank: int
    """1 is the best."""
    center: tuple[float, float, float]
    """Angstrom."""
    score: float
    """In the scale of the program that found it; larger is better."""
    facts: str
    """What else is known of it, in words."""


POCKET = Kind(
    "pocket",
    4,
    {"receptor": Receptor, "whole": Whole, "field": GeometricField, "audit": Audit},
    lambda: typed_records("RECEPTOR"),
)
