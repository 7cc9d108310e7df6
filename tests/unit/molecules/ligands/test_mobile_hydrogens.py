"""Tautomers of azoles, amidines and guanidines have one parent, and with it one set of states."""

import random

import pytest
from rdkit import Chem

from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands.preparation import Prepared, prepare
from ligen_py.molecules.ligands.standardising import ONE_TAUTOMER, canonical_smiles, standardise
from ligen_py.settings.parse import ParseSettings

SETTINGS = ParseSettings(conformers=1, macrocycle_conformers=1)

TAUTOMERS = {
    "4-methylimidazole": ("Cc1c[nH]cn1", "Cc1cnc[nH]1"),
    "3-methylpyrazole": ("Cc1cc[nH]n1", "Cc1ccn[nH]1"),
    "3-methyl-1,2,4-triazole": ("Cc1nc[nH]n1", "Cc1ncn[nH]1", "Cc1nnc[nH]1"),
    "4-methyl-1,2,3-triazole": ("Cc1c[nH]nn1", "Cc1cn[nH]n1", "Cc1cnn[nH]1"),
    "5-methyltetrazole": ("Cc1nnn[nH]1", "Cc1nn[nH]n1"),
    "4-methylbenzimidazole": ("Cc1cccc2[nH]cnc12", "Cc1cccc2nc[nH]c12"),
    "5-nitrobenzotriazole": ("O=[N+]([O-])c1ccc2[nH]nnc2c1", "O=[N+]([O-])c1ccc2nn[nH]c2c1"),
    "indazole": ("c1ccc2[nH]ncc2c1", "c1ccc2n[nH]cc2c1"),
    "adenine": ("Nc1ncnc2[nH]cnc12", "Nc1ncnc2nc[nH]c12"),
    "guanine": ("Nc1nc2[nH]cnc2c(=O)[nH]1", "Nc1nc2nc[nH]c2c(=O)[nH]1"),
    "theophylline": ("Cn1c(=O)c2[nH]cnc2n(C)c1=O", "Cn1c(=O)c2nc[nH]c2n(C)c1=O"),
    "N-methylacetamidine": ("CNC(C)=N", "CN=C(C)N", "C/N=C(/C)N", "C/N=C(\\C)N"),
    "N-ethyl-N'-methylguanidine": ("CCNC(=N)NC", "CCN=C(N)NC", "CCNC(N)=NC"),
    "clonidine": ("Clc1cccc(Cl)c1N=C1NCCN1", "Clc1cccc(Cl)c1NC1=NCCN1"),
    "tizanidine": ("Clc1ccc2nsnc2c1N=C1NCCN1", "Clc1ccc2nsnc2c1NC1=NCCN1"),
    "acetylguanidine": ("CC(=O)N=C(N)N", "CC(=O)NC(=N)N"),
    "guanfacine": ("NC(N)=NC(=O)Cc1c(Cl)cccc1Cl", "N=C(N)NC(=O)Cc1c(Cl)cccc1Cl"),
    "creatinine": ("CN1CC(=O)N=C1N", "CN1CC(=O)NC1=N"),
    "acetamidoxime": ("CC(N)=NO", "CC(=N)NO"),
    "hydroxyguanidine": ("NC(N)=NO", "N=C(N)NO"),
    "aminoguanidine": ("NN=C(N)N", "NNC(=N)N"),
    "guanabenz": ("NC(N)=NN=Cc1c(Cl)cccc1Cl", "N=C(N)NN=Cc1c(Cl)cccc1Cl"),
    "metformin": ("CN(C)C(=N)NC(=N)N", "CN(C)C(N)=NC(=N)N", "CN(C)C(=N)N=C(N)N"),
    "proguanil": ("CC(C)NC(=N)NC(=N)Nc1ccc(Cl)cc1", "CC(C)NC(=N)NC(N)=Nc1ccc(Cl)cc1"),
    "cimetidine": (
        "CNC(=NC#N)NCCSCc1nc[nH]c1C",
        "CN=C(NC#N)NCCSCc1[nH]cnc1C",
        "CN/C(=N/C#N)NCCSCc1nc[nH]c1C",
        "CN/C(=N\\C#N)NCCSCc1nc[nH]c1C",
    ),
    "famotidine's end": ("NC(C)=NS(N)(=O)=O", "CC(=N)NS(N)(=O)=O", "N/C(C)=N/S(N)(=O)=O"),
    "diazoxide": ("CC1=NS(=O)(=O)c2cc(Cl)ccc2N1", "CC1=Nc2ccc(Cl)cc2S(=O)(=O)N1"),
    "xylazine": ("Cc1cccc(C)c1N=C1NCCCS1", "Cc1cccc(C)c1NC1=NCCCS1"),
    "cycloguanil": (
        "CC1(C)N=C(N)N=C(N)N1c1ccc(Cl)cc1",
        "CC1(C)N=C(N)NC(=N)N1c1ccc(Cl)cc1",
        "CC1(C)NC(N)=NC(=N)N1c1ccc(Cl)cc1",
        "CC1(C)NC(=N)NC(=N)N1c1ccc(Cl)cc1",
    ),
    "imeglimin": (
        "CC1N=C(N(C)C)N=C(N)N1",
        "CC1N=C(N)N=C(N(C)C)N1",
        "CC1N=C(N)NC(N(C)C)=N1",
        "CC1NC(=N)NC(N(C)C)=N1",
    ),
    "diiminoisoindoline": ("N=C1N=C(N)c2ccccc21", "N=C1NC(=N)c2ccccc21"),
    "an isothiosemicarbazone": ("CSC(N)=NN=C(C)C", "CSC(=N)NN=C(C)C"),
    "an isourea": ("COC(N)=Nc1ccccc1", "COC(=N)Nc1ccccc1"),
}
"""Name -> its parent, and other drawings."""


