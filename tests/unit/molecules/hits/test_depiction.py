"""Drawings: sizes that a page relies on, and what stands for colours."""

import re

import numpy as np
import pytest
from rdkit import Chem

from ligen_py.molecules.hits.depiction import HEIGHT, WIDTH, drawing


def points(smiles: str) -> np.ndarray:
    """Ends of all bonds (bonds, 2, 2)."""
    path = drawing(Chem.MolFromSmiles(smiles))
    ends = re.findall(r"M([-\d.]+),([-\d.]+)L([-\d.]+),([-\d.]+)(?=[M\"])", path)
    return np.array(ends, float).reshape(-1, 2, 2)


def test_bonds_of_small_molecules_have_one_length() -> None:
    for smiles in ("CCC", "CC(C)C"):
        bonds = points(smiles)
        assert np.linalg.norm(bonds[:, 1] - bonds[:, 0], axis=1) == pytest.approx(36, abs=0.2)


def test_large_molecules_fill_the_picture_but_for_its_margin() -> None:
    x, y = points("C" * 40).reshape(-1, 2).T
    assert (x.min(), x.max()) == pytest.approx((0.04 * WIDTH, 0.96 * WIDTH), abs=0.5)
    assert (y.min() + y.max()) / 2 == pytest.approx(HEIGHT / 2, abs=0.3)


def test_letters_and_bonds_of_an_element_share_a_class() -> None:
    picture = drawing(Chem.MolFromSmiles("C[C@H](O)F"))
    assert re.findall(r'<text class="(\w+)"[^>]*>(\w)<', picture) == [
        ("O", "O"), ("O", "H"), ("F", "F")
    ]  # fmt: skip
    assert picture.count('<path class="f"') == 1
    assert picture.count('<path class="O"') == picture.count('<path class="F"') == 1
