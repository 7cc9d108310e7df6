"""Atom types and charges of AutoDock4."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ligen_py.records.column import Bounds, Record, column
from ligen_py.records.ligands import Ligands, heavy_atoms


class Ad4Type(IntEnum):
    """AutoDock4's atom types; NONE: hydrogens on carbon, which are merged into it."""

    NONE = 0
    HD = 1
    C = 2
    A = 3
    N = 4
    NA = 5
    OA = 6
    S = 7
    SA = 8
    P = 9
    F = 10
    CL = 11
    BR = 12
    I = 13  # noqa: E741  (iodine)
    SI = 14
    MG = 15
    CA = 16
    MN = 17
    FE = 18
    ZN = 19


@dataclass(frozen=True, slots=True)
class Ad4Ligands(Ligands):
    """Ligands as AutoDock4 sees them; rows and atoms are those of `ligands`."""

    torsions: np.ndarray = column("f4", "ligand", doc="AutoDock4's count of active torsions")
    type: np.ndarray = column("u1", "atom", enum=Ad4Type, doc="AutoDock4's atom type")
    partial_charge: np.ndarray = column(
        "f4", "atom", units="e", doc="Gasteiger charge, that of hydrogens on carbon added to it"
    )

    def bounds(self) -> Bounds:
        """Every heavy atom has a type: fields have maps of typed atoms only."""
        yield "torsions", np.isfinite(self.torsions)
        yield "partial_charge", np.isfinite(self.partial_charge)
        yield "type", (self.type > 0) | ~heavy_atoms(self)


@dataclass(frozen=True, slots=True)
class Ad4Receptor(Record):
    """Receptor atoms as AutoDock4 sees them: heavy atoms and polar hydrogens, with charges."""

    xyz: np.ndarray = column("f4", "atom", 3, units="angstrom", doc="position")
    type: np.ndarray = column("u1", "atom", enum=Ad4Type, doc="AutoDock4's atom type")
    partial_charge: np.ndarray = column("f4", "atom", units="e", doc="partial charge")
    axis: np.ndarray = column(
        "f4", "atom", 3, doc="unit vector along a donor's bond or between an acceptor's lone pairs"
    )
    normal: np.ndarray = column("f4", "atom", 3, doc="unit normal of an acceptor's lone-pair plane")
    exponent: np.ndarray = column("u1", "atom", doc="power of a donor's angle: 2 on N, 4 on O or S")

    def bounds(self) -> Bounds:
        """Finite positions."""
        yield "xyz", np.isfinite(self.xyz)


LIGANDS, RECEPTOR = Ad4Ligands, Ad4Receptor
