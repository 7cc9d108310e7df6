"""Polar hydrogens and charges of a receptor, as AutoDock4 needs them.

Amino acids have the Gasteiger charges of their residue within a peptide (J. Gasteiger, M. Marsili,
Tetrahedron 36 (1980) 3219-3228) at pH 7, hydrogens on carbon merged into it. Hydrogens of the file
are used where a residue has polar ones; elsewhere they are built: in the plane or the tetrahedron
of the bonds, a hydroxyl's and a water's towards the nearest acceptors. A histidine whose nitrogen
binds a metal has its hydrogen on the other, and a cysteine there has none. Cofactors, nucleotides
and modified side chains that are known by name (`cofactors`) have the Gasteiger charges of their
molecule, and so have groups whose bonds are perceived (`perception`). Anything else is typed by
element and neutral, but for metals, halide ions and the sulfides of clusters.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from rdkit import Chem, rdBase

from ligen_py.molecules.elements import HALIDES, METALS
from ligen_py.molecules.graph import Graph
from ligen_py.molecules.receptor import cofactors
from ligen_py.molecules.receptor.structure import OTHER
from ligen_py.molecules.residues import SAME_AS, WATERS, atom_name
from ligen_py.molecules.typing.ad4 import charged_receptor, ligand_types
from ligen_py.molecules.typing.gasteiger import gasteiger
from ligen_py.records.functions.ad4 import Ad4Receptor, Ad4Type
from ligen_py.records.functions.xscore import Interaction

LETTER = {
    "ALA": "A", "ARG": "R", "ASN": "N", "ASP": "D", "CYS": "C", "GLN": "Q", "GLU": "E", "GLY": "G",
    "HIS": "H", "ILE": "I", "LEU": "L", "LYS": "K", "MET": "M", "PHE": "F", "PRO": "P", "SER": "S",
    "THR": "T", "TRP": "W", "TYR": "Y", "VAL": "V",
}  # fmt: skip

STATES: dict[str, dict[str, tuple[int, int]]] = {
    "ASP": {"OD2": (-1, 0)}, "ASH": {}, "GLU": {"OE2": (-1, 0)}, "GLH": {},
    "LYS": {"NZ": (1, 3)}, "LYN": {}, "ARG": {"NH1": (1, 2)}, "CYM": {"SG": (-1, 0)},
    "ARN": {"NE": (0, 0), "NH1": (0, 2)}, "ARN1": {"NH1": (0, 1)}, "ARN2": {"NH1": (0, 2)},
    "TYM": {"OH": (-1, 0)},
    "HIS": {}, "HIE": {}, "HID": {"ND1": (0, 1), "NE2": (0, 0)}, "HIP": {"ND1": (1, 1)},
    "amide": {"NZ": (0, 1)}, "imine": {"NZ": (1, 1)}, "ammonium": {"NZ": (1, 2)},
}  # fmt: skip
"""Atoms whose formal charge and hydrogens are not those of the neutral amino acid."""

IMINES = {"ARN": "NE", "ARN1": "NH1", "ARN2": "NH2"}
"""The nitrogen of a neutral arginine that has the double bond."""

ACIDS = {"ASH": ("OD1", "OD2"), "GLH": ("OE1", "OE2")}
"""Oxygens of protonated acids; the template has the hydrogen on the second."""

PARTNER = {
    "amide": ("C(C)=O", Chem.BondType.SINGLE),
    "imine": ("C", Chem.BondType.DOUBLE),
    "ammonium": ("C", Chem.BondType.SINGLE),
}
"""What stands for the group that a lysine is bound to, and the bond: biotinyl-lysine is an amide,
with pyridoxal phosphate and retinal it is a protonated imine."""

BASE = {"ARN1": "ARG", "ARN2": "ARG", "TYM": "TYR"} | dict.fromkeys(PARTNER, "LYS")
"""Amino acids of states without a residue name of their own."""

CARBONYL, IMINE = 1.33, 1.39
"""Angstrom; the longest C=O of an acyl group, and the longest C=N (C-N of amines: 1.47)."""

CARBOXYL = ("O", "OXT")
"""Oxygens of a chain's end; the template of an acid has the hydrogen on the second."""

AMINE, AMMONIUM = 3, 4
"""Bonds of a backbone nitrogen that begins a chain; within one it has a link, or two bonds."""

OTHER_NAMES = {"HSD": "HID", "HSE": "HIE", "HSP": "HIP"}

RDKIT_NAMES = {"ILE": {"CG1": "CG2", "CG2": "CG1"}}
"""Names of atoms by those that RDKit gives them, where they are not those of the PDB."""

HISTIDINES = {(True, False): "HID", (False, True): "HIE", (True, True): "HIP"}
"""State by hydrogens on ND1 and NE2."""

ARGININES = {(0, 2, 2): "ARN", (1, 1, 2): "ARN1", (1, 2, 1): "ARN2"}
"""State by the number of hydrogens on NE, NH1 and NH2; the cation has five."""

RING_NITROGENS = ("ND1", "NE2")
TAKES = (Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR)

CARBOXYLATES = {("ASP", "OD1"), ("ASP", "OD2"), ("GLU", "OE1"), ("GLU", "OE2")}
CARBOXYLATE = 1.5
"""How much more than any other acceptor a carboxylate counts for a histidine's hydrogen."""

FRONT = np.radians(60.0)
"""From the direction of a ring nitrogen's hydrogen or lone pair to what is in front of it."""

BOND_LENGTH = {
    Ad4Type.N: 1.01,
    Ad4Type.NA: 1.01,
    Ad4Type.OA: 0.96,
    Ad4Type.S: 1.34,
    Ad4Type.SA: 1.34,
    Ad4Type.P: 1.42,
}
"""Angstrom, from a donor to its hydrogen."""

TETRAHEDRAL, TRIGONAL = np.radians(109.47), np.radians(120.0)
HYDROXYL_TURNS = np.radians(np.arange(0, 360, 30))
"""Torsions tried for a hydroxyl or thiol."""

BOUND = 1.3
"""Angstrom; a hydrogen of the file nearer than this to N, O or S is a polar one."""

COORDINATES = 2.8
"""Angstrom; nitrogen or sulfur nearer than this to a metal binds it, and has no hydrogen there."""

TAKES_PROTON = 2.4
"""Angstrom; a phenol's oxygen this near to a metal has lost its hydrogen to it."""

WEAK_ACIDS = frozenset(("LI", "NA", "K", "RB", "CS", "MG", "CA", "SR", "BA"))
"""Metals that leave a phenol its hydrogen."""

