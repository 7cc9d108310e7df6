"""pKa of a molecule's groups.

A group's pKa is that of its family (`pka.tsv`; the first pattern that takes an atom counts),
shifted by the substituents of the molecule (`substituents.tsv`):

- along chains, as in aliphatic amines and acids: a decrement for each polar group, by the bonds
  between it and the titrated atom, halved with each bond beyond the third. A ring that joins both
  by two ways counts it twice, and an arene fused to the ring counts at both its atoms. (Perrin,
  Dempsey, Serjeant, "pKa Prediction for Organic Acids and Bases", 1981; Morgenthaler et al.,
  ChemMedChem 2:1100, 2007.)
- in aromatic rings: Hammett's rho times the sum of sigma (Hansch, Leo, Taft, Chem. Rev. 91:165,
  1991), in azines with values of ortho substituents of their own; an amine at an azine gives less
  where polar groups are near it.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from rdkit import Chem

from ligen_py.molecules.ligands.pka_table import Family, Near, Substituent, families, substituents
from ligen_py.molecules.steps import Steps, at_once
from ligen_py.molecules.surroundings import DOUBLE, TRIPLE, surroundings

FALL = (0.0, 0.0, 0.0, 1.0, 0.45, 0.18, 0.08)
"""Share of a group's decrement over three bonds that is left over so many; none over more."""
MOST_WAYS = 4
"""Bonds over which a ring's two ways count twice."""
ACCEPTOR = 0.5
"""Sigma minus that groups which attract by resonance are above. A third way, as in a bicycle, adds
nothing to their decrement: 4-cyano- and 4-nitroquinuclidine 8.1 and 7.6, 4-bromo 8.5 (Grob)."""
FURTHER = (1.0, 0.85, 0.7)
"""Share of the decrements of the strongest group, of the second and of all others, that counts."""
REMOTE = 0.4
"""Share of sigma that a fused ring transmits."""
SECOND_DONOR = 0.35
"""Share of a further resonance donor beside the strongest one of an azine."""
STRONG_DONOR = -0.2
AMINE = -0.5
"""Sigma of a para substituent that only amines are below."""
WEAKER = 0.06
"""Sigma of an amine at an azine by each unit of the decrements of its own polar groups:
4-dimethylaminopyridine 9.7, 4-morpholinopyridine 8.5."""
AZA = {1: (0.54, 0.75), 2: (0.71, 0.62), 3: (0.81, 0.94)}
"""Sigma of a further ring nitrogen by position (ortho, meta, para): on an azine's nitrogen, and
on a group at the ring (pyridazine 2.2, pyrimidine 1.3, pyrazine 0.7; hydroxypyridines)."""
REMOTE_AZA = 0.2

CHALCOGENS = {8: "O", 16: "S", 34: "Se"}
ACCEPTORS = {DOUBLE: 8, TRIPLE: 7}
"""Bond -> the element that it joins to a carbon beside a carbon acid."""
SURROUNDINGS = 20_000
"""Surroundings of atoms that are remembered, up to 1 kB each."""


class Site(NamedTuple):
    """A group that can take or lose a proton."""

    atom: int
    is_acid: bool
    pka: float
    """With all other groups uncharged."""
    family: str
    carbonyl: tuple[int, ...] = ()


NOBODY: frozenset[int] = frozenset()
_groups_of: dict[tuple[int, int], list[int]] = {}
"""Substituents that an atom may attach, by its surroundings and its smallest ring."""
_rows_of: dict[tuple[str, frozenset[int], bool, tuple[int, ...]], list[int]] = {}
"""Families that an atom may belong to, by its kind, its rings and its surroundings."""


