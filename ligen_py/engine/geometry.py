"""Rotations and poses: the NumPy twin of kernels/include/geometry.clh.

Same operations in the same order and precision as the kernels; `fma32` rounds once, as fma() does
on a device. Leading dimensions (poses, angles) are free everywhere; the last one is x, y, z.
"""

from collections.abc import Callable, Sequence

import numpy as np

F4 = np.float32


Array = np.ndarray | np.float32


def fma32(a: Array, b: Array, c: Array) -> np.ndarray:
    """Return a * b + c of float32 arrays with one rounding.

    The product is exact in float64 and the sum is rounded there first. A second rounding errs only
    where that sum ends exactly between two float32 values although the true one does not; there it
    is moved one step towards the true sum (Boldo and Melquiond 2008, rounding to odd).
    """
    product = np.multiply(a, b, dtype=np.float64)
    addend = np.asarray(c, dtype=np.float64)
    total = np.asarray(product + addend)
    between = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    if between.any():
        rest = total - product
        error = (product - (total - rest)) + (addend - rest)
        nudged = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
        total = np.where(between & (error != 0), nudged, total)
    return total.astype(F4)


def transform(matrix: np.ndarray, shift: np.ndarray, xyz: np.ndarray) -> np.ndarray:
    """M x + t: (..., 3, 3), (..., 3) and (..., 3) give (..., 3), broadcast over the rest."""
    x, y, z = (xyz[..., None, i] for i in range(3))
    inner = fma32(matrix[..., 1], y, fma32(matrix[..., 2], z, shift))
    return fma32(matrix[..., 0], x, inner)


def about(matrix: np.ndarray, pivot: np.ndarray) -> np.ndarray:
    """The shift (..., 3) with which a rotation matrix does not move `pivot`."""
    x, y, z = (pivot[..., None, i] for i in range(3))
    inner = fma32(matrix[..., 1], y, matrix[..., 2] * z)
    shift: np.ndarray = pivot - fma32(matrix[..., 0], x, inner)
    return shift


def rotation(direction: np.ndarray, cosine: np.ndarray, sine: np.ndarray) -> np.ndarray:
    """Rodrigues' matrix (..., 3, 3) of a rotation about a unit vector (..., 3).

    >>> quarter = rotation(np.array([0, 0, 1], "f4"), np.float32(0), np.float32(1))
    >>> (quarter @ [1, 0, 0]).tolist()
    [0.0, 1.0, 0.0]
    """
    scaled = (F4(1) - cosine)[..., None] * direction
    x, y, z = (sine * direction[..., i] for i in range(3))
    rest = _matrix([[cosine, -z, y], [z, cosine, -x], [-y, x, cosine]])
    return fma32(scaled[..., :, None], direction[..., None, :], rest)


def _matrix(rows: list[list[np.ndarray]]) -> np.ndarray:
    result = np.empty((*np.broadcast(*rows[0]).shape, len(rows), len(rows[0])), F4)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            result[..., i, j] = value
    return result


def as_float4(quaternion: np.ndarray) -> np.ndarray:
    """Quaternions (..., 4) as float4 of kernels, x, y, z, w; everywhere else w comes first."""
    return quaternion.take([1, 2, 3, 0], axis=-1)


def from_float4(quaternion: np.ndarray) -> np.ndarray:
    """Quaternions (..., 4) of kernels in the order w, x, y, z."""
    return quaternion.take([3, 0, 1, 2], axis=-1)


