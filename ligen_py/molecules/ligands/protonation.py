"""Protonation states of a molecule at a pH: pKa of its groups, microstates, their populations.

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

Charges act on each other by a shift that falls with the bonds between them (`CHARGES`). So every
combination of protonated and deprotonated groups has a free energy, and with it a share of the
molecules at a pH.
"""

import csv
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rdkit import Chem

from ligen_py.molecules.steps import Steps, at_once
from ligen_py.molecules.surroundings import DOUBLE, TRIPLE, surroundings

FAMILIES = Path(__file__).with_name("pka.tsv")
SUBSTITUENTS = Path(__file__).with_name("substituents.tsv")

CHARGES = (0.0, 9.0, 4.5, 2.4, 1.3, 0.85, 0.55, 0.4, 0.3, 0.2, 0.15)
"""Shift of a pKa by a charge so many bonds away; none beyond. From the first and second pKa of
phosphate (2 bonds) and of diamines with 2 to 7 carbons (3 to 8; CRC Handbook). Opposite charges
nearer than three bonds do not help each other: that form is a tautomer of the uncharged one."""
OPPOSITE = 0.85
"""Share of that shift between opposite charges: glycine, 9.8, above its ethyl ester, 7.7."""
TWO_WAYS = 1.6
"""What a second way through a ring multiplies that shift by: piperazine, 9.7 and 5.4."""

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

WINDOW = 4.5
"""Groups whose own pKa is farther than this from the pH, on the side where they carry no charge,
stay uncharged."""
MOST_SITES = 10
"""Groups whose combinations are all enumerated; further ones, those farthest from the pH, are
fixed in the form that their own pKa gives."""


class Near(NamedTuple):
    """What is around an atom, at a quick look; around a pattern's what every match has."""

    neighbours: frozenset[tuple[int, bool]]
    """Element and aromaticity of its neighbours."""
    beyond: frozenset[tuple[int, bool]]
    """Of their neighbours."""
    unsaturated: int
    """Carbons among its neighbours with fewer than four bonds; of a pattern at least."""
    methyls: int
    """Methyl groups among them; of a pattern at least."""
    ring: float
    """Atoms of its smallest ring; of a pattern at most."""
    rings: frozenset[int]
    """Sizes of its rings; of a pattern those that it names."""
    is_fused: bool
    """Whether a ring of it has an atom in two rings."""

    def has(self, least: "Near") -> bool:
        """Whether an atom has what a pattern asks for."""
        return (
            least.neighbours <= self.neighbours
            and least.beyond <= self.beyond
            and least.unsaturated <= self.unsaturated
            and least.methyls <= self.methyls
            and least.ring >= self.ring
            and least.rings <= self.rings
            and least.is_fused <= self.is_fused
        )


class Family(NamedTuple):
    """A row of `pka.tsv`."""

    name: str
    kind: str
    """acid, base, or none for groups that stay as drawn."""
    pka: float
    deviation: float
    """Standard deviation of its members' pKa about the value predicted."""
    effects: tuple[tuple[str, float], ...]
    pattern: Chem.Mol
    site: int
    """Atom of the pattern that is titrated (map number 1)."""
    blocked: tuple[int, ...]
    """Atoms that share its proton and are not titrated apart (2)."""
    ring: int
    """Ring atom whose ring's substituents act (3); -1 for the titrated atom itself."""
    carbonyl: tuple[int, ...]
    """Carbon and oxygen that take a carbon acid's charge (4, 5)."""
    keys: frozenset[str]
    near: Near
    elements: frozenset[tuple[int, bool]]


class Substituent(NamedTuple):
    """A row of `substituents.tsv`; the first atom of the pattern is the one that is attached."""

    name: str
    pattern: Chem.Mol
    number: int
    """Row, from 0."""
    star: Chem.Mol | None
    """The first atom of the pattern and its neighbours, where the pattern has more than these."""
    near: frozenset[tuple[int, bool]]
    """Elements of these."""
    alpha: float
    """Decrement of an aliphatic pKa two bonds away; `beta` three."""
    beta: float
    ortho_azine: float
    meta: float
    para: float
    ortho_minus: float
    para_minus: float


class Site(NamedTuple):
    """A group that can take or lose a proton."""

    atom: int
    is_acid: bool
    pka: float
    """With all other groups uncharged."""
    family: str
    carbonyl: tuple[int, ...] = ()


class Protomer(NamedTuple):
    """A protonation state and its share of the molecules."""

    mol: Chem.Mol
    population: float
    smiles: str
    """Canonical."""


