"""Charges and polar hydrogens of receptors, against a prepared file and by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ligen_py.molecules.receptor import charges
from ligen_py.molecules.receptor import preparation as receptor
from ligen_py.molecules.receptor.charges import (
    PARTNER,
    STATES,
    Heavy,
    amino_acid,
    charge,
    metal_type,
)
from ligen_py.molecules.receptor.site import site_of_ligand
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.functions.xscore import Interaction
from ligen_py.settings.pocket import PocketSettings, Structure
from tests import pdbqt

ROLES = {"N": Interaction.DONOR, "O": Interaction.ACCEPTOR, "C": Interaction.POLAR}


def heavy(atoms: dict[str, list[float]], residue: str, bonds: list[tuple[str, str]]) -> Heavy:
    """One residue of named atoms."""
    names = list(atoms)
    bonded: list[list[int]] = [[] for _ in names]
    for one, two in bonds:
        bonded[names.index(one)].append(names.index(two))
        bonded[names.index(two)].append(names.index(one))
    symbols = ["ZN" if name == "ZN" else name[0] for name in names]
    return Heavy(
        xyz=np.array(list(atoms.values()), float),
        symbol=symbols,
        name=names,
        residue=np.zeros(len(names), int),
        residue_name=[residue] * len(names),
        role=[ROLES.get(symbol, Interaction.POLAR) for symbol in symbols],
        bonded=bonded,
    )


def test_a_prepared_receptor_has_these_types_charges_and_hydrogens(shared_data: Path) -> None:
    # It takes all histidines for charged and all cysteines for thiolates; termini are charged.
    prepared = pdbqt.read(shared_data / "reference" / "vina_1iep" / "1iep_receptor.pdbqt")
    row = {label: place for place, label in enumerate(prepared.label)}
    folder = shared_data / "redock" / "1IEP"
    site = site_of_ligand(folder / "ligand.sdf", 10.0)
    structure = Structure()
    selection = receptor.open_structure(folder / "protein.pdb", structure)
    found = receptor.prepare(selection, site, structure, PocketSettings())
    compared = 0
    for place, label in enumerate(found.receptor.label):
        _, residue, number, atom = label.split("/")
        if residue in ("HIS", "CYS") or number == "225":
            continue
        other = row[f"{residue}/{number}/{atom}"]
        assert found.typed["ad4"].type[place] == prepared.ad4_types()[other], label
        assert found.typed["ad4"].partial_charge[place] == pytest.approx(
            prepared.charge[other], abs=0.02
        )
        compared += 1
    assert compared > 1000

    near = site.distance(found.typed["ad4"].xyz) < 2.0
    backbone = [place for label, place in row.items() if label.endswith("/H")]
    hydrogens = found.typed["ad4"].xyz[near & (found.typed["ad4"].type == Ad4Type.HD)].astype(float)
    distance = np.linalg.norm(prepared.xyz[backbone][:, None] - hydrogens, axis=2).min(axis=1)
    inside = site.distance(prepared.xyz[backbone]) < 1.0
    assert inside.sum() > 40
    assert np.median(distance[inside]) < 0.05
    assert (distance[inside] < 0.2).mean() > 0.95


@pytest.mark.parametrize("state", [state for state in STATES if state not in PARTNER])
def test_charges_of_amino_acids_add_up(state: str) -> None:
    atoms = amino_acid(state)
    total = sum(each.charge + each.hydrogens * each.hydrogen_charge for each in atoms.values())
    formal = sum(charged for charged, _ in STATES[state].values())
    # What the peptide bonds draw from the neighbours is not the residue's.
    assert total == pytest.approx(formal, abs=0.02)


def test_the_last_residue_is_a_carboxylate() -> None:
    atoms = amino_acid("GLY", "carboxylate")
    assert atoms["OXT"].charge == pytest.approx(atoms["O"].charge)
    assert (
        sum(each.charge + each.hydrogens * each.hydrogen_charge for each in atoms.values()) < -0.9
    )


IMIDAZOLE = {
    "CG": [0.0, 1.15, 0], "ND1": [-1.09, 0.36, 0], "CE1": [-0.68, -0.93, 0],
    "NE2": [0.68, -0.93, 0], "CD2": [1.09, 0.36, 0],
}  # fmt: skip
RING = [("CG", "ND1"), ("ND1", "CE1"), ("CE1", "NE2"), ("NE2", "CD2"), ("CD2", "CG")]


@pytest.mark.parametrize(
    ("residue", "given", "protonated"),
    [
        ("HIS", [], ["NE2"]),
        ("HID", [], ["ND1"]),
        ("HSP", [], ["ND1", "NE2"]),
        ("HIS", [[-2.05, 0.68, 0]], ["ND1"]),
        ("HIS", [[-2.05, 0.68, 0], [1.28, -1.75, 0]], ["ND1", "NE2"]),
    ],
)
def test_histidine_follows_its_hydrogens_then_its_name(
    residue: str, given: list[list[float]], protonated: list[str]
) -> None:
    hydrogens = np.array(given, float).reshape(-1, 3)
    result = charge(heavy(IMIDAZOLE, residue, RING), hydrogens).receptor
    hydrogens = result.xyz[result.type == Ad4Type.HD].astype(float)
    names = list(IMIDAZOLE)
    nearest = [
        names[np.linalg.norm(np.array(list(IMIDAZOLE.values())) - place, axis=1).argmin()]
        for place in hydrogens
    ]
    assert sorted(nearest) == protonated
    for name in ("ND1", "NE2"):
        kind = Ad4Type(result.type[names.index(name)])
        assert kind == (Ad4Type.N if name in protonated else Ad4Type.NA)
    if given:
        assert hydrogens == pytest.approx(np.array(given), abs=1e-5)
    assert np.abs(hydrogens[:, 2]).max() < 1e-5  # in the ring's plane


D, A, DA = Interaction.DONOR, Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR
BEFORE_ND1, BEFORE_NE2 = [-0.95, 0.31, 0], [0.59, -0.81, 0]
"""Directions from the ring's centre through its nitrogens."""


