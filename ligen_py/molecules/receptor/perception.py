"""Bond orders, hydrogens and charges of an organic group from the places of its heavy atoms.

A structure file has neither bond orders nor, mostly, hydrogens. Each atom and each bond gets
evidence for a pi bond, from angles, planarity and lengths. The pi bonds are the matching of atoms
with the largest sum of evidence: a ring is aromatic where that explains its atoms best. A linear
atom may be matched twice, which makes triple bonds and cumulenes. The double bonds of phosphorus
and sulfur need no evidence. Hydrogens fill the valences, and the rules for ligands give the form at
pH 7.

The steps follow M. Hendlich, F. Rippmann, G. Barnickel, J. Chem. Inf. Comput. Sci. 37 (1997)
774-778, the matching P. Labute, J. Chem. Inf. Model. 45 (2005) 215-221. Lengths are typical ones of
F. H. Allen et al., J. Chem. Soc. Perkin Trans. 2 (1987) S1-S19. Evidence is a logarithm of odds;
what lengths do not give was set by hand on ligands of crystal structures.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from rdkit import Chem, rdBase

from ligen_py.molecules.graph import matches
from ligen_py.molecules.ligands.protonation import protonated

PH = 7.0
"""That of the amino acids and of the table of cofactors."""

FEWEST, MOST = 3, 250
"""Heavy atoms of a group; in O2, CO and cyanide no angle says anything."""

NEIGHBOURS = {
    "B": 4, "C": 4, "N": 4, "O": 2, "F": 1, "SI": 4, "P": 4, "S": 4, "CL": 1, "BR": 1, "I": 1,
}  # fmt: skip
"""Elements that Gasteiger's charges know, and how many heavy atoms they bind at most."""

CHARGES = {("N", 4): 1, ("S", 3): 1, ("B", 4): -1}
"""Formal charge by element and bonds: ammonium, sulfonium, boronate."""

LENGTHS = {
    ("C", "C"): (1.49, 1.35, 1.20),
    ("C", "N"): (1.43, 1.30, 1.15),
    ("C", "O"): (1.38, 1.22, 1.12),
    ("C", "S"): (1.77, 1.67, 1.55),
    ("N", "N"): (1.42, 1.30, 1.12),
    ("N", "O"): (1.40, 1.22, 1.06),
}
"""Angstrom; single bonds between sp2 atoms, double and triple ones. Other pairs are single."""
HYDROXYL, OXIDE = 1.40, 1.28
"""Angstrom; N-O of hydroxamic acids and of N-oxides."""
SPREAD = 0.05
"""Angstrom; standard deviation of a length."""

CERTAIN = 6.0
"""No piece of evidence counts for more."""
DOUBT = 2.0
"""A carbon with more evidence against what was perceived makes the group doubtful."""
HEIGHT = 0.22
"""Angstrom; an atom so high above the plane of its three neighbours is as likely sp2 as sp3."""
ANGLES = {3: 180.0, 4: 110.0, 5: 105.5, 6: 116.0}
"""Degree; so is a carbon with two neighbours at this angle, by the size of its smallest ring."""
PYRIDINE = {5: 107.3, 6: 120.5}
"""Degree; a nitrogen at a narrower angle has mostly no hydrogen, by the size of its ring."""
OPEN, OPEN_NITROGEN = 118.5, 121.0
"""Degree; the same outside these rings."""
PER_DEGREE, PER_DEGREE_NITROGEN = 0.5, 0.4
MOST_OF_NITROGEN = 1.5
"""What a nitrogen's angle counts at most."""
SHORT, PER_ANGSTROM, CONJUGATED = {"C": 1.44, "N": 1.41}, 50.0, 3.0
"""An atom whose second shortest bond is shorter than these (Angstrom) is conjugated."""
LINEAR = 160.0
"""Degree; a wider angle makes an atom sp."""
TWIST, TORSION = 0.35, 3.0
"""Sine of the torsions that makes a bond as likely double as single, and evidence without twist."""
END, NITROGEN, AMINE, AMMONIUM = -2.0, -0.2, -4.0, -5.5
"""For a pi bond of a methyl carbon, and of a nitrogen with two, one and three neighbours."""
CARBONYL = 2.5
"""For C=O and C=S: amides and ketones are seldom the other tautomer."""
MACROCYCLE = 12
"""Larger rings that are conjugated all around are porphyrins; without their metal, hydrogens are
anybody's guess."""
WAYS = 2000
"""So many ways to go on are remembered; groups of fewer than 100 atoms have a few dozen."""

