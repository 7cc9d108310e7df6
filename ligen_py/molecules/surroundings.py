"""The atoms of a molecule with implicit hydrogens as lists, and a number for what is around each.

Equal numbers mean equal atoms with equal neighbours at equal bonds. A library has the same
surroundings again and again, so what a rule says about an atom is remembered by its number.
"""

from collections import defaultdict
from functools import lru_cache
from itertools import count

from rdkit import Chem

from ligen_py.molecules.graph import DATIVE, atoms_of, bonds_of, holds

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
        atoms, bonds = list(atoms_of(mol)), list(bonds_of(mol))
        self.mol = mol
        self.element = list(map(Chem.Atom.GetAtomicNum, atoms))
        self.aromatic = list(map(Chem.Atom.GetIsAromatic, atoms))
        self.charge = list(map(Chem.Atom.GetFormalCharge, atoms))
        self.hydrogens = list(map(Chem.Atom.GetTotalNumHs, atoms))
        self.degree = list(map(Chem.Atom.GetTotalDegree, atoms))
        self.rings = mol.GetRingInfo().AtomRings()
        """Atoms of each ring, in turn."""
        self.bonds = list(
            zip(
                map(Chem.Bond.GetBeginAtomIdx, bonds),
                map(Chem.Bond.GetEndAtomIdx, bonds),
                [
                    _ORDERS.get(order, UNUSUAL)
                    for order in map(Chem.Bond.GetBondTypeAsDouble, bonds)
                ],
                map(Chem.Bond.IsInRing, bonds),
                strict=True,
            )
        )
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
        self.neighbours: list[list[int]] = [[] for _ in atoms]
        around: list[list[int]] = [[] for _ in atoms]
        for first, second, order, _ in self.bonds:
            self.neighbours[first].append(second)
            self.neighbours[second].append(first)
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
        return (
            1 not in self.element
            and all(order < UNUSUAL for _, _, order, _ in self.bonds)
            and not holds(self.mol, DATIVE)
        )


@lru_cache(maxsize=2)
def surroundings(mol: Chem.Mol) -> Surroundings:
    """Those of a molecule, which must not change; the last two are kept."""
    return Surroundings(mol)