BACKBONE = {"N": "N", "CA": "C", "C": "C", "O": "O"}
"""Atoms of every amino acid in a chain, and their elements."""

METAL = {
    "MG": (Ad4Type.MG, 2), "CA": (Ad4Type.CA, 2), "MN": (Ad4Type.MN, 2), "FE": (Ad4Type.FE, 2),
    "ZN": (Ad4Type.ZN, 2), "CO": (Ad4Type.FE, 2), "NI": (Ad4Type.ZN, 2), "CU": (Ad4Type.ZN, 2),
    "CD": (Ad4Type.ZN, 2), "NA": (Ad4Type.CA, 1), "K": (Ad4Type.CA, 1), "LI": (Ad4Type.MG, 1),
    "RB": (Ad4Type.CA, 1), "CS": (Ad4Type.CA, 1),
} | dict.fromkeys(("AG", "AU", "TL"), (Ad4Type.ZN, 1)) | dict.fromkeys((
    "AL", "GA", "IN", "SC", "CR", "Y", "LA", "CE", "PR", "ND", "SM", "EU", "GD", "TB", "DY", "HO",
    "ER", "TM", "YB", "LU",
), (Ad4Type.ZN, 3))  # fmt: skip
"""Type and charge; metals that AutoDock4 lacks take the type of the most alike, others zinc's. With
-1 of each fluoride AlF4- and MgF3- have theirs."""

IONS = {
    "CU1": 1, "YB2": 2, "3CO": 3, "3NI": 3, "AU3": 3, "BS3": 3, "CU3": 3, "IR3": 3, "MN3": 3,
    "NCO": 3, "NRU": 3, "RH3": 3, "4TI": 4, "OS4": 4, "PT4": 4,
}  # fmt: skip
"""Charge of metals whose residue name in the PDB stands for a state, where it is another. NCO and
NRU are hexammines."""

ORGANIC = {
    "C": Ad4Type.C, "N": Ad4Type.N, "O": Ad4Type.OA, "S": Ad4Type.S, "SE": Ad4Type.S,
    "P": Ad4Type.P, "F": Ad4Type.F, "CL": Ad4Type.CL, "BR": Ad4Type.BR, "I": Ad4Type.I,
    "SI": Ad4Type.SI, "B": Ad4Type.C, "AS": Ad4Type.P,
}  # fmt: skip


SULFIDE = -1.5
"""Charge of a sulfur that is bound to metals alone. With 2 of each iron, [2Fe-2S] has 1, [3Fe-4S] 0
and [4Fe-4S] 2, each a common state of the cluster."""

OXIDE, FEWEST_OXIDES = -1.0, 3
"""Charge of an oxygen that is bound to a metal alone, and how many of a residue make an anion. With
2 of the metal, molybdate and tungstate have theirs, and vanadate that of HVO4(2-)."""

PYRROLE, FEWEST_PYRROLES = -0.5, 4
"""Charge of a nitrogen of a tetrapyrrole that binds its metal, and how many make one. With 2 of the
metal chlorophylls, haems without a SMILES and cobalamins (their phosphate included) have 0."""

END_OF_ACID = -0.5
"""Charge of each oxygen of a carboxylate of a tetrapyrrole: haem a has -2, sirohaem -8."""

WATER = (-0.411, 0.205)
"""Gasteiger charges of water: oxygen, each hydrogen."""

REACH = 3.5
"""Angstrom; a water's hydrogens point to acceptors this near."""


class Template(NamedTuple):
    """An atom of an amino acid within a peptide."""

    kind: Ad4Type
    charge: float
    hydrogens: int
    """Polar ones."""
    hydrogen_charge: float
    flat: bool


@dataclass(frozen=True)
class Heavy:
    """Heavy atoms of the receptor."""

    xyz: np.ndarray
    """(atoms, 3), Angstrom, float64."""
    symbol: Sequence[str]
    name: Sequence[str]
    residue: np.ndarray
    """Number of each atom's residue."""
    residue_name: Sequence[str]
    """Of each atom."""
    role: Sequence[Interaction]
    """X-Score's classes."""
    bonded: Sequence[Sequence[int]]
    """Covalent neighbours, in numbers of these atoms."""
    free: frozenset[int] = frozenset()
    """Numbers of residues that are amino acids outside the chains."""


@dataclass(frozen=True)
class Charged:
    """A receptor with charges, and how its hydrogens came about."""

    receptor: Ad4Receptor
    given: np.ndarray
    """Numbers of the given hydrogens that are used."""
    built: np.ndarray
    """Number of the residue of each other hydrogen (hydrogens,)."""
    states: list[tuple[int, str]]
    """Residues, by number, whose state is worth a word, and that word."""
    roles: dict[int, Interaction]
    """What the ring nitrogens of histidines do in hydrogen bonds, and the ends of acids with a
    hydrogen and of neutral lysines, by number of the atom."""
    cofactors: set[int]
    """Numbers of the residues whose SMILES is known."""
    amines: set[int]
    """Numbers of the residues whose backbone nitrogen is an amine, charged or not."""
    acids: set[int]
    """Numbers of the residues that end a chain as an acid with its hydrogen."""
    added: int = 0
    """How many used hydrogens are no atoms of the structure file, and so not among `given`."""


def charge(
    heavy: Heavy,
    hydrogens: np.ndarray,
    smiles: Mapping[str, str] | None = None,
    perceived: Mapping[int, Template] | None = None,
    complete: Set[int] = frozenset(),
) -> Charged:
    """Type and charge the heavy atoms, and add their polar hydrogens.

    `hydrogens` are the positions (n, 3) of those that are known, which may be none; `smiles` are
    cofactors by residue name, beside those of the table; `perceived` are atoms, by number, of
    groups without a SMILES; `complete` are numbers of residues all of whose hydrogens are known,
    so that a tyrosine without its own is a phenolate. A file may leave out some, as those of
    hydroxyls, which turn.
    """
    given = _given_hydrogens(heavy, hydrogens)
    amines = _amines(heavy, given)
    told = complete | _told(heavy, hydrogens, given)
    templates, states, found = _templates(heavy, given, amines, smiles or {}, perceived or {}, told)
    trusted = {int(heavy.residue[i]) for i in given}
    roles = {
        i: role for i, each in enumerate(templates) if (role := _role(heavy, i, each)) is not None
    }
    acceptors = np.array([roles.get(i, kind) in TAKES for i, kind in enumerate(heavy.role)])
    xyz, kinds, charges = [heavy.xyz], [t.kind for t in templates], [t.charge for t in templates]
    built: list[int] = []
    for i, template in enumerate(templates):
        residue = int(heavy.residue[i])
        is_left_out = residue not in complete and i not in given
        if residue in trusted and not is_left_out:
            places = hydrogens[given.get(i, [])]
        else:
            places = _built(i, template, heavy, acceptors)
            built += [residue] * len(places)
        xyz.append(places)
        kinds += [Ad4Type.HD] * len(places)
        charges += [template.hydrogen_charge] * len(places)
    return Charged(
        charged_receptor(np.concatenate(xyz), np.array(kinds), np.array(charges)),
        np.array(sorted(one for some in given.values() for one in some), np.int64),
        np.array(built, np.int64),
        states,
        roles,
        found,
        set(amines),
        _acids(heavy, given),
    )


