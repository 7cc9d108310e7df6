"""Atom types of X-Score."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ligen_py.records.column import Bounds, column
from ligen_py.records.ligands import Ligands, heavy_atoms
from ligen_py.records.pocket import Receptor


class Interaction(IntEnum):
    """X-Score's atom classes (Wang, Lai, Wang 2002)."""

    NONE = 0
    HYDROPHOBIC = 1
    POLAR = 2
    DONOR = 3
    ACCEPTOR = 4
    DONOR_ACCEPTOR = 5
    METAL = 6


GIVES = (Interaction.DONOR, Interaction.DONOR_ACCEPTOR)
TAKES = (Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR)
"""Classes of atoms that give a hydrogen bond's hydrogen, or take it."""


@dataclass(frozen=True, slots=True)
class XScoreLigands(Ligands):
    """Ligands as X-Score sees them; rows and atoms are those of `ligands`."""

    rotors: np.ndarray = column("f4", "ligand", doc="X-Score's RT: rotor sum of the ligand")
    radius: np.ndarray = column("f4", "atom", units="angstrom", doc="X-Score radius (H: 0)")
    interaction: np.ndarray = column("u1", "atom", enum=Interaction, doc="X-Score class")
    donor: np.ndarray = column(
        "u1", "atom", doc="X-Score donor geometry: 1 straight, 2 angled, 0 none"
    )
    acceptor: np.ndarray = column("u1", "atom", doc="X-Score acceptor geometry: 1, 2, or 0 none")
    logp: np.ndarray = column(
        "f4", "atom", doc="X-Score atomic logP contribution; 0 unless hydrophobic"
    )
    hydrogens: np.ndarray = column("u1", "atom", doc="hydrogens bonded to the atom")

    def bounds(self) -> Bounds:
        """Every heavy atom has a radius: fields have maps of typed atoms only."""
        for name in ("rotors", "radius", "logp"):
            yield name, np.isfinite(getattr(self, name))
        yield "radius", (self.radius > 0) | ~heavy_atoms(self)


@dataclass(frozen=True, slots=True)
class XScoreReceptor(Receptor):
    """The receptor as X-Score sees it; atoms are those of `receptor`."""

    radius: np.ndarray = column("f4", "atom", units="angstrom", doc="X-Score radius")
    interaction: np.ndarray = column("u1", "atom", enum=Interaction, doc="X-Score class")
    logp: np.ndarray = column("f4", "atom", doc="X-Score atomic logP contribution")
    donor: np.ndarray = column(
        "u1", "atom", doc="X-Score donor geometry: 1 straight, 2 angled, 0 none"
    )
    acceptor: np.ndarray = column("u1", "atom", doc="X-Score acceptor geometry: 1, 2, or 0 none")
    root: np.ndarray = column(
        "f4", "atom", 3, units="angstrom", doc="mean position of heavy, non-metal neighbours"
    )
    rooted: np.ndarray = column("u1", "atom", doc="1 where the atom has a root")


LIGANDS, RECEPTOR = XScoreLigands, XScoreReceptor
