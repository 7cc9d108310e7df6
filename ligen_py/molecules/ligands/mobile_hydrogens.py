"""One drawing for the tautomers of an azole, and for those of an amidine or guanidine.

Water has both 4- and 5-methylimidazole, and libraries draw either; the ions of tetrazoles, amidines
and guanidines are the same whichever tautomer is drawn. So they are one molecule, with one parent.
It has its hydrogens where water has most of them (Elguero et al., "The Tautomerism of
Heterocycles", 1976; Perrin in "The Chemistry of Amidines and Imidates", 1991):

- an azole on a nitrogen beside a nitrogen and a carbon (1H-triazoles and tetrazoles), beside a
  fused aromatic ring (indazoles), then beside few substituents (4-methylimidazole,
  3-methylpyrazole), beside a carbon at a pyridine's nitrogen (9H-adenine) and not at an amide's
  (7H-xanthines), and away from substituents of a fused ring;
- an amidine has its double bond at the nitrogen whose substituent attracts electrons the most: an
  acyl, sulfonyl or cyano group, a heteroatom, an azine, an arene. It has no sides but at a
  heteroatom: oximes keep theirs.

Where that leaves a choice, the first SMILES is the parent's.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple

from rdkit import Chem, rdBase

from ligen_py.molecules.surroundings import AROMATIC, DOUBLE, SINGLE, TRIPLE, Surroundings

MOST_WAYS = 64
"""Drawings that are compared where the rules leave a choice."""
AZOLE = 5
"""Atoms of an azole's ring."""
ATTRACTS, HETEROATOM, AZINE, ARENE, OWN_RING, BARE, ALKYL, AMIDINE = range(8, 0, -1)
"""How much an amidine's nitrogen wants the double bond, by its substituent; with the ring that it
shares with the carbon it comes before a bare one, also where it is between two amidines' carbons of
that ring, as in cycloguanil."""


class _Move(NamedTuple):
    """A place for the hydrogens of an azole, or the double bonds of amidines."""

    hydrogens: tuple[tuple[int, int], ...]
    """Nitrogens and their number of hydrogens."""
    double: tuple[tuple[int, int], ...]
    """Carbons of amidines and their nitrogens with the double bond."""


class _System(NamedTuple):
    """An azole, or amidines that share nitrogens."""

    drawn: _Move
    best: list[_Move]
    """Those that the rules prefer; more than one where they leave a choice."""
    is_marked: bool = False
    """Whether its double bonds have marks of sides that the hydrogens' moves undo."""

    @property
    def changes(self) -> bool:
        """Whether it may have to be drawn in another way."""
        return self.is_marked or self.best != [self.drawn]


def placed(mol: Chem.Mol, seen: Surroundings) -> Chem.Mol:
    """A sanitised molecule in the one drawing of its tautomers; the same object if that is its own.

    `seen` are its surroundings; hydrogens must be implicit. Heavy atoms keep their numbers and
    coordinates. A double bond that comes to another nitrogen and back has no sides.
    """
    systems = [one for one in (*_azoles(seen), *_amidines(seen)) if one.changes]
    if not systems:
        return mol
    forms = {}
    with rdBase.BlockLogs():  # of rings that cannot be drawn with single and double bonds then
        for ways in islice(product(*(system.best for system in systems)), MOST_WAYS):
            form = _moved(mol, systems, ways)
            if form is not None:
                forms[Chem.MolToSmiles(form)] = form
    own = Chem.MolToSmiles(mol)
    best = min(forms, default=own)
    return mol if best == own else forms[best]


def _moved(mol: Chem.Mol, systems: Sequence[_System], ways: Sequence[_Move]) -> Chem.Mol | None:
    """The molecule with its hydrogens in other places; None if that is no molecule."""
    changed = Chem.RWMol(mol)
    for system, way in zip(systems, ways, strict=True):
        for carbon, nitrogen in system.drawn.double:
            bond = changed.GetBondBetweenAtoms(carbon, nitrogen)
            bond.SetStereo(Chem.BondStereo.STEREONONE)
            bond.SetBondType(Chem.BondType.SINGLE)
            for end in (bond.GetBeginAtom(), bond.GetEndAtom()):
                for beside in end.GetBonds():
                    beside.SetBondDir(Chem.BondDir.NONE)
        for carbon, nitrogen in way.double:
            changed.GetBondBetweenAtoms(carbon, nitrogen).SetBondType(Chem.BondType.DOUBLE)
        for nitrogen, hydrogens in way.hydrogens:
            atom = changed.GetAtomWithIdx(nitrogen)
            atom.SetNumExplicitHs(hydrogens)
            atom.SetNoImplicit(True)
    if Chem.SanitizeMol(changed, catchErrors=True):
        return None
    Chem.SetDoubleBondNeighborDirections(changed)
    Chem.AssignStereochemistry(changed, cleanIt=True, force=True)
    return changed.GetMol()


def _azoles(seen: Surroundings) -> Iterator[_System]:
    """Aromatic five-rings with one hydrogen for several nitrogens."""
    for ring in seen.rings:
        if len(ring) != AZOLE or not all(seen.aromatic[atom] for atom in ring):
            continue
        places = [i for i in ring if _is_mobile(seen, i)]
        bearing = [i for i in places if seen.hydrogens[i]]
        if len(places) < 2 or len(bearing) != 1 or _has_oxo(seen, ring):
            continue
        ranks = {i: _azole_rank(seen, ring, i) for i in places}
        moves = {i: _Move(tuple((other, int(other == i)) for other in places), ()) for i in places}
        best = [moves[i] for i in places if ranks[i] == max(ranks.values())]
        yield _System(moves[bearing[0]], best)


