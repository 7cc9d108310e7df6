"""Vina's atom types and rotor count, by hand-checked molecules and a prepared file."""

from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import AllChem

from ligen_py.molecules.graph import Graph
from ligen_py.molecules.typing.vina import active_torsions, ligand_types, receptor_types, rotors
from ligen_py.records.functions.vina import VinaType
from ligen_py.records.functions.xscore import Interaction
from tests import pdbqt


def with_hydrogens(smiles: str) -> Chem.Mol:
    return Chem.AddHs(Chem.MolFromSmiles(smiles))


def heavy_types(smiles: str) -> list[str]:
    mol = with_hydrogens(smiles)
    heavy = mol.GetNumHeavyAtoms()
    types = ligand_types(Graph.of(mol))
    assert (types[heavy:] == VinaType.NONE).all()
    return [VinaType(kind).name for kind in types[:heavy]]


@pytest.mark.parametrize(
    ("smiles", "expected"),
    [
        ("CCO", ["C_H", "C_P", "O_DA"]),
        ("CC(=O)N", ["C_H", "C_P", "O_A", "N_D"]),
        ("CC(=O)N(C)C", ["C_H", "C_P", "O_A", "N_P", "C_P", "C_P"]),
        ("CN(C)C", ["C_P", "N_A", "C_P", "C_P"]),
        ("C[NH+](C)C", ["C_P", "N_D", "C_P", "C_P"]),
        ("CNS(C)(=O)=O", ["C_P", "N_DA", "S_P", "C_P", "O_A", "O_A"]),
        ("c1ccncc1", ["C_H", "C_H", "C_P", "N_A", "C_P", "C_H"]),
        ("c1cc[nH]c1", ["C_H", "C_H", "C_P", "N_D", "C_P"]),
        ("Nc1ccccc1", ["N_D", "C_P", *["C_H"] * 5]),
        ("C[N+](=O)[O-]", ["C_P", "N_P", "O_A", "O_A"]),
        ("CSCCl", ["C_P", "S_P", "C_P", "CL_H"]),
        ("FC(Br)I", ["F_H", "C_P", "BR_H", "I_H"]),
        ("C[Si](C)(C)C", ["C_P", "SI", "C_P", "C_P", "C_P"]),
        ("COP(=O)(O)O", ["C_P", "O_A", "P_P", "O_A", "O_DA", "O_DA"]),
    ],
)
def test_ligand_types(smiles: str, expected: list[str]) -> None:
    assert heavy_types(smiles) == expected


@pytest.mark.parametrize(
    ("smiles", "count", "torsions"),
    [
        ("CCCC", 1.0, 1),  # methyls are rigid
        ("CCO", 0.5, 1),  # a hydroxyl turns and counts half
        ("CCN", 0.5, 1),  # so does an amine
        ("c1ccccc1C(F)(F)F", 1.0, 1),
        ("CC(=O)NC", 0.0, 0),
        ("CC(=O)N(C)C", 0.0, 0),  # equal substituents
        ("CC(=O)N(C)CC", 2.0, 2),  # different ones, and N-C-C
        ("C1CCCCC1C1CCCCC1", 1.0, 1),
        ("C=CC=C", 1.0, 1),
        ("OO", 0.0, 1),  # neither end has two heavy neighbours
    ],
)
def test_rotors(smiles: str, count: float, torsions: int) -> None:
    mol = with_hydrogens(smiles)
    graph = Graph.of(mol)
    active = active_torsions(graph)
    assert rotors(graph, active).sum() == count
    assert len(active) == torsions


def test_receptor_types_from_roles_and_neighbours() -> None:
    element = [7, 6, 6, 8, 8, 16, 30, 7, 34]
    role = [
        Interaction.DONOR,
        Interaction.POLAR,
        Interaction.HYDROPHOBIC,
        Interaction.ACCEPTOR,
        Interaction.DONOR_ACCEPTOR,
        Interaction.HYDROPHOBIC,
        Interaction.METAL,
        Interaction.POLAR,
        Interaction.POLAR,
    ]
    bonded = [[6], [7, 6], [6, 6], [6], [6], [6, 6], [], [6, 6, 6], [6]]
    expected = ["N_D", "C_P", "C_H", "O_A", "O_DA", "S_P", "MET_D", "N_P", "S_P"]
    assert [VinaType(kind).name for kind in receptor_types(element, role, bonded)] == expected


def test_types_and_torsions_agree_with_a_prepared_ligand(shared_data: Path) -> None:
    # Made by Meeko; its remarks give the molecule and where its atoms stand in the file.
    path = shared_data / "reference" / "vina_1iep" / "1iep_ligand.pdbqt"
    remarks = [line.split()[1:] for line in path.read_text().splitlines() if "REMARK" in line]
    (smiles,) = (words[1] for words in remarks if words[0] == "SMILES" and words[1] != "IDX")
    numbers = [n for words in remarks if words[:2] == ["SMILES", "IDX"] for n in words[2:]]
    row = {int(a) - 1: int(b) - 1 for a, b in zip(numbers[::2], numbers[1::2], strict=True)}

    mol = AllChem.AddHs(Chem.MolFromSmiles(smiles))
    prepared = pdbqt.read(path)
    expected = prepared.vina_types()
    found = ligand_types(Graph.of(mol))
    heavy = mol.GetNumHeavyAtoms()
    assert np.array_equal(found[:heavy], [expected[row[i]] for i in range(heavy)])
    graph = Graph.of(mol)
    active = active_torsions(graph)
    turning = {frozenset((row[a], row[b])) for a, b in graph.bond[active].tolist()}
    assert turning == {frozenset(cut) for cut in prepared.cuts}
    assert rotors(graph, active).sum() == len(prepared.cuts)
