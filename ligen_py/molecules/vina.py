"""Vina's atom types (XS) of ligands and receptors, and the torsions that Vina's N_rot counts.

Sources: AutoDock Vina 1.2 for the types; its usual preparation, Meeko, for which nitrogens accept
and which bonds are active torsions, because Vina itself reads both from its input.
"""

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from rdkit import Chem

from ligen_py.records import Interaction, VinaType

NOT_ACCEPTING = ("[#7X3v3][a]", "[#7X3v3][#6X3v4]", "[#7+1]")
"""Nitrogens that give their lone pair away: pyrrole and aniline, amide and its like, ammonium."""

AMIDE = "[NX3]-[CX3]=[O,N,SX1]"
TERTIARY_AMIDE = "[NX3]([!#1])([!#1])-[CX3]=[O,N,SX1]"

POLAR_HYDROGEN_ON = frozenset((7, 8, 9, 15, 16))
"""Elements whose hydrogens are atoms of their own in Vina's input; all others are merged."""

HETERO_FREE = frozenset((1, 6))
"""Neighbours that leave a carbon hydrophobic."""

BY_ELEMENT = {
    5: VinaType.C_P, 9: VinaType.F_H, 14: VinaType.SI, 15: VinaType.P_P, 16: VinaType.S_P,
    17: VinaType.CL_H, 33: VinaType.P_P, 34: VinaType.S_P, 35: VinaType.BR_H, 53: VinaType.I_H,
    85: VinaType.AT,
}  # fmt: skip
"""Types that the element alone decides; boron counts as carbon, arsenic as phosphorus, selenium as
sulfur."""

NITROGEN = (VinaType.N_P, VinaType.N_D, VinaType.N_A, VinaType.N_DA)
OXYGEN = (VinaType.O_P, VinaType.O_D, VinaType.O_A, VinaType.O_DA)


def vina_type(element: int, gives: bool, takes: bool, neighbours: Iterable[int]) -> VinaType:
    """Type of an atom by atomic number, hydrogen-bond role and its neighbours' atomic numbers.

    What has no type of its own is taken for a metal, as all such atoms of structure files are.
    """
    if element == 1:
        return VinaType.NONE
    if element == 6:
        return VinaType.C_H if HETERO_FREE.issuperset(neighbours) else VinaType.C_P
    if element in (7, 8):
        return (NITROGEN if element == 7 else OXYGEN)[gives + 2 * takes]
    return BY_ELEMENT.get(element, VinaType.MET_D)


def ligand_types(mol: Chem.Mol) -> np.ndarray:
    """Types u1 (atoms,) of a sanitised molecule with explicit hydrogens."""
    closed = not_accepting(mol)
    types = []
    for atom in mol.GetAtoms():
        around = [other.GetAtomicNum() for other in atom.GetNeighbors()]
        takes = atom.GetIdx() not in closed
        types.append(vina_type(atom.GetAtomicNum(), 1 in around, takes, around))
    return np.array(types, "u1")


def not_accepting(mol: Chem.Mol) -> set[int]:
    """Nitrogens of a molecule that accept no hydrogen bond."""
    return {match[0] for smarts in NOT_ACCEPTING for match in _matches(mol, smarts)}


def receptor_types(
    element: Sequence[int], role: Sequence[Interaction], bonded: Sequence[Sequence[int]]
) -> np.ndarray:
    """Types u1 (atoms,) of receptor heavy atoms.

    Args:
        element: atomic numbers.
        role: X-Score's classes, whose donors and acceptors among N and O are also Vina's.
        bonded: atomic numbers of each atom's heavy neighbours.
    """
    gives = (Interaction.DONOR, Interaction.DONOR_ACCEPTOR)
    takes = (Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR)
    types = [
        vina_type(int(number), kind in gives, kind in takes, around)
        for number, kind, around in zip(element, role, bonded, strict=True)
    ]
    return np.array(types, "u1")


def rotors(mol: Chem.Mol) -> float:
    """N_rot of a molecule with explicit hydrogens, by Vina's count over `active_torsions`.

    An end of a torsion gives 1/2 if the other end has two or more heavy neighbours. So hydroxyls
    count 1/2 and torsions inside the molecule 1.
    """
    inner = [_heavy_neighbours(atom) > 1 for atom in mol.GetAtoms()]
    return sum(0.5 * (inner[first] + inner[second]) for first, second in active_torsions(mol))


def active_torsions(mol: Chem.Mol) -> list[tuple[int, int]]:
    """Bonds that Meeko lets turn: single, acyclic, no amide, each end with other neighbours.

    Merged (nonpolar) hydrogens are no neighbours. A tertiary amide turns if its substituents
    differ. These are more bonds than the search turns, which leaves hydroxyls and symmetric tops.
    """
    rigid = _rigid_amides(mol)
    found = []
    for bond in mol.GetBonds():
        ends = bond.GetBeginAtom(), bond.GetEndAtom()
        pair = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        single = bond.GetBondType() == Chem.BondType.SINGLE and not bond.IsInRing()
        if single and frozenset(pair) not in rigid and all(_neighbours(atom) > 1 for atom in ends):
            found.append(pair)
    return found


def _rigid_amides(mol: Chem.Mol) -> set[frozenset[int]]:
    rank = list(Chem.CanonicalRankAtoms(mol, breakTies=False))
    turning = {
        frozenset((nitrogen, carbon))
        for nitrogen, first, second, carbon, _ in _matches(mol, TERTIARY_AMIDE)
        if rank[first] != rank[second]
    }
    return {frozenset(match[:2]) for match in _matches(mol, AMIDE)} - turning


def _neighbours(atom: Chem.Atom) -> int:
    """Neighbours that are atoms in Vina's input: heavy ones, and polar hydrogens."""
    if atom.GetAtomicNum() in POLAR_HYDROGEN_ON:
        return int(atom.GetDegree())
    return _heavy_neighbours(atom)


def _heavy_neighbours(atom: Chem.Atom) -> int:
    return sum(other.GetAtomicNum() > 1 for other in atom.GetNeighbors())


def _matches(mol: Chem.Mol, smarts: str) -> Sequence[tuple[int, ...]]:
    return mol.GetSubstructMatches(_pattern(smarts), maxMatches=100_000)


@cache
def _pattern(smarts: str) -> Chem.Mol:
    return Chem.MolFromSmarts(smarts)