def quaternion_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Hamilton product of (..., 4) quaternions."""
    aw, ax, ay, az = (a[..., i] for i in range(4))
    bw, bx, by, bz = (b[..., i] for i in range(4))
    return np.stack(
        [
            fma32(aw, bw, -fma32(ax, bx, fma32(ay, by, az * bz))),
            fma32(aw, bx, fma32(ax, bw, fma32(ay, bz, -(az * by)))),
            fma32(aw, by, fma32(ay, bw, fma32(az, bx, -(ax * bz)))),
            fma32(aw, bz, fma32(az, bw, fma32(ax, by, -(ay * bx)))),
        ],
        axis=-1,
    )


def quaternion_normalised(q: np.ndarray) -> np.ndarray:
    """One Newton step of (..., 4) quaternions towards unit length."""
    w, x, y, z = (q[..., i] for i in range(4))
    norm = fma32(x, x, fma32(y, y, fma32(z, z, w * w)))
    factor = fma32(F4(-0.5), norm, F4(1.5))
    return q * factor[..., None]


def quaternion_matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrix (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = (q[..., i] for i in range(4))
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    one = F4(1)
    return _matrix(
        [
            [one - (yy + zz), fma32(x, y2, -wz), fma32(x, z2, wy)],
            [fma32(x, y2, wz), one - (xx + zz), fma32(y, z2, -wx)],
            [fma32(x, z2, -wy), fma32(y, z2, wx), one - (xx + yy)],
        ]
    )


def inverse_bond_lengths(xyz: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """1 / length of each rotatable bond (torsions,), float32, in the unit of `xyz`."""
    bonds = xyz[axis[:, 1]].astype(np.float64) - xyz[axis[:, 0]].astype(np.float64)
    return (1 / np.linalg.norm(bonds, axis=1)).astype(F4)


def unit(direction: np.ndarray) -> np.ndarray:
    """Vectors of nearly unit length (..., 3) after one Newton step towards it.

    Without it rounding would triple with each torsion of a branch: a turn about a longer vector
    makes the next ones longer.
    """
    x, y, z = (direction[..., i] for i in range(3))
    factor = fma32(F4(-0.5), fma32(x, x, fma32(y, y, z * z)), F4(1.5))
    result: np.ndarray = direction * factor[..., None]
    return result


def turn_far_side(
    xyz: np.ndarray,
    axis: np.ndarray,
    limits: np.ndarray,
    inverse_length: np.ndarray,
    cosine: np.ndarray,
    sine: np.ndarray,
) -> np.ndarray:
    """Turn the far side of (..., atoms, 3) about a bond; a new array.

    `axis` are the near and far atom, `limits` one row of `Ligands.torsion_range`.
    """
    near, far = xyz[..., axis[0], :], xyz[..., axis[1], :]
    matrix = rotation(unit((far - near) * inverse_length), cosine, sine)
    shift = about(matrix, near)
    far_side = np.r_[limits[0] : limits[1], limits[2] : limits[3]]
    result = xyz.copy()
    result[..., far_side, :] = transform(
        matrix[..., None, :, :], shift[..., None, :], xyz[..., far_side, :]
    )
    return result


def cosines_and_sines(degrees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and sine of angles in degrees: computed in float64, rounded once to float32.

    If all angles are whole steps of a turn, they are looked up in a table, which is five times as
    fast.
    """
    few = degrees.size <= STEPS  # what saves time of many takes longer
    steps = None if few else steps_of(degrees)
    if steps is not None:
        return STEP_ANGLES[steps, 0], STEP_ANGLES[steps, 1]
    cosine, sine = in_blocks(_numpys if few else _fast, degrees)
    return cosine, sine


def steps_of(degrees: np.ndarray) -> np.ndarray | None:
    """Angles (degrees) as steps of 1 / `STEPS` of a turn, uint8; None unless each one is a step.

    Docked torsions are.

    >>> steps_of(np.array([0, 90, 180], "f4"))
    array([  0,  64, 128], dtype=uint8)
    """
    if degrees.dtype != F4:
        return None
    with np.errstate(invalid="ignore"):  # compared, because an angle may lie between two steps
        steps = (degrees * F4(STEPS / 360) + F4(0.5)).astype(np.uint8)
    back = steps * F4(360 / STEPS)  # exact
    return steps if np.array_equal(back.view(np.int32), degrees.view(np.int32)) else None


STEPS = 256
"""Steps of a turn; the degrees of each are exact in float32."""

BLOCK = 16_384
"""Numbers that are computed, or ranges that are gathered, at a time: new memory for what lies
between would take longer than the work."""


