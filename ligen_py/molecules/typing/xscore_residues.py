"""X-Score's types of receptor atoms by residue and atom name, after the tables of X-Score v1.3.

Source: R. Wang, L. Lai, S. Wang, J. Comput.-Aided Mol. Des. 16 (2002) 11-26.
"""

from typing import NamedTuple

from ligen_py.molecules.elements import METALS
from ligen_py.molecules.residues import SAME_AS, WATERS, atom_name
from ligen_py.records.functions.xscore import Interaction

H, P = Interaction.HYDROPHOBIC, Interaction.POLAR
D, A, DA = Interaction.DONOR, Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR
M, NONE = Interaction.METAL, Interaction.NONE

STRAIGHT, ANGLED = 1, 2
"""Where a donor's hydrogen or an acceptor's lone pair points: along the root bond, or aside."""


class ReceptorType(NamedTuple):
    """X-Score's view of one receptor atom; radius 0 marks an atom that is not scored."""

    radius: float
    interaction: Interaction
    logp: float
    donor: int
    acceptor: int


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
    known = table.get(atom) or table.get(atom_name(residue, atom))
    if known is None:
        return by_element(symbol)
    radius, role, logp = known
    where = STRAIGHT if symbol == "N" and (residue, atom) not in _ANGLED_N else ANGLED
    return typed(radius, role, logp, where)


def typed(radius: float, role: Interaction, logp: float, where: int) -> ReceptorType:
    """A type whose hydrogens and lone pairs point STRAIGHT or ANGLED."""
    donor = where if role in (D, DA) else STRAIGHT if role == M else 0
    return ReceptorType(radius, role, logp, donor, where if role in (A, DA) else 0)


def with_role(kind: ReceptorType, role: Interaction) -> ReceptorType:
    """The same type with another class in hydrogen bonds."""
    return typed(kind.radius, role, kind.logp, max(kind.donor, kind.acceptor))


def by_element(symbol: str) -> ReceptorType:
    """The type of a metal, an ion or an atom of which no table knows more."""
    if symbol in METALS:
        return typed(1.25, M, -2.0, STRAIGHT)
    if symbol in _ION:
        return typed(_ION[symbol], P, -1.0, ANGLED)
    radius, role = _BY_ELEMENT.get(symbol, (2.00, P))
    return typed(radius, role, 0.0, STRAIGHT if symbol == "N" else ANGLED)
