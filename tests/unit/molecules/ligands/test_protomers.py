"""Protonation states: the answers of Dimorphite-DL, by the short way."""

import dimorphite_dl
import pytest
from rdkit import Chem

from ligen_py.molecules.ligands.protomers import protonated

MOLECULES = {
    "paracetamol": "CC(=O)Nc1ccc(O)cc1",  # groups, but none that changes
    "ibuprofen": "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "ciprofloxacin": "O=C(O)c1cn(C2CC2)c2cc(N3CCNCC3)c(F)cc2c1=O",
    "imidazole": "c1c[nH]cn1",
    "trimethoprim": "COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC",
    "nitro acid": "O=C(O)c1ccc([N+](=O)[O-])cc1",  # neutralised first
    "quaternary": "C[N+](C)(C)CC(=O)O",
    "anion": "CC(=O)[O-]",
    "diphosphate": "OP(=O)(O)OP(=O)(O)OCC",  # two pKa a group, states merge
    "polyamine": "NCCNCCNCCNCCN",  # more states than are kept
    "tetrazole": "c1ccccc1-c1nn[nH]n1",
    "azide": "CCN=[N+]=[N-]",
    "sulfonamide": "CC(=O)NS(=O)(=O)c1ccc(N)cc1",
    "deuterated acid": "CC(=O)O[2H]",
    "methane": "C",
}


@pytest.mark.parametrize("reach", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("name", MOLECULES)
def test_states_are_dimorphites(name: str, reach: float) -> None:
    mol = Chem.MolFromSmiles(MOLECULES[name])
    for atom in mol.GetAtoms():
        atom.SetAtomMapNum(atom.GetIdx() + 1)
    smiles = Chem.MolToSmiles(mol)
    for ph in (4.0, 7.4, 11.0):
        low, high = ph - reach, ph + reach
        expected = dimorphite_dl.protonate_smiles(
            smiles, ph_min=low, ph_max=high, precision=0.0, max_variants=4
        )
        found = protonated(smiles, low, high, 4)
        assert list(map(canonical, found or [smiles])) == list(map(canonical, expected))


def canonical(smiles: str) -> str:
    return Chem.CanonSmiles(smiles)


def test_a_molecule_leaves_no_trace_in_the_next() -> None:
    """Patterns are chosen for each molecule by its elements."""
    before = protonated("[CH3:1][C:2](=[O:3])[OH:4]", 7.4, 7.4, 4)
    assert protonated("[CH4:1]", 7.4, 7.4, 4) == []
    assert protonated("[CH3:1][C:2](=[O:3])[OH:4]", 7.4, 7.4, 4) == before != []
