"""The NumPy twin of kernels/include/ad4_field.clh."""

import numpy as np

from ligen_py.engine.functions.ad4.constants import ad4_pairs
from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.functions.ad4.reference import pair_energy_slope
from ligen_py.engine.refinement.view import View
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Type


def view(ligands: Ad4Ligands, number: int, field: Ad4Field) -> View:
    """Ligand `number` in the field: its atoms that have a type."""
    rows = slice(ligands.first_atom[number], ligands.first_atom[number + 1])
    atoms = np.flatnonzero(ligands.type[rows] != Ad4Type.NONE)
    types = ligands.type[rows][atoms]
    charges = ligands.partial_charge[rows][atoms].astype(float)
    shares = np.eye(field.maps.count)[field.slot[types]]
    shares[:, 0], shares[:, 1] = charges, np.abs(charges)
    one, two = np.searchsorted(atoms, ad4_pairs(ligands, number, number + 1)[0]).T
    tested = np.zeros((len(atoms), len(atoms)), bool)
    tested[one, two] = tested[two, one] = True

    def pair_energy(r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Energy (kcal/mol) and slope of all pairs of atoms at distances r (atoms, atoms)."""
        return pair_energy_slope(r, types, charges)

    return View(atoms, shares, pair_energy, tested)
