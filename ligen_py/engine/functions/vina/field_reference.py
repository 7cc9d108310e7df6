"""The NumPy twin of kernels/include/vina_field.clh."""

import numpy as np

from ligen_py.engine.functions.vina.field import VinaField
from ligen_py.engine.functions.vina.reference import pair_energy_slope
from ligen_py.engine.refinement.view import View, heavy_atoms
from ligen_py.records.functions.vina import VinaLigands


def view(ligands: VinaLigands, number: int, field: VinaField) -> View:
    """Ligand `number` in the field."""
    first = ligands.first_atom[number]
    types = ligands.type[first : first + ligands.heavy[number]]
    pair = field.form.pair_table().astype(float)[types][:, types]

    def pair_energy(r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Energy (kcal/mol) and slope of all pairs of atoms at distances r (atoms, atoms)."""
        return pair_energy_slope(r, pair, field.form.weights)

    return heavy_atoms(ligands, number, field.maps.count, field.slot[types], pair_energy)
