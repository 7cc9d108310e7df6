"""X-Score's atom types: radius, class, logP and hydrogen-bond geometry of every atom, rotor sum.

Sources: R. Wang, L. Lai, S. Wang, J. Comput.-Aided Mol. Des. 16 (2002) 11-26, with the tables of
X-Score v1.3; atomic logP is that of XLOGP: R. Wang, Y. Gao, L. Lai, Perspect. Drug Discov. Des. 19
(2000) 47-66. A ligand atom is typed in two steps, as there: first the SYBYL type of element and
bonds, then the X-Score type, which also asks for hydrogens, heavy neighbours and X-Score's own
aromatic rings (not those of RDKit). Ligands are typed all at once: types are numbers, rules are
arithmetic on the arrays of `Graph`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from rdkit import Chem

from ligen_py.molecules.elements import BOND_TOLERANCE, COVALENT_RADIUS, METALS
from ligen_py.molecules.graph import Graph
from ligen_py.molecules.residues import SAME_AS, WATERS
from ligen_py.records.atom_types import Interaction

H, P = Interaction.HYDROPHOBIC, Interaction.POLAR
D, A, DA = Interaction.DONOR, Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR
M, NONE = Interaction.METAL, Interaction.NONE

STRAIGHT, ANGLED = 1, 2
"""Where a donor's hydrogen or an acceptor's lone pair points: along the root bond, or aside."""

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


class ReceptorType(NamedTuple):
    """X-Score's view of one receptor atom; radius 0 marks an atom that is not scored."""

    radius: float
    interaction: Interaction
    logp: float
    donor: int
    acceptor: int


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


def atom_types(graph: Graph) -> tuple[list[str], list[str]]:
    """X-Score types and SYBYL types of all atoms, by name."""
    sybyl = _sybyl(graph)
    return [NAMES[code] for code in _xscore_types(graph, sybyl)], [SYBYL[code] for code in sybyl]


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


# --- receptor ---------------------------------------------------------------------------------


