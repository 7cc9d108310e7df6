"""Protonation states of residues and the ends of chains, and what says so.

Hydrogens of the file decide, and what is bound to a residue; then metals, the residue's name and,
for histidines, the hydrogen bonds around them.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass

import numpy as np

from ligen_py.molecules.elements import METALS
from ligen_py.molecules.receptor.heavy import (
    OTHER_NAMES,
    Heavy,
    binding_metals,
    is_bridge,
    standard_name,
    ties,
)
from ligen_py.molecules.receptor.hydrogens import BOUND, REACH, given_hydrogens, unit
from ligen_py.molecules.receptor.templates import IMINES, LETTER, STATES, Template
from ligen_py.molecules.residues import SAME_AS, atom_name
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.functions.xscore import Interaction

ACIDS = {"ASH": ("OD1", "OD2"), "GLH": ("OE1", "OE2")}
"""Oxygens of protonated acids; the template has the hydrogen on the second."""

CARBONYL, IMINE = 1.33, 1.39
"""Angstrom; the longest C=O of an acyl group, and the longest C=N (C-N of amines: 1.47)."""

AMIDES = {"ASN": ("ND2", "OD1"), "GLN": ("NE2", "OE1")}
"""Nitrogen and oxygen of side chains, which look alike in a crystal."""

CARBOXYL = ("O", "OXT")
"""Oxygens of a chain's end; the template of an acid has the hydrogen on the second."""

AMINE, AMMONIUM = 3, 4
"""Bonds of a backbone nitrogen that begins a chain; within one it has a link, or two bonds."""

HISTIDINES = {(True, False): "HID", (False, True): "HIE", (True, True): "HIP"}
"""State by hydrogens on ND1 and NE2."""

ARGININES = {(0, 2, 2): "ARN", (1, 1, 2): "ARN1", (1, 2, 1): "ARN2"}
"""State by the number of hydrogens on NE, NH1 and NH2; the cation has five."""

RING_NITROGENS = ("ND1", "NE2")

CARBOXYLATES = {("ASP", "OD1"), ("ASP", "OD2"), ("GLU", "OE1"), ("GLU", "OE2")}

CARBOXYLATE = 1.5
"""How much more than any other acceptor a carboxylate counts for a histidine's hydrogen."""

FRONT = np.radians(60.0)
"""From the direction of a ring nitrogen's hydrogen or lone pair to what is in front of it."""

TAKES_PROTON = 2.4
"""Angstrom; a phenol's oxygen this near to a metal has lost its hydrogen to it."""

WEAK_ACIDS = frozenset(("LI", "NA", "K", "RB", "CS", "MG", "CA", "SR", "BA"))
"""Metals that leave a phenol its hydrogen."""


@dataclass(frozen=True)
class Evidence:
    """What says which state a residue is in."""

    heavy: Heavy
    given: dict[int, list[int]]
    """Numbers of the polar hydrogens of the file, by the atom that they belong to."""
    binding: set[int]
    """Nitrogens and sulfurs that bind a metal."""
    amines: dict[int, int]
    """Residues, by number, whose backbone nitrogen is an amine, and its charge."""
    acids: set[int]
    """Residues, by number, whose carboxylate at the end of a chain has a hydrogen."""
    complete: Set[int]
    """Residues, by number, where a hydrogen that is not known is not there."""

    @classmethod
    def of(cls, heavy: Heavy, hydrogens: np.ndarray, complete: Set[int]) -> "Evidence":
        """That of atoms and the hydrogens of a file (n, 3); `complete` as for `charge`."""
        given, binding = given_hydrogens(heavy, hydrogens), binding_metals(heavy)
        amines, acids = _amines(heavy, given, binding), _acids(heavy, given)
        told = complete | _told(heavy, hydrogens, given)
        return cls(heavy, given, binding, amines, acids, told)


