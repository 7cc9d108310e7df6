"""Molecules drawn as a tautomer that water hardly has, drawn as the one that it has.

Libraries draw 2-pyridone, hypoxanthine or thiones also with a hydroxy or thiol group beside or
opposite a ring nitrogen, amines there as imines, imides as imidic acids, and amides and esters as
enols, also in five-rings that look aromatic then (oxindole as 2-hydroxyindole), and indoles with
their hydrogen at C2, so that the benzene ring has none of its double bonds; 1-hydroxy-2-pyridones
and pyrithiones are drawn as N-oxides; methylated enaminones and pyrazolones have a methylene group,
and nitroethenediamines (ranitidine) are drawn as amidines; 2-(aminomethylene)-1,3-diketones as
imines of an enol; hydrazones of 1,3-diketones and pyrazolones (tartrazine) as arylazo compounds, as
which they are made. Water has a hundredth to a hundred
thousandth of these, or less, and as little of 2H-indazoles (Elguero et al., "The Tautomerism of
Heterocycles", 1976; Beak, Acc. Chem. Res. 10:186, 1977). Acids of phosphorus(III) have their
hydrogen at phosphorus: phosphorous acid is HP(=O)(OH)2. Thio acids, of which water has the ion
alone, have theirs at a carboxylic or sulfonic acid's sulfur and a phosphoric acid's oxygen. Of
1-hydroxy-4-pyridone water has the N-oxide, too, but most is the ion, which is the same.

Rings with a 1,3-diketone have one drawing, too: pyrazolidinediones, barbiturates, Meldrum's acid,
indanediones and tetramic acids as ketones, coumarins, pyrones, quinolones, tetronic acids, oxicams
and cyclohexane- and cyclopentanediones as enols; of two enols the first SMILES. So have open
1,3-diketones, as ketones, and hydroxy-1,4-quinones, which are drawn as 1,2-quinones, too. Of
pyrazolones and isoxazolones water has several forms; theirs is the hydroxypyrazole or
hydroxyisoxazole, flat as their ion.

What stays as it is: 3-hydroxyisoquinolines, rings with a halogen beside the nitrogen, as
6-chloro-2-hydroxypyridine, enols of acylated diketones and of ketones beside a ring's, and of
imines oximes, hydrazones, cyanamides and those of acylated imidazoles, whose hydrogen is bonded to
the acyl group.
"""

from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

from rdkit import Chem, rdBase

from ligen_py.molecules.elements import HALOGENS

