"""Compare the kernels on this device with their NumPy twins, in seconds."""

from collections.abc import Iterator

import numpy as np

from ligen_py.engine.docking import reference as docking_reference
from ligen_py.engine.docking.batched import Docker
from ligen_py.engine.docking.search import Plan, pack
from ligen_py.engine.filtering import reference as filtering_reference
from ligen_py.engine.filtering.batched import filter_poses, is_bumped
from ligen_py.engine.pose_arrays import places
from ligen_py.engine.random_input import make_field, make_ligands, make_poses
from ligen_py.opencl.device import Device
from ligen_py.records.kept import Chosen
from ligen_py.records.ligands import Ligands
from ligen_py.records.poses import Poses
from ligen_py.settings.dock import DockSettings
from ligen_py.settings.filter import FilterSettings

RESTARTS = 4
POSES = 40
FILTER = FilterSettings(max_num_poses=POSES // 2, max_pocket_bumps=0, cluster_rmsd=2.0)


def self_test(device: Device) -> Iterator[tuple[str, bool]]:
    """Name of each tested kernel, and whether its results equal the twin's bit for bit.

    Random ligands of the smallest atom class, so that each kernel is compiled once. Raises
    DeviceError where a kernel cannot be built or run.
    """
    ligands = make_ligands([(31, 6), (20, 4), (12, 0)])
    plan = Plan.of(
        make_field(), DockSettings(num_restart=RESTARTS, num_iterations=1, max_num_poses=0)
    )
    found = Docker(device, plan).dock(ligands)
    rows = range(len(ligands.entry))
    yield "dock", all(_docked_alike(found, ligands, plan, number) for number in rows)

    poses = make_poses(ligands, POSES)
    kept, _ = filter_poses(device, ligands, poses, FILTER)
    yield "filter", all(_kept_alike(kept, ligands, poses, number) for number in rows)


def _docked_alike(found: Poses, ligands: Ligands, plan: Plan, number: int) -> bool:
    batch = pack(ligands, np.array([number]), plan)
    results, quaternions, shifts, _ = docking_reference.dock(plan, batch, 0)
    mine = slice(found.first_pose[number], found.first_pose[number + 1])
    columns = (found.score, found.internal_bumps, found.pocket_bumps, found.outside)
    return (
        np.array_equal(np.stack([column[mine] for column in columns], axis=1), results)
        and np.array_equal(found.quaternion[mine], quaternions)
        and np.array_equal(found.translation[mine], plan.to_angstrom(shifts))
    )


def _kept_alike(kept: Chosen, ligands: Ligands, poses: Poses, number: int) -> bool:
    atoms = slice(ligands.first_atom[number], ligands.first_atom[number + 1])
    rows = slice(poses.first_pose[number], poses.first_pose[number + 1])
    xyz = places(ligands, poses, number)
    heavy = ligands.element[atoms] != 1
    chosen, _, _ = filtering_reference.select_poses(
        poses.score[rows], is_bumped(poses, 0)[rows], xyz[:, heavy], 2.0, POSES // 2
    )
    mine = slice(kept.first_pose[number], kept.first_pose[number + 1])
    return np.array_equal(kept.number[mine], chosen)
