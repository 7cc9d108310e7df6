"""Cavities of a receptor, found as LIGSITE and CAVIAR do, and ranked.

LIGSITE: M. Hendlich, F. Rippmann, G. Barnickel, J. Mol. Graph. Model. 15 (1997) 359-363. CAVIAR:
J.-R. Marchand et al., J. Comput.-Aided Mol. Des. 35 (2021) 737-750. The burial of a solvent point
is that of the docking field (`geometric_field.py`), on a grid of 1 Angstrom over the whole
receptor: the number of 14 directions in which protein is near.
"""

import numpy as np

from ligen_py.engine.pocket.geometric_field import Box, burial
from ligen_py.records.pocket import FoundCavity

SPACING = 1.0
"""Angstrom."""

BURIED = 11
"""Least burial of a point that belongs to a cavity. Fewer directions join cavities through the
grooves between them; chosen on complexes that docs/targets.md does not count."""

OPEN = 8
"""A cavity's score is its volume times its mean burial above this."""

LEAST_VOLUME = 40.0
"""Smaller cavities are not reported; cubic Angstrom."""


def find_cavities(xyz: np.ndarray, element: np.ndarray) -> list[FoundCavity]:
    """Cavities of heavy atoms (atoms, 3) in Angstrom with their atomic numbers, best first."""
    low, high = xyz.min(axis=0), xyz.max(axis=0)
    middle = np.round((low + high) / 2, 3)
    half = float(np.ceil((high - low).max() / 2))
    box = Box((float(middle[0]), float(middle[1]), float(middle[2])), half, SPACING)
    value = burial(box, xyz, element).astype(np.int64)
    label = components(value >= BURIED)
    found = []
    for index in members(label):
        depth = value[tuple(index.T)]
        volume = len(index) * SPACING**3
        if volume < LEAST_VOLUME:
            continue
        points = box.origin + SPACING * index
        x, y, z = ((points * depth[:, None]).sum(axis=0) / depth.sum()).round(3).tolist()
        mean = float(depth.mean())
        found.append((-volume * (mean - OPEN), (x, y, z), volume, mean))
    return [
        FoundCavity(rank, center, -minus, f"{volume:.0f} cubic A, burial {mean:.1f}")
        for rank, (minus, center, volume, mean) in enumerate(sorted(found), start=1)
    ]


def members(label: np.ndarray) -> list[np.ndarray]:
    """The points (points, 3) of each component, by its number, in the order of the grid.

    In one pass: a ribosome has ten thousand components on a grid of many million points.
    """
    points = np.flatnonzero(label)
    number = label.ravel()[points]
    order = np.argsort(number, kind="stable")
    points = points[order]
    first = np.flatnonzero(np.diff(number[order])) + 1
    each = np.split(points, first) if len(points) else []
    return [np.transpose(np.unravel_index(some, label.shape)) for some in each]


def components(mask: np.ndarray) -> np.ndarray:
    """Number of the component of each point, from 1 on; 0 outside. Neighbours share a face.

    Every point takes the least number among its own and its neighbours', until none changes.
    """
    index = np.flatnonzero(mask)
    # One point more along each axis: neighbours beyond the far side are outside.
    row = np.full(np.array(mask.shape) + 1, -1)
    row[tuple(slice(n) for n in mask.shape)][mask] = np.arange(len(index))
    here = np.stack(np.unravel_index(index, mask.shape), axis=1)
    pairs = []
    for axis in range(3):
        there = row[tuple((here + np.eye(3, dtype=int)[axis]).T)]
        pairs.append(np.stack([np.flatnonzero(there >= 0), there[there >= 0]], axis=1))
    edge = np.concatenate(pairs)
    least = np.arange(len(index))
    while len(edge):
        smaller = np.minimum(least[edge[:, 0]], least[edge[:, 1]])
        new = least.copy()
        np.minimum.at(new, edge[:, 0], smaller)
        np.minimum.at(new, edge[:, 1], smaller)
        new = new[new]
        if (new == least).all():
            break
        least = new
    label = np.zeros(mask.shape, np.int64)
    label.ravel()[index] = np.unique(least, return_inverse=True)[1] + 1 if len(index) else 0
    return label
