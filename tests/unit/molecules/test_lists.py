"""Atoms and bonds from RDKit's bytes against its own answers, one by one."""

import pytest
from rdkit import Chem

from ligen_py.molecules import lists
from ligen_py.molecules.lists import Lists

SMILES = (
    "C[C@@H](N)C(=O)[O-]",
    "C/C(F)=C(\\Cl)C/C=C/C#N",
    "[13CH3][N+]1(C)CC1c1c[nH]c2ncccc12",
    "C[CH]C=CC[Si](C)(C)[S@@](=O)C",
    "[Na+].[Cl-].N->[Zn]",
    "C$C",
    "C",
)


def asked(mol: Chem.Mol) -> object:
    return lists._asked(mol)


@pytest.mark.parametrize("smiles", SMILES)
def test_bytes_say_what_rdkit_says(smiles: str) -> None:
    """Twice: what is learnt the first time is remembered the second time."""
    for mol in (Chem.MolFromSmiles(smiles), Chem.AddHs(Chem.MolFromSmiles(smiles))):
        for _ in range(2):
            assert lists._from_bytes(mol) == asked(mol)


@pytest.mark.parametrize(
    "smiles", ["C1CC1CCC12CC1C2", "C1CCCC1.c1ccccc1", "C12C3C4C1C5C2C3C45", "CC"]
)
def test_rings_are_rdkits(smiles: str) -> None:
    """Those that symmetry makes equal included, and those of a search that stops early."""
    mol = Chem.MolFromSmiles(smiles)
    assert Lists(mol).rings == mol.GetRingInfo().AtomRings()
    mol = Chem.MolFromSmiles(smiles, sanitize=False)
    mol.UpdatePropertyCache()
    Chem.FastFindRings(mol)
    assert Lists(mol).rings == mol.GetRingInfo().AtomRings()


def test_conformers_and_properties_change_nothing() -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles("CCO"))
    before = lists._from_bytes(mol)
    mol.AddConformer(Chem.Conformer(mol.GetNumAtoms()))
    mol.GetAtomWithIdx(0).SetProp("name", "a")
    assert lists._from_bytes(mol) == before == asked(mol)


@pytest.mark.parametrize("count", [254, 255, 256, 300])
def test_molecules_of_more_atoms_than_a_byte_counts(count: int) -> None:
    mol = Chem.MolFromSmiles("C" * count)
    assert (lists._from_bytes(mol) is None) == (count > 255)
    found = Lists(mol)
    assert found.near == list(range(count - 1))
    assert found.far == list(range(1, count))
    assert found.element == [6] * count


def test_fewer_atoms_may_have_more_bonds_than_a_byte_counts() -> None:
    """Oligoprolines: 17 of them have 241 atoms, 257 bonds, and were lost."""
    for units in (15, 17):
        mol = Chem.AddHs(Chem.MolFromSmiles("N1CCC[C@H]1C(=O)" * units + "O"))
        assert (lists._from_bytes(mol) is None) == (mol.GetNumBonds() > 255)
        found, expected = Lists(mol), asked(mol)
        assert (found.near, found.far, found.rings) == (expected[1], expected[2], expected[4])


@pytest.mark.parametrize("smiles", ["C[CH3:1]", "*C", "CC"])
def test_atoms_with_more_than_the_usual_are_asked(smiles: str) -> None:
    mol = Chem.MolFromSmiles(smiles)
    if smiles == "CC":
        mol.GetAtomWithIdx(0).SetMonomerInfo(Chem.AtomPDBResidueInfo())
    assert lists._from_bytes(mol) is None
    assert Lists(mol).hydrogens == [atom.GetTotalNumHs() for atom in mol.GetAtoms()]


def test_bonds_with_more_than_the_usual_are_asked() -> None:
    mol = Chem.MolFromSmarts("C~C")
    mol.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(mol)
    assert lists._from_bytes(mol) is None
    assert Lists(mol).element == [6, 6]


def test_an_unknown_version_of_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "HEAD", b"other")
    mol = Chem.MolFromSmiles("CCO")
    assert lists._from_bytes(mol) is None
    assert Lists(mol).element == [6, 6, 8]


def test_the_installed_version_is_the_known_one() -> None:
    """Else every molecule is asked atom by atom, which takes seven times as long."""
    assert Chem.MolFromSmiles("C").ToBinary().startswith(lists.HEAD)


def test_what_is_remembered_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "KNOWN", 0)
    for smiles in ("CCO", "c1ccccc1"):
        mol = Chem.MolFromSmiles(smiles)
        assert lists._from_bytes(mol) == asked(mol)
        assert len(lists._atoms) < 4


def test_rings_and_double_bonds() -> None:
    found = Lists(Chem.MolFromSmiles("O=CC1CC1"))
    assert found.rings == ((2, 3, 4),)
    bonds = {(2, 3), (3, 4), (2, 4)}
    assert found.cyclic == bonds | {(second, first) for first, second in bonds}
    assert found.doubles == [(0, 1), (1, 0)]
    assert found.degree == [1, 3, 4, 4, 4]
    assert found.neighbours[2] == [1, 3, 4]
    assert found.ranks[3] == found.ranks[4]
