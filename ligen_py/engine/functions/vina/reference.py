"""Vina in NumPy: the specification of kernels/batched/vina.cl, readable and slow.

Sources: as in `constants`. Distances in Angstrom, energies in
kcal/mol. Squared distances are float32 with the kernel's own operations, so that both agree on
which atoms lie within the cut-off; the rest is float64.
"""

from dataclasses import dataclass

import numpy as np

from ligen_py.engine.functions.vina.constants import (
    CAP,
    CUTOFF,
    TERMS,
    VINA,
    Form,
    Weights,
    vina_pairs,
)
from ligen_py.engine.geometry import fma32
from ligen_py.engine.pose_arrays import places
from ligen_py.records.functions.vina import VinaLigands, VinaReceptor, VinaType
from ligen_py.records.poses import Poses


@dataclass(frozen=True)
class Molecule:
    """A ligand's heavy atoms in the coordinates of a pose."""

    xyz: np.ndarray
    """float32 (atoms, 3)."""
    types: np.ndarray
    pairs: np.ndarray
    """Atoms that interact with each other (pairs, 2)."""
    rotors: float


WATCHED = ("total", "intra")
"""Terms that the watch compares with the kernel's."""


def score_poses(
    ligands: VinaLigands, receptor: VinaReceptor, poses: Poses
) -> dict[str, np.ndarray]:
    """Term -> float32 array with one value a pose (`TERMS`; NaN: not finite)."""
    return score_form(VINA, ligands, receptor, poses)


def score_form(
    form: Form, ligands: VinaLigands, receptor: VinaReceptor, poses: Poses
) -> dict[str, np.ndarray]:
    """Term -> float32 array with one value a pose (`TERMS`; NaN: not finite)."""
    rows = [
        terms(form, molecule(ligands, number, poses, pose), receptor)
        for number in range(len(ligands.entry))
        for pose in range(poses.first_pose[number], poses.first_pose[number + 1])
    ]
    return {name: np.array([row[name] for row in rows], np.float32) for name in TERMS}


def molecule(ligands: VinaLigands, number: int, poses: Poses, pose: int) -> Molecule:
    """Ligand `number` in the coordinates of a pose."""
    atoms = slice(ligands.first_atom[number], ligands.first_atom[number + 1])
    heavy = int(ligands.heavy[number])
    xyz = places(ligands, poses, number, slice(pose, pose + 1))[0]
    return Molecule(
        xyz=xyz[:heavy],
        types=ligands.type[atoms][:heavy],
        pairs=vina_pairs(ligands, number, number + 1)[0].astype(np.int64),
        rotors=float(ligands.rotors[number]),
    )


def terms(form: Form, ligand: Molecule, receptor: VinaReceptor) -> dict[str, float]:
    """All terms of a pose; NaN, all but `rotors`, if a coordinate is not finite."""
    if not np.isfinite(ligand.xyz).all():
        return {**dict.fromkeys(TERMS, np.nan), "rotors": ligand.rotors}
    table = form.pair_table().astype(float)
    scored = receptor.type != VinaType.NONE
    xyz, types = receptor.xyz[scored], receptor.type[scored]
    per_atom = np.array(
        [
            pair_terms(form.weights, distances(place, xyz), table[kind, types]).sum(axis=1)
            for place, kind in zip(ligand.xyz, ligand.types, strict=True)
        ]
    )
    one, two = ligand.pairs.T
    within = pair_terms(
        form.weights,
        distances(ligand.xyz[one], ligand.xyz[two]),
        table[ligand.types[one], ligand.types[two]],
    )
    affinity = capped(per_atom.sum(axis=1)).sum() / (1 + form.weights.rotor_weight * ligand.rotors)
    return {
        **dict(zip(TERMS, per_atom.sum(axis=0), strict=False)),
        "intra": capped(within.sum(axis=0)).sum(),
        "rotors": ligand.rotors,
        "affinity": affinity,
        "total": -affinity,
    }


def distances(one: np.ndarray, many: np.ndarray) -> np.ndarray:
    """Distances (atoms,), float64, of float32 points (atoms, 3), squared as the kernel does."""
    x, y, z = (one - many).T
    return np.sqrt(fma32(x, x, fma32(y, y, z * z)).astype(float))


def pair_terms(weights: Weights, distance: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Weighted terms (5, pairs): gauss1, gauss2, repulsion, hydrophobic, hbond.

    Args:
        weights: of the functional form.
        distance: (pairs,), Angstrom.
        pair: rows (pairs, 4) of `Form.pair_table`.
    """
    contact, fat, bond, real = pair.T
    s = distance - contact
    return np.where(
        distance < CUTOFF,
        real
        * np.stack(
            [
                weights.gauss1_weight * np.exp(-((s / weights.gauss1_width) ** 2)),
                weights.gauss2_weight
                * np.exp(-(((s - weights.gauss2_offset) / weights.gauss2_width) ** 2)),
                weights.repulsion_weight * np.minimum(s, 0) ** 2,
                weights.hydrophobic_weight
                * fat
                * ramp(s, weights.hydrophobic_good, weights.hydrophobic_bad),
                weights.hbond_weight * bond * ramp(s, weights.hbond_good, weights.hbond_bad),
            ]
        ),
        0.0,
    )


def ramp(s: np.ndarray, good: float, bad: float) -> np.ndarray:
    """1 up to `good`, 0 from `bad`, linear between."""
    return np.clip((bad - s) / (bad - good), 0, 1)


def capped(energy: np.ndarray) -> np.ndarray:
    """Vina's cap on positive energies, see `CAP`."""
    return np.where(energy > 0, energy * (CAP / (CAP + energy)), energy)


def pair_energy_slope(r: np.ndarray, pair: np.ndarray, w: Weights) -> tuple[np.ndarray, np.ndarray]:
    """Energy and dE/dr of pairs at distances r (...), with rows of `Form.pair_table` (..., 4)."""
    s, on = r - pair[..., 0], (r < CUTOFF) * pair[..., 3]
    a, b = s / w.gauss1_width, (s - w.gauss2_offset) / w.gauss2_width
    first, second = w.gauss1_weight * np.exp(-a * a), w.gauss2_weight * np.exp(-b * b)
    overlap = np.minimum(s, 0)
    energy = first + second + w.repulsion_weight * overlap**2
    slope = -2 * a / w.gauss1_width * first - 2 * b / w.gauss2_width * second
    slope = slope + 2 * w.repulsion_weight * overlap
    for weight, flag, good, bad in (
        (w.hydrophobic_weight, pair[..., 1], w.hydrophobic_good, w.hydrophobic_bad),
        (w.hbond_weight, pair[..., 2], w.hbond_good, w.hbond_bad),
    ):
        energy = energy + weight * flag * np.clip((bad - s) / (bad - good), 0, 1)
        slope = slope - weight * flag * ((s > good) & (s < bad)) / (bad - good)
    return on * energy, on * slope


def field_energy(
    points: np.ndarray, receptor: VinaReceptor, types: np.ndarray, form: Form
) -> np.ndarray:
    """Energy (types, points) of a probe of each type at points (points, 3) by the direct sum."""
    distance = np.linalg.norm(points[:, None] - receptor.xyz, axis=-1)
    table = form.pair_table().astype(np.float64)
    rows = (table[kind][receptor.type] for kind in types)
    return np.stack([pair_energy_slope(distance, row, form.weights)[0].sum(axis=1) for row in rows])
