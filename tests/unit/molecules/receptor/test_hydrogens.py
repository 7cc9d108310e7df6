"""Polar hydrogens of a file, and places of those that are built, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.molecules.receptor.charges import charge
from ligen_py.molecules.receptor.hydrogens import _water, given_hydrogens
from ligen_py.records.functions.ad4 import Ad4Type
from tests.one_residue import AMINO_ACID, AT_NITROGEN, BONDS, IMIDAZOLE, RING, heavy


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


@pytest.mark.parametrize(("atom", "longest"), [("N", 1.3), ("O", 1.3), ("S", 1.4)])
def test_a_given_hydrogen_is_within_a_bond(atom: str, longest: float) -> None:
    one = heavy({atom: [0.0, 0, 0]}, "LIG", [])
    for more, held in ((-0.01, {0: [0]}), (0.01, {})):
        assert given_hydrogens(one, np.array([[longest + more, 0, 0]])) == held


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
        first = _water(0, pair, np.array([True, True]), np.empty((0, 3)))[0]
        assert first == pytest.approx([0, 0.96, 0] if points else [0.96, 0, 0], abs=1e-4)


@pytest.mark.parametrize("hydrogens", [[[0, 1.8, 0]], [[0, 1.8, 0], [1.8, 0, 0], [0, -0.6, 1.7]]])
def test_a_water_turns_away_from_hydrogens(hydrogens: list[list[float]]) -> None:
    pair = heavy({"O": [0.0, 0, 0], "O2": [0.0, 2.8, 0]}, "HOH", [])
    known = np.array(hydrogens, float)
    places = _water(0, pair, np.array([True, True]), known)
    assert np.linalg.norm(places[:, None] - known, axis=2).min() >= 1.6
    assert places[0] @ places[1] / 0.96**2 == pytest.approx(np.cos(np.radians(109.47)), abs=1e-3)


def test_two_hydroxyls_do_not_point_at_each_other() -> None:
    first = {"CB": [-0.47, 1.33, 0], "OG": [0.0, 0, 0]}
    second = {"C2": [3.17, -1.33, 0], "O2": [2.7, 0, 0]}
    pair = heavy(first | second, "SER", [("CB", "OG"), ("C2", "O2")])
    pair = replace(pair, name=["CB", "OG", "CB", "OG"], residue=np.array([0, 0, 1, 1]))
    result = charge(pair, np.empty((0, 3))).receptor
    one, two = result.xyz[result.type == Ad4Type.HD].astype(float)
    assert np.linalg.norm(one - second["O2"]) < 2.0
    assert np.linalg.norm(one - two) > 1.6


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