def state_of(atoms: Mapping[str, int], seen: Evidence) -> tuple[str, str]:
    """Name of a residue's protonation state, empty where there is no template, and a reason.

    `atoms` are the numbers of its atoms by name. Only what is not standard has a reason, and every
    histidine.
    """
    heavy, given, binding = seen.heavy, seen.given, seen.binding
    some = next(iter(atoms.values()))
    complete = int(heavy.residue[some]) in seen.complete
    residue = heavy.residue_name[some]
    name = OTHER_NAMES.get(residue, residue)
    plain = SAME_AS.get(name, name)
    if plain not in LETTER:
        return "", ""
    if plain == "HIS":
        return _histidine(name, atoms, seen)
    acid = {"ASP": "ASH", "GLU": "GLH"}.get(plain, "")
    oxygens = [atoms[atom] for atom in ACIDS.get(acid, ()) if atom in atoms]
    amide, carbon = {"ASP": ("ASN", "CG"), "GLU": ("GLN", "CD")}.get(plain, ("", ""))
    if carbon in atoms and ties(atoms[carbon], heavy):
        return amide, "an amide of what is bound to it"
    if any(i in given for i in oxygens):
        return acid, "by its hydrogens"
    if any(ties(i, heavy) for i in oxygens):
        return acid, "an ester of what is bound to it"
    if plain == "LYS":
        bond = _of_lysine(atoms.get("NZ", -1), heavy)
        if bond:
            return bond, "by what is bound to NZ"
    sulfur = atoms.get("SG")
    if plain == "CYS" and sulfur is not None:
        if is_bridge(sulfur, heavy):
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
    nitrogen, oxygen = (atoms.get(end, -1) for end in AMIDES.get(plain, ("", "")))
    if (
        nitrogen in binding
        and oxygen >= 0
        and _to_metal(nitrogen, heavy) < _to_metal(oxygen, heavy)
    ):
        return plain, (
            "its nitrogen is nearer to a metal than its oxygen; they are probably exchanged, and a "
            "hydrogen points to the metal: correct the file"
        )
    if plain == "ARG":
        return _arginine(name, atoms, seen)
    phenol = atoms.get("OH", -1)
    if plain == "TYR" and phenol not in (-1, *given) and _binds_oxygen(phenol, heavy):
        return "TYM", "its oxygen binds a metal"
    if plain == "TYR" and complete and atoms.get("N") in given and phenol not in (-1, *given):
        return "TYM", "by its hydrogens"
    return (name, "by its name") if name in STATES and name not in LETTER else (plain, "")


def _arginine(name: str, atoms: Mapping[str, int], seen: Evidence) -> tuple[str, str]:
    """The state of an arginine; the neutral one of GROMACS has its imine at NH1."""
    ends = [atoms.get(nitrogen, -1) for nitrogen in IMINES.values()]
    bound = [len(ties(i, seen.heavy)) if i >= 0 else 0 for i in ends]
    count = tuple(len(seen.given.get(i, ())) + more for i, more in zip(ends, bound, strict=True))
    if count in ARGININES:
        return ARGININES[count], "by its hydrogens"
    if name == "ARN":
        return ("ARG", "by its hydrogens") if sum(count) == 5 else ("ARN1", "by its name")
    return "ARG", ""


def _histidine(name: str, atoms: Mapping[str, int], seen: Evidence) -> tuple[str, str]:
    """The state of a histidine, and the reason."""
    heavy, given, binding = seen.heavy, seen.given, seen.binding
    first, second = atoms.get("ND1", -1), atoms.get("NE2", -1)
    bound = [i >= 0 and bool(ties(i, heavy)) for i in (first, second)]
    by_hydrogens = HISTIDINES.get((first in given or bound[0], second in given or bound[1]))
    if by_hydrogens:
        return by_hydrogens, "by what is bound to it" if any(bound) else "by its hydrogens"
    if {first, second} <= binding:
        return "imidazolate", "both its nitrogens bind metals"
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
    outward = unit(-np.sum([unit(heavy.xyz[other] - here) for other in heavy.bonded[i]], axis=0))
    away = heavy.xyz - here
    distance = np.linalg.norm(away, axis=1)
    in_front = away @ outward > distance * np.cos(FRONT)
    near = (distance < REACH) & in_front & (heavy.residue != heavy.residue[i])
    rows = np.flatnonzero(near).tolist()
    gives = any(heavy.role[j] == Interaction.DONOR for j in rows)
    takes = [j for j in rows if heavy.role[j] == Interaction.ACCEPTOR]
    acid = any((heavy.residue_name[j], heavy.name[j]) in CARBOXYLATES for j in takes)
    return (CARBOXYLATE if acid else float(bool(takes))) - gives


