"""The NumPy twin of field.clh."""

import numpy as np

from ligen_py.engine.refinement.view import View, heavy_atoms
from tests.functions.linear_contacts.field import ContactField
from tests.functions.linear_contacts.reference import energy_slope
from tests.functions.linear_contacts.types import ContactLigands


def view(ligands: ContactLigands, number: int, field: ContactField) -> View:
    return heavy_atoms(ligands, number, 1, np.zeros(ligands.heavy[number], int), energy_slope)