def _role(heavy: Heavy, i: int, template: Template) -> Interaction | None:
    """What an atom does in hydrogen bonds, where its residue's state decides."""
    if is_ring_nitrogen(heavy, i):
        takes = Interaction.ACCEPTOR if template.kind == Ad4Type.NA else Interaction.POLAR
        return Interaction.DONOR if template.hydrogens else takes
    place = _residue(i, heavy), heavy.name[i]
    is_amine = place == ("LYS", "NZ") and template.kind == Ad4Type.NA
    is_hydroxyl = place in CARBOXYLATES and template.hydrogens > 0
    return Interaction.DONOR_ACCEPTOR if is_amine or is_hydroxyl else None


def _residue(i: int, heavy: Heavy) -> str:
    """The amino acid of an atom, whatever its state is called; of others the residue's name."""
    name = OTHER_NAMES.get(heavy.residue_name[i], heavy.residue_name[i])
    return SAME_AS.get(name, name)


def _is_amino_acid(i: int, heavy: Heavy) -> bool:
    """Whether an atom is one of a standard amino acid."""
    return _residue(i, heavy) in LETTER


def is_ring_nitrogen(heavy: Heavy, i: int) -> bool:
    """Whether an atom is one of the two nitrogens in the ring of a histidine."""
    return heavy.name[i] in RING_NITROGENS and _residue(i, heavy) == "HIS"


def _metal(symbol: str, residue: str) -> tuple[Ad4Type, int]:
    """AutoDock4's type and the charge of a metal."""
    kind, valence = METAL.get(symbol, (Ad4Type.ZN, 2))
    return kind, IONS.get(residue.upper(), valence)


def metal_type(symbol: str, residue: str) -> str:
    """How the scoring functions see a metal or a halide ion, in words."""
    if symbol in HALIDES:
        return "a halide ion for X-Score and Vina; AutoDock4 charge -1"
    kind, valence = _metal(symbol, residue)
    own = kind.name == symbol
    stand_in = f"type {kind.name}" if own else f"has no {symbol}, takes {kind.name}"
    return f"a metal for X-Score and Vina; AutoDock4 {stand_in}, charge {valence:+d}"


def reach(symbol: str) -> float:
    """How far (Angstrom) a polar hydrogen may be from its atom."""
    return BOUND + 0.1 * (symbol == "S")


def _given_hydrogens(heavy: Heavy, hydrogens: np.ndarray) -> dict[int, list[int]]:
    """Numbers of the polar hydrogens by the atom that they belong to."""
    found: dict[int, list[int]] = {}
    polar = np.array([symbol in ("N", "O", "S") for symbol in heavy.symbol], bool)
    # PDB2PQR takes the sulfurs of a long disulfide for thiols.
    polar &= [not _is_bridge(i, heavy) for i in range(len(polar))]
    donors = np.flatnonzero(polar)
    for number, place in enumerate(hydrogens if len(donors) else ()):
        distance = np.linalg.norm(heavy.xyz - place, axis=1)
        nearest = int(distance.argmin())
        if polar[nearest] and distance[nearest] < reach(heavy.symbol[nearest]):
            found.setdefault(nearest, []).append(number)
    return found


def _told(heavy: Heavy, hydrogens: np.ndarray, given: Mapping[int, list[int]]) -> set[int]:
    """Cysteines, by number of the residue, that are no thiols where their sulfur has no hydrogen.

    X-PLOR and AutoDock's tools write polar hydrogens without those of thiols: a thiolate has others
    on its carbon, or is in a file with thiols.
    """
    mine = [i for i in range(len(heavy.name)) if _residue(i, heavy) == "CYS"]
    if any(heavy.name[i] == "SG" and i in given for i in mine):
        return {int(heavy.residue[i]) for i in mine}
    beside = [i for i in mine if heavy.name[i] == "CB" and len(hydrogens)]
    apart = {i: np.linalg.norm(hydrogens - heavy.xyz[i], axis=1).min() for i in beside}
    return {int(heavy.residue[i]) for i in beside if apart[i] < BOUND}


def _is_bridge(i: int, heavy: Heavy) -> bool:
    """Whether an atom is a sulfur that is bound to another one."""
    return heavy.symbol[i] == "S" and any(heavy.symbol[other] == "S" for other in heavy.bonded[i])


def _amines(heavy: Heavy, given: dict[int, list[int]]) -> dict[int, int]:
    """Residues, by number, whose backbone nitrogen is an amine, and its charge.

    By its hydrogens, or where an amino acid is no part of a chain.
    """
    found, binding = {}, _binding(heavy)
    for i, name in enumerate(heavy.name):
        residue = int(heavy.residue[i])
        near = heavy.bonded[i]
        if name != "N" or any(heavy.residue[other] != residue for other in near):
            continue
        bonds = len(near) + len(given.get(i, ()))
        if i in given and bonds in (AMINE, AMMONIUM):
            found[residue] = bonds - AMINE
        elif i not in given and residue in heavy.free:
            found[residue] = int(i not in binding)
    return found


def _acids(heavy: Heavy, given: dict[int, list[int]]) -> set[int]:
    """Residues, by number, whose carboxylate at the end of a chain has a hydrogen."""
    names = [atom_name(heavy.residue_name[i], name) for i, name in enumerate(heavy.name)]
    ends = {
        int(heavy.residue[i])
        for i, name in enumerate(names)
        if name == "OXT" and _is_amino_acid(i, heavy)
    }
    return ends & {int(heavy.residue[i]) for i in given if names[i] in CARBOXYL}