def beside(residue: str, name: str, role: Interaction, direction: list[float], distance: float):
    """An atom of another residue at a distance from the nitrogen in that direction."""
    nitrogen = IMIDAZOLE["ND1" if direction[0] < 0 else "NE2"]
    place = np.array(nitrogen) + distance * np.array(direction)
    return residue, name, role, place.tolist()


@pytest.mark.parametrize(
    ("around", "state", "why"),
    [
        ([], "HIE", "by default; no hydrogen bond around it decides"),
        ([beside("ALA", "O", A, BEFORE_ND1, 2.9)], "HID", "by the hydrogen bonds around it"),
        ([beside("ALA", "N", D, BEFORE_ND1, 2.9)], "HIE", "by the hydrogen bonds around it"),
        ([beside("ALA", "O", A, BEFORE_NE2, 2.9)], "HIE", "by the hydrogen bonds around it"),
        ([beside("LYS", "NZ", D, BEFORE_NE2, 2.9)], "HID", "by the hydrogen bonds around it"),
        # An acid on one side outweighs a carbonyl on the other, and two charge the ring.
        (
            [beside("ASP", "OD1", A, BEFORE_ND1, 2.9), beside("ALA", "O", A, BEFORE_NE2, 2.9)],
            "HID",
            "by the hydrogen bonds around it",
        ),
        (
            [beside("ASP", "OD1", A, BEFORE_ND1, 2.9), beside("GLU", "OE2", A, BEFORE_NE2, 2.9)],
            "HIP",
            "both its nitrogens face a carboxylate",
        ),
        # These decide nothing: too far, a hydroxyl, two equal ones, above the ring's plane.
        ([beside("ALA", "O", A, BEFORE_ND1, 3.6)], "HIE", "by default"),
        ([beside("SER", "OG", DA, BEFORE_ND1, 2.9)], "HIE", "by default"),
        (
            [beside("ALA", "O", A, BEFORE_ND1, 2.9), beside("ALA", "O", A, BEFORE_NE2, 2.9)],
            "HIE",
            "by default",
        ),
        ([beside("ALA", "O", A, [-0.4, 0.13, 0.91], 2.9)], "HIE", "by default"),
        ([beside("ALA", "O", A, [-0.6, 0.2, 0.77], 2.9)], "HID", "by the hydrogen bonds around it"),
    ],
)
def test_a_histidine_is_the_tautomer_that_its_surroundings_bind(
    around: list[tuple[str, str, Interaction, list[float]]], state: str, why: str
) -> None:
    ring = heavy(IMIDAZOLE, "HIS", RING)
    count = len(ring.name)
    surrounded = Heavy(
        xyz=np.array([*ring.xyz, *(place for *_, place in around)], float),
        symbol=[*ring.symbol, *(name[0] for _, name, _, _ in around)],
        name=[*ring.name, *(name for _, name, _, _ in around)],
        residue=np.array([*ring.residue, *range(1, 1 + len(around))]),
        residue_name=[*ring.residue_name, *(residue for residue, *_ in around)],
        role=[*ring.role, *(role for _, _, role, _ in around)],
        bonded=[*ring.bonded, *([] for _ in around)],
    )
    found = charge(surrounded, np.empty((0, 3)))
    (said,) = [words for residue, words in found.states if residue == 0]
    assert said.startswith(f"state {state}: {why}")
    gives = {"HID": ("ND1",), "HIE": ("NE2",), "HIP": ("ND1", "NE2")}[state]
    assert found.roles == {
        ring.name.index(name): Interaction.DONOR if name in gives else Interaction.ACCEPTOR
        for name in ("ND1", "NE2")
    }
    assert max(found.roles) < count


