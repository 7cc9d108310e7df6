"""linear_contacts in NumPy."""

import numpy as np

from ligen_py.engine.pose_arrays import places
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
        for xyz in places(ligands, poses, number):
            r = np.linalg.norm(xyz[:, None].astype(float) - receptor.xyz, axis=2)
            totals.append(-(ligands.weight[atoms] @ energy_slope(r)[0]).sum())
    return {"total": np.array(totals, "f4")}
