"""Clusters of poses with the molecule's symmetry in mind, against RDKit's RMSD."""

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import AllChem, rdMolAlign

from ligen_py.engine.random_input import make_ligands
from ligen_py.molecules.clusters import (
    MOST_SYMMETRIES,
    clusters,
    rmsd,
    symmetries,
    symmetries_of,
)

PHOSPHATE = "OP(=O)(O)O"
PHYTIC_ACID = f"{PHOSPHATE}C1C({PHOSPHATE})C({PHOSPHATE})C({PHOSPHATE})C({PHOSPHATE})C1{PHOSPHATE}"


def molecule(smiles: str) -> tuple[Chem.Mol, np.ndarray, np.ndarray]:
    mol = Chem.MolFromSmiles(smiles)
    AllChem.EmbedMultipleConfs(mol, 6, randomSeed=1)
    element = np.array([atom.GetAtomicNum() for atom in mol.GetAtoms()])
    bond = np.array([(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in mol.GetBonds()])
    return mol, element, bond


@pytest.mark.parametrize(
    ("smiles", "ways"), [("c1ccccc1", 12), ("Cc1ccccc1", 2), ("CC(=O)[O-]", 2), ("CCO", 1)]
)
def test_molecules_have_their_symmetries(smiles: str, ways: int) -> None:
    _, element, bond = molecule(smiles)
    assert len(symmetries(element, bond)) == ways


@pytest.mark.parametrize("seed", range(4))
def test_a_pose_of_the_most_symmetric_molecule_is_its_own(seed: int) -> None:
    # Phytic acid maps onto itself in 559,872 ways, so only the first thousand are tried; RDKit
    # does not begin with that in which every atom stays.
    mol = Chem.MolFromSmiles(PHYTIC_ACID)
    order = np.random.default_rng(seed).permutation(mol.GetNumAtoms()).tolist()
    mol = Chem.RenumberAtoms(mol, order)
    element = np.array([atom.GetAtomicNum() for atom in mol.GetAtoms()])
    bond = np.array([(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in mol.GetBonds()])
    ways = symmetries(element, bond)
    assert len(ways) == MOST_SYMMETRIES
    pose = np.random.default_rng(0).normal(0, 5, (len(element), 3))
    assert rmsd(pose, pose, ways) == 0


@pytest.mark.parametrize("smiles", ["Cc1ccccc1CCO", "c1ccccc1", "OC(=O)c1ccc(C(C)C)cc1"])
def test_rmsds_are_those_of_rdkit(smiles: str) -> None:
    mol, element, bond = molecule(smiles)
    mol = Chem.RemoveHs(mol)
    ways = symmetries(element, bond)
    places = [one.GetPositions() for one in mol.GetConformers()]
    for i in range(6):
        for j in range(i):
            maps = [list(enumerate(way)) for way in ways.tolist()]
            known = rdMolAlign.CalcRMS(Chem.Mol(mol), mol, i, j, map=maps)
            assert rmsd(places[i], places[j], ways) == pytest.approx(known, abs=1e-6)


def test_clusters_are_led_by_their_best_poses() -> None:
    centers = np.array([0.0, 0.5, 10.0, 10.4, 20.0])
    poses = [np.array([[x, 0, 0], [x, 1, 0]]) for x in centers]
    energies = np.array([-5.0, -7.0, -6.0, -1.0, -2.0])
    found = clusters(poses, energies, 2.0, np.array([[0, 1]]))
    assert [[member.pose for member in group] for group in found] == [[1, 0], [2, 3], [4]]
    assert found[0][1].rmsd == pytest.approx(0.5)
    assert clusters(poses, energies, 1e-3, np.array([[0, 1]])) != found
    turned = [poses[0], poses[0][::-1]]
    both = np.array([[0, 1], [1, 0]])
    assert len(clusters(turned, energies[:2], 0.1, both)) == 1


def test_symmetries_of_many_ligands_are_those_of_each() -> None:
    ligands = make_ligands([(9, 2), (5, 0)])
    for number, ways in enumerate(symmetries_of(ligands)):
        atoms = slice(ligands.first_atom[number], ligands.first_atom[number + 1])
        bonds = slice(ligands.first_bond[number], ligands.first_bond[number + 1])
        assert np.array_equal(ways, symmetries(ligands.element[atoms], ligands.bond[bonds]))
        assert ways.shape[1] == (ligands.element[atoms] > 1).sum()