def test_a_hydroxyl_points_to_the_nearest_acceptor() -> None:
    serine = {"CA": [-1.0, 1.2, 0], "CB": [0.0, 0, 0], "OG": [1.4, 0, 0]}
    atoms = serine | {"O": [2.5, 0, 2.4]}
    result = charge(heavy(atoms, "SER", [("CA", "CB"), ("CB", "OG")]), np.empty((0, 3))).receptor
    (hydrogen,) = result.xyz[result.type == Ad4Type.HD].astype(float)
    bond, back = hydrogen - [1.4, 0, 0], np.array([-1.0, 0, 0])
    assert np.linalg.norm(bond) == pytest.approx(0.96, abs=1e-4)
    assert np.degrees(np.arccos(bond @ back / 0.96)) == pytest.approx(109.47, abs=0.1)
    assert np.linalg.norm(hydrogen - atoms["O"]) < 1.9


def test_a_disulfide_has_no_hydrogen_and_a_thiol_has_one() -> None:
    atoms = {"CB": [0.0, 0, 0], "SG": [1.8, 0, 0]}
    thiol = charge(heavy(atoms, "CYS", [("CB", "SG")]), np.empty((0, 3))).receptor
    assert (thiol.type == Ad4Type.HD).sum() == 1
    bridged = heavy(atoms | {"S2": [2.4, 1.9, 0]}, "CYS", [("CB", "SG"), ("SG", "S2")])
    assert (charge(bridged, np.empty((0, 3))).receptor.type == Ad4Type.HD).sum() == 0


def test_what_binds_a_metal_has_no_hydrogen_there() -> None:
    ring = heavy(IMIDAZOLE | {"ZN": [2.4, -2.0, 0]}, "HIS", RING)
    found = charge(ring, np.empty((0, 3)))
    assert found.states == [(0, "state HID: NE2 binds a metal")]
    (hydrogen,) = found.receptor.xyz[found.receptor.type == Ad4Type.HD].astype(float)
    assert np.linalg.norm(hydrogen - IMIDAZOLE["ND1"]) == pytest.approx(1.01, abs=0.01)
    thiolate = heavy({"CB": [0.0, 0, 0], "SG": [1.8, 0, 0], "ZN": [2.6, 2.1, 0]}, "CYS", [])
    found = charge(thiolate, np.empty((0, 3)))
    assert found.states == [(0, "state CYM: its sulfur binds a metal")]
    assert not (found.receptor.type == Ad4Type.HD).any()


def test_an_amine_or_phenol_that_binds_a_metal_has_lost_a_hydrogen_to_it() -> None:
    lysine = {"CE": [0.0, 0, 0], "NZ": [1.47, 0, 0], "ZN": [2.15, 1.92, 0]}
    found = charge(heavy(lysine, "LYS", [("CE", "NZ")]), np.empty((0, 3)))
    assert found.states == [(0, "state LYN: NZ binds a metal")]
    hydrogens = found.receptor.xyz[found.receptor.type == Ad4Type.HD]
    assert len(hydrogens) == 2
    assert np.linalg.norm(hydrogens - lysine["ZN"], axis=1).min() > 2.2
    for metal, state in (("ZN", ["state TYM: its oxygen binds a metal"]), ("MG", [])):
        phenol = heavy({"CZ": [0.0, 0, 0], "OH": [1.36, 0, 0], "ZN": [2.0, 1.8, 0]}, "TYR", [])
        phenol = replace(phenol, symbol=["C", "O", metal], bonded=[[1], [0], []])
        found = charge(phenol, np.empty((0, 3)))
        assert [words for _, words in found.states] == state
        assert (found.receptor.type == Ad4Type.HD).sum() == 1 - len(state)