GROUPS = (
    ("[OX2H,SX2H:1][c:2]1[nX2:3][c,n][c,n][c,n][c,n]1", False),
    ("[OX2H:1][c:2]1[nX2:3][c,n][c,n][n,o,s]1", False),
    ("[OX2H:1][c:2]1[nX2:3]scc1", False),
    ("[OX2H,SX2H:1][c:2]1[nX2:3]c(=[O,S])[o,s][nX3]1", False),
    ("[SX2H:1][c:2]1[nX2:3][c,n][c,n][n,o,s]1", False),
    ("[OX2H,SX2H:1][C:2]=[NX2:3]", False),
    ("[OX2H,SX2H:1][c:2]1[c,n][c,n][nX2:3][c,n][c,n]1", True),
    ("[nH:1]1[nX2:3][c:2]2[c,n][c,n][c,n][c,n]c2[c,n]1", False),
    ("[nH:1]1[c:2][nX2:3]c(=[O,S])[o,s,nX3]1", False),
    ("[nH:1]1[c:2][nX2:3]c(=[O,S])cc1", False),
    ("[nH:1]1[c:2](=[O,S])[nX2:3][c;!$(c(n)[#7,#8,#16])]cc1[NX3;+0]", False),
    ("[nH:1]1[nX2:3][c:2]([OX2H])c([NX2]=[NX2]c)c1", False),
    ("[nH:1]1[o,nX3][c;!$(c=C)]c[c:2]1=[O:3]", False),
    ("[nH:1]1[c;!$(c=C)]c[c:2](=[O:3])[o,nX3]1", False),
    ("[CX4;H1,H2:1]1[CX3:2](=[O:3])[OX2,NX3][NX2]=[CX3]1", False),
    ("[OX2H,SX2H:1][c:2][n+][O-:3]", False),
    ("[OX2H,SX2H:1][c:2]1[c,n][c,n][n+]([O-:3])[c,n][c,n]1", False),
    ("[OX2H,SX2H:1][PX3:2]", False),
    ("[SX2H:1][PX4:2]=[OX1:3]", False),
    ("[OX2H:1][CX3:2](=[SX1:3])[#6]", False),
    ("[OX2H:1][SX4:2]=[SX1:3]", False),
    ("[nH:1]~[c:2]=;!@[NX2:3]", False),
    ("[nH:1]1[c,n][c,n][c:2](=;!@[NX2:3])[c,n][c,n]1", True),
    ("[OX2H:1][c:2]1[c:3][c,nX3,o,s][c,nX3][nX3,o,s]1", False),
    ("[OX2H:1][c:2]1[c:3]sc([NX3])[nX2]1", False),
    ("[NX3H1:1]1[C:2](=[NX2:3])[NX3][NX2]=[CX3]1", False),
    ("[OX2H:1][C:2]([NX3,OX2,SX2])=[C:3]", False),
    ("[CX4:1]1[CX3:2]=c2[c,n][c,n][c,n][c,n]c2=[NX2:3]1", False),
    ("[CX4:1](C=O)[C:2](=[CX3;H2:3])[NX3]", False),
    ("[CX4:1]([N+](=O)[O-])[C:2]([NX3])=[NX2:3]", False),
    ("[CX4:1](!@[CX3](=O)[#6])!@[CX3:2]([#6])=[NX2:3][#6]", False),
    ("[CX4;H1:1]([CX3]=O)([CX3]=O)!@[CX3;H1:2]=!@[NX2:3][#6]", False),
    ("[CX4;H1:1]([CX3]=O)([CX3]=O)!@[CX3:2]([#6])=!@[NX2:3][#6]", False),
    ("[CX4;H1:1](@[CX3]=O)!@[CX3;H1:2]=!@[NX2:3][#6]", False),
    ("[CX4;H1:1](@[CX3]=O)!@[CX3:2]([#6])=!@[NX2:3][#6]", False),
    ("[CX4;H1:1]([CX3]=[O,S])[NX2:2]=[NX2:3]c", False),
    ("[CX4;H1:1](C#N)[NX2:2]=[NX2:3]c", False),
)
"""Pattern: 1 loses its hydrogen, 3 gets it, 2 is between or beside them, or gets it itself; and
whether another of these groups comes first where a hydrogen can go two ways."""
DIKETONES = (
    "[OX2H:1][#6:2]1=,:[#6:3][#6](=O)[#7X3;H0][#7X3;H0]1",
    "[OX2H:1][#6:2]1=,:[#6:3][#6](=O)[#7X3][#6](=[O,S])[#7X3]1",
    "[OX2H:1][#6:2]1=[#6:3][#6](=O)O[CX4]O1",
    "[OX2H:1][#6:2]1=,:[#6:3][#6](=O)[#7X3][CX4]1",
    "[OX2H:1][C:2]1=[C:3]C(=O)c:c1",
    "[CX4;H1,H2;x0,x2:1]1[CX3:2](=[O:3])[#6]=,:[#6][#8X2,#7X3][CX3]1=O",
    "[CX4;H1,H2;x0,x2:1]1[CX3:2](=[O:3])[CX4][CX4][OX2][CX3]1=O",
    "[CX4;H1,H2;x0,x2:1]1[CX3:2](=[O:3])[#6][OX2][CX3]1=O",
    "[CX4;H1;x0,x2:1]1([CX3](=O)[#7])[CX3:2](=[O:3])c:cS(=O)(=O)[#7]1",
    "[CX4;H1,H2;x0,x2:1]1[CX3:2](=[O:3])[CX4][CX4][CX3]1=O",
    "[CX4;H1,H2;x0,x2:1]1[CX3:2](=[O:3])[CX4][CX4][CX4][CX3]1=O",
    "[CX4;H1,H2;x0,x2:1]1[CX3:2](=[O:3])[CX3](=O)[#6]~[#6][CX3]1=O",
    "[CX4;H1;x0,x2:1]1([CX3]=O)[CX3:2](=[O:3])[CX3](=O)[#8X2,#7X3][CX4]1",
)
"""As GROUPS: rings with two ketones, whose enols stay beside an acyl, vinyl or azo group. An atom
of two rings (x3) may be a bridgehead, which has no enol."""
BESIDE = "[OX2H:1][#6:2]1=,:[#6:3][#6](=O)[#6]~[#6]~[#8X2,#7X3]1"
"""As GROUPS: enols beside a coumarin's oxygen or a quinolone's nitrogen; water has the other."""
OPEN = "[OX2H:1][CX3:2]([#6])=!@[CX3:3]!@[CX3]=O"
"""As GROUPS: enols of open 1,3-diketones and 3-oxoesters."""
ENOLS = (
    "[OX2H:1][C:2]1=[C:3][C:4](=[O:5])[CX4][CX4]1",
    "[OX2H:1][C:2]1=[C:3][C:4](=[O:5])[CX4][CX4][CX4]1",
)
"""Enols whose hydrogen may be at either oxygen."""
SWAPPED = (
    "[OX2H:1][C:2]1=[C:3][C:4](=[O:5])[#6](=O)[#6]~[#6]1",
    "[OX2H:1][C:2]=!@[C:3]1[C:4](=[O:5])[#6]~*~[CX3]1=O",
    "[OX2H:1][C:2]=!@[C:3]1[C:4](=[O:5])[CX3](=O)[#8X2,#7X3]*1",
    "[OX2H:1][C:2]=!@[C:3]1[C:4](=[O:5])[#6]~*~*~[CX3]1=O",
    "[OX2H:1][C:2]=!@[C:3]!@[C:4]=[NX2:5][#6]",
    "[OX2H:1][#6:2]1=,:[#6:3](!@[CX3:4]=!@[NX2:5][#6])[#6](=O)~*~*1",
    "[OX2H:1][#6:2]1=,:[#6:3](!@[CX3:4]=!@[NX2:5][#6])[#6](=O)~*~*~*1",
    "[OX2H:1][c:2]1[c:3](!@[CX3:4]=!@[NX2:5][#6])c[c,n][nX3,o,s]1",
    "[OX2H:1][C:2]=[C:3][NX2:4]=[NX2:5]c",
    "[OX2H:1][c:2][c:3]([NX2:4]=[NX2:5]c)c=O",
    "[OX2H:1][c:2]1[c:3]([NX2:4]=[NX2:5]c)c[c,n][nX3,o,s]1",
    "[OX2H:1][c:2]1[c:3]([NX2:4]=[NX2:5]c)cc[c,n][nX3,o]1",
    "[NX3H1:1]1[C:2]=[NX2:3][C:4](=[NX2:5])[NX3]1",
    "[NX3H1:1]1[NX2:2]=[NX2:3][C:4](=[NX2:5])[NX3]1",
)
"""Enols whose hydrogen belongs at the other end: 4-hydroxy-1,2-quinones, enols outside the ring of
acylated diketones, those of imines, and those with an arylazo group, which are hydrazones. Likewise
triazoles and tetrazoles that are not drawn aromatic. The marked atoms come first, in order."""
STAYS = "[OX2H]c1cc2ccccc2cn1"
DONORS = frozenset((7, 8, 16))
MULTIPLE = 2
"""Order of a double bond; aromatic ones are less."""