# fmt: off
_BACKBONE: dict[str, tuple[float, Interaction, float]] = {
    "N": (1.75, D, -0.096), "CA": (2.20, P, -0.305), "C": (1.90, P, -0.030),
    "O": (1.55, A, -0.399), "OXT": (1.55, A, -0.399),
}
_SIDE_CHAIN: dict[str, dict[str, tuple[float, Interaction, float]]] = {
    "ALA": {"CB": (2.20, H, 0.528)},
    "ARG": {"CB CG": (2.20, H, 0.358), "CD": (2.20, P, -0.137), "NE": (1.75, D, -0.096),
            "CZ": (1.80, P, 0.005), "NH1 NH2": (1.75, D, -0.646)},
    "ASN": {"CB": (2.20, H, -0.008), "CG": (1.90, P, -0.030), "OD1": (1.55, A, -0.399),
            "ND2": (1.75, D, -0.646)},
    "ASP": {"CB": (2.20, H, -0.008), "CG": (1.90, P, -0.030), "OD1 OD2": (1.55, A, -0.880)},
    "CYS": {"CB": (2.20, H, 0.358), "SG": (2.10, H, 0.419)},
    "GLN": {"CB": (2.20, H, 0.358), "CG": (2.20, H, -0.008), "CD": (1.90, P, -0.030),
            "OE1": (1.55, A, -0.399), "NE2": (1.75, D, -0.646)},
    "GLU": {"CB": (2.20, H, 0.358), "CG": (2.20, H, -0.008), "CD": (1.90, P, -0.030),
            "OE1 OE2": (1.55, A, -0.880)},
    "GLY": {"CA": (2.20, P, -0.303)},
    "HIS": {"CB": (2.20, H, -0.008), "CG": (2.00, P, -0.027), "ND1 NE2": (1.75, DA, 0.135),
            "CD2 CE1": (2.00, P, -0.310)},
    "ILE": {"CB": (2.20, H, 0.127), "CG2 CD1": (2.20, H, 0.528), "CG1": (2.20, H, 0.358)},
    "LEU": {"CB": (2.20, H, 0.358), "CG": (2.20, H, 0.127), "CD1 CD2": (2.20, H, 0.528)},
    "LYS": {"CB CG CD": (2.20, H, 0.358), "CE": (2.20, P, -0.137), "NZ": (1.80, D, -1.200)},
    "MET": {"CB CG": (2.20, H, 0.358), "SD SE": (2.10, H, 0.255), "CE": (2.20, H, 0.528)},
    "PHE": {"CB": (2.20, H, -0.008), "CG": (2.00, H, 0.296),
            "CD1 CD2 CE1 CE2 CZ": (2.00, H, 0.337)},
    "PRO": {"N": (1.75, P, 0.078), "CB CG": (2.20, H, 0.358), "CD": (2.20, P, -0.137)},
    "SER": {"CB": (2.20, P, -0.137), "OG": (1.65, DA, -0.467)},
    "THR": {"CB": (2.20, P, -0.205), "OG1": (1.65, DA, -0.467), "CG2": (2.20, H, 0.528)},
    "TRP": {"CB": (2.20, H, -0.008), "CG": (2.00, H, 0.013), "CD2": (2.00, H, 0.296),
            "CE2": (2.00, P, -0.151), "CE3 CZ2 CZ3 CH2": (2.00, H, 0.337),
            "CD1": (2.00, P, -0.310), "NE1": (1.75, D, 0.545)},
    "TYR": {"CB": (2.20, H, -0.008), "CG": (2.00, H, 0.296), "CD1 CD2 CE1 CE2": (2.00, H, 0.337),
            "CZ": (2.00, P, -0.151), "OH": (1.65, DA, 0.082)},
    "VAL": {"CB": (2.20, H, 0.127), "CG1 CG2": (2.20, H, 0.528)},
}
_OTHER_NAMES = {"OT": "O", "OT1": "O", "O1": "O", "OT2": "OXT", "O2": "OXT"}
_ION: dict[str, float] = {"F": 1.50, "CL": 1.75, "BR": 1.90, "I": 2.05}
_BY_ELEMENT: dict[str, tuple[float, Interaction]] = {
    "C": (2.20, P), "N": (1.75, D), "O": (1.55, A), "S": (2.00, P), "SE": (2.00, P), "P": (2.00, P),
}
# fmt: on

RECEPTOR_TYPE = {
    residue: _BACKBONE
    | {name: value for names, value in side_chain.items() for name in names.split()}
    for residue, side_chain in _SIDE_CHAIN.items()
}
"""Residue -> atom name -> radius, class, logP."""

_ANGLED_N = frozenset(
    (("ARG", "NH1"), ("ARG", "NH2"), ("ASN", "ND2"), ("GLN", "NE2"), ("LYS", "NZ"))
)
"""Protein nitrogens whose hydrogens point aside of the root bond; all others point along it."""


def is_standard(residue: str) -> bool:
    """Whether the residue is an amino acid or water with a table of its own."""
    name = residue.strip().upper()
    return SAME_AS.get(name, name) in RECEPTOR_TYPE or name in WATERS


def receptor_type(residue: str, atom: str, element: str) -> ReceptorType:
    """Type one heavy receptor atom by residue name, atom name and element symbol.

    Metals and lone halide ions are typed by element, whatever the residue; waters are not scored
    (radius 0). An atom that its residue's table does not know (a modified side chain, a residue
    without a table) falls back on its element: carbon polar sp3, nitrogen a donor, oxygen an
    acceptor, sulfur and phosphorus polar, anything else polar of radius 2.0. Residues that are no
    amino acids are better typed from their geometry: `cofactor_types`.
    """
    residue, atom, symbol = residue.strip().upper(), atom.strip().upper(), element.strip().upper()
    if residue in WATERS or symbol in ("H", "D"):
        return ReceptorType(0.0, NONE, 0.0, 0, 0)
    residue = SAME_AS.get(residue, residue)
    table = RECEPTOR_TYPE.get(residue, {})
    known = table.get(atom) or table.get(_OTHER_NAMES.get(atom, ""))
    if known is None:
        return _by_element(symbol)
    radius, role, logp = known
    where = STRAIGHT if symbol == "N" and (residue, atom) not in _ANGLED_N else ANGLED
    return _receptor(radius, role, logp, where)


