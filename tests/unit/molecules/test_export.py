"""SDF records of hostile names, and the RMSD to a crystal pose against spyrmsd."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem, RDLogger
from rdkit.Geometry import Point3D
from spyrmsd.rmsd import symmrmsd

from ligen_py.errors import InputError
from ligen_py.molecules.export import (
    TITLE_LENGTH,
    crystal_pose,
    one_line,
    sdf_record,
    symmetric_rmsd,
)
from tests.placed import started
from tests.stages.factory import prepared

HEADERS = [">  <name>", ">  <score>"]
HOSTILE = [
    "$$$$",
    ">  <score>",
    "a\nb\n\n> <x>\n1\n\n$$$$\n",
    "M  END",
    "../../etc/passwd",
    "quote \" comma , apostrophe ' tab \t",
    "naïve – 分子 \u2028 next",
    "\x1b[31mred\x00",
    "long" * 2500,
    "",
]


def molecule_of(smiles: str) -> tuple[Chem.Mol, np.ndarray, np.ndarray]:
    columns = prepared(smiles).states[0].columns
    return started(columns), columns["molecule"], columns["xyz"]


def read_all(text: str) -> list[Chem.Mol | None]:
    supplier = Chem.SDMolSupplier()
    supplier.SetData(text, removeHs=False)
    return list(supplier)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_inside_its_record(name: str) -> None:
    _, binary, xyz = molecule_of("OC(=O)c1ccccc1")
    text = sdf_record(binary, xyz, name, {"name": name, "score": "1.5"}) * 2
    # Readers differ in what they take for a header or an end; none may be mistaken.
    assert [line for line in text.splitlines() if line.startswith(">")] == HEADERS * 2
    assert [line for line in text.split("\n") if line.startswith("$$$$")] == ["$$$$"] * 2
    found = read_all(text)
    assert [mol.GetNumAtoms() for mol in found if mol is not None] == [15, 15]
    for mol in found:
        assert list(mol.GetPropNames()) == ["name", "score"]
        assert mol.GetProp("name").strip() == one_line(name).strip()
        assert mol.GetProp("score") == "1.5"
        assert len(mol.GetProp("_Name")) <= TITLE_LENGTH


def test_bond_orders_hydrogens_and_coordinates_survive() -> None:
    smiles = "C[C@H](N)C(=O)N1CC[N+](C)(C)c2ccccc21"
    mol, binary, xyz = molecule_of(smiles)
    [found] = read_all(sdf_record(binary, xyz + np.float32(7), "x", {}))
    assert found is not None
    assert Chem.CanonSmiles(Chem.MolToSmiles(Chem.RemoveHs(found))) == Chem.CanonSmiles(smiles)
    assert found.GetNumAtoms() == mol.GetNumAtoms()
    assert np.abs(found.GetConformer().GetPositions() - (xyz + 7)).max() < 1e-4


def moved(mol: Chem.Mol, order: list[int], shift: float) -> Chem.Mol:
    """The molecule with its atoms renumbered and shifted along x."""
    result = Chem.RenumberAtoms(mol, order)
    conformer = result.GetConformer()
    for i in range(result.GetNumAtoms()):
        point = conformer.GetAtomPosition(i)
        conformer.SetAtomPosition(i, Point3D(point.x + shift, point.y, point.z))
    return result


SYMMETRIC = [
    "OC(=O)c1ccc(C(C)(C)C)cc1",
    "c1ccccc1-c1ccc(C(F)(F)F)cc1",
    "NC(=[NH2+])c1ccc(S(=O)(=O)N)cc1",
    "CC(C)CC(=O)[O-]",
]


@pytest.mark.parametrize("smiles", SYMMETRIC)
def test_a_renumbered_and_shifted_molecule_is_as_far_as_the_shift(
    tmp_path: Path, smiles: str
) -> None:
    mol, binary, _ = molecule_of(smiles)
    order = np.random.default_rng(3).permutation(mol.GetNumAtoms()).tolist()
    path = tmp_path / "crystal.sdf.gz"
    with gzip.open(path, "wt") as stream:
        stream.write(Chem.MolToMolBlock(moved(mol, order, 1.5)) + "$$$$\n")
    xyz = mol.GetConformer().GetPositions().astype("f4")
    rmsd = symmetric_rmsd(binary, np.stack([xyz, xyz + np.float32([1.5, 0, 0])]), path)
    assert rmsd == pytest.approx([1.5, 0], abs=1e-3)


@pytest.mark.parametrize("smiles", SYMMETRIC[:2])
def test_rmsd_agrees_with_spyrmsd(tmp_path: Path, smiles: str) -> None:
    mol, binary, _ = molecule_of(smiles)
    path = tmp_path / "crystal.sdf"
    path.write_text(Chem.MolToMolBlock(mol))
    rng = np.random.default_rng(1)
    heavy = np.array([atom.GetAtomicNum() > 1 for atom in mol.GetAtoms()])
    xyz = mol.GetConformer().GetPositions()
    pieces = Chem.RemoveAllHs(mol)
    [match] = pieces.GetSubstructMatches(pieces, uniquify=True)
    assert len(match) == heavy.sum()
    swapped = xyz.copy()
    swapped[heavy] = xyz[heavy][::-1]
    poses = np.stack([xyz, swapped, *(xyz + rng.normal(0, 1, xyz.shape) for _ in range(4))])
    numbers = np.array([atom.GetAtomicNum() for atom in pieces.GetAtoms()])
    bonds = Chem.GetAdjacencyMatrix(pieces)
    expected = [symmrmsd(xyz[heavy], pose[heavy], numbers, numbers, bonds, bonds) for pose in poses]
    assert symmetric_rmsd(binary, poses.astype("f4"), path) == pytest.approx(expected, abs=1e-3)


def test_bond_orders_are_not_needed_in_the_crystal_file(tmp_path: Path) -> None:
    mol, binary, xyz = molecule_of("Nc1nc(N)c2cc(CC=O)ccc2n1")
    path = tmp_path / "crystal.pdb"
    path.write_text(Chem.MolToPDBBlock(Chem.RemoveHs(mol), flavor=2))
    rmsd = symmetric_rmsd(binary, (mol.GetConformer().GetPositions() + 2)[None].astype("f4"), path)
    assert rmsd == pytest.approx([12**0.5], abs=1e-2)
    assert len(xyz) == mol.GetNumAtoms()


def test_a_crystal_may_be_a_pdbqt_file(tmp_path: Path) -> None:
    mol, binary, _ = molecule_of("NCC=O")
    rows = Chem.MolToPDBBlock(Chem.RemoveHs(mol), flavor=2).splitlines()
    kinds = {"N": "N ", "C": "C ", "O": "OA"}
    atoms = [f"{row[:66]}    +0.100 {kinds[row[77]]}" for row in rows if row[:6] == "HETATM"]
    path = tmp_path / "crystal.pdbqt"
    path.write_text("\n".join(["MODEL 1", "ROOT", *atoms, "ENDROOT", "ENDMDL", ""]))
    xyz = mol.GetConformer().GetPositions().astype("f4")
    assert symmetric_rmsd(binary, xyz[None], path) == pytest.approx([0], abs=1e-2)
    path.write_text("\n".join(row.replace(" OA", "OA") for row in ["ROOT", *atoms]))
    with pytest.raises(InputError, match=r"crystal\.pdbqt, line \d: 'O' stands in column 77"):
        symmetric_rmsd(binary, xyz[None], path)


def test_salts_in_the_crystal_file_do_no_harm(tmp_path: Path) -> None:
    mol, binary, _ = molecule_of("CCO")
    with_salt = Chem.CombineMols(mol, Chem.MolFromSmiles("[Na+]"))
    path = tmp_path / "crystal.sdf"
    path.write_text(Chem.MolToMolBlock(with_salt))
    xyz = mol.GetConformer().GetPositions().astype("f4")
    assert symmetric_rmsd(binary, xyz[None], path) == pytest.approx([0], abs=1e-3)


def test_a_crystal_with_a_charge_missing_is_compared_all_the_same(tmp_path: Path) -> None:
    mol, binary, xyz = molecule_of("C[N+](C)(C)CCO")
    for atom in mol.GetAtoms():
        atom.SetFormalCharge(0)
    path = tmp_path / "crystal.sdf"
    path.write_text(Chem.MolToMolBlock(mol, kekulize=False))
    assert Chem.MolFromMolBlock(path.read_text()) is None
    assert symmetric_rmsd(binary, xyz[None], path) == pytest.approx([0], abs=1e-3)


def test_another_molecule_has_no_rmsd(tmp_path: Path) -> None:
    other, _, _ = molecule_of("CCN")
    mol, binary, _ = molecule_of("CCO")
    path = tmp_path / "crystal.sdf"
    path.write_text(Chem.MolToMolBlock(other))
    xyz = mol.GetConformer().GetPositions().astype("f4")
    assert symmetric_rmsd(binary, xyz[None], path) is None


def test_an_unreadable_crystal_is_a_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    RDLogger.EnableLog("rdApp.*")
    mol, binary, _ = molecule_of("CCO")
    xyz = mol.GetConformer().GetPositions().astype("f4")[None]
    for name, text, sentence in (
        ("a.sdf", "nonsense", "no readable molecule"),
        ("a.txt", "", "give an SDF, MOL, MOL2, PDB or PDBQT file"),
        ("empty.pdb", "", "no readable molecule"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=sentence):
            symmetric_rmsd(binary, xyz, tmp_path / name)
    with pytest.raises(InputError, match="does not exist"):
        symmetric_rmsd(binary, xyz, tmp_path / "none.sdf")
    assert capfd.readouterr().err == ""


NITROMETHANE = """@<TRIPOS>MOLECULE
nitromethane
4 3
SMALL
GASTEIGER

@<TRIPOS>ATOM
1 C 1.0 0.1 0.0 C.3 1 UNL1 0.1
2 N 2.5 0.1 0.0 N.pl3 1 UNL1 0.1
3 O 3.1 1.1 0.1 O.2 1 UNL1 0.1
4 O 3.1 -1.0 0.1 O.co2 1 UNL1 -0.5
@<TRIPOS>UNITY_ATOM_ATTR
2 1
charge 1
4 1
charge -1
@<TRIPOS>BOND
1 1 2 1
2 2 3 2
3 2 4 1
"""


def test_a_crystal_pose_of_open_babels_mol2_has_its_charges(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "crystal.mol2"
    path.write_text(NITROMETHANE)
    found = crystal_pose(path, None)
    assert found is not None
    assert found.smiles == "C[N+](=O)[O-]"
    assert len(found.xyz) == 7
    path.write_text(NITROMETHANE.replace("1 1 2 1", "1 1 2 3"))
    assert crystal_pose(path, None) is None, "no campaign ends for what is only shown"
    assert re.search(r"crystal\.mol2: .*[Vv]alence.*; correct its bonds", caplog.text)
