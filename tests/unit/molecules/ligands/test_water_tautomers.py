"""Drawings of tautomers that water hardly has, against those that it has."""

import random

import pytest
from rdkit import Chem

from ligen_py.molecules.ligands.standardising import IN_WATER, canonical_smiles, standardise
from ligen_py.molecules.ligands.water_tautomers import as_in_water

DRAWN = {
    "2-pyridone": ("Oc1ccccn1", "O=c1cccc[nH]1"),
    "4-pyridone": ("Oc1ccncc1", "O=c1cc[nH]cc1"),
    "2-pyridone as a zwitterion": ("[O-]c1cccc[nH+]1", "O=c1cccc[nH]1"),
    "cytosine": ("Nc1ccnc(O)n1", "Nc1cc[nH]c(=O)n1"),
    "3H-cytosine": ("C1=C(NC(=O)N=C1)N", "Nc1cc[nH]c(=O)n1"),
    "3H-flucytosine": ("Nc1[nH]c(=O)ncc1F", "Nc1nc(=O)[nH]cc1F"),
    "3H-2-thiocytosine": ("CNc1ccnc(=S)[nH]1", "CNc1cc[nH]c(=S)n1"),
    "4-amino-3H-quinazolin-2-one": ("Nc1[nH]c(=O)nc2ccccc12", "Nc1nc(=O)[nH]c2ccccc12"),
    "5-fluorouracil": ("Oc1nc(O)c(F)cn1", "O=c1[nH]cc(F)c(=O)[nH]1"),
    "cyanuric acid": ("Oc1nc(O)nc(O)n1", "O=c1[nH]c(=O)[nH]c(=O)[nH]1"),
    "barbituric acid": ("Oc1cc(O)nc(O)n1", "O=C1CC(=O)NC(=O)N1"),
    "hypoxanthine": ("Oc1ncnc2nc[nH]c12", "O=c1[nH]cnc2[nH]cnc12"),
    "aciclovir": ("Nc1nc(O)c2ncn(COCCO)c2n1", "Nc1nc2c(ncn2COCCO)c(=O)[nH]1"),
    "2-quinolone": ("Oc1ccc2ccccc2n1", "O=c1ccc2ccccc2[nH]1"),
    "4-quinolone": ("Oc1ccnc2ccccc12", "O=c1cc[nH]c2ccccc12"),
    "1-isoquinolone": ("Oc1nccc2ccccc12", "O=c1[nH]ccc2ccccc12"),
    "acridone": ("Oc1c2ccccc2nc2ccccc12", "O=c1c2ccccc2[nH]c2ccccc12"),
    "benzimidazolone": ("Oc1nc2ccccc2[nH]1", "O=c1[nH]c2ccccc2[nH]1"),
    "mercaptopurine": ("Sc1ncnc2nc[nH]c12", "S=c1[nH]cnc2[nH]cnc12"),
    "pyridine-4-thione": ("Sc1ccncc1", "S=c1cc[nH]cc1"),
    "a triazole's thione": ("Sc1nnc(C)n1C", "Cc1n[nH]c(=S)n1C"),
    "2-mercaptobenzothiazole": ("Sc1nc2ccccc2s1", "S=c1[nH]c2ccccc2s1"),
    "thiourea": ("NC(=N)S", "NC(N)=S"),
    "a thiourea with a marked bond": ("CN/C(S)=N/C", "CNC(=S)NC"),
    "thiobarbiturate": ("O=C1CC(=O)N=C(S)N1", "O=C1CC(=O)NC(=S)N1"),
    "barbiturate": ("O=C1C(=Cc2ccccc2)C(=O)N=C(O)N1", "O=C1NC(=O)NC(=O)C1=Cc1ccccc1"),
    "1H-indazole": ("c1ccc2n[nH]cc2c1", "c1ccc2[nH]ncc2c1"),
    "pyrazolo[3,4-d]pyrimidin-4-amine": ("Nc1ncnc2n[nH]cc12", "Nc1ncnc2[nH]ncc12"),
    "2-aminopyridine": ("N=c1cccc[nH]1", "Nc1ccccn1"),
    "4-aminoquinoline": ("CN=c1cc[nH]c2ccccc12", "CNc1ccnc2ccccc12"),
    "a marked imine": ("C/N=c1\\cccc[nH]1", "CNc1ccccn1"),
    "2-aminothiazole": ("N=c1[nH]ccs1", "Nc1nccs1"),
    "cytosine as an imine": ("N=c1cc[nH]c(=O)[nH]1", "Nc1cc[nH]c(=O)n1"),
    "guanine as an imine": ("N=c1[nH]c(=O)c2nc[nH]c2[nH]1", "Nc1nc2[nH]cnc2c(=O)[nH]1"),
    "sulfathiazole": ("CS(=O)(=O)N=c1[nH]ccs1", "CS(=O)(=O)Nc1nccs1"),
    "an amide": ("CN/C(O)=C/C1=CSC=N1", "CNC(=O)Cc1cscn1"),
    "oxindole": ("Oc1cc2ccccc2[nH]1", "O=C1Cc2ccccc2N1"),
    "N-methylsuccinimide": ("Cn1c(O)ccc1O", "CN1C(=O)CCC1=O"),
    "a glitazone": ("O=c1[nH]c(O)c(Cc2ccccc2)s1", "O=C1NC(=O)C(Cc2ccccc2)S1"),
    "a hydantoin": ("O=c1[nH]c(O)cn1N=Cc1ccco1", "O=C1CN(N=Cc2ccco2)C(=O)N1"),
    "an indole": ("CCC1=c2ccccc2=NC1", "CCc1c[nH]c2ccccc12"),
    "a tetrahydrocarboline": ("C1CN[C@@H](C)[C@@H]2N=c3ccccc3=C12", "C[C@@H]1NCCc2c1[nH]c1ccccc12"),
    "a methylpyrazolone": ("C=C1NNC(=O)C1CC", "CCc1c(C)n[nH]c1O"),
    "edaravone": ("CC1=NN(c2ccccc2)C(=O)C1", "Cc1cc(O)n(-c2ccccc2)n1"),
    "edaravone with N-H": ("Cc1cc(=O)n(-c2ccccc2)[nH]1", "Cc1cc(O)n(-c2ccccc2)n1"),
    "an acylpyrazolone": ("CC(=O)C1C(C)=NN(C)C1=O", "CC(=O)c1c(C)nn(C)c1O"),
    "1-methyl-3-pyrazolone": ("Cn1ccc(=O)[nH]1", "Cn1ccc(O)n1"),
    "hymexazol": ("Cc1cc(=O)[nH]o1", "Cc1cc(O)no1"),
    "5-isoxazolone": ("CC1=NOC(=O)C1", "Cc1cc(O)on1"),
    "5-isoxazolone with N-H": ("Cc1cc(=O)o[nH]1", "Cc1cc(O)on1"),
    "isocytosine": ("Nc1nc(=O)cc[nH]1", "Nc1nccc(=O)[nH]1"),
    "a 4-hydroxythiazole": ("Nc1nc(O)cs1", "NC1=NC(=O)CS1"),
    "acetylacetone": ("CC(=O)C=C(C)O", "CC(=O)CC(C)=O"),
    "benzoylacetone": ("C/C(O)=C/C(=O)c1ccccc1", "CC(=O)CC(=O)c1ccccc1"),
    "ethyl acetoacetate": ("CCOC(=O)C=C(C)O", "CCOC(=O)CC(C)=O"),
    "lawsone as a 1,2-quinone": ("OC1=CC(=O)C(=O)c2ccccc12", "OC1=CC(=O)c2ccccc2C1=O"),
    "lawsone as a triketone": ("O=C1CC(=O)c2ccccc2C1=O", "OC1=CC(=O)c2ccccc2C1=O"),
    "an acylated dione": ("CC(O)=C1C(=O)CCCC1=O", "CC(=O)C1=C(O)CCCC1=O"),
    "an acylated tetronic acid": ("CC(O)=C1C(=O)COC1=O", "CC(=O)C1=C(O)COC1=O"),
    "an acylpyrrolinedione": (
        "CN1C(=O)C(=O)C(C(=O)c2ccccc2)C1C",
        "CN1C(=O)C(O)=C(C(=O)c2ccccc2)C1C",
    ),
    "an acylpyrrolinedione's enol": (
        "CN1C(=O)C(=O)C(=C(O)c2ccccc2)C1C",
        "CN1C(=O)C(O)=C(C(=O)c2ccccc2)C1C",
    ),
    "a quinolonecarboxamide": (
        "CNC(=O)c1c(O)n(C)c2ccccc2c1=O",
        "CNC(=O)c1c(O)c2ccccc2n(C)c1=O",
    ),
    "a dihydrotriazolopyrimidine": ("CC1=CC(C)N2N=CNC2=N1", "CC1=CC(C)n2ncnc2N1"),
    "a dihydrotriazolopyrimidine, other hydrogen": ("CC1=CC(C)N2NC=NC2=N1", "CC1=CC(C)n2ncnc2N1"),
    "a dihydrotetrazolopyrimidine": ("CC1=CC(C)N2NN=NC2=N1", "CC1=CC(C)n2nnnc2N1"),
    "1-hydroxy-2-pyridone": ("[O-][n+]1ccccc1O", "On1ccccc1=O"),
    "1-hydroxy-4-pyridone": ("[O-][n+]1ccc(O)cc1", "On1ccc(=O)cc1"),
    "1-hydroxy-4-quinolone": ("[O-][n+]1ccc(O)c2ccccc12", "On1ccc(=O)c2ccccc12"),
    "a thiosulfonic acid": ("CS(=O)(O)=S", "CS(=O)(=O)S"),
    "pyrithione": ("[O-][n+]1ccccc1S", "On1ccccc1=S"),
    "an iminoketone": ("CC(=O)CC(C)=NC", "CNC(C)=CC(C)=O"),
    "an iminoketone's enol": ("CC(O)=CC(C)=NC", "CNC(C)=CC(C)=O"),
    "an aminomethylenedione": ("CC(=NC)C1=C(O)CCCC1=O", "CNC(C)=C1C(=O)CCCC1=O"),
    "an aminomethylenedione as a ketone": ("CC(=NC)C1C(=O)CCCC1=O", "CNC(C)=C1C(=O)CCCC1=O"),
    "an aminomethylenechromanedione": (
        "O=c1oc2ccccc2c(O)c1C=Nc1ccccc1",
        "O=C1Oc2ccccc2C(=O)C1=CNc1ccccc1",
    ),
    "an aminomethylenebarbiturate": (
        "O=C1NC(=O)NC(=O)C1C=Nc1ccccc1",
        "O=C1NC(=O)C(=CNc2ccccc2)C(=O)N1",
    ),
    "an aminomethylenepyrazolone": (
        "Cc1nn(-c2ccccc2)c(O)c1C=Nc1ccccc1",
        "CC1=NN(c2ccccc2)C(=O)C1=CNc1ccccc1",
    ),
    "an aminomethyleneoxindole": (
        "Oc1[nH]c2ccccc2c1C=Nc1ccccc1",
        "O=C1Nc2ccccc2C1=CNc1ccccc1",
    ),
    "an aminomethyleneoxindole as a lactam": (
        "O=C1Nc2ccccc2C1C(C)=NC",
        "CNC(C)=C1C(=O)Nc2ccccc21",
    ),
    "an aminomethylenecyclohexanone": ("O=C1CCCCC1C=NC", "CNC=C1CCCCC1=O"),
    "an open aminomethylenedione": (
        "CC(=O)C(C=Nc1ccccc1)=C(C)O",
        "CC(=O)C(=CNc1ccccc1)C(C)=O",
    ),
    "an azoacetylacetone": ("CC(=O)C(N=Nc1ccccc1)C(C)=O", "CC(=O)C(=NNc1ccccc1)C(C)=O"),
    "an azoacetylacetone's enol": ("CC(=O)C(N=Nc1ccccc1)=C(C)O", "CC(=O)C(=NNc1ccccc1)C(C)=O"),
    "an azomalononitrile": ("N#CC(C#N)N=Nc1ccccc1", "N#CC(C#N)=NNc1ccccc1"),
    "an azobarbituric acid": (
        "O=c1[nH]c(=O)c(N=Nc2ccccc2)c(O)[nH]1",
        "O=C1NC(=O)C(=NNc2ccccc2)C(=O)N1",
    ),
    "tartrazine's azopyrazolone": (
        "OC(=O)c1nn(-c2ccccc2)c(O)c1N=Nc1ccccc1",
        "O=C(O)C1=NN(c2ccccc2)C(=O)C1=NNc1ccccc1",
    ),
    "an azopyrazolone as a ketone": (
        "CC1=NN(c2ccccc2)C(=O)C1N=Nc1ccccc1",
        "CC1=NN(c2ccccc2)C(=O)C1=NNc1ccccc1",
    ),
    "an azopyrazol-3-ol": ("Cc1[nH]nc(O)c1N=Nc1ccccc1", "CC1=NNC(=O)C1=NNc1ccccc1"),
    "drazoxolon": ("Cc1noc(O)c1N=Nc1ccccc1Cl", "CC1=NOC(=O)C1=NNc1ccccc1Cl"),
    "an azohydroxypyridone": (
        "Cc1c(C#N)c(=O)n(C)c(O)c1N=Nc1ccccc1",
        "CC1=C(C#N)C(=O)N(C)C(=O)C1=NNc1ccccc1",
    ),
    "isatin's hydrazone": ("Oc1[nH]c2ccccc2c1N=Nc1ccccc1", "O=C1Nc2ccccc2C1=NNc1ccccc1"),
    "a methylpyrimidinone": ("C=C1C=C(O)N(C)C(=NC)N1", "CNc1nc(C)cc(=O)n1C"),
    "a dihydropyrimidine": ("C=C1NC(=O)NCC1C(=O)OC", "COC(=O)C1=C(C)NC(=O)NC1"),
    "a nitroethenediamine": ("CNC(C[N+](=O)[O-])=NCC", "CCNC(=C[N+](=O)[O-])NC"),
    "a thiophosphate": ("COP(=O)(S)OC", "COP(O)(=S)OC"),
    "a thio acid": ("CC(O)=S", "CC(=O)S"),
    "phosphorous acid": ("OP(O)O", "O=[PH](O)O"),
    "a phosphite": ("COP(O)OC", "CO[PH](=O)OC"),
    "a phosphinic acid": ("OP(O)C(F)c1ccccc1", "O=[PH](O)C(F)c1ccccc1"),
    "1H-benzotriazole": ("c1ccc2n[nH]nc2c1", "c1ccc2[nH]nnc2c1"),
    "phenylbutazone": (
        "CCCCC1=C(O)N(c2ccccc2)N(c2ccccc2)C1=O",
        "CCCCC1C(=O)N(c2ccccc2)N(c2ccccc2)C1=O",
    ),
    "oxyphenbutazone": (
        "CCCCC1=C(O)N(c2ccc(O)cc2)N(c2ccccc2)C1=O",
        "CCCCC1C(=O)N(c2ccccc2)N(c2ccc(O)cc2)C1=O",
    ),
    "phenindione": ("OC1=C(c2ccccc2)C(=O)c2ccccc12", "O=C1c2ccccc2C(=O)C1c1ccccc1"),
    "5-ethylbarbituric acid": ("CCc1c(O)[nH]c(=O)[nH]c1=O", "CCC1C(=O)NC(=O)NC1=O"),
    "Meldrum's acid": ("CC1(C)OC(=O)C=C(O)O1", "CC1(C)OC(=O)CC(=O)O1"),
    "a tetramic acid": ("OC1=CC(=O)NC1", "O=C1CNC(=O)C1"),
    "tetronic acid": ("O=C1CC(=O)CO1", "OC1=CC(=O)OC1"),
    "4-hydroxycoumarin": ("O=C1CC(=O)c2ccccc2O1", "O=c1cc(O)c2ccccc2o1"),
    "warfarin": (
        "CC(=O)C[C@H](c1ccccc1)C1C(=O)Oc2ccccc2C1=O",
        "CC(=O)C[C@H](c1ccccc1)c1c(O)c2ccccc2oc1=O",
    ),
    "a 2-hydroxychromone": ("Cc1c(O)oc2ccccc2c1=O", "Cc1c(O)c2ccccc2oc1=O"),
    "4-hydroxyquinolone": ("O=c1cc(O)[nH]c2ccccc12", "O=c1cc(O)c2ccccc2[nH]1"),
    "4-hydroxy-6-methylpyrone": ("CC1=CC(=O)CC(=O)O1", "Cc1cc(O)cc(=O)o1"),
    "a dihydropyrone": ("CCC1=C(O)OC(C)(C)CC1=O", "CCC1=C(O)CC(C)(C)OC1=O"),
    "meloxicam": (
        "CN1C(C(=O)Nc2ncc(C)s2)C(=O)c2ccccc2S1(=O)=O",
        "CN1C(C(=O)Nc2ncc(C)s2)=C(O)c2ccccc2S1(=O)=O",
    ),
    "mesotrione's ring": ("CC(=O)C1C(=O)CCCC1=O", "CC(=O)C1=C(O)CCCC1=O"),
    "cyclopentane-1,3-dione": ("O=C1CCC(=O)C1", "O=C1C=C(O)CC1"),
    "an oxadiazolone": ("O=c1nc(-c2ccccc2)[nH]o1", "O=c1[nH]c(-c2ccccc2)no1"),
    "an oxadiazolidinedione": ("Oc1nc(=O)on1Cc1ccccc1", "O=c1[nH]c(=O)n(Cc2ccccc2)o1"),
    "quisqualic acid": ("NC(Cn1oc(=O)nc1O)C(=O)O", "NC(Cn1oc(=O)[nH]c1=O)C(=O)O"),
    "a thiadiazolidinedione": ("Oc1nc(=O)sn1Cc1ccccc1", "O=c1[nH]c(=O)n(Cc2ccccc2)s1"),
    "a triazolone": ("Cc1nc(=O)[nH][nH]1", "Cc1n[nH]c(=O)[nH]1"),
    "3H-guanine": ("Nc1nc(=O)c2ncn(C)c2[nH]1", "Nc1nc2c(ncn2C)c(=O)[nH]1"),
    "1H-quinazolin-4-one": ("O=c1nc[nH]c2ccccc12", "O=c1[nH]cnc2ccccc12"),
    "1,2-benzisothiazol-3-one": ("Oc1nsc2ccccc12", "O=c1[nH]sc2ccccc12"),
}
"""Name -> as drawn, and as it is in water."""