def _receptor(radius: float, role: Interaction, logp: float, where: int) -> ReceptorType:
    donor = where if role in (D, DA) else STRAIGHT if role == M else 0
    return ReceptorType(radius, role, logp, donor, where if role in (A, DA) else 0)


def _by_element(symbol: str) -> ReceptorType:
    if symbol in METALS:
        return _receptor(1.25, M, -2.0, STRAIGHT)
    if symbol in _ION:
        return _receptor(_ION[symbol], P, -1.0, ANGLED)
    radius, role = _BY_ELEMENT.get(symbol, (2.00, P))
    return _receptor(radius, role, 0.0, STRAIGHT if symbol == "N" else ANGLED)


# --- cofactors --------------------------------------------------------------------------------


FLAT = 354.0
"""Three bonds lie in a plane when their angles sum to more than this (degree; ideal sp3: 328)."""


def cofactor_types(elements: Sequence[str], xyz: np.ndarray) -> list[ReceptorType]:
    """Type the heavy atoms of one hetero residue, which has no bond orders, from its geometry.

    `elements` are symbols, `xyz` is (atoms, 3) in Angstrom. Bonds come from distances, planarity
    from angles and flat five- and six-rings; what hydrogens would decide stays open (a ring
    nitrogen is donor and acceptor, as in the histidine of X-Score). Carbons and nitrogens get the
    ligand's types, as X-Score gives them to a cofactor; oxygens without hydrogens are acceptors
    of 1.55, as in its tables of phosphate and carboxylate. X-Score gives a cofactor the ligand's
    logP too, which asks for bond orders and hydrogens; here it is 0, so that a cofactor's atoms
    neither make nor spoil a hydrophobic match.
    """
    symbols = [symbol.strip().upper() for symbol in elements]
    xyz = np.asarray(xyz, "f8").reshape(len(symbols), 3)
    bonded = _bonded(symbols, xyz)
    ring = _flat_rings(symbols, xyz, bonded)
    flat = {atom for atom in range(len(symbols)) if _is_flat(atom, symbols, xyz, bonded)} | ring
    return [_cofactor_type(atom, symbols, xyz, bonded, flat, ring) for atom in range(len(symbols))]


def _bonded(symbols: Sequence[str], xyz: np.ndarray) -> list[list[int]]:
    """Bonded neighbours of every atom; metals and hydrogens have none."""
    radius = np.array([COVALENT_RADIUS.get(symbol, -9.0) for symbol in symbols])
    distance = np.linalg.norm(xyz[:, None] - xyz[None], axis=-1)
    near = distance < radius[:, None] + radius[None] + BOND_TOLERANCE
    np.fill_diagonal(near, False)
    return [np.flatnonzero(row).tolist() for row in near]


def _angle(xyz: np.ndarray, first: int, apex: int, second: int) -> float:
    one, two = xyz[first] - xyz[apex], xyz[second] - xyz[apex]
    cosine = one @ two / max(float(np.linalg.norm(one) * np.linalg.norm(two)), 1e-9)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def _is_flat(
    atom: int, symbols: Sequence[str], xyz: np.ndarray, bonded: Sequence[Sequence[int]]
) -> bool:
    """Whether a carbon or nitrogen is trigonal: three bonds in a plane, or a short open angle."""
    near = bonded[atom]
    if symbols[atom] not in ("C", "N") or not 2 <= len(near) <= 3:
        return False
    if len(near) == 3:
        a, b, c = near
        angles = _angle(xyz, a, atom, b) + _angle(xyz, b, atom, c) + _angle(xyz, a, atom, c)
        return angles > FLAT
    return symbols[atom] == "C" and all(np.linalg.norm(xyz[near] - xyz[atom], axis=1) < 1.46)


