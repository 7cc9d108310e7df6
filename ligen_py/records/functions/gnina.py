"""Channels of atoms in gnina's networks."""

from dataclasses import dataclass

import numpy as np

from ligen_py.records.column import column
from ligen_py.records.ligands import Ligands
from ligen_py.records.pocket import Receptor


@dataclass(frozen=True, slots=True)
class GninaLigands(Ligands):
    """Ligands as gnina's networks see them; rows and atoms are those of `ligands`."""

    channel: np.ndarray = column("i1", "atom", doc="channel of densities, 14 to 27; -1: none")


@dataclass(frozen=True, slots=True)
class GninaReceptor(Receptor):
    """The receptor as gnina's networks see it; atoms are those of `receptor`."""

    channel: np.ndarray = column("i1", "atom", doc="channel of densities, 0 to 13; -1: none")


LIGANDS, RECEPTOR = GninaLigands, GninaReceptor
