"""Isomers that no mark of a drawing says.

Those of cumulated double bonds, of double bonds and rings in a row, of atoms that are no mirrors.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from rdkit import Chem
from rdkit.Chem import (
    rdMolDescriptors,
    rdMolTransforms,
)

from ligen_py.molecules.graph import matches

CUMULATED = ("[CX3,NX2]=[CX2;!R]=[CX3,NX2]", "[CX3,NX2]=[CX2;!R]=[CX2;!R]=[CX3,NX2]")
"""Two or three double bonds one after another, as in allenes, carbodiimides and butatrienes."""

RING_LINKS = "[CX3;R]=;!@[CX2,CX3,NX2]"
"""A double bond outside rings at a ring, which may be one of several links in a row."""

TROEGER = "[NX3;x3](c)[CX4][NX3;x3]c"
"""Two nitrogens of arenes and a bridge between them, as in Troeger's base."""


class Axis(NamedTuple):
    """Cumulated double bonds with groups at both ends: their planes are at right angles, or one.

    Force fields have no torsions about atoms in a line, so they turn the ends as they like.
    """

    atoms: tuple[int, int, int, int]
    """A group, the end that it is at, the other end, and a group there."""
    is_twisted: bool
    """At right angles: with two double bonds."""
    is_open: bool
    """Whether there are two isomers; a drawing does not say which it is."""

    def is_positive(self, conformer: Chem.Conformer) -> bool:
        """Which of the two isomers a conformer is nearer to."""
        angle = rdMolTransforms.GetDihedralDeg(conformer, *self.atoms)
        return bool(angle > 0 if self.is_twisted else abs(angle) < 90)

    def angle(self, conformer: Chem.Conformer) -> float:
        """The torsion of that isomer, degrees."""
        positive, negative = (90.0, -90.0) if self.is_twisted else (0.0, 180.0)
        return positive if self.is_positive(conformer) else negative


class Hand(NamedTuple):
    """An unmarked atom of rings that is not its own mirror image."""

    atom: int
    arms: tuple[int, int, int]
    """Three of its neighbours."""

    def is_positive(self, conformer: Chem.Conformer) -> bool:
        """Which of the two mirror images a conformer has."""
        xyz = conformer.GetPositions()
        return is_positive(xyz[list(self.arms)] - xyz[self.atom])


class Turn(NamedTuple):
    """Two lines across a row of links, one behind another, each between two atoms.

    They are in one plane, or at right angles.
    """

    one: tuple[int, ...]
    other: tuple[int, ...]
    way: tuple[int, ...]
    """An atom, and those to whose middle the row goes from it; none for lines in one plane."""

    def is_positive(self, xyz: np.ndarray) -> bool:
        """Whether the lines point to one side, or make a right-handed turn."""
        one, other = (xyz[head] - xyz[tail] for tail, head in (self.one, self.other))
        if not self.way:
            return bool(one @ other > 0)
        start, *ends = self.way
        return is_positive(np.stack([xyz[ends].mean(axis=0) - xyz[start], one, other]))


class RingAxis(NamedTuple):
    """Double bonds and rings one behind another, as in 4-methylcyclohexylideneacetic acid.

    Both ways through each ring are alike, so that its atoms are stereocentres only together. RDKit
    drops marks of them.
    """

    turns: tuple[Turn, ...]
    """From the group at one end by the rings' atoms beside each link to that at the other."""

    def is_positive(self, conformer: Chem.Conformer) -> bool:
        """Which of the two isomers a conformer has, whatever the shapes of its rings."""
        xyz = conformer.GetPositions()
        return sum(turn.is_positive(xyz) for turn in self.turns) % 2 > 0


class _Link(NamedTuple):
    """A double bond, or a ring with two ways that are alike, from one end to the other."""

    near: int
    near_inner: tuple[int, ...]
    far: int
    far_inner: tuple[int, ...]


