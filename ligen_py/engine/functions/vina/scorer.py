"""Vina and Vinardo of poses on a device: ligands as flat arrays, and the kernel's launches."""

from dataclasses import dataclass

import numpy as np

from ligen_py.engine.functions.vina.constants import FORMS, TERMS, Form, vina_pairs
from ligen_py.engine.scoring.pose_kernel import PoseBatch, PoseKernel, ligand_table, runs
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.records.atom_types import VinaType
from ligen_py.records.ligands import Ligands
from ligen_py.records.pocket import Receptor
from ligen_py.records.poses import Poses


@dataclass(frozen=True)
class Batch:
    """Consecutive ligands as the kernel reads them."""

    ligands: np.ndarray
    """Rows of `ligand_t` in vina.cl (ligands,)."""
    atoms: np.ndarray
    """float32 (atoms, 4): conformer; type."""
    pairs: np.ndarray
    """int16 (pairs, 2), numbers local to the ligand."""

    @classmethod
    def of(cls, ligands: Ligands, first: int, last: int) -> "Batch":
        """Pack ligands first <= ligand < last."""
        rows = slice(ligands.first_atom[first], ligands.first_atom[last])
        pairs, counts = vina_pairs(ligands, first, last)
        names = ("heavy", "first_pair", "pairs", "unused")
        table = ligand_table(ligands, first, last, *names)
        table["heavy"] = ligands.heavy[first:last]
        table["first_pair"], table["pairs"] = runs(np.cumsum([0, *counts]))
        atoms = np.column_stack([ligands.xyz[rows], ligands.vina_type[rows]])
        return cls(table, atoms.astype(np.float32), pairs)


class Vina:
    """Vina or Vinardo of poses in one receptor, on one device."""

    terms = TERMS

    def __init__(self, device: Device, receptor: Receptor, form: Form = FORMS["vina"]) -> None:
        """Upload the receptor and what pairs of types are."""
        scored = receptor.vina_type != VinaType.NONE
        atoms = np.column_stack([receptor.xyz[scored], receptor.vina_type[scored]])
        self._receptor = (
            np.int32(len(atoms)),
            buffers.upload(device, atoms.astype(np.float32)),
            buffers.upload(device, form.pair_table()),
        )
        definitions = form.weights.definitions()
        self._kernel = PoseKernel(device, "batched/vina.cl", "vina", definitions, len(TERMS))

    def score(self, ligands: Ligands, poses: Poses, first: int, last: int) -> np.ndarray:
        """All poses of ligands first <= ligand < last: float32 (terms, poses).

        NaN where a pose's coordinates are not finite, in every term but `rotors`.
        """
        batch = Batch.of(ligands, first, last)
        return self._kernel.run(
            PoseBatch.of(ligands, poses, first, last),
            batch.ligands["atoms"],
            self._receptor,
            (batch.ligands, ligands.vina_rotors[first:last], batch.atoms),
            (batch.pairs,),
        )


class Vinardo(Vina):
    """Vinardo: Vina's terms with other numbers."""

    def __init__(self, device: Device, receptor: Receptor) -> None:
        """Upload the receptor and what pairs of types are."""
        super().__init__(device, receptor, FORMS["vinardo"])
