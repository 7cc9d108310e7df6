"""Gasteiger charges of a batch against RDKit's of each molecule, bit for bit."""

import random

import numpy as np
from rdkit import Chem

from ligen_py.molecules.arrays import Arrays
from ligen_py.molecules.lists import Lists
from ligen_py.molecules.typing.gasteiger import gasteiger, gasteiger_of

SMILES = (
    "CC(=O)[O-]",
    "NC(=[NH2+])NCC(=O)[O-]",
    "C[N+](C)(C)CCS(=O)(=O)c1ccc([N+](=O)[O-])cc1",
    "FC(Cl)(Br)I",
    "CC#N",
    "C#CCP(=O)(O)OC1=NSC=C1",
    "C[N+]1=C([O-])C([O-])=C1N",
    "[O-]C1=C([O-])C(=O)C1=O",
    "C",
    "[H][H]",
    # without parameters here, then without any
    "CS(F)(F)(F)F",
    "C[Si](C)(C)B(O)O",
    "C[Se]C",
    # sulfoxides as ChEMBL draws them, aliphatic, aromatic, beside charges
    "C[S+](C)[O-]",
    "[O-][S+](c1ccccc1)c1ccc(C(=O)[O-])cc1",
    "[O-][S+](C)C[Si](C)(C)C",
    "[Na+]",
)


def test_a_batch_has_the_charges_of_each_molecule_in_its_order() -> None:
    mols = [Chem.AddHs(Chem.MolFromSmiles(smiles)) for smiles in SMILES]
    mols.append(Chem.MolFromSmiles("CCO"))  # hydrogens that are no atoms
    arrays, shuffled = Arrays([Lists(mol) for mol in mols]), random.Random(1)
    orders = [shuffled.sample(range(mol.GetNumAtoms()), mol.GetNumAtoms()) for mol in mols]
    found = gasteiger_of(
        arrays, np.concatenate([np.add(*both) for both in zip(arrays.first, orders, strict=False)])
    )
    expected = [
        gasteiger(Chem.RenumberAtoms(mol, order)) for mol, order in zip(mols, orders, strict=True)
    ]
    assert found.tobytes() == np.concatenate(expected).tobytes()


def test_a_sulfoxide_has_the_charges_of_its_double_bond() -> None:
    """As AutoDock's programs have them."""
    drawn, double = (Chem.AddHs(Chem.MolFromSmiles(one)) for one in ("C[S+](C)[O-]", "CS(C)=O"))
    assert gasteiger(drawn).tolist() == gasteiger(double).tolist()
    assert gasteiger(drawn)[drawn.GetSubstructMatch(Chem.MolFromSmarts("[O-]"))[0]] > -0.3
