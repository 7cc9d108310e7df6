"""The NumPy twin of kernels/batched/refine.cl: energies, gradients and descents, readable and slow.

It is the specification, in float64. A whole chain of descents is chaotic (it decides by comparing
energies), so a kernel agrees with it to rounding over single evaluations and short descents only.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ligen_py.engine import random
from ligen_py.engine.maps import Grid, Maps
from ligen_py.engine.vina import CUTOFF, FORMS, Form, Weights
from ligen_py.records import Ligands, Poses

ARMIJO = 1e-4
SMALL_DECREASE = 1e-3
"""A descent ends when its next step promises less, kcal/mol."""

WALL = 10.0
"""Energy an atom pays per Angstrom outside the box, kcal/mol."""

RIGID = 6
"""Degrees of freedom of a rigid body: translation, rotation vector."""


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
    points: np.ndarray,
    xyz: np.ndarray,
    receptor_types: np.ndarray,
    types: np.ndarray,
    form: Form,
) -> np.ndarray:
    """Energy (types, points) of a probe of each type at points (points, 3) by the direct sum."""
    distance = np.linalg.norm(points[:, None] - xyz, axis=-1)
    table = form.pair_table().astype(np.float64)
    rows = (table[kind][receptor_types] for kind in types)
    return np.stack([pair_energy_slope(distance, row, form.weights)[0].sum(axis=1) for row in rows])


@dataclass(frozen=True)
class Genotype:
    """Translation (3,), unit quaternion (4,) x, y, z, w, and torsions in radians, float64."""

    translation: np.ndarray
    quaternion: np.ndarray
    torsion: np.ndarray

    @classmethod
    def of(cls, poses: Poses, pose: int) -> "Genotype":
        """A pose as the kernels keep it."""
        turns = slice(poses.first_torsion[pose], poses.first_torsion[pose + 1])
        return cls(
            poses.translation[pose].astype(float),
            np.roll(poses.quaternion[pose], -1).astype(float),
            np.deg2rad(poses.torsion[turns].astype(float)),
        )

    def moved(self, step: np.ndarray) -> "Genotype":
        """The genotype after a step (6 + torsions,) in the degrees of freedom."""
        angle = np.linalg.norm(step[3:6])
        half = step[3:6] * (np.sin(angle / 2) / angle if angle > 1e-6 else 0.5)
        q = _product(np.append(half, np.cos(angle / 2)), self.quaternion)
        return Genotype(
            self.translation + step[:3], q / np.linalg.norm(q), self.torsion + step[RIGID:]
        )


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - a[:3] @ b[:3])


@dataclass(frozen=True)
class Problem:
    """One ligand in one pocket: heavy atoms, maps, pairs.

    `maps` (types, x, y, z) and `slot` (atoms,), the map of each atom; `pair` (atoms, atoms, 4),
    rows of the pair table; `tested` (atoms, atoms), which pairs count.
    """

    xyz: np.ndarray
    axis: np.ndarray
    ranges: np.ndarray
    slot: np.ndarray
    pair: np.ndarray
    tested: np.ndarray
    maps: np.ndarray
    grid: Grid
    weights: Weights

    @classmethod
    def of(cls, ligands: Ligands, number: int, maps: Maps, values: np.ndarray) -> "Problem":
        """A ligand in the maps of a pocket, with their values (types, x, y, z)."""
        heavy, first = int(ligands.heavy[number]), ligands.first_atom[number]
        torsions = slice(ligands.first_torsion[number], ligands.first_torsion[number + 1])
        words = slice(ligands.first_pair[number], ligands.first_pair[number + 1])
        types = ligands.vina_type[first : first + heavy]
        mask = ligands.pair_mask[words].reshape(heavy, -1).view("u1")
        form = FORMS[maps.form]
        return cls(
            xyz=ligands.xyz[first : first + heavy],
            axis=ligands.torsion_axis[torsions],
            ranges=ligands.torsion_range[torsions],
            slot=maps.slot[types],
            pair=form.pair_table().astype(float)[types][:, types],
            tested=np.unpackbits(mask, axis=1, bitorder="little")[:, :heavy].astype(bool),
            maps=values,
            grid=maps.grid,
            weights=form.weights,
        )

    @property
    def squared_scale(self) -> np.ndarray:
        """Unit of each degree of freedom, squared: one that moves atoms by about an Angstrom."""
        spread = np.sqrt(max(1.0, (self.xyz.astype(float) ** 2).sum(axis=1).mean()))
        arm = np.concatenate([np.ones(3), np.full(3, spread), np.full(len(self.axis), 2.0)])
        return 1 / arm**2

    def places(self, genotype: Genotype) -> np.ndarray:
        """Coordinates (atoms, 3)."""
        xyz = self.xyz.astype(np.float64)
        for (near, far), limits, angle in zip(
            self.axis, self.ranges, genotype.torsion, strict=True
        ):
            side = slice(limits[0], limits[1])
            direction = (xyz[far] - xyz[near]) / np.linalg.norm(xyz[far] - xyz[near])
            xyz[side] = xyz[near] + _turn(direction, angle, xyz[side] - xyz[near])
        x, y, z, w = genotype.quaternion
        axis = np.array([x, y, z])
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
            height = self.maps[self.slot, at[:, 0], at[:, 1], at[:, 2]].astype(np.float64)
            share = np.where(corner, part, 1 - part)
            value += height * share.prod(axis=1)
            for axis in range(3):
                others = np.delete(share, axis, axis=1).prod(axis=1)
                gradient[:, axis] += (
                    height * others * (1 if corner[axis] else -1) / self.grid.spacing
                )
        gradient = np.where(outside == 0, gradient, WALL * np.sign(outside))
        return value + WALL * np.abs(outside).sum(axis=1), gradient

    def evaluate(self, genotype: Genotype) -> tuple[float, np.ndarray]:
        """Energy, kcal/mol, and its gradient (6 + torsions,)."""
        xyz = self.places(genotype)
        value, force = self.look_up(xyz)
        apart = xyz[:, None] - xyz
        r = np.maximum(np.linalg.norm(apart, axis=-1), 1e-3)
        energy, slope = pair_energy_slope(r, self.pair, self.weights)
        force = force + (np.where(self.tested, slope / r, 0)[..., None] * apart).sum(axis=1)
        moment = np.cross(xyz - genotype.translation, force)
        torsion = []
        for (near, far), limits in zip(self.axis, self.ranges, strict=True):
            side = slice(limits[0], limits[1])
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
) -> tuple[float, Genotype]:
    """BFGS with backtracking from a genotype: the energy and genotype where it ends."""
    place = start
    energy, gradient = evaluate(place)
    hessian = np.diag(scale)
    first = True
    direction, slope, hessian = _direction(hessian, gradient, scale)
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
        hessian = _updated(hessian, s, y, scale if first else None)
        place, energy, gradient, first = there, found, new_gradient, False
        direction, slope, hessian = _direction(hessian, gradient, scale)
        if -slope < SMALL_DECREASE:
            break
        step = _first_step(direction, scale)
    return energy, place


def _direction(hessian: np.ndarray, gradient: np.ndarray, scale: np.ndarray) -> tuple:
    direction = -hessian @ gradient
    if not direction @ gradient < 0:
        hessian = np.diag(scale)
        direction = -hessian @ gradient
    return direction, float(direction @ gradient), hessian


def _first_step(direction: np.ndarray, scale: np.ndarray) -> float:
    return float(min(1.0, 1 / np.sqrt(max(1e-6, (direction**2 / scale).max()))))


def _updated(h: np.ndarray, s: np.ndarray, y: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    """BFGS update of an inverse Hessian; the first one also sets its size."""
    sy = float(s @ y)
    if sy <= 1e-6:
        return h
    if scale is not None:
        h = np.diag(scale) * sy / float(y @ (scale * y))
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
