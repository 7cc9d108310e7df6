"""Isomers that no mark of a drawing says: ends of cumulated bonds, atoms that are no mirrors."""

from collections.abc import Sequence
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
