"""The field of Vina: maps of the types of ligand atoms, and what atoms are to each other."""

import numpy as np

from ligen_py.engine.functions.vina.constants import (
    ACCEPTORS,
    CUTOFF,
    DONORS,
    HYDROPHOBIC,
    TYPES,
    VINA,
)
from ligen_py.engine.refinement.chemical_field import HeavyAtomField
from ligen_py.engine.refinement.maps import NO_ROWS, Grid, Surroundings, make_maps
from ligen_py.opencl.device import Device
from ligen_py.records.functions.vina import VinaLigands, VinaReceptor, VinaType


class VinaField(HeavyAtomField):
    """The terms of Vina, or of another function of its form, by atom types."""

    form = VINA
    include = "vina_field.clh"

    def __init__(
        self, device: Device, receptor: VinaReceptor, grid: Grid, ligands: VinaLigands
    ) -> None:
        """Compute the maps of the types that occur in `ligands`."""
        types = np.unique(ligands.type)
        types = types[types != VinaType.NONE]
        self.definitions = self.form.weights.definitions()
        self.tables = (self.form.pair_table().reshape(-1, 4), NO_ROWS)
        self.slot = np.full(TYPES, -1, np.int32)
        self.slot[types] = np.arange(len(types))
        atoms = Surroundings.of(receptor.xyz, receptor.type)
        self.maps = make_maps(device, grid, self, types, atoms, CUTOFF)

    def views(self, ligands: VinaLigands, atoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Radii; maps, and whether an atom is hydrophobic, gives and takes hydrogen bonds."""
        types = ligands.type[atoms]
        flags = np.zeros(TYPES, np.int32)
        for kind in VinaType:
            fat, gives, takes = kind in HYDROPHOBIC, kind in DONORS, kind in ACCEPTORS
            flags[kind] = fat | gives << 1 | takes << 2 | fat << 3 | takes << 4 | gives << 5
        return self.form.radii[types].astype(np.float32), (self.slot[types] << 8) | flags[types]


FIELD = VinaField
