"""The genetic algorithm on a device: many runs of many ligands at once.

It has two forms. `sub_groups` (kernels/batched/lga.cl) is for GPUs: a sub-group works on one
individual. `lanes` (kernels/batched/lga_lanes.cl) is for processors: a lane does. Both search in
the same way and round differently, so a search ends in other poses.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal

import numpy as np

from ligen_py.engine.batches import LIGANDS_PER_CORE, by_batches, spans
from ligen_py.engine.constants import ATOM_CLASSES, LOCAL_BYTES
from ligen_py.engine.functions.ad4.constants import (
    COULOMB,
    WEIGHTS,
    definitions,
)
from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.genetic.effort import LOOKS
from ligen_py.engine.genetic.packing import COLUMNS, LIGAND, PAIR, TORSION, LgaBatch, pack
from ligen_py.engine.genetic.reference import STEEPEST, WALL
from ligen_py.engine.refinement.ligand_keys import FREEDOM_CLASSES, RIGID
from ligen_py.engine.refinement.maps import cells_of
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import Program, build
from ligen_py.opencl.stream import Launch
from ligen_py.records.functions.ad4 import Ad4Ligands
from ligen_py.settings.lga import LgaSettings

Form = Literal["lanes", "sub_groups"]
SOURCES: dict[Form, str] = {"lanes": "batched/lga_lanes.cl", "sub_groups": "batched/lga.cl"}
FASTEST: dict[str, Form] = {"gpu": "sub_groups"}
"""The form by the kind of device; else `lanes`."""
JUDGE = "batched/lga_judge.cl"

CLASSES = ((32, 32), (48, 32), (64, 32), (ATOM_CLASSES[-1], FREEDOM_CLASSES[-1]))
"""Atoms and degrees of freedom that the form `sub_groups` is compiled for."""

AHEAD = 4
"""Generations of a run that are under way or read by those, at most, in the form `sub_groups`: a
child waits for those alone that may be its parents, and not for the rest of their generation."""

RUN = np.dtype(
    [
        (name, np.int32)
        for name in ("ligand", "number", "best", "evaluations", "generations", "looks", "ended")
    ]
    + [("energy", np.float32), ("sums", np.int32, LOOKS), ("lowest", np.int32, LOOKS)]
    + [("next", np.int32, AHEAD), ("used", np.int32, AHEAD)]
)
"""One run: of which ligand, how far it is, what the automatic stop remembers; and of each
generation under way how many individuals are complete, and their evaluations."""

SETTINGS = np.dtype(
    [(name, np.int32) for name in ("population", "iterations", "generations")]
    + [
        (name, np.float32)
        for name in ("tournament", "crossover", "mutation", "searched", "stop_deviation")
    ]
)

STRUCTS = {"lga_ligand_t": LIGAND, "lga_run_t": RUN, "lga_pair_t": PAIR, "lga_settings_t": SETTINGS}

LANES_AT_ONCE = 5
"""Generations between two looks of the host at the runs in the form `lanes`, at most."""
WORK_AT_ONCE = 80_000_000
"""Pairs of atoms whose energy a compute unit adds up between two looks and in a launch, at most, in
that form: up to two seconds of a processor's core. Ctrl-C acts between launches alone."""
PAIRS_PER_ATOM = 12
"""Pairs that take as long as an atom in the maps and its motion."""
MOST_AT_ONCE = 80
"""Generations of a launch in the form `sub_groups`."""
INDIVIDUALS_AT_ONCE = 1_000_000
"""Individuals of such a launch, if it has several generations: a GPU that also draws a screen ends
launches that last seconds."""

SIDE_BY_SIDE = {"gpu"}
"""Kinds of device that search ligands of all classes at once: each class alone leaves a GPU idle
towards its end."""

GROUPS_PER_UNIT = 32
"""Work-groups for each compute unit in that form. Those that find no room come when others end."""

REGISTERS, MORE_REGISTERS = 128, 168
"""Of a lane on NVIDIA's GPUs. With fewer of them more sub-groups have room, and each is slower. The
second number is for searches whose individuals mostly wait for their parents, so that room is of
no use: a single ligand with the usual runs."""
FEW_INDIVIDUALS = 26
"""Individuals of a generation, for each compute unit, up to which a search is such a one."""

SUB_GROUPS_PER_UNIT = {"gpu": 32}
"""Sub-groups that keep a compute unit of a device busy."""
FEW = 4
"""The same on other devices."""


