"""The geometric field of a pocket and the anchors at which ligands start (docs/method.md).

Every value is a small integer, so a pose's score is exact and independent of any order of
summation. Burial is LIGSITE's idea as CAVIAR uses it (jr-marchand/caviar): how many of 14
directions around a solvent point end in protein. It is evaluated at the grid's own points and not
on a lattice of 1 Angstrom, and beyond the box's faces as far as it looks, so that it depends
neither on the spacing's phase nor on where the box ends.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ligen_py.engine.constants import BONDI_RADII, CORE, OUTSIDE
from ligen_py.errors import InputError
from ligen_py.records.pocket import GeometricField

NON_METAL_RADII = BONDI_RADII | {5: 1.92, 33: 1.85, 34: 1.90, 52: 2.06}
"""Van der Waals radii in Angstrom by atomic number."""

METAL_RADIUS = 0.60
"""Radius in Angstrom of every other element.

A ligand's atom binds a metal at 1.8 to 2.4 Angstrom. The radii with which cavities are usually
sought (zinc 1.77, calcium 2.41) would put exactly these places inside the receptor.
"""

PROBE = 1.0
"""A point with less clearance than this (Angstrom) is inside the receptor."""

CONTACT = 1.4
"""A point with less clearance than this (Angstrom) touches the receptor: TIGHT."""

TIGHT = -2
CAVITY = 8
"""Least burial of a cavity point, and the value of points enclosed by cavity points."""

BULK_DISTANCE = 6.0
"""A point farther than this (Angstrom) from every atom is bulk, which counts as outside."""

WALL = (3.0, 4.0)
"""Distances at which protein is searched along each direction: Angstrom along x, y and z."""

ENCLOSURE = (1.0, 3.0)
"""Distances at which cavity points that enclose a point are searched, likewise."""

ANCHOR_NEIGHBOURS = 2
"""An anchor's rank depends on the points up to this many steps away along x, y and z."""

DIRECTIONS = tuple(
    (x, y, z)
    for x in (-1, 0, 1)
    for y in (-1, 0, 1)
    for z in (-1, 0, 1)
    if abs(x) + abs(y) + abs(z) in (1, 3)
)
"""The six faces and eight corners of a cube."""


@dataclass(frozen=True)
class Box:
    """A cube of grid points; point (0, 0, 0) lies at the centre minus the half side."""

    center: tuple[float, float, float]
    half_side: float
    spacing: float

    @property
    def origin(self) -> np.ndarray:
        """Position (3,) of the first point, Angstrom, float64."""
        return np.array(self.center, np.float64) - self.half_side

    @property
    def points(self) -> int:
        """Points along each side."""
        return int(2 * self.half_side / self.spacing + 1e-6) + 1


def radii(element: np.ndarray) -> np.ndarray:
    """Radii (atoms,), Angstrom, float64, of atomic numbers."""
    table = np.full(256, METAL_RADIUS)
    table[list(NON_METAL_RADII)] = list(NON_METAL_RADII.values())
    return table[element]


def _steps(spacing: float, limits: tuple[float, float]) -> range:
    """Grid steps between two distances along an axis; spacings up to 1 Angstrom always have one."""
    return range(int(np.ceil(limits[0] / spacing - 1e-6)), int(limits[1] / spacing + 1e-6) + 1)


def _spheres(
    origin: np.ndarray, spacing: float, points: int, xyz: np.ndarray, reach: np.ndarray
) -> Iterator[tuple[int, tuple[slice, ...], np.ndarray]]:
    """For each atom near the grid: its number, the block of points in reach, their distances."""
    axis = origin[:, None] + spacing * np.arange(points)
    low = np.ceil((xyz - reach[:, None] - origin) / spacing - 1e-6).astype(int).clip(0, points)
    high = (
        np.floor((xyz + reach[:, None] - origin) / spacing + 1e-6).astype(int).clip(-1, points - 1)
    )
    for atom in np.flatnonzero((low <= high).all(axis=1)).tolist():
        block = tuple(slice(low[atom, d], high[atom, d] + 1) for d in range(3))
        x, y, z = ((axis[d, block[d]] - xyz[atom, d]) ** 2 for d in range(3))
        yield atom, block, np.sqrt(x[:, None, None] + y[:, None] + z)