def axes(mol: Chem.Mol) -> list[Axis]:
    """The axes of a molecule, outside rings; those of ends without groups are no matter."""
    found = [
        (match[0], match[-1], match, len(match) == 3)
        for pattern in _cumulated()
        for match in mol.GetSubstructMatches(pattern)
    ]
    if not found:
        return []
    ranks = list(Chem.CanonicalRankAtoms(mol, breakTies=False))
    result = []
    for near, far, chain, is_twisted in found:
        here, there = (_groups(mol.GetAtomWithIdx(end), chain, ranks) for end in (near, far))
        if here and there:
            is_open = all(_differ(groups, ranks) for groups in (here, there))
            result.append(Axis((here[0], near, far, there[0]), is_twisted, is_open))
    return result


@cache
def _cumulated() -> list[Chem.Mol]:
    return [Chem.MolFromSmarts(smarts) for smarts in CUMULATED]


def _groups(end: Chem.Atom, chain: Sequence[int], ranks: Sequence[int]) -> list[int]:
    """The atoms at an end, the one of the highest rank first."""
    atoms = [atom.GetIdx() for atom in end.GetNeighbors() if atom.GetIdx() not in chain]
    return sorted(atoms, key=lambda atom: ranks[atom], reverse=True)


def _differ(groups: Sequence[int], ranks: Sequence[int]) -> bool:
    """Whether an end is no mirror plane; beside one group is a hydrogen, or a lone pair."""
    return len(groups) == 1 or ranks[groups[0]] != ranks[groups[1]]


def ring_axes(mol: Chem.Mol) -> list[RingAxis]:
    """Rows of two links or more, a ring among them, whose ends are no mirrors."""
    if not (matches(mol, RING_LINKS) or rdMolDescriptors.CalcNumSpiroAtoms(mol)):
        return []
    # Marks of the ends, which are right, seem to tell the two ways through a ring apart.
    ranks = list(Chem.CanonicalRankAtoms(mol, breakTies=False, includeChirality=False))
    links = defaultdict(list)
    for link in (*_double_links(mol), *_ring_links(mol, ranks)):
        links[link.near].append(link)
    result = []
    for first in [link for start in sorted(links) for link in links[start]]:
        row = [first]
        while (following := _following(mol, row, links[row[-1].far])) and following not in row:
            row.append(following)
        last = row[-1]
        if len(row) < 2 or last.far < first.near or all(len(one.near_inner) == 1 for one in row):
            continue
        near = _end(mol, first.near, first.near_inner, ranks)
        far = _end(mol, last.far, last.far_inner, ranks)
        if near is not None and far is not None:
            result.append(RingAxis(_turns(row, near, far)))
    return result


def _turns(row: Sequence[_Link], near: int, far: int) -> tuple[Turn, ...]:
    """Those between the groups at both ends of a row."""
    result = []
    line: tuple[int, ...] = row[0].near, near
    start, doubles = row[0].near, 0
    for link in row:
        if len(link.near_inner) == 1:
            doubles += 1
            continue
        way = (link.near, *link.near_inner) if not doubles else (start, link.near)
        result.append(Turn(line, link.near_inner, way if doubles % 2 == 0 else ()))
        start, line, doubles = link.far, link.far_inner, 0
    end = row[-1].far
    way = (start, *line) if not doubles else (start, end)
    return (*result, Turn(line, (end, far), way if doubles % 2 == 0 else ()))


def _double_links(mol: Chem.Mol) -> Iterator[_Link]:
    for one, other in matches(mol, "[CX2,CX3,NX2]=;!@[CX2,CX3,NX2]"):
        yield _Link(one, (other,), other, (one,))
        yield _Link(other, (one,), one, (other,))


