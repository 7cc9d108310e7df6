"""What atom typing and torsions ask of RDKit, fetched once a molecule as arrays.

A call into RDKit for an atom or a bond costs about a microsecond, and every typing rule would ask
for all of them. So everything is asked for here, in as few calls as there are, and the rules are
arithmetic on arrays. They know no molecules: several graphs side by side (`joined`) are one graph,
whose types cost little more than those of one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property

import numpy as np
from rdkit import Chem

from ligen_py.molecules.lists import SINGLE, BondKind, Lists

CHARGED = "[!+0]"
DATIVE = "*->*"
LONGEST_RING = 6
"""Larger rings are not stored."""

_CODES = {1.5: 4, 2.0: 2, 3.0: 3}
"""Code of a bond by its order; unusual orders count as single."""


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
        return cls.of_lists(Lists(mol), range(mol.GetNumAtoms()))

    @classmethod
    def of_lists(cls, lists: Lists, order: Sequence[int]) -> "Graph":
        """The graph of a molecule with its atoms in another order (old number of each new atom).

        ValueError where a bond has no order.
        """
        new = numbers_in(order)
        element = [lists.element[i] for i in order]
        ends = [
            (new[i], new[j]) if new[i] < new[j] else (new[j], new[i])
            for i, j in zip(lists.near, lists.far, strict=True)
        ]
        rows = sorted(range(len(ends)), key=ends.__getitem__)
        rings, single_pairs = _rings(lists, new)
        amides = rigid_amides(lists) if 7 in element else NO_ATOMS
        aromatic_double = aromatic_doubles(lists)
        refusing = not_accepting(lists) if 7 in element else NO_ATOMS
        return cls(
            element=np.frombuffer(bytes(element), "u1"),
            charge=np.array([lists.charge[i] for i in order], "i1"),
            aromatic=_flags([lists.aromatic[i] for i in order]),
            aromatic_double=_flags([i in aromatic_double for i in order]),
            accepts=_flags([i not in refusing for i in order]),
            bond=np.array([ends[i] for i in rows], "i8").reshape(-1, 2),
            order=np.frombuffer(bytes([_code(lists.bonds[i]) for i in rows]), "u1"),
            cyclic=_flags([i in lists.cyclic for i in rows]),
            amide=_flags([i in amides for i in rows]),
            ring=np.array(rings, "i8").reshape(-1, LONGEST_RING),
            single_pair=np.array(single_pairs, bool).reshape(-1, LONGEST_RING),
        )

    @classmethod
    def joined(cls, graphs: Sequence["Graph"]) -> "Graph":
        """Graphs side by side, atoms numbered through; at least one."""
        first = np.cumsum([0, *(len(graph.element) for graph in graphs)])
        columns = {
            spec.name: np.concatenate([getattr(graph, spec.name) for graph in graphs])
            for spec in fields(cls)
        }
        bonds = np.repeat(first[:-1], [len(graph.bond) for graph in graphs])[:, None]
        rings = np.repeat(first[:-1], [len(graph.ring) for graph in graphs])[:, None]
        ring = columns["ring"]
        return cls(
            **columns
            | {"bond": columns["bond"] + bonds, "ring": np.where(ring < 0, -1, ring + rings)}
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


NO_ATOMS: frozenset[int] = frozenset()


def numbers_in(order: Sequence[int]) -> list[int]:
    """New number of each atom from an order, the old number of each new atom."""
    result = [0] * len(order)
    for number, atom in enumerate(order):
        result[atom] = number
    return result


def _flags(values: list[bool]) -> np.ndarray:
    return np.frombuffer(bytes(values), bool)


def _code(bond: BondKind) -> int:
    """Code of a bond's order; 4 is aromatic."""
    if not bond.order:
        raise ValueError("a bond has no order")
    return _CODES.get(bond.order, 1)


def _rings(lists: Lists, new: Sequence[int]) -> tuple[list[list[int]], list[list[bool]]]:
    """The five- and six-rings, and which of their atoms have two single bonds in them."""
    rings, single_pairs = [], []
    for ring in lists.rings:
        missing = LONGEST_RING - len(ring)
        if not 0 <= missing <= 1:
            continue
        following = zip(ring, (*ring[1:], ring[0]), strict=True)
        single = [lists.bonds[lists.numbers[pair]].order == 1 for pair in following]
        pairs = [one and other for one, other in zip(single, [single[-1], *single], strict=False)]
        rings.append([*[new[i] for i in ring], *[-1] * missing])
        single_pairs.append([*pairs, *[False] * missing])
    return rings, single_pairs


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