class TitratedMolecule:
    """What the rules ask about a molecule."""

    def __init__(self, mol: Chem.Mol) -> None:
        self.mol = mol
        self.seen = seen = surroundings(mol)
        self.element, self.aromatic, self.charge = seen.element, seen.aromatic, seen.charge
        self.hydrogens, self.degree = seen.hydrogens, seen.degree
        self.neighbours, self.rings = seen.neighbours, seen.rings
        self.is_polar = [
            element != 6 or degree < 4
            for element, degree in zip(self.element, self.degree, strict=True)
        ]
        self.kind = list(zip(self.element, self.aromatic, strict=True))
        self.elements = set(self.kind)
        self.arenes = [
            ring for ring in self.rings if len(ring) < 8 and all(self.aromatic[i] for i in ring)
        ]
        self.shared = {atom for atom, count in Counter(chain(*self.rings)).items() if count > 1}
        """Atoms in two rings or more."""
        self.smallest = [0] * len(self.element)
        """Atoms of each atom's smallest ring; 0 outside rings."""
        for ring in self.rings:
            for atom in ring:
                self.smallest[atom] = min(len(ring), self.smallest[atom] or len(ring))
        self._found: dict[int, dict[int, frozenset[int]]] = {}

    def kinds(self) -> Iterator[tuple[int, str]]:
        """Atoms that may be titrated, and their kinds; carbon acids are beside C=O or C#N."""
        acceptors = {
            carbon
            for bond in self.seen.bonds
            if bond[2] in ACCEPTORS
            for carbon, end in (bond[:2], bond[1::-1])
            if self.element[end] == ACCEPTORS[bond[2]]
        }
        beside = {other for atom in acceptors for other in self.neighbours[atom]}
        for atom, element in enumerate(self.element):
            if self.charge[atom]:
                continue
            hydrogens = self.hydrogens[atom]
            bonds = self.degree[atom]
            if element == 7 and self.aromatic[atom]:
                if hydrogens:
                    yield atom, "nH"
                elif bonds == 2:
                    yield atom, "n"
            elif element == 7 and bonds == 2:
                yield atom, "N="
            elif element == 7 and bonds == 3:
                acyl = "acyl " if self._is_acyl(atom) else ""
                yield atom, f"{acyl}N{hydrogens}"
            elif element in CHALCOGENS and hydrogens:
                yield atom, CHALCOGENS[element]
            elif element == 6 and atom in beside and hydrogens in (1, 2) and bonds == 4:
                yield atom, "C"
            elif element == 15 and bonds == 3:
                yield atom, "P"

    def _is_acyl(self, nitrogen: int) -> bool:
        """Whether a neighbour has an oxygen or sulfur at a double bond."""
        return any(
            self.element[end] in (8, 16) and self.degree[end] == 1
            for other in self.neighbours[nitrogen]
            if self.element[other] in (6, 15, 16)
            for end in self.neighbours[other]
        )

    def possible(self) -> dict[int, set[int]]:
        """Atoms that may belong to each family, by its row; families without any apart."""
        result = defaultdict(set)
        for atom, kind in self.kinds():
            rings = [ring for ring in self.rings if atom in ring]
            sizes = frozenset(map(len, rings))
            is_fused = not all(self.shared.isdisjoint(ring) for ring in rings)
            key = kind, sizes, is_fused, self.seen.beyond(atom)
            rows = _rows_of.get(key)
            if rows is None:
                if len(_rows_of) > SURROUNDINGS:
                    _rows_of.clear()
                rows = _rows_of[key] = _fitting(kind, self.near(atom, sizes, is_fused))
            for row in rows:
                result[row].add(atom)
        return result

    def near(self, atom: int, sizes: frozenset[int], is_fused: bool) -> Near:
        """What is around an atom."""
        others = self.neighbours[atom]
        beyond = {end for other in others for end in self.neighbours[other]} - {atom}
        return Near(
            frozenset([self.kind[i] for i in others]),
            frozenset([self.kind[i] for i in beyond]),
            sum(self.element[i] == 6 and self.degree[i] < 4 for i in others),
            sum(self.element[i] == 6 and self.hydrogens[i] == 3 for i in others),
            min(sizes, default=math.inf),
            sizes,
            is_fused,
        )

    def group(self, atom: int) -> Substituent | None:
        """The substituent that an atom attaches."""
        for number in self._possible_groups(atom):
            if substituents()[number].star is None or atom in self._matches(number):
                return substituents()[number]
        return None

    def members(self, atom: int, group: Substituent) -> frozenset[int]:
        """Other polar atoms of the substituent that an atom attaches."""
        return self._matches(group.number)[atom] if group.pattern.GetNumAtoms() > 1 else NOBODY

    def _matches(self, number: int) -> dict[int, frozenset[int]]:
        """Atoms that attach a substituent, and its other polar atoms."""
        if number not in self._found:
            found: dict[int, frozenset[int]] = {}
            for atom, *others in self.mol.GetSubstructMatches(
                substituents()[number].pattern, uniquify=False
            ):
                if atom not in found:
                    found[atom] = frozenset([i for i in others if self.is_polar[i]])
            self._found[number] = found
        return self._found[number]

    def _possible_groups(self, atom: int) -> list[int]:
        """Substituents that an atom and its neighbours allow, up to the first that they prove."""
        key = self.seen.number[atom], self.smallest[atom]
        if key not in _groups_of:
            if len(_groups_of) > SURROUNDINGS:
                _groups_of.clear()
            self._learn_groups()
        return _groups_of[key]

    def _learn_groups(self) -> None:
        """Remember the substituents of all surroundings of this molecule."""
        result: list[list[int]] = [[] for _ in self.element]
        proved: set[int] = set()
        for number, row in enumerate(substituents()):
            if not row.near <= self.elements:
                continue
            near = row.pattern if row.star is None else row.star
            most = len(self.element) ** 2
            matches = self.mol.GetSubstructMatches(near, uniquify=False, maxMatches=most)
            for atom in {match[0] for match in matches} - proved:
                result[atom].append(number)
                if row.star is None:
                    proved.add(atom)
        for key in zip(self.seen.number, self.smallest, result, strict=True):
            _groups_of[key[:2]] = key[2]

    def reach(
        self, start: int, farthest: int, end: int = -1
    ) -> tuple[dict[int, int], dict[int, int]]:
        """Bonds from an atom to those near it, and the most shortest ways that meet on the way.

        No way goes on beyond `end`. Rings one behind another, as in a spiro compound, do not
        multiply their ways.
        """
        far, ways, front = {start: 0}, {start: 1}, [start]
        for bonds in range(1, farthest + 1):
            before: dict[int, list[int]] = defaultdict(list)
            for atom in front:
                for other in self.neighbours[atom] if atom != end else ():
                    if far.setdefault(other, bonds) == bonds:
                        before[other].append(ways[atom])
            for other, meeting in before.items():
                ways[other] = max(len(meeting), *meeting)
            front = list(before)
        return far, ways


