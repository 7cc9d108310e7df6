"""AutoDock4 of poses on a device: ligands as flat arrays, and the kernel's launches."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ligen_py.engine.functions.ad4.constants import (
    TERMS,
    definitions,
    has_type,
    pair_table,
    receptor_arrays,
    type_table,
)
from ligen_py.engine.scoring.pairs import Pairs, find_pairs
from ligen_py.engine.scoring.pose_kernel import PoseBatch, PoseKernel, ligand_table, runs
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Receptor


@dataclass(frozen=True)
class Ad4Launch:
    """Consecutive ligands as the kernel reads them."""

    ligands: np.ndarray
    """Rows of the kernel's table (ligands,)."""
    atoms: np.ndarray
    """float32 (atoms, 4): conformer; type."""
    charges: np.ndarray
    """float32 (atoms,), e."""
    active: np.ndarray
    """int16: atoms that have a type, numbers local to the ligand."""
    pairs: Pairs

    @classmethod
    def of(cls, ligands: Ad4Ligands, batch: PoseBatch) -> "Ad4Launch":
        """Pack the ligands of a batch."""
        first, last = batch.first, batch.last
        offsets = ligands.first_atom[first : last + 1]
        rows = slice(offsets[0], offsets[-1])
        owner = np.repeat(np.arange(last - first), np.diff(offsets))
        typed = has_type(ligands, first, last)
        active, pairs = np.flatnonzero(typed), find_pairs(batch, typed)
        table = ligand_table(ligands, first, last, "first_active", "active", "first_pair")
        actives = np.bincount(owner[active], minlength=last - first)
        table["first_active"], table["active"] = runs(np.cumsum([0, *actives]))
        table["first_pair"] = pairs.first
        atoms = np.column_stack([ligands.xyz[rows], ligands.type[rows]]).astype(np.float32)
        numbers = (active - (offsets - offsets[0])[owner[active]]).astype(np.int16)
        return cls(table, atoms, ligands.partial_charge[rows], numbers, pairs)


class Ad4:
    """AutoDock4's free energy of binding of poses in one receptor, on one device."""

    terms = TERMS

    def __init__(self, device: Device, receptor: Ad4Receptor) -> None:
        """Upload the receptor, donors first, and the tables."""
        donors, arrays = receptor_arrays(receptor)
        self._receptor = (
            np.int32(len(arrays[0])),
            np.int32(donors),
            *(buffers.upload(device, each) for each in (*arrays, pair_table(), type_table())),
        )
        self._kernel = PoseKernel(device, "batched/ad4.cl", "ad4", definitions(), len(TERMS))

    def score(self, ligands: Ad4Ligands, batch: PoseBatch) -> np.ndarray:
        """All poses of a batch: float32 (terms, poses).

        NaN where a pose's coordinates are not finite, in every term but `torsional`.
        """
        launch = Ad4Launch.of(ligands, batch)
        return self._kernel.run(
            batch,
            launch.ligands["atoms"],
            self._receptor,
            (launch.ligands, ligands.torsions[batch.first : batch.last], launch.atoms),
            (launch.charges, launch.active, launch.pairs.pairs, launch.pairs.counts),
        )


OWN = None
"""The term of the ligand's own energy that `pose_energy` includes."""


def pose_energy(terms: Mapping[str, np.ndarray]) -> np.ndarray:
    """The energy that compares poses of one ligand, kcal/mol (poses,).

    That between ligand and receptor: all poses of a ligand have one torsional term.
    """
    return np.stack([terms[name] for name in TERMS[:4]]).sum(axis=0)


SCORER = Ad4
