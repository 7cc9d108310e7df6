"""The NumPy twin of kernels/include/energy.clh and batched/refine.cl, readable and slow.

It is the specification, in float64. A whole chain of descents is chaotic (it decides by comparing
energies), so a kernel agrees with it to rounding over single evaluations and short descents only.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ligen_py.engine import random
from ligen_py.engine.filtering.reference import select_poses
from ligen_py.engine.geometry import F4
from ligen_py.engine.refinement.chemical_field import ChemicalField
from ligen_py.engine.refinement.ligand_keys import RIGID
from ligen_py.engine.refinement.maps import Grid
from ligen_py.engine.refinement.view import PairEnergy
from ligen_py.functions import load
from ligen_py.records.kept import Verdict
from ligen_py.records.ligands import Ligands
from ligen_py.records.poses import Poses

ARMIJO = 1e-4
SMALL_DECREASE = 1e-3
"""A descent ends when its next step promises less, kcal/mol."""

WALL = 10.0
"""Energy an atom pays per Angstrom outside the box, kcal/mol."""

STIFFER, STIFF = 1.02, 0.05
"""What the diagonal of a metric is multiplied by, and what is added to it, in Angstrom squared: a
torsion that moves hardly any atom does not turn without limit."""

WORST = 1e6
"""Energies above are equal where poses are kept, kcal/mol."""


@dataclass(frozen=True)
class Genotype:
    """Translation (3,), unit quaternion (4,), and torsions in radians, float64."""

    translation: np.ndarray
    quaternion: np.ndarray
    torsion: np.ndarray

    @classmethod
    def of(cls, poses: Poses, pose: int) -> "Genotype":
        """A pose as the kernels keep it."""
        turns = slice(poses.first_torsion[pose], poses.first_torsion[pose + 1])
        return cls(
            poses.translation[pose].astype(float),
            poses.quaternion[pose].astype(float),
            np.deg2rad(poses.torsion[turns].astype(float)),
        )

    def moved(self, step: np.ndarray) -> "Genotype":
        """The genotype after a step (6 + torsions,) in the degrees of freedom."""
        angle = np.linalg.norm(step[3:6])
        half = step[3:6] * (np.sin(angle / 2) / angle if angle > 1e-6 else 0.5)
        q = _product(np.insert(half, 0, np.cos(angle / 2)), self.quaternion)
        return Genotype(
            self.translation + step[:3], q / np.linalg.norm(q), self.torsion + step[RIGID:]
        )


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.insert(vector, 0, a[0] * b[0] - a[1:] @ b[1:])


@dataclass(frozen=True)
class Problem:
    """One ligand in one pocket: its atoms, maps, pairs.

    `far` (torsions, atoms): the far side of each torsion. An atom's energy is the sum of the
    `maps` (maps, x, y, z) by its `shares` (atoms, maps). `tested` (atoms, atoms): pairs that count.
    """

    xyz: np.ndarray
    axis: np.ndarray
    far: np.ndarray
    shares: np.ndarray
    pair_energy: PairEnergy
    tested: np.ndarray
    maps: np.ndarray
    grid: Grid
    wall: float = WALL
    """Energy an atom pays per Angstrom outside the box, kcal/mol."""
    steepest: float = np.inf
    """The most that the gradient has of a component of an atom's force in the maps, and of a pair's
    force, kcal/mol/A."""

    @classmethod
    def of(
        cls,
        function: str,
        ligands: Ligands,
        number: int,
        field: ChemicalField,
        values: np.ndarray,
    ) -> "Problem":
        """A ligand in the field of a function, with the values (maps, x, y, z) of its maps."""
        turns = slice(ligands.first_torsion[number], ligands.first_torsion[number + 1])
        atoms, shares, pair_energy, tested = load(function, "field_reference").view(
            ligands, number, field
        )
        heavy, hydrogen = ligands.torsion_range[turns, :2], ligands.torsion_range[turns, 2:]
        far = [
            (atoms >= first[:, None]) & (atoms < last[:, None])
            for first, last in (heavy.T, hydrogen.T)
        ]
        return cls(
            xyz=ligands.xyz[ligands.first_atom[number] + atoms],
            axis=np.searchsorted(atoms, ligands.torsion_axis[turns]),
            far=far[0] | far[1],
            shares=shares,
            pair_energy=pair_energy,
            tested=tested,
            maps=values,
            grid=field.maps.grid,
        )

    @property
    def squared_scale(self) -> np.ndarray:
        """Unit of each degree of freedom, squared: one that moves atoms by about an Angstrom."""
        spread = np.sqrt(max(1.0, (self.xyz.astype(float) ** 2).sum(axis=1).mean()))
        arm = np.concatenate([np.ones(3), np.full(3, spread), np.full(len(self.axis), 2.0)])
        return 1 / arm**2

    def first_inverse(self, genotype: Genotype) -> np.ndarray:
        """The inverse Hessian (freedoms, freedoms) with which a descent begins.

        It is that of a pose whose every atom a spring of unit strength holds, the mean over the
        atoms: then all directions in which atoms move as far are equally stiff, whatever degrees of
        freedom move them.
        """
        xyz = self.places(genotype)
        moves = np.zeros((RIGID + len(self.axis), *xyz.shape))
        moves[:3] = np.eye(3)[:, None]
        moves[3:RIGID] = np.cross(np.eye(3)[:, None], xyz - genotype.translation)
        for (near, far), side, move in zip(self.axis, self.far, moves[RIGID:], strict=True):
            direction = (xyz[far] - xyz[near]) / np.linalg.norm(xyz[far] - xyz[near])
            move[side] = np.cross(direction, xyz[side] - xyz[near])
        flat = moves.reshape(len(moves), -1)
        metric = flat @ flat.T / len(xyz)
        np.fill_diagonal(metric, STIFFER * metric.diagonal() + STIFF)
        return np.linalg.inv(metric)

    def places(self, genotype: Genotype) -> np.ndarray:
        """Coordinates (atoms, 3)."""
        xyz = self.xyz.astype(np.float64)
        for (near, far), side, angle in zip(self.axis, self.far, genotype.torsion, strict=True):
            direction = (xyz[far] - xyz[near]) / np.linalg.norm(xyz[far] - xyz[near])
            xyz[side] = xyz[near] + _turn(direction, angle, xyz[side] - xyz[near])
        w, axis = genotype.quaternion[0], genotype.quaternion[1:]
        t = 2 * np.cross(axis, xyz)
        return xyz + w * t + np.cross(axis, t) + genotype.translation

    def look_up(self, xyz: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Map values (atoms,) and gradients (atoms, 3): trilinear in the box, a wall outside."""
        shape = np.array(self.grid.shape)
        last = self.grid.origin + self.grid.spacing * (shape - 1)
        inside = np.clip(xyz, self.grid.origin, last)
        outside = xyz - inside
        u = (inside - self.grid.origin) / self.grid.spacing
        cell = np.minimum(u.astype(int), shape - 2)
        part = u - cell
        value, gradient = np.zeros(len(xyz)), np.zeros((len(xyz), 3))
        for corner in np.ndindex(2, 2, 2):
            at = cell + corner
            values = self.maps[:, at[:, 0], at[:, 1], at[:, 2]].astype(np.float64)
            height = (self.shares * values.T).sum(axis=1)
            share = np.where(corner, part, 1 - part)
            value += height * share.prod(axis=1)
            for axis in range(3):
                others = np.delete(share, axis, axis=1).prod(axis=1)
                gradient[:, axis] += (
                    height * others * (1 if corner[axis] else -1) / self.grid.spacing
                )
        gradient = np.clip(gradient, -self.steepest, self.steepest)
        gradient = np.where(outside == 0, gradient, self.wall * np.sign(outside))
        return value + self.wall * np.abs(outside).sum(axis=1), gradient

    def evaluate(self, genotype: Genotype) -> tuple[float, np.ndarray]:
        """Energy, kcal/mol, and its gradient (6 + torsions,)."""
        xyz = self.places(genotype)
        value, force = self.look_up(xyz)
        apart = xyz[:, None] - xyz
        r = np.maximum(np.linalg.norm(apart, axis=-1), 1e-3)
        energy, slope = self.pair_energy(r)
        slope = np.clip(slope, -self.steepest, self.steepest)
        force = force + (np.where(self.tested, slope / r, 0)[..., None] * apart).sum(axis=1)
        moment = np.cross(xyz - genotype.translation, force)
        torsion = []
        for (near, far), side in zip(self.axis, self.far, strict=True):
            direction = (xyz[far] - xyz[near]) / np.linalg.norm(xyz[far] - xyz[near])
            torsion.append(direction @ np.cross(xyz[side] - xyz[near], force[side]).sum(axis=0))
        gradient = np.concatenate([force.sum(axis=0), moment.sum(axis=0), torsion])
        return float(value.sum() + (energy * self.tested).sum() / 2), gradient


