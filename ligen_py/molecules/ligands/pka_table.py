"""The tables of pKa and of substituents, with what a quick look at an atom rules out.

To compare every pattern with every atom takes milliseconds a molecule. So what each pattern asks
of the titrated atom and its neighbours is read from its SMARTS beforehand.
"""

import csv
import math
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rdkit import Chem

FAMILIES = Path(__file__).with_name("pka.tsv")
SUBSTITUENTS = Path(__file__).with_name("substituents.tsv")

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

_CARBON = re.compile(r"\[?(C|#6)(?![,a-z])")
"""How an atom of a pattern begins that is a carbon in every match."""
_MULTIPLE = ("=", "#", "=,:")
"""Bonds of a pattern that leave a carbon fewer than four."""
_METHYL = {"C", "X4", "H3"}
_RING = re.compile(r"r\d")
_SYMBOL = re.compile(r"Cl|Br|Si|Se|[BCNOFPSI]|[cnosp]")
"""Elements, in lower case aromatic ones."""
_PERIODIC_TABLE = Chem.GetPeriodicTable()


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
