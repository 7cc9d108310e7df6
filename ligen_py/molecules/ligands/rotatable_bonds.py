"""Rotatable bonds, the rigid pieces between them, and an atom order that makes torsions ranges."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ligen_py.molecules.arrays import Arrays
from ligen_py.molecules.graph import Graph
from ligen_py.molecules.lists import SINGLE


def neighbours_of(graph: Graph) -> list[list[int]]:
    """Bonded atoms of each atom."""
    result: list[list[int]] = [[] for _ in range(len(graph.element))]
    for first, second in graph.bond.tolist():
        result[first].append(second)
        result[second].append(first)
    return result


def rotatable_bonds(arrays: Arrays) -> np.ndarray:
    """Bonds that docking rotates, bool (bonds,).

    Single, acyclic, not the C-N bond of an amide or amidine, two or more heavy neighbours on both
    ends, and neither end a top whose rotation changes nothing: an atom with three equal terminal
    neighbours (CF3, CMe3, SO3, PO3), or a linear one with nothing beyond its triple bond's other
    atom (nitrile, terminal alkyne).
    """
    near, far, code = arrays.near, arrays.far, arrays.bonds["code"]
    inner = arrays.count(arrays.element > 1) > 1
    idle = _idle(arrays)
    turns = inner[near] & inner[far] & ~np.isin(code, MULTIPLE) & ~arrays.cyclic
    result: np.ndarray = turns & ~(idle[near] | idle[far]) & ~_amides(arrays)
    return result


MULTIPLE = (2, 3, 4)
"""Codes of bonds that do not turn."""


def _idle(arrays: Arrays) -> np.ndarray:
    """Atoms whose rotation about a bond to an atom that is not terminal moves no heavy atom."""
    ends, others, element = arrays.ends, arrays.others, arrays.element
    heavy = arrays.count(element > 1)
    linear = np.zeros(len(element), bool)
    triple = arrays.bonds["code"] == 3
    linear[arrays.near[triple]] = linear[arrays.far[triple]] = True
    is_tip = (element > 1) & (heavy == 1)
    tips, tip = ends[is_tip[others]], element[others[is_tip[others]]]
    count, total, squares = (
        np.bincount(tips, weight, len(element)) for weight in (None, tip, tip * tip)
    )
    are_equal = count * squares == total * total
    result: np.ndarray = (count == heavy - 1) & np.where(heavy == 4, are_equal, linear)
    return result


def _amides(arrays: Arrays) -> np.ndarray:
    """Single bonds from an acyl carbon, or its like, to an amide's nitrogen, bool (bonds,)."""
    element, degree = arrays.element, arrays.degree
    carbon, end = arrays.doubles
    holds = (element[carbon] == 6) & (degree[carbon] == 3) & np.isin(element[end], (7, 8, 16))
    acyl = np.zeros(len(element), bool)
    acyl[carbon[holds]] = True
    amine = (element == 7) & ((degree == 3) | ((degree == 2) & (arrays.charge == -1)))
    near, far = arrays.near, arrays.far
    joins = (acyl[near] & amine[far]) | (acyl[far] & amine[near])
    result: np.ndarray = joins & (arrays.bonds["type"] == SINGLE)
    return result


class Orders(NamedTuple):
    """Atom orders of some molecules in which the far side of each torsion is one range."""

    order: np.ndarray
    """i8 (atoms,): old number of each new atom, through all molecules."""
    axes: np.ndarray
    """i8 (torsions, 2): new numbers within the molecule of the near and the far atom."""
    far_sides: np.ndarray
    """i8 (torsions, 4): first and one past the last heavy atom, then hydrogen, of the far side."""
    first_torsion: np.ndarray
    """i8 (molecules + 1,): first torsion of each molecule, and the number of torsions."""


