"""X-Score's types of ligand atoms: radius, class, logP, hydrogen-bond geometry; rotor sum.

Sources: R. Wang, L. Lai, S. Wang, J. Comput.-Aided Mol. Des. 16 (2002) 11-26, with the tables of
X-Score v1.3; atomic logP is that of XLOGP: R. Wang, Y. Gao, L. Lai, Perspect. Drug Discov. Des. 19
(2000) 47-66. A ligand atom is typed in two steps, as there: first the SYBYL type of element and
bonds, then the X-Score type, which also asks for hydrogens, heavy neighbours and X-Score's own
aromatic rings (not those of RDKit). Ligands are typed all at once: types are numbers, rules are
arithmetic on the arrays of `Graph`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rdkit import Chem

from ligen_py.molecules.graph import Graph
from ligen_py.molecules.typing.xscore_residues import ANGLED, STRAIGHT
from ligen_py.records.functions.xscore import Interaction

H, P = Interaction.HYDROPHOBIC, Interaction.POLAR
D, A, DA = Interaction.DONOR, Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR
NONE = Interaction.NONE

SUPPORTED = frozenset((1, 6, 7, 8, 9, 14, 15, 16, 17, 35, 53))
"""Atomic numbers for which X-Score has ligand types."""

# fmt: off
LIGAND_TYPE: dict[str, tuple[float, Interaction]] = {
    "H": (0.0, NONE),
    "C.3": (2.10, H), "C.3.x": (2.10, P), "C.2": (1.90, H), "C.2.x": (1.90, P),
    "C.ar": (2.00, H), "C.ar.x": (2.00, P), "C.1": (1.80, P), "C.cat": (1.90, P),
    "N.4": (1.80, D), "N.3": (1.80, P), "N.3.un": (1.80, P),
    "N.pl3.h": (1.75, D), "N.pl3": (1.75, P), "N.pl3.un": (1.75, P),
    "N.2.h": (1.75, DA), "N.2": (1.75, A), "N.2.un": (1.75, P),
    "N.ar.h": (1.75, D), "N.ar": (1.75, A), "N.ar.un": (1.75, P),
    "N.1": (1.75, A), "N.1.un": (1.75, P),
    "O.3.h": (1.65, DA), "O.3": (1.65, A), "O.3.un": (1.65, P),
    "O.2": (1.55, A), "O.co2": (1.55, DA),
    "S.3.h": (2.10, H), "S.3": (2.10, H), "S.3.un": (2.10, P), "S.2": (2.00, P), "S.o": (2.00, P),
    "P.3": (2.00, P), "Si": (2.00, NONE),
    "F": (1.50, P), "Cl": (1.75, H), "Br": (1.90, H), "I": (2.05, H),
}
"""X-Score type -> radius in Angstrom and class. Hydrogens belong to their heavy atoms."""

NAMES = tuple(LIGAND_TYPE)
RADII = np.array([radius for radius, _ in LIGAND_TYPE.values()], "f4")
CLASSES = np.array([role for _, role in LIGAND_TYPE.values()], "u1")

SYBYL = (
    "H", "C.3", "C.2", "C.1", "C.cat", "N.4", "N.3", "N.pl3", "N.2", "N.1", "O.3", "O.2", "O.co2",
    "S.3", "S.2", "S.o", "P.3", "Si", "F", "Cl", "Br", "I",
)
SAME_NAME = np.array([NAMES.index(name) for name in SYBYL])
"""SYBYL type -> X-Score's type of that name."""

ELEMENT_TYPE = np.zeros(256, int)
"""Atomic number -> SYBYL type, of elements that have one only."""
for _number, _name in ((9, "F"), (14, "Si"), (15, "P.3"), (17, "Cl"), (35, "Br"), (53, "I")):
    ELEMENT_TYPE[_number] = SYBYL.index(_name)

ROTOR_VALUE = np.array([0.0, 0.5, 1.0, 0.5], "f4")
"""By the rotors at an atom, up to three."""

