"""AutoDock4's types and charges of ligands, and directions of a receptor's hydrogen bonds."""

from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem

from ligen_py.molecules.graph import Graph
from ligen_py.molecules.typing.ad4 import charged_receptor, ligand_types
from ligen_py.molecules.typing.gasteiger import gasteiger
from ligen_py.records.functions.ad4 import Ad4Type
from tests import pdbqt


@pytest.mark.parametrize(
    ("smiles", "expected"),
    [
        ("CCO", ["C", "C", "OA", "HD"]),
        ("CC(=O)N", ["C", "C", "OA", "N", "HD", "HD"]),
        ("c1ccncc1", ["A", "A", "A", "NA", "A", "A"]),
        ("CSC", ["C", "SA", "C"]),
        ("c1ccsc1", ["A", "A", "A", "S", "A"]),
        ("CS(C)(=O)=O", ["C", "S", "C", "OA", "OA"]),
        ("C[NH3+]", ["C", "N", "HD", "HD", "HD"]),
        ("CCl", ["C", "CL"]),
    ],
)
def test_ligand_types(smiles: str, expected: list[str]) -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    types, charges = ligand_types(Graph.of(mol), gasteiger(mol))
    assert [Ad4Type(kind).name for kind in types if kind] == expected
    assert charges[types == Ad4Type.NONE] == pytest.approx(0)
    assert charges.sum() == pytest.approx(Chem.GetFormalCharge(mol), abs=1e-3)


def test_charges_agree_with_a_prepared_ligand(shared_data: Path) -> None:
    # By Meeko, whose Gasteiger charges are RDKit's as well.
    path = shared_data / "reference" / "vina_1iep" / "1iep_ligand.pdbqt"
    remarks = [line.split()[1:] for line in path.read_text().splitlines() if "REMARK" in line]
    (smiles,) = (words[1] for words in remarks if words[0] == "SMILES" and words[1] != "IDX")
    numbers = [n for words in remarks if words[:2] == ["SMILES", "IDX"] for n in words[2:]]
    row = {int(a) - 1: int(b) - 1 for a, b in zip(numbers[::2], numbers[1::2], strict=True)}
    prepared = pdbqt.read(path)
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    types, charges = ligand_types(Graph.of(mol), gasteiger(mol))
    for atom in range(mol.GetNumHeavyAtoms()):
        assert types[atom] == prepared.ad4_types()[row[atom]]
        assert charges[atom] == pytest.approx(prepared.charge[row[atom]], abs=0.002)


def test_an_atom_without_parameters_leaves_formal_charges() -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles("C[Si](C)(C)CC[N+](C)(C)C"))
    _, charges = ligand_types(Graph.of(mol), gasteiger(mol))
    assert charges.sum() == pytest.approx(1, abs=1e-3)


def test_directions_of_hydrogen_bonds() -> None:
    # A carbonyl along x in the plane z = 0, a hydroxyl, and a pyridine nitrogen.
    types = ["OA", "C", "C", "C", "OA", "HD", "C", "NA", "C", "C"]
    xyz = np.array(
        [
            [1.2, 0, 0], [0, 0, 0], [-0.8, 1.2, 0], [20, 0, 0], [21.4, 0, 0], [21.7, 0.9, 0],
            [19, 1.1, 0], [40, 1.0, 0], [39, 0.2, 0], [41, 0.2, 0],
        ],
        float,
    )  # fmt: skip
    kinds = np.array([Ad4Type[name] for name in types])
    receptor = charged_receptor(xyz, kinds, np.zeros(len(kinds)))
    assert receptor.axis[0] == pytest.approx([1, 0, 0])
    assert np.abs(receptor.normal[0]) == pytest.approx([0, 0, 1])
    assert receptor.axis[5] == pytest.approx(np.array([0.3, 0.9, 0]) / np.hypot(0.3, 0.9))
    assert receptor.exponent[5] == 4
    assert receptor.axis[7] == pytest.approx([0, 1, 0])
    assert receptor.axis[4] @ receptor.normal[4] == pytest.approx(0, abs=1e-6)
    assert receptor.axis[4][1] < 0 < receptor.axis[4][0]
    assert not receptor.axis[1].any()
    donor = charged_receptor(
        np.array([[0.0, 0, 0], [1, 0, 0]]), np.array([Ad4Type.N, Ad4Type.HD]), np.zeros(2)
    )
    assert donor.exponent[1] == 2