def form_of(device: Device) -> Form:
    """The form for a device. In `sub_groups` a work-group reads in a launch what others wrote.

    OpenCL 1.2, in which devices without its sub-groups or NVIDIA's are programmed, has no fence for
    that: AMD's waits for the own work-group alone.
    """
    is_small = int(device.handle.local_mem_size) < LOCAL_BYTES
    if device.back_end == "local" or is_small:
        return "lanes"
    return FASTEST.get(device.kind, "lanes")


@dataclass(frozen=True)
class Found:
    """The best individual of each run of some ligands, ligand after ligand, run after run."""

    translation: np.ndarray
    """(poses, 3), Angstrom."""
    quaternion: np.ndarray
    """(poses, 4): w, x, y, z."""
    torsion: np.ndarray
    """Radians, those of one pose after another, counted from the conformer."""
    energy: np.ndarray
    """(poses,), kcal/mol: in the receptor and within the ligand."""
    evaluations: np.ndarray
    """(poses,), of the run."""
    generations: np.ndarray
    """(poses,), of the run."""


Watch = Callable[[np.ndarray, np.ndarray], None]
"""Is shown the rows of a batch's ligands and the runs (`RUN`) after every generation."""


@dataclass(frozen=True)
class _Buffers:
    """What the kernels of one batch share."""

    tables: tuple[Any, ...]
    runs: Any
    populations: Sequence[Any]
    energies: Sequence[Any]
    champions: Any
    sizes: tuple[np.int64, np.int64]
    """Genes and individuals of a generation of all runs."""
    complete: Any
    """Of each individual in memory the generation of its children, once it is complete."""


@dataclass(frozen=True)
class _ByLanes:
    """The kernels of the form `lanes`: of each part of the runs those of even and odd generations.

    Each pair makes a generation and judges it.
    """

    parts: list[list[tuple[Launch, Launch]]]

    def enqueue(self, queue: Any, first: int, many: int) -> list[Any]:
        """Enqueue some generations from `first` on; their events.

        Of several parts no more than two are under way, so that Ctrl-C need not wait for all.
        """
        events: list[Any] = []
        for generation in range(first, first + many):
            for part in self.parts:
                events += [launch.enqueue(queue) for launch in part[generation % 2]]
                if len(self.parts) > 1:
                    buffers.wait_in_turn(events[-3:-2])
        return events


@dataclass
class _BySubGroups:
    """The kernel of the form `sub_groups`."""

    launch: Launch
    individuals: int
    groups: int
    tickets: int = 0
    """What the counter of tickets is: each group takes one that no individual has."""

    def enqueue(self, queue: Any, first: int, many: int) -> list[Any]:
        """Enqueue some generations from `first` on; their events."""
        self.launch.change(0, np.int32(first))
        self.launch.change(1, np.int32(many))
        self.launch.change(3, np.uint32(self.tickets))
        self.tickets = (self.tickets + self.individuals * many + self.groups) % 2**32
        return [self.launch.enqueue(queue)]


