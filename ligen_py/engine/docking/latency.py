"""Dock ligands one by one, each over the whole device, several at a time on queues of their own.

The form for few ligands (kernels/latency/dock.cl); `engine/docking/batched.py` has the one for
many. A ligand costs the host seven calls: one upload, five launches, one download.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ligen_py.engine.constants import ATOM_CLASSES
from ligen_py.engine.docking.batched import Job
from ligen_py.engine.docking.field_on_device import FieldOnDevice
from ligen_py.engine.docking.search import DockBatch, Docking, Found, Kept, Plan, pack
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import Program
from ligen_py.opencl.stream import Launch, Stream
from ligen_py.opencl.tuning import Tuning, build_tuned, tuned
from ligen_py.records.ligands import Ligands
from ligen_py.records.limits import MAX_TORSIONS

log = logging.getLogger("ligen_py")

KERNELS = "latency/dock.cl"

QUEUES = {"gpu": 16, "accelerator": 16}
"""Ligands in flight by kind of device, `FEW_QUEUES` elsewhere."""

FEW_QUEUES = 2
MEMORY = 1 << 30
"""Bytes on the device that all queues together may hold; fewer queues where they need more."""

WINDOW = 128
"""Ligands that are packed at once."""

HEADER = 8
"""Words before a ligand's coordinates (HEADER in dock.cl)."""

MOST_WORDS = HEADER + 4 * ATOM_CLASSES[-1] + 6 * MAX_TORSIONS + ATOM_CLASSES[-1] ** 2 // 32
"""Words of the largest ligand."""

POSE_BYTES = 48
"""Of a pose in the block that goes to the host, without its torsions (`poses_t` in dock.cl)."""


def joined(batch: DockBatch) -> tuple[np.ndarray, np.ndarray]:
    """Each ligand of a batch as one run of words (uint32), and the offsets of the runs.

    A run is what `problem_of` in dock.cl reads: atoms, torsions, words of a row of pairs, padding
    to HEADER; conformer, torsions, inverse lengths, order, pairs.
    """
    table = batch.ligands
    header = np.zeros((len(table), HEADER), np.uint32)
    for column, name in enumerate(("atoms", "torsions", "words")):
        header[:, column] = table[name]
    atoms, torsions = table["atoms"].astype(np.int64), table["torsions"].astype(np.int64)
    pairs = atoms * table["words"]
    sections = (
        (header, np.full(len(table), HEADER)),
        (batch.conformers, 4 * atoms),
        (batch.torsions, 4 * torsions),
        (batch.inverse_lengths, torsions),
        (batch.orders, torsions),
        (batch.pairs, pairs),
    )
    lengths = np.stack([counts for _, counts in sections], axis=1)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    words = np.empty(starts[-1], np.uint32)
    for column, (array, counts) in enumerate(sections):
        first = np.cumsum(counts) - counts
        shift = starts[:-1].reshape(lengths.shape)[:, column] - first
        values = np.ascontiguousarray(array).reshape(-1).view(np.uint32)
        words[np.arange(len(values)) + np.repeat(shift, counts)] = values
    return words, starts[:: len(sections)]


@dataclass
class Slot:
    """One ligand in flight: its queue, its working memory, and which of `rows` it is."""

    stream: Stream
    places: Any
    sums: Any
    clean: Any
    launches: dict[int, dict[str, Launch]] = field(default_factory=dict)
    member: int | None = None


