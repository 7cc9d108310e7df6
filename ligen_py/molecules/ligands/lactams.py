"""Hydroxy and thiol groups beside or opposite a ring nitrogen, drawn as oxo and thioxo groups.

Libraries draw 2-pyridone, hypoxanthine or thiones also as the hydroxy or thiol tautomer, of which
water has a hundredth to a hundred thousandth (Elguero et al., "The Tautomerism of Heterocycles",
1976; Beak, Acc. Chem. Res. 10:186, 1977). Isoxazoles and pyrazoles, where the hydroxy form is
frequent, stay as they are, and so do 3-hydroxyisoquinolines and rings with a halogen beside the
nitrogen, as 6-chloro-2-hydroxypyridine.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from rdkit import Chem, rdBase

BESIDE = (
    "[OX2H,SX2H]c1[nX2][c,n][c,n][c,n][c,n]1",
    "[OX2H]c1[nX2][c,n][c,n][n,o,s]1",
    "[SX2H]c1[nX2][c,n][c,n][n,o,s]1",
    "[SX2H]C=[NX2]",
)
"""The first atom loses its hydrogen, the third gets one."""
OPPOSITE = ("[OX2H,SX2H]c1[c,n][c,n][nX2][c,n][c,n]1",)
"""The fifth gets it."""
STAYS = "[OX2H]c1cc2ccccc2cn1"
HALOGENS = frozenset((9, 17, 35, 53))
DONORS = frozenset((7, 8, 16))


class _Place(NamedTuple):
    """A hydrogen's way; the first of several is the least."""

    is_opposite: bool
    donors: int
    """Amines, oxygens and sulfurs at the nitrogen's other neighbours: cytosine has its hydrogen on
    N1."""
    nitrogen_rank: int
    carbon_rank: int
    giver: int
    carbon: int
    nitrogen: int


@cache
def lactims() -> list[Chem.Mol]:
    """The groups that are drawn in another way."""
    return [Chem.MolFromSmarts(smarts) for smarts in (*BESIDE, *OPPOSITE)]


@cache
def _stays() -> Chem.Mol:
    return Chem.MolFromSmarts(STAYS)


def lactam(mol: Chem.Mol) -> tuple[Chem.Mol, bool]:
    """A sanitised molecule drawn with lactams, and whether it was drawn otherwise.

    Heavy atoms keep their numbers and coordinates; hydrogens must be implicit.
    """
    moved = False
    while (changed := next(_drawn(mol), None)) is not None:
        mol, moved = changed, True
    return mol, moved


def _drawn(mol: Chem.Mol) -> Iterator[Chem.Mol]:
    """The molecule with one hydrogen moved, the best place first."""
    with rdBase.BlockLogs():  # of rings that cannot be drawn with single and double bonds then
        yield from filter(None, (_moved(mol, place) for place in sorted(_places(mol))))


def _places(mol: Chem.Mol) -> Iterator[_Place]:
    """Where a hydrogen can move to, in any order."""
    found = [mol.GetSubstructMatches(group, uniquify=False) for group in lactims()]
    if not any(found):
        return
    rank = list(Chem.CanonicalRankAtoms(mol))
    stay = {match[0] for match in mol.GetSubstructMatches(_stays())}
    for number, matches in enumerate(found):
        is_opposite = number >= len(BESIDE)
        for match in matches:
            giver, carbon, nitrogen = match[0], match[1], match[4 if is_opposite else 2]
            near = _beyond(mol, nitrogen, carbon)
            if giver not in stay and not HALOGENS.intersection(near):
                donors = sum(element in DONORS for element in near)
                ranks = rank[nitrogen], rank[carbon]
                yield _Place(is_opposite, donors, *ranks, giver, carbon, nitrogen)


def _beyond(mol: Chem.Mol, nitrogen: int, carbon: int) -> list[int]:
    """Elements outside of rings at the neighbours of a nitrogen other than a carbon."""
    return [
        atom.GetAtomicNum()
        for beside in mol.GetAtomWithIdx(nitrogen).GetNeighbors()
        if beside.GetIdx() != carbon
        for atom in beside.GetNeighbors()
        if not mol.GetBondBetweenAtoms(atom.GetIdx(), beside.GetIdx()).IsInRing()
    ]


def _moved(mol: Chem.Mol, place: _Place) -> Chem.Mol | None:
    """The molecule with a hydrogen moved; None if that is no molecule."""
    changed = Chem.RWMol(mol)
    giver, nitrogen = map(changed.GetAtomWithIdx, (place.giver, place.nitrogen))
    changed.GetBondBetweenAtoms(place.giver, place.carbon).SetBondType(Chem.BondType.DOUBLE)
    giver.SetNumExplicitHs(0)
    if nitrogen.GetIsAromatic():
        nitrogen.SetNumExplicitHs(1)
    else:
        bond = changed.GetBondBetweenAtoms(place.carbon, place.nitrogen)
        bond.SetStereo(Chem.BondStereo.STEREONONE)
        bond.SetBondType(Chem.BondType.SINGLE)
    if Chem.SanitizeMol(changed, catchErrors=True):
        return None
    return changed.GetMol()