LIGAND_LOGP: dict[str, Any] = {
    "C.3": [[0.528, 0.528, 0.528], [0.528, 0.267, 0.267], [0.358, -0.008, -0.185],
            [0.127, -0.243, -0.499], [-0.006, -0.570, -0.317]],
    "C.2": [[0.050, 0.050, 0.050], [0.420, 0.420, 0.420], [0.466, 0.136, 0.136],
            [0.050, 0.013, 0.013], [0.050, 0.050, 0.050]],
    "C.ar": [[0.296], [0.296], [0.337], [0.296], [0.296]],
    "S.3.h": 0.419, "S.3": 0.255,
    "Cl": [0.512, 0.663, 0.512], "Br": [0.850, 0.839, 0.850], "I": [1.050, 1.109, 1.050],
}
"""XLOGP's atomic contributions to logP of all hydrophobic types.

A row for 0 to 4 heavy neighbours, in it a value for none, one and more pi neighbours; one row, or
one value, where they do not matter.
"""

LOGP = np.zeros((len(NAMES), 5, 3), "f4")
"""`LIGAND_LOGP` by X-Score type, heavy neighbours and pi neighbours; 0 for other types, which no
term asks for."""
for _name, _logp in LIGAND_LOGP.items():
    LOGP[NAMES.index(_name)] = _logp
# fmt: on

SP2 = frozenset(("C.2", "C.cat", "N.2", "N.pl3", "O.2", "O.co2", "S.2"))
SP = frozenset(("C.1", "N.1"))
PI = frozenset(("C.2", "C.1", "C.cat", "N.2", "N.1"))
"""SYBYL types, aromatic ones among them, that count as pi neighbours in logP."""
PLANAR_N = frozenset(("N.pl3.h", "N.pl3", "N.2.h", "N.2", "N.ar.h", "N.ar"))
HETERO = frozenset((7, 8, 9, 15, 16, 17, 35, 53))
"""Neighbours that make a carbon polar: N, O, P, S and halogens, but not Si."""


@dataclass(frozen=True, slots=True)
class LigandTypes:
    """X-Score's view of a ligand; one value an atom, in the molecule's order."""

    radius: np.ndarray
    """f4, Angstrom; 0 for hydrogens."""
    interaction: np.ndarray
    """u1, `Interaction`."""
    donor: np.ndarray
    """u1: 1 straight, 2 angled, 0 no donor."""
    acceptor: np.ndarray
    """u1: 1 straight, 2 angled, 0 no acceptor."""
    logp: np.ndarray
    """f4: contribution to logP; 0 for atoms that are not hydrophobic."""
    hydrogens: np.ndarray
    """u1: hydrogens bonded to the atom."""
    rotors: np.ndarray
    """f4: what the atom gives to its ligand's RT."""


def ligand_types(graph: Graph) -> LigandTypes:
    """Type every atom of a molecule with explicit hydrogens, or of several side by side.

    Raises ValueError for an element outside `SUPPORTED`.
    """
    sybyl = _sybyl(graph)
    types = _xscore_types(graph, sybyl)
    role, where = CLASSES[types], _geometry(types, graph.heavy)
    return LigandTypes(
        radius=RADII[types],
        interaction=role,
        donor=np.where(np.isin(role, (D, DA)), where, 0).astype("u1"),
        acceptor=np.where(np.isin(role, (A, DA)), where, 0).astype("u1"),
        logp=_logp_of(graph, sybyl, types),
        hydrogens=graph.hydrogens.astype("u1"),
        rotors=_rotors(graph, sybyl, types),
    )


def _is(codes: np.ndarray, *names: str) -> np.ndarray:
    """Which atoms have one of some SYBYL types."""
    return np.isin(codes, [SYBYL.index(name) for name in names])


def _choose(
    names: Sequence[str], *cases: tuple[np.ndarray, str], default: np.ndarray
) -> np.ndarray:
    """Numbers, within `names`, of the first case that holds for each atom."""
    return np.select(
        [holds for holds, _ in cases], [names.index(name) for _, name in cases], default
    )


