"""Rotatable bonds, the rigid pieces between them, and an atom order that makes torsions ranges."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ligen_py.molecules.graph import Graph
from ligen_py.molecules.lists import SINGLE, Lists


def neighbours_of(graph: Graph) -> list[list[int]]:
    """Bonded atoms of each atom."""
    result: list[list[int]] = [[] for _ in range(len(graph.element))]
    for first, second in graph.bond.tolist():
        result[first].append(second)
        result[second].append(first)
    return result


def rotatable_bonds(lists: Lists) -> list[tuple[int, int]]:
    """Bonds that docking rotates, as pairs of atoms (lower index first), in ascending order.

    Single, acyclic, not the C-N bond of an amide or amidine, two or more heavy neighbours on both
    ends, and neither end a top whose rotation changes nothing: an atom with three equal terminal
    neighbours (CF3, CMe3, SO3, PO3), or a linear one with nothing beyond its triple bond's other
    atom (nitrile, terminal alkyne).
    """
    element = lists.element
    heavy = [[other for other in others if element[other] > 1] for others in lists.neighbours]
    turns, linear = [], set()
    for first, second, bond in zip(lists.near, lists.far, lists.bonds, strict=True):
        if bond.order == 3:
            linear |= {first, second}
        elif (
            len(heavy[first]) > 1
            and len(heavy[second]) > 1
            and bond.order not in MULTIPLE
            and (first, second) not in lists.cyclic
        ):
            turns.append((first, second) if first < second else (second, first))
    acyl = {carbon for carbon, end in lists.doubles if _is_acyl(lists, carbon, end)}

    def is_amide(carbon: int, nitrogen: int) -> bool:
        """Whether a single bond joins an acyl carbon to an amide's nitrogen."""
        if carbon not in acyl or element[nitrogen] != 7:
            return False
        if lists.bonds[lists.numbers[carbon, nitrogen]].type != SINGLE:
            return False
        degree = lists.degree[nitrogen]
        return degree == 3 or (degree == 2 and lists.charge[nitrogen] == -1)

    def is_idle(atom: int, partner: int) -> bool:
        """Whether a rotation of `atom` about its bond to `partner` moves no heavy atom."""
        is_top = len(heavy[atom]) == 4
        if not is_top and atom not in linear:
            return False
        others = [other for other in heavy[atom] if other != partner]
        if any(len(heavy[other]) != 1 for other in others):
            return False
        return not is_top or len({element[other] for other in others}) == 1

    return sorted(
        (first, second)
        for first, second in turns
        if not (is_amide(first, second) or is_amide(second, first))
        and not (is_idle(first, second) or is_idle(second, first))
    )


MULTIPLE = (1.5, 2)
"""Orders of bonds that do not turn, triple ones apart."""


def _is_acyl(lists: Lists, carbon: int, end: int) -> bool:
    """Whether a double bond holds a single bond beside it: that of a carbonyl or its like."""
    return (
        lists.element[carbon] == 6
        and lists.degree[carbon] == 3
        and lists.element[end] in (7, 8, 16)
    )


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

    def heavy_first(
        self, is_heavy: Sequence[bool] | np.ndarray
    ) -> tuple[list[int], np.ndarray, np.ndarray]:
        """Put hydrogens after all heavy atoms, each kind still depth first.

        `is_heavy` is by old number. Returns the order (old number of each new atom), the axes
        (torsions, 2) and the far sides (torsions, 4) as in `records.Ligands`.
        """
        heavy = [atom for atom in self.order if is_heavy[atom]]
        before, count = [0], len(heavy)
        for atom in self.order:
            before.append(before[-1] + bool(is_heavy[atom]))
        new = [
            before[place] if is_heavy[atom] else count + place - before[place]
            for place, atom in enumerate(self.order)
        ]
        axes = [(new[near], new[far]) for near, far, _, _ in self.torsions]
        limits = [
            (before[start], before[end], count + start - before[start], count + end - before[end])
            for _, _, start, end in self.torsions
        ]
        order = heavy + [atom for atom in self.order if not is_heavy[atom]]
        return order, np.array(axes, int).reshape(-1, 2), np.array(limits, int).reshape(-1, 4)


