"""What atom typing and torsions ask of molecules, as arrays.

The rules are arithmetic on arrays and know no molecules: several graphs side by side are one graph,
whose types cost little more than those of one (`Graph.of_outlines`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property

import numpy as np
from rdkit import Chem

from ligen_py.molecules.arrays import Arrays, pair_keys, ring_bonds
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
        (outline,) = outlines(Arrays([Lists(mol)]), np.arange(mol.GetNumAtoms()))
        outline.require_orders()
        return cls.of_outlines([outline])

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
        keys = pair_keys(ends[:, 0], ends[:, 1], count)
        rows = np.argsort(keys)
        keys = keys[rows]
        order = columns["order"][rows]

        place = columns["ring"] + np.repeat(first, [len(one.ring) for one in outlines])
        sizes = columns["ring_size"].astype("i8")
        start = np.cumsum(sizes) - sizes
        bond = ring_bonds(keys, place, sizes, count)
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

    def require_orders(self) -> None:
        """ValueError where a bond has no order."""
        if not self.order.all():
            raise ValueError("a bond has no order")


def outlines(arrays: Arrays, order: np.ndarray) -> list[Outline]:
    """Those of molecules with their atoms in another order (old number of each new atom)."""
    new = np.argsort(order) - arrays.first[arrays.owner]
    atoms = {
        "element": arrays.atoms["element"][order],
        "charge": arrays.charge[order],
        "aromatic": arrays.aromatic[order],
        "aromatic_double": aromatic_doubles(arrays)[order],
        "accepts": ~not_accepting(arrays)[order],
    }
    bonds = {
        "ends": np.stack([new[arrays.near], new[arrays.far]], axis=1).astype("i4"),
        "order": arrays.bonds["code"],
        "amide": rigid_amides(arrays),
    }
    ring, sizes = new[arrays.ring].astype("i4"), arrays.ring_size.astype("i4")
    first_ring = arrays.first_ring
    first_place = np.cumsum([0, *arrays.ring_size])[first_ring]
    columns = [
        *((name, column, arrays.first.tolist()) for name, column in atoms.items()),
        *((name, column, arrays.first_bond.tolist()) for name, column in bonds.items()),
        ("ring", ring, first_place.tolist()),
        ("ring_size", sizes, first_ring.tolist()),
    ]
    return [
        Outline(**{name: column[start[i] : start[i + 1]] for name, column, start in columns})
        for i in range(len(arrays.lists))
    ]


def aromatic_doubles(arrays: Arrays) -> np.ndarray:
    """Aromatic atoms with a double bond in every Kekule form: more valences than bonds; bool."""
    degree = arrays.degree
    return arrays.aromatic & (degree > 1) & (degree < 5) & (arrays.valence != degree)


def not_accepting(arrays: Arrays) -> np.ndarray:
    """Nitrogens that give their lone pair away, bool (atoms,).

    Pyrrole and aniline, amide and its like, hydrazone and triazene, ammonium. An atom with three
    single bonds gives it to an aromatic atom beside it or to one with a double bond.
    """
    degree, valence, element = arrays.degree, arrays.valence, arrays.element
    takes = arrays.aromatic | ((element == 6) & (degree == 3) & (valence == 4))
    doubly = np.zeros(len(element), bool)
    doubly[arrays.doubles[0]] = True
    takes |= (element == 7) & (degree == 2) & doubly
    gives = (degree == 3) & (valence == 3) & (arrays.count(takes) > 0)
    result: np.ndarray = (element == 7) & ((arrays.charge == 1) | gives)
    return result


def rigid_amides(arrays: Arrays) -> np.ndarray:
    """Bonds of amides that do not turn, bool (bonds,): a tertiary one with unlike ends does."""
    element, degree, aromatic = arrays.element, arrays.degree, arrays.aromatic
    carbon, end = arrays.doubles
    holds = (element[end] == 7) | (element[end] == 8) | ((element[end] == 16) & (degree[end] == 1))
    holds &= (element[carbon] == 6) & (degree[carbon] == 3) & ~aromatic[carbon] & ~aromatic[end]
    acyl = np.zeros(len(element), bool)
    acyl[carbon[holds]] = True
    amine = (element == 7) & (degree == 3) & ~aromatic
    near, far = arrays.near, arrays.far
    result: np.ndarray = arrays.bonds["type"] == SINGLE
    result &= (acyl[near] & amine[far]) | (acyl[far] & amine[near])
    for bond in np.flatnonzero(result).tolist():
        ends = int(near[bond]), int(far[bond])
        result[bond] = not _has_unlike_ends(arrays, *(ends if amine[ends[0]] else ends[::-1]))
    return result


def _has_unlike_ends(arrays: Arrays, nitrogen: int, carbon: int) -> bool:
    """Whether an amide's nitrogen has two further atoms, no hydrogens, that differ."""
    molecule = arrays.owner[nitrogen]
    lists, start = arrays.lists[molecule], arrays.first[molecule]
    ends = [other for other in lists.neighbours[nitrogen - start] if other != carbon - start]
    if len(ends) != 2 or any(lists.atoms[end].element == 1 for end in ends):
        return False
    first, second = ends
    if lists.atoms[first].element != lists.atoms[second].element:
        return True
    if lists.degree[first] != lists.degree[second]:
        return True
    return lists.ranks[first] != lists.ranks[second]
