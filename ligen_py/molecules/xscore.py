"""X-Score's atom types: radius, class and hydrogen-bond geometry of every atom, and the rotor sum.

Source: R. Wang, L. Lai, S. Wang, J. Comput.-Aided Mol. Des. 16 (2002) 11-26, with the tables of
X-Score v1.3. A ligand atom is typed in two steps, as there: first the SYBYL type of element and
bonds, then the X-Score type, which also asks for hydrogens, heavy neighbours and X-Score's own
aromatic rings (not those of RDKit).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from rdkit import Chem

from ligen_py.records import Interaction

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
# fmt: on

SP2 = frozenset(("C.2", "C.cat", "N.2", "N.pl3", "O.2", "O.co2", "S.2"))
SP = frozenset(("C.1", "N.1"))
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
    hydrogens: np.ndarray
    """u1: hydrogens bonded to the atom."""
    rotors: float
    """RT of the whole ligand."""


class ReceptorType(NamedTuple):
    """X-Score's view of one receptor atom; radius 0 marks an atom that is not scored."""

    radius: float
    interaction: Interaction
    logp: float
    donor: int
    acceptor: int


def ligand_types(mol: Chem.Mol) -> LigandTypes:
    """Type every atom of a sanitised molecule with explicit hydrogens.

    Raises ValueError for an element outside `SUPPORTED`.
    """
    types, sybyl = atom_types(mol)
    classes = [LIGAND_TYPE[name][1] for name in types]
    geometry = [
        _geometry(name, _heavy(atom)) for name, atom in zip(types, mol.GetAtoms(), strict=True)
    ]
    roles = list(zip(classes, geometry, strict=True))
    return LigandTypes(
        radius=np.array([LIGAND_TYPE[name][0] for name in types], "f4"),
        interaction=np.array(classes, "u1"),
        donor=np.array([where if role in (D, DA) else 0 for role, where in roles], "u1"),
        acceptor=np.array([where if role in (A, DA) else 0 for role, where in roles], "u1"),
        hydrogens=np.array([_hydrogens(atom) for atom in mol.GetAtoms()], "u1"),
        rotors=_rotors(mol, sybyl, types),
    )


def atom_types(mol: Chem.Mol) -> tuple[list[str], list[str]]:
    """X-Score types and SYBYL types of all atoms, by name."""
    kekule = Chem.Mol(mol)
    Chem.Kekulize(kekule, clearAromaticFlags=False)
    sybyl = [_sybyl(atom) for atom in kekule.GetAtoms()]
    ring = _aromatic_atoms(mol, sybyl)
    types = [
        _xscore_type(atom, name, atom.GetIdx() in ring)
        for atom, name in zip(kekule.GetAtoms(), sybyl, strict=True)
    ]
    return types, sybyl


def _heavy(atom: Chem.Atom) -> int:
    return sum(other.GetAtomicNum() > 1 for other in atom.GetNeighbors())


def _hydrogens(atom: Chem.Atom) -> int:
    return sum(other.GetAtomicNum() == 1 for other in atom.GetNeighbors())


def _order(atom: Chem.Atom) -> float:
    """Highest order among the atom's bonds (Kekule form)."""
    return max((bond.GetBondTypeAsDouble() for bond in atom.GetBonds()), default=0.0)


def _sybyl(atom: Chem.Atom) -> str:
    """SYBYL type from element and Kekule bonds; aromatic atoms come out as C.2, N.2 or N.pl3."""
    number = atom.GetAtomicNum()
    if number not in SUPPORTED:
        raise ValueError(f"X-Score has no type for element {atom.GetSymbol()}")
    special = {6: _sybyl_carbon, 7: _sybyl_nitrogen, 8: _sybyl_oxygen, 16: _sybyl_sulfur}
    if number in special:
        return special[number](atom)
    return "P.3" if number == 15 else atom.GetSymbol()


def _linear(atom: Chem.Atom) -> bool:
    doubles = sum(bond.GetBondTypeAsDouble() == 2 for bond in atom.GetBonds())
    return _order(atom) == 3 or (doubles == 2 and atom.GetAtomicNum() in (6, 7))


def _guanidine(atom: Chem.Atom) -> bool:
    """SYBYL's C.cat: an acyclic carbon with three nitrogen neighbours, charged or not."""
    return (
        atom.GetAtomicNum() == 6
        and atom.GetDegree() == 3
        and not atom.IsInRing()
        and all(other.GetAtomicNum() == 7 for other in atom.GetNeighbors())
        and _order(atom) == 2
    )


def _sybyl_carbon(atom: Chem.Atom) -> str:
    if _linear(atom):
        return "C.1"
    if _guanidine(atom):
        return "C.cat"
    return "C.2" if _order(atom) == 2 or atom.GetFormalCharge() == 1 else "C.3"


def _unsaturated(atom: Chem.Atom) -> bool:
    """Whether a nitrogen's lone pair conjugates with this neighbour: C=, C#, N= and S(=O)=O."""
    return atom.GetAtomicNum() in (6, 7, 16) and _order(atom) >= 2