_KINDS = {
    "[OX2": ("O",),
    "[SX2": ("S",),
    "[SeX2": ("Se",),
    "[NX2": ("N=",),
    "[NX3": ("N",),
    "[nH": ("nH",),
    "[n;X2": ("n",),
    "[#7;X2": ("n", "N="),
    "[#7": ("N", "nH"),
    "[CX4": ("C",),
    "[PX3": ("P",),
}
"""What the titrated atom of a pattern begins with, and the kinds of atoms that it can be.

Kinds are a quick look before patterns are compared. Nitrogens with three bonds differ by
their hydrogens and by a neighbour with a double-bonded oxygen or sulfur: such are never bases."""


BIGUANIDE = "biguanide"
"""What the names of their families begin with."""
CHALCOGENS = {8: "O", 16: "S", 34: "Se"}
ACCEPTORS = {DOUBLE: 8, TRIPLE: 7}
"""Bond -> the element that it joins to a carbon beside a carbon acid."""
SURROUNDINGS = 20_000
"""Surroundings of atoms that are remembered, up to 1 kB each."""

_CARBON = re.compile(r"\[?(C|#6)(?![,a-z])")
"""How an atom of a pattern begins that is a carbon in every match."""
_MULTIPLE = ("=", "#", "=,:")
"""Bonds of a pattern that leave a carbon fewer than four."""
_METHYL = {"C", "X4", "H3"}
_RING = re.compile(r"r\d")
_SYMBOL = re.compile(r"Cl|Br|Si|Se|[BCNOFPSI]|[cnosp]")
"""Elements, in lower case aromatic ones."""
_PERIODIC_TABLE = Chem.GetPeriodicTable()


@cache
def families() -> tuple[Family, ...]:
    """Every row of `pka.tsv`, in order."""
    return tuple(map(_family, _rows(FAMILIES)))


@cache
def substituents() -> tuple[Substituent, ...]:
    """Every row of `substituents.tsv`, in order."""
    result = []
    for number, row in enumerate(_rows(SUBSTITUENTS)):
        pattern = Chem.MolFromSmarts(row["smarts"])
        star = _star(pattern)
        whole = star.GetNumAtoms() == pattern.GetNumAtoms()
        near = number, None if whole else star, _elements(star.GetAtoms())
        values = (float(row[name]) for name in Substituent._fields[5:])
        result.append(Substituent(row["name"], pattern, *near, *values))
    return tuple(result)


def _star(pattern: Chem.Mol) -> Chem.Mol:
    """The first atom of a pattern and its neighbours."""
    near = {0, *(atom.GetIdx() for atom in pattern.GetAtomWithIdx(0).GetNeighbors())}
    star = Chem.RWMol(pattern)
    for number in reversed(range(pattern.GetNumAtoms())):
        if number not in near:
            star.RemoveAtom(number)
    return star.GetMol()


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def _family(row: dict[str, str]) -> Family:
    pattern = Chem.MolFromSmarts(row["smarts"])
    marked = defaultdict(list)
    for atom in pattern.GetAtoms():
        if atom.GetAtomMapNum():
            marked[atom.GetAtomMapNum()].append(atom.GetIdx())
            atom.SetAtomMapNum(0)
    (site,) = marked[1]
    keys = _kinds(_bracket(row["smarts"], row["smarts"].index(":1]")), row["kind"])
    effects = [part.split("*") for part in row["effects"].split("+") if part != "-"]
    return Family(
        row["name"],
        row["kind"],
        float(row["pka"]),
        float(row["sd"]),
        tuple((name, float(rho)) for name, rho in effects),
        pattern,
        site,
        tuple(marked[2]),
        marked[3][0] if marked[3] else -1,
        (*marked[4], *marked[5]),
        keys,
        _near(pattern, site),
        _elements(pattern.GetAtoms()),
    )


def _near(pattern: Chem.Mol, site: int) -> Near:
    """What every match of a pattern has around an atom."""
    neighbours = pattern.GetAtomWithIdx(site).GetNeighbors()
    beyond = [end for atom in neighbours for end in atom.GetNeighbors() if end.GetIdx() != site]
    carbons = [atom for atom in neighbours if _CARBON.match(atom.GetSmarts())]
    rings = [set(ring) for ring in Chem.GetSymmSSSR(pattern)]
    own = [ring for ring in rings if site in ring]
    named = {word for word in _certain(pattern.GetAtomWithIdx(site)) if _RING.match(word)}
    return Near(
        _elements(neighbours),
        _elements(beyond),
        sum(any(bond.GetSmarts() in _MULTIPLE for bond in atom.GetBonds()) for atom in carbons),
        sum(_certain(atom) >= _METHYL for atom in neighbours),
        min(map(len, own), default=math.inf),
        frozenset(int(word[1:]) for word in named),
        any(ring & other for ring in own for other in rings if other is not ring),
    )


