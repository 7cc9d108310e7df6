"""Densities and networks in NumPy: the twin of kernels/batched/rescore.cl.

Densities after libmolgrid (Sunseri, Koes, J. Chem. Inf. Model. 2020, 60, 1079): a Gaussian up to
an atom's radius, a parabola that ends it at one and a half.
"""

import numpy as np

from ligen_py.engine.rescoring.channels import CHANNELS
from ligen_py.engine.rescoring.networks import SIDE, Convolution, Network, Pool

SPACING = 0.5
"""Angstrom between voxels."""
REACH = 1.5
"""Radii from an atom to where its density ends."""


def origin(center: np.ndarray) -> np.ndarray:
    """Position (3,) of voxel 0, 0, 0 around the center of a ligand, float32."""
    return (center - SPACING * (SIDE - 1) / 2).astype(np.float32)


def density(xyz: np.ndarray, channel: np.ndarray, radius: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Sum of the densities of atoms (atoms, 3) on a grid: (SIDE, SIDE, SIDE, CHANNELS), float32."""
    grid = np.zeros((SIDE, SIDE, SIDE, CHANNELS), np.float32)
    axis = np.float32(SPACING) * np.arange(SIDE, dtype=np.float32)
    for place, kind, size in zip(xyz.astype(np.float32), channel, radius, strict=True):
        if kind < 0:
            continue
        along = [axis + (corner[i] - place[i]) for i in range(3)]
        near = [np.flatnonzero(np.abs(line) < REACH * size) for line in along]
        if not all(map(len, near)):
            continue
        x, y, z = (line[rows] for line, rows in zip(along, near, strict=True))
        squared = (x * x)[:, None, None] + (y * y)[:, None] + z * z
        grid[(*np.ix_(*near), kind)] += profile(squared, size)
    return grid


def profile(squared: np.ndarray, radius: np.float32) -> np.ndarray:
    """Density of an atom at squared distances from it."""
    u = squared / (radius * radius)
    outer = np.float32(2) * np.sqrt(u) - np.float32(3)
    tail = np.where(u < REACH * REACH, np.float32(np.exp(-2)) * outer * outer, 0)
    return np.where(u <= 1, np.exp(np.float32(-2) * u), tail).astype(np.float32)


def run(network: Network, grid: np.ndarray) -> np.ndarray:
    """OUTPUTS of a network for densities (poses, SIDE, SIDE, SIDE, CHANNELS): (poses, OUTPUTS)."""
    values = grid
    for step in network.steps:
        if isinstance(step, Pool):
            values = pool(values, step)
        else:
            found = convolve(values, step)
            values = np.concatenate([values, found], axis=-1) if step.appends else found
    if network.is_global:
        ends = values.max(axis=(1, 2, 3))
    else:
        ends = np.moveaxis(values, -1, 1).reshape(len(values), -1)
    return ends @ network.weight.T + network.bias


def pool(values: np.ndarray, step: Pool) -> np.ndarray:
    """Mean or maximum of each 2 x 2 x 2 voxels."""
    poses, side, _, _, count = values.shape
    cubes = values.reshape(poses, *(side // 2, 2) * 3, count)
    return cubes.mean(axis=(2, 4, 6)) if step.kind == "average" else cubes.max(axis=(2, 4, 6))


def convolve(values: np.ndarray, step: Convolution) -> np.ndarray:
    """The convolution of a step and max(0, x): (poses, side, side, side, outputs)."""
    side, width = values.shape[1], step.weight.shape[0]
    rim = width // 2
    padded = np.pad(values, ((0, 0), *((rim, rim),) * 3, (0, 0)))
    plane = np.ones(side, np.intp)
    plane[0], plane[-1] = 0, 2
    total = np.broadcast_to(
        step.bias[np.ix_(plane, plane, plane)], (*values.shape[:4], step.weight.shape[-1])
    ).copy()
    for x, y, z in np.ndindex(width, width, width):
        total += padded[:, x : x + side, y : y + side, z : z + side] @ step.weight[x, y, z]
    return np.maximum(total, 0)


def scores(outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pose score and affinity (poses,) of an ensemble from outputs (networks, poses, OUTPUTS).

    The score is the mean of the networks' probabilities that a pose is within 2 Angstrom of the
    crystal's, the affinity the mean of their pK.
    """
    outputs = outputs.astype(np.float64)
    good = 1 / (1 + np.exp(outputs[..., 0] - outputs[..., 1]))
    return good.mean(axis=0).astype(np.float32), outputs[..., 2].mean(axis=0).astype(np.float32)