Place = tuple[int, int]
"""An atom and which of its pi bonds, 0 or 1."""
Pair = tuple[int, int]
"""Two bonded atoms, the lower number first."""


def perceive(
    symbols: Sequence[str], xyz: np.ndarray, bonded: Sequence[Sequence[int]]
) -> Chem.Mol | None:
    """The molecule at pH 7 whose heavy atoms these are, in their order; None where it is not sure.

    `symbols` are elements, `xyz` (atoms, 3) positions in Angstrom, `bonded` the neighbours of each
    atom. A bond that is not among these counts as one to hydrogen. None is the answer to metals and
    other elements than the organic ones, to one or two atoms, to valences that do not work out, to
    porphyrins, and to a carbon whose geometry contradicts its bonds.
    """
    symbols = [symbol.strip().upper() for symbol in symbols]
    fits = FEWEST <= len(symbols) <= MOST and all(
        len(near) <= NEIGHBOURS.get(symbol, -1)
        for symbol, near in zip(symbols, bonded, strict=True)
    )
    if not fits:
        return None
    group = _Group(symbols, np.asarray(xyz, "f8"), bonded)
    weights = group.weights()
    pi = Counter(group.ends())
    pi.update(_pair(one, two) for (one, _), (two, _) in _matching(weights))
    if group.is_doubtful(pi, weights):
        return None
    mol = group.drawn(pi)
    with rdBase.BlockLogs():
        try:
            Chem.SanitizeMol(mol)
        except ValueError:  # a valence that does not work out, or no Kekule form
            return None
        return _phosphates_charged(protonated(mol, PH, 0.0, 1)[0].mol)