def _flat_rings(
    symbols: Sequence[str], xyz: np.ndarray, bonded: Sequence[Sequence[int]]
) -> set[int]:
    """Atoms of five- and six-membered rings of C, N, O, S that lie within 0.1 A of a plane."""
    atoms: set[int] = set()
    for start in range(len(symbols)):
        for ring in _rings_from(start, bonded):
            points = xyz[list(ring)] - xyz[list(ring)].mean(axis=0)
            off_plane = np.abs(points @ np.linalg.svd(points)[2][2])
            organic = all(symbols[atom] in ("C", "N", "O", "S") for atom in ring)
            if organic and off_plane.max() < 0.1:
                atoms.update(ring)
    return atoms


def _rings_from(start: int, bonded: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Rings of five and six atoms whose lowest atom is `start`."""
    found: list[tuple[int, ...]] = []
    paths: list[tuple[int, ...]] = [(start,)]
    while paths:
        path = paths.pop()
        for following in bonded[path[-1]]:
            if following == start and len(path) in (5, 6) and path[1] < path[-1]:
                found.append(path)
            elif following > start and following not in path and len(path) < 6:
                paths.append((*path, following))
    return found


def _cofactor_type(
    atom: int,
    symbols: Sequence[str],
    xyz: np.ndarray,
    bonded: Sequence[Sequence[int]],
    flat: set[int],
    ring: set[int],
) -> ReceptorType:
    symbol, near = symbols[atom], bonded[atom]
    if symbol in METALS or not near:
        return _by_element(symbol)
    if symbol == "C":
        polar = any(symbols[other] in ("N", "O", "F", "P", "S", "CL", "BR", "I") for other in near)
        radius = 2.00 if atom in ring else 1.90 if atom in flat else 2.10
        return _receptor(radius, P if polar else H, 0.0, 0)
    if symbol == "N":
        return _cofactor_nitrogen(near, atom in ring, atom in flat, any(n in flat for n in near))
    if symbol == "O":
        return _cofactor_oxygen(atom, symbols, xyz, bonded, flat)
    if symbol in ("S", "SE"):
        return _receptor(*((2.10, H) if len(near) <= 2 else (2.00, P)), 0.0, 0)
    bound = {"F": (1.50, P), "CL": (1.75, H), "BR": (1.90, H), "I": (2.05, H)}
    return _receptor(*bound.get(symbol, (2.00, P)), 0.0, 0)


def _cofactor_nitrogen(
    near: Sequence[int], ring: bool, flat: bool, beside_flat: bool
) -> ReceptorType:
    if len(near) == 3:
        return _receptor(1.75 if flat else 1.80, P, 0.0, 0)
    if len(near) > 3:
        return _receptor(1.80, P, 0.0, 0)
    if ring:
        return _receptor(1.75, DA, 0.0, STRAIGHT)
    if beside_flat:
        return _receptor(1.75, D, 0.0, ANGLED if len(near) == 1 else STRAIGHT)
    return _receptor(1.80, D, 0.0, ANGLED)


def _cofactor_oxygen(
    atom: int,
    symbols: Sequence[str],
    xyz: np.ndarray,
    bonded: Sequence[Sequence[int]],
    flat: set[int],
) -> ReceptorType:
    """Two bonds: ether. One: carbonyl, carboxylate, oxo acid, else hydroxyl (C-O > 1.30 A)."""
    if len(bonded[atom]) > 1:
        return _receptor(1.65, A, 0.0, ANGLED)
    other = bonded[atom][0]
    terminal = sum(symbols[i] == "O" and len(bonded[i]) == 1 for i in bonded[other])
    short = float(np.linalg.norm(xyz[atom] - xyz[other])) < 1.30
    if symbols[other] != "C" or (other in flat and (short or terminal > 1)):
        return _receptor(1.55, A, 0.0, ANGLED)
    return _receptor(1.65, DA, 0.0, ANGLED)
