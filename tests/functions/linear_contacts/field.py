"""The field of linear_contacts: one map."""

from pathlib import Path

import numpy as np

from ligen_py.engine.refinement.chemical_field import HeavyAtomField
from ligen_py.engine.refinement.maps import Grid, Surroundings, make_maps
from ligen_py.opencl.device import Device
from ligen_py.records.pocket import Receptor
from tests.functions.linear_contacts.types import ContactLigands


class ContactField(HeavyAtomField):
    include = str(Path(__file__).parent / "field.clh")

    def __init__(
        self, device: Device, receptor: Receptor, grid: Grid, ligands: ContactLigands
    ) -> None:
        atoms = Surroundings.of(receptor.xyz, np.ones(len(receptor.xyz), "f4"))
        self.maps = make_maps(device, grid, self, np.ones(1), atoms, 6.0)

    def views(self, ligands: ContactLigands, atoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return ligands.weight[atoms], np.zeros(len(atoms), np.int32)


FIELD = ContactField