def sites(mol: Chem.Mol, ph: float = 7.4, window: float = math.inf) -> list[Site]:
    """The groups of an uncharged molecule that can take or lose a proton, with their pKa.

    Acids whose pKa lies more than `window` above the pH, and bases more than that below it, are
    left out.
    """
    return at_once(titrating(mol, ph, window))


def titrating(mol: Chem.Mol, ph: float, window: float) -> Steps[list[Site]]:
    """`sites`, with a pause after each step."""
    seen = TitratedMolecule(mol)
    possible = seen.possible()
    yield None
    matched = _matched(seen, possible)
    yield None
    result = []
    for family, match in matched:
        if family.kind == "none":
            continue
        pka = family.pka
        for name, rho in family.effects:
            pka -= rho * _effect(seen, name, match[family.site], match, family)
        is_acid = family.kind == "acid"
        if (pka - ph if is_acid else ph - pka) <= window:
            carbonyl = tuple(match[i] for i in family.carbonyl)
            result.append(Site(match[family.site], is_acid, pka, family.name, carbonyl))
    return sorted(result)


def _matched(
    seen: TitratedMolecule, possible: dict[int, set[int]]
) -> list[tuple[Family, tuple[int, ...]]]:
    """The families of a molecule's groups, with those that stay as drawn, and their matches."""
    taken: set[int] = set()
    result = []
    for number in sorted(possible):
        family = families()[number]
        if possible[number] <= taken or not family.elements <= seen.elements:
            continue
        found = seen.mol.GetSubstructMatches(family.pattern, uniquify=False, maxMatches=10_000)
        if family.blocked and len(found) > 1:  # which of two is titrated must not be a chance
            rank = list(Chem.CanonicalRankAtoms(Chem.Mol(seen.mol)))  # it may drop the rings
            found = sorted(found, key=lambda match: rank[match[family.site]])
        for match in found:
            atom = match[family.site]
            if atom in taken or atom not in possible[number]:
                continue
            taken |= {atom, *(match[i] for i in family.blocked)}
            result.append((family, match))
    return result


@lru_cache(maxsize=SURROUNDINGS)
def _fitting(kind: str, near: Near) -> list[int]:
    """Rows of the families that an atom may belong to."""
    return [
        number
        for number, family in enumerate(families())
        if kind in family.keys and near.has(family.near)
    ]


def _effect(
    mol: TitratedMolecule, name: str, atom: int, match: Sequence[int], family: Family
) -> float:
    own = frozenset(match)
    if name == "alkyl":
        ring = match[family.ring] if family.ring >= 0 else -1
        return _along_chains(mol, atom, own, ring)
    return _in_rings(mol, name, match[family.ring] if family.ring >= 0 else atom, own)


