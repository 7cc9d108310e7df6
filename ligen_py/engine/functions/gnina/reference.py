"""Densities and networks in NumPy: the twin of kernels/batched/gnina.cl.

Densities after libmolgrid (Sunseri, Koes, J. Chem. Inf. Model. 2020, 60, 1079): a Gaussian up to
an atom's radius, a parabola that ends it at one and a half.
"""

import numpy as np

from ligen_py.engine.functions.gnina.atoms import Atoms, posed
from ligen_py.engine.functions.gnina.constants import CHANNELS, NETWORKS, radii
from ligen_py.engine.functions.gnina.networks import OUTPUTS, SIDE, Convolution, Network, Pool
from ligen_py.engine.functions.gnina.outputs import terms
from ligen_py.engine.functions.gnina.weights import load
from ligen_py.records.functions.gnina import GninaLigands, GninaReceptor
from ligen_py.records.poses import Poses

SPACING = 0.5
"""Angstrom between voxels."""
REACH = 1.5
"""Radii from an atom to where its density ends."""


def origin(center: np.ndarray) -> np.ndarray:
    """Position (3,) of voxel 0, 0, 0 around the center of a ligand, float32."""
    return (center - SPACING * (SIDE - 1) / 2).astype(np.float32)


def joined(*molecules: Atoms) -> Atoms:
    """The atoms of several molecules."""
    columns = ([getattr(each, name) for each in molecules] for name in ("xyz", "channel", "radius"))
    return Atoms(*map(np.concatenate, columns))


def density(atoms: Atoms, corner: np.ndarray) -> np.ndarray:
    """Sum of the densities of atoms on a grid: (SIDE, SIDE, SIDE, CHANNELS), float32.

    `corner` is the position of voxel 0, 0, 0.
    """
    grid = np.zeros((SIDE, SIDE, SIDE, CHANNELS), np.float32)
    axis = np.float32(SPACING) * np.arange(SIDE, dtype=np.float32)
    for place, kind, size in zip(atoms.xyz, atoms.channel, atoms.radius, strict=True):
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
        ends = np.moveaxis(values, -1, 1).reshape(len(values), network.weight.shape[1])
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


WATCHED = ("logit", "affinity")
"""Terms that the watch compares with the kernel's."""


def score_poses(
    ligands: GninaLigands, receptor: GninaReceptor, poses: Poses
) -> dict[str, np.ndarray]:
    """Term -> float32 array with one value a pose (`TERMS`; NaN: not finite)."""
    networks = load(NETWORKS)
    around = Atoms.of(receptor.xyz, receptor.channel, radii(receptor.element))
    owner = np.repeat(np.arange(len(ligands.entry)), np.diff(poses.first_pose))
    outputs = np.full((len(networks), len(owner), len(OUTPUTS)), np.nan)
    for pose, number in enumerate(owner.tolist()):
        ligand = posed(ligands, poses, number, slice(pose, pose + 1))[0]
        if np.isfinite(ligand.xyz).all():
            grid = density(joined(around, ligand), origin(ligand.center()))[None]
            outputs[:, pose] = [run(network, grid)[0] for network in networks]
    return terms(outputs)
