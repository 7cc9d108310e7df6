"""Ligands that do not fit into the box: those with a rigid piece longer than its diagonal."""

import numpy as np

from ligen_py.engine.internal_pairs import piece_numbers
from ligen_py.records.ligands import Ligands
from ligen_py.records.pocket import GeometricField


def largest_piece(ligands: Ligands, number: int) -> float:
    """Largest distance between two heavy atoms of one rigid piece of a ligand, Angstrom."""
    first, heavy = ligands.first_atom[number], ligands.heavy[number]
    xyz = ligands.xyz[first : first + heavy].astype(np.float64)
    piece = piece_numbers(ligands, number, number + 1)[:heavy]
    distance = np.linalg.norm(xyz[:, None] - xyz, axis=-1)
    return float(distance[piece[:, None] == piece].max())


def larger_than_box(ligands: Ligands, field: GeometricField) -> dict[int, str]:
    """Ligands with a rigid piece longer than the box's diagonal, and the reason in words."""
    edges = (np.array(field.value.shape) - 1) * field.spacing[0]
    diagonal = float(np.linalg.norm(edges))
    if not len(ligands.entry):
        return {}
    # No two atoms are farther apart than twice this, so most ligands need no further check.
    reach = np.maximum.reduceat(np.linalg.norm(ligands.xyz, axis=1), ligands.first_atom[:-1])
    found = {}
    for number in np.flatnonzero(2 * reach > diagonal).tolist():
        extent = largest_piece(ligands, number)
        if extent > diagonal:
            found[number] = (
                f"a rigid part is {extent:.1f} Angstrom long, the box's diagonal {diagonal:.1f}; "
                "use a larger radius"
            )
    return found
