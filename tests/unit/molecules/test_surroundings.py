"""Bonds of a molecule as lists, and which atoms have equal surroundings."""

import pytest
from rdkit import Chem

from ligen_py.molecules.surroundings import (
    AROMATIC,
    DOUBLE,
    SINGLE,
    TRIPLE,
    UNUSUAL,
    Surroundings,
)


def of(smiles: str) -> Surroundings:
    return Surroundings(Chem.MolFromSmiles(smiles))


def test_orders_of_bonds() -> None:
    found = of("CC(=O)C#Cc1ccccc1").bonds
    assert [order for _, _, order, _ in found[:5]] == [SINGLE, DOUBLE, SINGLE, TRIPLE, SINGLE]
    assert {order for _, _, order, _ in found[5:]} == {AROMATIC}
    assert [ring for _, _, _, ring in found] == [False] * 5 + [True] * 6
    assert [order for _, _, order, _ in of("C$C").bonds] == [UNUSUAL]


def test_equal_atoms_with_equal_neighbours_have_equal_numbers() -> None:
    """Of propane's, butane's and isobutane's atoms."""
    propane, butane, isobutane = of("CCC"), of("CCCC"), of("CC(C)C")
    assert propane.number[0] == propane.number[2] == butane.number[0] == butane.number[3]
    assert butane.number[1] == butane.number[2] != propane.number[1]
    assert isobutane.number[0] != propane.number[0]
    assert len({of(f"C{bond}C").number[0] for bond in "-=#"}) == 3
    assert butane.beyond(0) != propane.beyond(0)
    assert butane.beyond(0) == butane.beyond(3)


@pytest.mark.parametrize(
    ("smiles", "plain"),
    [("CC(=O)C#Cc1ccccc1", True), ("[H][H]", False), ("C$C", False), ("N->[Zn]", False)],
)
def test_plain_molecules_have_implicit_hydrogens_and_common_bonds(smiles: str, plain: bool) -> None:
    assert of(smiles).is_plain == plain
