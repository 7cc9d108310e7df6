"""linear_contacts in NumPy."""

import numpy as np

from ligen_py.engine.geometry import rebuild
from ligen_py.records.pocket import Receptor
from ligen_py.records.poses import Poses
from tests.functions.linear_contacts.types import ContactLigands

WATCHED = ("total",)


def energy_slope(r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.minimum(r / 6 - 1, 0), (r < 6) / 6


def score_poses(ligands: ContactLigands, receptor: Receptor, poses: Poses) -> dict[str, np.ndarray]:
    totals = []
    for number in range(len(ligands.entry)):
        atoms = slice(*ligands.first_atom[number : number + 2])
        turns = slice(*ligands.first_torsion[number : number + 2])
        for pose in range(*poses.first_pose[number : number + 2]):
            xyz = rebuild(
                ligands.xyz[atoms],
                ligands.torsion_axis[turns],
                ligands.torsion_range[turns],
                poses.torsion[slice(*poses.first_torsion[pose : pose + 2])],
                poses.quaternion[pose],
                poses.translation[pose],
            )
            r = np.linalg.norm(xyz[:, None].astype(float) - receptor.xyz, axis=2)
            totals.append(-(ligands.weight[atoms] @ energy_slope(r)[0]).sum())
    return {"total": np.array(totals, "f4")}
