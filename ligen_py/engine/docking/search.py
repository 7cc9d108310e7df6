"""Inputs of the docking search, ready for a kernel or its NumPy twin.

`Plan` holds the tables that depend on settings and pocket only; `pack` turns ligands into flat
arrays in box units. Nothing here depends on the device, on order, or on batch.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ligen_py.engine.constants import OUTSIDE, bondi_radii
from ligen_py.engine.geometry import as_float4, from_float4, inverse_bond_lengths
from ligen_py.engine.pose_arrays import kernel_torsions, ranges
from ligen_py.records.ligands import Ligands
from ligen_py.records.limits import MAX_RESTARTS, MAX_TORSIONS
from ligen_py.records.pocket import GeometricField
from ligen_py.records.poses import Poses
from ligen_py.settings.dock import DockSettings
from ligen_py.settings.filter import FilterSettings

FOUND_BYTES, RECORD_BYTES = 44, 64
"""Bytes of a pose in `Found` and in `Poses`, without its torsions."""

FREE_POCKET_BUMPS = FilterSettings().max_pocket_bumps
"""Heavy atoms in the receptor's core of a pose that ranks as free of bumps: the filter's default,
so that what it would take first is what is kept for it. One atom more and the pose ranks lower."""

RESTART_BITS = (MAX_RESTARTS - 1).bit_length()
"""Of a pose's rank."""

BUMPED = 1 << 16
"""Larger than the difference of any two geometric scores: 256 atoms of one byte each."""

ALIGN_STEPS = (1.0, 0.5)
"""Shifts tried in the two rounds of rigid alignment, Angstrom."""

SMALLEST_SIDE = 64
"""The stored cube has at least this side: strides that are powers of two are cheap."""


class Found(NamedTuple):
    """Results of a search for some ligands: the poses kept of each, in the order of restarts."""

    restarts: np.ndarray
    """i4 (ligands, poses): the restarts that made them, ascending."""
    results: np.ndarray
    """i4 (ligands, poses, 4): score, internal bumps, pocket bumps, atoms outside."""
    quaternions: np.ndarray
    """f4 (ligands, poses, 4): as kernels give them, see `from_float4`."""
    shifts: np.ndarray
    """f4 (ligands, poses, 3): box units."""
    turns: np.ndarray
    """u1: angle steps of every torsion of every pose, one ligand after another."""


LIGAND = np.dtype(
    [
        (name, np.int32)
        for name in (
            "first_atom",
            "atoms",
            "first_torsion",
            "torsions",
            "first_word",
            "words",
        )
    ]
)
"""One ligand of a batch."""

STRUCTS = {"dock_ligand_t": LIGAND}
"""Rows of tables that kernels/batched/dock.cl reads."""


