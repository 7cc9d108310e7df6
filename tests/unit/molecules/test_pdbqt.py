"""PDBQT of ligands and receptors against Meeko, which reads it back."""

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import AllChem

from ligen_py.molecules.pdbqt import ligand_pdbqt, receptor_pdbqt, type_name
from ligen_py.molecules.receptor.writing import receptor_pdb
from ligen_py.molecules.stored import stored
from ligen_py.records.functions.ad4 import Ad4Receptor, Ad4Type
from ligen_py.records.pocket import Receptor, Whole
from tests import pdbqt
from tests.with_meeko import MoleculePreparation, PDBQTMolecule, PDBQTWriterLegacy, RDKitMolCreate

SMILES = [
    "C",
    "COc1ccc(C[NH3+])cc1",
    "COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC",
    "OC(=O)C(F)(F)CN1CCN(CC1)S(=O)(=O)c1ccc(Cl)cc1",
    "O=C(Nc1ccccc1)N(C)CCC#N",
    "C[C@H](N)C(=O)N[C@@H](Cc1c[nH]c2ccccc12)C(=O)[O-]",
    "C1CCCCCCCCCCC1",
    "C/C(=C\\CO)CBr",
]


def shuffled(smiles: str) -> Chem.Mol:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    assert AllChem.EmbedMolecule(mol, randomSeed=1) == 0
    order = np.random.default_rng(0).permutation(mol.GetNumAtoms()).tolist()
    return Chem.RenumberAtoms(mol, order)


def written(mol: Chem.Mol, **items: str) -> str:
    binary = stored(mol)
    return ligand_pdbqt(binary, mol.GetConformer().GetPositions(), items)


@pytest.mark.parametrize("smiles", SMILES)
def test_meeko_restores_the_molecule_and_its_pose(smiles: str) -> None:
    mol = shuffled(smiles)
    found = RDKitMolCreate.from_pdbqt_mol(PDBQTMolecule(written(mol), skip_typing=True))[0]
    assert Chem.MolToSmiles(Chem.RemoveHs(found)) == Chem.CanonSmiles(smiles)
    bare = Chem.RemoveHs(mol)
    match = Chem.RemoveHs(found).GetSubstructMatches(bare, useChirality=True, uniquify=False)
    places = Chem.RemoveHs(found).GetConformer().GetPositions()
    own = bare.GetConformer().GetPositions()
    assert min(np.abs(places[list(each)] - own).max() for each in match) < 6e-4


@pytest.mark.parametrize("smiles", SMILES[:-2])
def test_atoms_types_charges_and_torsions_are_meekos(smiles: str) -> None:
    mol = shuffled(smiles)
    ours = pdbqt.read_lines(written(mol).splitlines())  # first: Meeko changes the molecule's rings
    text, _, _ = PDBQTWriterLegacy.write_string(MoleculePreparation().prepare(mol)[0])
    theirs = pdbqt.read_lines(text.splitlines())
    assert len(ours.cuts) == len(theirs.cuts)
    place = {tuple(xyz): i for i, xyz in enumerate(theirs.xyz.tolist())}
    order = [place[tuple(xyz)] for xyz in ours.xyz.tolist()]
    assert sorted(order) == list(range(len(theirs.kind)))
    assert ours.kind == [theirs.kind[i] for i in order]
    assert ours.charge == pytest.approx(theirs.charge[order], abs=1.5e-3)
    cuts = {frozenset(order[end] for end in cut) for cut in ours.cuts}
    assert cuts == {frozenset(cut) for cut in theirs.cuts}


def test_remarks_are_what_vina_writes_and_plain_text() -> None:
    items = {"name": "naïve\n分子", "score": "1.5", "vina.affinity": "-7.1234", "price": "9"}
    lines = written(shuffled("CCO"), **items).splitlines()
    assert lines[0] == "REMARK VINA RESULT:    -7.123      0.000      0.000"
    assert lines[1:3] == ["REMARK  name = na?ve???", "REMARK  score = 1.5"]
    assert not any("price" in line for line in lines)


