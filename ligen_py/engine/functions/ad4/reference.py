"""AutoDock4's energies in NumPy: the specification of kernels/batched/ad4.cl, readable and slow.

Sources: as in `constants`. Distances in Angstrom, energies in
kcal/mol, weights included.
"""

from dataclasses import dataclass

import numpy as np

from ligen_py.engine.functions.ad4.constants import (
    ACCEPTOR,
    CHARGE_SOLVATION,
    CLAMP,
    COULOMB,
    CUTOFF,
    DIELECTRIC,
    DONOR,
    FARTHEST,
    NEAREST_CHARGE,
    NITROGEN_ACCEPTOR,
    SMOOTHING,
    SOLVATION_WIDTH,
    TERMS,
    WEIGHTS,
    ad4_pairs,
    pair_table,
    type_table,
)
from ligen_py.engine.pose_arrays import places
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Receptor, Ad4Type
from ligen_py.records.poses import Poses


@dataclass(frozen=True)
class Molecule:
    """A ligand in the coordinates of a pose."""

    xyz: np.ndarray
    """float32 (atoms, 3)."""
    types: np.ndarray
    charges: np.ndarray
    pairs: np.ndarray
    """Atoms that interact with each other (pairs, 2)."""
    torsions: float
    """Active torsions."""


WATCHED = ("total",)
"""Terms that the watch compares with the kernel's."""


def score_poses(ligands: Ad4Ligands, receptor: Ad4Receptor, poses: Poses) -> dict[str, np.ndarray]:
    """Term -> float32 array with one value a pose (`TERMS`; NaN: not finite)."""
    rows = [
        terms(molecule(ligands, number, poses, pose), receptor)
        for number in range(len(ligands.entry))
        for pose in range(poses.first_pose[number], poses.first_pose[number + 1])
    ]
    return {name: np.array([row[name] for row in rows], np.float32) for name in TERMS}


def molecule(ligands: Ad4Ligands, number: int, poses: Poses, pose: int) -> Molecule:
    """Ligand `number` in the coordinates of a pose."""
    atoms = slice(ligands.first_atom[number], ligands.first_atom[number + 1])
    return Molecule(
        xyz=places(ligands, poses, number, slice(pose, pose + 1))[0],
        types=ligands.type[atoms],
        charges=ligands.partial_charge[atoms].astype(float),
        pairs=ad4_pairs(ligands, number, number + 1)[0].astype(np.int64),
        torsions=float(ligands.torsions[number]),
    )


def terms(ligand: Molecule, receptor: Ad4Receptor) -> dict[str, float]:
    """All terms of a pose; NaN, all but `torsional`, if a coordinate is not finite."""
    torsional = WEIGHTS["TORSION"] * ligand.torsions
    if not np.isfinite(ligand.xyz).all():
        return {**dict.fromkeys(TERMS, np.nan), "torsional": torsional}
    parts = [
        receptor_terms(receptor, ligand.xyz[i].astype(float), int(ligand.types[i]), charge)
        for i, charge in enumerate(ligand.charges.tolist())
        if ligand.types[i] != Ad4Type.NONE
    ]
    sums = {name: sum(part[name] for part in parts) for name in TERMS[:4]}
    affinity = sum(sums.values()) + torsional
    intra = sum(float(values.sum()) for values in pair_terms(ligand).values())
    return {
        **sums,
        "intra": intra,
        "torsional": torsional,
        "affinity": affinity,
        "total": -affinity,
    }


def pair_terms(ligand: Molecule) -> dict[str, np.ndarray]:
    """Terms of every pair within a ligand: vdw, hbond, estat, desolv, each (pairs,)."""
    one, two = ligand.pairs.T
    r = np.linalg.norm(ligand.xyz[one].astype(float) - ligand.xyz[two], axis=1)
    pair = pair_table().astype(float)[ligand.types[one], ligand.types[two]]
    energy = np.where(r < CUTOFF, dispersion(r, pair), 0.0)
    bonds = pair[:, 3] == 10
    solvation, volume = type_table().astype(float)[ligand.types, :2].T
    solvation = solvation + CHARGE_SOLVATION * np.abs(ligand.charges)
    overlap = solvation[one] * volume[two] + solvation[two] * volume[one]
    inside = r < FARTHEST
    return {
        "vdw": np.where(bonds, 0.0, energy),
        "hbond": np.where(bonds, energy, 0.0),
        "estat": inside * ligand.charges[one] * ligand.charges[two] * electrostatics(r),
        "desolv": inside * overlap * solvation_range(r),
    }


