"""The atoms of a molecule with implicit hydrogens as lists, and a number for what is around each.

Equal numbers mean equal atoms with equal neighbours at equal bonds. A library has the same
surroundings again and again, so what a rule says about an atom is remembered by its number.
"""

from collections import defaultdict
from functools import lru_cache
from itertools import count

from rdkit import Chem

from ligen_py.molecules.lists import USUAL, Lists

MOST = 100_000
"""Surroundings that have numbers, about 300 bytes each; then all are forgotten."""

SINGLE, AROMATIC, DOUBLE, TRIPLE, UNUSUAL = range(5)
"""Orders of bonds."""
_ORDERS = {1.0: SINGLE, 1.5: AROMATIC, 2.0: DOUBLE, 3.0: TRIPLE}

PLACES = UNUSUAL + 1

_following = count()
_labels: defaultdict[tuple[int, ...], int] = defaultdict(_following.__next__)
_numbers: defaultdict[tuple[int, ...], int] = defaultdict(_following.__next__)
"""No number is given twice, so those of a molecule stay valid when others are forgotten."""


class Surroundings:
    """Atoms and bonds of a sanitised molecule, fetched once."""

    def __init__(self, mol: Chem.Mol) -> None:
        if len(_numbers) > MOST:
            _numbers.clear()
        lists = Lists(mol)
        self.mol, self.lists = mol, lists
        self.element, self.aromatic = lists.element, lists.aromatic
        self.charge, self.hydrogens = lists.charge, lists.hydrogens
        self.degree, self.rings = lists.degree, lists.rings
        self.neighbours = lists.neighbours
        self.bonds = [
            (near, far, _ORDERS.get(bond.order, UNUSUAL), (near, far) in lists.cyclic)
            for near, far, bond in zip(lists.near, lists.far, lists.bonds, strict=True)
        ]
        """Both atoms, the order of each bond, and whether it is one of a ring."""
        labels = [
            _labels[row]
            for row in zip(
                self.element,
                self.aromatic,
                self.charge,
                self.hydrogens,
                self.degree,
                strict=True,
            )
        ]
        around: list[list[int]] = [[] for _ in labels]
        for first, second, order, _ in self.bonds:
            around[first].append(labels[second] * PLACES + order)
            around[second].append(labels[first] * PLACES + order)
        for others in self.neighbours:
            others.sort()
        for beside in around:
            beside.sort()
        self.number = [
            _numbers[label, *beside] for label, beside in zip(labels, around, strict=True)
        ]
        """What stands for each atom and its neighbours: element, aromaticity, charge, hydrogens
        and degree of each, and the orders of the bonds between."""

    def beyond(self, atom: int) -> tuple[int, ...]:
        """What stands for an atom, its neighbours, and theirs."""
        number = self.number
        return number[atom], *sorted([number[other] for other in self.neighbours[atom]])

    @property
    def is_plain(self) -> bool:
        """Whether hydrogens are implicit, and bonds single, double, triple or aromatic."""
        return 1 not in self.element and USUAL.issuperset([bond.type for bond in self.lists.bonds])


@lru_cache(maxsize=128)
def surroundings(mol: Chem.Mol) -> Surroundings:
    """Those of a molecule, which must not change; the last ones are kept, for a batch at work."""
    return Surroundings(mol)
