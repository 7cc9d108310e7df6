"""Protonation states and the ends of chains, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.molecules.receptor.charges import charge
from ligen_py.molecules.receptor.heavy import Heavy
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.functions.xscore import Interaction
from tests.one_residue import (
    AMINO_ACID,
    AT_NITROGEN,
    BONDS,
    IMIDAZOLE,
    RING,
    heavy,
    total,
)


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


def test_a_histidine_between_two_metals_has_no_hydrogen() -> None:
    metals = {"ZN": [2.4, -2.0, 0], "CU": [-3.1, 1.1, 0]}
    bridge = heavy(IMIDAZOLE | metals, "HIS", RING)
    bridge = replace(bridge, symbol=[*bridge.symbol[:-2], "ZN", "CU"])
    found = charge(bridge, np.empty((0, 3)))
    assert found.states == [(0, "state imidazolate: both its nitrogens bind metals")]
    assert not (found.receptor.type == Ad4Type.HD).any()
    alone = charge(heavy(IMIDAZOLE, "HIS", RING), np.empty((0, 3))).receptor
    ring = found.receptor.partial_charge[: len(IMIDAZOLE)]
    assert ring.sum() == pytest.approx(alone.partial_charge.sum() - 1, abs=0.05)
    assert set(found.roles.values()) == {Interaction.ACCEPTOR}


@pytest.mark.parametrize(("nitrogen", "oxygen", "is_said"), [(2.2, 4.0, 1), (2.7, 2.3, 0)])
def test_an_amide_whose_nitrogen_is_at_a_metal_is_said_to_be_exchanged(
    nitrogen: float, oxygen: float, is_said: int
) -> None:
    ends = {"ND2": [nitrogen, 0.0, 0], "OD1": [0.0, oxygen, 0], "CG": [2.0, 1.5, 0]}
    found = charge(heavy({**ends, "ZN": [0.0, 0, 0]}, "ASN", []), np.empty((0, 3)))
    assert [words.startswith("state ASN: its nitrogen") for _, words in found.states] == (
        [True] * is_said
    )


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
