"""Molecules that are given one by one: SMILES with names, RDKit molecules, and what is none."""

from pathlib import Path

import pytest
from rdkit import Chem
from rdkit.Chem import rdDistGeom

from ligen_py.molecules.given import Given, NoMoleculeError, given, is_smiles, write_library


def built(smiles: str) -> Chem.Mol:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    assert rdDistGeom.EmbedMolecule(mol, randomSeed=1) == 0
    return mol


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("CCO", Given("CCO", "CCO")),
        ("  CCO\tmy name ", Given("my name", "CCO")),
        ("\x00CCO a\tb\x00\x1b\r\n", Given("a b", "CCO")),
        ("C[C@H](N)O |o1:1| two words", Given("two words", "C[C@H](N)O |o1:1|")),
    ],
)
def test_smiles_with_and_without_names(value: str, expected: Given) -> None:
    assert given(value) == expected


@pytest.mark.parametrize("value", [None, "", "  ", "\t\n", Chem.Mol()])
def test_what_is_no_molecule_says_so(value: object) -> None:
    with pytest.raises(NoMoleculeError):
        given(value)


@pytest.mark.parametrize("character", ["\x00", "\x0b", "\x1f", "\x7f", "\x85", "\u2028"])
def test_a_control_character_makes_no_other_molecule(character: str) -> None:
    for text in (f"CC{character}O", f"CCO a{character}b"):
        with pytest.raises(NoMoleculeError, match=r"a control character, '\\[xu]\w+', in the text"):
            given(text)


def test_a_molecule_without_atoms_is_called_so() -> None:
    with pytest.raises(NoMoleculeError, match=r"^a molecule without atoms$"):
        given(Chem.Mol())


def test_another_type_is_named() -> None:
    with pytest.raises(TypeError, match="not int"):
        given(12)


def test_what_rdkit_reads_as_smiles() -> None:
    assert is_smiles("CCO ethanol")
    assert not is_smiles("C(")
    assert not is_smiles("")


def test_an_rdkit_molecule_is_a_block_where_it_has_three_dimensions() -> None:
    flat = Chem.MolFromSmiles("CCO")
    flat.SetProp("_Name", "a\nb")
    flat.SetProp("price", "3")
    found = given(flat)
    assert (found.name, found.text, found.is_block, found.items) == (
        "a b",
        "CCO",
        False,
        {"price": "3"},
    )
    mol = built("C[C@H](N)O")
    found = given(mol)
    assert found.is_block
    assert found.name == Chem.MolToSmiles(Chem.RemoveHs(mol))
    again = Chem.MolFromMolBlock(found.text, removeHs=False)
    assert again.GetConformer().GetPositions() == pytest.approx(
        mol.GetConformer().GetPositions(), abs=1e-4
    )
    assert Chem.MolToSmiles(Chem.RemoveHs(again)) == found.name


def test_a_name_cannot_end_its_record() -> None:
    mol = built("CCO")
    mol.SetProp("_Name", "a\n$$$$\nb")
    mol.SetProp("_MolFileComments", "c\n$$$$\nd")
    mol.SetProp("IC50 > 3\n$$$$\n", "yes")
    text = given(mol).text
    assert [line for line in text.splitlines() if line.startswith("$$$$")] == ["$$$$"]
    assert text.splitlines()[0] == "a $$$$ b"
    assert ">  <IC50 ) 3 $$$$ >" in text.splitlines()


def test_the_first_conformer_with_depth_is_taken() -> None:
    mol = built("CCO")
    places = mol.GetConformer().GetPositions()
    plane = Chem.Conformer(mol.GetNumAtoms())
    plane.SetPositions(places * [1.0, 1.0, 0.0])
    both = Chem.Mol(mol)
    both.RemoveAllConformers()
    both.AddConformer(plane, assignId=True)
    both.AddConformer(mol.GetConformer(), assignId=True)
    again = Chem.MolFromMolBlock(given(both).text, removeHs=False)
    assert again.GetConformer().GetPositions() == pytest.approx(places, abs=1e-4)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_coordinates_are_numbers(value: float) -> None:
    mol = built("CCO")
    mol.GetConformer().SetAtomPosition(1, (0.0, 0.0, value))
    with pytest.raises(NoMoleculeError, match=r"^coordinates that are no numbers"):
        given(mol)


def test_records_stand_at_their_lines(tmp_path: Path) -> None:
    path, lines = write_library([given("CCO a"), given("CC b")], tmp_path / "x")
    assert path.read_text().splitlines() == ["smiles,name", "CCO,a", "CC,b"]
    assert lines == [2, 3]
    path, lines = write_library([given(built("CCO")), given(built("CC"))], tmp_path / "y")
    text = path.read_text().splitlines()
    assert [text[line - 1] for line in lines] == ["CCO", "CC"]


def test_a_racemate_stays_one() -> None:
    mol = Chem.MolFromSmiles("C[C@H](O)c1ccccc1 |&1:1|")
    assert given(mol) == Given("C[C@H](O)c1ccccc1", "C[C@H](O)c1ccccc1 |&1:1|")
