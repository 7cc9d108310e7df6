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
    near, rigid = _near(ligands, number, len(chosen)), _rigid(ligands, number, len(chosen))
    allowed = chosen[:, None] & chosen & ~near & ~rigid
    return np.argwhere(np.triu(allowed)).astype(np.int16)


def _near(ligands: Ligands, number: int, atoms: int) -> np.ndarray:
    """Which atoms (atoms, atoms) are up to `FARTHEST_BOND` bonds apart."""
    bonds = ligands.bond[ligands.first_bond[number] : ligands.first_bond[number + 1]]
    step = np.eye(atoms, dtype=np.float32)
    step[bonds[:, 0], bonds[:, 1]] = step[bonds[:, 1], bonds[:, 0]] = 1
    near: np.ndarray = np.linalg.matrix_power(step, FARTHEST_BOND) > 0
    return near


def _rigid(ligands: Ligands, number: int, atoms: int) -> np.ndarray:
    """Which atoms (atoms, atoms) lie at a distance that no torsion changes.

    Such are the atoms of one rigid piece together with those of all axes at its rim: the near atom
    of the one it hangs on, and the far atoms of those that hang on it.
    """
    torsions = slice(ligands.first_torsion[number], ligands.first_torsion[number + 1])
    near, far = ligands.torsion_axis[torsions].T
    piece = np.zeros(atoms, np.int64)
    for place, limits in enumerate(ligands.torsion_range[torsions].tolist(), start=1):
        piece[limits[0] : limits[1]] = piece[limits[2] : limits[3]] = place
    member = np.zeros((atoms, len(near) + 1), np.float32)
    member[np.arange(atoms), piece] = 1
    member[near, np.arange(1, len(near) + 1)] = 1
    member[far, piece[near]] = 1
    rigid: np.ndarray = member @ member.T > 0
    return rigid
