"""The receptor around the site of a target, as a reader of its poses sees it."""

from dataclasses import dataclass

import numpy as np

from ligen_py.records.column import STRING, Bounds, Record, column
from ligen_py.records.functions.xscore import Interaction


@dataclass(frozen=True, slots=True)
class Site(Record):
    """Receptor atoms of a target as docked: heavy atoms, then polar hydrogens."""

    xyz: np.ndarray = column("f4", "atom", 3, units="angstrom", doc="position")
    element: np.ndarray = column("u1", "atom", doc="atomic number")
    residue: np.ndarray = column("i4", "atom", doc="index of the residue: equal within one residue")
    label: np.ndarray = column(
        STRING, "atom", doc="chain/residue name/number/atom name; of a hydrogen, its heavy atom's"
    )
    role: np.ndarray = column("u1", "atom", enum=Interaction, doc="X-Score class; 0 for hydrogens")
    conformation: np.ndarray = column(
        STRING, "atom", doc="conformation of the target; empty if it has one"
    )
    receptor: np.ndarray = column(STRING, "file", doc="name of the structure file as given")
    box: np.ndarray = column(
        STRING, "file", doc="the box and what gave its centre, in words, as the audit has them"
    )

    warning: np.ndarray = column(
        STRING, "warning", doc="what the preparation of the receptor warned of, in words"
    )

    def bounds(self) -> Bounds:
        """Finite positions."""
        yield "xyz", np.isfinite(self.xyz)

    def of(self, conformation: str) -> "Site":
        """The atoms of one conformation."""
        mine = self.conformation == conformation
        names = ("xyz", "element", "residue", "label", "role", "conformation")
        atoms = {name: getattr(self, name)[mine] for name in names}
        return Site(**atoms, receptor=self.receptor, box=self.box, warning=self.warning)