def of(text: str) -> Prepared:
    return prepare(Record(1, "x", text), SETTINGS)


def states(prepared: Prepared) -> list[tuple[str, float]]:
    return [
        (str(state.shape["smiles"][0]), float(state.shape["state_cost"][0]))
        for state in prepared.states
    ]


@pytest.mark.parametrize("drawings", TAUTOMERS.values(), ids=TAUTOMERS)
def test_tautomers_are_one_molecule_with_the_same_states(drawings: tuple[str, ...]) -> None:
    """Which one a library draws first must decide nothing."""
    parent = of(drawings[0])
    assert parent.smiles == Chem.CanonSmiles(drawings[0])
    assert ONE_TAUTOMER not in parent.note
    for drawn in drawings[1:]:
        found = of(drawn)
        assert (found.smiles, found.key) == (parent.smiles, parent.key)
        assert states(found) == states(parent)


@pytest.mark.parametrize("drawings", TAUTOMERS.values(), ids=TAUTOMERS)
def test_the_parent_does_not_depend_on_the_order_of_atoms(drawings: tuple[str, ...]) -> None:
    for drawn in drawings:
        mol = Chem.MolFromSmiles(drawn)
        order = list(range(mol.GetNumAtoms()))
        for seed in range(4):
            random.Random(seed).shuffle(order)
            parent = standardise(Chem.RenumberAtoms(mol, order))
            assert canonical_smiles(parent.mol) == Chem.CanonSmiles(drawings[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CC/C(N)=N/O", "CC/C(N)=N\\O"),
        ("Cc1ccnn1C", "Cc1ccn(C)n1"),
        ("Cn1cnnc1", "Cn1cncn1"),
        ("CN=C(C)N(C)CC", "CCN=C(C)N(C)C"),
        ("O=c1[nH]ccc(=O)[nH]1", "O=c1cc[nH][nH]c1=O"),
    ],
)
def test_what_no_hydrogen_moves_into_each_other_stays_two_molecules(one: str, other: str) -> None:
    assert of(one).key != of(other).key