def dielectric(r: np.ndarray) -> np.ndarray:
    """Relative permittivity at distances r."""
    a, b, k, rate = (DIELECTRIC[name] for name in ("A", "B", "K", "LAMBDA"))
    return a + b / (1 + k * np.exp(-rate * b * r))


def smoothed(r: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """The distance within `SMOOTHING` of r at which a pair's energy is lowest."""
    return np.clip(distance, r - SMOOTHING, r + SMOOTHING)


def dispersion(r: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """A / r^12 - B / r^n of pairs (rows (..., 4) of `pair_table`), smoothed and clamped."""
    a, b, distance, power = np.moveaxis(pair, -1, 0)
    s = np.maximum(smoothed(r, distance), 1e-3)
    return np.where(power > 0, np.minimum(a / s**12 - b / s**power, CLAMP), 0.0)


def electrostatics(r: np.ndarray) -> np.ndarray:
    """Energy of two unit charges."""
    return WEIGHTS["ESTAT"] * COULOMB / (np.maximum(r, NEAREST_CHARGE) * dielectric(r))


def solvation_range(r: np.ndarray) -> np.ndarray:
    """How much of an atom's volume counts at a distance."""
    return WEIGHTS["DESOLV"] * np.exp(-(r**2) / (2 * SOLVATION_WIDTH**2))


def receptor_terms(
    receptor: Ad4Receptor, place: np.ndarray, kind: int, charge: float
) -> dict[str, float]:
    """Terms of one ligand atom at a place (3,): vdw, hbond, estat, desolv.

    Van der Waals energies add up. Of hydrogen bonds, those an oxygen or sulfur takes add up, each
    weakened as its donor points elsewhere than the nearest donor; a hydrogen, or a nitrogen that
    takes, has its best and its worst bond alone, as in AutoGrid.
    """
    pairs, types = pair_table().astype(float), type_table().astype(float)
    offset = receptor.xyz.astype(float) - place
    r = np.linalg.norm(offset, axis=1)
    estat = charge * float((receptor.partial_charge * electrostatics(r)).sum())
    near = r <= CUTOFF
    sites, r = np.flatnonzero(near), r[near]
    others = receptor.type[sites]
    solvation, volume = types[others, :2].T
    mine = types[kind, 0] + CHARGE_SOLVATION * abs(charge)
    theirs = solvation + CHARGE_SOLVATION * np.abs(receptor.partial_charge[sites].astype(float))
    desolv = float(((mine * volume + theirs * types[kind, 1]) * solvation_range(r)).sum())

    energy = dispersion(r, pairs[kind, others])
    bonds, hbond = pairs[kind, others, 3] == 10, 0.0
    if bonds.any():
        r, bonded = r[bonds], energy[bonds]
        toward = offset[near][bonds] / np.maximum(r, 1e-6)[:, None]
        angular, ramp = _directions(receptor, sites[bonds], toward, r)
        bonded = bonded * (angular + (1 - angular) * np.clip(bonded / 100, 0, 1))
        by_nearest = types[kind, 2] == ACCEPTOR
        hbond = float((bonded * ramp).sum() if by_nearest else bonded.min() + bonded.max())
    return {
        "vdw": float(energy[~bonds].sum()),
        "hbond": hbond,
        "estat": estat,
        "desolv": desolv,
    }


def _directions(
    receptor: Ad4Receptor, sites: np.ndarray, toward: np.ndarray, r: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Angular factor of each receptor atom's hydrogen bond, and the ramp of each donor.

    `toward` holds unit vectors from the ligand atom to the receptor atoms `sites`.
    """
    kind = type_table()[receptor.type[sites], 2]
    axis, normal = receptor.axis[sites].astype(float), receptor.normal[sites].astype(float)
    cosine = -(toward * axis).sum(axis=1)
    front = np.maximum(cosine, 0)
    donor = front ** receptor.exponent[sites]
    out_of_plane = np.clip((toward * normal).sum(axis=1), -1, 1)
    within = np.cross(toward, normal)
    length = np.maximum(np.linalg.norm(within, axis=1), 1e-6)
    sine = np.clip((within * axis).sum(axis=1) / length, -1, 1)
    lone_pair = 0.9 + 0.2 * np.abs(sine) * np.sqrt(1 - sine**2)
    behind = np.where(cosine >= -0.34202, 562.25 * (0.116978 - cosine**2) ** 3, 0)
    acceptor = np.where(cosine >= 0, lone_pair, behind) * np.sqrt(1 - out_of_plane**2)
    angular = np.select(
        [kind == DONOR, kind == NITROGEN_ACCEPTOR, kind == ACCEPTOR],
        [donor, front**2, acceptor],
        1.0,
    )
    return angular, _ramp(receptor, sites, kind, cosine, r)


def _ramp(
    receptor: Ad4Receptor,
    sites: np.ndarray,
    kind: np.ndarray,
    cosine: np.ndarray,
    r: np.ndarray,
) -> np.ndarray:
    """1 for the nearest donor; for others less, the more they point as the nearest does."""
    ramp = np.ones(len(sites))
    donors = np.flatnonzero(kind == DONOR)
    if len(donors):
        nearest = donors[np.argmin(r[donors])]
        axis = receptor.axis[sites].astype(float)
        angle = np.arccos(np.clip(axis[donors] @ axis[nearest], -1, 1))
        ramp[donors] = np.where(cosine[donors] > 0, 0.5 - 0.5 * np.cos(angle * 4 / 3), 1.0)
        ramp[nearest] = 1.0
    return ramp


def field_energy(points: np.ndarray, receptor: Ad4Receptor, types: np.ndarray) -> np.ndarray:
    """AutoGrid's maps at points (points, 3), Angstrom: (2 + types, points), kcal/mol.

    Energy of a unit charge; what a unit of absolute charge adds to desolvation; and the energy of a
    neutral atom of each type.
    """
    columns = []
    for place in points:
        bare, charged = (receptor_terms(receptor, place, Ad4Type.C, q) for q in (0.0, 1.0))
        neutral = [receptor_terms(receptor, place, int(kind), 0.0) for kind in types]
        sums = [found["vdw"] + found["hbond"] + found["desolv"] for found in neutral]
        columns.append([charged["estat"], charged["desolv"] - bare["desolv"], *sums])
    return np.array(columns).T


def pair_energy_slope(
    r: np.ndarray, types: np.ndarray, charges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Energy, kcal/mol, and dE/dr of all pairs of a ligand's atoms; r is (atoms, atoms)."""
    pair = pair_table().astype(float)[types[:, None], types]
    solvation, volume = type_table().astype(float)[types, :2].T
    overlap = (solvation + CHARGE_SOLVATION * np.abs(charges))[:, None] * volume
    near = r < CUTOFF
    contact = np.where(near, dispersion(r, pair), 0.0)
    estat = charges[:, None] * charges * electrostatics(r)
    desolv = (overlap + overlap.T) * solvation_range(r)

    a, b, distance, power = np.moveaxis(pair, -1, 0)
    s = np.maximum(smoothed(r, distance), 1e-3)
    steep = near & (s != distance) & (contact < CLAMP)
    slope = np.where(steep, (power * b / s**power - 12 * a / s**12) / s, 0.0)
    base, k, rate = (DIELECTRIC[name] for name in ("B", "K", "LAMBDA"))
    decay = k * np.exp(-rate * base * r)
    rise = rate * base**2 * decay / (1 + decay) ** 2
    slope = slope - estat * (rise / dielectric(r) + (r > NEAREST_CHARGE) / r)
    slope = slope - desolv * r / SOLVATION_WIDTH**2
    inside = r < FARTHEST
    return inside * (contact + estat + desolv), inside * slope