class _Group:
    """Elements, places and neighbours of the atoms, and what they say about bonds."""

    def __init__(
        self, symbol: Sequence[str], xyz: np.ndarray, bonded: Sequence[Sequence[int]]
    ) -> None:
        self.symbol, self.xyz, self.bonded = symbol, xyz, bonded
        self.bonds = [(i, j) for i, some in enumerate(bonded) for j in some if i < j]
        self.rings = sorted(map(list, Chem.GetSymmSSSR(self.drawn({}))), key=len, reverse=True)
        self.ring = {atom: len(ring) for ring in self.rings for atom in ring}
        """Size of the smallest ring of each atom in one."""
        self.alone = [self._alone(atom) for atom in range(len(symbol))]
        """Evidence of each atom for a pi bond, whichever."""

    def ends(self) -> Iterator[Pair]:
        """Double bonds of phosphorus and sulfur to their ends: sulfur, else oxygen, else nitrogen.

        Sulfur with four neighbours has two; with three it has one, as phosphorus always.
        """
        for atom, near in enumerate(self.bonded):
            if self.symbol[atom] in ("P", "S") and len(near) > 2:
                ends = [i for i in near if self._is_end(i, "SON")]
                ends.sort(key=lambda i: "SON".index(self.symbol[i]))
                for other in ends[: len(near) - 2 if self.symbol[atom] == "S" else 1]:
                    yield _pair(atom, other)

    def weights(self) -> dict[tuple[Place, Place], float]:
        """Evidence for every pi bond that may be."""
        found: dict[tuple[Place, Place], float] = {}
        for one, two in self.bonds:
            first, second = sorted((self.symbol[one], self.symbol[two]))
            alone = self.alone[one] + self.alone[two]
            if (first, second) not in LENGTHS or alone == -np.inf:
                continue
            single, double, triple = LENGTHS[first, second]
            length = self._length(one, two)
            weight = alone + _odds(length, single, double) + min(0.0, self._flat(one, two))
            weight += CARBONYL * (first == "C" and second in ("O", "S"))
            twice = self._is_sp(one), self._is_sp(two)
            found[(one, 0), (two, 0)] = weight
            if all(twice):
                found[(one, 1), (two, 1)] = alone + _odds(length, double, triple)
            elif any(twice):
                found[(one, int(twice[0])), (two, int(twice[1]))] = weight
        return found

    def is_doubtful(
        self, pi: Mapping[Pair, int], weights: Mapping[tuple[Place, Place], float]
    ) -> bool:
        """Whether a carbon contradicts its pi bonds, or a ring is that of a porphyrin."""
        has = {atom for pair in pi for atom in pair}
        could = {atom for pair, weight in weights.items() if weight > DOUBT for atom, _ in pair}
        for atom, evidence in enumerate(self.alone):
            wrong = evidence < -DOUBT if atom in has else evidence > DOUBT and atom in could
            if self.symbol[atom] == "C" and wrong:
                return True
        return any(
            len(ring) > MACROCYCLE and all(self.alone[atom] > -DOUBT for atom in ring)
            for ring in self.rings
        )

    def drawn(self, pi: Mapping[Pair, int]) -> Chem.Mol:
        """The molecule with so many pi bonds on each bond, not sanitised."""
        mol, bonds = Chem.RWMol(), [0] * len(self.symbol)
        for symbol in self.symbol:
            mol.AddAtom(Chem.Atom(symbol.capitalize()))
        for pair in self.bonds:
            order = 1 + pi.get(pair, 0)
            mol.AddBond(*pair, Chem.BondType.values[order])
            for atom in pair:
                bonds[atom] += order
        for atom, symbol in enumerate(self.symbol):
            charge = CHARGES.get((symbol, bonds[atom]), 0)
            if charge:
                mol.GetAtomWithIdx(atom).SetFormalCharge(charge)
            # The ends of nitro groups, N-oxides and azides have one bond less than others.
            for other in self.bonded[atom] if symbol == "N" and charge else ():
                usual = {"O": 2, "N": 3}.get(self.symbol[other], 0)
                if len(self.bonded[other]) == 1 and bonds[other] == usual - 1:
                    mol.GetAtomWithIdx(other).SetFormalCharge(-1)
        return mol.GetMol()

    def _alone(self, atom: int) -> float:
        """Evidence of an atom and its neighbours for a pi bond."""
        near = self.bonded[atom]
        if self.symbol[atom] == "C" and len(near) < 4:
            return self._carbon(atom, near)
        if self.symbol[atom] == "N" and len(near) < 4:
            return self._nitrogen(atom, near)
        return 0.0 if self._is_end(atom, "OS") else -np.inf

    def _carbon(self, atom: int, near: Sequence[int]) -> float:
        if len(near) < 2:
            return END
        if self._is_sp(atom):
            return CERTAIN
        if len(near) == 3:
            return self._trigonal(atom) + self._conjugated(atom)
        size = self.ring.get(atom, 0)
        angle = self._angle(near[0], atom, near[1]) - ANGLES.get(size, OPEN)
        # A chain of sp3 atoms is flat too, a ring is not.
        ring = sum(self._flat(atom, other) for other in near) / 2 if size in (5, 6) else 0.0
        return _least(PER_DEGREE * angle) + ring + self._conjugated(atom)

    def _nitrogen(self, atom: int, near: Sequence[int]) -> float:
        if self._is_sp(atom):
            return 0.0
        if len(near) < 2:
            return AMINE
        if len(near) == 2:
            middle = PYRIDINE.get(self.ring.get(atom, 0), OPEN_NITROGEN)
            wider = PER_DEGREE_NITROGEN * (self._angle(near[0], atom, near[1]) - middle)
            return NITROGEN - float(np.clip(wider, -MOST_OF_NITROGEN, MOST_OF_NITROGEN))
        oxygens = [other for other in near if self._is_end(other, "O")]
        if len(oxygens) == 1:
            return _odds(self._length(atom, oxygens[0]), HYDROXYL, OXIDE)
        return 0.0 if oxygens else AMMONIUM + min(0.0, self._trigonal(atom))

    def _trigonal(self, atom: int) -> float:
        """Evidence of the height above the plane of three neighbours."""
        one, two, three = self.xyz[self.bonded[atom]]
        normal = np.cross(two - one, three - one)
        height = abs(float((self.xyz[atom] - one) @ normal)) / max(_norm(normal), 1e-6)
        return _least(CERTAIN * (1 - height / HEIGHT))

    def _conjugated(self, atom: int) -> float:
        """Evidence of the second shortest bond, for aromatic carbons; for others it says nothing.

        The shortest bond is the candidate for the pi bond itself.
        """
        shorter = sorted(
            SHORT[self.symbol[other]] - self._length(atom, other)
            for other in self.bonded[atom]
            if self.symbol[other] in SHORT
        )
        return float(np.clip(PER_ANGSTROM * shorter[-2], 0, CONJUGATED)) if shorter[1:] else 0.0

    def _flat(self, one: int, two: int) -> float:
        """Evidence of the torsions about a bond."""
        axis = self.xyz[two] - self.xyz[one]
        first, second = (
            [np.cross(axis, self.xyz[i] - self.xyz[here]) for i in self.bonded[here] if i != there]
            for here, there in ((one, two), (two, one))
        )
        sines = [
            _norm(np.cross(a, b)) / max(_norm(a) * _norm(b), 1e-6) for a in first for b in second
        ]
        if not sines or self._is_sp(one) or self._is_sp(two):
            return 0.0
        return _least(TORSION * (1 - float(np.mean(sines)) / TWIST))

    def _is_end(self, atom: int, elements: str) -> bool:
        return len(self.bonded[atom]) == 1 and self.symbol[atom] in elements

    def _is_sp(self, atom: int) -> bool:
        """Whether it is linear, or the carbon or nitrogen at the end of a linear group."""
        near = self.bonded[atom]
        if self.symbol[atom] not in ("C", "N") or not 1 <= len(near) <= 2:
            return False
        if len(near) == 1:
            return len(self.bonded[near[0]]) == 2 and self._is_sp(near[0])
        return self._angle(near[0], atom, near[1]) > LINEAR

    def _length(self, one: int, two: int) -> float:
        return _norm(self.xyz[one] - self.xyz[two])

    def _angle(self, first: int, apex: int, second: int) -> float:
        """Degree."""
        one, two = self.xyz[first] - self.xyz[apex], self.xyz[second] - self.xyz[apex]
        return float(np.degrees(np.arctan2(_norm(np.cross(one, two)), one @ two)))


