"""Classes of ligands by degrees of freedom, and the keys of their random numbers."""

import numpy as np

from ligen_py.engine.pose_arrays import ranges
from ligen_py.engine.random import content_keys
from ligen_py.records.ligands import Ligands
from ligen_py.records.limits import MAX_TORSIONS

RIGID = 6
"""Degrees of freedom of a rigid body: translation, rotation vector."""

FREEDOM_CLASSES = (16, 24, 40, RIGID + MAX_TORSIONS)
"""Kernels are compiled for up to so many degrees of freedom; the smallest that fits runs."""


def keys_of(ligands: Ligands, rows: np.ndarray, seed: int, kinds: np.ndarray) -> list[int]:
    """Keys of the random numbers of the ligands `rows`, from their heavy atoms and torsions.

    `kinds` u1 (atoms,): a kind of each atom. The stage gives Vina's types in whatever field, since
    other kinds would be other random numbers.
    """
    heavy, torsions = ligands.heavy[rows].astype(np.int64), np.diff(ligands.first_torsion)[rows]
    atom = ranges(ligands.first_atom[rows], heavy)
    turn = ranges(ligands.first_torsion[rows], torsions)
    by_atom = ((ligands.xyz[atom], heavy), (kinds[atom], heavy))
    turns = (ligands.torsion_axis[turn], ligands.torsion_range[turn])
    return content_keys(
        np.array([seed], "<u8").tobytes(), *by_atom, *((column, torsions) for column in turns)
    )