def _templates(
    heavy: Heavy,
    given: dict[int, list[int]],
    amines: Mapping[int, int],
    smiles: Mapping[str, str],
    perceived: Mapping[int, Template],
    complete: Set[int],
) -> tuple[list[Template], list[tuple[int, str]], set[int]]:
    """What every heavy atom is, the states worth a word, and residues whose SMILES is known."""
    atoms: dict[int, dict[str, int]] = {}
    members: dict[int, list[int]] = {}
    for i, name in enumerate(heavy.name):
        atoms.setdefault(int(heavy.residue[i]), {})[atom_name(heavy.residue_name[i], name)] = i
        members.setdefault(int(heavy.residue[i]), []).append(i)
    result: list[Template | None] = [None] * len(heavy.name)
    states, found = [], set()
    backbones: dict[int, dict[str, int]] = {}
    binding, acids = _binding(heavy), _acids(heavy, given)
    # A ligand is in the place of a hydrogen.
    taken = {*given, *(i for i in range(len(heavy.name)) if _ties(i, heavy))}
    for residue, numbers in atoms.items():
        some = next(iter(numbers.values()))
        if heavy.residue_name[some] in WATERS:
            result[some] = Template(Ad4Type.OA, WATER[0], 2, WATER[1], False)
            continue
        state, why = _state(
            heavy.residue_name[some], numbers, heavy, given, binding, residue in complete
        )
        if why:
            called = "ARN" if state in IMINES else state
            states.append((residue, f"state {called}: {why}"))
        is_acid = residue in acids
        last = "acid" if is_acid else "carboxylate" if "OXT" in numbers else ""
        by_name = amino_acid(state, last, amines.get(residue)) if state else {}
        for one, two in (ACIDS.get(state, ("", "")), CARBOXYL if is_acid else ("", "")):
            if numbers.get(one) in taken and numbers.get(two) not in taken:
                by_name = by_name | {one: by_name[two], two: by_name[one]}
        for name, i in numbers.items():
            template = by_name.get(name)
            # N and C are those of the chain; elsewhere a ligand is in the place of a hydrogen.
            bound = len(_ties(i, heavy))
            is_done = name in ("N", "C") or (name == "NZ" and state in PARTNER)
            tied = template and bound and not is_done
            result[i] = _without_hydrogens(template, bound) if template and tied else template
        if state:
            states += [(residue, words) for words in _unlike(numbers, result, given)]
            continue
        if _is_in_chain(numbers, heavy):
            backbones[residue] = numbers
        mine = members[residue]  # in a cofactor two atoms may have one name
        row = {i: place for place, i in enumerate(mine)}
        around = [[row[other] for other in heavy.bonded[i] if other in row] for i in mine]
        symbols = [heavy.symbol[i] for i in mine]
        ties = {row[i]: heavy.symbol[other] for i in mine for other in _ties(i, heavy)[:1]}
        held = [len(given.get(i, ())) for i in mine]
        held = held if any(held) else []
        known = cofactor(heavy.residue_name[mine[0]], symbols, around, ties, smiles, held)
        for place, template in known.items():
            result[mine[place]] = template
            found.add(residue)
    pyrroles = _pyrroles(heavy, members)
    anions = dict.fromkeys(_oxides(heavy, members), OXIDE) | dict.fromkeys(pyrroles, PYRROLE)
    anions |= dict.fromkeys(_ends_of_acids(heavy, members, pyrroles), END_OF_ACID)
    result = [each or perceived.get(i) for i, each in enumerate(result)]
    alanine = amino_acid("ALA")
    for numbers in backbones.values():
        if not any(result[i] for i in numbers.values()):
            for name in BACKBONE:
                is_tertiary = name == "N" and len(heavy.bonded[numbers[name]]) > 2
                template = alanine[name]
                result[numbers[name]] = _without_hydrogens(template) if is_tertiary else template
    for i, each in enumerate(result):
        if each and each.hydrogens and heavy.symbol[i] == "S" and i in binding and i not in given:
            result[i] = _thiolate(each)
    every = [each or _by_element(i, heavy, binding, anions) for i, each in enumerate(result)]
    return every, states, found


def _unlike(
    atoms: Mapping[str, int], templates: Sequence[Template | None], given: dict[int, list[int]]
) -> list[str]:
    """Atoms of an amino acid whose hydrogens in the file are not as many as in its state."""
    return [
        f"{name}'s polar hydrogens are {len(given[i])} in the file, {template.hydrogens} in the "
        "state that AutoDock4 takes it for; correct the file, or take propka's hydrogens"
        for name, i in atoms.items()
        for template in (templates[i],)
        if i in given and template and template.hydrogens != len(given[i])
    ]


def cofactor(
    residue: str,
    symbols: Sequence[str],
    bonded: Sequence[Sequence[int]],
    ties: Mapping[int, str],
    smiles: Mapping[str, str],
    hydrogens: Sequence[int] = (),
) -> dict[int, Template]:
    """What the atoms of a residue are by its SMILES; nothing where none is known, or another one.

    `bonded` are the neighbours within the residue, `ties` the element of that in another one, by
    atom; `smiles` are those of the config, by name. `hydrogens` are those of a file on each atom,
    of which only polar ones count; none where the file has no polar one.
    """
    name = residue.upper().removesuffix(OTHER)
    text = smiles.get(name) or cofactors.known().get(name, "")
    match = cofactors.placed(text, symbols, bonded) if text else None
    if not match:
        return {}
    # The hydroxyl of a nucleotide's SMILES is the ester of the next one's phosphate, that of a
    # sugar's the ether of the next one, and the thiol of a coenzyme may be a thioester.
    more = [i for i in match if i in ties]
    esters = {(match[i], symbols[i], ties[i]) for i in more if symbols[i] in ("O", "S")}
    for place in more:
        if symbols[place] in ("C", "P"):
            match, spare = _left_out(text, match, match[place])
            other = "O" if symbols[place] == "P" else ties[place]
            esters |= {(own, other, "C") for own in spare}
    # A nucleotide that begins a chain mostly has a hydroxyl in the place of its phosphate.
    ends = frozenset(
        (match[i], atom.GetIdx())
        for i in match
        if symbols[i] == "O" and i not in ties
        for atom in cofactors.molecule(text).GetAtomWithIdx(match[i]).GetNeighbors()
        if atom.GetSymbol() == "P" and atom.GetIdx() not in match.values()
    )
    given = frozenset((match[i], count) for i, count in enumerate(hydrogens) if i in match)
    known = _of_smiles(text, frozenset(esters), ends, given)
    return {place: known[own] for place, own in match.items()}