class LatencyDocker(Docking):
    """One pocket's search on one device, a ligand at a time; results as those of `Docker`.

    `launches` says how `optimize` runs: once a ligand, or, as in the LiGen paper, as `optimize_1`
    and `optimize_2` a fragment (for comparison; no result differs).
    """

    def __init__(
        self,
        device: Device,
        plan: Plan,
        launches: Literal["ligand", "fragment"] = "ligand",
        tuning: Tuning | None = None,
    ) -> None:
        """Upload the tables of a plan; queues and their buffers come when ligands need them.

        `tuning` stands for the device's own of every atom class.
        """
        self.device, self.plan, self.launches = device, plan, launches
        self._tuning = tuning and tuning.on(device)
        self._field = FieldOnDevice(device, plan.field)
        self._angles = buffers.upload(device, plan.angles)
        self._starts = tuple(buffers.upload(device, array) for array in plan.starts)
        self._slots: list[Slot] = []
        self._most = 0
        """Ligands in flight that there was memory for; 0: it has not failed yet."""

    def _queues(self) -> int:
        """Most ligands in flight."""
        restart_bytes = 16 * ATOM_CLASSES[-1] + POSE_BYTES + MAX_TORSIONS
        most = MEMORY // (restart_bytes * self.plan.num_restart)
        wanted = self._tuned().queues or QUEUES.get(self.device.kind, FEW_QUEUES)
        return max(1, min(wanted, most, self._most or most))

    def _tuned(self, atom_class: int | None = None) -> Tuning:
        return self._tuning or tuned(self.device, KERNELS, atom_class)

    def _slot(self) -> Slot:
        device, restarts = self.device, self.plan.num_restart
        stream = Stream(device, 4 * MOST_WORDS, restarts * (POSE_BYTES + MAX_TORSIONS))
        by_fragment = restarts if self.launches == "fragment" else 0
        return Slot(
            stream,
            places=buffers.empty(device, restarts * ATOM_CLASSES[-1] * 4, np.float32),
            sums=buffers.empty(device, by_fragment * self.plan.settings.n_angles, np.int32),
            clean=buffers.empty(device, by_fragment, np.int32),
        )

    def search(
        self,
        ligands: Ligands,
        rows: np.ndarray,
        count_docked: Callable[[int], object] = lambda _: None,
    ) -> Found:
        """What `dock` makes poses of: see `Plan.poses`."""
        count = self.plan.num_restart
        torsions = np.diff(ligands.first_torsion)[rows]
        found = Kept(self.plan, torsions)
        for slot in self._run(ligands, rows):
            block, poses = slot.stream.output, count * POSE_BYTES
            floats = block[:poses].view(np.float32).reshape(3, 1, count, 4)
            turns = block[poses : poses + count * int(torsions[slot.member])]
            results, member = floats[0].view(np.int32), np.array([slot.member])
            found.take(member, results, floats[1], floats[2], turns)
            count_docked(1)
        return found.arrays

    def searches(
        self, jobs: Iterable[Job], count_docked: Callable[[int], object] = lambda _: None
    ) -> Iterator[Found]:
        """`search` for one job after another; `count_docked` gets each number docked."""
        return (self.search(*job, count_docked) for job in jobs)

    def time(self, ligands: Ligands, rows: np.ndarray) -> None:
        """Dock ligands (rows may repeat) and leave the poses where they are."""
        for _ in self._run(ligands, rows):
            pass

    def _run(self, ligands: Ligands, rows: np.ndarray) -> Iterator[Slot]:
        """Dock ligands; each slot comes when `output` of its stream holds its member's poses.

        Where the device has no memory for those in flight, they are tried again, half as many.
        """
        first = 0
        while first < len(rows):
            try:
                for slot in self._in_flight(ligands, rows, first):
                    yield slot
                    first += 1
            except buffers.OutOfMemoryError as error:
                slots, self._slots = self._slots, []
                if len(slots) < 2:
                    raise
                for slot in slots:
                    slot.stream.finish()
                self._most = len(slots) // 2
                log.warning("%s; trying again with %d ligands at a time", error, self._most)

    def _in_flight(self, ligands: Ligands, rows: np.ndarray, begin: int) -> Iterator[Slot]:
        """Dock ligands from row number `begin` on; slots come in the order of their members."""
        while len(self._slots) < min(len(rows) - begin, self._queues()):
            try:
                self._slots.append(self._slot())
            except buffers.OutOfMemoryError:
                if not self._slots:
                    raise
                break  # fewer ligands in flight
        for start in range(begin, len(rows), WINDOW):
            batch = pack(ligands, rows[start : start + WINDOW], self.plan)
            words, first = joined(batch)
            torsions = batch.ligands["torsions"].tolist()
            classes = np.searchsorted(ATOM_CLASSES, batch.ligands["atoms"]).tolist()
            for number, atom_class in enumerate(classes):
                slot = self._slots[(start + number - begin) % len(self._slots)]
                if slot.member is not None:
                    slot.stream.wait()
                    yield slot
                slot.member = start + number
                data = words[first[number] : first[number + 1]]
                size = self.plan.num_restart * (POSE_BYTES + torsions[number])
                slot.stream.submit(data, self._sequence(slot, atom_class, torsions[number]), size)
        busy = [slot for slot in self._slots if slot.member is not None]
        for slot in sorted(busy, key=lambda slot: slot.member or 0):
            slot.stream.wait()
            yield slot
            slot.member = None

    def _sequence(self, slot: Slot, atom_class: int, torsions: int) -> Iterator[Launch]:
        """All launches of one ligand, in order."""
        if atom_class not in slot.launches:
            slot.launches[atom_class] = self._launches(slot, ATOM_CLASSES[atom_class])
        launches = slot.launches[atom_class]
        yield launches["initialize_pose"]
        yield launches["align"]
        if self.launches == "ligand":
            yield launches["optimize"]
        else:
            for step in range(self.plan.settings.num_iterations * 2 * torsions):
                for name in ("optimize_1", "optimize_2"):
                    launches[name].change(0, np.int32(step))
                    yield launches[name]
        yield launches["evaluate"]
        yield launches["score"]

    def program(self, atom_class: int) -> Program:
        """The kernels of an atom class."""
        plan, tuning = self.plan, self._tuned(atom_class)
        definitions = {
            "MAX_ATOMS": atom_class,
            "MAX_TORSIONS": MAX_TORSIONS,
            "N_ANGLES": plan.settings.n_angles,
            "GRID_SIDE": plan.side,
            "BUMP_TESTS": min(plan.settings.bump_tests, plan.settings.n_angles),
            "TEAM": tuning.sub_groups,
            "BY_FRAGMENT": int(self.launches == "fragment"),
            **tuning.definitions(),
        }
        steps = {"ligand": ["optimize"], "fragment": ["optimize_1", "optimize_2"]}[self.launches]
        names = ["align", *steps]
        return build_tuned(self.device, KERNELS, atom_class, tuning, definitions, names)

    def _launches(self, slot: Slot, max_atoms: int) -> dict[str, Launch]:
        """The kernels of an atom class, bound to the buffers of a slot."""
        plan, tuning, program = self.plan, self._tuned(max_atoms), self.program(max_atoms)
        team = tuning.sub_groups
        restarts = np.int32(plan.num_restart)
        box = np.array([*plan.box, 0], np.int32)
        step = np.int32(0)
        angles, values = self._angles, self._field.stored(tuning.look_up)
        words, block, places = slot.stream.input, slot.stream.result, slot.places
        arguments: dict[str, tuple[int, tuple[Any, ...]]] = {
            "initialize_pose": (1, (restarts, angles, *self._starts, words, places, block)),
            "align": (team, (restarts, plan.steps, values, angles, words, places, block)),
            "evaluate": (1, (restarts, angles, words, places, block)),
            "score": (1, (restarts, box, values, words, places, block)),
        }
        if self.launches == "ligand":
            iterations = np.int32(plan.settings.num_iterations)
            given = (restarts, iterations, values, angles, words, places, block)
            arguments["optimize"] = (team, given)
        else:
            sums, clean = slot.sums, slot.clean
            first = (step, values, angles, words, places, sums)
            second = (step, restarts, angles, words, sums, clean, places, block)
            arguments |= {"optimize_1": (team, first), "optimize_2": (team, second)}
        return {
            name: Launch(
                program,
                name,
                plan.num_restart * sub_groups * tuning.lanes,
                sub_groups * tuning.lanes,
                given,
            )
            for name, (sub_groups, given) in arguments.items()
        }
