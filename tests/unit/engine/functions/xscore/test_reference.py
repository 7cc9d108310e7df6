"""X-Score's terms against values worked out by hand from the definition."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.engine.functions.xscore.constants import HMSCORE, HPSCORE
from ligen_py.engine.functions.xscore.reference import (
    ACCEPTS,
    DONATES,
    Site,
    bond_limits,
    bond_strength,
    hydrogen_bonds,
    hydrophobic_match,
    hydrophobic_pairs,
    ligand_site,
    predicted,
    selected,
    terms,
    van_der_waals,
)
from ligen_py.records.functions.xscore import Interaction
from tests.xscore_input import MATCHES, ligand, receptor

# Radii 2.1 (ligand sp3 carbon) and 2.2 (protein sp3 carbon): d0 = 4.3 A.


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        # x = (d0/d)^4; a = 2x - x^2
        (4.3, 1.0),  # x = 1: the bottom of the well
        (8.0, 0.1599669),  # x = 0.5375^4 = 0.0834668: 0.1669336 - 0.0069667
        (8.01, 0.0),  # beyond the cut-off
        (3.3, 0.0),  # x = 2.8828: a = -2.545, dropped
        (0.0, 0.0),  # on top of each other: as bad as can be, and finite
    ],
)
def test_van_der_waals_of_two_atoms(distance: float, expected: float) -> None:
    value = van_der_waals(ligand([[0, 0, 0]]), receptor([[distance, 0, 0]]))
    assert value == pytest.approx(expected, abs=1e-6)


def test_van_der_waals_adds_over_receptor_atoms() -> None:
    # d = 4.3: 1; d = 3.7: x = (4.3/3.7)^4 = 1.824176: 3.648353 - 3.327619 = 0.320734
    near = receptor([[4.3, 0, 0], [-3.7, 0, 0]])
    assert van_der_waals(ligand([[0, 0, 0]]), near) == pytest.approx(1.320734, abs=1e-5)


def test_van_der_waals_drops_whole_ligand_atoms_not_pairs() -> None:
    # First ligand atom: 1 from the atom at 4.3, -9.37 from the one at 3.0: the sum is dropped.
    # Second, 100 A away, has one neighbour at the bottom of its well: 1.
    pocket = receptor([[4.3, 0, 0], [-3.0, 0, 0], [104.3, 0, 0]])
    value = van_der_waals(ligand([[0, 0, 0], [100, 0, 0]]), pocket)
    assert value == pytest.approx(1.0, abs=1e-5)


def test_atoms_of_radius_zero_are_not_scored() -> None:
    hydrogen = ligand([[0, 0, 0]], radius=0, interaction=Interaction.NONE)
    assert van_der_waals(hydrogen, receptor([[4.3, 0, 0]])) == 0
    water = receptor([[4.3, 0, 0]], radius=0, interaction=Interaction.NONE)
    assert van_der_waals(ligand([[0, 0, 0]]), water) == 0
    assert hydrophobic_pairs(ligand([[0, 0, 0]]), receptor([[4.3, 0, 0]], radius=0)) == 0


@pytest.mark.parametrize(
    ("distance", "expected"),
    [(1.0, 1.0), (4.8, 1.0), (5.65, 0.5), (6.075, 0.25), (6.5, 0.0), (7.0, 0.0)],
)
def test_hydrophobic_ramp(distance: float, expected: float) -> None:
    # 1 up to 4.3 + 0.5 = 4.8, 0 from 4.3 + 2.2 = 6.5: (6.5 - d) / 1.7 between
    value = hydrophobic_pairs(ligand([[0, 0, 0]]), receptor([[distance, 0, 0]]))
    assert value == pytest.approx(expected, abs=1e-6)


def test_only_hydrophobic_atoms_are_hydrophobic_pairs() -> None:
    fat, polar = ligand([[0, 0, 0]]), ligand([[0, 0, 0]], interaction=Interaction.POLAR)
    assert hydrophobic_pairs(polar, receptor([[4, 0, 0]])) == 0
    assert hydrophobic_pairs(fat, receptor([[4, 0, 0]], interaction=Interaction.POLAR)) == 0
    assert hydrophobic_pairs(fat, receptor([[4, 0, 0], [0, 5.65, 0]])) == pytest.approx(1.5)


@pytest.mark.parametrize(("own", "around", "counts"), MATCHES)
def test_hydrophobic_match(own: float, around: list[tuple[float, float]], counts: bool) -> None:
    places, logp = [[distance, 0, 0] for distance, _ in around], [value for _, value in around]
    pocket = receptor(places, interaction=Interaction.POLAR, logp=logp)
    found = hydrophobic_match(ligand([[0, 0, 0]], logp=own), pocket)
    assert found == pytest.approx(own if counts else 0)


def test_hydrophobic_match_adds_over_ligand_atoms() -> None:
    # The polar atom spoils the first, 4 A off, and not the second, 7 A off.
    pocket = receptor([[4, 0, 0]], logp=-0.9)
    assert hydrophobic_match(ligand([[0, 0, 0], [-3, 0, 0]], logp=0.358), pocket) == pytest.approx(
        0.358
    )


def test_only_scored_atoms_and_hydrophobic_ligand_atoms_match() -> None:
    polar = ligand([[0, 0, 0]], interaction=Interaction.POLAR, logp=0.9)
    assert hydrophobic_match(polar, receptor([[4, 0, 0]], logp=0.5)) == 0
    water = receptor([[4, 0, 0]], radius=0, logp=-3.0)
    assert hydrophobic_match(ligand([[0, 0, 0]], logp=0.3), water) == pytest.approx(0.3)


def turned(degrees: float, length: float = 1.0) -> np.ndarray:
    """A vector of the plane at an angle to the x axis."""
    return length * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0])


def bond(
    distance: float = 2.8,
    donor_angle: float | None = None,
    acceptor_angle: float | None = None,
    donor: int = 1,
    acceptor: int = 1,
) -> float:
    """A bond along x from a donor (radius 1.75) at 0 to an acceptor (1.55): d0 = 3.3 A.

    The roots lie so that root - donor - acceptor, or donor - acceptor - root, deviates from a
    straight line by the given angle.
    """
    place = np.array([distance, 0, 0])
    donor_root = None if donor_angle is None else -turned(donor_angle)
    acceptor_root = None if acceptor_angle is None else place + turned(acceptor_angle)
    return bond_strength(
        Site(np.zeros(3), 1.75, donor_root, donor, 0),
        Site(place, 1.55, acceptor_root, 0, acceptor),
    )


@pytest.mark.parametrize(
    ("distance", "expected"),
    # up over 0..1 A; 1 up to 3.3 - 0.4 = 2.9; 0 from 3.3 + 0.2 = 3.5
    [(0, 0), (0.25, 0.25), (1, 1), (2.9, 1), (3.2, 0.5), (3.5, 0), (4, 0)],
)
def test_bond_strength_over_distance(distance: float, expected: float) -> None:
    assert bond(distance) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "angle", "expected"),
    [
        # straight: 0 at exactly 0 degrees, 1 from 0.001 to 25, 0 from 50
        (1, 0, 0), (1, 0.0005, 0.5), (1, 10, 1), (1, 25, 1), (1, 37.5, 0.5), (1, 50, 0),
        # angled: 0 up to 25, 1 from 50 to 75, 0 from 100
        (2, 10, 0), (2, 37.5, 0.5), (2, 50, 1), (2, 75, 1), (2, 90, 0.4), (2, 100, 0),
    ],
)  # fmt: skip
def test_donor_angle(kind: int, angle: float, expected: float) -> None:
    assert bond(donor_angle=angle, donor=kind) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "angle", "expected"),
    [
        # straight: 0 at exactly 0 degrees, 1 from 0.001 to 30, 0 from 55
        (1, 0, 0), (1, 20, 1), (1, 30, 1), (1, 45, 0.4), (1, 55, 0),
        # angled: 0 at 0, 1 from 5 to 70, 0 from 95
        (2, 0, 0), (2, 2, 0.4), (2, 60, 1), (2, 80, 0.6), (2, 95, 0),
    ],
)  # fmt: skip
def test_acceptor_angle(kind: int, angle: float, expected: float) -> None:
    assert bond(acceptor_angle=angle, acceptor=kind) == pytest.approx(expected, abs=1e-6)


def test_bond_strength_takes_the_worse_angle_times_the_distance() -> None:
    # f(3.2) = 0.5; donor 37.5 of a straight donor: 0.5; acceptor 45 of a straight one: 0.4
    assert bond(3.2, donor_angle=37.5, acceptor_angle=45) == pytest.approx(0.5 * 0.4)
    assert bond(3.2, donor_angle=40, acceptor_angle=45) == pytest.approx(0.5 * 0.4)
    assert bond(3.2, donor_angle=45, acceptor_angle=45) == pytest.approx(0.5 * 0.2)


def test_root_is_the_mean_of_heavy_neighbours() -> None:
    molecule = ligand([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 5]])
    molecule.element[3] = 1
    bonded = replace(molecule, bond=np.array([[0, 1], [2, 0], [0, 3]], "u1"))
    assert ligand_site(bonded, 0).root == pytest.approx([1, 1, 0])
    assert ligand_site(bonded, 3).root == pytest.approx([0, 0, 0])
    assert ligand_site(molecule, 0).root is None


X, Y = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])


def test_selection_keeps_separate_bonds_by_falling_value() -> None:
    candidates = [(DONATES, 0.3, X), (DONATES, 0.9, Y)]
    assert selected(candidates, (2, 2)) == [0.9, 0.3]


def test_selection_drops_the_weaker_of_two_bonds_within_45_degrees() -> None:
    assert selected([(DONATES, 0.3, X), (DONATES, 0.9, turned(44))], (2, 2)) == [0.9]
    assert selected([(DONATES, 0.3, X), (DONATES, 0.9, turned(46))], (2, 2)) == [0.9, 0.3]


def test_a_dropped_bond_still_casts_its_shadow() -> None:
    # 0.8 lies 40 degrees from 0.9 and goes; 0.7 lies 80 from 0.9 but 40 from the dropped 0.8
    row = [(DONATES, 0.9, X), (DONATES, 0.8, turned(40)), (DONATES, 0.7, turned(80))]
    assert selected(row, (3, 3)) == [0.9]


def test_a_dropped_bond_still_counts_towards_the_limit() -> None:
    row = [(DONATES, 0.9, X), (DONATES, 0.8, turned(40)), (DONATES, 0.7, turned(180))]
    assert selected(row, (2, 2)) == [0.9]
    assert selected(row, (3, 2)) == [0.9, 0.7]


def test_limits_hold_for_each_kind() -> None:
    row = [(DONATES, 0.9, X), (ACCEPTS, 0.8, -X), (DONATES, 0.7, Y), (ACCEPTS, 0.6, -Y)]
    assert selected(row, (1, 2)) == [0.9, 0.8, 0.6]


def test_equal_values_go_by_receptor_order_and_small_ones_do_not_count() -> None:
    assert selected([(DONATES, 1.0, X), (DONATES, 1.0, turned(10))], (2, 2)) == [1.0]
    assert selected([(DONATES, 0.0099, X)], (2, 2)) == []
    assert selected([(DONATES, 0.01, X)], (2, 2)) == [0.01]


def test_bond_limits() -> None:
    def limits(**columns: int) -> tuple[int, int]:
        return bond_limits(ligand([[0, 0, 0]], **columns), 0)

    assert limits(element=7, donor=2, hydrogens=3) == (3, 1)
    assert limits(element=8, donor=2, acceptor=2, hydrogens=1) == (1, 2)
    assert limits(element=7, donor=2, acceptor=2, hydrogens=2) == (1, 1)
    assert limits(element=8, acceptor=2) == (1, 2)


def test_hydrogen_bonds_of_a_carbonyl_and_two_donors() -> None:
    # A lone oxygen (no root) takes from donors at 2.8 A (f = 1) along x and at 3.2 A
    # (contact 1.55 + 1.75 = 3.3: f = 0.5) along y; both donors have no root.
    oxygen = ligand(
        [[0, 0, 0]], radius=1.55, interaction=Interaction.ACCEPTOR, element=8, acceptor=2
    )
    donors = receptor(
        [[2.8, 0, 0], [0, 3.2, 0]], radius=1.75, interaction=Interaction.DONOR, donor=1
    )
    assert hydrogen_bonds(oxygen, donors) == pytest.approx(1.5, abs=1e-6)


def test_hydrogen_bond_with_a_rooted_backbone_donor() -> None:
    # Root at (5, 1.5, 0), nitrogen at (2.8, 0, 0): root -> N is (-2.2, -1.5), N -> O is (-2.8, 0);
    # 34.287 degrees apart: straight donor (50 - 34.287) / 25 = 0.62852
    oxygen = ligand(
        [[0, 0, 0]], radius=1.55, interaction=Interaction.ACCEPTOR, element=8, acceptor=2
    )
    donor = receptor([[2.8, 0, 0]], 1.75, Interaction.DONOR, donor=1, root=[[5.0, 1.5, 0.0]])
    assert hydrogen_bonds(oxygen, donor) == pytest.approx(0.62852, abs=1e-4)


def test_metals_bind_acceptors_without_a_root() -> None:
    oxygen = ligand(
        [[0, 0, 0]], radius=1.55, interaction=Interaction.ACCEPTOR, element=8, acceptor=2
    )
    # contact 1.55 + 1.25 = 2.8: 1 up to 2.4, 0 from 3.0: (3.0 - 2.5) / 0.6 at 2.5. The root
    # straight behind would forbid a straight donor.
    metal = receptor([[2.5, 0, 0]], 1.25, Interaction.METAL, donor=1, root=[[5.0, 0.0, 0.0]])
    assert hydrogen_bonds(oxygen, metal) == pytest.approx(0.5 / 0.6, abs=1e-5)


def test_a_donor_acceptor_prefers_to_give() -> None:
    # Hydroxyl against hydroxyls: all three are donations, of which a DA atom makes one.
    hydroxyl = ligand(
        [[0, 0, 0]], 1.65, Interaction.DONOR_ACCEPTOR, 8, donor=2, acceptor=2, hydrogens=1
    )
    others = receptor(
        [[2.8, 0, 0], [0, 2.8, 0], [0, 0, 2.8]],
        1.65,
        Interaction.DONOR_ACCEPTOR,
        donor=2,
        acceptor=2,
    )
    assert hydrogen_bonds(hydroxyl, others) == pytest.approx(1.0)


def test_total_is_the_mean_of_two_functions_of_version_1_3() -> None:
    # VDW 1 (bottom of the well), HP 1 (4.3 < 4.8), HM 0.358, no HB, RT 3:
    # HPScore 3.441 + 0.004 + 0.009 - 0.061 * 3 = 3.271
    # HMScore 3.567 + 0.004 + 0.387 * 0.358 - 0.097 * 3 = 3.280 + 0.138546 = 3.418546
    found = terms(ligand([[0, 0, 0]], rotors=3.0, logp=0.358), receptor([[4.3, 0, 0]]))
    assert found["vdw"] == pytest.approx(1)
    assert found["hp"] == pytest.approx(1)
    assert found["hm"] == pytest.approx(0.358)
    assert found["hb"] == 0
    assert found["hpscore"] == pytest.approx(3.271, abs=1e-6)
    assert found["hmscore"] == pytest.approx(3.418546, abs=1e-6)
    assert found["total"] == pytest.approx(3.344773, abs=1e-6)


def test_published_hpscore_follows_from_published_terms() -> None:
    # 1fkb: VDW 743.016174, HB 4.480846, HP 124.423042, RT 6: pKd 7.408838
    published = {"vdw": 743.016174, "hb": 4.480846, "hp": 124.423042, "rt": 6.0}
    assert predicted(HPSCORE, published, "hp") == pytest.approx(7.408838, abs=1e-5)


def test_hydrogen_bonds_weigh_more_in_hmscore() -> None:
    # HPScore 3.441 + 0.054 * 2 = 3.549; HMScore 3.567 + 0.101 * 2 + 0.387 * 3 = 4.930
    found = {"vdw": 0.0, "hb": 2.0, "hp": 0.0, "hm": 3.0, "rt": 0.0}
    assert predicted(HPSCORE, found, "hp") == pytest.approx(3.549)
    assert predicted(HMSCORE, found, "hm") == pytest.approx(4.930)


def test_a_pose_that_is_not_finite_has_no_score() -> None:
    found = terms(ligand([[np.nan, 0, 0]]), receptor([[4.3, 0, 0]]))
    assert np.isnan(found["total"])


def test_an_empty_receptor_scores_the_constant_and_the_rotors() -> None:
    found = terms(ligand([[0, 0, 0]], rotors=2.0), receptor([]))
    # HPScore 3.441 - 0.061 * 2 = 3.319; HMScore 3.567 - 0.097 * 2 = 3.373
    assert found["total"] == pytest.approx(3.346)
