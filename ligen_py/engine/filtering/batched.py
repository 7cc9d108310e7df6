"""Filter poses on a device: place, sort, cluster, order, clip (kernels/batched/filter.cl)."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ligen_py.engine.batches import by_batches
from ligen_py.engine.constants import ATOM_CLASSES
from ligen_py.engine.geometry import STEP_ANGLES, cosines_and_sines, steps_of
from ligen_py.engine.pose_arrays import Conformers, Genotypes
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import Program, build
from ligen_py.opencl.tuning import tuned
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
            "first_heavy",
            "heavy",
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
"""One ligand of a batch: a row of the table that the kernels read."""

PLACE_BYTES = 16
POSE_BYTES = 4
"""Local memory of a pose: its place in the order, and its cluster."""
BATCH_BYTES = 256 << 20


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
    counts = np.minimum(np.diff(poses.first_pose), settings.max_num_poses)
    numbers, verdicts, clusters = ([np.zeros(0, np.int64)] for _ in range(3))

    def launch(members: np.ndarray) -> tuple[np.ndarray, ...]:
        """Start one batch: the ligands (rising numbers) of `members` and those between them."""
        span = int(members[0]), int(members[-1]) + 1
        some = ways[span[0] : span[1]] if ways is not None else []
        return _launch(device, ligands, poses, bumped, counts, span, settings, some)

    pace = Pace("ligands filtered", len(ligands.entry))
    for first, last in _batches(ligands, poses, ways, buffers.budget(device)):
        for members, found in by_batches(device, launch, np.arange(first, last)):
            pose, verdict, cluster = found
            numbers.append(pose)
            verdicts.append(verdict)
            clusters.append(cluster)
            pace.add(len(members))
    return (
        Chosen(
            first_pose=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            number=np.concatenate(numbers).astype(np.int32),
        ),
        Verdicts(
            verdict=np.concatenate(verdicts).astype(np.uint8),
            cluster=np.concatenate(clusters).astype(np.int32),
        ),
    )


def _batches(
    ligands: Ligands, poses: Poses, ways: Sequence[np.ndarray] | None, largest: int
) -> Iterator[tuple[int, int]]:
    """Consecutive ligands whose placed poses and ways fit into one buffer."""
    size = np.diff(ligands.first_atom) * np.diff(poses.first_pose) * PLACE_BYTES
    if ways is not None:
        size = size + [way.nbytes for way in ways]
    budget, first, used = min(BATCH_BYTES, largest), 0, 0
    for ligand, bytes_needed in enumerate(size):
        if used and used + bytes_needed > budget:
            yield first, ligand
            first, used = ligand, 0
        used += int(bytes_needed)
    if first < len(size):
        yield first, len(size)


def _table(ligands: Ligands, poses: Poses, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """The batch's ligand rows and the numbers of their heavy atoms."""
    table = np.zeros(last - first, LIGAND)
    span = slice(first, last + 1)

    def offsets(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First row of each ligand, counted from the batch's first one, and its number of rows."""
        local = column[span] - column[first]
        return local[:-1], np.diff(local)

    table["first_atom"], table["atoms"] = offsets(ligands.first_atom)
    table["first_torsion"], table["torsions"] = offsets(ligands.first_torsion)
    table["first_pose"], table["poses"] = offsets(poses.first_pose)
    table["first_turn"] = offsets(poses.first_torsion[poses.first_pose])[0]
    atoms = slice(ligands.first_atom[first], ligands.first_atom[last])
    heavy = ligands.element[atoms] != 1
    owner = np.repeat(np.arange(last - first), table["atoms"])
    table["heavy"] = np.bincount(owner[heavy], minlength=last - first)
    table["first_heavy"] = np.cumsum(table["heavy"]) - table["heavy"]
    places = table["heavy"] * table["poses"]
    table["first_place"] = np.cumsum(places) - places
    numbers = np.flatnonzero(heavy) - table["first_atom"][owner[heavy]]
    return table, numbers.astype(np.int32)


def program_of(device: Device, atoms: int, poses: int) -> tuple[Program, int]:
    """The kernels for ligands of so many atoms and poses, and sub-groups of a work-group.

    These are fewer than is tuned where the device's local memory holds the poses of fewer ligands.
    """
    most_poses = -(-poses // 256) * 256
    fit = int(device.handle.local_mem_size) // (POSE_BYTES * most_poses)
    group = max(1, min(tuned(device, "batched/filter.cl").sub_groups, fit))
    definitions = {
        "MAX_ATOMS": next(size for size in ATOM_CLASSES if size >= atoms),
        "MAX_POSES": most_poses,
        "WG_SUB_GROUPS": group,
    }
    structs = {"filter_ligand_t": LIGAND}
    return build(device, "batched/filter.cl", definitions, structs=structs), group


def _launch(
    device: Device,
    ligands: Ligands,
    poses: Poses,
    bumped: np.ndarray,
    counts: np.ndarray,
    span: tuple[int, int],
    settings: FilterSettings,
    ways: Sequence[np.ndarray],
) -> tuple[np.ndarray, ...]:
    first, last = span
    count, max_num_poses = last - first, settings.max_num_poses
    table, heavy = _table(ligands, poses, first, last)
    if ways:
        table["ways"] = [len(one) for one in ways]
        table["first_way"] = (
            np.cumsum(table["ways"] * table["heavy"]) - table["ways"] * table["heavy"]
        )
    kept = counts[first:last]
    table["first_kept"] = np.cumsum(kept) - kept
    rows = slice(poses.first_pose[first], poses.first_pose[last])
    most = int(table["atoms"].max()), int(table["poses"].max(initial=1))
    program, group = program_of(device, *most)
    local = group * device.sub_group_size

    rows_on_device = buffers.upload(device, table)
    pose_count = (rows.stop - rows.start) if settings.cluster_rmsd else 0
    placed = int((table["heavy"] * table["poses"]).sum()) * 4 if pose_count else 0
    places = buffers.empty(device, placed, np.float32)
    if pose_count:
        program.kernel("place")(
            device.queue,
            (-(-pose_count // group) * local,),
            (local,),
            np.int32(0),
            np.int32(pose_count),
            rows_on_device,
            *_posed(device, ligands, poses, span),
            buffers.upload(device, heavy),
            places,
        )
    none = np.zeros(0, np.uint16)
    total, kinds = int(kept.sum()), (np.uint16, np.uint8, np.int16)
    outputs = [buffers.empty(device, total, kind) for kind in kinds]
    program.kernel("select_poses")(
        device.queue,
        (-(-count // group) * local,),
        (local,),
        np.int32(0),
        np.int32(count),
        np.int32(max_num_poses),
        np.float32(settings.cluster_rmsd * settings.cluster_rmsd),
        rows_on_device,
        buffers.upload(device, poses.score[rows]),
        buffers.upload(device, bumped[rows].astype(np.uint8)),
        places,
        buffers.upload(device, np.concatenate([none, *(one.ravel() for one in ways)])),
        *outputs,
    )
    return tuple(
        buffers.download(device, output, total, kind)
        for output, kind in zip(outputs, kinds, strict=True)
    )


def _posed(
    device: Device, ligands: Ligands, poses: Poses, span: tuple[int, int]
) -> tuple[Any, ...]:
    """What `place` is given of the poses of some ligands: conformers and genotypes.

    Of torsions that all are whole steps, as docked ones are, the steps, and the angles of each.
    """
    conformers, genotypes = Conformers.of(ligands, *span), Genotypes.of(poses, *span)
    steps = steps_of(genotypes.degrees)
    if steps is None:
        angles = np.stack(cosines_and_sines(genotypes.degrees), axis=1)
    else:
        angles = STEP_ANGLES
    return (
        buffers.upload(device, genotypes.owner),
        buffers.upload(device, conformers.atoms),
        buffers.upload(device, conformers.torsions),
        buffers.upload(device, conformers.inverse_lengths),
        np.int32(steps is not None),
        buffers.upload(device, np.zeros(0, np.uint8) if steps is None else steps),
        buffers.upload(device, angles),
        buffers.upload(device, genotypes.quaternions),
        buffers.upload(device, genotypes.translations),
    )