def _pair(one: int, two: int) -> Pair:
    return min(one, two), max(one, two)


def _norm(vector: np.ndarray) -> float:
    return float(np.linalg.norm(vector))


def _least(evidence: float) -> float:
    """Evidence that counts for no more than `CERTAIN`."""
    return float(np.clip(evidence, -CERTAIN, CERTAIN))


def _odds(length: float, longer: float, shorter: float) -> float:
    """Evidence that a bond has the shorter of two lengths."""
    return _least((longer - shorter) * ((longer + shorter) / 2 - length) / SPREAD**2)


def _matching(weights: Mapping[tuple[Place, Place], float]) -> tuple[tuple[Place, Place], ...]:
    """The pairs without a common member whose sum of weights is the largest.

    Members are taken in the order of a walk through the graph. What is left to decide depends only
    on which later members have a partner already, so the best of all ways that agree in these is
    enough: exact, and fast as groups are nearly trees.
    """
    near: dict[Place, dict[Place, float]] = {}
    for (one, two), weight in weights.items():
        near.setdefault(one, {})[two] = weight
        near.setdefault(two, {})[one] = weight
    order: dict[Place, None] = {}
    for start in near:
        walk = [start]
        for place in walk:
            if place not in order:
                order[place] = None
                walk += near[place]
    ways: dict[frozenset[Place], tuple[float, tuple[tuple[Place, Place], ...]]]
    ways, passed = {frozenset(): (0.0, ())}, set()
    for place in order:
        passed.add(place)
        longer = [(taken - {place}, *way) for taken, way in ways.items()]
        for taken, (total, pairs) in ways.items():
            for other, weight in near[place].items() if place not in taken else ():
                if other not in taken | passed:
                    longer.append((taken | {other}, total + weight, (*pairs, (place, other))))
        longer.sort(key=lambda way: way[1])
        ways = {taken: (total, pairs) for taken, total, pairs in longer[-WAYS:]}
    return ways[frozenset()][1]


def _phosphates_charged(mol: Chem.Mol) -> Chem.Mol:
    """Without hydrogens at the ends of phosphates, as in the table and as proteins bind them."""
    for oxygen, *_ in matches(mol, "[OX2H1]P[!#1;!D1]"):
        atom = mol.GetAtomWithIdx(oxygen)
        atom.SetFormalCharge(-1)
        atom.SetNoImplicit(True)
        atom.SetNumExplicitHs(0)
    return mol