def test_a_residue_of_a_chain_that_nothing_is_known_of_has_its_amide() -> None:
    """As arsenocysteine, whose bonds are not perceived."""
    lines = AMINO_ACID | {"AS": [30.0, 0, 0]}
    chain = heavy({"C0": [3.7, 0.9, 0], **lines}, "CAS", [("C0", "N"), *BONDS])
    chain = replace(
        chain,
        name=["C", *chain.name[1:]],
        symbol=[*chain.symbol[:-1], "AS"],
        residue=np.array([0, *[1] * len(lines)]),
        residue_name=["ALA", *["CAS"] * len(lines)],
    )
    found = charge(chain, np.empty((0, 3))).receptor
    assert (found.type == Ad4Type.HD).sum() == 1
    known = amino_acid("ALA")
    row = {name: place for place, name in enumerate(chain.name)}
    for name in ("N", "CA", "O"):
        assert found.partial_charge[row[name]] == pytest.approx(known[name].charge, abs=1e-6)


@pytest.mark.parametrize("name", ["ASH", "GLH", "LYN", "CYM", "HID", "HIE", "HIP"])
def test_names_of_states_say_the_state(name: str) -> None:
    names = ("N", "CB", "ND1", "NE2") if name.startswith("HI") else ("N", "CB")
    atoms = {atom: [5.0 * number, 0.0, 0.0] for number, atom in enumerate(names)}
    found = charge(heavy(atoms, name, []), np.zeros((0, 3)))
    assert found.states == [(0, f"state {name}: by its name")]


@pytest.mark.parametrize(
    ("residue", "bearers", "state"),
    [
        ("CYS", {}, ""),
        ("CYS", {"N": 1}, ""),
        ("CYS", {"N": 1, "CB": 2}, "CYM"),
        ("CYS", {"N": 1, "CB": 2, "SG": 1}, ""),
        ("CYS", {"N": 1, "SG": 1}, ""),
        ("CYS", {"SG": 1}, ""),
        ("ASP", {"N": 1}, ""),
        ("ASP", {"OD1": 1}, "ASH"),
        ("ASP", {"OD2": 1}, "ASH"),
        ("GLU", {"OE1": 1}, "GLH"),
        ("GLU", {"OE2": 1}, "GLH"),
        ("LYS", {"NZ": 1}, ""),
        ("LYS", {"NZ": 2}, "LYN"),
        ("LYS", {"NZ": 3}, ""),
        ("HIS", {"ND1": 1}, "HID"),
        ("HIS", {"NE2": 1}, "HIE"),
        ("HIS", {"ND1": 1, "NE2": 1}, "HIP"),
    ],
)
def test_hydrogens_of_a_file_say_the_state(
    residue: str, bearers: dict[str, int], state: str
) -> None:
    ends = {"CYS": "SG", "ASP": "OD1 OD2", "GLU": "OE1 OE2", "LYS": "NZ", "HIS": "ND1 NE2"}
    names = ["N", "CB", *ends[residue].split()]
    atoms = {name: [5.0 * number, 0.0, 0.0] for number, name in enumerate(names)}
    around = ([0, 1, 0], [0, -0.5, 0.87], [0, -0.5, -0.87])
    hydrogens = [
        np.add(atoms[name], way) for name, count in bearers.items() for way in around[:count]
    ]
    found = charge(heavy(atoms, residue, []), np.array(hydrogens, float).reshape(-1, 3))
    said = [(0, f"state {state}: by its hydrogens")] if state else []
    if bearers == {"NZ": 1}:
        ((_, words),) = found.states
        assert "NZ's polar hydrogens are 1 in the file, 3 in the state" in words
    else:
        assert found.states == said


@pytest.mark.parametrize("other", [False, True])
def test_a_thiol_without_its_hydrogen_is_a_thiolate_beside_thiols_with_theirs(other: bool) -> None:
    """X-PLOR writes polar hydrogens, but none of thiols; so do AutoDock's tools."""
    names = {"N": [0.0, 0, 0], "SG": [5.0, 0, 0], "N ": [10.0, 0, 0], "SG ": [15.0, 0, 0]}
    pair = heavy(names, "CYS", [])
    pair = replace(pair, name=["N", "SG", "N", "SG"], residue=np.array([0, 0, 1, 1]))
    hydrogens = [[0.0, 1, 0], [10.0, 1, 0], *([[15.0, 1, 0]] if other else [])]
    found = charge(pair, np.array(hydrogens))
    assert found.states == ([(0, "state CYM: by its hydrogens")] if other else [])
    assert (found.receptor.partial_charge[1] < -0.5) == other