class _Place(NamedTuple):
    """A hydrogen's way; the first of several is the least."""

    is_second: bool
    donors: int
    """Amines, oxygens and sulfurs at the nitrogen's other neighbours: cytosine has its hydrogen on
    N1."""
    nitrogen_rank: int
    carbon_rank: int
    giver: int
    carbon: int
    nitrogen: int


@cache
def redrawn() -> list[Chem.Mol]:
    """The groups that are drawn in another way."""
    return [Chem.MolFromSmarts(smarts) for smarts in (*_groups(), *ENOLS, *SWAPPED)]


def _groups() -> dict[str, bool]:
    """Patterns whose hydrogen moves, and whether another of them comes first."""
    return {**dict(GROUPS), **dict.fromkeys((*DIKETONES, BESIDE, OPEN), False)}


@cache
def _marked() -> list[tuple[int, int, int]]:
    """Of each group the atoms 1, 2 and 3; 2 again where it has no 3."""
    groups = redrawn()[: len(_groups())]
    every = [{a.GetAtomMapNum(): a.GetIdx() for a in group.GetAtoms()} for group in groups]
    return [(numbers[1], numbers[2], numbers.get(3, numbers[2])) for numbers in every]


@cache
def _stays() -> Chem.Mol:
    return Chem.MolFromSmarts(STAYS)