def _is_mobile(seen: Surroundings, atom: int) -> bool:
    return seen.element[atom] == 7 and not seen.charge[atom] and len(seen.neighbours[atom]) == 2


def _has_oxo(seen: Surroundings, ring: Sequence[int]) -> bool:
    """Whether an atom of an aromatic ring has a double bond to one outside."""
    return any(
        order == DOUBLE and (first in ring) != (second in ring)
        for first, second, order, _ in seen.bonds
    )


def _azole_rank(seen: Surroundings, ring: Sequence[int], atom: int) -> tuple[int, ...]:
    """How well a nitrogen of an azole has the hydrogen, the most for the best.

    Asks of nothing that moves with the hydrogens.
    """
    near = seen.neighbours[atom]
    others = [(beside, i) for beside in near for i in seen.neighbours[beside] if i not in ring]
    arene = {i for other in seen.rings if other != ring for i in other if seen.aromatic[i]}
    beyond = [i for _, i in others if seen.element[i] == 7 and i in arene]
    return (
        [seen.element[i] for i in near].count(7) == 1,
        any(beside in arene and i in arene for beside, i in others),
        -sum(not (beside in arene and i in arene) for beside, i in others),
        sum(1 if seen.degree[i] == 2 else -1 for i in beyond),
        -sum(len(seen.neighbours[i]) for _, i in others),
    )


def _amidines(seen: Surroundings) -> Iterator[_System]:
    """Amidines, guanidines and their like with a hydrogen, those that share a nitrogen together."""
    double = {
        carbon: nitrogen
        for first, second, order, _ in seen.bonds
        if order == DOUBLE
        for carbon, nitrogen in ((first, second), (second, first))
        if seen.element[carbon] == 6
        and seen.element[nitrogen] == 7
        and not (seen.charge[carbon] or seen.aromatic[carbon] or seen.charge[nitrogen])
    }
    hydrogens = {
        i: seen.hydrogens[i] + (i in double.values())
        for carbon in double
        for i in seen.neighbours[carbon]
        if seen.element[i] == 7 and not (seen.charge[i] or seen.aromatic[i])
    }
    places = {
        carbon: _unlike(seen, double, [i for i in seen.neighbours[carbon] if hydrogens.get(i)])
        for carbon in double
    }
    left = [carbon for carbon in places if len(places[carbon]) > 1]
    while left:
        carbons = [left.pop()]
        for carbon in carbons:
            carbons += [other for other in left if {*places[carbon]} & {*places[other]}]
            left = [other for other in left if other not in carbons]
        yield _amidine(seen, double, hydrogens, places, sorted(carbons))


def _unlike(seen: Surroundings, double: dict[int, int], nitrogens: list[int]) -> list[int]:
    """Nitrogens without those that are bare like another one, which is kept if it is drawn so."""
    bare = [i for i in nitrogens if len(seen.neighbours[i]) == 1]
    bare.sort(key=lambda i: (i not in double.values(), i))
    return [i for i in nitrogens if i not in bare[1:]]


def _amidine(
    seen: Surroundings,
    double: dict[int, int],
    hydrogens: dict[int, int],
    places: dict[int, list[int]],
    carbons: Sequence[int],
) -> _System:
    found = defaultdict(list)
    every = {i for carbon in carbons for i in places[carbon]}
    for chosen in islice(product(*(places[carbon] for carbon in carbons)), MOST_WAYS**2):
        if len(set(chosen)) == len(chosen):
            ways = tuple(zip(carbons, chosen, strict=True))
            counts = tuple((i, hydrogens[i] - (i in chosen)) for i in sorted(every))
            wants = [_attraction(seen, *way) for way in ways]
            if len(ways) > 1:  # a biguanide is an ion, whose bonds to bare nitrogens have no sides
                wants = [ALKYL if want in (AZINE, ARENE) else want for want in wants]
            found[sum(wants)].append(_Move(counts, ways))
    drawn = tuple((carbon, double[carbon]) for carbon in carbons)
    counts = tuple((i, seen.hydrogens[i]) for i in sorted(every))
    marks = [seen.mol.GetBondBetweenAtoms(*way).GetStereo() for way in drawn]
    is_marked = any(
        mark != Chem.BondStereo.STEREONONE and _attraction(seen, *way) != HETEROATOM
        for mark, way in zip(marks, drawn, strict=True)
    )
    return _System(_Move(counts, drawn), found[max(found)], is_marked)


def _attraction(seen: Surroundings, carbon: int, nitrogen: int) -> int:
    """How much a nitrogen of an amidine wants the double bond, by its substituent."""
    others = [i for i in seen.neighbours[nitrogen] if i != carbon]
    if not others:
        return BARE
    (other,) = others
    orders = {(set(bond[:2]) - {other}).pop(): bond[2] for bond in seen.bonds if other in bond[:2]}
    element = seen.element[other]
    multiple = [seen.element[i] for i, order in orders.items() if order in (DOUBLE, TRIPLE)]
    if {8, 16}.intersection(multiple) or TRIPLE in orders.values():
        return ATTRACTS
    if element != 6:
        return HETEROATOM
    if seen.aromatic[other]:
        ring = [i for i, order in orders.items() if order == AROMATIC]
        return AZINE if any(seen.element[i] == 7 for i in ring) else ARENE
    shared = [ring for ring in seen.rings if carbon in ring and nitrogen in ring]
    if 7 in multiple:
        return OWN_RING if any(other in ring for ring in shared) else AMIDINE
    if 6 in multiple:
        return ARENE
    return OWN_RING if shared and set(orders.values()) == {SINGLE} else ALKYL