def as_given(mol: Chem.Mol, hydrogens: Mapping[int, int]) -> Chem.Mol:
    """The same molecule with the polar hydrogens of a file, by number of their heavy atom.

    Nitrogens may be another tautomer, take hydrogens, and lose those of a charge; oxygens and
    sulfurs with a charge may take one. Others may be left out in the file. The molecule itself
    where nothing differs, or where that makes no molecule.
    """
    wanted = Chem.RWMol(mol)
    for i, count in hydrogens.items():
        if count and wanted.GetAtomWithIdx(i).GetSymbol() == "O":
            _exchange(wanted, i, hydrogens)
    moved: dict[int, int] = {}
    charged: dict[int, int] = {}
    for i, count in hydrogens.items():
        atom = wanted.GetAtomWithIdx(i)
        more, formal = count - atom.GetTotalNumHs(), atom.GetFormalCharge()
        is_nitrogen = atom.GetSymbol() == "N"
        if more and is_nitrogen:
            moved[i] = more
        if (more > 0 and (is_nitrogen or formal < 0)) or (more < 0 < formal and is_nitrogen):
            charged[i] = more
    if moved and not sum(moved.values()):
        others = {i: more for i, more in charged.items() if i not in moved}
        tautomer = _with_hydrogens(wanted, moved, others)
        if tautomer:
            return tautomer
    return (_with_hydrogens(wanted, {}, charged) if charged else None) or mol


def _with_hydrogens(
    mol: Chem.Mol, moved: Mapping[int, int], charged: Mapping[int, int]
) -> Chem.Mol | None:
    """With more hydrogens on atoms, some with a charge each; None where that is no molecule."""
    changed = Chem.RWMol(mol)
    for i, count in {**moved, **charged}.items():
        atom = changed.GetAtomWithIdx(i)
        atom.SetNumExplicitHs(atom.GetTotalNumHs() + count)
        atom.SetFormalCharge(atom.GetFormalCharge() + charged.get(i, 0))
        atom.SetNoImplicit(True)
    with rdBase.BlockLogs():
        try:
            Chem.SanitizeMol(changed)
        except ValueError:
            return None
    return changed.GetMol()


def _exchange(mol: Chem.RWMol, oxo: int, hydrogens: Mapping[int, int]) -> None:
    """Let an oxo change places with a charged oxygen beside it that has no hydrogen, in place."""
    atom = mol.GetAtomWithIdx(oxo)
    bonds = atom.GetBonds()
    if len(bonds) != 1 or bonds[0].GetBondType() != Chem.BondType.DOUBLE:
        return
    middle = bonds[0].GetOtherAtom(atom)
    for other in middle.GetNeighbors():
        i = other.GetIdx()
        if other.GetSymbol() == "O" and other.GetFormalCharge() < 0 and not hydrogens.get(i):
            mol.GetBondBetweenAtoms(middle.GetIdx(), i).SetBondType(Chem.BondType.DOUBLE)
            bonds[0].SetBondType(Chem.BondType.SINGLE)
            other.SetFormalCharge(0)
            atom.SetFormalCharge(-1)
            return


def _left_out(smiles: str, match: dict[int, int], middle: int) -> tuple[dict[int, int], set[int]]:
    """The atom of the SMILES in whose place another residue is bound to a carbon or phosphorus.

    Of a phosphate or carboxylate it is one of the oxygens with a charge; where they are all taken,
    one changes places with the oxo. Of a sugar it is its hydroxyl, of an aldehyde its oxo.
    """
    near = cofactors.molecule(smiles).GetAtomWithIdx(middle).GetNeighbors()
    charged = [atom.GetIdx() for atom in near if atom.GetFormalCharge() < 0]
    ends = [atom for atom in near if atom.GetSymbol() in ("N", "O", "S")]
    ends = [atom for atom in ends if sum(n.GetAtomicNum() > 1 for n in atom.GetNeighbors()) == 1]
    left = [atom.GetIdx() for atom in ends if atom.GetIdx() not in match.values()]
    if not left:
        return match, set()
    if left[0] in charged or not charged:
        return match, {left[0]}
    return {i: left[0] if own == charged[0] else own for i, own in match.items()}, {charged[0]}


@cache
def _of_smiles(
    smiles: str,
    esters: frozenset[tuple[int, str, str]],
    ends: frozenset[tuple[int, int]],
    hydrogens: frozenset[tuple[int, int]],
) -> list[Template]:
    """What each heavy atom of a cofactor is, in the order of its SMILES.

    `esters` are atoms with another group in the place of their hydrogen or charge, their elements
    there, and that of the group's first atom: it is methyl, or the diester that a nucleotide's
    phosphate is. An oxo that is nitrogen there is that of a protonated imine. `ends` are bonds that
    give way to a hydrogen on their first atom; `hydrogens` are those of a file.
    """
    mol = Chem.RWMol(Chem.MolFromSmiles(smiles))
    for end, other in sorted(ends):
        mol.RemoveBond(end, other)
        mol.GetAtomWithIdx(end).SetNoImplicit(False)
    for ester, symbol, partner in sorted(esters):
        atom = mol.GetAtomWithIdx(ester)
        is_oxo = any(bond.GetBondType() == Chem.BondType.DOUBLE for bond in atom.GetBonds())
        if is_oxo and symbol != "N":
            continue
        atom.SetAtomicNum(Chem.GetPeriodicTable().GetAtomicNumber(symbol.capitalize()))
        atom.SetFormalCharge(int(is_oxo))
        atom.SetNumExplicitHs(0)
        atom.SetNoImplicit(False)
        first = mol.GetNumAtoms()
        mol.InsertMol(Chem.MolFromSmiles("P(=O)([O-])OC" if partner == "P" else "C"))
        mol.AddBond(ester, first, Chem.BondType.SINGLE)
    with rdBase.BlockLogs():
        try:
            Chem.SanitizeMol(mol)
        except ValueError:  # no room for the bond, which may be a clash
            mol = Chem.RWMol(Chem.MolFromSmiles(smiles))
    return of_molecule(Chem.AddHs(as_given(mol.GetMol(), dict(hydrogens))))


def of_molecule(mol: Chem.Mol) -> list[Template]:
    """What each heavy atom of a molecule with explicit hydrogens is, in its order.

    An element that AutoDock4 lacks takes the type of one that it has, as without a molecule.
    """
    types, charges = ligand_types(Graph.of(mol), gasteiger(mol))
    for atom in mol.GetAtoms():
        if types[atom.GetIdx()] == Ad4Type.NONE:
            types[atom.GetIdx()] = ORGANIC.get(atom.GetSymbol().upper(), Ad4Type.NONE)
    heavy = (atom for atom in mol.GetAtoms() if atom.GetAtomicNum() > 1)
    return [_template(atom, types, charges, "") for atom in heavy]


