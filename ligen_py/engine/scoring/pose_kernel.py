"""Kernels that give every pose a row of terms: their launches, and the poses as they read them."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ligen_py.engine.geometry import cosines_and_sines
from ligen_py.engine.pose_arrays import Conformers, Genotypes
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.tuning import build_tuned, tuned
from ligen_py.records.ligands import Ligands
from ligen_py.records.limits import MAX_ATOMS
from ligen_py.records.poses import Poses

ATOM_CLASSES = (64, MAX_ATOMS)
"""Kernels are compiled for ligands up to these sizes; a pose runs in the smallest that fits."""


def runs(offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First element, counted from the first run's, and length of each run between offsets."""
    return offsets[:-1] - offsets[0], np.diff(offsets)


def ligand_table(ligands: Ligands, first: int, last: int, *more: str) -> np.ndarray:
    """Ligands first <= ligand < last as rows of a kernel's table: structured int32 (ligands,).

    A row is what `BODY` in pose.clh takes and, at 0 so far, the numbers `more` of the kernel.
    """
    names = ("first_atom", "atoms", "first_torsion", "torsions", *more)
    table = np.zeros(last - first, [(name, np.int32) for name in names])
    table["first_atom"], table["atoms"] = runs(ligands.first_atom[first : last + 1])
    table["first_torsion"], table["torsions"] = runs(ligands.first_torsion[first : last + 1])
    return table


class PoseBatch:
    """The poses of some consecutive ligands on a device, where all functions read them."""

    def __init__(
        self, device: Device, ligands: Ligands, poses: Poses, first: int, last: int
    ) -> None:
        """Poses of ligands first <= ligand < last."""
        self.device, self.ligands, self.poses = device, ligands, poses
        self.first, self.last = first, last

    @cached_property
    def owner(self) -> np.ndarray:
        """int32 (poses,): the ligand of each, counted from the first one."""
        counts = np.diff(self.poses.first_pose[self.first : self.last + 1])
        return np.repeat(np.arange(len(counts), dtype=np.int32), counts)

    @cached_property
    def torsions(self) -> tuple[Any, Any]:
        """Buffers: the ligands' torsions, and inverse lengths of their axes."""
        conformers = Conformers.of(self.ligands, self.first, self.last)
        return self._on_device(conformers.torsions, conformers.inverse_lengths)

    @cached_property
    def genotypes(self) -> tuple[Any, ...]:
        """Buffers: owner, first row of the angles, quaternion, translation of each pose; angles."""
        given = Genotypes.of(self.poses, self.first, self.last)
        span = self.poses.first_pose[[self.first, self.last]]
        first_turn = runs(self.poses.first_torsion[span[0] : span[1] + 1])[0].astype(np.int32)
        angles = np.stack(cosines_and_sines(given.degrees), axis=1)
        return self._on_device(
            self.owner, first_turn, given.quaternions, given.translations, angles
        )

    def _on_device(self, *arrays: np.ndarray) -> tuple[Any, ...]:
        return tuple(buffers.upload(self.device, array) for array in arrays)


class PoseKernel:
    """A kernel with one sub-group a pose that writes `terms` rows of floats, a column a pose.

    Its arguments: poses of the launch; length of a row; what `run` is given as `fixed`; the poses
    of the launch by number; `ligands`; torsions and inverse lengths of their axes; `more`; of every
    pose its ligand, first torsion, quaternion and translation; cosine and sine of every torsion;
    the results. A row of `ligands` is declared in the kernel under the name NAME_ligand_t.
    """

    def __init__(
        self, device: Device, source: str, name: str, definitions: Mapping[str, object], terms: int
    ) -> None:
        """`definitions` are macros beside MAX_ATOMS and WG_SUB_GROUPS."""
        self.device, self.source, self.name = device, source, name
        self.definitions, self.terms = dict(definitions), terms

    def run(
        self,
        batch: PoseBatch,
        atoms: np.ndarray,
        fixed: Sequence[Any],
        ligands: Sequence[np.ndarray],
        more: Sequence[Any],
    ) -> np.ndarray:
        """Terms of all poses: float32 (terms, poses). `atoms` is the size of each ligand.

        `more` are arrays, or buffers.
        """
        poses = len(batch.owner)
        first, others = (
            [
                buffers.upload(self.device, one) if isinstance(one, np.ndarray) else one
                for one in some
            ]
            for some in (ligands, more)
        )
        inputs = (*first, *batch.torsions, *others, *batch.genotypes)
        results = buffers.empty(self.device, poses * self.terms, np.float32)
        atom_class = np.searchsorted(ATOM_CLASSES, atoms)[batch.owner]
        for number, max_atoms in enumerate(ATOM_CLASSES):
            chosen = np.flatnonzero(atom_class == number).astype(np.int32)
            if len(chosen):
                order = buffers.upload(self.device, chosen)
                arguments = (np.int32(poses), *fixed, order, *inputs, results)
                self._launch(max_atoms, len(chosen), ligands[0].dtype, arguments)
        return buffers.download(self.device, results, (self.terms, poses), np.float32)

    def _launch(self, max_atoms: int, count: int, row: np.dtype, arguments: Sequence[Any]) -> None:
        device, source, name = self.device, self.source, self.name
        tuning = tuned(device, source, max_atoms)
        group = tuning.sub_groups
        definitions = {**self.definitions, "MAX_ATOMS": max_atoms, "WG_SUB_GROUPS": group}
        local = group * device.sub_group_size
        structs = {f"{name}_ligand_t": row}
        program = build_tuned(device, source, max_atoms, tuning, definitions, [name], structs)
        size = (-(-count // group) * local,)
        program.kernel(name)(device.queue, size, (local,), np.int32(count), *arguments)