def as_in_water(mol: Chem.Mol) -> tuple[Chem.Mol, bool]:
    """A sanitised molecule as the tautomer that water has, and whether it was drawn otherwise.

    Heavy atoms keep their numbers and coordinates; hydrogens must be implicit.
    """
    forms: dict[str, Chem.Mol] = {}  # as drawn, and those on the way
    while True:
        again = ""
        for changed in chain(_drawn(mol), _swapped(mol)):
            forms = forms or {Chem.MolToSmiles(mol): mol}
            smiles = Chem.MolToSmiles(changed)
            if smiles not in forms:
                break
            again = again or smiles
        else:
            break
        forms[smiles] = mol = changed
    if again:  # a circle, from whose forms any drawing ends in the same one
        circle = list(forms)[list(forms).index(again) :]
        mol = forms[min(circle)]
    first = _first_enol(mol)
    return first, bool(forms) or first is not mol


def _swapped(mol: Chem.Mol) -> Iterator[Chem.Mol]:
    """The molecule with a hydrogen of an enol moved to its other end, the first SMILES first."""
    matches = [mol.GetSubstructMatches(enol) for enol in redrawn()[-len(SWAPPED) :]]
    forms = [_with_other_enol(mol, match) for match in chain(*matches)]
    yield from sorted(forms, key=Chem.MolToSmiles)


def _first_enol(mol: Chem.Mol) -> Chem.Mol:
    """The molecule with the hydrogens of its ENOLS where its SMILES is the first."""
    for enol in redrawn()[len(_groups()) : -len(SWAPPED)]:
        for match in mol.GetSubstructMatches(enol, uniquify=False):
            other = _with_other_enol(mol, match)
            mol = min(mol, other, key=Chem.MolToSmiles)
    return mol


def _with_other_enol(mol: Chem.Mol, match: tuple[int, ...]) -> Chem.Mol:
    """The molecule with the hydrogen of an enol at its other end."""
    changed = Chem.RWMol(mol)
    Chem.Kekulize(changed, clearAromaticFlags=True)
    single, double = Chem.BondType.SINGLE, Chem.BondType.DOUBLE
    for place, kind in enumerate((double, single, double, single)):
        bond = changed.GetBondBetweenAtoms(*match[place : place + 2])
        bond.SetStereo(Chem.BondStereo.STEREONONE)
        bond.SetBondType(kind)
    for end in (match[0], match[4]):
        changed.GetAtomWithIdx(end).SetNumExplicitHs(0)
        changed.GetAtomWithIdx(end).SetNoImplicit(False)
    Chem.SanitizeMol(changed)
    return changed.GetMol()