def _ties(i: int, heavy: Heavy) -> list[int]:
    """The atoms of other residues that an atom is bound to."""
    return [other for other in heavy.bonded[i] if heavy.residue[other] != heavy.residue[i]]


def _binding(heavy: Heavy) -> set[int]:
    """Nitrogens and sulfurs that bind a metal."""
    symbol = np.array(heavy.symbol, object)
    metals = np.flatnonzero([one in METALS for one in symbol])
    polar = np.flatnonzero([one in ("N", "S") for one in symbol])
    if not len(metals) or not len(polar):
        return set()
    distance = np.linalg.norm(heavy.xyz[polar][:, None] - heavy.xyz[metals], axis=2).min(axis=1)
    return set(polar[distance < COORDINATES].tolist())


def _is_in_chain(atoms: Mapping[str, int], heavy: Heavy) -> bool:
    """Whether a residue, by its atoms' names, has an amino acid's backbone with a link."""
    if any(name not in atoms or heavy.symbol[atoms[name]] != BACKBONE[name] for name in BACKBONE):
        return False
    before, after = ([heavy.name[j] for j in _ties(atoms[name], heavy)] for name in ("N", "C"))
    return "C" in before or "N" in after


def _binds_oxygen(i: int, heavy: Heavy) -> bool:
    """Whether a metal, but for alkali and earth alkali metals, is at an oxygen."""
    near = np.flatnonzero(np.linalg.norm(heavy.xyz - heavy.xyz[i], axis=1) < TAKES_PROTON)
    return any(heavy.symbol[other] in METALS - WEAK_ACIDS for other in near.tolist())


def _oxides(heavy: Heavy, members: Mapping[int, Sequence[int]]) -> set[int]:
    """Oxygens of the anions of metals, such as vanadate."""
    found: set[int] = set()
    for numbers in members.values():
        symbols = [heavy.symbol[i] for i in numbers]
        oxygens = [i for i in numbers if heavy.symbol[i] == "O" and not heavy.bonded[i]]
        is_anion = len(oxygens) == len(numbers) - 1 and not METALS.isdisjoint(symbols)
        found |= set(oxygens) if is_anion and len(oxygens) >= FEWEST_OXIDES else set()
    return found


def _pyrroles(heavy: Heavy, members: Mapping[int, Sequence[int]]) -> set[int]:
    """Nitrogens of tetrapyrroles with a metal: each is bound to two carbons with three bonds."""
    found: set[int] = set()
    for numbers in members.values():
        rings = [
            i
            for i in numbers
            if heavy.symbol[i] == "N"
            and len(heavy.bonded[i]) == 2
            and all(len(heavy.bonded[other]) > 2 for other in heavy.bonded[i])
        ]
        metals = [i for i in numbers if heavy.symbol[i] in METALS]
        if len(rings) < FEWEST_PYRROLES or not metals:
            continue
        for metal in metals:
            far = np.linalg.norm(heavy.xyz[rings] - heavy.xyz[metal], axis=1)
            near = [i for i, distance in zip(rings, far, strict=True) if distance < COORDINATES]
            found |= set(near) if len(near) == FEWEST_PYRROLES else set()
    return found


def _ends_of_acids(
    heavy: Heavy, members: Mapping[int, Sequence[int]], pyrroles: Set[int]
) -> set[int]:
    """Oxygens of the carboxylates of tetrapyrroles with a metal."""
    found: set[int] = set()
    for numbers in members.values():
        for i in [] if pyrroles.isdisjoint(numbers) else numbers:
            near = heavy.bonded[i] if heavy.symbol[i] == "C" else ()
            ends = [o for o in near if heavy.symbol[o] == "O" and len(heavy.bonded[o]) == 1]
            found |= set(ends) if len(ends) == 2 else set()
    return found


def _state(
    residue: str,
    atoms: dict[str, int],
    heavy: Heavy,
    given: dict[int, list[int]],
    binding: set[int],
    complete: bool,
) -> tuple[str, str]:
    """Name of a residue's protonation state, empty where there is no template, and a reason.

    Only what is not standard has a reason, and every histidine.
    """
    name = OTHER_NAMES.get(residue, residue)
    plain = SAME_AS.get(name, name)
    if plain not in LETTER:
        return "", ""
    if plain == "HIS":
        return _histidine(name, atoms, heavy, given, binding)
    acid = {"ASP": "ASH", "GLU": "GLH"}.get(plain, "")
    oxygens = [atoms[atom] for atom in ACIDS.get(acid, ()) if atom in atoms]
    amide, carbon = {"ASP": ("ASN", "CG"), "GLU": ("GLN", "CD")}.get(plain, ("", ""))
    if carbon in atoms and _ties(atoms[carbon], heavy):
        return amide, "an amide of what is bound to it"
    if any(i in given for i in oxygens):
        return acid, "by its hydrogens"
    if any(_ties(i, heavy) for i in oxygens):
        return acid, "an ester of what is bound to it"
    if plain == "LYS":
        bond = _of_lysine(atoms.get("NZ", -1), heavy)
        if bond:
            return bond, "by what is bound to NZ"
    sulfur = atoms.get("SG")
    if plain == "CYS" and sulfur is not None:
        if _is_bridge(sulfur, heavy):
            return "CYX", ""
        if sulfur in binding and sulfur not in given:
            return "CYM", "its sulfur binds a metal"
        is_bare = sulfur not in given and len(heavy.bonded[sulfur]) < 2
        if name == "CYS" and atoms.get("N") in given and is_bare and complete:
            return "CYM", "by its hydrogens"
    if plain == "LYS" and atoms.get("NZ") in binding - given.keys():
        return "LYN", "NZ binds a metal"
    if plain == "LYS" and len(given.get(atoms.get("NZ", -1), ())) == 2:
        return "LYN", "by its hydrogens"
    if plain == "ARG":
        return _arginine(name, atoms, heavy, given)
    phenol = atoms.get("OH", -1)
    if plain == "TYR" and phenol not in (-1, *given) and _binds_oxygen(phenol, heavy):
        return "TYM", "its oxygen binds a metal"
    if plain == "TYR" and complete and atoms.get("N") in given and phenol not in (-1, *given):
        return "TYM", "by its hydrogens"
    return (name, "by its name") if name in STATES and name not in LETTER else (plain, "")


def _arginine(
    name: str, atoms: dict[str, int], heavy: Heavy, given: dict[int, list[int]]
) -> tuple[str, str]:
    """The state of an arginine; the neutral one of GROMACS has its imine at NH1."""
    ends = [atoms.get(nitrogen, -1) for nitrogen in IMINES.values()]
    count = tuple(len(given.get(i, ())) + (len(_ties(i, heavy)) if i >= 0 else 0) for i in ends)
    if count in ARGININES:
        return ARGININES[count], "by its hydrogens"
    if name == "ARN":
        return ("ARG", "by its hydrogens") if sum(count) == 5 else ("ARN1", "by its name")
    return "ARG", ""


