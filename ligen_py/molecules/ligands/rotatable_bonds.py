"""Rotatable bonds, the rigid pieces between them, and an atom order that makes torsions ranges."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from rdkit import Chem

from ligen_py.molecules.graph import Graph, matches

AMIDE = "[#6X3](=[#7,#8,#16])-!@[#7;X3,X2-]"
"""C-N bonds of amides, thioamides, ureas, carbamates, amidines, guanidines and their anions."""


def neighbours_of(graph: Graph) -> list[list[int]]:
    """Bonded atoms of each atom."""
    result: list[list[int]] = [[] for _ in range(len(graph.element))]
    for first, second in graph.bond.tolist():
        result[first].append(second)
        result[second].append(first)
    return result


def rotatable_bonds(mol: Chem.Mol, graph: Graph) -> list[tuple[int, int]]:
    """Bonds that docking rotates, as pairs of atoms (lower index first), in ascending order.

    Single, acyclic, not the C-N bond of an amide or amidine, two or more heavy neighbours on both
    ends, and neither end a top whose rotation changes nothing: an atom with three equal terminal
    neighbours (CF3, CMe3, SO3, PO3), or a linear one with nothing beyond its triple bond's other
    atom (nitrile, terminal alkyne).
    """
    element, around = graph.element.tolist(), neighbours_of(graph)
    heavy = [[other for other in others if element[other] > 1] for others in around]
    bonds = zip(graph.bond.tolist(), graph.order.tolist(), graph.cyclic.tolist(), strict=True)
    turns, linear = [], set()
    for (first, second), order, cyclic in bonds:
        if order == 3:
            linear |= {first, second}
        elif order == 1 and not cyclic and len(heavy[first]) > 1 and len(heavy[second]) > 1:
            turns.append((first, second))
    if not turns:
        return []
    amides = {frozenset((c, n)) for c, _, n in matches(mol, AMIDE)}

    def is_idle(atom: int, partner: int) -> bool:
        """Whether a rotation of `atom` about its bond to `partner` moves no heavy atom."""
        is_top = len(heavy[atom]) == 4
        if not is_top and atom not in linear:
            return False
        others = [other for other in heavy[atom] if other != partner]
        if any(len(heavy[other]) != 1 for other in others):
            return False
        return not is_top or len({element[other] for other in others}) == 1

    return [
        (first, second)
        for first, second in turns
        if frozenset((first, second)) not in amides
        and not (is_idle(first, second) or is_idle(second, first))
    ]


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
        heavy = np.asarray(is_heavy)[self.order]
        before = np.concatenate([[0], np.cumsum(heavy)])
        count = before[-1]
        new = np.where(heavy, before[:-1], count + np.arange(len(heavy)) - before[:-1])
        places = np.empty(len(heavy), int)
        places[new] = self.order
        rows = np.array(self.torsions, int).reshape(-1, 4)
        ends = rows[:, 2:]
        limits = np.concatenate([before[ends], count + ends - before[ends]], axis=1)
        return places.tolist(), new[rows[:, :2]], limits


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
    cut = {pair for a, b in cuts for pair in ((a, b), (b, a))}
    owner = [-1] * len(neighbours)
    members: list[list[int]] = []
    for seed in range(len(neighbours)):
        if owner[seed] >= 0:
            continue
        owner[seed] = len(members)
        found = [seed]
        for atom in found:
            for other in neighbours[atom]:
                if owner[other] < 0 and (atom, other) not in cut:
                    owner[other] = len(members)
                    found.append(other)
        members.append(sorted(found))
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
    first, second = bond[bond.max(axis=1, initial=0) < heavy].T
    step = np.eye(heavy, dtype="f4")
    step[first, second] = step[second, first] = 1
    piece = np.zeros(heavy, int)
    for number, (start, end, *_) in enumerate(far_sides.tolist(), start=1):
        piece[start:end] = number
    tested = (step @ step @ step == 0) & (piece[:, None] != piece)
    bits = np.packbits(tested, axis=1, bitorder="little")
    words = np.zeros((heavy, 4 * -(-heavy // 32)), "u1")
    words[:, : bits.shape[1]] = bits
    return words.view("<u4").ravel().astype("u4")
