"""Pairs of atoms within a ligand whose energy depends on its torsions."""

import numpy as np

from ligen_py.records import Ligands

FARTHEST_BOND = 3
"""Pairs up to this many bonds apart do not interact."""


def internal_pairs(ligands: Ligands, number: int, chosen: np.ndarray) -> np.ndarray:
    """Pairs of a ligand's atoms four or more bonds apart, at a distance that a torsion changes.

    Args:
        ligands: the records.
        number: which of them.
        chosen: bool (atoms,); only pairs of these.

    Returns:
        int16 (pairs, 2), numbers local to the ligand, lower atom first, sorted.
    """
    allowed = np.triu(np.outer(chosen, chosen), 1)
    allowed[_near(ligands, number, len(chosen))] = False
    for body in _rigid_bodies(ligands, number, len(chosen)):
        allowed[np.ix_(body, body)] = False
    return np.argwhere(allowed).astype(np.int16)


def _near(ligands: Ligands, number: int, atoms: int) -> np.ndarray:
    """Which atoms (atoms, atoms) are up to `FARTHEST_BOND` bonds apart."""
    bonds = ligands.bond[ligands.first_bond[number] : ligands.first_bond[number + 1]]
    step = np.eye(atoms, dtype=np.float32)
    step[bonds[:, 0], bonds[:, 1]] = step[bonds[:, 1], bonds[:, 0]] = 1
    near: np.ndarray = np.linalg.matrix_power(step, FARTHEST_BOND) > 0
    return near


def _rigid_bodies(ligands: Ligands, number: int, atoms: int) -> list[np.ndarray]:
    """Atoms whose distances no torsion changes, an array a rigid piece.

    To a piece belong the atoms of all axes at its rim as well: the near atom of the one it hangs
    on, and the far atoms of those that hang on it.
    """
    torsions = slice(ligands.first_torsion[number], ligands.first_torsion[number + 1])
    axes = ligands.torsion_axis[torsions]
    piece = np.zeros(atoms, np.int64)
    for place, limits in enumerate(ligands.torsion_range[torsions], start=1):
        piece[limits[0] : limits[1]] = piece[limits[2] : limits[3]] = place
    bodies = []
    for place in range(len(axes) + 1):
        hangs_on = axes[place - 1 : place, 0] if place else axes[:0, 0]
        branches = axes[piece[axes[:, 0]] == place, 1]
        bodies.append(np.concatenate([np.flatnonzero(piece == place), hangs_on, branches]))
    return bodies