STAYS = {
    "a diketone at a bridgehead": "O=C1CC2CCC1C(=O)C2",
    "bicyclo[3.3.1]nonane-2,9-dione": "O=C1CC[C@@H]2CCC[C@H]1C2=O",
    "3-hydroxypyridine": "Oc1cccnc1",
    "8-hydroxyquinoline": "Oc1cccc2cccnc12",
    "6-chloro-2-hydroxypyridine": "Oc1cccc(Cl)n1",
    "3-hydroxyisoquinoline": "Oc1cc2ccccc2cn1",
    "3-hydroxyisoxazole": "Cc1cc(O)no1",
    "5-hydroxypyrazole": "Cc1cc(O)n(-c2ccccc2)n1",
    "an N-oxide": "[O-][n+]1ccccc1N",
    "pyrithione": "On1ccccc1=S",
    "thiophenol": "Sc1ccccc1",
    "2-methylindazole": "Cn1cc2ccccc2n1",
    "benzimidazole": "Cc1ccc2[nH]cnc2c1",
    "N-hydroxycytosine": "O=c1[nH]ccc(=NO)[nH]1",
    "a hydrazone": "NN=c1[nH]ncc2ccccc12",
    "a 2H-indole": "CC1=c2ccccc2=NC1(C)C",
    "a 3-acyltetramic acid": "CC(=O)C1=C(O)CNC1=O",
    "an arylidene barbiturate's vinylogue": "O=c1[nH]c(=O)c(C=C2C(=O)NN=C2)c(O)[nH]1",
    "a hydrazone of isatin": "O=C1Nc2ccccc2C1=NNc1ccccc1",
    "an azophenol": "O=C(O)c1cc(N=Nc2ccccc2)ccc1O",
    "an azoresorcinol": "Oc1ccc(N=Nc2ccccc2)c(O)c1",
    "an azonaphthol": "Oc1ccc2ccccc2c1N=Nc1ccccc1",
    "phenazopyridine": "Nc1ccc(N=Nc2ccccc2)c(N)n1",
    "an N-alkylated azopyrazol-3-ol": "Cc1c(N=Nc2ccccc2)c(O)nn1C",
    "a salicylaldimine": "Oc1ccccc1C=Nc1ccccc1",
    "a naphthaldimine": "Oc1ccc2ccccc2c1C=Nc1ccccc1",
    "sethoxydim": "CCCC(=NOCC)C1=C(O)CC(CC(C)SCC)CC1=O",
    "dimethylpyrimidin-2-one": "Cc1cc(C)[nH]c(=O)n1",
    "4,6-diaminopyrimidin-2-one": "Nc1cc(N)[nH]c(=O)n1",
    "ammeline": "Nc1nc(=O)nc(N)[nH]1",
    "triacetylmethane's enol": "CC(=O)C(C(C)=O)=C(C)O",
    "teriflunomide": "CC(O)=C(C#N)C(=O)Nc1ccccc1",
    "a dioxobutanoic acid": "O=C(O)C(O)=CC(=O)c1ccccc1",
    "an arylidenepyrazolone": "CC1=NN(c2ccccc2)C(=O)C1=Cc1ccccc1",
    "3-acetyl-2-hydroxyindole": "CC(=O)c1c(O)[nH]c2ccccc12",
    "ascorbic acid": "O=C1OC(C(O)CO)C(O)=C1O",
    "an enol of a fused triazole": "Cc1sc2ncnn2c1O",
    "a pyrazol-3-ol with N=N": "CC1(C)N=NC(O)=C1",
    "an acyliminobenzimidazole": "CC(=O)N=c1[nH]c2ccccc2n1C",
    "a cyanamide": "N#CN=c1cccc[nH]1",
    "an amidine of a lactam": "CNC(=N)C1CCNC1=O",
    "an imidate of a lactone": "CN=C(OC)C1CCOC1=O",
    "an N-alkylpyridine": "Cn1ccccc1=N",
    "a phosphite triester": "COP(OC)OC",
    "S-methylthiourea": "CSC(=N)N",
}