def _ring_links(mol: Chem.Mol, ranks: Sequence[int]) -> Iterator[_Link]:
    """Rings from each atom to the opposite one whose two ways are alike, without marks."""
    for ring in mol.GetRingInfo().AtomRings():
        half, rest = divmod(len(ring), 2)
        for start in range(len(ring)) if not rest else ():
            turned = [*ring[start:], *ring[:start]]
            one, other = turned[1:half], turned[:half:-1]
            is_marked = any(mol.GetAtomWithIdx(i).GetChiralTag() for i in (*one, *other))
            if not is_marked and [ranks[i] for i in one] == [ranks[i] for i in other]:
                inner = (one[0], other[0]), (one[-1], other[-1])
                yield _Link(turned[0], inner[0], turned[half], inner[1])


def _following(mol: Chem.Mol, row: Sequence[_Link], links: Sequence[_Link]) -> _Link | None:
    """The link behind a row: both have all neighbours of the atom that they share."""
    last = row[-1]
    around = {other.GetIdx() for other in mol.GetAtomWithIdx(last.far).GetNeighbors()}
    rings = mol.GetRingInfo().NumAtomRings(last.far)
    for link in links:
        joined = (*last.far_inner, *link.near_inner)
        if len(joined) == len(around) and {*joined} == around and rings == len(joined) - 2:
            return link
    return None


def _end(mol: Chem.Mol, end: int, inner: tuple[int, ...], ranks: Sequence[int]) -> int | None:
    """The group at an end with two that differ; None where it is a mirror, or turns inside out."""
    atom = mol.GetAtomWithIdx(end)
    if atom.GetHybridization() == Chem.HybridizationType.SP:
        return None  # the row goes on from it
    groups = _groups(atom, inner, ranks)
    if not groups or not _differ(groups, ranks):
        return None
    if len(inner) > 1:
        is_sulfoxide = atom.GetAtomicNum() == 16 and atom.GetTotalDegree() == 3
        is_ammonium = atom.GetAtomicNum() == 7 and atom.GetTotalNumHs() > 0
        is_firm = is_sulfoxide or (atom.GetTotalDegree() == 4 and not is_ammonium)
        if not is_firm or mol.GetRingInfo().NumAtomRings(end) > 1:
            return None
    return groups[0]


def hands(mol: Chem.Mol) -> list[Hand]:
    """Spiro atoms and bridges of two nitrogens that no mark makes one of two mirror images.

    Where the two rings at a spiro atom are alike, RDKit takes it for no stereocentre. Each has two
    ends that differ, so that exchanging the rings exchanges two pairs, and is no mirror.
    """
    spiro: list[int] = []
    heads: list[int] = []
    bridges = matches(mol, TROEGER)
    if bridges and rdMolDescriptors.CalcNumBridgeheadAtoms(mol, atoms=heads):
        heads = [match[0] for match in bridges if {match[0], match[3]} <= {*heads}]
    if rdMolDescriptors.CalcNumSpiroAtoms(mol, atoms=spiro):
        ranks = list(Chem.CanonicalRankAtoms(mol, breakTies=False))
        spiro = [atom for atom in spiro if _has_ends_that_differ(mol, atom, ranks)]
    found = [mol.GetAtomWithIdx(atom) for atom in (*heads, *spiro)]
    return [_hand(atom) for atom in found if not atom.GetChiralTag()]


def _has_ends_that_differ(mol: Chem.Mol, spiro: int, ranks: Sequence[int]) -> bool:
    """Whether no ring at a spiro atom is its own mirror image as far as its two ends say."""
    near = [other.GetIdx() for other in mol.GetAtomWithIdx(spiro).GetNeighbors()]
    rings = [ring for ring in mol.GetRingInfo().AtomRings() if spiro in ring]
    ends = [{ranks[other] for other in near if other in ring} for ring in rings]
    return len(near) == 4 and all(len(pair) == 2 for pair in ends)


def _hand(atom: Chem.Atom) -> Hand:
    one, two, three = [other.GetIdx() for other in atom.GetNeighbors()][:3]
    return Hand(atom.GetIdx(), (one, two, three))


def is_positive(arms: np.ndarray) -> bool:
    """The hand of three vectors (3, 3) from an atom."""
    return bool(np.linalg.det(arms) > 0)
