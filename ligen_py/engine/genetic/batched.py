"""The genetic algorithm on a device: many runs of many ligands at once (kernels/batched/lga.cl)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ligen_py.engine.batches import by_batches
from ligen_py.engine.constants import ATOM_CLASSES
from ligen_py.engine.functions.ad4.constants import (
    CHARGE_SOLVATION,
    COULOMB,
    WEIGHTS,
    definitions,
    pair_table,
    type_table,
)
from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.genetic.effort import most_evaluations
from ligen_py.engine.genetic.reference import LOOKS
from ligen_py.engine.geometry import inverse_bond_lengths
from ligen_py.engine.pose_arrays import kernel_torsions
from ligen_py.engine.refinement.chemical_field import Particles
from ligen_py.engine.refinement.ligand_keys import FREEDOM_CLASSES, RIGID, keys_of
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import Program, build
from ligen_py.records.functions.ad4 import Ad4Ligands
from ligen_py.settings.lga import LgaSettings

KERNELS = "batched/lga.cl"

TORSION = 7
"""Genes before the torsions: translation, quaternion."""

LIGAND = np.dtype(
    [("first_gene", np.int64)]
    + [
        (name, np.int32)
        for name in ("first_atom", "atoms", "first_torsion", "torsions", "first_pair", "pairs")
    ]
    + [("key", np.uint32), ("evaluations", np.uint32)]
)
"""One ligand of a batch: its rows, the key of its random numbers, what a run of it may take."""

RUN = np.dtype(
    [
        (name, np.int32)
        for name in (
            *("ligand", "number", "best", "next", "evaluations", "generations", "looks", "ended"),
        )
    ]
    + [("energy", np.float32), ("sums", np.int32, LOOKS), ("lowest", np.int32, LOOKS)]
)
"""One run: of which ligand, how far it is, and what the automatic stop remembers."""

PAIR = np.dtype(
    [("first", np.int32), ("second", np.int32)]
    + [
        (name, np.float32)
        for name in ("repulsion", "attraction", "distance", "power", "charges", "overlap")
    ]
)
"""Two atoms of a ligand and what their types and charges make of their energy."""

SETTINGS = np.dtype(
    [(name, np.int32) for name in ("population", "iterations", "generations", "stop_every")]
    + [
        (name, np.float32)
        for name in ("tournament", "crossover", "mutation", "searched", "stop_deviation")
    ]
)

STRUCTS = {"lga_ligand_t": LIGAND, "lga_run_t": RUN, "lga_pair_t": PAIR, "lga_settings_t": SETTINGS}

SUB_GROUPS_PER_UNIT = {"gpu": 32}
"""Sub-groups that keep a compute unit of a device busy."""
FEW = 4
"""The same on other devices."""

LOCAL_OF_GPU = 48 * 1024
"""Bytes of local memory that any GPU gives a work-group."""


@dataclass(frozen=True)
class LgaBatch:
    """Some ligands as the flat arrays that the kernels read, Angstrom."""

    ligands: np.ndarray
    conformers: np.ndarray
    kinds: np.ndarray
    torsions: np.ndarray
    inverse_lengths: np.ndarray
    pairs: np.ndarray


COLUMNS = ("ligands", "conformers", "kinds", "torsions", "inverse_lengths", "pairs")


def pack(
    ligands: Ad4Ligands,
    rows: np.ndarray,
    field: Ad4Field,
    settings: LgaSettings,
    kinds: np.ndarray | None = None,
) -> LgaBatch:
    """Flat arrays of the ligands `rows` in a field.

    `kinds` u1 (atoms,): a kind of each atom for `keys_of`; without, AutoDock4's types.
    """
    atoms = field.particles(ligands, rows)
    torsions = np.diff(ligands.first_torsion)[rows]
    pairs, counts = pairs_of(atoms)
    table = np.zeros(len(rows), LIGAND)
    for name, count in (("atom", atoms.counts), ("torsion", torsions), ("pair", counts)):
        table[f"first_{name}"], table[f"{name}s"] = np.cumsum(count) - count, count
    genes = settings.runs * settings.population * (TORSION + torsions.astype(np.int64))
    table["first_gene"] = np.cumsum(genes) - genes
    table["key"] = keys_of(ligands, rows, settings.seed, ligands.type if kinds is None else kinds)
    table["evaluations"] = [most_evaluations(settings, int(count)) for count in torsions]
    xyz = ligands.xyz[atoms.rows]
    limits = np.zeros((len(atoms.torsion_range), 4), np.int16)
    limits[:, :2] = atoms.torsion_range
    starts = np.repeat(table["first_atom"], torsions)[:, None]
    return LgaBatch(
        table,
        np.concatenate([xyz, atoms.values[:, None]], axis=1).astype(np.float32),
        (atoms.kinds >> 8).astype(np.int32),
        kernel_torsions(atoms.torsion_axis, limits),
        inverse_bond_lengths(xyz, atoms.torsion_axis + starts),
        pairs,
    )


def pairs_of(atoms: Particles) -> tuple[np.ndarray, np.ndarray]:
    """The interacting pairs of some ligands as rows of `PAIR`, and how many each ligand has."""
    first_atom = np.cumsum(atoms.counts) - atoms.counts
    words = (atoms.counts + 31) // 32
    first_word = np.cumsum(atoms.counts * words) - atoms.counts * words
    found, counts = [np.zeros((0, 2), np.int64)], []
    for count, width, word, start in zip(atoms.counts, words, first_word, first_atom, strict=True):
        mask = atoms.pairs[word : word + count * width].reshape(count, width)
        bits = np.unpackbits(mask.view("u1"), axis=1, bitorder="little")[:, :count]
        one, two = np.nonzero(np.triu(bits, 1))
        found.append(np.column_stack([one, two]) + start)
        counts.append(len(one))
    one, two = np.concatenate(found).T
    owner = np.repeat(first_atom, counts)
    types, charges = atoms.kinds & 255, atoms.values.astype(float)
    solvation, volume = type_table().astype(float)[types, :2].T
    solvation = solvation + CHARGE_SOLVATION * np.abs(charges)
    rows = np.zeros(len(one), PAIR)
    rows["first"], rows["second"] = one - owner, two - owner
    table = pair_table()[types[one], types[two]]
    for column, name in enumerate(("repulsion", "attraction", "distance", "power")):
        rows[name] = table[:, column]
    rows["charges"] = charges[one] * charges[two] * COULOMB * WEIGHTS["ESTAT"]
    overlap = solvation[one] * volume[two] + solvation[two] * volume[one]
    rows["overlap"] = overlap * WEIGHTS["DESOLV"]
    return rows, np.array(counts, np.int64)


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
    populations: tuple[Any, Any]
    energies: tuple[Any, Any]
    champions: Any
    slots: buffers.Reserve
    """Of one generation after another: they run in turn on one queue."""


class Lga:
    """One pocket's field on one device.

    `kernel_seconds` adds up the device's own time in the kernels.
    """

    def __init__(
        self,
        device: Device,
        field: Ad4Field,
        lanes: int = 0,
        splits: int = 0,
        room: int | None = None,
    ) -> None:
        """Search in a field; what is given beside changes speed alone.

        Args:
            device: where to.
            field: of the receptor.
            lanes: of a sub-group; 0: the device's.
            splits: sub-groups that share a run; 0: as many as keep the device full.
            room: bytes of local memory for what the lanes of a sub-group work on; where more is
                needed it lies in global memory. None: by the device.
        """
        self.device, self.field = device, field
        self.kernel_seconds = 0.0
        self._lanes = lanes or device.sub_group_size
        self._splits = splits
        own = LOCAL_OF_GPU if device.kind == "gpu" else int(device.handle.local_mem_size) // 2
        self._room = own if room is None else room

    def search(
        self,
        ligands: Ad4Ligands,
        settings: LgaSettings,
        kinds: np.ndarray | None = None,
        watch: Watch | None = None,
    ) -> Iterator[tuple[np.ndarray, Found]]:
        """Search for the poses of all ligands: rows of a batch, and what was found of these.

        With `watch` the runs are read after every generation, which takes time.
        """
        sizes = np.searchsorted(ATOM_CLASSES, self.field.sizes(ligands))
        widths = np.searchsorted(FREEDOM_CLASSES, RIGID + np.diff(ligands.first_torsion))
        for size, width in sorted(set(zip(sizes.tolist(), widths.tolist(), strict=True))):
            members = np.flatnonzero((sizes == size) & (widths == width))
            classes = ATOM_CLASSES[size], FREEDOM_CLASSES[width]

            def work(rows: np.ndarray, classes: tuple[int, int] = classes) -> Found:
                batch = pack(ligands, rows, self.field, settings, kinds)
                return self._run(batch, rows, classes, settings, watch)

            yield from by_batches(self.device, work, members)

    def _run(
        self,
        batch: LgaBatch,
        rows: np.ndarray,
        classes: tuple[int, int],
        settings: LgaSettings,
        watch: Watch | None,
    ) -> Found:
        device = self.device
        runs = np.zeros(len(batch.ligands) * settings.runs, RUN)
        runs["ligand"] = np.repeat(np.arange(len(batch.ligands)), settings.runs)
        runs["number"] = np.tile(np.arange(settings.runs), len(batch.ligands))
        torsions = batch.ligands["torsions"][runs["ligand"]]
        individuals = len(runs) * settings.population
        genes = int((torsions.astype(np.int64) + TORSION).sum()) * settings.population
        length = classes[1] + 1
        shared = _Buffers(
            tuple(buffers.upload(device, getattr(batch, name)) for name in COLUMNS),
            buffers.exchange(device, runs),
            (buffers.empty(device, genes, "f4"), buffers.empty(device, genes, "f4")),
            (buffers.empty(device, individuals, "f4"), buffers.empty(device, individuals, "f4")),
            buffers.empty(device, len(runs) * length, "f4"),
            buffers.Reserve(device),
        )
        program, global_slots = self._program(classes, settings)
        values = _values(settings)
        active = np.arange(len(runs), dtype=np.int32)
        listed = buffers.upload(device, active)
        events = []
        for generation in range(settings.generations):
            events += self._generation(
                program, global_slots, shared, values, generation, len(active), listed, classes
            )
            if watch is None and (generation + 1) % settings.stop_every:
                continue
            runs = buffers.download(device, shared.runs, len(runs), RUN)
            if watch is not None:
                watch(rows, runs)
            left = active[runs["ended"][active] == 0]
            if not len(left):
                break
            if len(left) < len(active):
                active, listed = left, buffers.upload(device, left)
        self.kernel_seconds += sum(map(buffers.seconds, events))
        runs = buffers.download(device, shared.runs, len(runs), RUN)
        best = buffers.download(device, shared.champions, (len(runs), length), "f4")
        return _found(best, runs, torsions)

    def _program(self, classes: tuple[int, int], settings: LgaSettings) -> tuple[Program, int]:
        """The kernels, and the bytes of slots of a sub-group where they lie in global memory."""
        device, gradient = self.device, int(settings.local_search == "adadelta")
        atoms, freedoms = classes
        slots = (6 if gradient else 3) * atoms + 2 * (freedoms + 1) + 3 * freedoms
        size = slots * self._lanes * 4
        elsewhere = size > self._room
        macros = {
            **definitions(),
            "MAX_ATOMS": atoms, "MAX_FREEDOMS": freedoms, "GRADIENT": gradient, "LOOKS": LOOKS,
            "SG_SIZE": self._lanes, "WG_SUB_GROUPS": 1, "KEEP_GLOBAL": int(elsewhere),
            "STORE": "__global" if elsewhere else "__local",
        }  # fmt: skip
        return build(device, KERNELS, macros, 0, STRUCTS), size if elsewhere else 0

    def _generation(
        self,
        program: Program,
        global_slots: int,
        shared: _Buffers,
        values: np.ndarray,
        number: int,
        count: int,
        listed: Any,
        classes: tuple[int, int],
    ) -> list[Any]:
        """Enqueue the kernels of one generation of all active runs."""
        device, lanes = self.device, self._lanes
        splits = self._splits or self._splits_of(count, int(values["population"]))
        old, new = (number + 1) % 2, number % 2
        shared.slots.restart()
        slots = [shared.slots.empty(count * splits * global_slots // 4, "f4")]
        maps = self.field.maps
        return [
            program.kernel("generation")(
                device.queue, (count * splits * lanes,), (lanes,),
                np.int32(count * splits), np.int32(splits), np.int32(number), values,
                maps.grid.row(), maps.buffer, *shared.tables, listed, shared.runs,
                shared.populations[old], shared.energies[old],
                shared.populations[new], shared.energies[new],
                *(slots if global_slots else []),
            ),
            program.kernel("judge")(
                device.queue, (count * lanes,), (lanes,),
                np.int32(count), np.int32(number), values, shared.tables[0], listed, shared.runs,
                shared.populations[new], shared.energies[new], shared.champions,
            ),
        ]  # fmt: skip

    def _splits_of(self, runs: int, population: int) -> int:
        """Sub-groups that share a run, so that the device is full."""
        units = int(self.device.handle.max_compute_units)
        wanted = units * SUB_GROUPS_PER_UNIT.get(self.device.kind, FEW)
        return min(-(-wanted // runs), -(-population // self._lanes))


def _values(settings: LgaSettings) -> np.ndarray:
    """The settings as `lga_settings_t`."""
    row = np.zeros((), SETTINGS)
    for name in ("population", "iterations", "generations", "stop_deviation"):
        row[name] = getattr(settings, name)
    for name in ("tournament", "crossover", "mutation", "searched"):
        row[name] = getattr(settings, name) / 100
    row["stop_every"] = settings.stop_every if settings.stop else 0
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
