"""Ligands that do not fit into the box: those with a rigid piece longer than its diagonal."""

from collections.abc import Mapping

import numpy as np

from ligen_py.engine.internal_pairs import piece_numbers
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.records.ligands import Ligands
from ligen_py.records.pocket import GeometricField


def largest_piece(ligands: Ligands, number: int) -> float:
    """Largest distance between two heavy atoms of one rigid piece of a ligand, Angstrom."""
    first, heavy = ligands.first_atom[number], ligands.heavy[number]
    xyz = ligands.xyz[first : first + heavy].astype(np.float64)
    piece = piece_numbers(ligands, number, number + 1)[:heavy]
    distance = np.linalg.norm(xyz[:, None] - xyz, axis=-1)
    return float(distance[piece[:, None] == piece].max())


def mark_lost(ledger: Ledger, entry: np.ndarray, too_large: Mapping[int, str]) -> Ledger:
    """The ledger in which records of which no ligand fits have failed.

    `entry` (ligands,): the record of each; `too_large`: the reason by ligand. A record is lost with
    the last of its states, and the ledger has the reason of the first.
    """
    rows = np.setdiff1d(np.arange(len(entry)), list(too_large))
    out = np.setdiff1d(np.unique(entry, return_index=True)[1], rows)
    out = out[~np.isin(entry[out], entry[rows])]
    words = [too_large[row] for row in out]
    return ledger.marked(entry[out], Status.FAILED, Reason.LARGER_THAN_BOX, words)


def longer_than(ligands: Ligands, diagonal: float) -> dict[int, float]:
    """Ligands with a rigid piece longer than a box's diagonal, and its length, Angstrom."""
    if not len(ligands.entry):
        return {}
    # No two atoms are farther apart than twice this, so most ligands need no further check.
    reach = np.maximum.reduceat(np.linalg.norm(ligands.xyz, axis=1), ligands.first_atom[:-1])
    long = np.flatnonzero(2 * reach > diagonal).tolist()
    found = {number: largest_piece(ligands, number) for number in long}
    return {number: extent for number, extent in found.items() if extent > diagonal}


def larger_than_box(ligands: Ligands, field: GeometricField) -> dict[int, str]:
    """Ligands with a rigid piece longer than the box's diagonal, and the reason in words."""
    edges = (np.array(field.value.shape) - 1) * field.spacing[0]
    diagonal = float(np.linalg.norm(edges))
    return {
        number: f"a rigid part is {extent:.1f} Angstrom long, the box's diagonal {diagonal:.1f}; "
        "use a larger radius"
        for number, extent in longer_than(ligands, diagonal).items()
    }
