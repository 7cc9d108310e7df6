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

NOT_ACCEPTING = "[#7;+1,$([X3v3][a,#6X3v4,$([NX2]=*)])]"
"""Nitrogens that give their lone pair away: pyrrole and aniline, amide and its like, hydrazone and
triazene, ammonium."""

AMIDE = "[NX3]-[CX3]=[O,N,SX1]"
TERTIARY_AMIDE = "[NX3]([!#1])([!#1])-[CX3]=[O,N,SX1]"

CHARGED = "[!+0]"
DATIVE = "*->*"
AROMATIC_DOUBLE = "[a;X2&!v2,X3&!v3,X4&!v4]"
"""Aromatic atoms with a double bond in every Kekule form: more valences than bonds."""

LONGEST_RING = 6
"""Larger rings are not stored."""

ORDERS = np.ones(16, "u1")
"""Code of a bond by twice its order; 4 is aromatic, unusual orders count as single."""
ORDERS[[3, 4, 6]] = 4, 2, 3


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


class Lists:
    """Atoms and bonds of a molecule, and what of them is asked for more than once."""

    def __init__(self, mol: Chem.Mol) -> None:
        self.mol = mol
        self.atoms, self.bonds = list(atoms_of(mol)), list(bonds_of(mol))
        self.element = list(map(Chem.Atom.GetAtomicNum, self.atoms))
        self.charge = list(map(Chem.Atom.GetFormalCharge, self.atoms))
        self.aromatic = list(map(Chem.Atom.GetIsAromatic, self.atoms))


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
        return cls.of_lists(Lists(mol))

    @classmethod
    def of_lists(cls, lists: Lists) -> "Graph":
        """The graph of a molecule from its atoms; ValueError where a bond has no order."""
        mol, count = lists.mol, len(lists.atoms)
        orders = Chem.GetAdjacencyMatrix(mol, useBO=True, force=True)
        first, second = orders.nonzero()
        upper = first < second
        first, second = first[upper], second[upper]
        if len(first) != mol.GetNumBonds():
            raise ValueError("a bond has no order")
        cyclic = np.zeros((count, count), bool)
        rings, single_pairs = [], []
        for ring in mol.GetRingInfo().AtomRings():
            following = [*ring[1:], ring[0]]
            cyclic[ring, following] = True
            if LONGEST_RING - 1 <= len(ring) <= LONGEST_RING:
                single = (orders[ring, following] == 1).tolist()
                end = [-1] * (LONGEST_RING - len(ring))
                rings.append([*ring, *end])
                pairs = [
                    one and other for one, other in zip(single, [single[-1], *single], strict=False)
                ]
                single_pairs.append([*pairs, *([False] * len(end))])
        amide = np.zeros(len(first), bool)
        for ends in rigid_amides(mol) if 7 in lists.element else ():
            amide |= (first == min(ends)) & (second == max(ends))
        return cls(
            element=np.array(lists.element, "u1"),
            charge=np.array(lists.charge, "i1"),
            aromatic=np.array(lists.aromatic, bool),
            aromatic_double=_marked(mol, count, AROMATIC_DOUBLE if any(lists.aromatic) else ""),
            accepts=~_marked(mol, count, NOT_ACCEPTING if 7 in lists.element else ""),
            bond=np.array([first, second]).T,
            order=ORDERS[(2 * orders[first, second]).astype("u1")],
            cyclic=cyclic[first, second] | cyclic[second, first],
            amide=amide,
            ring=np.array(rings, "i8").reshape(-1, LONGEST_RING),
            single_pair=np.array(single_pairs, bool).reshape(-1, LONGEST_RING),
        )

    def renumbered(self, order: np.ndarray) -> "Graph":
        """The same graph with its atoms in another order (old number of each new atom)."""
        new = np.empty(len(order) + 1, "i8")
        new[order], new[-1] = np.arange(len(order)), -1
        bond = np.sort(new[self.bond], axis=1)
        rows = np.argsort(bond[:, 0] * len(order) + bond[:, 1])
        by_atom = {name: getattr(self, name)[order] for name in BY_ATOM}
        by_bond = {name: getattr(self, name)[rows] for name in BY_BOND}
        return Graph(
            **by_atom,
            **by_bond,
            bond=bond[rows],
            ring=new[self.ring],
            single_pair=self.single_pair,
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


BY_ATOM = ("element", "charge", "aromatic", "aromatic_double", "accepts")
BY_BOND = ("order", "cyclic", "amide")


def _marked(mol: Chem.Mol, count: int, smarts: str) -> np.ndarray:
    """Atoms (bool) that match a pattern; none match an empty one."""
    result = np.zeros(count, bool)
    if not smarts:
        return result
    result[[atom for (atom,) in matches(mol, smarts)]] = True
    return result


def rigid_amides(mol: Chem.Mol) -> set[tuple[int, int]]:
    """Nitrogen and carbon of the amides that do not turn: a tertiary one with unlike ends does."""
    amides = {(match[0], match[1]) for match in matches(mol, AMIDE)}
    tertiary = matches(mol, TERTIARY_AMIDE) if amides else ()
    if not tertiary:
        return amides
    rank = list(Chem.CanonicalRankAtoms(mol, breakTies=False))
    return amides - {
        (nitrogen, carbon)
        for nitrogen, first, second, carbon, _ in tertiary
        if rank[first] != rank[second]
    }
