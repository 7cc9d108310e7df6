"""The limits of interactions are the published ones."""

import numpy as np
import pytest

from ligen_py.molecules.interactions import criteria


def test_limits_are_those_of_prolif_and_plip() -> None:
    """Defaults of ProLIF 2's classes; HYDROPHOBIC is PLIP's HYDROPH_DIST_MAX."""
    assert (criteria.HYDROGEN_BOND, criteria.HYDROGEN_BOND_ANGLE) == (3.5, 130.0)  # HBAcceptor
    assert criteria.HYDROPHOBIC == 4.0
    assert criteria.SALT_BRIDGE == 4.5  # Anionic
    assert criteria.CATION_PI == (4.5, 30.0)  # CationPi
    assert criteria.FACE_TO_FACE == (5.5, 35.0, 33.0)  # FaceToFace
    assert criteria.EDGE_TO_FACE == (6.5, 50.0, 30.0, 1.5)  # EdgeToFace
    assert criteria.HALOGEN_BOND == (3.5, 130.0, (80.0, 140.0))  # XBAcceptor
    assert criteria.METAL == 2.8  # MetalDonor


def test_a_hydroxyl_turns_its_hydrogen_as_near_to_the_acceptor_as_its_angle_allows() -> None:
    """By the law of cosines: a bond of 1.0 A, 30 degrees aside of an acceptor 2.8 A away."""
    turned = np.radians(109.5 + 30)
    acceptor = 2.8 * np.array([np.cos(turned), np.sin(turned), 0])
    found = criteria.turning_angle(np.array([1.4, 0, 0]), np.zeros(3), acceptor)
    assert found == pytest.approx(135.504, abs=1e-3)