def test_a_receptor_has_its_hydrogens_behind_their_atoms() -> None:
    receptor = Receptor(
        xyz=np.array([[0, 0, 0], [1.5, 0, 0], [2.0, 1.4, 0]], "f4"),
        element=np.array([6, 6, 8], "u1"),
        residue=np.zeros(3, "i4"),
        label=np.array(["A/SER/12/CA", "A/SER/12/CB", "A/SER/12/OG"], object),
    )
    charged = Ad4Receptor(
        xyz=np.concatenate([receptor.xyz, np.array([[2.9, 1.5, 0]], "f4")]),
        type=np.array([Ad4Type.C, Ad4Type.C, Ad4Type.OA, Ad4Type.HD], "u1"),
        partial_charge=np.array([0.2, 0.1, -0.4, 0.2], "f4"),
        axis=np.zeros((4, 3), "f4"),
        normal=np.zeros((4, 3), "f4"),
        exponent=np.zeros(4, "u1"),
    )
    lines = receptor_pdbqt(receptor, charged).splitlines()
    assert [line[12:16].strip() for line in lines] == ["CA", "CB", "OG", "H"]
    assert lines[3] == (
        "ATOM      4  H   SER A  12       2.900   1.500   0.000  1.00  0.00    +0.200 HD"
    )


def test_residues_of_one_number_with_insertions_or_below_zero_stay_apart() -> None:
    labels = ["A/SER/-5/N", "A/COF/52/N", "A/SER/52/N", "A/SER/52A/N", "A/SER/12345/N"]
    xyz = np.arange(15, dtype="f4").reshape(5, 3)
    seven, zeros = np.full(5, 7, "u1"), np.zeros(5)
    receptor = Receptor(xyz, seven, np.arange(5, dtype="i4"), np.array(labels, object))
    charged = Ad4Receptor(
        xyz, np.full(5, Ad4Type.N, "u1"), zeros.astype("f4"), xyz * 0, xyz * 0, zeros.astype("u1")
    )
    lines = receptor_pdbqt(receptor, charged).splitlines()
    assert [line[21:27] for line in lines] == ["A  -5 ", "A  52 ", "A  52 ", "A  52A", "A2345 "]
    whole = Whole(xyz, seven, receptor.label, np.array([0, 1, 0, 0, 0], "u1"))
    lines = receptor_pdb(whole, charged).splitlines()
    assert [line[:6] + line[17:27] for line in lines if line[:4] in ("ATOM", "HETA")] == [
        "ATOM  SER A  -5 ",
        "HETATMCOF A  52 ",
        "ATOM  SER A  52 ",
        "ATOM  SER A  52A",
        "ATOM  SER AA1T5 ",
    ]


def test_each_chain_of_a_pdb_file_ends_with_ter_in_front_of_its_hetero_groups() -> None:
    labels = ["A/SER/1/N", "A/MG/9/MG", "A/GLY/2/N", "A/COF/7/N", "B/GLY/1/N", "C/COF/8/N"]
    xyz = np.arange(18, dtype="f4").reshape(6, 3)
    hetero = np.array([0, 1, 0, 1, 0, 1], "u1")
    whole = Whole(xyz, np.full(6, 7, "u1"), np.array(labels, object), hetero)
    none = np.zeros((0, 3), "f4")
    no = np.zeros(0, "u1")
    nothing = Ad4Receptor(none, no, no.astype("f4"), none, none, no)
    lines = receptor_pdb(whole, nothing).splitlines()
    assert [f"{line[:6].strip()} {line[17:26]}" for line in lines] == [
        "ATOM SER A   1", "HETATM  MG A   9", "ATOM GLY A   2", "TER GLY A   2",
        "HETATM COF A   7", "ATOM GLY B   1", "TER GLY B   1", "HETATM COF C   8",
    ]  # fmt: skip


def test_every_type_is_spelled_as_autodock_does() -> None:
    names = {type_name(kind) for kind in Ad4Type if kind}
    assert names <= set(pdbqt.ELEMENT) | {"Cl", "Br"}