def _drawn(mol: Chem.Mol) -> Iterator[Chem.Mol]:
    """The molecule with one hydrogen moved, the best place first."""
    for place in sorted(_places(mol)):
        with rdBase.BlockLogs():  # of rings that cannot be drawn with single and double bonds then
            changed = _moved(mol, place)
        if changed is not None:
            yield changed


def _places(mol: Chem.Mol) -> Iterator[_Place]:
    """Where a hydrogen can move to, in any order."""
    groups = _groups()
    patterns = redrawn()[: len(groups)]
    found = [mol.GetSubstructMatches(pattern, uniquify=False) for pattern in patterns]
    if not any(found):
        return
    rank = list(Chem.CanonicalRankAtoms(mol))
    enols = {OPEN: _is_tricarbonyl, BESIDE: _never, **dict.fromkeys(DIKETONES, _is_acylated)}
    stay = {match[0] for match in mol.GetSubstructMatches(_stays())}
    for matches, marked, (smarts, is_second) in zip(found, _marked(), groups.items(), strict=True):
        for match in matches:
            giver, carbon, nitrogen = (match[i] for i in marked)
            first, middle, last = map(mol.GetAtomWithIdx, (giver, carbon, nitrogen))
            is_imine = first.GetIsAromatic() and not last.GetIsAromatic()
            ring = giver if is_imine else nitrogen
            near = _beyond(mol, ring, carbon) if last.GetAtomicNum() == 7 else []
            stays = bool(HALOGENS.intersection(near))
            if is_imine or last.GetAtomicNum() == 6:
                enol = enols.get(smarts, _is_conjugated)
                stays = (_is_withdrawn if is_imine else enol)(last, middle)
            if first.GetAtomicNum() == 6:
                stays = not first.GetTotalNumHs()
            if giver not in stay and not stays:
                donors = sum(element in DONORS for element in near)
                ranks = rank[ring], rank[carbon]
                yield _Place(is_second, donors, *ranks, giver, carbon, nitrogen)


def _beyond(mol: Chem.Mol, nitrogen: int, carbon: int) -> list[int]:
    """Elements outside of rings at the neighbours of a nitrogen other than a carbon."""
    return [
        atom.GetAtomicNum()
        for beside in mol.GetAtomWithIdx(nitrogen).GetNeighbors()
        if beside.GetIdx() != carbon
        for atom in beside.GetNeighbors()
        if not mol.GetBondBetweenAtoms(atom.GetIdx(), beside.GetIdx()).IsInRing()
    ]


def _is_withdrawn(nitrogen: Chem.Atom, carbon: Chem.Atom) -> bool:
    """Whether an imine stays: an oxime, hydrazone or cyanamide, or a cyclic acylguanidine."""
    beyond = _others(nitrogen, carbon)
    between = [atom.GetAtomicNum() for atom in carbon.GetNeighbors()].count(7) == 3
    return any(
        atom.GetAtomicNum() in (7, 8)
        or atom.GetHybridization() == Chem.HybridizationType.SP
        or (between and carbon.IsInRingSize(5) and _has_oxygen(atom))
        for atom in beyond
    )


def _is_conjugated(end: Chem.Atom, carbon: Chem.Atom) -> bool:
    """Whether an enol stays: of a 1,3-dicarbonyl compound or the like, or beside a fused azole."""
    return any(map(_attracts, _others(end, carbon))) or any(
        atom.GetAtomicNum() == other.GetAtomicNum() == 7 and other.GetIsAromatic()
        for atom in carbon.GetNeighbors()
        for other in atom.GetNeighbors()
    )


def _is_acylated(end: Chem.Atom, _: Chem.Atom) -> bool:
    """Whether the enol of a diketone stays: one with an acyl, vinyl or azo group more."""
    return any(
        double.GetBondType() == Chem.BondType.DOUBLE
        for bond in end.GetBonds()
        if not bond.IsInRing()
        for double in bond.GetOtherAtom(end).GetBonds()
    )