def _sybyl_nitrogen(atom: Chem.Atom) -> str:
    """N.4, N.3, N.pl3 (which stands for N.am too), N.2 or N.1.

    A cationic C=N+ has no lone pair left: N.pl3, but for aromatic rings, which count its electron.
    A terminal N of a guanidine is N.pl3, its double bond being shared by all three.
    """
    neighbours = atom.GetNeighbors()
    if _linear(atom):
        return "N.1"
    if _order(atom) == 2:
        if any(_linear(other) for other in neighbours) and atom.GetDegree() == 1:
            return "N.1"
        spent = atom.GetTotalDegree() == 3 and not atom.GetIsAromatic()
        return "N.pl3" if spent or any(_guanidine(other) for other in neighbours) else "N.2"
    if atom.GetTotalDegree() == 4:
        return "N.4"
    planar = atom.GetIsAromatic() or any(_unsaturated(other) for other in neighbours)
    return "N.pl3" if planar else "N.3"


def _terminal_oxygens(atom: Chem.Atom) -> int:
    return sum(
        other.GetAtomicNum() == 8 and other.GetDegree() == 1 for other in atom.GetNeighbors()
    )


def _sybyl_oxygen(atom: Chem.Atom) -> str:
    """O.co2 in carboxylates and phosphates, O.2 where double or terminal on N or S, else O.3."""
    if atom.GetDegree() == 1:
        other = atom.GetNeighbors()[0]
        if other.GetAtomicNum() in (6, 15) and _terminal_oxygens(other) >= 2:
            return "O.co2"
        if other.GetAtomicNum() in (7, 16):
            return "O.2"
    return "O.2" if _order(atom) == 2 else "O.3"


def _sybyl_sulfur(atom: Chem.Atom) -> str:
    if _terminal_oxygens(atom) or (_order(atom) == 2 and atom.GetDegree() > 2):
        return "S.o"
    return "S.2" if _order(atom) == 2 else "S.3"


def _xscore_type(atom: Chem.Atom, sybyl: str, aromatic: bool) -> str:
    """X-Score type from the SYBYL type and the atom's neighbours."""
    heavy, hydrogens = _heavy(atom), _hydrogens(atom)
    polar = any(other.GetAtomicNum() in HETERO for other in atom.GetNeighbors())
    match sybyl:
        case "C.3":
            return "C.3.x" if polar else "C.3"
        case "C.2":
            return ("C.ar" if aromatic else "C.2") + (".x" if polar else "")
        case "N.4" | "N.3":
            return "N.4" if heavy <= 2 else "N.3" if heavy == 3 else "N.3.un"
        case "N.2" | "N.pl3" if aromatic:
            return {0: "N.ar", 1: "N.ar.h"}.get(hydrogens, "N.ar.un")
        case "N.pl3":
            return {1: "N.pl3.h", 2: "N.pl3.h", 3: "N.pl3"}.get(heavy, "N.pl3.un")
        case "N.2":
            return {1: "N.2.h", 2: "N.2"}.get(heavy, "N.2.un")
        case "N.1":
            return "N.1" if heavy == 1 else "N.1.un"
        case "O.3" | "S.3":
            return {1: f"{sybyl}.h", 2: sybyl}.get(heavy, f"{sybyl}.un")
    return sybyl


def _aromatic_atoms(mol: Chem.Mol, sybyl: Sequence[str]) -> set[int]:
    """Atoms of X-Score's aromatic rings.

    Six-rings: six atoms of one pi electron each (C.2, N.2). Five-rings: six pi electrons, of which
    N.pl3, O.3 and S.3 give two. Two single bonds may meet only at an atom that gives two. Bonds
    that RDKit calls aromatic count as aromatic, so the drawn Kekule form does not matter.
    """
    found: set[int] = set()
    rings = mol.GetRingInfo()
    for atoms, bonds in zip(rings.AtomRings(), rings.BondRings(), strict=True):
        electrons = [_pi_electrons(sybyl[atom]) for atom in atoms]
        if len(atoms) not in (5, 6) or 0 in electrons or sum(electrons) != 6:
            continue
        single = {
            bond for bond in bonds if mol.GetBondWithIdx(bond).GetBondType() == Chem.BondType.SINGLE
        }
        meets = [
            sum(bond.GetIdx() in single for bond in mol.GetAtomWithIdx(atom).GetBonds()) == 2
            for atom in atoms
        ]
        if not any(meet and count < 2 for meet, count in zip(meets, electrons, strict=True)):
            found.update(atoms)
    return found


def _pi_electrons(sybyl: str) -> int:
    """Electrons an atom gives to an aromatic ring; 0 where it cannot be part of one."""
    if sybyl in ("C.2", "N.2"):
        return 1
    return 2 if sybyl in ("N.pl3", "O.3", "S.3") else 0