def total(heavy_atoms: Heavy, hydrogens: list[list[float]], **options: set[int]) -> float:
    """The charge of a residue whose hydrogens are these."""
    given = np.array(hydrogens, float).reshape(-1, 3)
    return float(charge(heavy_atoms, given, **options).receptor.partial_charge.sum())


AMINO_ACID = {
    "N": [0.0, 0, 0], "CA": [1.46, 0, 0], "C": [2.0, 1.4, 0], "O": [1.2, 2.35, 0],
    "CB": [2.0, -0.75, 1.2],
}  # fmt: skip
BONDS = [("N", "CA"), ("CA", "C"), ("C", "O"), ("CA", "CB")]
AT_NITROGEN = [[-0.33, -0.95, 0], [-0.33, 0.48, 0.82], [-0.33, 0.48, -0.82]]


@pytest.mark.parametrize(("count", "formal"), [(1, 0), (2, 0), (3, 1)])
def test_hydrogens_of_a_file_say_what_begins_a_chain(count: int, formal: int) -> None:
    found = charge(heavy(AMINO_ACID, "ALA", BONDS), np.array(AT_NITROGEN[:count]))
    assert found.receptor.partial_charge.sum() == pytest.approx(formal, abs=0.06)
    assert found.amines == ({0} if count > 1 else set())


@pytest.mark.parametrize(("count", "formal"), [(1, 0), (2, 1)])
def test_a_proline_may_begin_a_chain(count: int, formal: int) -> None:
    ring = AMINO_ACID | {"CG": [1.2, -2.0, 1.0], "CD": [-0.1, -1.4, 0.5]}
    bonds = [*BONDS, ("CB", "CG"), ("CG", "CD"), ("CD", "N")]
    hydrogens = [[-0.6, 0.5, 0.6], [-0.6, 0.5, -0.6]][:count]
    assert total(heavy(ring, "PRO", bonds), hydrogens) == pytest.approx(formal, abs=0.06)


@pytest.mark.parametrize("oxygen", ["O", "OXT"])
def test_hydrogens_of_a_file_say_what_ends_a_chain(oxygen: str) -> None:
    atoms = AMINO_ACID | {"OXT": [3.3, 1.6, 0]}
    last = heavy(atoms, "ALA", [*BONDS, ("C", "OXT")])
    hydrogen = [atoms[oxygen][0], atoms[oxygen][1] + 0.96, 0]
    found = charge(last, np.array([AT_NITROGEN[0], hydrogen]))
    assert found.receptor.partial_charge.sum() == pytest.approx(0, abs=0.06)
    bearer = found.receptor.partial_charge[list(atoms).index(oxygen)]
    assert (
        bearer < found.receptor.partial_charge[list(atoms).index("O" if oxygen == "OXT" else "OXT")]
    )
    assert found.acids == {0}
    assert total(last, [AT_NITROGEN[0]]) == pytest.approx(-1, abs=0.06)


def test_a_free_amino_acid_is_a_zwitterion() -> None:
    alanine = heavy(AMINO_ACID | {"OXT": [3.3, 1.6, 0]}, "ALA", [*BONDS, ("C", "OXT")])
    free = replace(alanine, free=frozenset((0,)))
    found = charge(free, np.empty((0, 3))).receptor
    assert found.partial_charge.sum() == pytest.approx(0, abs=0.01)
    assert (found.type == Ad4Type.HD).sum() == 3


