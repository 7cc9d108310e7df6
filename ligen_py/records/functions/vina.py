"""Atom types of Vina and Vinardo."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ligen_py.records.column import Bounds, column
from ligen_py.records.ligands import Ligands, heavy_atoms
from ligen_py.records.pocket import Receptor


class VinaType(IntEnum):
    """Vina's atom types (XS): element, then hydrophobic, donor, acceptor, both, or plain polar."""

    NONE = 0
    C_H = 1
    C_P = 2
    N_P = 3
    N_D = 4
    N_A = 5
    N_DA = 6
    O_P = 7
    O_D = 8
    O_A = 9
    O_DA = 10
    S_P = 11
    P_P = 12
    F_H = 13
    CL_H = 14
    BR_H = 15
    I_H = 16
    SI = 17
    AT = 18
    MET_D = 19


@dataclass(frozen=True, slots=True)
class VinaLigands(Ligands):
    """Ligands as Vina and Vinardo see them; rows and atoms are those of `ligands`."""

    rotors: np.ndarray = column("f4", "ligand", doc="Vina's N_rot: active torsions")
    type: np.ndarray = column("u1", "atom", enum=VinaType, doc="Vina's atom type")

    def bounds(self) -> Bounds:
        """Every heavy atom has a type: fields have maps of typed atoms only."""
        yield "rotors", np.isfinite(self.rotors)
        yield "type", (self.type > 0) | ~heavy_atoms(self)


@dataclass(frozen=True, slots=True)
class VinaReceptor(Receptor):
    """The receptor as Vina and Vinardo see it; atoms are those of `receptor`."""

    type: np.ndarray = column("u1", "atom", enum=VinaType, doc="Vina's atom type")


LIGANDS, RECEPTOR = VinaLigands, VinaReceptor