def heavy_first(
    is_heavy: np.ndarray, bond: np.ndarray, cut: np.ndarray, first: np.ndarray
) -> Orders:
    """Cut connected molecules at their rotatable bonds and number the atoms piece by piece.

    The root is the piece whose largest branch has the fewest atoms (ties: the one with the lowest
    atom), so that torsions move as little as possible. Then depth first; branches in the order of
    their atoms, and within a piece in the order given. Hydrogens come after all heavy atoms.

    Args:
        is_heavy: bool (atoms,).
        bond: atoms of each bond (bonds, 2), numbered through all molecules.
        cut: bool (bonds,), those that turn; acyclic.
        first: first atom of each molecule, and the number of atoms (molecules + 1,).
    """
    owner = np.repeat(np.arange(len(first) - 1), np.diff(first))
    seeds, piece = np.unique(_lowest(bond[~cut], len(is_heavy)), return_inverse=True)
    first_piece = np.searchsorted(seeds, first)
    rank, axes, borders = _depth_first(first_piece, piece, bond[cut])
    place = rank[piece]
    order = np.argsort((2 * owner + ~is_heavy) * len(seeds) + place, kind="stable")
    new = np.argsort(order) - first[owner]

    molecule = owner[axes[:, 0]]
    heavy = np.bincount(owner, is_heavy, len(first) - 1).astype("i8")
    sides = []
    for chosen, before in ((is_heavy, 0), (~is_heavy, heavy[molecule][:, None])):
        start = np.cumsum(np.bincount(1 + place[chosen], minlength=1 + len(seeds)))
        sides.append(before + start[borders] - start[first_piece[molecule]][:, None])
    return Orders(
        order,
        new[axes],
        np.concatenate(sides, axis=1),
        np.searchsorted(molecule, np.arange(len(first))),
    )


def _lowest(bond: np.ndarray, count: int) -> np.ndarray:
    """The lowest of the atoms that bonds join to each atom: (count,)."""
    ends, others = np.concatenate([bond, bond[:, ::-1]]).T
    result = np.arange(count)
    while True:
        found = result.copy()
        np.minimum.at(found, ends, result[others])
        found = found[found]
        if np.array_equal(found, result):
            return result
        result = found


