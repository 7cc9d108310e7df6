"""Pairs of atoms within ligands whose energy depends on their torsions."""

import numpy as np

from ligen_py.records.ligands import Ligands

FARTHEST_BOND = 3
"""Pairs up to this many bonds apart do not interact."""

RUN = 1024
"""Ligands whose pairs are searched at a time, to limit the memory in use."""

WORD_BITS = 6
WORD = 1 << WORD_BITS
"""Bits of a word. A set of atoms is stored as bits, so that a union is one operation a word."""


def internal_pairs(
    ligands: Ligands, first: int, last: int, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of atoms four or more bonds apart, at a distance that a torsion changes.

    Args:
        ligands: the records.
        first: with `last`: ligands first <= ligand < last.
        last: see there.
        chosen: bool (atoms of these ligands,); only pairs of these. They must include the atoms
            of all axes and all atoms between two of them.

    Returns:
        int16 (pairs, 2), numbers local to the ligand, lower atom first, sorted, ligand after
        ligand; and the number of pairs of each ligand.
    """
    found, counts = [np.empty((0, 2), np.int16)], [np.empty(0, np.int64)]
    for start in range(first, last, RUN):
        end = min(start + RUN, last)
        atoms = ligands.first_atom[[start, end]] - ligands.first_atom[first]
        pairs, count = _pairs_of_run(ligands, start, end, chosen[slice(*atoms)])
        found.append(pairs)
        counts.append(count)
    return np.concatenate(found), np.concatenate(counts)


def _pairs_of_run(
    ligands: Ligands, first: int, last: int, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    span = slice(first, last + 1)
    first_atom = ligands.first_atom[span] - ligands.first_atom[first]
    owner = np.repeat(np.arange(last - first), np.diff(first_atom))
    kept = np.flatnonzero(chosen)
    owner_kept = owner[kept]
    count = np.bincount(owner_kept, minlength=last - first)
    begin = np.cumsum(count) - count
    place = np.arange(len(kept)) - begin[owner_kept]  # of a kept atom in its ligand's bits
    row = np.full(len(owner), -1)
    row[kept] = np.arange(len(kept))

    words = -(-int(count.max(initial=0)) // WORD)
    own = np.zeros((len(kept), words), np.uint64)
    own[np.arange(len(kept)), place // WORD] = np.uint64(1) << (place % WORD).astype(np.uint64)

    bonds = row[_rows(ligands.bond, ligands.first_bond, first, last, first_atom)]
    bonds = bonds[(bonds[:, 0] >= 0) & (bonds[:, 1] >= 0)]
    one, other = np.concatenate([bonds, bonds[:, ::-1]]).T
    fixed = own.copy()
    bonded, start, order = _runs_of(one)
    other = other[order]
    for _ in range(FARTHEST_BOND):
        if len(bonded):
            fixed[bonded] |= np.bitwise_or.reduceat(fixed[other], start)

    # Sets of atoms whose distances no torsion changes: each rigid piece with its axes.
    axes = row[_rows(ligands.torsion_axis, ligands.first_torsion, first, last, first_atom)]
    torsions = np.diff(ligands.first_torsion[span])
    number = 1 + np.arange(len(axes)) - np.repeat(np.cumsum(torsions) - torsions, torsions)
    piece = piece_numbers(ligands, first, last)[kept]
    atom = np.concatenate([np.arange(len(kept)), axes[:, 0], axes[:, 1]])
    first_set = np.cumsum(torsions + 1) - (torsions + 1)
    member = np.concatenate([piece, number, piece[axes[:, 0]]]) + first_set[owner_kept[atom]]
    sets = np.zeros((len(axes) + last - first, words), np.uint64)
    if len(kept):
        filled, start, order = _runs_of(member)
        sets[filled] = np.bitwise_or.reduceat(own[atom[order]], start)
        fixed |= sets[member[: len(kept)]]
        # Few atoms are on an axis, most of them on one.
        on_axis, start, order = _runs_of(atom[len(kept) :])
        if len(on_axis):
            rows = member[len(kept) :][order]
            fixed[on_axis] |= np.bitwise_or.reduceat(sets[rows], start)

    later = _below(count[owner_kept], words) & ~_below(place + 1, words)
    bits = np.unpackbits((later & ~fixed).astype("<u8").view(np.uint8), bitorder="little")
    found = np.flatnonzero(bits.view(bool))
    low = found >> WORD_BITS if words == 1 else found // max(1, words * WORD)  # no slow division
    high = found - low * (words * WORD)
    local = (kept - first_atom[owner_kept]).astype(np.int16)
    pairs = np.empty((len(found), 2), np.int16)
    pairs[:, 0], pairs[:, 1] = local[low], local[begin[owner_kept][low] + high]
    return pairs, np.bincount(owner_kept[low], minlength=last - first)


def _runs_of(key: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values of a key in order, where each begins among the rows in order, and that order."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    start = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[start], start, order


def _below(count: np.ndarray, words: int) -> np.ndarray:
    """Words with the first `count` bits (rows,) set: uint64 (rows, words)."""
    table = np.array([(1 << n) - 1 for n in range(WORD + 1)], np.uint64)
    return table[np.clip(count[:, None] - WORD * np.arange(words), 0, WORD)]


def _rows(
    column: np.ndarray, offsets: np.ndarray, first: int, last: int, first_atom: np.ndarray
) -> np.ndarray:
    """Rows of a column of atom numbers, counted from the first atom of all these ligands."""
    rows = column[offsets[first] : offsets[last]].astype(np.int64)
    return rows + np.repeat(first_atom[:-1], np.diff(offsets[first : last + 1]))[:, None]


def piece_numbers(ligands: Ligands, first: int, last: int) -> np.ndarray:
    """Rigid piece of each atom of some ligands: the innermost far side around it, 0: the root.

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
