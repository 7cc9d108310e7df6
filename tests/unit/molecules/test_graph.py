"""Arrays of a molecule against RDKit's own answers, atom by atom and bond by bond."""

from dataclasses import fields

import numpy as np
import pytest
from rdkit import Chem

from ligen_py.molecules.arrays import Arrays
from ligen_py.molecules.graph import Graph, outlines
from ligen_py.molecules.lists import Lists
from ligen_py.molecules.typing.xscore_ligands import ligand_types

SMILES = (
    "Cc1ccc(NC(=O)c2ccc(CN3CCN(C)CC3)cc2)cc1Nc1nccc(-c2cccnc2)n1",
    "CN(Cc1cnc2nc(N)nc(N)c2n1)c1ccc(cc1)C(=O)N[C@@H](CCC(=O)[O-])C(=O)O",
    "O=c1cc[nH]c2c1c1ccccc1n2CC#N",  # aromatic carbonyl, a nitrile
    "C[n+]1ccccc1C=C=C",
    "O=S(=O)(Nc1ccc2ccccc2c1)c1cccs1",
    "[O-][n+]1onc2ccccc21",
    "C1CC2CCC1C2.C",  # two molecules, a bridged ring
    "C",
)


def molecule(smiles: str) -> Chem.Mol:
    return Chem.AddHs(Chem.MolFromSmiles(smiles))


@pytest.mark.parametrize("smiles", SMILES)
def test_atoms_and_bonds_are_those_of_rdkit(smiles: str) -> None:
    mol = molecule(smiles)
    graph = Graph.of(mol)
    kekule = Chem.Mol(mol)
    Chem.Kekulize(kekule, clearAromaticFlags=False)
    for i, atom in enumerate(mol.GetAtoms()):
        near = [other.GetAtomicNum() for other in atom.GetNeighbors()]
        orders = [bond.GetBondTypeAsDouble() for bond in kekule.GetAtomWithIdx(i).GetBonds()]
        assert graph.element[i] == atom.GetAtomicNum()
        assert graph.charge[i] == atom.GetFormalCharge()
        assert graph.aromatic[i] == atom.GetIsAromatic()
        assert graph.hydrogens[i] == near.count(1)
        assert graph.heavy[i] == len(near) - near.count(1)
        assert graph.degree[i] == len(near)
        assert graph.highest_order[i] == max(orders, default=1)
    orders = {1.0: 1, 2.0: 2, 3.0: 3, 1.5: 4}
    expected = sorted(
        (*sorted((b.GetBeginAtomIdx(), b.GetEndAtomIdx())), b.GetBondTypeAsDouble(), b.IsInRing())
        for b in mol.GetBonds()
    )
    assert graph.bond.tolist() == [[first, second] for first, second, _, _ in expected]
    assert graph.order.tolist() == [orders[order] for _, _, order, _ in expected]
    assert graph.cyclic.tolist() == [cyclic for _, _, _, cyclic in expected]


@pytest.mark.parametrize("smiles", SMILES)
def test_a_renumbered_graph_is_that_of_the_renumbered_molecule(smiles: str) -> None:
    mol = molecule(smiles)
    order = np.random.default_rng(1).permutation(mol.GetNumAtoms())
    found = Graph.of_outlines(outlines(Arrays([Lists(mol)]), order))
    expected = Graph.of(Chem.RenumberAtoms(mol, order.tolist()))
    for spec in fields(Graph):
        if spec.name not in ("ring", "single_pair"):  # rings start anywhere, in any order
            assert np.array_equal(getattr(found, spec.name), getattr(expected, spec.name))
    found_types, expected_types = ligand_types(found), ligand_types(expected)
    assert np.array_equal(found_types.radius, expected_types.radius)


def test_joined_graphs_have_the_types_of_each() -> None:
    mols = [molecule(smiles) for smiles in SMILES]
    graphs = [Graph.of(mol) for mol in mols]
    arrays = Arrays([Lists(mol) for mol in mols])
    side_by_side = outlines(arrays, np.arange(arrays.first[-1]))
    together = ligand_types(Graph.of_outlines(side_by_side))
    for name in ("radius", "interaction", "donor", "acceptor", "logp", "hydrogens", "rotors"):
        alone = np.concatenate([getattr(ligand_types(graph), name) for graph in graphs])
        assert np.array_equal(getattr(together, name), alone)


def test_a_bond_without_an_order_is_an_error() -> None:
    mol = Chem.RWMol(molecule("CCO"))
    mol.GetBondWithIdx(0).SetBondType(Chem.BondType.ZERO)
    with pytest.raises(ValueError, match="no order"):
        Graph.of(mol)
