"""Filter poses on a device: place, sort, cluster, order, clip (kernels/batched/filter.cl)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ligen_py.engine.batches import by_batches, spans
from ligen_py.engine.constants import ATOM_CLASSES
from ligen_py.engine.geometry import STEP_ANGLES, cosines_and_sines, steps_of
from ligen_py.engine.pose_arrays import Conformers, Genotypes
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import Program
from ligen_py.opencl.tuning import build_tuned, tuned
from ligen_py.pace import Pace
from ligen_py.records.kept import Chosen, Verdicts
from ligen_py.records.ligands import Ligands
from ligen_py.records.poses import Poses
from ligen_py.settings.filter import FilterSettings

LIGAND = np.dtype(
    [
        (name, np.int32)
        for name in (
            "first_atom",
            "atoms",
            "first_torsion",
            "torsions",
            "first_pose",
            "poses",
            "first_turn",
            "first_place",
            "first_way",
            "ways",
            "first_kept",
        )
    ]
)
"""One ligand of a batch, without its hydrogens: a row of the table that the kernels read."""

KERNELS = "batched/filter.cl"

STRUCTS = {"filter_ligand_t": LIGAND}

CHOSEN = np.uint16, np.uint8, np.int16
"""Types of what the kernels choose: number, verdict and cluster of each kept pose."""

PLACE_BYTES = 16
POSE_BYTES = 4
"""Local memory of a pose: its place in the order, and its cluster."""
BATCH_BYTES = 256 << 20

Call = tuple[Program, str, tuple[int, ...], tuple[int, ...], tuple[Any, ...]]
"""A kernel's program and name, work-items in all and of a group, arguments."""


def is_bumped(poses: Poses, max_pocket_bumps: int) -> np.ndarray:
    """Which poses (poses,) bump within themselves or with the receptor, or stick out of the box."""
    in_core = poses.pocket_bumps > max_pocket_bumps
    return (poses.internal_bumps > 0) | in_core | (poses.outside > 0)


def filter_poses(
    device: Device,
    ligands: Ligands,
    poses: Poses,
    settings: FilterSettings,
    ways: Sequence[np.ndarray] | None = None,
) -> tuple[Chosen, Verdicts]:
    """Keep some poses of each ligand, representatives of clusters first.

    The RMSD between poses is over heavy atoms. `ways` (ways, heavy) of each ligand map its heavy
    atoms onto themselves, and the nearest counts; without them it is without symmetry. Returns
    which poses are kept, in final order, with a verdict and a cluster for each.
    """
    bumped = is_bumped(poses, settings.max_pocket_bumps)
    counts = np.diff(poses.first_pose)
    kept = np.minimum(counts, settings.max_num_poses)
    every = [tuple(np.zeros(0, kind) for kind in CHOSEN)]

    def filtered(members: np.ndarray) -> tuple[np.ndarray, ...]:
        """What is chosen of the poses of some ligands, which follow one another."""
        first, last = int(members[0]), int(members[-1]) + 1
        rows = slice(poses.first_pose[first], poses.first_pose[last])
        posed = Posed(
            buffers.upload(device, poses.score[rows]),
            buffers.upload(device, bumped[rows].astype(np.uint8)),
            _genotypes(device, poses, first, last) if settings.cluster_rmsd else (),
        )
        limits = settings.max_num_poses, settings.cluster_rmsd
        some = ways[first:last] if ways is not None else ()
        found = Selection.of(device, ligands, members, counts[members], posed, *limits, some)
        for program, name, size, local, arguments in found.calls:
            program.kernel(name)(device.queue, size, local, *arguments)
        return found.download(device)

    sizes = ligands.heavy * counts * PLACE_BYTES
    if ways is not None:
        sizes = sizes + [way.nbytes for way in ways]
    pace, members = Pace("ligands filtered", len(counts)), np.arange(len(counts))
    room = min(BATCH_BYTES, buffers.budget(device))
    for some, found in by_batches(device, filtered, members, sizes, room):
        every.append(found)
        pace.add(len(some))
    number, verdict, cluster = map(np.concatenate, zip(*every, strict=True))
    first_pose = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    return (
        Chosen(first_pose=first_pose, number=number.astype(np.int32)),
        Verdicts(verdict=verdict, cluster=cluster.astype(np.int32)),
    )


def _genotypes(device: Device, poses: Poses, first: int, last: int) -> tuple[Any, ...]:
    """`Posed.genotypes` of ligands first <= ligand < last.

    Docked torsions are whole steps: then kernels are given these, and the angles of each step.
    """
    genotypes = Genotypes.of(poses, first, last)
    steps = steps_of(genotypes.degrees)
    if steps is None:
        angles = np.stack(cosines_and_sines(genotypes.degrees), axis=1)
    else:
        angles = STEP_ANGLES
    return (
        np.int32(steps is not None),
        buffers.upload(device, np.zeros(0, np.uint8) if steps is None else steps),
        buffers.upload(device, angles),
        buffers.upload(device, genotypes.quaternions),
        buffers.upload(device, genotypes.translations),
    )


class Posed(NamedTuple):
    """Poses on a device, those of a ligand together, as the kernels read them: buffers."""

    scores: Any
    """int32 (poses,), larger is better."""
    bumped: Any
    """uint8 (poses,)."""
    genotypes: tuple[Any, ...]
    """Only a radius needs them: whether torsions are steps (int32, 0 or 1), these steps (uint8),
    cosine and sine of each step or else of each torsion, quaternions, translations (Angstrom)."""