def _sybyl(graph: Graph) -> np.ndarray:
    """SYBYL types from elements and Kekule bonds; aromatic atoms come out as C.2, N.2 or N.pl3.

    C.cat is an acyclic carbon with three nitrogen neighbours, charged or not. O.co2 stands in
    carboxylates and phosphates; other terminal oxygens on N or S are O.2. N.pl3 stands for N.am
    too. A cationic C=N+ has no lone pair left: N.pl3, but for aromatic rings, which count its
    electron. A terminal N of a guanidine is N.pl3, its double bond being shared by all three.
    """
    element, order, degree = graph.element, graph.highest_order, graph.degree
    unknown = ~np.isin(element, list(SUPPORTED))
    if unknown.any():
        symbol = Chem.GetPeriodicTable().GetElementSymbol(int(element[unknown][0]))
        raise ValueError(f"X-Score has no type for element {symbol}")
    carbon, nitrogen, oxygen, sulfur = (element == number for number in (6, 7, 8, 16))
    double = order == 2
    linear = (order == 3) | ((graph.double_bonds == 2) & (carbon | nitrogen))
    in_ring = np.zeros(len(element), bool)
    in_ring[graph.bond[graph.cyclic]] = True
    three_nitrogens = (degree == 3) & (graph.count(nitrogen) == 3)
    guanidine = carbon & three_nitrogens & ~in_ring & double
    unsaturated = np.isin(element, (6, 7, 16)) & (order >= 2)
    terminal_oxygens = graph.count(oxygen & (degree == 1))
    beside_acid = graph.count(np.isin(element, (6, 15)) & (terminal_oxygens >= 2)) > 0
    beside_oxide = graph.count(nitrogen | sulfur) > 0
    cumulated = (degree == 1) & (graph.count(linear) > 0)
    spent = (degree == 3) & ~graph.aromatic
    planar = graph.aromatic | (graph.count(unsaturated) > 0)
    return _choose(
        SYBYL,
        (carbon & linear, "C.1"),
        (guanidine, "C.cat"),
        (carbon & (double | (graph.charge == 1)), "C.2"),
        (carbon, "C.3"),
        (nitrogen & (linear | (double & cumulated)), "N.1"),
        (nitrogen & double & (spent | (graph.count(guanidine) > 0)), "N.pl3"),
        (nitrogen & double, "N.2"),
        (nitrogen & (degree == 4), "N.4"),
        (nitrogen & planar, "N.pl3"),
        (nitrogen, "N.3"),
        (oxygen & (degree == 1) & beside_acid, "O.co2"),
        (oxygen & (((degree == 1) & beside_oxide) | double), "O.2"),
        (oxygen, "O.3"),
        (sulfur & ((terminal_oxygens > 0) | (double & (degree > 2))), "S.o"),
        (sulfur & double, "S.2"),
        (sulfur, "S.3"),
        default=ELEMENT_TYPE[element],
    )


def _xscore_types(graph: Graph, sybyl: np.ndarray) -> np.ndarray:
    """Numbers, within `NAMES`, of X-Score types: from SYBYL types and neighbours."""
    heavy, hydrogens = graph.heavy, graph.hydrogens
    polar = graph.count(np.isin(graph.element, list(HETERO))) > 0
    aromatic = _aromatic(graph, sybyl)
    ring_nitrogen = aromatic & _is(sybyl, "N.2", "N.pl3")
    amine = _is(sybyl, "N.4", "N.3")
    cases = [
        (_is(sybyl, "C.3") & polar, "C.3.x"),
        (_is(sybyl, "C.2") & aromatic & polar, "C.ar.x"),
        (_is(sybyl, "C.2") & aromatic, "C.ar"),
        (_is(sybyl, "C.2") & polar, "C.2.x"),
        (amine & (heavy <= 2), "N.4"),
        (amine & (heavy == 3), "N.3"),
        (amine, "N.3.un"),
        (ring_nitrogen & (hydrogens == 0), "N.ar"),
        (ring_nitrogen & (hydrogens == 1), "N.ar.h"),
        (ring_nitrogen, "N.ar.un"),
        (_is(sybyl, "N.pl3") & ((heavy == 1) | (heavy == 2)), "N.pl3.h"),
        (_is(sybyl, "N.pl3") & (heavy != 3), "N.pl3.un"),
        (_is(sybyl, "N.2") & (heavy == 1), "N.2.h"),
        (_is(sybyl, "N.2") & (heavy != 2), "N.2.un"),
        (_is(sybyl, "N.1") & (heavy != 1), "N.1.un"),
    ]
    for name in ("O.3", "S.3"):
        cases += [
            (_is(sybyl, name) & (heavy == 1), f"{name}.h"),
            (_is(sybyl, name) & (heavy != 2), f"{name}.un"),
        ]
    return _choose(NAMES, *cases, default=SAME_NAME[sybyl])