@pytest.mark.parametrize(("drawn", "expected"), DRAWN.values(), ids=DRAWN)
def test_the_form_of_water_whatever_the_order_of_atoms(drawn: str, expected: str) -> None:
    mol = Chem.MolFromSmiles(drawn)
    order = list(range(mol.GetNumAtoms()))
    for seed in range(5):
        parent = standardise(Chem.RenumberAtoms(mol, order))
        assert canonical_smiles(parent.mol) == Chem.CanonSmiles(expected)
        assert IN_WATER in parent.notes
        assert not parent.as_drawn
        random.Random(seed).shuffle(order)
    assert not as_in_water(Chem.MolFromSmiles(expected))[1]


@pytest.mark.parametrize(
    "drawings",
    [
        ("CC1CCC(=O)CC1=O", "CC1CCC(=O)C=C1O", "CC1CCC(O)=CC1=O"),
        ("CC1C(=O)CC(F)C1=O", "CC1=C(O)CC(F)C1=O", "CC1=C(O)C(F)CC1=O"),
    ],
)
def test_enols_of_a_diketone_and_the_diketone_are_one_molecule(drawings: tuple[str, ...]) -> None:
    parents = {canonical_smiles(standardise(Chem.MolFromSmiles(text)).mol) for text in drawings}
    assert len(parents) == 1
    assert Chem.MolFromSmiles(parents.pop()).HasSubstructMatch(Chem.MolFromSmarts("OC=CC=O"))


@pytest.mark.parametrize(
    ("drawings", "expected"),
    [
        (
            ("Oc1n[nH]c(O)c1N=Nc1ccccc1", "O=c1[nH][nH]c(O)c1N=Nc1ccccc1"),
            "O=C1NNC(=O)C1=NNc1ccccc1",
        ),
        (
            ("CN=CC1=C(O)C(=O)C=C(O)C1=O", "CNC=C1C(=O)C(=O)C=C(O)C1=O"),
            "CNC=C1C(=O)C(=O)C=C(O)C1=O",
        ),
    ],
)
def test_hydrogens_go_in_no_circle(drawings: tuple[str, ...], expected: str) -> None:
    """Where one group is redrawn as another, which is redrawn as the first."""
    for text in (*drawings, expected):
        assert Chem.MolToSmiles(as_in_water(Chem.MolFromSmiles(text))[0]) == expected


@pytest.mark.parametrize("smiles", STAYS.values(), ids=STAYS)
def test_other_groups_stay_as_drawn(smiles: str) -> None:
    parent = standardise(Chem.MolFromSmiles(smiles))
    assert canonical_smiles(parent.mol) == Chem.CanonSmiles(smiles)
    assert IN_WATER not in parent.notes