def _geometry(name: str, heavy: int) -> int:
    """Donor and acceptor geometry, if it is one: the same rule gives both for ligands."""
    if name in ("N.4", "N.3"):
        return ANGLED if heavy <= 2 else STRAIGHT
    if name in PLANAR_N:
        return ANGLED if heavy <= 1 else STRAIGHT
    return ANGLED


def _rotors(mol: Chem.Mol, sybyl: Sequence[str], types: Sequence[str]) -> float:
    """RT: atoms at one rotor give 0.5, at two 1.0, at three or more 0.5 (v1.3)."""
    count = [0] * mol.GetNumAtoms()
    for bond in mol.GetBonds():
        if _is_rotor(bond, sybyl, types):
            count[bond.GetBeginAtomIdx()] += 1
            count[bond.GetEndAtomIdx()] += 1
    return sum({0: 0.0, 1: 0.5, 2: 1.0}.get(bonds, 0.5) for bonds in count)


def _is_rotor(bond: Chem.Bond, sybyl: Sequence[str], types: Sequence[str]) -> bool:
    """A single, acyclic bond between inner heavy atoms, not sp/sp2 to sp/sp2, no symmetric top."""
    ends = (bond.GetBeginAtom(), bond.GetEndAtom())
    if bond.GetBondType() != Chem.BondType.SINGLE or bond.IsInRing():
        return False
    if any(atom.GetAtomicNum() == 1 or _heavy(atom) == 1 for atom in ends):
        return False
    if all(sybyl[atom.GetIdx()] in SP2 | SP for atom in ends):
        return False
    first, second = ends
    return not (
        _symmetric_top(first, second, sybyl, types) or _symmetric_top(second, first, sybyl, types)
    )


def _symmetric_top(
    atom: Chem.Atom, partner: Chem.Atom, sybyl: Sequence[str], types: Sequence[str]
) -> bool:
    """CF3, CMe3, PO3, NMe3: sp3, four heavy neighbours, three of them terminal and alike."""
    if sybyl[atom.GetIdx()] in SP2 | SP or _heavy(atom) != 4:
        return False
    others = [other for other in atom.GetNeighbors() if other.GetIdx() != partner.GetIdx()]
    alike = len({types[other.GetIdx()] for other in others}) == 1
    return alike and all(_heavy(other) == 1 for other in others)


# --- receptor ---------------------------------------------------------------------------------

METALS = frozenset((
    "LI", "NA", "K", "RB", "CS", "BE", "MG", "CA", "SR", "BA", "AL", "GA", "IN", "TL", "SC", "TI",
    "V", "CR", "MN", "FE", "CO", "NI", "CU", "ZN", "Y", "ZR", "NB", "MO", "TC", "RU", "RH", "PD",
    "AG", "CD", "HF", "TA", "W", "RE", "OS", "IR", "PT", "AU", "HG", "SN", "PB", "BI", "LA", "CE",
    "PR", "ND", "SM", "EU", "GD", "TB", "DY", "HO", "ER", "TM", "YB", "LU", "U",
))  # fmt: skip
"""Elements of X-Score's class metal."""

WATERS = frozenset(("HOH", "WAT", "DOD", "H2O", "SOL", "TIP", "TIP3"))
"""Residues that X-Score leaves out of every term."""

SAME_AS = {
    "HID": "HIS", "HIE": "HIS", "HIP": "HIS", "HSD": "HIS", "HSE": "HIS", "HSP": "HIS",
    "CYX": "CYS", "CYM": "CYS", "CSS": "CYS", "ASH": "ASP", "GLH": "GLU", "LYN": "LYS",
    "MSE": "MET",
}  # fmt: skip
"""Other names of protonation states; selenomethionine is typed as methionine."""

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

COVALENT_RADIUS = {
    "B": 0.84, "C": 0.76, "N": 0.71, "O": 0.66, "F": 0.57, "SI": 1.11, "P": 1.07, "S": 1.05,
    "CL": 1.02, "SE": 1.20, "BR": 1.20, "I": 1.39,
}  # fmt: skip
"""Angstrom; B. Cordero et al., Dalton Trans. 2008, 2832-2838."""

BOND_TOLERANCE = 0.4
"""Two atoms are bonded up to this much (Angstrom) beyond the sum of their covalent radii."""

FLAT = 354.0
"""Three bonds lie in a plane when their angles sum to more than this (degree; ideal sp3: 328)."""


def cofactor_types(elements: Sequence[str], xyz: np.ndarray) -> list[ReceptorType]:
    """Type the heavy atoms of one hetero residue, which has no bond orders, from its geometry.

    `elements` are symbols, `xyz` is (atoms, 3) in Angstrom. Bonds come from distances, planarity
    from angles and flat five- and six-rings; what hydrogens would decide stays open (a ring
    nitrogen is donor and acceptor, as in the histidine of X-Score). Carbons and nitrogens get the
    ligand's types, as X-Score gives them to a cofactor; oxygens without hydrogens are acceptors
    of 1.55, as in its tables of phosphate and carboxylate. Types of logP are not needed here: 0.
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
