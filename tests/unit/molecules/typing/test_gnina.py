"""Channels by element, and radii, as gnina's files `completerec` and `completelig` have them."""

import numpy as np
import pytest

from ligen_py.engine.functions.gnina.constants import radii
from ligen_py.molecules.typing.gnina import LIGAND, RECEPTOR


def test_elements_of_the_receptor_have_the_channels_of_completerec() -> None:
    """Its lines in order, carbon's four first: halogens, nitrogen, its donors, oxygen, its donors,
    sulfur and selenium, phosphorus, calcium, zinc, other metals."""
    lines = [(9, 17, 35, 53), (7,), (), (8,), (), (16, 34), (15,), (20,), (30,)]
    expected = {element: 4 + line for line, row in enumerate(lines) for element in row}
    assert expected == RECEPTOR


def test_elements_of_the_ligand_have_the_channels_of_completelig() -> None:
    """Bromine and iodine share one, fluorine and chlorine have their own."""
    assert LIGAND[35] == LIGAND[53]
    assert len({LIGAND[element] for element in (9, 17, 35, 7, 8, 16, 15)}) == 7
    assert LIGAND[16] == LIGAND[34]


@pytest.mark.parametrize(
    ("element", "radius"),
    [(6, 1.9), (7, 1.8), (8, 1.7), (16, 2.0), (34, 2.0), (15, 2.1), (9, 1.5), (17, 1.8), (35, 2.0),
     (53, 2.2), (5, 1.92), (12, 1.2), (30, 1.2), (26, 1.2), (25, 1.2), (20, 1.2)],
)  # fmt: skip
def test_radii_are_xs_radii_of_gninas_atom_constants(element: int, radius: float) -> None:
    assert radii(np.array([element]))[0] == np.float32(radius)
