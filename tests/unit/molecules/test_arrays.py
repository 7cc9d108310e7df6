"""Molecules side by side against RDKit's own answers for each."""

import numpy as np
from rdkit import Chem

from ligen_py.molecules.arrays import Arrays
from ligen_py.molecules.ligands.rotatable_bonds import rotatable_bonds
from ligen_py.molecules.lists import Lists

SMILES = (
    "CC(=O)NC1CCC2(CC1)OCCO2",
    "C",
    "c1ccc2[nH]ccc2c1/C=C/C#N",
    "O=C1C2CCC1CC2",
    "[13CH3][O-]",
)


def side_by_side() -> tuple[list[Chem.Mol], Arrays]:
    mols = [Chem.MolFromSmiles(smiles) for smiles in SMILES]
    mols += [Chem.AddHs(mol) for mol in mols]
    return mols, Arrays([Lists(mol) for mol in mols])


def test_atoms_and_bonds_are_numbered_through() -> None:
    mols, arrays = side_by_side()
    atoms = [atom for mol in mols for atom in mol.GetAtoms()]
    bonds = [bond for mol in mols for bond in mol.GetBonds()]
    assert arrays.first.tolist() == np.cumsum([0, *(mol.GetNumAtoms() for mol in mols)]).tolist()
    assert arrays.first_bond[-1] == len(bonds)
    assert arrays.element.tolist() == [atom.GetAtomicNum() for atom in atoms]
    assert arrays.charge.tolist() == [atom.GetFormalCharge() for atom in atoms]
    assert arrays.valence.tolist() == [atom.GetTotalValence() for atom in atoms]
    assert arrays.degree.tolist() == [atom.GetTotalDegree() for atom in atoms]
    assert arrays.cyclic.tolist() == [bond.IsInRing() for bond in bonds]
    near = arrays.near - arrays.first[arrays.bond_owner]
    assert near.tolist() == [bond.GetBeginAtomIdx() for bond in bonds]
    assert (arrays.owner[arrays.near] == arrays.owner[arrays.far]).all()
    carbons = arrays.count(arrays.element == 6)
    near_atoms = [[other.GetAtomicNum() for other in atom.GetNeighbors()] for atom in atoms]
    assert carbons.tolist() == [elements.count(6) for elements in near_atoms]


def test_rings_and_double_bonds_are_those_of_each() -> None:
    mols, arrays = side_by_side()
    rings = [ring for mol in mols for ring in mol.GetRingInfo().AtomRings()]
    assert arrays.ring_size.tolist() == [len(ring) for ring in rings]
    first = np.repeat(arrays.first[:-1], np.diff(arrays.first_ring))
    assert (arrays.ring - np.repeat(first, arrays.ring_size)).tolist() == [
        atom for ring in rings for atom in ring
    ]
    ends, others = (set(side.tolist()) for side in arrays.doubles)
    assert ends == others
    assert len(arrays.doubles[0]) == 2 * 6  # two carbonyls and an alkene, with hydrogens and not


def test_bonds_that_turn_do_not_depend_on_the_molecules_beside() -> None:
    mols, arrays = side_by_side()
    alone = [rotatable_bonds(Arrays([Lists(mol)])) for mol in mols]
    assert rotatable_bonds(arrays).tolist() == np.concatenate(alone).tolist()
    assert sum(turns.sum() for turns in alone) > 2