def _aromatic(graph: Graph, sybyl: np.ndarray, smallest: int = 5) -> np.ndarray:
    """Atoms (bool) of X-Score's aromatic rings of five and six atoms, or of `smallest` and more.

    Six-rings: six atoms of one pi electron each (C.2, N.2). Five-rings: six pi electrons, of which
    N.pl3, O.3 and S.3 give two. Two single bonds may meet only at an atom that gives two. Bonds
    that RDKit calls aromatic count as aromatic, so the drawn Kekule form does not matter.
    """
    inside = graph.ring >= 0
    given = np.where(_is(sybyl, "C.2", "N.2"), 1, 2 * _is(sybyl, "N.pl3", "O.3", "S.3"))
    electrons = np.where(inside, given[graph.ring], 0)
    whole = (electrons > 0) == inside
    broken = graph.single_pair & (electrons < 2)
    aromatic = whole.all(axis=1) & (electrons.sum(axis=1) == 6) & ~broken.any(axis=1)
    aromatic &= inside.sum(axis=1) >= smallest
    result = np.zeros(len(sybyl), bool)
    result[graph.ring[aromatic][inside[aromatic]]] = True
    return result


def _geometry(types: np.ndarray, heavy: np.ndarray) -> np.ndarray:
    """Donor and acceptor geometry, if it is one: the same rule gives both for ligands."""
    straight = np.zeros(len(types), bool)
    straight |= np.isin(types, [NAMES.index(name) for name in ("N.4", "N.3")]) & (heavy > 2)
    straight |= np.isin(types, [NAMES.index(name) for name in PLANAR_N]) & (heavy > 1)
    return np.where(straight, STRAIGHT, ANGLED)


def _logp_of(graph: Graph, sybyl: np.ndarray, types: np.ndarray) -> np.ndarray:
    """Each atom's contribution to logP, without the corrections for groups of atoms.

    A pi neighbour is sp2 or sp, bound by anything but a double or triple bond. Carbons of aromatic
    five-rings count as C.2: so does X-Score, in whose table of residues CG of tryptophan has the
    logP of a C.2 with pi neighbours.
    """
    five = (types == NAMES.index("C.ar")) & ~_aromatic(graph, sybyl, smallest=6)
    row = np.where(five, NAMES.index("C.2"), types)
    # What a C.2 without polar neighbours is doubly bound to is a C.2 or C.1: one of those counted.
    pi = graph.count(_is(sybyl, *PI)) - (graph.highest_order == 2)
    return LOGP[row, graph.heavy.clip(max=4), pi.clip(0, 2)]


def _rotors(graph: Graph, sybyl: np.ndarray, types: np.ndarray) -> np.ndarray:
    """RT of each atom: at one rotor it gives 0.5, at two 1.0, at three or more 0.5 (v1.3).

    A rotor is a single, acyclic bond between inner heavy atoms, not sp/sp2 to sp/sp2, at no
    symmetric top.
    """
    first, second = graph.bond.T
    inner = (graph.element > 1) & (graph.heavy != 1)
    flat = _is(sybyl, *SP2, *SP)
    rotor = (graph.order == 1) & ~graph.cyclic & inner[first] & inner[second]
    rotor &= ~(flat[first] & flat[second])
    rotor &= ~np.isin(_codes(first, second), _symmetric_tops(graph, flat, types))
    return ROTOR_VALUE[np.bincount(graph.bond[rotor].ravel(), minlength=len(types)).clip(0, 3)]


def _codes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """One number for each pair of atoms, in either order."""
    return np.minimum(first, second) << 32 | np.maximum(first, second)


def _symmetric_tops(graph: Graph, flat: np.ndarray, types: np.ndarray) -> np.ndarray:
    """Codes of the bonds to CF3, CMe3, PO3, NMe3.

    Such an atom is sp3 and has four heavy neighbours; the three others are terminal and alike.
    """
    tops = np.flatnonzero(~flat & (graph.heavy == 4) & (graph.degree == 4))
    near = graph.far[np.searchsorted(graph.near, tops)[:, None] + np.arange(4)]
    found = []
    for place in range(4):
        others = np.delete(near, place, axis=1)
        alike = (types[others] == types[others[:, :1]]).all(axis=1)
        idle = alike & (graph.heavy[others] == 1).all(axis=1)
        found.append(_codes(tops[idle], near[idle, place]))
    return np.concatenate(found)