def _never(*_: Chem.Atom) -> bool:
    return False


def _is_tricarbonyl(end: Chem.Atom, carbon: Chem.Atom) -> bool:
    """Whether the enol of an open diketone stays: one with a third acyl group, or a cyano group."""
    others = _others(end, carbon)
    ketones = [carbon, *filter(_has_oxygen, others)]
    beyond = [atom for ketone in ketones for atom in ketone.GetNeighbors()]
    return sum(map(_attracts, others)) > 1 or any(map(_has_oxygen, beyond))


def _others(atom: Chem.Atom, neighbour: Chem.Atom) -> list[Chem.Atom]:
    """The neighbours of an atom but for one."""
    return [other for other in atom.GetNeighbors() if other.GetIdx() != neighbour.GetIdx()]


def _attracts(atom: Chem.Atom) -> bool:
    """Whether an atom has a double or triple bond to a heteroatom."""
    return any(
        bond.GetBondTypeAsDouble() >= MULTIPLE and bond.GetOtherAtom(atom).GetAtomicNum() != 6
        for bond in atom.GetBonds()
    )


def _has_oxygen(atom: Chem.Atom) -> bool:
    return any(
        bond.GetBondType() == Chem.BondType.DOUBLE
        and bond.GetOtherAtom(atom).GetAtomicNum() in (8, 16)
        for bond in atom.GetBonds()
    )


def _make_single(atom: Chem.Atom) -> None:
    """Make the double bonds of an atom single ones."""
    for bond in atom.GetBonds():
        if bond.GetBondType() == Chem.BondType.DOUBLE:
            bond.SetStereo(Chem.BondStereo.STEREONONE)
            bond.SetBondType(Chem.BondType.SINGLE)


def _moved(mol: Chem.Mol, place: _Place) -> Chem.Mol | None:
    """The molecule with a hydrogen moved; None if that is no molecule."""
    changed = Chem.RWMol(mol)
    if changed.GetAtomWithIdx(place.nitrogen).GetAtomicNum() == 6:
        Chem.Kekulize(changed, clearAromaticFlags=True)
        bond = changed.GetBondBetweenAtoms(place.carbon, place.nitrogen)
        if bond.GetBondType() != Chem.BondType.DOUBLE:
            return None
    giver, nitrogen = map(changed.GetAtomWithIdx, (place.giver, place.nitrogen))
    giver.SetNumExplicitHs(0)
    if giver.GetAtomicNum() == 6:
        _make_single(changed.GetAtomWithIdx(place.carbon))
        _make_single(nitrogen)
        changed.GetBondBetweenAtoms(place.giver, place.carbon).SetBondType(Chem.BondType.DOUBLE)
        giver.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
        giver.SetNoImplicit(False)
        return None if Chem.SanitizeMol(changed, catchErrors=True) else changed.GetMol()
    if not giver.GetIsAromatic():
        changed.GetBondBetweenAtoms(place.giver, place.carbon).SetBondType(Chem.BondType.DOUBLE)
    if place.nitrogen == place.carbon:
        nitrogen.SetNumExplicitHs(nitrogen.GetTotalNumHs() + 1)
    elif nitrogen.GetIsAromatic():
        nitrogen.SetNumExplicitHs(1)
    elif nitrogen.GetFormalCharge() < 0:  # an N-oxide's oxygen
        for atom in (nitrogen, *nitrogen.GetNeighbors()):
            atom.SetFormalCharge(0)
        nitrogen.SetNoImplicit(False)
    else:
        bond = changed.GetBondBetweenAtoms(place.carbon, place.nitrogen)
        bond.SetStereo(Chem.BondStereo.STEREONONE)
        bond.SetBondType(Chem.BondType.SINGLE)
        nitrogen.SetNoImplicit(False)  # it had a charge in the drawing
    if Chem.SanitizeMol(changed, catchErrors=True):
        return None
    return changed.GetMol()