def _of_lysine(i: int, heavy: Heavy) -> str:
    """The state of a lysine whose nitrogen is bound to another residue; else empty."""
    bound = ties(i, heavy) if i >= 0 else []
    if len(bound) != 1:
        return ""
    (other,) = bound
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


def _binds_oxygen(i: int, heavy: Heavy) -> bool:
    """Whether a metal, but for alkali and earth alkali metals, is at an oxygen."""
    near = np.flatnonzero(np.linalg.norm(heavy.xyz - heavy.xyz[i], axis=1) < TAKES_PROTON)
    return any(heavy.symbol[other] in METALS - WEAK_ACIDS for other in near.tolist())


def _to_metal(i: int, heavy: Heavy) -> float:
    """Distance of an atom from the nearest metal, Angstrom."""
    metals = [other for other, symbol in enumerate(heavy.symbol) if symbol in METALS]
    distance = np.linalg.norm(heavy.xyz[metals] - heavy.xyz[i], axis=1)
    return float(distance.min(initial=np.inf))


def _told(heavy: Heavy, hydrogens: np.ndarray, given: Mapping[int, list[int]]) -> set[int]:
    """Cysteines, by number of the residue, that are no thiols where their sulfur has no hydrogen.

    X-PLOR and AutoDock's tools write polar hydrogens without those of thiols: a thiolate has others
    on its carbon, or is in a file with thiols.
    """
    mine = [i for i in range(len(heavy.name)) if standard_name(i, heavy) == "CYS"]
    if any(heavy.name[i] == "SG" and i in given for i in mine):
        return {int(heavy.residue[i]) for i in mine}
    beside = [i for i in mine if heavy.name[i] == "CB" and len(hydrogens)]
    apart = {i: np.linalg.norm(hydrogens - heavy.xyz[i], axis=1).min() for i in beside}
    return {int(heavy.residue[i]) for i in beside if apart[i] < BOUND}


def _amines(heavy: Heavy, given: Mapping[int, list[int]], binding: Set[int]) -> dict[int, int]:
    """Residues, by number, whose backbone nitrogen is an amine, and its charge.

    By its hydrogens, or where an amino acid is no part of a chain.
    """
    found = {}
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


def _acids(heavy: Heavy, given: Mapping[int, list[int]]) -> set[int]:
    """Residues, by number, whose carboxylate at the end of a chain has a hydrogen."""
    names = [atom_name(heavy.residue_name[i], name) for i, name in enumerate(heavy.name)]
    ends = {
        int(heavy.residue[i])
        for i, name in enumerate(names)
        if name == "OXT" and standard_name(i, heavy) in LETTER
    }
    return ends & {int(heavy.residue[i]) for i in given if names[i] in CARBOXYL}


def role_of(i: int, heavy: Heavy, template: Template) -> Interaction | None:
    """What an atom does in hydrogen bonds where its residue's state decides; else None."""
    if _is_ring_nitrogen(i, heavy):
        takes = Interaction.ACCEPTOR if template.kind == Ad4Type.NA else Interaction.POLAR
        return Interaction.DONOR if template.hydrogens else takes
    place = standard_name(i, heavy), heavy.name[i]
    is_amine = place == ("LYS", "NZ") and template.kind == Ad4Type.NA
    is_hydroxyl = place in CARBOXYLATES and template.hydrogens > 0
    return Interaction.DONOR_ACCEPTOR if is_amine or is_hydroxyl else None


def _is_ring_nitrogen(i: int, heavy: Heavy) -> bool:
    """Whether an atom is one of the two nitrogens in the ring of a histidine."""
    return heavy.name[i] in RING_NITROGENS and standard_name(i, heavy) == "HIS"