def test_a_tyrosine_is_a_phenolate_where_all_hydrogens_are_known() -> None:
    names = [*AMINO_ACID, "CG", "CD1", "CE1", "CZ", "CE2", "CD2", "OH"]
    atoms = AMINO_ACID | {name: [8.0, 1.4 * n, 0] for n, name in enumerate(names[5:])}
    tyrosine = heavy(atoms, "TYR", [*BONDS, ("CZ", "OH")])
    found = charge(tyrosine, np.array(AT_NITROGEN[:1]), complete={0})
    assert found.states == [(0, "state TYM: by its hydrogens")]
    assert found.receptor.partial_charge.sum() == pytest.approx(-1, abs=0.02)
    # A file may leave out the hydrogens of hydroxyls.
    found = charge(tyrosine, np.array(AT_NITROGEN[:1]))
    assert (found.receptor.type == Ad4Type.HD).sum() == 2
    assert found.receptor.partial_charge.sum() == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize(
    ("residue", "side_chain", "bonds", "count"),
    [
        ("SER", {"OG": [3.4, -0.75, 1.2]}, [("CB", "OG")], 1),
        ("LYS", {"NZ": [3.4, -0.75, 1.2]}, [("CB", "NZ")], 3),
        ("HIS", {k: [x + 8, y, z] for k, (x, y, z) in IMIDAZOLE.items()}, RING, 1),
    ],
)
def test_hydrogens_that_a_file_leaves_out_are_built(
    residue: str, side_chain: dict[str, list[float]], bonds: list[tuple[str, str]], count: int
) -> None:
    whole = heavy(AMINO_ACID | side_chain, residue, [*BONDS, *bonds])
    (known, *_), given = AT_NITROGEN, np.array(AT_NITROGEN[:1])
    result = charge(whole, given).receptor
    hydrogens = result.xyz[result.type == Ad4Type.HD].astype(float)
    assert len(hydrogens) == 1 + count
    assert np.linalg.norm(hydrogens - known, axis=1).min() < 1e-5
    assert len(charge(whole, given, complete={0}).given) == 1


def test_an_arginine_without_its_inner_hydrogen_is_neutral() -> None:
    names = ("NE", "CZ", "NH1", "NH2", "CG", "CD")
    atoms = AMINO_ACID | {name: [8.0 + 4 * n, 0, 0] for n, name in enumerate(names)}
    hydrogens = [[x, y, 0] for x in (16.0, 20.0) for y in (-1.0, 1.0)]
    arginine = heavy(atoms, "ARG", BONDS)
    assert total(arginine, [*hydrogens, AT_NITROGEN[0]]) == pytest.approx(0, abs=0.02)
    assert total(arginine, [*hydrogens, AT_NITROGEN[0], [8, 1, 0]]) == pytest.approx(1, abs=0.02)
    kinds = charge(arginine, np.array(hydrogens)).receptor.type
    assert kinds[[*atoms].index("NE")] == Ad4Type.NA


@pytest.mark.parametrize("imine", ["NE", "NH1", "NH2"])
def test_an_arginine_has_its_imine_at_any_nitrogen(imine: str) -> None:
    """GROMACS's ARGN has it at NH1; it was a cation with the hydrogens of a neutral one."""
    names = ("NE", "CZ", "NH1", "NH2", "CG", "CD")
    atoms = AMINO_ACID | {name: [8.0 + 4 * n, 0, 0] for n, name in enumerate(names)}
    count = {"NE": 1, "NH1": 2, "NH2": 2}
    count[imine] -= 1
    hydrogens = [[atoms[name][0], y, 0] for name in count for y in (-1.0, 1.0)[: count[name]]]
    for residue in ("ARG", "ARN"):
        arginine = heavy(atoms, residue, BONDS)
        found = charge(arginine, np.array([*hydrogens, AT_NITROGEN[0]]))
        assert found.states == [(0, "state ARN: by its hydrogens")]
        assert found.receptor.partial_charge.sum() == pytest.approx(0, abs=0.02)
        kinds = found.receptor.type[[[*atoms].index(name) for name in count]]
        assert [kind == Ad4Type.NA for kind in kinds] == [name == imine for name in count]
    # Without hydrogens the name says it, and hydrogens of a cation say otherwise.
    bare = charge(heavy(atoms, "ARN", BONDS), np.empty((0, 3)))
    assert bare.states == [(0, "state ARN: by its name")]
    assert (bare.receptor.type == Ad4Type.NA).sum() == 1
    cation = [[8.0, 1, 0], *([x, y, 0] for x in (16.0, 20.0) for y in (-1.0, 1.0))]
    assert charge(heavy(atoms, "ARN", BONDS), np.array(cation)).states == [
        (0, "state ARG: by its hydrogens")
    ]
    assert charge(heavy(atoms, "ARG", BONDS), np.array(cation)).states == []


@pytest.mark.parametrize(("residue", "oxygens"), [("ASP", "OD1 OD2"), ("GLU", "OE1 OE2")])
def test_an_acid_has_its_hydrogen_on_either_oxygen(residue: str, oxygens: str) -> None:
    acid = heavy({name: [5.0 * k, 0, 0] for k, name in enumerate(oxygens.split())}, residue, [])
    first, second = (
        charge(acid, np.array([[x, 1.0, 0.0]])).receptor.partial_charge for x in (0.0, 5.0)
    )
    assert first.tolist() == second[[1, 0, 2]].tolist()
    assert second[2] > 0.2