@pytest.mark.parametrize(
    ("drawn", "ion"),
    [
        ("NC(N)=Nc1ccccc1", "NC(=[NH2+])Nc1ccccc1"),
        ("CNC(N)=Nc1ccccc1", "CNC(=[NH2+])Nc1ccccc1"),
        ("NC(N)=NC(=O)c1nc(Cl)c(N)nc1N", "NC(=[NH2+])NC(=O)c1nc(Cl)c(N)nc1N"),
        ("CC(C)NC(=N)NC(=N)Nc1ccc(Cl)cc1", "CC(C)NC(=[NH2+])NC(=N)Nc1ccc(Cl)cc1"),
        ("NN=C(N)N", "NNC(N)=[NH2+]"),
        ("CC1(C)N=C(N)N=C(N)N1c1ccccc1", "CC1(C)NC(=[NH2+])N=C(N)N1c1ccccc1"),
        ("CC1(C)N=C(N(C)C)N=C(N)N1", "CN(C)C1=NC(=[NH2+])NC(C)(C)N1"),
        ("NC1=NCN=C(N)N1", "NC1=NC(=[NH2+])NCN1"),
    ],
)
def test_the_ion_is_drawn_without_sides(drawn: str, ion: str) -> None:
    """With C=[NH+]R both sides were docked, though its three bonds are alike."""
    assert states(of(drawn))[0] == (Chem.CanonSmiles(ion), 0)
    assert sum("+" in smiles for smiles, _ in states(of(drawn))) == 1


def test_sides_of_an_amidoxime_are_kept() -> None:
    assert of("C/C(N)=N/O").smiles == Chem.CanonSmiles("C/C(N)=N/O")


@pytest.mark.parametrize(
    "drawings",
    [
        ("C[N+](C)(C)CC(=O)[O-]", "C[N+](C)(C)CC(=O)O", "C[N+](C)(C)CC(=O)O.[Cl-]"),
        ("C[N+](C)(C)CC(O)CC(=O)[O-]", "C[N+](C)(C)CC(O)CC(=O)O.[Cl-]"),
        ("C[n+]1cccc(C(=O)[O-])c1", "C[n+]1cccc(C(=O)O)c1.[I-]"),
        ("C[N+](C)(C)CCOP(=O)([O-])OC", "C[N+](C)(C)CCOP(=O)(O)OC"),
        ("C[S+](C)CCC(N)C(=O)[O-]", "C[S+](C)CCC([NH3+])C(=O)[O-]", "C[S+](C)CCC(N)C(=O)O"),
        ("C[N+](C)(C)[O-]", "C[N+](C)(C)O.[Cl-]"),
        ("CC[N+](C)(C)c1cccc(O)c1", "CC[N+](C)(C)c1cccc([O-])c1"),
        ("C[n+]1cccc([O-])c1", "C[n+]1cccc(O)c1"),
        ("Cn1ccc(=O)cc1", "C[n+]1ccc([O-])cc1", "C[n+]1ccc(O)cc1.[Cl-]"),
        ("Cn1ccccc1=S", "C[n+]1ccccc1[S-]"),
        ("CC(=O)N=c1ccccn1C", "CC(=O)[N-]c1cccc[n+]1C", "CC(=O)Nc1cccc[n+]1C.[Br-]"),
        ("Cn1ccc(O)n1", "Cn1ccc(=O)[nH]1", "C[n+]1ccc([O-])[nH]1"),
        ("C[n+]1cc([O-])on1", "C[n+]1cc(O)on1"),
        ("O=C(O)CC(=O)O", "O=C([O-])CC(=O)[O-].[Na+].[Na+]", "O=C(O)CC(=O)[O-].[K+]"),
        ("COP(O)(=S)OC", "COP(=O)(S)OC", "COP(=O)([S-])OC.[Na+]", "CO[P+]([O-])([S-])OC.[Na+]"),
        ("COP(=S)(OC)OC", "CO[P+]([S-])(OC)OC"),
        ("CC(=O)S", "CC(O)=S", "CC([O-])=S.[K+]", "CC(=O)[S-].[K+]"),
    ],
)
def test_salts_and_inner_salts_are_one_molecule(drawings: tuple[str, ...]) -> None:
    parent = of(drawings[0])
    assert parent.smiles == Chem.CanonSmiles(drawings[0])
    for drawn in drawings[1:]:
        found = of(drawn)
        assert (found.smiles, found.key) == (parent.smiles, parent.key)
        assert states(found) == states(parent)
