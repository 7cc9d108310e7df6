"""Ligands that no search can place: rigid parts larger than the box."""

import numpy as np

from ligen_py.records import Field, Ligands


def rigid_pieces(limits: np.ndarray, atoms: int) -> np.ndarray:
    """Rigid piece of each atom (atoms,): the innermost far side that holds it, 0 for the root.

    `limits` are a ligand's torsion ranges in depth-first order, so inner ranges come later.
    """
    piece = np.zeros(atoms, np.int64)
    for number, limit in enumerate(limits, start=1):
        piece[limit[0] : limit[1]] = piece[limit[2] : limit[3]] = number
    return piece


def largest_piece(ligands: Ligands, number: int) -> float:
    """Largest distance between two atoms of one rigid piece of a ligand, Angstrom."""
    atoms = slice(ligands.first_atom[number], ligands.first_atom[number + 1])
    torsions = slice(ligands.first_torsion[number], ligands.first_torsion[number + 1])
    xyz = ligands.xyz[atoms].astype(np.float64)
    piece = rigid_pieces(ligands.torsion_range[torsions], len(xyz))
    distance = np.linalg.norm(xyz[:, None] - xyz, axis=-1)
    return float(distance[piece[:, None] == piece].max())


def larger_than_box(ligands: Ligands, field: Field) -> dict[int, str]:
    """Ligands with a rigid piece longer than the box's diagonal, and the reason in words."""
    edges = (np.array(field.value.shape[1:]) - 1) * field.spacing[0]
    diagonal = float(np.linalg.norm(edges))
    # No atom is farther from the centroid than this, so most ligands need no closer look.
    reach = np.linalg.norm(ligands.xyz, axis=1)
    found = {}
    for number in range(len(ligands.entry)):
        atoms = slice(ligands.first_atom[number], ligands.first_atom[number + 1])
        if 2 * reach[atoms].max() <= edges.min():
            continue
        extent = largest_piece(ligands, number)
        if extent > diagonal:
            found[number] = (
                f"a rigid part is {extent:.1f} Angstrom long, the box's diagonal {diagonal:.1f}; "
                "use a larger radius"
            )
    return found