def super_fibonacci(count: int) -> np.ndarray:
    """Evenly spread rotations (count, 4), float32, w, x, y, z (Alexa, CVPR 2022, algorithm 1)."""
    s = np.arange(count) + 0.5
    inner, outer = np.sqrt(s / count), np.sqrt(1 - s / count)
    alpha = 2 * np.pi * s / np.sqrt(2)
    beta = 2 * np.pi * s / 1.533751168755204288118041
    columns = [
        outer * np.cos(beta),
        inner * np.sin(alpha),
        inner * np.cos(alpha),
        outer * np.sin(beta),
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def _primes(count: int) -> np.ndarray:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return np.array(found)


def start_turns(index: np.ndarray, n_angles: int) -> np.ndarray:
    """First torsion angles (restarts, MAX_TORSIONS) of the k-th pose at an anchor, in angle steps.

    Even k have the start conformer, odd k a low-discrepancy point: the fractional parts of (k + 1)
    * sqrt(prime), one prime a torsion (Richtmyer's sequence).

    >>> start_turns(np.array([0, 1]), n_angles=32)[:, :3].tolist()
    [[0, 0, 0], [26, 14, 15]]
    """
    fractions = np.modf(np.outer(index + 1, np.sqrt(_primes(MAX_TORSIONS))))[0]
    turns = np.floor(n_angles * fractions).astype(np.uint8)
    turns[index % 2 == 0] = 0
    return turns


@dataclass(frozen=True)
class Plan:
    """Tables of one search: angles, starting poses, the field with its border.

    Coordinates are in box units (kernels/include/field.clh): the stored cube of `side` points an
    axis, point 0 and all beyond the box being border, spans 0 to 1.
    """

    origin: np.ndarray
    spacing: float
    settings: DockSettings
    box: np.ndarray
    field: np.ndarray
    angles: np.ndarray
    start_rotation: np.ndarray
    start_position: np.ndarray
    start_turns: np.ndarray
    num_poses: int
    """Poses kept of a ligand: see `best`."""

    @classmethod
    def of(
        cls,
        field: GeometricField,
        settings: DockSettings,
    ) -> "Plan":
        """Derive all tables from a pocket's field and the search settings."""
        n_angles, num_restart = settings.n_angles, settings.num_restart
        spacing = float(field.spacing[0])
        radians = 2 * np.pi * np.arange(n_angles) / n_angles
        angles = np.stack(
            [np.cos(radians), np.sin(radians), np.cos(radians / 2), np.sin(radians / 2)], axis=1
        )
        restart = np.arange(num_restart)
        anchors = len(field.anchor)
        index = restart // anchors
        orientations = super_fibonacci(-(-num_restart // anchors))
        shape = np.array(field.value.shape)
        side = max(SMALLEST_SIDE, int(shape.max()) + 2)
        cube = np.full((side, side, side), OUTSIDE, np.int8)
        cube[1 : shape[0] + 1, 1 : shape[1] + 1, 1 : shape[2] + 1] = field.value
        points = (field.anchor.astype(np.float64) - field.origin) / spacing + 1
        return cls(
            origin=field.origin,
            spacing=spacing,
            settings=settings,
            box=shape,
            field=cube,
            angles=angles.astype(np.float32),
            start_rotation=orientations[index],
            start_position=(points[restart % anchors] / (side - 1)).astype(np.float32),
            start_turns=start_turns(index, n_angles),
            num_poses=min(settings.max_num_poses or num_restart, num_restart),
        )

    @property
    def num_restart(self) -> int:
        """Starting poses per ligand."""
        return len(self.start_rotation)

    @property
    def starts(self) -> tuple[np.ndarray, ...]:
        """Rotations, positions and turns of the starting poses as kernels read them."""
        positions = np.pad(self.start_position, ((0, 0), (0, 1)))
        return as_float4(self.start_rotation), positions, self.start_turns

    @property
    def steps(self) -> np.ndarray:
        """Alignment shifts (2,), float32, box units."""
        return (np.array(ALIGN_STEPS) / self.unit).astype(np.float32)

    @property
    def side(self) -> int:
        """Points along each axis of the stored cube."""
        return self.field.shape[0]

    @property
    def unit(self) -> float:
        """One box unit, Angstrom."""
        return self.spacing * (self.side - 1)

    def to_angstrom(self, positions: np.ndarray) -> np.ndarray:
        """Positions (..., 3) in Angstrom, float32, from box units."""
        first = self.origin - self.spacing
        return (positions.astype(np.float64) * self.unit + first).astype(np.float32)

    def pose_bytes(self, torsions: np.ndarray) -> np.ndarray:
        """Bytes (ligands,) of the kept poses of ligands with these numbers of torsions."""
        torsions = torsions.astype(np.int64)
        return self.num_poses * (FOUND_BYTES + torsions + RECORD_BYTES + 4 * torsions)

    def best(self, results: np.ndarray) -> np.ndarray:
        """Restarts (ligands, num_poses), int32, ascending, of the poses that are kept.

        The first by: free of bumps (`FREE_POCKET_BUMPS`) before bumped; score, larger before
        smaller; restart. That is the filter's order. `results` are those of all restarts.
        """
        if self.num_poses == self.num_restart:
            every = np.arange(self.num_restart, dtype=np.int32)
            return np.broadcast_to(every, results.shape[:2])
        bumped = (results[..., 1] > 0) | (results[..., 2] > FREE_POCKET_BUMPS)
        bumped |= results[..., 3] > 0
        # Rank and restart in one number: no two are equal, and sorting numbers is fast.
        rank = bumped * np.int32(BUMPED) - results[..., 0]
        rank = (rank << RESTART_BITS) | np.arange(self.num_restart, dtype=np.int32)
        first = np.partition(rank, self.num_poses - 1, axis=1)[:, : self.num_poses]
        return np.sort(first & ((1 << RESTART_BITS) - 1), axis=1)

    def poses(self, torsions: np.ndarray, rows: np.ndarray, found: Found) -> Poses:
        """Poses of the ligands of `rows`, in their order, from the results of the search.

        `torsions` are the numbers of torsions of all ligands, docked or not. Ligands that are not
        in `rows` have no poses.
        """
        counts = np.zeros(len(torsions), np.int64)
        counts[rows] = self.num_poses
        score, internal_bumps, pocket_bumps, outside = found.results.reshape(-1, 4).T.copy()
        return Poses(
            first_pose=_offsets(counts),
            first_torsion=_offsets(np.repeat(torsions[rows], self.num_poses)),
            restart=found.restarts.reshape(-1),
            translation=self.to_angstrom(found.shifts.reshape(-1, 3)),
            quaternion=from_float4(found.quaternions.reshape(-1, 4)),
            torsion=self.degrees[found.turns],
            score=score,
            internal_bumps=internal_bumps,
            pocket_bumps=pocket_bumps,
            outside=outside,
        )

    @property
    def degrees(self) -> np.ndarray:
        """The angle of every number of angle steps (256,), float32."""
        return (np.arange(256) * (360.0 / self.settings.n_angles)).astype(np.float32)


class Kept:
    """Collects the kept poses of some ligands, batch by batch, from the poses of all restarts."""

    def __init__(self, plan: Plan, torsions: np.ndarray) -> None:
        """Arrays for ligands with these numbers of torsions."""
        self._plan, self._torsions = plan, torsions.tolist()
        count = plan.num_poses
        self._first_turn = (count * (np.cumsum(torsions) - torsions)).tolist()
        self.arrays = Found(
            restarts=np.empty((len(torsions), count), np.int32),
            results=np.empty((len(torsions), count, 4), np.int32),
            quaternions=np.empty((len(torsions), count, 4), np.float32),
            shifts=np.empty((len(torsions), count, 3), np.float32),
            turns=np.empty(count * int(torsions.sum()), np.uint8),
        )

    def take(
        self,
        members: np.ndarray,
        results: np.ndarray,
        quaternions: np.ndarray,
        shifts: np.ndarray,
        turns: np.ndarray,
    ) -> None:
        """Keep the best poses of some ligands; `members` are their places among all.

        For each of them and each restart: results, quaternions and shifts, each (ligands, restarts,
        4), and turns, as in `Found`.
        """
        restarts = self._plan.num_restart
        chosen = self._plan.best(results)
        rows = chosen + restarts * np.arange(len(members))[:, None]
        kept, source = [np.empty(0, np.uint8)], 0
        for ligand, mine in zip(members.tolist(), chosen, strict=True):
            torsions = self._torsions[ligand]
            whole = turns[source : source + restarts * torsions].reshape(restarts, torsions)
            kept.append(whole.take(mine, axis=0).ravel())
            source += whole.size
        self.put(
            members,
            chosen,
            results.reshape(-1, 4).take(rows, axis=0),
            quaternions.reshape(-1, 4).take(rows, axis=0),
            shifts.reshape(-1, 4).take(rows, axis=0),
            np.concatenate(kept),
        )

    def put(
        self,
        members: np.ndarray,
        restarts: np.ndarray,
        results: np.ndarray,
        quaternions: np.ndarray,
        shifts: np.ndarray,
        turns: np.ndarray,
    ) -> None:
        """Store the kept poses of some ligands, as `take` chooses them, at their places."""
        into = self.arrays
        into.restarts[members] = restarts
        into.results[members] = results
        into.quaternions[members] = quaternions
        into.shifts[members] = shifts[..., :3]
        source = 0
        for ligand in members.tolist():
            size, target = self._plan.num_poses * self._torsions[ligand], self._first_turn[ligand]
            into.turns[target : target + size] = turns[source : source + size]
            source += size


class Docking(ABC):
    """One pocket's search on one device, in either form."""

    plan: Plan

    def dock(self, ligands: Ligands, rows: np.ndarray | None = None) -> Poses:
        """Dock the ligands of `rows` (rising; all by default), `plan.num_poses` poses each.

        Poses come in input order, then in restart order; ligands not named have none.
        """
        rows = np.arange(len(ligands.entry)) if rows is None else rows
        torsions = np.diff(ligands.first_torsion)
        return self.plan.poses(torsions, rows, self.search(ligands, rows))

    @abstractmethod
    def search(self, ligands: Ligands, rows: np.ndarray) -> Found:
        """What `dock` makes poses of: see `Plan.poses`."""


def _offsets(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


@dataclass(frozen=True)
class DockBatch:
    """Some ligands as the flat arrays that the dock kernel reads."""

    ligands: np.ndarray
    conformers: np.ndarray
    torsions: np.ndarray
    inverse_lengths: np.ndarray
    orders: np.ndarray
    pairs: np.ndarray

    def __len__(self) -> int:
        return len(self.ligands)


def _spans(offsets: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that belong to the chosen ligands, and their new offsets."""
    counts = offsets[chosen + 1] - offsets[chosen]
    starts = np.concatenate([[0], np.cumsum(counts)])
    return ranges(offsets[chosen], counts), starts


def pack(ligands: Ligands, chosen: np.ndarray, plan: Plan) -> DockBatch:
    """Flat arrays of the chosen ligands' heavy atoms, coordinates and radii in box units.

    Fragments are ordered by the number of atoms they move, hydrogens counted, largest first, then
    by torsion; the far side comes before the near one.
    """
    atoms = ligands.heavy[chosen].astype(np.int64)
    atom_rows, first_atom = ranges(ligands.first_atom[chosen], atoms), _offsets(atoms)
    torsion_rows, first_torsion = _spans(ligands.first_torsion, chosen)
    word_rows, first_word = _spans(ligands.first_pair, chosen)
    torsion_counts = np.diff(first_torsion)

    table = np.zeros(len(chosen), LIGAND)
    table["first_atom"], table["atoms"] = first_atom[:-1], atoms
    table["first_torsion"], table["torsions"] = first_torsion[:-1], torsion_counts
    table["first_word"], table["words"] = first_word[:-1], (atoms + 31) // 32

    radius = bondi_radii(ligands.element[atom_rows]) * plan.settings.bump_tolerance
    conformers = np.empty((len(atom_rows), 4), np.float32)
    conformers[:, :3] = ligands.xyz[atom_rows].astype(np.float64) / plan.unit
    conformers[:, 3] = radius / plan.unit

    axis, limits = ligands.torsion_axis[torsion_rows], ligands.torsion_range[torsion_rows]
    owner = np.repeat(np.arange(len(chosen)), torsion_counts)
    inverse = inverse_bond_lengths(conformers[:, :3], axis + first_atom[owner][:, None])

    far = (limits[:, 1] - limits[:, 0] + limits[:, 3] - limits[:, 2]).astype(np.int64)
    every = np.diff(ligands.first_atom)[chosen]
    size = np.stack([far, every[owner] - far], axis=1).ravel()
    local = np.arange(len(torsion_rows)) - first_torsion[owner]
    fragment = (2 * local[:, None] + [0, 1]).ravel()
    order = np.lexsort((fragment, -size, np.repeat(owner, 2)))
    return DockBatch(
        ligands=table,
        conformers=conformers,
        torsions=kernel_torsions(axis, limits * [1, 1, 0, 0]),  # ranges of hydrogens are empty
        inverse_lengths=inverse,
        orders=fragment[order].astype(np.int16),
        pairs=ligands.pair_mask[word_rows],
    )