def rigid_pieces(neighbours: list[list[int]], cuts: list[tuple[int, int]]) -> Pieces:
    """Cut a connected molecule at its rotatable bonds and number its atoms piece by piece.

    The root is the piece whose largest branch has the fewest atoms (ties: the one with the lowest
    atom), so that torsions move as little as possible. Then depth first; branches in the order of
    their atoms, and within a piece in the order given.

    Args:
        neighbours: bonded atoms of each atom.
        cuts: rotatable bonds; acyclic.
    """
    owner, members = _components(neighbours, cuts)
    branches: list[list[tuple[int, int, int]]] = [[] for _ in members]
    for a, b in cuts:
        branches[owner[a]].append((a, b, owner[b]))
        branches[owner[b]].append((b, a, owner[a]))
    order: list[int] = []
    torsions: list[Torsion] = []

    def walk(current: int, parent: int) -> None:
        """Append a piece's atoms, then each branch, whose torsion gets the range of its atoms."""
        order.extend(members[current])
        for near, far, child in sorted(branches[current]):
            if child != parent:
                place, first = len(torsions), len(order)
                torsions.append(Torsion(near, far, first, first))
                walk(child, current)
                torsions[place] = Torsion(near, far, first, len(order))

    walk(_root(members, branches), -1)
    new = {old: index for index, old in enumerate(order)}
    renumbered = [t._replace(near=new[t.near], far=new[t.far]) for t in torsions]
    return Pieces(order, renumbered)


def _components(
    neighbours: list[list[int]], cuts: list[tuple[int, int]]
) -> tuple[list[int], list[list[int]]]:
    """Piece of each atom, and atoms of each piece; pieces in the order of their lowest atom."""
    uncut = list(neighbours)
    for ends in cuts:
        for atom, other in (ends, ends[::-1]):
            uncut[atom] = [end for end in uncut[atom] if end != other]
    owner = [-1] * len(neighbours)
    members: list[list[int]] = []
    for seed in range(len(neighbours)):
        if owner[seed] >= 0:
            continue
        number = owner[seed] = len(members)
        found = [seed]
        for atom in found:
            for other in uncut[atom]:
                if owner[other] < 0:
                    owner[other] = number
                    found.append(other)
        found.sort()
        members.append(found)
    return owner, members


def _root(members: list[list[int]], branches: list[list[tuple[int, int, int]]]) -> int:
    """The piece whose largest branch has the fewest atoms."""
    walk = [(0, -1)]
    for current, parent in walk:
        walk += [(child, current) for _, _, child in branches[current] if child != parent]
    below = [len(atoms) for atoms in members]
    largest = [0] * len(members)
    for current, parent in reversed(walk):
        if parent >= 0:
            below[parent] += below[current]
            largest[parent] = max(largest[parent], below[current])
    total = below[0]
    worst = [max(largest[i], total - below[i]) for i in range(len(members))]
    return worst.index(min(worst))


NEAREST = 4
"""Fewest bonds between two atoms that are tested for bumps."""


def pair_words(heavy: int) -> int:
    """Length of the pair mask of a molecule."""
    return heavy * -(-heavy // 32)


def pair_mask(bond: np.ndarray, far_sides: np.ndarray, heavy: int) -> np.ndarray:
    """Pairs of heavy atoms tested for bumps: in different pieces, four or more bonds apart.

    Args:
        bond: bonded atoms (bonds, 2), heavy atoms first.
        far_sides: ranges of each torsion (torsions, 4), depth first, as in `records.Ligands`.
        heavy: number of heavy atoms.

    Returns:
        uint32 words, ceil(heavy / 32) per heavy atom, bit j % 32 of word j // 32 for partner j;
        the layout of `records.Ligands.pair_mask`.
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