def _certain(atom: Chem.Atom) -> set[str]:
    """What the SMARTS of an atom asks of every match, such as N, X3 and H0."""
    smarts = atom.GetSmarts().strip("[]")
    while (plain := re.sub(r"\([^()]*\)", "", smarts)) != smarts:
        smarts = plain
    clauses = [clause for clause in smarts.split(";") if "," not in clause]
    return {word for clause in clauses for word in clause.split("&")}


def _kinds(site: str, kind: str) -> frozenset[str]:
    """Kinds of atoms that a pattern's titrated atom can be, from its SMARTS."""
    start = next(start for start in _KINDS if site.startswith(start))
    own = re.split(r"[$!]", site)[0]
    hydrogens = re.findall(r"H(\d)", own) or ["0", "1", "2", "3"]
    result = []
    for key in _KINDS[start]:
        if key == "N":
            result += [f"N{count}" for count in hydrogens]
            result += [f"acyl N{count}" for count in hydrogens if kind != "base"]
        else:
            result.append(key)
    return frozenset(result)


def _bracket(smarts: str, inside: int) -> str:
    """A SMARTS from the opening bracket of the atom around a place."""
    depth = 0
    while depth or smarts[inside] != "[":
        depth += {"]": 1, "[": -1}.get(smarts[inside], 0)
        inside -= 1
    return smarts[inside:]


def _elements(atoms: Iterable[Chem.Atom]) -> frozenset[tuple[int, bool]]:
    """Element and aromaticity of those atoms of a pattern that leave no choice."""
    words = [word for atom in atoms for word in _certain(atom) if _SYMBOL.fullmatch(word)]
    return frozenset(
        (_PERIODIC_TABLE.GetAtomicNumber(word.capitalize()), word.islower()) for word in words
    )


NOBODY: frozenset[int] = frozenset()
_groups_of: dict[tuple[int, int], list[int]] = {}
"""Substituents that an atom may attach, by its surroundings and its smallest ring."""
_rows_of: dict[tuple[str, frozenset[int], bool, tuple[int, ...]], list[int]] = {}
"""Families that an atom may belong to, by its kind, its rings and its surroundings."""


class _Molecule:
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
    return at_once(_sites(mol, ph, window))


def _sites(mol: Chem.Mol, ph: float, window: float) -> Steps[list[Site]]:
    """`sites`, with a pause after each step."""
    seen = _Molecule(mol)
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
    seen: _Molecule, possible: dict[int, set[int]]
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


def _effect(mol: _Molecule, name: str, atom: int, match: Sequence[int], family: Family) -> float:
    own = frozenset(match)
    if name == "alkyl":
        ring = match[family.ring] if family.ring >= 0 else -1
        return _along_chains(mol, atom, own, ring)
    return _in_rings(mol, name, match[family.ring] if family.ring >= 0 else atom, own)


def _along_chains(mol: _Molecule, atom: int, own: frozenset[int], end: int) -> float:
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


def _is_entered(mol: _Molecule, far: dict[int, int], atom: int, ring: Sequence[int]) -> bool:
    """Whether an atom of a ring is reached from outside, as a fused ring is twice."""
    others = [i for i in mol.neighbours[atom] if i not in ring]
    return any(far.get(i, math.inf) < far.get(atom, 0) for i in others)


def _in_rings(mol: _Molecule, name: str, centre: int, own: frozenset[int]) -> float:
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


def _substituents_at(mol: _Molecule, place: int, own: frozenset[int]) -> Iterator[Substituent]:
    """Substituents of a ring atom, fused rings apart."""
    for other in mol.neighbours[place]:
        if other in own or any(place in ring and other in ring for ring in mol.arenes):
            continue
        group = mol.group(other)
        if group is not None:
            yield group


def _amines(mol: _Molecule, place: int) -> Iterator[int]:
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


def neutral(mol: Chem.Mol) -> Chem.Mol:
    """The molecule without the charges that a hydrogen can take away or bring."""
    seen = surroundings(mol)
    changes = {}
    for atom, charge in _permanent(mol):
        element, hydrogens = seen.element[atom], seen.hydrogens[atom]
        if charge < 0 and element in (6, 7, 8, 15, 16, 34):
            changes[atom] = hydrogens - charge
        elif charge == 1 and hydrogens and element in (7, 15):
            changes[atom] = hydrogens - 1
    if not changes:
        return mol
    changed = Chem.RWMol(mol)
    for atom, hydrogens in changes.items():
        _set(changed.GetAtomWithIdx(atom), 0, hydrogens)
    Chem.SanitizeMol(changed)
    return changed


