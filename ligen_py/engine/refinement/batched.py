"""Refine poses on a device: chains of descents in a field (kernels/batched/refine.cl), in heats.

The device chooses the poses that go on to the next heat (kernels/batched/heats.cl), so that all
heats of all ligands are launched at once.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

from ligen_py.engine.batches import by_batches, spans
from ligen_py.engine.constants import ATOM_CLASSES, LOCAL_BYTES
from ligen_py.engine.filtering.batched import BATCH_BYTES, PLACE_BYTES, Call
from ligen_py.engine.geometry import in_blocks
from ligen_py.engine.pose_arrays import joined_slices, ranges
from ligen_py.engine.refinement.apart import Kept, apart, joined
from ligen_py.engine.refinement.chemical_field import ChemicalField, field_over
from ligen_py.engine.refinement.choice import Choice
from ligen_py.engine.refinement.found import Found, in_order, lowered
from ligen_py.engine.refinement.given import as_docked, kept_of
from ligen_py.engine.refinement.ligand_keys import FREEDOM_CLASSES, RIGID
from ligen_py.engine.refinement.maps import Grid, cells_of, field_macros
from ligen_py.engine.refinement.packing import (
    BATCH_COLUMNS,
    EMPTY,
    STRUCTS,
    RefineBatch,
    heats_of,
    limits_of,
    most_rows,
    pack,
    rivals_of,
    scratch_reals,
)
from ligen_py.errors import DeviceError
from ligen_py.opencl import buffers
from ligen_py.opencl.device import VECTORS, Device
from ligen_py.opencl.program import Program, build
from ligen_py.opencl.tuning import tuned
from ligen_py.pace import Pace
from ligen_py.records.kept import Chosen, Verdict, Verdicts
from ligen_py.records.ligands import Ligands
from ligen_py.records.limits import MAX_ATOMS
from ligen_py.records.pocket import GeometricField
from ligen_py.records.poses import Poses
from ligen_py.records.refined import Refinement
from ligen_py.records.typed import Typed
from ligen_py.settings.refine import RefineSettings

log = logging.getLogger("ligen_py")

BATCH_LIGANDS = 8192

BY_SUB_GROUPS, BY_LANES = "batched/refine.cl", "batched/refine_lanes.cl"
"""Two forms of the same search: a sub-group has a pose, or each of its lanes has one."""

HEATS = "batched/heats.cl"

FASTEST = {"cpu": BY_LANES}
"""By kind of device (docs/notes/performance.md); `BY_SUB_GROUPS` where nothing was measured."""

LIGANDS_PER_UNIT = {"gpu": 64}
"""Ligands of a batch, at most, for each compute unit of a kind of device: a GPU that also draws a
screen ends launches that last seconds. An H200 has 132 units."""

GROUPS_PER_UNIT = 8
"""Work-groups of a launch, for each of a device's compute units, that keep it busy to the end."""

GROUPS_TO_FILL = 64
"""The same of the form with a sub-group for each pose."""

MOST_TURNS = 8
"""Poses that a lane, or a sub-group, takes one after another."""

WARP = 32
"""Lanes of an NVIDIA GPU that go together."""

FEW_LANES = ((8, 24, 16), (16, 96, 40))
"""Lanes of a pose there, and for how many atoms and degrees of freedom; `WARP` for more."""

FEW_POSES = 4
"""A ligand that enters with fewer has `WARP` lanes for each, since fewer would wait for poses."""

QUEUES = {"gpu": 8}
"""Batches that a device computes side by side where no tuned setting says otherwise, by kind; else
1. Small ones do not fill it."""

SUB_GROUP_CLASSES = (24, 32, 48, *ATOM_CLASSES[1:])
"""Atoms that the form with a sub-group for each pose is compiled for."""

GROUP = 64
"""Work-items of a work-group that tabulates pairs."""


class Classes(NamedTuple):
    """What a kernel is compiled for: most atoms and degrees of freedom, lanes of a pose."""

    atoms: int
    freedoms: int
    lanes: int


Batch = tuple[np.ndarray, Classes]
"""Ligands of one class."""