def _turn(direction: np.ndarray, angle: float, vectors: np.ndarray) -> np.ndarray:
    along = np.outer(vectors @ direction, direction)
    return along + np.cos(angle) * (vectors - along) + np.sin(angle) * np.cross(direction, vectors)


def descend(
    evaluate: Callable[[Genotype], tuple[float, np.ndarray]],
    start: Genotype,
    evaluations: int,
    scale: np.ndarray,
    inverse: np.ndarray,
) -> tuple[float, Genotype]:
    """BFGS with backtracking from a genotype: the energy and genotype where it ends.

    `scale` (freedoms,) limits the steps, `inverse` (freedoms, freedoms) is the inverse Hessian at
    the start. A direction that is no descent, which rounding alone makes, ends it as well.
    """
    place = start
    energy, gradient = evaluate(place)
    first = True
    direction = -inverse @ gradient
    slope = float(direction @ gradient)
    if not -slope >= SMALL_DECREASE:
        return energy, place
    step = _first_step(direction, scale)
    for _ in range(1, evaluations):
        there = place.moved(step * direction)
        found, new_gradient = evaluate(there)
        if not found <= energy + ARMIJO * step * slope:
            best = -0.5 * slope * step * step / (found - energy - slope * step)
            step = float(np.clip(best, 0.1 * step, 0.5 * step))
            if -slope * step < SMALL_DECREASE:
                break
            continue
        s, y = step * direction, new_gradient - gradient
        inverse = _updated(inverse, s, y, first)
        place, energy, gradient, first = there, found, new_gradient, False
        direction = -inverse @ gradient
        slope = float(direction @ gradient)
        if not -slope >= SMALL_DECREASE:
            break
        step = _first_step(direction, scale)
    return energy, place


