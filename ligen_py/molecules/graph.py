"""What atom typing and torsions ask of molecules, as arrays.

The rules are arithmetic on arrays and know no molecules: several graphs side by side are one graph,
whose types cost little more than those of one (`Graph.of_outlines`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property

import numpy as np
from rdkit import Chem

from ligen_py.molecules.lists import SINGLE, Lists

CHARGED = "[!+0]"
LONGEST_RING = 6
"""Larger rings are not stored."""


@cache
def pattern(smarts: str) -> Chem.Mol:
    """A compiled SMARTS pattern."""
    return Chem.MolFromSmarts(smarts)


def holds(mol: Chem.Mol, smarts: str) -> bool:
    """Whether a pattern matches."""
    return bool(mol.HasSubstructMatch(pattern(smarts)))


def atoms_of(mol: Chem.Mol) -> Iterator[Chem.Atom]:
    """All atoms, in a third of the time that `GetAtoms` takes; the molecule must not grow."""
    return map(mol.GetAtomWithIdx, range(mol.GetNumAtoms()))


def bonds_of(mol: Chem.Mol) -> Iterator[Chem.Bond]:
    """All bonds, in a third of the time that `GetBonds` takes."""
    return map(mol.GetBondWithIdx, range(mol.GetNumBonds()))


def matches(mol: Chem.Mol, smarts: str) -> Sequence[tuple[int, ...]]:
    """Every match of a pattern."""
    found: Sequence[tuple[int, ...]] = mol.GetSubstructMatches(
        pattern(smarts), maxMatches=1_000_000
    )
    return found


@dataclass(frozen=True)
class Graph:
    """Atoms and bonds of a sanitised molecule with explicit hydrogens, or of several of them."""

    element: np.ndarray
    """u1 (atoms,)."""
    charge: np.ndarray
    """i1 (atoms,), formal."""
    aromatic: np.ndarray
    """bool (atoms,)."""
    aromatic_double: np.ndarray
    """bool (atoms,): aromatic, with a double bond in every Kekule form."""
    accepts: np.ndarray
    """bool (atoms,): False for nitrogens that accept no hydrogen bond, and only for these."""
    bond: np.ndarray
    """i8 (bonds, 2), lower atom first, sorted."""
    order: np.ndarray
    """u1 (bonds,): 1, 2, 3; 4 is aromatic."""
    cyclic: np.ndarray
    """bool (bonds,)."""
    amide: np.ndarray
    """bool (bonds,): amides and their like that AutoDock's preparation does not turn."""
    ring: np.ndarray
    """i8 (rings, 6): atoms of each five- and six-ring in turn; -1 ends five-rings."""
    single_pair: np.ndarray
    """bool (rings, 6): whether both of an atom's bonds in the ring are single."""

    @classmethod
    def of(cls, mol: Chem.Mol) -> "Graph":
        """The graph of a molecule; ValueError where a bond has no order."""
        return cls.of_outlines([Outline.of(Lists(mol), range(mol.GetNumAtoms()))])

    @classmethod
    def of_outlines(cls, outlines: Sequence["Outline"]) -> "Graph":
        """The graphs of some molecules side by side, atoms numbered through; at least one."""
        columns = {
            spec.name: np.concatenate([getattr(outline, spec.name) for outline in outlines])
            for spec in fields(Outline)
        }
        first = np.cumsum([0, *[len(outline.element) for outline in outlines[:-1]]])
        count = len(columns["element"])
        ends = columns["ends"] + np.repeat(first, [len(one.ends) for one in outlines])[:, None]
        keys = np.minimum(*ends.T) * count + np.maximum(*ends.T)
        rows = np.argsort(keys)
        keys = keys[rows]
        order = columns["order"][rows]

        place = columns["ring"] + np.repeat(first, [len(one.ring) for one in outlines])
        sizes = columns["ring_size"].astype("i8")
        start = np.cumsum(sizes) - sizes
        following = np.arange(1, len(place) + 1)
        following[start + sizes - 1] = start
        other = place[following]
        bond = np.searchsorted(keys, np.minimum(place, other) * count + np.maximum(place, other))
        cyclic = np.zeros(len(keys), bool)
        cyclic[bond] = True

        kept = (sizes >= LONGEST_RING - 1) & (sizes <= LONGEST_RING)
        step = np.arange(LONGEST_RING)
        inside = step < sizes[kept][:, None]
        source = np.where(inside, start[kept][:, None] + step, 0)
        before = start[kept][:, None] + (step - 1) % sizes[kept][:, None]
        single = order[bond] == 1
        return cls(
            **{name: columns[name] for name in BY_ATOM},
            bond=np.array([keys // count, keys % count]).T,
            order=order,
            cyclic=cyclic,
            amide=columns["amide"][rows],
            ring=np.where(inside, place[source], -1),
            single_pair=inside & single[source] & single[before],
        )

    @cached_property
    def near(self) -> np.ndarray:
        """Atom of every end of a bond (2 * bonds,), ascending."""
        return self._ends[0]

    @cached_property
    def far(self) -> np.ndarray:
        """Atom at the other end of that bond (2 * bonds,), ascending for one `near`."""
        return self._ends[1]

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        near = np.concatenate([self.bond[:, 0], self.bond[:, 1]])
        far = np.concatenate([self.bond[:, 1], self.bond[:, 0]])
        order = np.argsort(near * len(self.element) + far)
        return near[order], far[order], np.concatenate([self.order, self.order])[order]

    def count(self, chosen: np.ndarray) -> np.ndarray:
        """How many neighbours of each atom are chosen: (atoms,) from bool (atoms,)."""
        return np.bincount(self.near[chosen[self.far]], minlength=len(self.element))

    @cached_property
    def degree(self) -> np.ndarray:
        """Bonds of each atom."""
        return np.bincount(self.near, minlength=len(self.element))

    @cached_property
    def heavy(self) -> np.ndarray:
        """Heavy neighbours of each atom."""
        return self.count(self.element > 1)

    @cached_property
    def hydrogens(self) -> np.ndarray:
        """Hydrogens at each atom."""
        return self.count(self.element == 1)

    @cached_property
    def highest_order(self) -> np.ndarray:
        """Highest order among each atom's bonds (Kekule form)."""
        result = 1 + self.aromatic_double.astype("u1")
        np.maximum.at(result, self.near, np.where(self._ends[2] == 4, 1, self._ends[2]))
        return result

    @cached_property
    def double_bonds(self) -> np.ndarray:
        """Double bonds of each atom, none of them aromatic."""
        return np.bincount(self.near[self._ends[2] == 2], minlength=len(self.element))


BY_ATOM = ("element", "charge", "aromatic", "aromatic_double", "accepts")


@dataclass(frozen=True)
class Outline:
    """What a graph is made of: atoms as in `Graph`, bonds and rings in RDKit's order."""

    element: np.ndarray
    charge: np.ndarray
    aromatic: np.ndarray
    aromatic_double: np.ndarray
    accepts: np.ndarray
    ends: np.ndarray
    """i4 (bonds, 2)."""
    order: np.ndarray
    amide: np.ndarray
    ring: np.ndarray
    """i4: atoms of each ring in turn, of one ring after another."""
    ring_size: np.ndarray
    """i4 (rings,)."""

    @classmethod
    def of(cls, lists: Lists, order: Sequence[int]) -> "Outline":
        """That of a molecule with its atoms in another order (old number of each new atom).

        ValueError where a bond has no order.
        """
        codes = bytes([bond.code for bond in lists.bonds])
        if 0 in codes:
            raise ValueError("a bond has no order")
        new = numbers_in(order)
        ends = [new[atom] for pair in zip(lists.near, lists.far, strict=True) for atom in pair]
        has_nitrogen = 7 in lists.element
        amides = rigid_amides(lists) if has_nitrogen else NOTHING
        refusing = not_accepting(lists) if has_nitrogen else NOTHING
        double = aromatic_doubles(lists)
        return cls(
            element=np.frombuffer(bytes([lists.element[i] for i in order]), "u1"),
            charge=np.array([lists.charge[i] for i in order], "i1"),
            aromatic=_flags([lists.aromatic[i] for i in order]),
            aromatic_double=_flags([i in double for i in order]),
            accepts=_flags([i not in refusing for i in order]),
            ends=np.array(ends, "i4").reshape(-1, 2),
            order=np.frombuffer(codes, "u1"),
            amide=_flags([number in amides for number in range(len(codes))]),
            ring=np.array([new[atom] for ring in lists.rings for atom in ring], "i4"),
            ring_size=np.array([len(ring) for ring in lists.rings], "i4"),
        )


NOTHING: frozenset[int] = frozenset()


def numbers_in(order: Sequence[int]) -> list[int]:
    """New number of each atom from an order, the old number of each new atom."""
    result = [0] * len(order)
    for number, atom in enumerate(order):
        result[atom] = number
    return result


def _flags(values: list[bool]) -> np.ndarray:
    return np.frombuffer(bytes(values), bool)


def aromatic_doubles(lists: Lists) -> set[int]:
    """Aromatic atoms with a double bond in every Kekule form: more valences than bonds."""
    return {
        atom
        for atom, aromatic in enumerate(lists.aromatic)
        if aromatic
        and lists.degree[atom] in (2, 3, 4)
        and lists.valence[atom] != lists.degree[atom]
    }


def not_accepting(lists: Lists) -> set[int]:
    """Nitrogens that give their lone pair away.

    Pyrrole and aniline, amide and its like, hydrazone and triazene, ammonium.
    """
    return {
        atom
        for atom, element in enumerate(lists.element)
        if element == 7 and (lists.charge[atom] == 1 or _gives_away(lists, atom))
    }


def _gives_away(lists: Lists, atom: int) -> bool:
    """Whether an atom with three single bonds is beside an atom with multiple bonds."""
    if not lists.degree[atom] == lists.valence[atom] == 3:
        return False
    return any(_takes(lists, other) for other in lists.neighbours[atom])


def _takes(lists: Lists, atom: int) -> bool:
    """Whether an atom with multiple bonds takes the lone pair of a nitrogen beside it."""
    degree, element = lists.degree[atom], lists.element[atom]
    if lists.aromatic[atom]:
        return True
    if element == 6:
        return degree == 3 and lists.valence[atom] == 4
    return element == 7 and degree == 2 and any(first == atom for first, _ in lists.doubles)


def rigid_amides(lists: Lists) -> set[int]:
    """Numbers of the bonds of amides that do not turn: a tertiary one with unlike ends does."""
    amides = {
        (other, carbon)
        for carbon, end in lists.doubles
        if _is_acyl(lists, carbon, end)
        for other in lists.neighbours[carbon]
        if lists.element[other] == 7
        and lists.degree[other] == 3
        and not lists.aromatic[other]
        and lists.bonds[lists.numbers[carbon, other]].type == SINGLE
    }
    return {lists.numbers[amide] for amide in amides if not _has_unlike_ends(lists, *amide)}


def _is_acyl(lists: Lists, carbon: int, end: int) -> bool:
    """Whether a double bond is that of a carbonyl or its like."""
    if lists.element[carbon] != 6 or lists.degree[carbon] != 3:
        return False
    if lists.aromatic[carbon] or lists.aromatic[end]:
        return False
    return lists.element[end] in (7, 8) or (lists.element[end] == 16 and lists.degree[end] == 1)


def _has_unlike_ends(lists: Lists, nitrogen: int, carbon: int) -> bool:
    """Whether an amide's nitrogen has two further atoms, no hydrogens, that differ."""
    ends = [other for other in lists.neighbours[nitrogen] if other != carbon]
    if len(ends) != 2 or any(lists.element[end] == 1 for end in ends):
        return False
    first, second = ends
    if lists.element[first] != lists.element[second] or lists.degree[first] != lists.degree[second]:
        return True
    return lists.ranks[first] != lists.ranks[second]
