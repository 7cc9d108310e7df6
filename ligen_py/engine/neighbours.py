"""Which receptor atoms are near a place, so that a kernel need not look at all of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device

EDGE = 4.0
"""Of a block, Angstrom. Smaller blocks have shorter lists, and there are more of them."""

MOST_BLOCKS = 64
"""Along each side of a receptor; a larger one has larger blocks."""

ROUNDING = 0.01
"""Angstrom that lists reach farther, since kernels round in single precision."""


def near_blocks(
    centers: Sequence[np.ndarray], half: float, xyz: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Atoms within reach of each block: offsets (blocks + 1,) and atoms, rising; int32.

    Args:
        centers: of the blocks, along x, y and z; those along z are the fastest. Angstrom.
        half: of the edge of a block.
        xyz: places of the atoms (atoms, 3).
        reach: how far from a block.
    """
    farthest = np.float32(reach**2 + 1e-3)
    along_x, along_y, along_z = (
        (np.maximum(np.abs(xyz[:, axis] - along[:, None]) - half, 0) ** 2).astype(np.float32)
        for axis, along in enumerate(centers)
    )
    found, counts = [], [np.zeros(1, np.int64)]
    for of_plane in along_x:
        in_plane = np.flatnonzero(of_plane < farthest)
        left = farthest - of_plane[in_plane]
        for of_row in along_y[:, in_plane]:
            in_row = np.flatnonzero(of_row < left)
            some = in_plane[in_row]
            near = along_z[:, some] < left[in_row] - of_row[in_row]
            found.append(some[np.flatnonzero(near) % max(1, len(some))])
            counts.append(np.count_nonzero(near, axis=1))
    first = np.cumsum(np.concatenate(counts))
    return first.astype(np.int32), np.concatenate(found).astype(np.int32)


def neighbours(device: Device, xyz: np.ndarray, reach: float) -> tuple[Any, ...]:
    """What kernels take as `neighbours_t` (neighbours.clh): blocks around atoms, and their lists.

    Args:
        device: where the lists go.
        xyz: places of the atoms (atoms, 3), Angstrom. What is in no block has none within reach.
        reach: how far an atom may be from a place, Angstrom.
    """
    reach += ROUNDING
    corner, end = np.zeros(3), np.zeros(3)
    if len(xyz):
        corner, end = xyz.min(axis=0) - reach, xyz.max(axis=0) + reach
    edge = max(EDGE, float((end - corner).max()) / MOST_BLOCKS)
    sides = np.maximum(np.ceil((end - corner) / edge), 1).astype(np.int32)
    centers = [
        start + edge * (np.arange(count) + 0.5) for start, count in zip(corner, sides, strict=True)
    ]
    first, near = near_blocks(centers, edge / 2, xyz, reach)
    return (
        np.array([*corner, 1 / edge], np.float32),
        np.array([*sides, 0], np.int32),
        buffers.upload(device, first),
        buffers.upload(device, near),
    )