def _of_lysine(i: int, heavy: Heavy) -> str:
    """The state of a lysine whose nitrogen is bound to another residue; else empty."""
    ties = _ties(i, heavy) if i >= 0 else []
    if len(ties) != 1:
        return ""
    (other,) = ties
    if heavy.symbol[other] == "O":
        return "LYN"  # a hydroxylamine, which is far less basic than an amine
    beyond = [j for j in heavy.bonded[other] if heavy.symbol[j] == "O"]
    is_acyl = any(_apart(j, other, heavy) < CARBONYL for j in beyond)
    if is_acyl or heavy.symbol[other] in ("S", "P"):
        return "amide"
    return "imine" if _apart(i, other, heavy) < IMINE else "ammonium"


def _apart(i: int, j: int, heavy: Heavy) -> float:
    """Distance of two atoms, Angstrom."""
    return float(np.linalg.norm(heavy.xyz[i] - heavy.xyz[j]))


def _histidine(
    name: str,
    atoms: dict[str, int],
    heavy: Heavy,
    given: dict[int, list[int]],
    binding: set[int],
) -> tuple[str, str]:
    first, second = atoms.get("ND1", -1), atoms.get("NE2", -1)
    ties = [i >= 0 and bool(_ties(i, heavy)) for i in (first, second)]
    by_hydrogens = HISTIDINES.get((first in given or ties[0], second in given or ties[1]))
    if by_hydrogens:
        return by_hydrogens, "by what is bound to it" if any(ties) else "by its hydrogens"
    if second in binding:
        return "HID", "NE2 binds a metal"
    if first in binding:
        return "HIE", "ND1 binds a metal"
    if name != "HIS":
        return name, "by its name"
    if first < 0 or second < 0:
        return "HIE", "by default; its ring is incomplete"
    wanted = [_wants_hydrogen(i, heavy) for i in (first, second)]
    if min(wanted) >= CARBOXYLATE:
        return "HIP", "both its nitrogens face a carboxylate"
    if wanted[0] != wanted[1]:
        state = "HID" if wanted[0] > wanted[1] else "HIE"
        return state, "by the hydrogen bonds around it"
    return "HIE", "by default; no hydrogen bond around it decides"


def _wants_hydrogen(i: int, heavy: Heavy) -> float:
    """How much the surroundings of a ring nitrogen favour a hydrogen on it.

    A carboxylate in front of it counts CARBOXYLATE, another acceptor 1, a donor -1; the strongest
    of each kind counts. What gives and takes favours neither.
    """
    if not heavy.bonded[i]:
        return 0.0
    here = heavy.xyz[i]
    outward = _unit(-np.sum([_unit(heavy.xyz[other] - here) for other in heavy.bonded[i]], axis=0))
    away = heavy.xyz - here
    distance = np.linalg.norm(away, axis=1)
    in_front = away @ outward > distance * np.cos(FRONT)
    near = (distance < REACH) & in_front & (heavy.residue != heavy.residue[i])
    rows = np.flatnonzero(near).tolist()
    gives = any(heavy.role[j] == Interaction.DONOR for j in rows)
    takes = [j for j in rows if heavy.role[j] == Interaction.ACCEPTOR]
    acid = any((heavy.residue_name[j], heavy.name[j]) in CARBOXYLATES for j in takes)
    return (CARBOXYLATE if acid else float(bool(takes))) - gives


@cache
def amino_acid(state: str, last: str = "", amine: int | None = None) -> dict[str, Template]:
    """Atom name -> what it is, of an amino acid between two alanines, or at an end.

    Args:
        state: name of the residue or of its protonation state.
        last: "carboxylate" or "acid" at the end of a chain.
        amine: charge of its amine at the start of a chain; None: as within one, since most that
            look like a first residue stand behind a gap.
    """
    name = SAME_AS.get(state, BASE.get(state, state))
    before, after = "A" if amine is None else "", "" if last else "A"
    number = len(before) + 1
    mol = Chem.RWMol(Chem.MolFromSequence(f"{before}{LETTER[name]}{after}"))
    edits = STATES.get(state, {}) | ({"OXT": (-1, 0)} if last == "carboxylate" else {})
    if amine:
        edits = edits | {"N": (1, 2 if name == "PRO" else 3)}
    rows = {}
    for atom in mol.GetAtoms():
        info = atom.GetPDBResidueInfo()
        own = info.GetName().strip() if info.GetResidueNumber() == number else ""
        rows[own] = atom.GetIdx()
        edit = edits.get(own)
        if edit:
            atom.SetFormalCharge(edit[0])
            atom.SetNumExplicitHs(edit[1])
            atom.SetNoImplicit(True)
    if state in PARTNER:
        partner, order = PARTNER[state]
        first = mol.GetNumAtoms()
        mol = Chem.RWMol(Chem.CombineMols(mol, Chem.MolFromSmiles(partner)))
        mol.AddBond(rows["NZ"], first, order)
        for i in range(first, mol.GetNumAtoms()):
            mol.GetAtomWithIdx(i).SetMonomerInfo(Chem.AtomPDBResidueInfo())
    for other in IMINES.values() if state in IMINES else ():
        is_imine = other == IMINES[state]
        order = Chem.BondType.DOUBLE if is_imine else Chem.BondType.SINGLE
        mol.GetBondBetweenAtoms(rows["CZ"], rows[other]).SetBondType(order)
    whole = mol.GetMol()
    Chem.SanitizeMol(whole)
    whole = Chem.AddHs(whole)
    types, charges = ligand_types(Graph.of(whole), gasteiger(whole))
    names = RDKIT_NAMES.get(name, {})
    return {
        names.get(own, own): _template(atom, types, charges, state)
        for atom in whole.GetAtoms()
        if atom.GetAtomicNum() > 1 and atom.GetPDBResidueInfo().GetResidueNumber() == number
        for own in (atom.GetPDBResidueInfo().GetName().strip(),)
    }