def clearances(
    origin: np.ndarray, spacing: float, points: int, xyz: np.ndarray, radius: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Clearance and bulk at every point of a cubic grid.

    Clearance (points, points, points), Angstrom: the least distance to an atom's surface, exact up
    to `CONTACT` and infinite or larger beyond. Bulk: whether every atom's centre is farther than
    `BULK_DISTANCE`. Both are minima, so the order of the atoms does not matter.
    """
    clearance = np.full((points,) * 3, np.inf)
    nearest = np.full((points,) * 3, np.inf)
    reach = np.maximum(radius + CONTACT, BULK_DISTANCE)
    for atom, block, distance in _spheres(origin, spacing, points, xyz, reach):
        np.minimum(nearest[block], distance, out=nearest[block])
        np.minimum(clearance[block], distance - radius[atom], out=clearance[block])
    return clearance, nearest > BULK_DISTANCE


def count_directions(mask: np.ndarray, steps: range) -> np.ndarray:
    """Number of the 14 directions in which a marked point lies at one of the steps.

    `mask` is (n, n, n) bool; the result int8, smaller by the largest step on every side.
    """
    margin = steps[-1]
    inner = tuple(size - 2 * margin for size in mask.shape)
    count = np.zeros(inner, np.int8)
    for direction in DIRECTIONS:
        found = np.zeros(inner, bool)
        for step in steps:
            start = [margin + step * way for way in direction]
            found |= mask[tuple(slice(s, s + size) for s, size in zip(start, inner, strict=True))]
        count += found
    return count


def _core(array: np.ndarray, margin: int) -> np.ndarray:
    inside = slice(margin, -margin or None)
    return array[inside, inside, inside]


def burial(box: Box, xyz: np.ndarray, element: np.ndarray) -> np.ndarray:
    """Burial (n, n, n), int8, 0 to 14, of solvent points near heavy atoms (atoms, 3) in Angstrom.

    As in `field_values`, but for points that touch the receptor, too.
    """
    wall = _steps(box.spacing, WALL)
    margin = wall[-1]
    origin, points = box.origin - margin * box.spacing, box.points + 2 * margin
    clearance, bulk = clearances(
        origin, box.spacing, points, xyz.astype(np.float64), radii(element)
    )
    inside = clearance < PROBE
    return (count_directions(inside, wall) * _core(~inside & ~bulk, margin)).astype(np.int8)


def field_values(box: Box, xyz: np.ndarray, element: np.ndarray) -> np.ndarray:
    """The field (n, n, n), int8, from heavy receptor atoms (atoms, 3) in Angstrom.

    `CORE`, `TIGHT`, burial 8..14 in cavities, 8 at points that cavity points enclose, 0 elsewhere
    near the protein, `OUTSIDE` in bulk.
    """
    wall, enclosure = _steps(box.spacing, WALL), _steps(box.spacing, ENCLOSURE)
    first, second = wall[-1], enclosure[-1]
    margin = first + second
    origin = box.origin - margin * box.spacing
    clearance, bulk = clearances(
        origin, box.spacing, box.points + 2 * margin, xyz.astype(np.float64), radii(element)
    )
    inside = clearance < PROBE
    solvent = _core(~inside & ~bulk, first)
    depth = count_directions(inside, wall) * solvent
    cavity = depth >= CAVITY
    enclosed = (count_directions(cavity, enclosure) >= CAVITY) & _core(solvent, second)

    clearance, bulk = _core(clearance, margin), _core(bulk, margin)
    value = np.where(enclosed, CAVITY, 0)
    value = np.where(_core(cavity, second), _core(depth, second), value)
    value = np.where(bulk, OUTSIDE, value)
    value = np.where(clearance < CONTACT, TIGHT, value)
    return np.where(clearance < PROBE, CORE, value).astype(np.int8)


def _box_sum(values: np.ndarray, reach: int) -> np.ndarray:
    """Sums over cubes of 2 * reach + 1 points a side; points beyond the grid count as 0."""
    for axis in range(3):
        padding = [(reach + 1, reach) if d == axis else (0, 0) for d in range(3)]
        running = np.cumsum(np.pad(values, padding), axis=axis)
        width = 2 * reach + 1
        ahead = running.take(range(width, running.shape[axis]), axis=axis)
        values = ahead - running.take(range(running.shape[axis] - width), axis=axis)
    return values


def anchor_points(value: np.ndarray, spacing: float, separation: float, most: int) -> np.ndarray:
    """Grid points (anchors, 3), int, at which ligands start, best first.

    Cavity points in the order of the sum of positive values around them (5 x 5 x 5 points, ties to
    the lowest linear index); each is an anchor unless it is nearer than `separation` (Angstrom) to
    an earlier one.
    """
    positive = np.maximum(value, 0).astype(np.int64)
    total = np.where(positive > 0, _box_sum(positive, ANCHOR_NEIGHBOURS), 0).ravel()
    order = np.argsort(-total, kind="stable")
    left = np.stack(np.unravel_index(order[: np.count_nonzero(total)], value.shape), axis=1)
    taken: list[np.ndarray] = []
    while len(left) and len(taken) < most:
        taken.append(left[0])
        squared = ((left - left[0]) ** 2).sum(axis=1)
        apart = squared * spacing**2 >= separation**2 * (1 - 1e-9)
        left = left[apart & (squared > 0)]
    return np.array(taken, dtype=np.int64).reshape(-1, 3)


def make_field(
    box: Box, xyz: np.ndarray, element: np.ndarray, separation: float, max_anchors: int
) -> GeometricField:
    """The field and its anchors; InputError where the box has no cavity at all."""
    value = field_values(box, xyz, element)
    anchor = anchor_points(value, box.spacing, separation, max_anchors)
    if not len(anchor):
        x, y, z = box.center
        raise InputError(
            f"no cavity in the box around ({x:.2f}, {y:.2f}, {z:.2f}) with half side "
            f"{box.half_side:g} Angstrom: no point is enclosed by the receptor; check that the "
            "site and the receptor share a frame and chain, or give a larger radius"
        )
    return GeometricField(
        origin=box.origin,
        spacing=np.array([box.spacing], np.float64),
        value=value,
        anchor=(box.origin + box.spacing * anchor).astype(np.float32),
    )


def cavity_volume(field: GeometricField) -> float:
    """Volume of all points with a positive value, cubic Angstrom."""
    return float(np.count_nonzero(field.value > 0) * field.spacing[0] ** 3)
