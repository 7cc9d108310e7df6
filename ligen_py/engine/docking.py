"""Dock ligands on a device: batches by atom class, one kernel, results in input order."""

from collections.abc import Iterator

import numpy as np

from ligen_py.engine.constants import ATOM_CLASSES
from ligen_py.engine.search import MAX_TORSIONS, Batch, Plan, pack
from ligen_py.opencl import buffers
from ligen_py.opencl.device import SUB_GROUP_SIZE, SUB_GROUPS_PER_GROUP, Device
from ligen_py.opencl.program import Program, build
from ligen_py.records import Ligands, Poses

BATCH_BYTES = 256 << 20
ITEMS_PER_COMPUTE_UNIT = 2048


class Docker:
    """One pocket's search on one device; programs and tables are made once.

    `kernel_seconds` adds up the device's own time in the dock kernel.
    """

    def __init__(self, device: Device, plan: Plan) -> None:
        """Upload the tables of a plan."""
        self.device = device
        self.plan = plan
        self.kernel_seconds = 0.0
        self._field = buffers.upload(device, plan.field)
        self._angles = buffers.upload(device, plan.angles)
        self._rotation = buffers.upload(device, plan.start_rotation)
        position = np.zeros((plan.num_restart, 4), np.float32)
        position[:, :3] = plan.start_position
        self._position = buffers.upload(device, position)
        self._turns = buffers.upload(device, plan.start_turns)

    def dock(self, ligands: Ligands, rows: np.ndarray | None = None) -> Poses:
        """Dock the ligands of `rows` (rising; all by default), num_restart poses each.

        Poses come in input order, then in restart order; ligands not named have none.
        """
        plan = self.plan
        rows = np.arange(len(ligands.entry)) if rows is None else rows
        torsions = np.diff(ligands.first_torsion)[rows]
        first_torsion = _offsets(np.repeat(torsions, plan.num_restart))
        results = np.empty((len(rows), plan.num_restart, 4), np.int32)
        quaternions = np.empty((len(rows), plan.num_restart, 4), np.float32)
        shifts = np.empty((len(rows), plan.num_restart, 3), np.float32)
        turns = np.empty(first_torsion[-1], np.uint8)
        for atom_class, members in self._batches(ligands, rows):
            batch = pack(ligands, rows[members], plan)
            found = self._launch(batch, atom_class)
            results[members], quaternions[members], shifts[members] = found[:3]
            starts = batch.ligands["first_torsion"].astype(np.int64) * plan.num_restart
            for start, member in zip(starts, members, strict=True):
                first = first_torsion[member * plan.num_restart]
                count = int(torsions[member]) * plan.num_restart
                turns[first : first + count] = found[3][start : start + count]
        counts = np.zeros(len(ligands.entry), np.int64)
        counts[rows] = plan.num_restart
        return Poses(
            first_pose=_offsets(counts),
            first_torsion=first_torsion,
            restart=np.tile(np.arange(plan.num_restart, dtype=np.int32), len(rows)),
            translation=plan.to_angstrom(shifts.reshape(-1, 3)),
            quaternion=np.roll(quaternions.reshape(-1, 4), 1, axis=1),
            torsion=(turns * (360.0 / plan.n_angles)).astype(np.float32),
            score=results[..., 0].ravel(),
            internal_bumps=results[..., 1].ravel(),
            pocket_bumps=results[..., 2].ravel(),
            outside=results[..., 3].ravel(),
        )

    def time(self, ligands: Ligands, rows: np.ndarray) -> None:
        """Dock ligands (rows may repeat) for the sake of `kernel_seconds` only."""
        for atom_class, members in self._batches(ligands, rows):
            self._launch(pack(ligands, rows[members], self.plan), atom_class)

    def _batches(self, ligands: Ligands, rows: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Places in `rows` of one atom class at a time, as many as the memory budget holds."""
        atoms = np.diff(ligands.first_atom)[rows]
        classes = np.searchsorted(ATOM_CLASSES, atoms)
        budget = min(BATCH_BYTES, int(self.device.handle.max_mem_alloc_size))
        size = max(1, budget // (self.plan.num_restart * (48 + MAX_TORSIONS)))
        for number, atom_class in enumerate(ATOM_CLASSES):
            members = np.flatnonzero(classes == number)
            for start in range(0, len(members), size):
                yield atom_class, members[start : start + size]

    def _program(self, atom_class: int) -> Program:
        definitions = {
            "MAX_ATOMS": atom_class,
            "MAX_TORSIONS": MAX_TORSIONS,
            "N_ANGLES": self.plan.n_angles,
            "GRID_SIDE": self.plan.side,
            "BUMP_TESTS": min(self.plan.bump_tests, self.plan.n_angles),
            "WG_SUB_GROUPS": SUB_GROUPS_PER_GROUP[self.device.back_end],
        }
        return build(self.device, "batched/dock.cl", definitions)

    def _launch(self, batch: Batch, atom_class: int) -> tuple[np.ndarray, ...]:
        device, plan = self.device, self.plan
        poses = len(batch) * plan.num_restart
        turn_count = len(batch.torsions) * plan.num_restart
        inputs = [
            buffers.upload(device, array)
            for array in (
                batch.ligands,
                batch.conformers,
                batch.torsions,
                batch.inverse_lengths,
                batch.orders,
                batch.pairs,
            )
        ]
        results = buffers.empty(device, poses * 4, np.int32)
        quaternions = buffers.empty(device, poses * 4, np.float32)
        shifts = buffers.empty(device, poses * 4, np.float32)
        turns = buffers.empty(device, turn_count, np.uint8)

        # How restarts are split over sub-groups fills the device; it changes no result.
        wanted = ITEMS_PER_COMPUTE_UNIT * int(device.handle.max_compute_units)
        splits = int(np.clip(-(-wanted // len(batch)), 1, plan.num_restart))
        group = SUB_GROUPS_PER_GROUP[device.back_end]
        groups = -(-len(batch) * splits // group)
        local = group * SUB_GROUP_SIZE
        event = self._program(atom_class).kernel("dock")(
            device.queue,
            (groups * local,),
            (local,),
            np.int32(len(batch)),
            np.int32(plan.num_restart),
            np.int32(plan.num_iterations),
            np.int32(splits),
            plan.steps,
            np.array([*plan.box, 0], np.int32),
            self._field,
            self._angles,
            self._rotation,
            self._position,
            self._turns,
            *inputs,
            results,
            quaternions,
            shifts,
            turns,
        )
        by_pose = (len(batch), plan.num_restart, 4)
        self.kernel_seconds += buffers.seconds(event)
        return (
            buffers.download(device, results, by_pose, np.int32),
            buffers.download(device, quaternions, by_pose, np.float32),
            buffers.download(device, shifts, by_pose, np.float32)[..., :3],
            buffers.download(device, turns, turn_count, np.uint8),
        )


def _offsets(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
