"""Pairs of atoms within ligands whose energy depends on their torsions."""

from collections.abc import Iterator

import numpy as np

from ligen_py.records import Ligands

FARTHEST_BOND = 3
"""Pairs up to this many bonds apart do not interact."""

DENSE = 1 << 22
"""Elements of the matrices that are held at a time."""


def internal_pairs(
    ligands: Ligands, first: int, last: int, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of atoms four or more bonds apart, at a distance that a torsion changes.

    Args:
        ligands: the records.
        first: with `last`: ligands first <= ligand < last.
        last: see there.
        chosen: bool (atoms of these ligands,); only pairs of these, which hold all axes' atoms and
            all atoms between two of them.

    Returns:
        int16 (pairs, 2), numbers local to the ligand, lower atom first, sorted, ligand after
        ligand; and the number of pairs of each ligand.
    """
    span = slice(first, last + 1)
    first_atom = ligands.first_atom[span] - ligands.first_atom[first]
    owner = np.repeat(np.arange(last - first), np.diff(first_atom))
    kept = np.flatnonzero(chosen)
    count = np.bincount(owner[kept], minlength=last - first)
    begin = np.cumsum(count) - count
    place = np.full(len(owner), -1)
    place[kept] = np.arange(len(kept)) - begin[owner[kept]]

    bonds = _rows(ligands.bond, ligands.first_bond, first, last, first_atom)
    axes = _rows(ligands.torsion_axis, ligands.first_torsion, first, last, first_atom)
    torsions = np.diff(ligands.first_torsion[span])
    piece = rigid_pieces(ligands, first, last)
    number = 1 + np.arange(len(axes)) - np.repeat(np.cumsum(torsions) - torsions, torsions)
    sets = [kept, axes[:, 0], axes[:, 1]], [piece[kept], number, piece[axes[:, 0]]]
    member = np.concatenate(sets[0]), np.concatenate(sets[1])

    bonds = bonds[(place[bonds] >= 0).all(axis=1)]
    found = [np.empty((0, 3), np.int64)]
    for group in _groups(count, torsions):
        slot = np.full(last - first, -1)
        slot[group] = np.arange(len(group))
        size = int(count[group].max())
        near = np.zeros((len(group), size, size), np.float32)
        near[:, np.arange(size), np.arange(size)] = 1
        one, other = bonds[slot[owner[bonds[:, 0]]] >= 0].T
        near[slot[owner[one]], place[one], place[other]] = 1
        near[slot[owner[one]], place[other], place[one]] = 1
        sharing = np.zeros((len(group), size, 1 + int(torsions[group].max())), np.float32)
        here = slot[owner[member[0]]] >= 0
        atom = member[0][here]
        sharing[slot[owner[atom]], place[atom], member[1][here]] = 1
        fixed = near @ near @ near + sharing @ sharing.transpose(0, 2, 1)
        inside = np.arange(size) < count[group][:, None]
        free = (fixed == 0) & inside[:, None, :] & inside[:, :, None]
        ligand, low, high = np.nonzero(np.triu(free))
        found.append(np.stack([group[ligand], low, high], axis=1))
    rows = np.concatenate(found)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    local = kept - first_atom[owner[kept]]
    pairs = local[begin[rows[:, 0], None] + rows[:, 1:]].astype(np.int16)
    return pairs, np.bincount(rows[:, 0], minlength=last - first)


def _rows(
    column: np.ndarray, offsets: np.ndarray, first: int, last: int, first_atom: np.ndarray
) -> np.ndarray:
    """Rows of a column of atom numbers, counted from the first atom of all these ligands."""
    rows = column[offsets[first] : offsets[last]].astype(np.int64)
    return rows + np.repeat(first_atom[:-1], np.diff(offsets[first : last + 1]))[:, None]


def rigid_pieces(ligands: Ligands, first: int, last: int) -> np.ndarray:
    """Rigid piece of each atom of some ligands: the innermost far side that holds it, 0: the root.

    Pieces count from 0 in each ligand. Ranges are depth-first, so inner ones come later.
    """
    start = ligands.first_atom[first:last] - ligands.first_atom[first]
    torsions = np.diff(ligands.first_torsion[first : last + 1])
    piece = np.zeros(ligands.first_atom[last] - ligands.first_atom[first], np.int64)
    for number in range(int(torsions.max(initial=0))):
        having = np.flatnonzero(torsions > number)
        limits = ligands.torsion_range[ligands.first_torsion[first + having] + number]
        for side in (slice(0, 2), slice(2, 4)):
            begin, end = (limits[:, side].astype(np.int64) + start[having, None]).T
            length = end - begin
            inner = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
            piece[np.repeat(begin, length) + inner] = number + 1
    return piece


def _groups(count: np.ndarray, torsions: np.ndarray) -> Iterator[np.ndarray]:
    """Ligands of about one size, as many at a time as `DENSE` allows."""
    order = np.lexsort((torsions, count))
    order = order[count[order] > 0]
    while len(order):
        # Sorted by size: the last of a group is its largest.
        fits = np.arange(1, len(order) + 1) * count[order] ** 2 <= DENSE
        alike = count[order] <= count[order[0]] + 4
        size = max(1, int((fits & alike).sum()))
        yield order[:size]
        order = order[size:]