def _depth_first(
    first_piece: np.ndarray, piece: np.ndarray, cuts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranks of the pieces of some molecules, one molecule after another, each depth first.

    Args:
        first_piece: first piece of each molecule, and the number of pieces.
        piece: piece of each atom.
        cuts: atoms of each bond between pieces (cuts, 2).

    Returns:
        The rank of each piece; then in the order of the far sides' ranks (cuts, 2) the near and the
        far atom, and the rank of the far side's first piece and one past that of its last.
    """
    branches: list[list[tuple[int, int, int]]] = [[] for _ in range(first_piece[-1])]
    for (a, b), (one, other) in zip(cuts.tolist(), piece[cuts].tolist(), strict=True):
        branches[one].append((a, b, other))
        branches[other].append((b, a, one))
    atoms = np.bincount(piece).tolist()
    rank = list(range(len(branches)))
    axes: list[tuple[int, int]] = []
    borders: list[tuple[int, int]] = []
    for first, last in pairwise(first_piece.tolist()):
        if last - first == 1:
            continue
        walk = _walk(_root(first, branches, atoms), branches)
        end = list(range(first + 1, last + 1))
        for place, (_, _, current, _) in enumerate(walk):
            rank[current] = first + place
        for place, (_, _, _, parent) in reversed(list(enumerate(walk))[1:]):
            above = rank[parent] - first
            end[above] = max(end[above], end[place])
        axes += [(near, far) for near, far, _, _ in walk[1:]]
        borders += [(first + place, end[place]) for place in range(1, len(walk))]
    return (
        np.array(rank),
        np.array(axes, "i8").reshape(-1, 2),
        np.array(borders, "i8").reshape(-1, 2),
    )


def _walk(
    root: int, branches: Sequence[list[tuple[int, int, int]]]
) -> list[tuple[int, int, int, int]]:
    """The pieces depth first from a root: near and far atom, the piece, and the one before it."""
    walk, waiting = [], [(-1, -1, root, -1)]
    while waiting:
        step = waiting.pop()
        walk.append(step)
        _, _, current, parent = step
        following = [
            (near, far, child, current) for near, far, child in branches[current] if child != parent
        ]
        waiting += sorted(following, reverse=True)
    return walk


def _root(first: int, branches: Sequence[list[tuple[int, int, int]]], atoms: Sequence[int]) -> int:
    """The piece whose largest branch has the fewest atoms, of a molecule by its first piece."""
    walk = _walk(first, branches)
    below = {current: atoms[current] for _, _, current, _ in walk}
    largest = dict.fromkeys(below, 0)
    for _, _, current, parent in reversed(walk[1:]):
        below[parent] += below[current]
        largest[parent] = max(largest[parent], below[current])
    total = below[first]
    return min(below, key=lambda piece: (max(largest[piece], total - below[piece]), piece))


class Torsion(NamedTuple):
    """A rotatable bond in the new atom order."""

    near: int
    far: int
    first: int
    last: int
    """One past the last atom of the far side."""


@dataclass(frozen=True)
class Pieces:
    """An atom order in which the far side of each torsion is one range."""

    order: list[int]
    """Old number of each new atom."""
    torsions: list[Torsion]
    """Depth first."""


def rigid_pieces(neighbours: list[list[int]], cuts: list[tuple[int, int]]) -> Pieces:
    """`heavy_first` of one molecule whose hydrogens stay among the heavy atoms.

    Args:
        neighbours: bonded atoms of each atom.
        cuts: rotatable bonds; acyclic.
    """
    bond = [(a, b) for a, others in enumerate(neighbours) for b in others if a < b]
    chosen = {(min(cut), max(cut)) for cut in cuts}
    count = len(neighbours)
    found = heavy_first(
        np.ones(count, bool),
        np.array(bond, "i8").reshape(-1, 2),
        np.array([pair in chosen for pair in bond], bool),
        np.array([0, count]),
    )
    return Pieces(
        found.order.tolist(),
        [
            Torsion(*axis, *side[:2])
            for axis, side in zip(found.axes.tolist(), found.far_sides.tolist(), strict=True)
        ],
    )


NEAREST = 4
"""Fewest bonds between two atoms that are tested for bumps."""


def pair_words(heavy: int) -> int:
    """Length of the pair mask of a molecule."""
    return heavy * -(-heavy // 32)


def pair_mask(bond: np.ndarray, far_sides: np.ndarray, heavy: int) -> np.ndarray:
    """Pairs of heavy atoms tested for bumps: in different pieces, four or more bonds apart.

    Args:
        bond: bonded atoms (bonds, 2), heavy atoms first.
        far_sides: ranges of each torsion (torsions, 4), depth first, as in `Ligands`.
        heavy: number of heavy atoms.

    Returns:
        uint32 words, ceil(heavy / 32) per heavy atom, bit j % 32 of word j // 32 for partner j;
        the layout of `Ligands.pair_mask`.
    """
    bond = bond[bond.max(axis=1, initial=0) < heavy]
    return pair_masks(bond, far_sides, np.array([heavy]), np.array([len(far_sides)]))


def pair_masks(
    bond: np.ndarray, far_sides: np.ndarray, heavy: np.ndarray, torsions: np.ndarray
) -> np.ndarray:
    """The words of `pair_mask` of some molecules, one after another.

    Args:
        bond: bonds between heavy atoms (bonds, 2), these numbered through all molecules.
        far_sides: ranges of the torsions of all molecules, by the numbers of each.
        heavy: number of heavy atoms of each molecule, at least one.
        torsions: number of torsions of each molecule.
    """
    atoms, first = np.arange(heavy.sum()), np.cumsum(heavy) - heavy
    owner = np.repeat(np.arange(len(heavy)), heavy)
    local, words = atoms - first[owner], -(-heavy // 32)
    own = np.zeros((len(atoms), words.max()), "u4")
    own[atoms, local // 32] = np.uint32(1) << (local % 32).astype("u4")
    near = np.concatenate([bond[:, 0], bond[:, 1], atoms])
    far = np.concatenate([bond[:, 1], bond[:, 0], atoms])
    reach = own
    for _ in range(NEAREST - 1):
        reach = _unions(reach[far], near)
    piece = owner * (1 + torsions.max()) + _pieces(far_sides, first, torsions, len(atoms))
    same = _unions(own, piece)[np.unique(piece, return_inverse=True)[1]]
    tested = _unions(own, owner)[owner] & ~(reach | same)
    return tested[np.arange(words.max()) < words[owner][:, None]]


def _unions(sets: np.ndarray, group: np.ndarray) -> np.ndarray:
    """The union of the sets of each group, in ascending order of the groups."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    result: np.ndarray = np.bitwise_or.reduceat(sets[order], starts)
    return result


def _pieces(
    far_sides: np.ndarray, first: np.ndarray, torsions: np.ndarray, count: int
) -> np.ndarray:
    """Piece of each heavy atom, within its molecule: the last torsion that moves it, from 1."""
    result = np.zeros(count, int)
    number = 1 + np.arange(len(far_sides)) - np.repeat(np.cumsum(torsions) - torsions, torsions)
    start, end = far_sides[:, :2].T + np.repeat(first, torsions)
    for torsion in range(1, 1 + torsions.max()):
        chosen = number == torsion
        sizes = (end - start)[chosen]
        offsets = np.repeat(start[chosen] - np.cumsum(sizes) + sizes, sizes)
        result[offsets + np.arange(sizes.sum())] = torsion
    return result