def _along_chains(mol: TitratedMolecule, atom: int, own: frozenset[int], end: int) -> float:
    """Sum of the decrements of all polar groups near an atom, in units of pKa.

    `end` is an atom of an aromatic ring, whose substituents have their sigma.
    """
    far, ways = mol.reach(atom, len(FALL) - 1, end)
    near = []
    for place, bonds in far.items():
        row = mol.group(place) if bonds > 1 and place not in own else None
        if row is not None and (row.alpha or row.beta):
            near.append((bonds, place, row, mol.members(place, row)))
    sizes, claimed, again = [], set(own), set[int]()
    # Of groups as near as each other the strongest claims what they share: not the first drawn.
    near.sort(key=lambda item: (item[0], -item[2].alpha, item[2].number, item[1]))
    for bonds, place, row, members in near:
        if place in claimed or (members & claimed and place not in again):
            continue
        claimed |= {place, *members}
        for ring in mol.arenes:
            if place in ring or not members.isdisjoint(ring):
                carbons = {i for i in ring if mol.element[i] == 6}
                if place in ring:
                    again |= {i for i in carbons - {place} if _is_entered(mol, far, i, ring)}
                claimed |= carbons
                claimed -= again
        size = row.alpha if bonds == 2 else row.beta * FALL[bonds]
        count = ways[place] if bonds <= MOST_WAYS and place not in again else 1
        sizes.append(size * (min(count, 2) if row.para_minus > ACCEPTOR else count))
    sizes.sort(reverse=True)
    last = len(FURTHER) - 1
    return sum(size * FURTHER[min(rank, last)] for rank, size in enumerate(sizes))


def _is_entered(mol: TitratedMolecule, far: dict[int, int], atom: int, ring: Sequence[int]) -> bool:
    """Whether an atom of a ring is reached from outside, as a fused ring is twice."""
    others = [i for i in mol.neighbours[atom] if i not in ring]
    return any(far.get(i, math.inf) < far.get(atom, 0) for i in others)


def _in_rings(mol: TitratedMolecule, name: str, centre: int, own: frozenset[int]) -> float:
    """Sum of sigma of the substituents of the aromatic rings of an atom."""
    sigma: list[float] = []
    donors: list[float] = []
    seen = {centre}
    home = [ring for ring in mol.arenes if centre in ring]
    inside = name in ("azine", "azole")
    for ring in home:
        start = ring.index(centre)
        for step in range(1, len(ring)):
            place = ring[(start + step) % len(ring)]
            position = min(step, len(ring) - step)
            if place in seen:
                continue
            seen.add(place)
            if mol.element[place] == 7 and len(mol.neighbours[place]) == 2 and place not in own:
                if not mol.hydrogens[place]:
                    sigma.append(AZA[position][0 if inside else 1] if name != "azole" else 0.2)
                continue
            for row in _substituents_at(mol, place, own):
                value = _sigma(row, name, position)
                is_donor = value < STRONG_DONOR or row.para < AMINE
                (donors if name == "azine" and is_donor else sigma).append(value)
            if name == "azine":
                sigma += [WEAKER * _along_chains(mol, i, own, place) for i in _amines(mol, place)]
    for ring in mol.arenes:
        if ring in home or not any(len(set(ring) & set(other)) > 1 for other in home):
            continue
        for place in ring:
            if place in seen:
                continue
            seen.add(place)
            if mol.element[place] == 7 and len(mol.neighbours[place]) == 2 and place not in own:
                sigma.append(0.0 if mol.hydrogens[place] else REMOTE_AZA)
                continue
            sigma += [REMOTE * row.meta for row in _substituents_at(mol, place, own)]
    if donors:
        strongest = min(donors)
        sigma.append(strongest + SECOND_DONOR * (sum(donors) - strongest))
    return sum(sigma)


def _substituents_at(
    mol: TitratedMolecule, place: int, own: frozenset[int]
) -> Iterator[Substituent]:
    """Substituents of a ring atom, fused rings apart."""
    for other in mol.neighbours[place]:
        if other in own or any(place in ring and other in ring for ring in mol.arenes):
            continue
        group = mol.group(other)
        if group is not None:
            yield group


def _amines(mol: TitratedMolecule, place: int) -> Iterator[int]:
    """Nitrogens of the amines at a ring atom."""
    for other in mol.neighbours[place]:
        if mol.element[other] == 7 and not mol.aromatic[other]:
            group = mol.group(other)
            if group is not None and group.para < AMINE:
                yield other


def _sigma(row: Substituent, name: str, position: int) -> float:
    if name == "azole":
        return row.meta
    if position == 2:
        return row.meta
    if position == 1:
        return row.ortho_azine if name == "azine" else row.ortho_minus
    return row.para_minus if name == "phenol" else row.para
