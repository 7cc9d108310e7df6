"""The NumPy twin of kernels/include/xscore_field.clh."""

import numpy as np

from ligen_py.engine.functions.xscore.constants import signed_radii
from ligen_py.engine.functions.xscore.field import XScoreField
from ligen_py.engine.functions.xscore.reference import pair_energy_slope
from ligen_py.engine.refinement.view import View, heavy_atoms
from ligen_py.records.functions.xscore import XScoreLigands


def view(ligands: XScoreLigands, number: int, field: XScoreField) -> View:
    """Ligand `number` in the field."""
    first = ligands.first_atom[number]
    radii = signed_radii(ligands, slice(first, first + ligands.heavy[number]))

    def pair_energy(r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Energy (kcal/mol) and slope of all pairs of atoms at distances r (atoms, atoms)."""
        return pair_energy_slope(r, radii[:, None].astype(float), radii)

    slots = np.searchsorted(field.radii, radii)
    return heavy_atoms(ligands, number, field.maps.count, slots, pair_energy)
