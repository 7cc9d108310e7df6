"""linear_contacts of poses on a device."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ligen_py.engine.scoring.pose_kernel import PoseBatch, PoseKernel, ligand_table
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.records.pocket import Receptor
from tests.functions.linear_contacts.types import ContactLigands

HERE = Path(__file__).parent


class LinearContacts:
    terms = ("total",)

    def __init__(self, device: Device, receptor: Receptor) -> None:
        places = np.column_stack([receptor.xyz, np.ones(len(receptor.xyz), "f4")])
        self._receptor = np.int32(len(places)), buffers.upload(device, places)
        macros = {"FIELD": f"<{HERE / 'field.clh'}>"}
        self._kernel = PoseKernel(device, str(HERE / "score.cl"), "linear_contacts", macros, 1)

    def score(self, ligands: ContactLigands, batch: PoseBatch) -> np.ndarray:
        first, last = batch.first, batch.last
        table = ligand_table(ligands, first, last)
        rows = slice(ligands.first_atom[first], ligands.first_atom[last])
        atoms = np.column_stack([ligands.xyz[rows], ligands.weight[rows]])
        return self._kernel.run(batch, table["atoms"], self._receptor, (table, atoms), ())


OWN = None


def pose_energy(terms: Mapping[str, np.ndarray]) -> np.ndarray:
    return -terms["total"]


SCORER = LinearContacts