class Lga:
    """One pocket's field on one device.

    `kernel_seconds` adds up the time in which the device ran any kernel of a search.
    """

    def __init__(
        self,
        device: Device,
        field: Ad4Field,
        form: Form | None = None,
        lanes: int = 0,
        splits: int = 0,
        room: int | None = None,
    ) -> None:
        """Search in a field.

        Args:
            device: where to.
            field: of the receptor.
            form: of the search; None: the faster one on the device.
            lanes: of a sub-group; 0: the device's. In the form `lanes` it changes speed alone, as
                do the two others.
            splits: sub-groups that share a run in the form `lanes`; 0: as many as keep the device
                full.
            room: bytes of local memory for what the lanes of a sub-group work on in that form;
                where more is needed it lies in global memory. None: half the device's.
        """
        self.device, self.field = device, field
        self.form: Form = form or form_of(device)
        self.kernel_seconds = 0.0
        self._lanes = lanes or device.sub_group_size
        self._splits = splits
        self._room = int(device.handle.local_mem_size) // 2 if room is None else room
        self._cells: Any = None
        self._lock = Lock()
        self._events: list[Any] = []

    def search(
        self,
        ligands: Ad4Ligands,
        settings: LgaSettings,
        kinds: np.ndarray | None = None,
        watch: Watch | None = None,
        per_core: int = LIGANDS_PER_CORE,
    ) -> Iterator[tuple[np.ndarray, Found]]:
        """Search for the poses of all ligands: rows of a batch, and what was found of these.

        On a processor a batch has `per_core` ligands for each core, at most.

        With `watch` the runs are read after every generation, which takes time.
        """
        every = list(self._classes(ligands))

        def search_class(number: int, queue: Any) -> Iterator[tuple[np.ndarray, Found]]:
            """Search with the ligands of one class."""
            classes, members = every[number]

            def work(rows: np.ndarray) -> Found:
                """Search with some of them; their results in the order of `rows`."""
                lanes = self._lanes if self.form == "sub_groups" else 0
                batch = pack(ligands, rows, self.field, settings, kinds, lanes)
                return self._run(batch, rows, classes, settings, watch, queue)

            sizes = self._bytes(ligands, members, classes, settings)
            return by_batches(self.device, work, members, sizes, room, per_core)

        left = list(range(len(every)))
        beside = self.device.kind in SIDE_BY_SIDE and len(every) > 1 and watch is None
        room = buffers.budget(self.device) // (len(every) if beside else 1)
        try:
            if beside:
                queues = self.device.queues(len(every))
                with ThreadPoolExecutor(len(every)) as pool:
                    searches = [
                        pool.submit(lambda number: list(search_class(number, queues[number])), n)
                        for n in left
                    ]
                    left = []
                    for number, search in enumerate(searches):
                        try:
                            found = search.result()
                        except buffers.OutOfMemoryError:  # beside the others
                            left.append(number)
                        else:
                            yield from found
            for number in left:
                yield from search_class(number, self.device.queue)
        finally:
            self.kernel_seconds += buffers.busy(self._events)
            self._events.clear()

    def _bytes(
        self,
        ligands: Ad4Ligands,
        members: np.ndarray,
        classes: tuple[int, int],
        settings: LgaSettings,
    ) -> np.ndarray:
        """The memory that each of some ligands takes in a batch, at most: int64 (members,).

        Its populations, its tables, and what each of its runs has.
        """
        atoms = self.field.sizes(ligands)[members].astype(np.int64)
        torsions = np.diff(ligands.first_torsion)[members].astype(np.int64)
        tables = LIGAND.itemsize + 20 * atoms + 20 * torsions
        run = RUN.itemsize + 4 + 4 * (classes[1] + 1)
        if self.form == "lanes":
            individual = 2 * 4 * (TORSION + torsions + 1)
            tables += PAIR.itemsize * atoms**2 // 2
            run += self._slot_bytes(classes, settings)
        else:
            individual = AHEAD * 4 * (TORSION + torsions + 2)
            spots = -(-atoms // self._lanes) * self._lanes
            tables += 16 * spots * (atoms + 2)
        return settings.runs * (settings.population * individual + run) + tables

    def _classes(self, ligands: Ad4Ligands) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
        """Atoms and degrees of freedom that kernels are compiled for, and the ligands of each."""
        atoms, freedoms = self.field.sizes(ligands), RIGID + np.diff(ligands.first_torsion)
        classes: tuple[tuple[int, int], ...] = CLASSES
        if self.form == "lanes":
            classes = tuple((size, width) for size in ATOM_CLASSES for width in FREEDOM_CLASSES)
        left = np.ones(len(atoms), bool)
        for size, width in classes:
            here = left & (atoms <= size) & (freedoms <= width)
            left &= ~here
            if here.any():
                yield (size, width), np.flatnonzero(here)

    def _run(
        self,
        batch: LgaBatch,
        rows: np.ndarray,
        classes: tuple[int, int],
        settings: LgaSettings,
        watch: Watch | None,
        queue: Any,
    ) -> Found:
        device = self.device
        runs = np.zeros(len(batch.ligands) * settings.runs, RUN)
        runs["ligand"] = np.repeat(np.arange(len(batch.ligands)), settings.runs)
        runs["number"] = np.tile(np.arange(settings.runs), len(batch.ligands))
        torsions = batch.ligands["torsions"][runs["ligand"]]
        individuals = len(runs) * settings.population
        work = _work(batch.ligands, settings)[runs["ligand"]]
        genes = int((torsions.astype(np.int64) + TORSION).sum()) * settings.population
        length = classes[1] + 1
        # Generations: two arrays in turns, or one of all that are under way.
        by_lanes = self.form == "lanes"
        copies = (1, 1) if by_lanes else (AHEAD,)
        shared = _Buffers(
            tuple(buffers.upload(device, getattr(batch, name)) for name in COLUMNS),
            buffers.exchange(device, runs),
            [buffers.empty(device, genes * each, "f4") for each in copies],
            [buffers.empty(device, individuals * each, "f4") for each in copies],
            buffers.empty(device, len(runs) * length, "f4"),
            (np.int64(genes), np.int64(individuals)),
            buffers.empty(device, 0 if by_lanes else individuals * AHEAD, np.int32),
        )
        buffers.zero(device, shared.complete, queue)
        active = np.arange(len(runs), dtype=np.int32)
        launches, done = None, 0
        events: list[Any] = []
        looked: Any = None
        while done < settings.generations:
            if launches is None:
                launches = self._launches(shared, settings, classes, active, work[active])
            many = 1 if watch else self._at_once(work[active], settings)
            many = min(many, settings.generations - done)
            events += launches.enqueue(queue, done, many)
            done += many
            last = events[-1]
            if watch is not None or looked is not None:
                # Without a watch, what runs were at the look before: the device does not wait.
                after = last if watch is not None else looked
                buffers.wait_in_turn([after])  # here, so that copies of others need not wait
                runs = buffers.download(device, shared.runs, len(runs), RUN, after=after)
                left = active[runs["ended"][active] == 0]
                if len(left) < len(active):
                    active, launches = left, None
            if watch is not None:
                watch(rows, runs)
            if not len(active):
                break
            looked = last
        buffers.wait_in_turn(events[-1:])
        self._events += events
        runs = buffers.download(device, shared.runs, len(runs), RUN, after=events[-1])
        best = buffers.download(device, shared.champions, (len(runs), length), "f4", events[-1])
        return _found(best, runs, torsions)

    def _at_once(self, work: np.ndarray, settings: LgaSettings) -> int:
        """Generations between two looks at the runs, by the `work` of each in a generation."""
        if self.form == "lanes":
            return int(np.clip(self._most_work() // int(work.sum()), 1, LANES_AT_ONCE))
        individuals = len(work) * settings.population
        return int(np.clip(INDIVIDUALS_AT_ONCE // individuals, 1, MOST_AT_ONCE))

    def _most_work(self) -> int:
        """Pairs of atoms of a launch in the form `lanes`."""
        return WORK_AT_ONCE * int(self.device.handle.max_compute_units)

    def _launches(
        self,
        shared: _Buffers,
        settings: LgaSettings,
        classes: tuple[int, int],
        active: np.ndarray,
        work: np.ndarray,
    ) -> "_ByLanes | _BySubGroups":
        device, grid, lanes = self.device, self.field.maps.grid.row(), self._lanes
        values = _values(settings)
        program, more = self.program(classes, settings, int(shared.sizes[1]))
        if self.form == "sub_groups":
            individuals = len(active) * settings.population
            groups = min(individuals, GROUPS_PER_UNIT * int(device.handle.max_compute_units))
            zero, listed = np.int32(0), buffers.upload(device, active)
            tables = (*shared.tables, listed, shared.runs)
            launch = Launch(
                program, "generations", groups * lanes, lanes,
                (
                    zero, zero, np.int32(len(active)), np.uint32(0), values, grid,
                    self._maps(program), *tables, *shared.sizes, *shared.populations,
                    *shared.energies, shared.complete,
                    buffers.exchange(device, np.zeros(1, np.uint32)), shared.champions,
                ),
            )  # fmt: skip
            return _BySubGroups(launch, individuals, groups)
        parts = [active[first:last] for first, last in spans(work, self._most_work())]
        splits = [self._splits or self._splits_of(len(part), settings.population) for part in parts]
        most = max(len(part) * each for part, each in zip(parts, splits, strict=True))
        # Parts come one after another, and share these.
        slots = [buffers.empty(device, most * more // 4, "f4")] if more else []
        named = dict(zip(COLUMNS, shared.tables, strict=True))
        del named["inverse_lengths"]
        judge, launches = self._judge(classes), []
        for part, each in zip(parts, splits, strict=True):
            count, listed, pairs = len(part) * each, buffers.upload(device, part), []
            for new in (0, 1):
                old = 1 - new
                state = (
                    shared.populations[old], shared.energies[old],
                    shared.populations[new], shared.energies[new],
                )  # fmt: skip
                counts, tables = (np.int32(count), np.int32(each)), (*named.values(), listed)
                own = (*counts, values, grid, self.field.maps.buffer, *tables, shared.runs, *state)
                judged = values, shared.tables[0], listed, shared.runs, *state[2:], shared.champions
                pairs.append(
                    (
                        Launch(program, "generation", count * lanes, lanes, (*own, *slots)),
                        Launch(judge, "judge", len(part) * lanes, lanes, judged),
                    )
                )
            launches.append(pairs)
        return _ByLanes(launches)

    def program(
        self, classes: tuple[int, int], settings: LgaSettings, individuals: int
    ) -> tuple[Program, int]:
        """The kernels of a form, and bytes of a sub-group's slots where these are in global memory.

        Such slots are those of the form `lanes`. `individuals` are those of a generation, of all
        runs of a batch together; they decide about registers alone.
        """
        device, gradient = self.device, int(settings.local_search != "solis_wets")
        atoms, freedoms = classes
        bfgs = int(settings.local_search == "bfgs")
        few = individuals <= FEW_INDIVIDUALS * int(device.handle.max_compute_units)
        registers = MORE_REGISTERS if few else REGISTERS
        size = self._slot_bytes(classes, settings)
        macros: dict[str, object] = {
            **definitions(),
            "MAX_ATOMS": atoms, "MAX_FREEDOMS": freedoms, "GRADIENT": gradient,
            "BFGS": bfgs, "SG_SIZE": self._lanes, "WG_SUB_GROUPS": 1, "AHEAD": AHEAD,
            "WALL": f"{WALL!r}f", "STEEPEST": f"{STEEPEST!r}f",
        }  # fmt: skip
        if self.form == "sub_groups":
            macros |= {"MAX_GENES": freedoms + 1, "LOOKS": LOOKS}
            macros["AD4_CHARGE_SCALE"] = f"{float(np.sqrt(COULOMB * WEIGHTS['ESTAT']))!r}f"
        else:
            macros["KEEP_GLOBAL"] = int(size > 0)
            macros["STORE"] = "__global" if size else "__local"
        return build(device, SOURCES[self.form], macros, registers, STRUCTS), size

    def _slot_bytes(self, classes: tuple[int, int], settings: LgaSettings) -> int:
        """Global memory that a sub-group works on in the form `lanes`; 0: local is enough."""
        if self.form != "lanes":
            return 0
        atoms, freedoms = classes
        slots = (3 if settings.local_search == "solis_wets" else 6) * atoms
        slots += 2 * (freedoms + 1) + 3 * freedoms
        if settings.local_search == "bfgs":
            slots += 2 * freedoms + freedoms * (freedoms + 1) // 2
        size = slots * self._lanes * 4
        return size if size > self._room else 0

    def _judge(self, classes: tuple[int, int]) -> Program:
        macros = {
            "MAX_GENES": classes[1] + 1, "LOOKS": LOOKS, "AHEAD": AHEAD,
            "SG_SIZE": self._lanes, "WG_SUB_GROUPS": 1,
        }  # fmt: skip
        return build(self.device, JUDGE, macros, 0, STRUCTS)

    def _maps(self, program: Program) -> Any:
        """The maps as the form `sub_groups` reads them."""
        with self._lock:
            if self._cells is None:
                self._cells = cells_of(self.device, self.field.maps, program)
            return self._cells

    def _splits_of(self, runs: int, population: int) -> int:
        """Sub-groups that share a run, so that the device is full."""
        units = int(self.device.handle.max_compute_units)
        wanted = units * SUB_GROUPS_PER_UNIT.get(self.device.kind, FEW)
        return min(-(-wanted // runs), -(-population // self._lanes))


def _work(ligands: np.ndarray, settings: LgaSettings) -> np.ndarray:
    """Pairs of atoms whose energy a run of each ligand adds up in a generation, at most."""
    evaluations = settings.population * (1 + settings.iterations)
    pairs = ligands["pairs"].astype(np.int64) + PAIRS_PER_ATOM * ligands["atoms"]
    return evaluations * pairs


def _values(settings: LgaSettings) -> np.ndarray:
    """The settings as `lga_settings_t`."""
    row = np.zeros((), SETTINGS)
    for name in ("population", "iterations", "generations", "stop_deviation"):
        row[name] = getattr(settings, name)
    for name in ("tournament", "crossover", "mutation", "searched"):
        row[name] = getattr(settings, name) / 100
    return row


def _found(best: np.ndarray, runs: np.ndarray, torsions: np.ndarray) -> Found:
    turning = np.arange(best.shape[1] - TORSION) < torsions[:, None]
    return Found(
        best[:, :3].copy(),
        best[:, [6, 3, 4, 5]],
        best[:, TORSION:][turning],
        runs["energy"].copy(),
        runs["evaluations"].copy(),
        runs["generations"].copy(),
    )