@pytest.mark.parametrize("atom", ["N", "S"])
def test_what_binds_a_metal_is_near_it(atom: str) -> None:
    for apart, found in ((2.79, {0}), (2.81, set())):
        near = heavy({atom: [0.0, 0, 0], "ZN": [apart, 0, 0]}, "HIS", [])
        assert charges._binding(near) == found


@pytest.mark.parametrize(("atom", "longest"), [("N", 1.3), ("O", 1.3), ("S", 1.4)])
def test_a_given_hydrogen_is_within_a_bond(atom: str, longest: float) -> None:
    one = heavy({atom: [0.0, 0, 0]}, "LIG", [])
    for more, held in ((-0.01, {0: [0]}), (0.01, {})):
        assert charges._given_hydrogens(one, np.array([[longest + more, 0, 0]])) == held


def test_a_water_is_neutral_and_points_to_acceptors() -> None:
    water = heavy({"O": [0.0, 0, 0]}, "HOH", [])
    alone = charge(water, np.empty((0, 3))).receptor
    assert alone.type.tolist() == [Ad4Type.OA, Ad4Type.HD, Ad4Type.HD]
    assert alone.partial_charge.sum() == pytest.approx(0, abs=0.002)
    arms = alone.xyz[1:].astype(float)
    assert np.linalg.norm(arms, axis=1) == pytest.approx([0.96, 0.96], abs=1e-4)
    assert arms[0] @ arms[1] / 0.96**2 == pytest.approx(np.cos(np.radians(109.47)), abs=1e-3)


def test_a_water_points_to_an_acceptor_that_is_near() -> None:
    for apart, points in ((3.49, True), (3.51, False)):
        pair = heavy({"O": [0.0, 0, 0], "O2": [0.0, apart, 0]}, "HOH", [])
        first = charges._water(0, pair, np.array([True, True]))[0]
        assert first == pytest.approx([0, 0.96, 0] if points else [0.96, 0, 0], abs=1e-4)


def test_hydroxyls_of_a_cofactor_that_a_file_leaves_out_are_built() -> None:
    atoms = {"N1": [-1.2, 0.85, 0], "C1": [0.0, 0, 0], "C2": [1.3, 0.8, 0], "O1": [2.5, 0.0, 0]}
    group = heavy(atoms, "XYZ", [("N1", "C1"), ("C1", "C2"), ("C2", "O1")])
    known = np.array([[-2.0, 0.25, 0.1], [-1.3, 1.4, 0.8], [-1.3, 1.4, -0.8]])
    result = charge(group, known, {"XYZ": "[NH3+]CCO"}).receptor
    hydrogens = result.xyz[result.type == Ad4Type.HD].astype(float)
    near = np.linalg.norm(hydrogens - atoms["O1"], axis=1) < 1.0
    assert (near.sum(), len(hydrogens)) == (1, 4)
    assert result.partial_charge.sum() == pytest.approx(1, abs=1e-3)


def test_a_secondary_ammonium_ion_has_both_its_hydrogens() -> None:
    atoms = {"C1": [1.2, 0.85, 0], "N1": [0.0, 0, 0], "C2": [-1.2, 0.85, 0]}
    group = heavy(atoms, "XYZ", [("C1", "N1"), ("N1", "C2")])
    result = charge(group, np.empty((0, 3)), {"XYZ": "C[NH2+]C"}).receptor
    arms = result.xyz[result.type == Ad4Type.HD].astype(float)
    assert np.linalg.norm(arms, axis=1) == pytest.approx([1.01, 1.01], abs=1e-4)
    assert arms[0] @ arms[1] / 1.01**2 == pytest.approx(np.cos(np.radians(109.47)), abs=1e-3)
    assert arms[:, 1].max() < -0.5  # away from both carbons
    assert result.partial_charge.sum() == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(("irons", "sulfurs", "formal"), [(2, 2, 1), (3, 4, 0), (4, 4, 2)])
