"""Dock ligands on a device: batches of like ligands, one kernel, results in input order."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ligen_py.engine.constants import ATOM_CLASSES
from ligen_py.engine.docking.field_on_device import FieldOnDevice
from ligen_py.engine.docking.search import (
    BUMPED,
    FREE_POCKET_BUMPS,
    RESTART_BITS,
    STRUCTS,
    DockBatch,
    Docking,
    Found,
    Kept,
    Plan,
    pack,
)
from ligen_py.opencl import buffers
from ligen_py.opencl.device import VECTORS, Device
from ligen_py.opencl.program import Program
from ligen_py.opencl.residency import resident
from ligen_py.opencl.tuning import Tuning, build_tuned, tuned
from ligen_py.records.ligands import Ligands
from ligen_py.records.limits import MAX_ATOMS, MAX_TORSIONS

log = logging.getLogger("ligen_py")

BY_SUB_GROUPS, BY_LANES = "batched/dock.cl", "batched/dock_lanes.cl"
"""Two forms of the same search: a sub-group has a restart, or each of its lanes has one."""

FASTEST = {"cpu": BY_LANES}
"""By kind of device (docs/notes/performance.md); `BY_SUB_GROUPS` where nothing was measured."""

LIGANDS_PER_RESIDENT = 2
"""Ligands of a batch for each sub-group that the device holds at a time."""

MOST_TURNS = 2**31 - 1
"""Torsions of poses in a batch: kernels number them by int."""

WAVES = 32
"""How often a launch fills the device: restarts of a ligand are split over sub-groups until then,
so that the last ones to end leave little of it idle."""

POSE_BYTES = 48
"""Of a pose on the device, beside one byte a torsion."""


class Job(NamedTuple):
    """Ligands to dock: those of `rows`, rising."""

    ligands: Ligands
    rows: np.ndarray


class Bucket(NamedTuple):
    """Ligands to dock in one launch: of one atom class, and of nearly one number of torsions."""

    job: Job
    atom_class: int
    members: np.ndarray
    """Places among the rows of the job."""


class Running(NamedTuple):
    """A launched bucket and where its results will be."""

    bucket: Bucket
    batch: DockBatch
    events: tuple[Any, ...]
    """Of its kernels, in their order."""
    results: tuple[Any, ...]
    """Buffers of `dock`, or of `keep` with the restarts before them."""


class Docker(Docking):
    """One pocket's search on one device; programs and tables are made once.

    `kernel_seconds` adds up the device's own time in the kernels.
    """

    def __init__(
        self,
        device: Device,
        plan: Plan,
        tuning: Tuning | None = None,
        source: str | None = None,
    ) -> None:
        """Upload the tables of a plan.

        `tuning` stands for the device's own of every atom class, the form `source` for its fastest;
        only sub-groups can be tuned.
        """
        self.device = device
        self.plan = plan
        fastest = BY_SUB_GROUPS if tuning else FASTEST.get(device.kind, BY_SUB_GROUPS)
        self._source = source or fastest
        self._vector = VECTORS.get(device.kind, 1)
        self._tuning = tuning and tuning.on(device)
        self.kernel_seconds = 0.0
        self._field = FieldOnDevice(device, plan.field)
        self._angles = buffers.upload(device, plan.angles)
        self._starts = tuple(buffers.upload(device, array) for array in plan.starts)
        self._reserves = self._new_reserves()

    def search(self, ligands: Ligands, rows: np.ndarray) -> Found:
        """What `dock` makes poses of: see `Plan.poses`."""
        (found,) = self.searches([Job(ligands, rows)])
        return found

    def searches(
        self, jobs: Iterable[Job], count_docked: Callable[[int], object] = lambda _: None
    ) -> Iterator[Found]:
        """`search` for one job after another: the device has the next before the last is fetched.

        A job is asked for as soon as all before it are launched; `count_docked` gets the number of
        ligands each time that some are docked.
        """
        begun: deque[tuple[Job, Kept]] = deque()

        def begin() -> Iterator[Job]:
            """The jobs, each noted in `begun` with a place for its poses before it is launched."""
            for job in jobs:
                torsions = np.diff(job.ligands.first_torsion)[job.rows]
                begun.append((job, Kept(self.plan, torsions)))
                yield job

        for bucket, arrays in self._docked(begin()):
            while begun[0][0] is not bucket.job:  # all of it is there
                yield begun.popleft()[1].arrays
            kept = begun[0][1]
            (kept.put if self._keeps else kept.take)(bucket.members, *arrays)
            count_docked(len(bucket.members))
        yield from (kept.arrays for _, kept in begun)

    def _new_reserves(self) -> deque[buffers.Reserve]:
        """For the batch that the device is at work on, and for the one after it."""
        return deque([buffers.Reserve(self.device), buffers.Reserve(self.device)])

    @property
    def _keeps(self) -> bool:
        """Whether the device chooses the poses that are kept; otherwise all are."""
        return self.plan.num_poses < self.plan.num_restart

    def time(self, ligands: Ligands, rows: np.ndarray) -> None:
        """Dock ligands (rows may repeat) for the sake of `kernel_seconds` only."""
        for _ in self._docked([Job(ligands, rows)]):
            pass

    def _docked(self, jobs: Iterable[Job]) -> Iterator[tuple[Bucket, tuple[np.ndarray, ...]]]:
        """Buckets with their results; while one is fetched, the next one computes.

        A bucket for which the device has no memory is tried again by halves.
        """
        coming = iter(jobs)
        waiting: deque[Bucket] = deque()
        running: Running | None = None
        alone = False
        while True:
            while not waiting and (job := next(coming, None)):
                waiting.extend(self._buckets(job))
            if not waiting and not running:
                return
            launched = running.bucket if running else None
            following: Running | None = None
            found = None
            try:
                if waiting and not (alone and running):
                    ligands, rows = waiting[0].job
                    batch = pack(ligands, rows[waiting[0].members], self.plan)
                    following = self._launch(waiting[0], batch)
                if running:
                    found = self._fetch(running)
            except buffers.OutOfMemoryError as error:
                # What is in flight holds memory too, and may be what failed: all starts again.
                again = [launched] if launched else []
                again += [waiting.popleft()] if waiting and not (alone and running) else []
                if alone and len(again[0].members) == 1:
                    raise
                self.device.finish()
                running, alone = None, True
                self._reserves = self._new_reserves()
                waiting.extendleft(reversed(_halved(again, error)))
                continue
            if following:
                waiting.popleft()
            if launched and found:
                yield launched, found
            running = following

    def _buckets(self, job: Job) -> Iterator[Bucket]:
        """Buckets of like ligands; the last one of an atom class holds what is left."""
        ligands, rows = job
        atoms, torsions = ligands.heavy[rows], np.diff(ligands.first_torsion)[rows]
        classes = np.searchsorted(ATOM_CLASSES, atoms)
        # A kept pose is there twice, as it was found and as it is copied out.
        poses = self.plan.num_restart + self._keeps * self.plan.num_poses
        bytes_needed = poses * (POSE_BYTES + torsions)
        for number, atom_class in enumerate(ATOM_CLASSES):
            members = np.flatnonzero(classes == number)
            if not len(members):
                continue
            members = members[np.lexsort((atoms[members], torsions[members]))]
            room = buffers.budget(self.device) // int(bytes_needed[members].max())
            turns = self.plan.num_restart * max(1, int(torsions[members].max()))
            room = min(room, MOST_TURNS // turns)
            size = max(1, min(room, LIGANDS_PER_RESIDENT * self._resident(atom_class)))
            for start in range(0, len(members), size):
                yield Bucket(job, atom_class, members[start : start + size])

    def _resident(self, atom_class: int) -> int:
        return resident(self.program(atom_class), "dock", self._tuned(atom_class).sub_groups)

    def _tuned(self, atom_class: int) -> Tuning:
        return self._tuning or tuned(self.device, self._source, atom_class)

    def program(self, atom_class: int) -> Program:
        """The kernels of an atom class; by lanes those of all, since a lane has no local memory."""
        tuning = self._tuned(atom_class)
        definitions = {
            "MAX_ATOMS": atom_class,
            "MAX_TORSIONS": MAX_TORSIONS,
            "N_ANGLES": self.plan.settings.n_angles,
            "GRID_SIDE": self.plan.side,
            "BUMP_TESTS": min(self.plan.settings.bump_tests, self.plan.settings.n_angles),
            "WG_SUB_GROUPS": tuning.sub_groups,
            "RESTART_BITS": RESTART_BITS,
            "BUMPED": BUMPED,
            "FREE_POCKET_BUMPS": FREE_POCKET_BUMPS,
            **tuning.definitions(),
        }
        names = ["dock", "keep"]
        if self._source == BY_LANES:
            definitions |= {"MAX_ATOMS": MAX_ATOMS, "POSES": self._vector}
            names = ["keep"]
        return build_tuned(
            self.device, self._source, atom_class, tuning, definitions, names, STRUCTS
        )

    def splits(self, atom_class: int, ligands: int) -> int:
        """Sub-groups that share the restarts of one ligand, so that a launch fills the device.

        It changes no result. By lanes a work-item takes restarts only once.
        """
        restarts = self.plan.num_restart
        if self._source == BY_LANES:
            return -(-restarts // self._vector)
        filling = -(-WAVES * self._resident(atom_class) // ligands)
        least = -(-restarts // (self._tuned(atom_class).poses_per_item or restarts))
        return min(max(filling, least), restarts)

    def _launch(self, bucket: Bucket, batch: DockBatch) -> Running:
        device, plan = self.device, self.plan
        # The batch before is still at work in the other one.
        self._reserves.rotate()
        reserve = self._reserves[0]
        reserve.restart()
        inputs = [
            reserve.upload(array)
            for array in (
                batch.ligands,
                batch.conformers,
                batch.torsions,
                batch.inverse_lengths,
                batch.orders,
                batch.pairs,
            )
        ]
        results = _room(reserve, batch, plan.num_restart)
        splits = self.splits(bucket.atom_class, len(batch))
        tuning = self._tuned(bucket.atom_class)
        group = tuning.sub_groups
        groups = -(-len(batch) * splits // group)
        local = group * tuning.lanes
        shape = (groups * local,), (local,)
        if self._source == BY_LANES:
            shape = (len(batch) * splits,), (1,)
        program = self.program(bucket.atom_class)
        events = []
        with buffers.memory_named(device):
            event = program.kernel("dock")(
                device.queue,
                *shape,
                np.int32(len(batch)),
                np.int32(plan.num_restart),
                np.int32(plan.settings.num_iterations),
                np.int32(splits),
                plan.steps,
                np.array([*plan.box, 0], np.int32),
                self._field.stored(tuning.look_up),
                self._angles,
                *self._starts,
                *inputs,
                *results,
            )
            events.append(event)
            if self._keeps:
                restarts = reserve.empty(len(batch) * plan.num_poses, np.int32)
                kept = restarts, *_room(reserve, batch, plan.num_poses)
                event = program.kernel("keep")(
                    device.queue,
                    (-(-len(batch) // group) * local,),
                    (local,),
                    np.int32(len(batch)),
                    np.int32(plan.num_restart),
                    np.int32(plan.num_poses),
                    inputs[0],
                    *results,
                    *kept,
                )
                events.append(event)
                results = kept
            device.queue.flush()
        return Running(bucket, batch, tuple(events), results)

    def _fetch(self, running: Running) -> tuple[np.ndarray, ...]:
        """Results of a bucket: what `Kept.put` takes where the device chose, else `Kept.take`."""
        device, plan = self.device, self.plan
        poses = (len(running.batch), plan.num_poses)
        by_pose = (*poses, 4)
        shapes: list[tuple[tuple[int, ...], Any]] = [
            (by_pose, np.int32),
            (by_pose, np.float32),
            (by_pose, np.float32),
            ((len(running.batch.torsions) * plan.num_poses,), np.uint8),
        ]
        if self._keeps:
            shapes.insert(0, (poses, np.int32))
        self.kernel_seconds += sum(map(buffers.seconds, running.events))
        return tuple(
            buffers.download(device, buffer, *shape, running.events[-1])
            for buffer, shape in zip(running.results, shapes, strict=True)
        )


def _room(reserve: buffers.Reserve, batch: DockBatch, poses: int) -> tuple[Any, ...]:
    """Buffers for so many poses a ligand: results, quaternions, shifts, turns."""
    count = len(batch) * poses
    return (
        reserve.empty(count * 4, np.int32),
        reserve.empty(count * 4, np.float32),
        reserve.empty(count * 4, np.float32),
        reserve.empty(len(batch.torsions) * poses, np.uint8),
    )


def _halved(buckets: list[Bucket], error: Exception) -> list[Bucket]:
    """Each bucket as two of half the size, or as it is where it holds one ligand."""
    largest = max(len(bucket.members) for bucket in buckets)
    log.warning("%s; trying again with %d ligands at a time", error, -(-largest // 2))
    return [
        bucket._replace(members=part)
        for bucket in buckets
        for part in np.array_split(bucket.members, 2)
        if len(part)
    ]
