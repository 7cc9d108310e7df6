"""Vina of poses on a device: ligands as flat arrays, and the kernel's launches."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ligen_py.engine.functions.vina.constants import CUTOFF, TERMS, VINA, has_pairs
from ligen_py.engine.neighbours import neighbours
from ligen_py.engine.scoring.pairs import Pairs, find_pairs
from ligen_py.engine.scoring.pose_kernel import PoseBatch, PoseKernel, ligand_table
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.records.functions.vina import VinaLigands, VinaReceptor, VinaType


@dataclass(frozen=True)
class VinaLaunch:
    """Consecutive ligands as the kernel reads them."""

    ligands: np.ndarray
    """Rows of the kernel's table (ligands,)."""
    atoms: np.ndarray
    """float32 (atoms, 4): conformer; type."""
    pairs: Pairs

    @classmethod
    def of(cls, ligands: VinaLigands, batch: PoseBatch) -> "VinaLaunch":
        """Pack the ligands of a batch."""
        first, last = batch.first, batch.last
        rows = slice(ligands.first_atom[first], ligands.first_atom[last])
        pairs = find_pairs(batch, has_pairs(ligands, first, last))
        table = ligand_table(ligands, first, last, "heavy", "first_pair")
        table["heavy"] = ligands.heavy[first:last]
        table["first_pair"] = pairs.first
        atoms = np.column_stack([ligands.xyz[rows], ligands.type[rows]])
        return cls(table, atoms.astype(np.float32), pairs)


class Vina:
    """Vina, or another function of its form, of poses in one receptor, on one device."""

    form = VINA
    terms = TERMS

    def __init__(self, device: Device, receptor: VinaReceptor) -> None:
        """Upload the receptor and what pairs of types are."""
        scored = receptor.type != VinaType.NONE
        atoms = np.column_stack([receptor.xyz[scored], receptor.type[scored]])
        self._receptor = (
            *neighbours(device, atoms[:, :3], CUTOFF),
            buffers.upload(device, atoms.astype(np.float32)),
            buffers.upload(device, self.form.pair_table()),
        )
        definitions = self.form.weights.definitions()
        self._kernel = PoseKernel(device, "batched/vina.cl", "vina", definitions, len(TERMS))

    def score(self, ligands: VinaLigands, batch: PoseBatch) -> np.ndarray:
        """All poses of a batch: float32 (terms, poses).

        NaN where a pose's coordinates are not finite, in every term but `rotors`.
        """
        launch = VinaLaunch.of(ligands, batch)
        return self._kernel.run(
            batch,
            launch.ligands["atoms"],
            self._receptor,
            (launch.ligands, ligands.rotors[batch.first : batch.last], launch.atoms),
            (launch.pairs.pairs, launch.pairs.counts),
        )


OWN = "intra"
"""The term of the ligand's own energy that `pose_energy` includes."""


def pose_energy(terms: Mapping[str, np.ndarray]) -> np.ndarray:
    """The energy that compares poses of one ligand, kcal/mol (poses,).

    It includes the ligand's internal energy, which the affinity leaves out (Eberhardt et al. 2021
    rank the poses of a ligand by the same sum).
    """
    return np.stack([terms[name] for name in TERMS[:6]]).sum(axis=0)


SCORER = Vina