def test_the_sulfides_of_a_cluster_are_charged(irons: int, sulfurs: int, formal: int) -> None:
    corners = [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
    metal = {f"FE{n}": [1.6 * x, 1.6 * y, 1.6 * z] for n, (x, y, z) in enumerate(corners[:irons])}
    bridge = {
        f"S{n}": [1.6 * (1 - x), 1.6 * (1 - y), 1.6 * (1 - z)]
        for n, (x, y, z) in enumerate(corners[:sulfurs])
    }
    cluster = heavy(metal | bridge, "SF4", [])
    cluster = replace(cluster, symbol=["FE"] * irons + ["S"] * sulfurs)
    charged = charge(cluster, np.empty((0, 3))).receptor.partial_charge
    assert charged.sum() == pytest.approx(formal)


@pytest.mark.parametrize(
    ("metal", "other", "count", "formal"),
    [
        ("AL", "F", 4, -1), ("AL", "F", 3, 0), ("MG", "F", 3, -1), ("BE", "F", 3, -1),
        ("V", "O", 4, -2), ("W", "O", 4, -2), ("MO", "O", 4, -2), ("V", "O", 3, -1),
        ("U", "O", 2, 2), ("GD", "", 0, 3), ("AG", "", 0, 1), ("CR", "", 0, 3), ("PT", "", 0, 2),
    ],
)  # fmt: skip
def test_the_ions_of_metals_are_charged(metal: str, other: str, count: int, formal: int) -> None:
    places = {f"{other}{n}": [1.8 * n, 1.0, 0.0] for n in range(count)}
    group = replace(
        heavy({metal: [0.0, 0, 0]} | places, "ION", []), symbol=[metal] + [other] * count
    )
    assert charge(group, np.empty((0, 3))).receptor.partial_charge.sum() == formal


@pytest.mark.parametrize(
    ("residue", "metal", "formal"),
    [("CU1", "CU", 1), ("CU", "CU", 2), ("3CO", "CO", 3), ("FE2", "FE", 2), ("AU3", "AU", 3)],
)
def test_a_metal_has_the_state_that_its_residue_is_called_by(
    residue: str, metal: str, formal: int
) -> None:
    ion = replace(heavy({metal: [0.0, 0, 0]}, residue, []), symbol=[metal])
    assert charge(ion, np.empty((0, 3))).receptor.partial_charge.tolist() == [formal]
    assert metal_type(metal, residue).endswith(f"charge {formal:+d}")


@pytest.mark.parametrize(
    ("is_pyrrole", "oxygens", "formal"), [(True, 0, 0), (True, 1, 0), (True, 2, -1), (False, 2, 2)]
)
def test_a_tetrapyrrole_with_a_metal_is_neutral_but_for_its_acids(
    is_pyrrole: bool, oxygens: int, formal: int
) -> None:
    """A chlorophyll's or haem's metal had a charge of 2 in a neutral ring; a cyclam's keeps it.

    Haem a and sirohaem had 0 in place of -2 and -8.
    """
    places, bonds = {"ZN": [0.0, 0.0, 0.0]}, []
    for n, (x, y) in enumerate([(1, 0), (0, 1), (-1, 0), (0, -1)]):
        places[f"N{n}"] = [2.0 * x, 2.0 * y, 0.0]
        for side in (1, -1):
            alpha = [2.9 * x - 1.1 * side * y, 2.9 * y + 1.1 * side * x, 0.0]
            places[f"A{n}{side}"] = alpha
            bonds.append((f"N{n}", f"A{n}{side}"))
            if is_pyrrole:
                beyond = {"B": [1.2 * x, 1.2 * y], "M": [-0.7 * side * y, 0.7 * side * x]}
                for letter, (along, aside) in beyond.items():
                    name = f"{letter}{n}{side}"
                    places[name] = [alpha[0] + along, alpha[1] + aside, 0.0]
                    bonds.append((f"A{n}{side}", name))
    places |= {"CGA": [3.0, 3.0, 3.0]} | {f"O{n}A": [3.0, 4.0, 2.0 + n] for n in range(oxygens)}
    bonds += [("CGA", f"O{n}A") for n in range(oxygens)]
    group = heavy(places, "XYZ", bonds)
    symbols = [name if name == "ZN" else "C" if name[0] not in "NO" else name[0] for name in places]
    charged = charge(replace(group, symbol=symbols), np.empty((0, 3))).receptor.partial_charge
    assert charged.sum() == pytest.approx(formal)


def test_metals_are_charged_and_unknown_groups_neutral() -> None:
    result = charge(heavy({"ZN": [0.0, 0, 0]}, "ZN", []), np.empty((0, 3))).receptor
    assert result.type.tolist() == [Ad4Type.ZN]
    assert result.partial_charge.tolist() == [2.0]
    group = heavy({"C1": [0.0, 0, 0], "O1": [1.2, 0, 0]}, "XYZ", [("C1", "O1")])
    result = charge(group, np.empty((0, 3))).receptor
    assert result.type.tolist() == [Ad4Type.C, Ad4Type.OA]
    assert not result.partial_charge.any()