def _template(atom: Chem.Atom, types: np.ndarray, charges: np.ndarray, state: str) -> Template:
    polar = [other.GetIdx() for other in atom.GetNeighbors() if types[other.GetIdx()] == Ad4Type.HD]
    kind, charged = Ad4Type(types[atom.GetIdx()]), float(charges[atom.GetIdx()])
    flat = atom.GetHybridization() == Chem.HybridizationType.SP2
    mean = float(charges[polar].mean()) if polar else 0.0
    template = Template(kind, charged, len(polar), mean, flat)
    is_bridge = state == "CYX" and kind in (Ad4Type.S, Ad4Type.SA)
    return _without_hydrogens(template) if is_bridge else template


def _without_hydrogens(template: Template, most: int = 4) -> Template:
    """The same atom with other bonds in the place of hydrogens, whose charge it takes."""
    lost = min(most, template.hydrogens)
    charged, left = template.charge + lost * template.hydrogen_charge, template.hydrogens - lost
    return template._replace(
        charge=charged, hydrogens=left, hydrogen_charge=template.hydrogen_charge if left else 0.0
    )


def _thiolate(thiol: Template) -> Template:
    """The sulfur of a cofactor without its hydrogen, as that of a cysteine that binds a metal."""
    bare = _without_hydrogens(thiol)
    return bare._replace(charge=bare.charge - 1)


def _by_element(i: int, heavy: Heavy, binding: Set[int], anions: Mapping[int, float]) -> Template:
    """An atom without a template: of a cofactor, nucleotide or modified side chain, or an ion.

    `anions` are charges by number of the atom, where geometry decides on them.
    """
    symbol, role = heavy.symbol[i], heavy.role[i]
    if symbol in ORGANIC:
        accepts = role in (Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR)
        kind = Ad4Type.NA if symbol == "N" and accepts else ORGANIC[symbol]
        is_ion = symbol in HALIDES and not heavy.bonded[i]
        is_sulfide = symbol == "S" and i in binding and not heavy.bonded[i]
        charge_of = -1.0 if is_ion else SULFIDE if is_sulfide else anions.get(i, 0.0)
        return Template(kind, charge_of, 0, 0.0, False)
    kind, valence = _metal(symbol, heavy.residue_name[i])
    # What is neither, as xenon, takes a metal's size alone: AutoDock4 has nothing nearer.
    return Template(kind, float(valence * (symbol in METALS)), 0, 0.0, False)


def _built(i: int, template: Template, heavy: Heavy, acceptors: np.ndarray) -> np.ndarray:
    """Positions (hydrogens, 3) of an atom's polar hydrogens from those of its neighbours."""
    count, near = template.hydrogens, list(heavy.bonded[i])
    if heavy.residue_name[i] in WATERS:
        return _water(i, heavy, acceptors)
    if not count or not near:
        return np.empty((0, 3))
    length, here = BOND_LENGTH[template.kind], heavy.xyz[i]
    towards = [_unit(heavy.xyz[other] - here) for other in near]
    if len(near) > 1:
        outward = _unit(-np.sum(towards, axis=0))
        if count == 1 or len(near) > 2:
            return here + length * outward[None]
        # A secondary ammonium ion has one on either side of the plane of its bonds.
        aside = _unit(np.cross(towards[0], towards[1])) * np.sin(TETRAHEDRAL / 2)
        return here + length * (np.cos(TETRAHEDRAL / 2) * outward + np.outer([1, -1], aside))
    beyond = [other for other in heavy.bonded[near[0]] if other != i]
    reference = heavy.xyz[beyond[0]] - heavy.xyz[near[0]] if beyond else np.array([0.3, 0.5, 0.8])
    angle = TRIGONAL if template.flat else TETRAHEDRAL
    if template.kind in (Ad4Type.OA, Ad4Type.S, Ad4Type.SA):
        places = _cone(here, towards[0], reference, length, TETRAHEDRAL, HYDROXYL_TURNS)
        return _best_turn(i, places, near, heavy, acceptors)
    if template.flat:
        return _cone(here, towards[0], reference, length, angle, np.radians([0, 180])[:count])
    places = _cone(here, towards[0], reference, length, angle, np.radians([60, 180, 300]))
    room = _to_others(i, places, near, heavy).min(axis=1)
    # The lone pair of an amine is where there is least room, as towards a metal.
    return places[np.sort(np.argsort(-room, kind="stable")[:count])]


def _water(i: int, heavy: Heavy, acceptors: np.ndarray) -> np.ndarray:
    """Hydrogens (2, 3): one towards the nearest acceptor, one on the side of the next."""
    here, length = heavy.xyz[i], BOND_LENGTH[Ad4Type.OA]
    others = np.flatnonzero(acceptors)
    distance = np.linalg.norm(heavy.xyz[others] - here, axis=1)
    order = [j for j in others[np.argsort(distance, kind="stable")].tolist() if j != i]
    near = [j for j in order[:2] if np.linalg.norm(heavy.xyz[j] - here) < REACH]
    towards = [_unit(heavy.xyz[j] - here) for j in near]
    first = towards[0] if towards else np.array([1.0, 0.0, 0.0])
    side = towards[1] if len(towards) > 1 else np.array([0.3, 0.5, 0.8])
    second = _cone(here, first, side, length, TETRAHEDRAL, np.zeros(1))
    return np.concatenate([here + length * first[None], second])


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / max(float(np.linalg.norm(vector)), 1e-6)


def _cone(
    here: np.ndarray,
    towards: np.ndarray,
    reference: np.ndarray,
    length: float,
    angle: float,
    turns: np.ndarray,
) -> np.ndarray:
    """Places at an angle to the only bond, turned about it from the direction of `reference`."""
    first = _unit(reference - (reference @ towards) * towards)
    second = np.cross(towards, first)
    around = np.cos(turns)[:, None] * first + np.sin(turns)[:, None] * second
    places: np.ndarray = here + length * (np.cos(angle) * towards + np.sin(angle) * around)
    return places


def _best_turn(
    i: int, places: np.ndarray, near: list[int], heavy: Heavy, acceptors: np.ndarray
) -> np.ndarray:
    """The place nearest to an acceptor among those least crowded; (1, 3)."""
    distance = _to_others(i, places, near, heavy)
    free = distance.min(axis=1, initial=9.0)
    to_acceptor = np.where(acceptors, distance, 9.0).min(axis=1, initial=9.0)
    crowded = free < min(1.6, free.max())
    best = int(np.argmin(to_acceptor + 100.0 * crowded))
    return places[best : best + 1]


def _to_others(i: int, places: np.ndarray, near: list[int], heavy: Heavy) -> np.ndarray:
    """Distances (places, atoms) of places from the atoms, far from itself and its neighbours."""
    distance: np.ndarray = np.linalg.norm(heavy.xyz[None] - places[:, None], axis=2)
    distance[:, [i, *near]] = 9.0
    return distance