def _first_step(direction: np.ndarray, scale: np.ndarray) -> float:
    return float(min(1.0, 1 / np.sqrt(max(1e-6, (direction**2 / scale).max()))))


def _updated(h: np.ndarray, s: np.ndarray, y: np.ndarray, first: bool) -> np.ndarray:
    """BFGS update of an inverse Hessian; the first one also sets its size."""
    sy = float(s @ y)
    if sy <= 1e-6:
        return h
    if first:
        h = h * sy / float(y @ h @ y)
    hy = h @ y
    return h + (1 + y @ hy / sy) / sy * np.outer(s, s) - (np.outer(hy, s) + np.outer(s, hy)) / sy


def perturbed(
    place: Genotype, key: int, restart: int, turn: int, amplitude: float, radius_of_gyration: float
) -> Genotype:
    """Change position, orientation or one torsion, each as likely as any other."""
    torsions = len(place.torsion)
    choice = int(random.uniform(key, restart, turn, 0) * (torsions + 2))
    step = np.zeros(RIGID + torsions)
    if choice == 0:
        step[:3] = amplitude * random.in_ball(key, restart, turn)
    elif choice == 1:
        step[3:RIGID] = amplitude / radius_of_gyration * random.in_ball(key, restart, turn)
    else:
        step[RIGID + choice - 2] = np.pi * (2 * random.uniform(key, restart, turn, 4) - 1)
    return place.moved(step)


def lowest(
    energies: np.ndarray, first_pose: np.ndarray, rivals: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Rows of the poses of lowest energy among those that compete, rising.

    Ligands (ligands,) of one number in `rivals`, which ascends from 0, compete; of all their poses
    so many are chosen as `counts` has for that number. Of equal energies the first is lower; one
    that is no number is higher than all others.

    >>> energies, first_pose = np.array([3, 1, 2, 5, 5]), np.array([0, 2, 3, 5])
    >>> lowest(energies, first_pose, rivals=np.array([0, 0, 1]), counts=np.array([2, 1]))
    array([1, 2, 3])
    """
    chosen = [np.zeros(0, np.int64)]
    limits = first_pose[np.searchsorted(rivals, np.arange(len(counts) + 1))]
    for first, last, count in zip(limits[:-1], limits[1:], counts, strict=True):
        order = np.argsort(energies[first:last], kind="stable")
        chosen.append(first + np.sort(order[:count]))
    return np.concatenate(chosen)


def keep_best(
    energies: np.ndarray, places: np.ndarray, cluster_rmsd: float, max_num_poses: int
) -> tuple[np.ndarray, np.ndarray]:
    """Which refined poses of one ligand are kept, and their clusters, each (kept,); lowest first.

    Args:
        energies: after the refinement (poses,), kcal/mol, float32. Those that are equal when
            rounded to 0.001 are equal, and one that is no number is the highest.
        places: heavy atoms of every pose (poses, heavy, 3), Angstrom, float32.
        cluster_rmsd: of poses within this only the lowest is kept, without symmetry, Angstrom.
        max_num_poses: poses kept.
    """
    thousandths = np.rint(np.clip(energies, F4(-WORST), F4(WORST)) * F4(1000)).astype(float)
    score = np.where(np.isnan(energies), -np.inf, -thousandths)
    unbumped = np.zeros(len(energies), bool)
    pose, verdict, cluster = select_poses(score, unbumped, places, cluster_rmsd, max_num_poses)
    leads = verdict == Verdict.REPRESENTATIVE
    return pose[leads], cluster[leads]
