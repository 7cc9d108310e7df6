"""Its atom types: how much a ligand's atom counts."""

from dataclasses import dataclass

import numpy as np

from ligen_py.records.column import column
from ligen_py.records.ligands import Ligands
from ligen_py.records.pocket import Receptor


@dataclass(frozen=True, slots=True)
class ContactLigands(Ligands):
    """Ligands as linear_contacts sees them; rows and atoms are those of `ligands`."""

    weight: np.ndarray = column("f4", "atom", doc="1 for heavy atoms, else 0")


LIGANDS, RECEPTOR = ContactLigands, Receptor