def _set(atom: Chem.Atom, charge: int, hydrogens: int) -> None:
    atom.SetFormalCharge(charge)
    atom.SetNoImplicit(True)
    atom.SetNumExplicitHs(hydrogens)


def protonated(mol: Chem.Mol, ph: float, least: float, limit: int) -> list[Protomer]:
    """The states of a molecule at a pH, the most populated first; at least one.

    Those whose share of the molecules is below `least` are left out, and those beyond `limit`. The
    populations are shares of all states. Heavy atoms keep their numbers and coordinates; explicit
    hydrogens become implicit.
    """
    return at_once(protonating(mol, ph, least, limit))


def protonating(
    mol: Chem.Mol, ph: float, least: float, limit: int, known: str = ""
) -> Steps[list[Protomer]]:
    """`protonated`, with a pause after each step.

    `known` is the molecule's SMILES, where its caller has it.
    """
    base = neutral(Chem.RemoveHs(mol) if 1 in surroundings(mol).element else mol)
    drawn = known if known and base is mol else Chem.MolToSmiles(base)
    yield None
    found = yield from _sites(base, ph, WINDOW)
    yield None
    if not found:
        return [Protomer(base, 1.0, drawn)]
    charged, shares = populations(base, found, ph)
    shown = np.flatnonzero(shares >= min(least, shares.max()) / MOST_SITES)
    rows = shown[np.argsort(-shares[shown], kind="stable")].tolist()
    yield None
    forms = [_state(base, found, charged[row]) for row in rows]
    yield None
    states: dict[str, Protomer] = {}
    for form, share in zip(forms, shares[rows].tolist(), strict=True):
        smiles = drawn if form is base else Chem.MolToSmiles(form)
        first = states.get(smiles, Protomer(form, 0.0, smiles))
        states[smiles] = first._replace(population=first.population + share)
    ranked = sorted(states.values(), key=lambda state: -state.population)
    return [state for state in ranked[:limit] if state.population >= least] or ranked[:1]


def populations(mol: Chem.Mol, found: Sequence[Site], ph: float) -> tuple[np.ndarray, np.ndarray]:
    """Which sites are charged in each microstate (bool: states, sites), and its share."""
    permanent = _permanent(mol)
    if len(found) == 1 and not permanent:
        (site,) = found
        gains = 0.0, ph - site.pka if site.is_acid else site.pka - ph
        return _ONE_SITE, _shares(-np.array(gains))
    gain = np.array([(ph - s.pka if s.is_acid else s.pka - ph) for s in found])
    sign = np.array([-1.0 if s.is_acid else 1.0 for s in found])
    shift, fixed = _shifts(mol, found, permanent)
    gain -= sign * fixed
    order = np.argsort(np.abs(gain), kind="stable")
    kept, rest = np.sort(order[:MOST_SITES]), order[MOST_SITES:]
    charged = np.zeros((2 ** len(kept), len(found)), bool)
    charged[:, kept] = list(product((False, True), repeat=len(kept)))
    charged[:, rest] = gain[rest] > 0
    charges = charged * sign
    energy = -(charged * gain).sum(axis=1) + ((charges @ shift) * charges).sum(axis=1) / 2
    return charged, _shares(energy)


_ONE_SITE = np.array([[False], [True]])


def _shares(energy: np.ndarray) -> np.ndarray:
    """Shares of states from their energies, in units of pKa."""
    weight = 10.0 ** -(energy - energy.min())
    return weight / weight.sum()