@dataclass(frozen=True)
class Selection:
    """Kernels that choose which poses of some ligands are kept, and what they work on."""

    calls: tuple[Call, ...]
    ligands: Any
    """Buffer: rows of `LIGAND`."""
    chosen: tuple[Any, ...]
    """Buffers of `CHOSEN`, of all poses that could be kept."""
    count: int
    """How many these are."""

    @classmethod
    def of(
        cls,
        device: Device,
        ligands: Ligands,
        rows: np.ndarray,
        counts: np.ndarray,
        posed: Posed,
        max_num_poses: int,
        cluster_rmsd: float,
        ways: Sequence[np.ndarray] = (),
    ) -> "Selection":
        """Of the ligands `rows`, of which `posed` has `counts` (rows,) poses.

        `cluster_rmsd` in Angstrom; `ways` as of `filter_poses`.
        """
        kept = np.minimum(counts, max_num_poses)
        table = _table(ligands, rows, counts, kept, ways)
        places = table["atoms"] * counts if cluster_rmsd else np.zeros(len(rows), np.int64)
        room = min(BATCH_BYTES, buffers.budget(device)) // PLACE_BYTES
        parts, largest = list(spans(places, room)), 0
        for first, last in parts:  # one after another, in the same memory
            in_part = places[first:last]
            table["first_place"][first:last] = np.cumsum(in_part) - in_part
            largest = max(largest, int(in_part.sum()))

        on_device = buffers.upload(device, table)
        placed = buffers.empty(device, 4 * largest, np.float32)
        chosen = tuple(buffers.empty(device, int(kept.sum()), kind) for kind in CHOSEN)
        most = int(table["atoms"].max(initial=1)), int(counts.max(initial=1))
        program, group = program_of(device, *most)
        local = group * device.sub_group_size

        def call(kernel: str, first: int, last: int, arguments: tuple[Any, ...]) -> Call:
            """A kernel for the poses or ligands first <= number < last."""
            size = (-(-(last - first) // group) * local,)
            return program, kernel, size, (local,), (np.int32(first), np.int32(last), *arguments)

        given = _conformers(device, ligands, rows, counts) if cluster_rmsd else ()
        every_way = np.concatenate([np.zeros(0, np.uint16), *(one.ravel() for one in ways)])
        selected = (
            np.int32(max_num_poses),
            np.float32(cluster_rmsd * cluster_rmsd),
            on_device,
            posed.scores,
            posed.bumped,
            placed,
            buffers.upload(device, every_way),
            *chosen,
        )
        calls, first_pose = [], np.concatenate([[0], np.cumsum(counts)])
        for first, last in parts:
            of_poses = int(first_pose[first]), int(first_pose[last])
            if cluster_rmsd and of_poses[0] < of_poses[1]:
                arguments = (on_device, *given, *posed.genotypes, placed)
                calls.append(call("place", *of_poses, arguments))
            calls.append(call("select_poses", first, last, selected))
        return cls(tuple(calls), on_device, chosen, int(kept.sum()))

    def download(self, device: Device, after: Any = None) -> tuple[np.ndarray, ...]:
        """Arrays of `CHOSEN`, after an event, or after all that is in the device's queue."""
        return tuple(
            buffers.download(device, buffer, self.count, kind, after)
            for buffer, kind in zip(self.chosen, CHOSEN, strict=True)
        )


def _conformers(
    device: Device, ligands: Ligands, rows: np.ndarray, counts: np.ndarray
) -> tuple[Any, ...]:
    """What `place` is given before genotypes: the ligand of each pose; the conformers of these."""
    conformers = Conformers.of_heavy(ligands, rows)
    return (
        buffers.upload(device, np.repeat(np.arange(len(rows), dtype=np.int32), counts)),
        buffers.upload(device, conformers.atoms),
        buffers.upload(device, conformers.torsions),
        buffers.upload(device, conformers.inverse_lengths),
    )


def _table(
    ligands: Ligands,
    rows: np.ndarray,
    counts: np.ndarray,
    kept: np.ndarray,
    ways: Sequence[np.ndarray],
) -> np.ndarray:
    """Rows of `LIGAND`, but for their places; see `Selection.of`."""
    table = np.zeros(len(rows), LIGAND)
    table["atoms"], table["poses"] = ligands.heavy[rows], counts
    table["torsions"] = np.diff(ligands.first_torsion)[rows]
    if ways:
        table["ways"] = [len(one) for one in ways]
    numbers = {
        "atom": table["atoms"],
        "torsion": table["torsions"],
        "pose": counts,
        "turn": table["torsions"] * counts,
        "way": table["ways"] * table["atoms"],
        "kept": kept,
    }
    for name, number in numbers.items():
        table[f"first_{name}"] = np.cumsum(number) - number
    return table


def program_of(device: Device, atoms: int, poses: int) -> tuple[Program, int]:
    """The kernels for ligands of so many atoms and poses, and sub-groups of a work-group.

    These are fewer than is tuned where the device's local memory holds the poses of fewer ligands.
    """
    most_poses = -(-poses // 256) * 256
    fit = int(device.handle.local_mem_size) // (POSE_BYTES * most_poses)
    tuning = tuned(device, KERNELS)
    group = max(1, min(tuning.sub_groups, fit))
    definitions = {
        "MAX_ATOMS": next(size for size in ATOM_CLASSES if size >= atoms),
        "MAX_POSES": most_poses,
        "WG_SUB_GROUPS": group,
    }
    tuning, names = replace(tuning, sub_groups=group), ["place", "select_poses"]
    return build_tuned(device, KERNELS, None, tuning, definitions, names, STRUCTS), group