class Refined(NamedTuple):
    """Poses in the order in which they were given, each with its lowest energy found."""

    poses: Poses
    before: np.ndarray
    after: np.ndarray
    """Energies (poses,), kcal/mol."""
    gradients: np.ndarray
    """Of a chain without rounds: by every degree of freedom (poses, freedoms). Else (poses, 0)."""


class Refiner:
    """One pocket's field on one device.

    `kernel_seconds` adds up the time in which the device ran any kernel of a refinement,
    `evaluations` the energies with gradients that it computed.
    """

    def __init__(self, device: Device, field: ChemicalField, source: str | None = None) -> None:
        """Upload the field's tables. `source`: the form, instead of the device's own."""
        self.device, self.field = device, field
        is_small = int(device.handle.local_mem_size) < LOCAL_BYTES
        usual = BY_LANES if is_small else FASTEST.get(device.kind, BY_SUB_GROUPS)
        self._source = source or usual
        units = int(device.handle.max_compute_units)
        self._most = LIGANDS_PER_UNIT.get(device.kind, BATCH_LIGANDS) * units
        self._tables = tuple(buffers.upload(device, table) for table in field.tables)
        self._cells: Any = None
        self.kernel_seconds = 0.0
        self.evaluations = 0

    def refine(
        self, ligands: Ligands, poses: Poses, settings: RefineSettings, kinds: np.ndarray
    ) -> Refined:
        """Refine every pose; the result has the same poses, each with its lowest energy found.

        `ligands` as the field sees them; `kinds` (atoms,): see `keys_of`.
        """
        found = self._found(ligands, poses, settings, kinds, choose=False)
        before, after = found.energies.T.copy()
        return Refined(lowered(poses, found), before, after, found.gradients)

    def keep(
        self, ligands: Ligands, poses: Poses, settings: RefineSettings, kinds: np.ndarray
    ) -> Kept:
        """Refine every pose, and keep the best of each ligand, lowest energy first.

        No two of a ligand are within `settings.cluster_rmsd`, so that of poses that fell into one
        minimum only the best stays (twin: `keep_best` in reference.py). Arguments as of `refine`.
        """
        found = self._found(ligands, poses, settings, kinds, choose=True)
        before, after = found.energies.T.copy()
        leads = np.full(len(found.cluster), Verdict.REPRESENTATIVE, np.uint8)
        words = Verdicts(leads, found.cluster)
        return lowered(poses, found), words, Refinement(before, after)

    def _found(
        self,
        ligands: Ligands,
        poses: Poses,
        settings: RefineSettings,
        kinds: np.ndarray,
        *,
        choose: bool,
    ) -> Found:
        """Refine every pose; those of each ligand in turn, with `choose` the kept ones alone."""
        every: list[Found] = []
        posed = int(np.count_nonzero(np.diff(poses.first_pose)))
        rivals = rivals_of(ligands, settings)
        pace = Pace(f"ligands refined (rounds: {settings.rounds})", posed)

        def run(some: Sequence[Batch]) -> None:
            """Refine the poses of some batches side by side."""
            ready = [
                self._prepared(ligands, *batch, rivals, poses, settings, kinds, choose=choose)
                for batch in some
            ]
            every.extend(self._run(ready))

        for together in self._together(self._batches(ligands, rivals, poses), poses):
            for done in self._in_memory(run, together, rivals):
                pace.add(done)
        width = 0 if choose or settings.rounds else FREEDOM_CLASSES[-1]
        return in_order(every, np.diff(ligands.first_torsion), width)

    def _together(self, batches: Iterator[Batch], poses: Poses) -> Iterator[list[Batch]]:
        """Batches that are launched together: on a GPU as many as its memory holds, else one."""
        some: list[Batch] = []
        room = limit = buffers.budget(self.device) if self.device.kind in QUEUES else 0
        for rows, classes in batches:
            size = _bytes(len(rows), int(np.diff(poses.first_pose)[rows].sum()), classes)
            if some and size > room:
                yield some
                some, room = [], limit
            some.append((rows, classes))
            room -= size
        if some:
            yield some

    def _in_memory(
        self, run: Callable[[Sequence[Batch]], None], some: Sequence[Batch], rivals: np.ndarray
    ) -> Iterator[int]:
        """Run batches side by side, or without the memory for it one by one; ligands done."""
        if len(some) > 1:
            try:
                run(some)
            except buffers.OutOfMemoryError as error:
                log.warning("%s; trying again with one batch at a time", error)
            else:
                yield sum(len(rows) for rows, _ in some)
                return
        for rows, classes in some:

            def alone(part: np.ndarray, batch: Batch = (rows, classes)) -> int:
                """Refine the poses of a part of the batch; ligands done."""
                rows, classes = batch
                some = rows[np.isin(rivals[rows], part)]
                run([(some, classes)])
                return len(some)

            for _, done in by_batches(self.device, alone, np.unique(rivals[rows])):
                yield done

    def _batches(self, ligands: Ligands, rivals: np.ndarray, poses: Poses) -> Iterator[Batch]:
        """Ligands with poses, of one class at a time; those with the longest chains first.

        `rivals`, see `rivals_of`, of one class are in one batch.
        """
        counts = np.diff(poses.first_pose)
        freedoms = RIGID + np.diff(ligands.first_torsion)
        most = np.zeros_like(counts)
        np.maximum.at(most, rivals, counts)  # rivals stay in one batch
        by_lanes = self._source == BY_LANES
        classes = ATOM_CLASSES if by_lanes else SUB_GROUP_CLASSES
        sizes = np.searchsorted(classes, self.field.sizes(ligands))
        widths = np.searchsorted(FREEDOM_CLASSES, freedoms)
        for width, freedom in reversed(list(enumerate(FREEDOM_CLASSES))):
            for size, atoms in reversed(list(enumerate(classes))):
                here = (counts > 0) & (sizes == size) & (widths == width)
                lanes = np.zeros(len(counts), np.int64)
                if not by_lanes:
                    few = lanes_of(self.device, atoms, freedom, few=True)
                    many = lanes_of(self.device, atoms, freedom, few=False)
                    lanes = np.where(most[rivals] < FEW_POSES, few, many)
                for number in np.unique(lanes[here]):
                    rows = np.flatnonzero(here & (lanes == number))
                    _, first, counted = np.unique(
                        rivals[rows], return_index=True, return_counts=True
                    )
                    limits = np.append(first, len(rows))
                    for start, end in spans(counted, min(BATCH_LIGANDS, self._most)):
                        some = rows[limits[start] : limits[end]]
                        yield some, Classes(atoms, freedom, int(number))

    def _prepared(
        self,
        ligands: Ligands,
        rows: np.ndarray,
        classes: Classes,
        rivals: np.ndarray,
        poses: Poses,
        settings: RefineSettings,
        kinds: np.ndarray,
        *,
        choose: bool,
    ) -> "Launch":
        """All buffers of a batch: making a large one waits for kernels that run."""
        device = self.device
        _, own_rivals = np.unique(rivals[rows], return_inverse=True)
        heats, together = heats_of(np.diff(poses.first_pose)[rows], own_rivals, settings)
        batch = pack(ligands, rows, self.field, settings, kinds, len(heats))
        chosen = ranges(poses.first_pose[rows], heats[0])
        lengths = np.diff(poses.first_torsion)[chosen]
        slices = poses.first_pose[rows], poses.first_pose[rows + 1]
        degrees = joined_slices(poses.torsion, *(poses.first_torsion[ends] for ends in slices))
        count, width = len(chosen), 0 if settings.rounds else classes.freedoms
        results = (
            buffers.exchange(device, joined_slices(poses.quaternion, *slices)),
            buffers.exchange(device, joined_slices(poses.translation, *slices)),
            buffers.exchange(device, in_blocks(np.deg2rad, degrees)),
            buffers.empty(device, count * width, np.float32),
            buffers.empty(device, count * 2, np.float32),
            buffers.exchange(device, np.zeros(count, np.int32)),
        )
        refined = (*results[:3], results[4])
        of_heats = [buffers.upload(device, rows_of_heat) for rows_of_heat in batch.heats]
        tables = {name: buffers.upload(device, getattr(batch, name)) for name in BATCH_COLUMNS}
        tables["ligands"] = of_heats[0]
        share_out = self._by_lanes if self._source == BY_LANES else self._by_sub_groups
        work = share_out(batch, tables, heats, classes)
        given = (
            np.int32(settings.evaluations),
            np.float32(settings.temperature),
            np.float32(settings.amplitude),
            self.field.maps.grid.row(),
            buffers.upload(device, joined_slices(poses.restart, *slices)),
            buffers.upload(device, (np.cumsum(lengths) - lengths).astype(np.int32)),
            *results,
        )
        calls, places = list(work.before), buffers.upload(device, np.arange(count, dtype=np.int32))
        for heat, items in enumerate(work.items):
            if heat:
                limits = limits_of(own_rivals, heats[heat - 1], together[heat])
                choice, places = self._choice(*limits, places, refined[-1])
                calls.append(choice)
            in_heat = of_heats[heat], buffers.upload(device, items), places
            size = (len(items) * work.local,), (work.local,)
            calls.append((work.program, work.kernel, *size, (*in_heat, *given, *work.own)))
        kept = Choice.of(device, ligands, rows, heats[0], refined, settings) if choose else None
        calls += kept.calls if kept else ()
        return Launch(tuple(calls), results, rows, heats[0], lengths, width, kept)

    def _choice(
        self, ligands: np.ndarray, rivals: np.ndarray, places: Any, energies: Any
    ) -> tuple["Call", Any]:
        """Which poses go on to the next heat, and its places. See `limits_of`."""
        device = self.device
        width = -(-int(ligands[:, 1].max()) // GROUP) * GROUP
        more = buffers.exchange(device, np.full(ligands[:, 3].sum(), EMPTY, np.int32))
        size = (width, len(ligands)), (GROUP, 1)
        limits = buffers.upload(device, ligands), buffers.upload(device, rivals)
        arguments = *limits, places, energies, more
        return (build(device, HEATS), "keep_lowest", *size, arguments), more

    def _run(self, ready: Sequence["Launch"]) -> list[Found]:
        """Launch batches side by side; the poses of each."""
        device = self.device
        wanted = tuned(device, self._source).queues
        queues = device.queues(min(len(ready), wanted or QUEUES.get(device.kind, 1)))
        try:
            with buffers.memory_named(device):
                events = [
                    launch.start(queue) for launch, queue in zip(ready, cycle(queues), strict=False)
                ]
                for queue in queues:
                    queue.flush()
            buffers.wait_in_turn([event for done in events for event in done])
            ends = [(launch, done[-1]) for launch, done in zip(ready, events, strict=True)]
            found = [launch.download(device, after) for launch, after in ends]
            evaluations = [launch.evaluations(device, after) for launch, after in ends]
        except DeviceError:
            device.finish()  # what is tried again must not wait for memory of these
            raise
        self.evaluations += sum(evaluations)
        self.kernel_seconds += buffers.busy([event for done in events for event in done])
        return found

    def _by_sub_groups(
        self,
        batch: RefineBatch,
        tables: Mapping[str, Any],
        heats: Sequence[np.ndarray],
        classes: Classes,
    ) -> "Work":
        """A sub-group has a pose. `heats`: see `heats_of`."""
        device, ligands = self.device, batch.heats[0]
        lanes = classes.lanes
        together = WARP // lanes if device.back_end == "ptx" else 1
        most = {"MAX_ATOMS": classes.atoms, "MAX_FREEDOMS": classes.freedoms}
        program = self._program(classes, {"SG_SIZE": lanes, **most})
        spots = -(-classes.atoms // lanes) * lanes
        rows = most_rows(ligands["atoms"])
        steps = buffers.empty(device, int(rows.sum()), np.int32)
        found = buffers.empty(device, len(ligands), np.int32)
        terms = buffers.empty(device, 4 * spots * int(rows.sum()), np.float32)
        sizes = np.int32(len(ligands)), tables["ligands"], tables["pairs"], steps, found
        whole = -(-len(ligands) // GROUP) * GROUP
        calls: list[Call] = [(program, "find_rows", (whole,), (GROUP,), sizes)]
        if rows.any():
            every = (spots, int(rows.max()), len(ligands))
            atoms = tables["conformers"], tables["kinds"]
            made = (*self._tables, tables["ligands"], *atoms, tables["pairs"], steps, found, terms)
            calls.append((program, "find_terms", every, (spots, 1, 1), made))
        ours = (tables[name] for name in BATCH_COLUMNS if name != "pairs")
        return Work(
            program,
            "refine",
            lanes * together,
            all_items(device, batch, heats, together, GROUPS_TO_FILL),
            (self._cells_on(program), *self._tables, *ours, steps, found, terms),
            tuple(calls),
        )

    def _by_lanes(
        self,
        batch: RefineBatch,
        tables: Mapping[str, Any],
        heats: Sequence[np.ndarray],
        classes: Classes,
    ) -> "Work":
        """A lane has a pose, a work-group poses of one ligand. Arguments as above."""
        device = self.device
        vector = VECTORS.get(device.kind, 1)
        lanes = device.sub_group_size if vector == 1 else 1
        items = all_items(device, batch, heats, lanes * vector, GROUPS_PER_UNIT)
        reals, groups = scratch_reals(batch.heats[0]), max(len(some) for some in items)
        scratch = buffers.empty(device, groups * reals * lanes * vector, np.float32)
        # One program for ligands of every size, since only the scratch memory depends on it.
        macros = {"MAX_ATOMS": MAX_ATOMS, "POSES": vector, "LANES": lanes}
        ours = (tables[name] for name in BATCH_COLUMNS)
        own = np.int32(classes.freedoms), np.int32(reals), scratch
        return Work(
            self._program(classes, macros),
            "refine_lanes",
            lanes,
            items,
            (self.field.maps.buffer, *self._tables, *ours, *own),
        )

    def _program(self, classes: Classes, macros: Mapping[str, object]) -> Program:
        """The kernels of the form."""
        registers = tuned(self.device, self._source, classes.atoms).registers
        every = {**field_macros(self.field), **macros}
        return build(self.device, self._source, every, registers, STRUCTS)

    def _cells_on(self, program: Program) -> Any:
        """The field's maps as the form with a sub-group for each pose reads them."""
        if self._cells is None:
            self._cells = cells_of(self.device, self.field.maps, program)
        return self._cells


@dataclass(frozen=True)
class Work:
    """How one of the two forms shares out the poses of a batch, and what its kernel is given."""

    program: Program
    kernel: str
    local: int
    """Work-items of a work-group."""
    items: tuple[np.ndarray, ...]
    """Of each heat, see `items_of`."""
    own: tuple[Any, ...]
    """The kernel's last arguments, from the maps on, which are those of its form."""
    before: tuple[Call, ...] = ()
    """Kernels that make tables."""


@dataclass(frozen=True)
class Launch:
    """A batch on the device, ready to be launched, and where its results go."""

    calls: tuple[Call, ...]
    results: tuple[Any, ...]
    """Buffers of the poses: quaternions, translations, torsions, gradients, energies, evaluations.
    """
    ligands: np.ndarray
    """Their rows."""
    counts: np.ndarray
    """(ligands,): poses."""
    turns: np.ndarray
    """(poses,): torsions."""
    width: int
    """Numbers of a gradient."""
    choice: Choice | None

    def start(self, queue: Any) -> list[Any]:
        """Launch all kernels on a queue; their events."""
        return [
            program.kernel(name)(queue, size, local, *arguments)
            for program, name, size, local, arguments in self.calls
        ]

    def download(self, device: Device, after: Any) -> Found:
        """The poses that were chosen, or without a choice all; after an event."""
        if self.choice:
            return self.choice.download(device, after)
        poses = len(self.turns)
        turns = (int(self.turns.sum()),)
        shapes = (poses, 4), (poses, 3), turns, (poses, self.width), (poses, 2)
        quaternion, translation, radians, gradients, energies = (
            buffers.download(device, result, shape, np.float32, after)
            for result, shape in zip(self.results[:-1], shapes, strict=True)
        )
        return Found(
            np.repeat(self.ligands, self.counts),
            ranges(np.zeros_like(self.counts), self.counts),
            np.zeros(poses, np.int32),
            quaternion,
            translation,
            radians,
            energies,
            np.pad(gradients, ((0, 0), (0, FREEDOM_CLASSES[-1] - self.width if self.width else 0))),
        )

    def evaluations(self, device: Device, after: Any) -> int:
        """Energies with gradients that were computed for all poses, after an event."""
        each = buffers.download(device, self.results[-1], len(self.turns), np.int32, after)
        return int(each.sum(dtype=np.int64))


def lanes_of(device: Device, atoms: int, freedoms: int, *, few: bool) -> int:
    """Lanes of a pose for ligands of up to so many atoms and degrees of freedom, and few poses.

    Sums of other lanes have other last bits, so this is no tuned setting.
    """
    if device.back_end != "ptx":
        return device.sub_group_size
    for lanes, most_atoms, most_freedoms in FEW_LANES:
        if not few and atoms <= most_atoms and freedoms <= most_freedoms:
            return lanes
    return WARP


def _bytes(ligands: int, poses: int, classes: Classes) -> int:
    """About the memory that a batch takes on a device: terms of pairs, what a pose has, places."""
    pairs = classes.atoms * (classes.atoms + WARP) // 2
    places = min(BATCH_BYTES, PLACE_BYTES * classes.atoms * poses)
    return 16 * pairs * ligands + 4 * (26 + 4 * classes.freedoms) * poses + places


def items_of(
    device: Device, ligands: np.ndarray, counts: np.ndarray, wide: int, groups_per_unit: float
) -> np.ndarray:
    """Items of work-groups that have `wide` poses of one ligand at a time.

    `ligands`: rows of `LIGAND`, `counts` (ligands,) their poses. An item (int32, 4) is a ligand,
    its first place of the work-group, one past the last. The longest chains come first.

    Where there are more poses than keep the device busy, each of these is followed by others: a
    group ends with its longest, and the sums of several chains differ less than single chains.
    """
    enough = groups_per_unit * int(device.handle.max_compute_units)
    turns = int(np.clip((-(-counts // wide)).sum() // enough, 1, MOST_TURNS))
    shares = -(-counts // (wide * turns))
    ligand = np.repeat(np.arange(len(counts)), shares)
    share = np.arange(len(ligand)) - np.repeat(np.cumsum(shares) - shares, shares)
    before = (np.cumsum(counts) - counts)[ligand]
    limits = [before + np.minimum(counts[ligand], wide * turns * n) for n in (share, share + 1)]
    items = np.stack([ligand, *limits, np.zeros_like(ligand)], axis=1).astype(np.int32)
    return items[np.argsort(-ligands["rounds"][ligand], kind="stable")]


def all_items(
    device: Device,
    batch: RefineBatch,
    heats: Sequence[np.ndarray],
    wide: int,
    groups_per_unit: float,
) -> tuple[np.ndarray, ...]:
    """`items_of` each heat."""
    return tuple(
        items_of(device, ligands, counts, wide, groups_per_unit)
        for ligands, counts in zip(batch.heats, heats, strict=True)
    )


def refine_poses(
    device: Device,
    settings: RefineSettings,
    typed: Typed,
    box: GeometricField,
    poses: Poses,
    kept: Chosen,
    verdicts: Verdicts,
    kinds: np.ndarray,
) -> tuple[Poses, Verdicts, Refinement]:
    """All that the refine stage computes from a pocket and kept poses.

    Args:
        device: where to.
        settings: of the stage.
        typed: ligands and receptor as the field's function sees them.
        box: of the pocket, which the field's grid covers.
        poses: as they were docked.
        kept: which of them are refined.
        verdicts: of the filter on these; without rounds they and the poses stay as they are.
        kinds: u1 (atoms,), see `keys_of`.
    """
    grid = Grid.over(box, settings.spacing)
    ligands: Ligands = typed.ligands
    field = field_over(settings.field, device, typed.receptor, grid, ligands)
    refiner = Refiner(device, field)
    if not settings.rounds:
        given = kept_of(poses, kept)
        _, before, after, _ = refiner.refine(ligands, given, settings, kinds)
        return given, verdicts, Refinement(before, after)
    given = as_docked(poses, kept)  # their order does not matter
    return joined([refiner.keep(ligands, some, settings, kinds) for some in apart(given)])