def _shifts(
    mol: Chem.Mol, found: Sequence[Site], permanent: Sequence[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """What charges at sites shift each other's pKa by (sites, sites), and permanent charges."""
    count, most = len(found), len(CHARGES) - 1
    shift, fixed = np.zeros((count, count)), np.zeros(count)
    seen = _Molecule(mol)
    for i, site in enumerate(found):
        far, ways = seen.reach(site.atom, most)
        for j, other in enumerate(found):
            bonds = far.get(other.atom, 0)
            if bonds and site.is_acid == other.is_acid:
                shift[i, j] = _charge_shift(bonds, ways[other.atom])
            elif bonds > 2:
                shift[i, j] = OPPOSITE * _charge_shift(bonds, ways[other.atom])
        for atom, charge in permanent:
            if atom in far and atom != site.atom:
                fixed[i] += charge * _charge_shift(far[atom], ways[atom])
    return shift, fixed


def _charge_shift(bonds: int, ways: int) -> float:
    return CHARGES[bonds] * (TWO_WAYS if ways > 1 and bonds in (3, 4) else 1.0)


def _permanent(mol: Chem.Mol) -> list[tuple[int, int]]:
    """Atoms with a charge that no neighbour balances, and their charges."""
    seen = surroundings(mol)
    charges = seen.charge
    if not any(charges):
        return []
    return [
        (atom, charge)
        for atom, charge in enumerate(charges)
        if charge and not any(charges[other] * charge < 0 for other in seen.neighbours[atom])
    ]


def _state(mol: Chem.Mol, found: Sequence[Site], charged: np.ndarray) -> Chem.Mol:
    """The molecule with some of its sites charged."""
    if not charged.any():
        return mol
    changed = Chem.RWMol(mol)
    shifted = is_biguanide = False
    for site, is_charged in zip(found, charged.tolist(), strict=True):
        if not is_charged:
            continue
        atom = changed.GetAtomWithIdx(site.atom)
        hydrogens = atom.GetTotalNumHs()
        if not site.is_acid:
            _set(atom, 1, hydrogens + 1)
            shifted |= _shift_to_bare(atom)
            is_biguanide |= site.family.startswith(BIGUANIDE)
        elif not site.carbonyl:
            _set(atom, -1, hydrogens - 1)
        else:
            carbon, oxygen = site.carbonyl
            _set(atom, 0, hydrogens - 1)
            atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
            changed.GetBondBetweenAtoms(site.atom, carbon).SetBondType(Chem.BondType.DOUBLE)
            changed.GetBondBetweenAtoms(carbon, oxygen).SetBondType(Chem.BondType.SINGLE)
            _set(changed.GetAtomWithIdx(oxygen), -1, 0)
            shifted = True
    if is_biguanide:
        _open_bridges(changed)
    if shifted or is_biguanide:
        Chem.SanitizeMol(changed)
    else:
        changed.UpdatePropertyCache(strict=False)
    Chem.AssignStereochemistry(changed, cleanIt=True, force=True)
    return changed


def _open_bridges(ion: Chem.RWMol) -> None:
    """Take the hydrogen off a biguanidium ion's middle nitrogen.

    It is at an end of the ion (Hariharan et al., Z. Kristallogr. 188:217, 1989), so that the
    nitrogen accepts a hydrogen bond. The charge stays where it is. Where that end has substituents
    the ion is left: its double bond would have sides, which the ion has not.
    """
    ion.UpdatePropertyCache(strict=False)
    matches = chain(*map(ion.GetSubstructMatches, _bridged()))
    for _, _, _, bridge, carbon, _, end in matches:
        ion.GetBondBetweenAtoms(bridge, carbon).SetBondType(Chem.BondType.DOUBLE)
        ion.GetBondBetweenAtoms(carbon, end).SetBondType(Chem.BondType.SINGLE)
        ion.GetBondBetweenAtoms(carbon, end).SetStereo(Chem.BondStereo.STEREONONE)
        hydrogens = ion.GetAtomWithIdx(end).GetTotalNumHs()
        _set(ion.GetAtomWithIdx(bridge), 0, 0)
        _set(ion.GetAtomWithIdx(end), 0, hydrogens + 1)


@cache
def _bridged() -> list[Chem.Mol]:
    """Open biguanidium ions, and those of a ring, where a double bond has no sides."""
    return [
        Chem.MolFromSmarts("[NX3+;!H0]=[CX3](-[#7])-[NX3;H1]-[CX3](-[NX3;H2])=[NX2;H1]"),
        Chem.MolFromSmarts("[NX3+;!H0]=[CX3](-[#7])-@[NX3;H1]-@[CX3](-[NX3])=@[NX2]"),
    ]


def _shift_to_bare(charged: Chem.Atom) -> bool:
    """Draw an amidine's or guanidine's charge at its nitrogen with two hydrogens, if it has one.

    The ion is the same, and a double bond there has no sides. Says whether that was done.
    """
    for double in charged.GetBonds():
        carbon = double.GetOtherAtom(charged)
        if double.GetBondType() != Chem.BondType.DOUBLE or charged.GetDegree() == 1:
            continue
        for single in carbon.GetBonds():
            bare = single.GetOtherAtom(carbon)
            if bare.GetAtomicNum() != 7 or bare.GetTotalNumHs() != 2 or bare.GetFormalCharge():
                continue
            double.SetStereo(Chem.BondStereo.STEREONONE)
            double.SetBondType(Chem.BondType.SINGLE)
            single.SetBondType(Chem.BondType.DOUBLE)
            charged.SetFormalCharge(0)
            _set(bare, 1, 2)
            return True
    return False