def in_blocks(function: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
    """A function of float64 numbers for each of some, rounded once to float32.

    `function` may give several rows, which are then the rows of the result.
    """
    flat = values.reshape(-1)
    parts = [
        function(flat[first : first + BLOCK].astype(np.float64)).astype(F4)
        for first in range(0, max(1, flat.size), BLOCK)
    ]
    found = np.concatenate(parts, axis=-1)
    return found.reshape(*found.shape[:-1], *values.shape)


def _numpys(degrees: np.ndarray) -> np.ndarray:
    radians = np.deg2rad(degrees)
    return np.stack([np.cos(radians), np.sin(radians)])


_STEP_ANGLES = _numpys(np.arange(STEPS) * (360 / STEPS))
STEP_ANGLES = np.ascontiguousarray(_STEP_ANGLES.T.astype(F4))
"""Cosine and sine of each step, float32 (STEPS, 2)."""

LARGEST = 720
"""Degrees up to which the angle that is left beside a step has the error below."""
ERROR = 1e-14
"""More than two ways to a cosine can differ in float64: a few roundings of numbers up to 13."""


def _fast(degrees: np.ndarray) -> np.ndarray:
    """NumPy's cosine and sine (2, angles) of float64 angles, right when rounded to float32.

    They are those of the nearest step and of the small angle beside it, whose series are short.
    That takes less than half the time of NumPy's functions, which are asked where an error could
    change the rounding: at one angle in a million, and near zeros.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # of angles that are left to NumPy
        step = np.rint(degrees * (STEPS / 360))
        small = (degrees - step * (360 / STEPS)) * (np.pi / 180)
        number = step.astype(np.int64) & (STEPS - 1)
        square = small * small
        sine = small * (1 + square * (-1 / 6 + square * (1 / 120)))
        less = square * (-1 / 2 + square * (1 / 24 + square * (-1 / 720)))  # cosine - 1
        c, s = (values.take(number) for values in _STEP_ANGLES)
        found = np.stack([c + (c * less - s * sine), s + (s * less + c * sine)])
        sure = (found - ERROR).astype(F4) == (found + ERROR).astype(F4)
    sure &= abs(degrees) <= LARGEST
    rest = np.flatnonzero(~sure.all(axis=0))
    found[:, rest] = _numpys(degrees[rest])
    return found


def rebuild(
    xyz: np.ndarray,
    axis: np.ndarray,
    ranges: np.ndarray,
    torsion: np.ndarray,
    quaternion: np.ndarray,
    translation: np.ndarray,
) -> np.ndarray:
    """Coordinates of poses from their genotypes.

    Args:
        xyz: start conformer (atoms, 3), Angstrom, float32.
        axis: near and far atom of each torsion (torsions, 2).
        ranges: heavy atoms and hydrogens of each far side (torsions, 4), as in `Ligands`.
        torsion: rotation of each far side (..., torsions), degrees.
        quaternion: rotation of the root piece (..., 4).
        translation: image of the conformer's origin (..., 3), Angstrom.

    Returns:
        Coordinates (..., atoms, 3), float32, as the kernels compute them.
    """
    poses = np.broadcast_to(xyz, (*quaternion.shape[:-1], *xyz.shape)).astype(F4)
    inverse = inverse_bond_lengths(xyz, axis)
    cosine, sine = cosines_and_sines(torsion)
    for t in range(len(axis)):
        poses = turn_far_side(poses, axis[t], ranges[t], inverse[t], cosine[..., t], sine[..., t])
    matrix = quaternion_matrix(quaternion.astype(F4))
    shift = translation.astype(F4)
    return transform(matrix[..., None, :, :], shift[..., None, :], poses)


def rebuild_each(ligands: Sequence[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """`rebuild` of several ligands, each with its arguments, together: the same bits.

    For a ligand of few poses NumPy's calls take longer than the arithmetic. Torsions, angles,
    quaternions and translations are of poses (poses, ...). Arrays have the size of the largest
    ligand. A turn moves all atoms, and those that are not on the far side stay where they were.
    """
    order = sorted(range(len(ligands)), key=lambda number: -len(ligands[number][1]))
    counts = np.array([len(ligands[number][1]) for number in order], int)
    poses = max((len(one[4]) for one in ligands), default=0)
    atoms, torsions = max((len(one[0]) for one in ligands), default=0), counts.max(initial=0)
    places = np.zeros((len(ligands), poses, atoms, 3), F4)
    axes, inverse = (
        np.zeros((len(ligands), torsions, 2), int),
        np.ones((len(ligands), torsions), F4),
    )
    is_far = np.zeros((len(ligands), torsions, atoms), bool)
    degrees = np.zeros((len(ligands), poses, torsions), F4)
    quaternions, shifts = np.zeros((*places.shape[:2], 4), F4), np.zeros((*places.shape[:2], 3), F4)
    for row, number in enumerate(order):
        xyz, axis, ranges, torsion, quaternion, translation = ligands[number]
        own = slice(len(quaternion))
        places[row, own, : len(xyz)] = xyz
        axes[row, : len(axis)], inverse[row, : len(axis)] = axis, inverse_bond_lengths(xyz, axis)
        for far, limits in zip(is_far[row], ranges, strict=False):
            far[limits[0] : limits[1]] = far[limits[2] : limits[3]] = True
        degrees[row, own, : len(axis)] = torsion
        quaternions[row, own], shifts[row, own] = quaternion, translation
    cosine, sine = cosines_and_sines(degrees)
    for t in range(torsions):
        having = np.count_nonzero(counts > t)
        rows, some = np.arange(having), slice(having)
        near, far = (places[rows, :, axes[some, t, end]] for end in (0, 1))
        direction = unit((far - near) * inverse[some, t, None, None])
        matrix = rotation(direction, cosine[some, :, t], sine[some, :, t])
        shift = about(matrix, near)
        moved = transform(matrix[:, :, None], shift[:, :, None], places[some])
        places[some] = np.where(is_far[some, t, None, :, None], moved, places[some])
    matrix = quaternion_matrix(quaternions)
    places = transform(matrix[:, :, None], shifts[:, :, None], places)
    found = {
        number: places[row, : len(ligands[number][4]), : len(ligands[number][0])]
        for row, number in enumerate(order)
    }
    return [found[number] for number in range(len(ligands))]
