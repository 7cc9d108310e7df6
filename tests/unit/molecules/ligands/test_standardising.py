"""Parents of molecules as drawn, against known answers."""

import re
from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdDistGeom

from ligen_py.molecules.graph import holds
from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands import standardising
from ligen_py.molecules.ligands.preparation import prepare
from ligen_py.molecules.ligands.ring_shapes import macrocycle
from ligen_py.molecules.ligands.standardising import MIXTURE, canonical_smiles, standardise
from ligen_py.molecules.surroundings import surroundings
from ligen_py.records.ledger import Reason
from ligen_py.settings.parse import ParseSettings

DRAWN = [
    ("CC(=O)[O-].[Na+]", "CC(=O)O", ["taken off: [Na+]"]),
    ("C[N+](C)(C)CCO.[B-](c1ccccc1)(c1ccccc1)(c1ccccc1)c1ccccc1", "C[N+](C)(C)CCO",
     ["taken off: c1ccc([B-](c2ccccc2)(c2ccccc2)c2ccccc2)cc1"]),
    ("NCCc1ccccc1.Cl.Cl", "NCCc1ccccc1", ["taken off: 2 Cl"]),
    ("O.O.O=S(=O)(O)O.CN", "CN", ["taken off: 2 O, O=S(=O)(O)O"]),
    ("[2H]C([2H])([2H])c1ccccc1", "Cc1ccccc1", ["isotope labels removed"]),
    ("[13CH3]O", "CO", ["isotope labels removed"]),
    ("CN(=O)=O", "C[N+](=O)[O-]", []),
    ("[NH3+][C@@H](C)C(=O)[O-]", "C[C@H](N)C(=O)O", []),
    ("C[N+](C)(C)CC(=O)[O-]", "C[N+](C)(C)CC(=O)[O-]", []),
    ("CC(O)=N", "CC(N)=O", []),
    ("CC(=O)Nc1ccc(O)cc1.CC(=O)Oc1ccccc1C(=O)O", "CC(=O)Oc1ccccc1C(=O)O",
     ["mixture, also of: CC(=O)Nc1ccc(O)cc1"]),
]  # fmt: skip


@pytest.mark.parametrize(("drawn", "parent", "notes"), DRAWN, ids=[row[0] for row in DRAWN])
def test_a_drawing_has_one_parent_and_says_what_went(
    drawn: str, parent: str, notes: list[str]
) -> None:
    found, noted, _ = standardise(Chem.MolFromSmiles(drawn))
    assert canonical_smiles(found) == Chem.CanonSmiles(parent)
    assert noted == notes


@pytest.mark.parametrize(
    "smiles", ["CCCC(CCC)C(=O)O.CCCC(CCC)C(=O)[O-].[Na+]", "CCCCC[NH3+].CCCCCN.[Cl-]"]
)
def test_an_acid_beside_its_anion_is_no_mixture(smiles: str) -> None:
    """Divalproex is a salt of one parent; with `mixtures: reject` it was rejected."""
    assert not any(
        note.startswith(MIXTURE) for note in standardise(Chem.MolFromSmiles(smiles)).notes
    )


@pytest.mark.parametrize(
    ("drawn", "parent"),
    [
        ("CN[S+2]([O-])([O-])c1ccccc1", "CNS(=O)(=O)c1ccccc1"),
        ("C[S+2]([O-])([O-])O", "CS(=O)(=O)O"),
        ("C[S+](=O)([O-])C", "CS(C)(=O)=O"),
        ("C[P+]([O-])(O)O", "CP(=O)(O)O"),
        ("OC[P+]([O-])([O-])O.[Na+]", "O=P(O)(O)CO"),
        ("C[P@+]([O-])(CC)c1ccccc1", "CC[P@](C)(=O)c1ccccc1"),
        ("C[S+]([O-])C", "C[S+](C)[O-]"),
        ("C[P+](C)(C)[CH2-]", "[CH2-][P+](C)(C)C"),
    ],
)
def test_sulfonyl_and_phosphoryl_groups_drawn_with_charges(drawn: str, parent: str) -> None:
    """With charges no acid beside them is one: a sulfonic acid was docked neutral."""
    found = standardise(Chem.MolFromSmiles(drawn))
    assert canonical_smiles(found.mol) == Chem.CanonSmiles(parent)
    assert found.as_drawn == (canonical_smiles(Chem.MolFromSmiles(drawn)) == parent)


@pytest.mark.parametrize(
    ("drawn", "parent"),
    [
        ("c1ccc[cH+]cc1.[Br-]", "c1ccc[cH+]cc1"),
        ("C1=CC=C[CH+]C=C1", "c1ccc[cH+]cc1"),
        (
            "CN(C)c1ccc([CH+]c2ccc(N(C)C)cc2)cc1",
            "CN(C)c1ccc([CH+]c2ccc(N(C)C)cc2)cc1",
        ),
        ("c1ccc([C+](c2ccccc2)c2ccccc2)cc1", "c1ccc([C+](c2ccccc2)c2ccccc2)cc1"),
        ("C[NH2+]Cc1ccc([CH+]c2ccccc2)cc1", "CNCc1ccc([CH+]c2ccccc2)cc1"),
        ("OC(=O)c1ccc([CH+]c2ccccc2)cc1", "[O-]C(=O)c1ccc([CH+]c2ccccc2)cc1"),
    ],
)
def test_a_carbocation_gains_no_hydride(drawn: str, parent: str) -> None:
    """Tropylium became cycloheptatriene, and no note said so."""
    found = standardise(Chem.MolFromSmiles(drawn)).mol
    assert canonical_smiles(found) == Chem.CanonSmiles(parent)
    charge = Chem.GetFormalCharge(found)
    states = prepare(Record(1, "x", drawn), ParseSettings(conformers=1)).states
    charges = {
        Chem.GetFormalCharge(Chem.MolFromSmiles(str(state.shape["smiles"][0]))) for state in states
    }
    assert charges
    assert min(charges) >= charge


@pytest.mark.parametrize(
    ("drawn", "parent", "metal"),
    [
        ("CC(=O)O[Ca]OC(C)=O", "CC(=O)O", "[Ca+2]"),
        ("O=C1O[Mg]Oc2ccccc12", "O=C(O)c1ccccc1O", "[Mg+2]"),
        ("O=C(O[Zn]Cl)c1ccccc1", "O=C(O)c1ccccc1", "[Zn+2]"),
        ("NCC(=O)O[Cu]OC(=O)CN", "NCC(=O)O", "[Cu+2]"),
        ("CC(=O)[O-]->[Zn+2]<-[O-]C(C)=O", "CC(=O)O", "[Zn+2]"),
        ("CC(=O)O[Al](O)OC(C)=O", "CC(=O)O", "[Al+3]"),
        ("CC(=O)O[Mg+].[Cl-]", "CC(=O)O", "[Mg+2]"),
        ("CN(C)C(=S)S[Zn]SC(=S)N(C)C", "CN(C)C(=S)S", "[Zn+2]"),
        ("Nc1ccc(cc1)S(=O)(=O)N([Ag])c1ncccn1", "Nc1ccc(S(=O)(=O)Nc2ncccn2)cc1", "[Ag+]"),
        ("CCCCS[Na]", "CCCCS", "[Na+]"),
        ("[Na]n1nnnc1C", "Cc1nnn[nH]1", "[Na+]"),
        ("CC(=O)O[Ag]", "CC(=O)O", "[Ag+]"),
        ("CC(=O)O[Fe](OC(C)=O)OC(C)=O", "CC(=O)O", "[Fe+3]"),
        ("CC(=O)[O-].CC(=O)[O-].[Co+2]", "CC(=O)O", "[Co+2]"),
        ("CCO[K]", "CCO", "[K+]"),
        ("O=C1O[Bi](O)Oc2ccccc12", "O=C(O)c1ccccc1O", "[Bi+3]"),
    ],
)
def test_salts_drawn_with_bonds_to_their_metal(drawn: str, parent: str, metal: str) -> None:
    """They were rejected for it, and are the same parent as drawn with ions."""
    found = prepare(Record(1, "x", drawn), ParseSettings(conformers=1))
    assert found.smiles == Chem.CanonSmiles(parent)
    assert metal in found.note
    three = Chem.AddHs(Chem.MolFromSmiles(drawn))
    assert len(Chem.GetMolFrags(standardise(three).mol)) == 1


@pytest.mark.parametrize(
    ("drawn", "metal"),
    [
        ("CC(=O)O[Hg]c1ccccc1", "Hg"),
        ("CC[Hg]Sc1ccccc1C(=O)O[Na]", "Hg"),
        ("CC[Sn](CC)(CC)OC(C)=O", "Sn"),
        ("C[Mg]Br", "Mg"),
        ("C[Zn]OC(C)=O", "Zn"),
        ("CC[Al](CC)OC", "Al"),
        ("N[Pt](N)(Cl)Cl", "Pt"),
        ("CCC1=[O+][Cu]2([O+]=C(CC)C1)[O+]=C(CC)CC(CC)=[O+]2", "Cu"),
        ("C1C[N+]2=CC3=CC=CC=C3O[Zn]24OC5=CC=CC=C5C=[N+]14", "Zn"),
    ],
)
def test_organometallics_and_complexes_are_no_salts(drawn: str, metal: str) -> None:
    found = prepare(Record(1, "x", drawn), ParseSettings(conformers=1))
    assert (found.reason, found.detail) == (
        Reason.UNSUPPORTED_ELEMENT,
        f"no atom type for {metal}",
    )


def test_heavy_atoms_keep_their_coordinates() -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles("C[C@H]([NH3+])C(=O)[O-].Cl"))
    rdDistGeom.EmbedMolecule(mol, randomSeed=1)
    parent = standardise(mol).mol
    assert canonical_smiles(parent) == Chem.CanonSmiles("C[C@H](N)C(=O)O")
    before = mol.GetConformer().GetPositions()[
        [a.GetAtomicNum() in (6, 7, 8) for a in mol.GetAtoms()]
    ]
    assert np.allclose(np.sort(parent.GetConformer().GetPositions(), 0), np.sort(before, 0))


def test_an_ammonium_that_is_drawn_as_a_stereocentre_is_neutralised_too() -> None:
    """From 3-D coordinates a nitrogen with four different neighbours is one."""
    mol = Chem.AddHs(Chem.MolFromSmiles("CCC[N@H+](C)CC"))
    assert Chem.MolToSmiles(Chem.RemoveHs(mol)).count("@") == 1
    assert canonical_smiles(standardise(mol).mol) == Chem.CanonSmiles("CCCN(C)CC")


def test_the_answers_of_the_chembl_pipeline(shared_data: Path) -> None:
    """Its own test set: salts taken off and charges neutralised as its authors expect."""
    folder = shared_data / "messy"
    names = "standardiser_examples.in.sdf", "standardiser_examples_after_salt_stripping.sdf"
    drawn, answers = (
        {mol.GetProp("example"): mol for mol in Chem.SDMolSupplier(str(folder / name)) if mol}
        for name in names
    )
    compared = [
        name
        for name, answer in answers.items()
        if name in drawn and len(Chem.GetMolFrags(answer)) == 1 and answer.GetNumAtoms()
    ]
    assert len(compared) > 10
    for name in compared:
        found, answer = standardise(drawn[name]).mol, standardise(answers[name]).mol
        assert canonical_smiles(found) == canonical_smiles(answer), name


def rings(smiles: str) -> tuple[tuple[int, ...], ...]:
    mol = Chem.MolFromSmiles(smiles)
    return tuple(mol.GetRingInfo().AtomRings())


def test_macrocycles_are_rings_of_eight_atoms_and_more() -> None:
    sizes = [macrocycle(rings(f"C1{'C' * (size - 1)}1")) for size in (6, 7, 8, 14)]
    assert sizes == [0, 0, 8, 14]
    assert macrocycle(rings("C1CC2CCC1CC2")) == 0


def test_a_molecule_that_needs_no_change_has_the_parent_of_all_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = [
        "OC(=O)c1ccc[nH]1",
        "CC(N)=O",
        "C/C=C/[C@H](O)CS",
        "CSc1ncccn1",
        "C1CC2CCC1C2",
        "CS(C)",
        "CN(=O)=O",
    ]
    redrawn = ["CC(O)=N", "CS(C)=O", "[Na]OC", "C[NH3+]", "[2H]C", "C.C"]
    for smiles in plain + redrawn:
        mol = Chem.MolFromSmiles(smiles)
        mol = Chem.AddHs(mol) if smiles in plain else mol
        quick = standardise(mol)
        with monkeypatch.context() as patch:
            patch.setattr(standardising, "_if_standard", lambda mol: iter(()))
            slow = standardise(mol)
        assert quick.as_drawn == (smiles in plain)
        assert quick.mol.ToBinary(0) == slow.mol.ToBinary(0)
        assert quick[1:] == slow[1:]


BALANCED = [
    "Cc1ccc(cc1)[N+](=O)[O-]",
    "C[C@H](O)CN=[N+]=[N-]",
    "O=C(NC)c1cc[n+]([O-])cc1",
    "CC=[N+]=[N-]",
    "C/[N+]([O-])=N/CO",
    "[C-]#[N+]CC",
]


@pytest.mark.parametrize("smiles", BALANCED)
def test_charges_that_a_neighbour_balances_are_as_drawn(
    smiles: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    quick = standardise(mol)
    monkeypatch.setattr(standardising, "_if_standard", lambda mol: iter(()))
    slow = standardise(mol)
    assert quick.as_drawn
    assert quick[1:] == slow[1:]
    assert quick.mol.ToBinary(0) == slow.mol.ToBinary(0)


@pytest.mark.parametrize(
    ("smiles", "parent"),
    [
        ("C[N+](C)(C)[O-].[O-][N+](=O)[O-]", "C[N+](C)(C)[O-]"),
        ("[O-][N+](=O)[O-]", "O=[N+]([O-])O"),
        ("CC[N+](C)(C)CC(=O)[O-]", "CC[N+](C)(C)CC(=O)[O-]"),
        ("[N-]=[N+]=NCC[NH3+]", "[N-]=[N+]=NCCN"),
    ],
)
def test_other_charges_are_left_to_the_rules(smiles: str, parent: str) -> None:
    found = standardise(Chem.MolFromSmiles(smiles))
    assert Chem.MolToSmiles(found.mol) == Chem.CanonSmiles(parent)


@pytest.mark.parametrize(
    ("drawn", "also", "parent"),
    [
        ("C[n+]1cc[nH]c1", "Cn1cc[nH+]c1", "Cn1ccnc1"),
        ("C[N+](C)=C(N)N", "CN(C)C(N)=[NH2+]", "CN(C)C(=N)N"),
        ("C[N+](C)=c1cc[nH]cc1", "CN(C)c1cc[nH+]cc1", "CN(C)c1ccncc1"),
        ("C[n+]1ccccc1N", "C[n+]1ccccc1N", "C[n+]1ccccc1N"),
        ("CN(C)C(N)=[N+](C)CC[n+]1cc[nH]c1", "CN(C)C(=[NH2+])N(C)CCn1cc[nH+]c1", None),
        ("C[n+]1ccn(C)c1", "Cn1cc[n+](C)c1", "Cn1cc[n+](C)c1"),
        ("Cc1ncc(C[n+]2csc(CCO)c2C)c(N)n1", "Cc1ncc(C[n+]2csc(CCO)c2C)c(N)n1", None),
    ],
)
def test_a_cation_has_one_parent_wherever_its_charge_is_drawn(
    drawn: str, also: str, parent: str | None
) -> None:
    """With the charge at an alkylated nitrogen it cannot lose its proton: an imidazole of pKa 7."""
    found = {canonical_smiles(standardise(Chem.MolFromSmiles(one)).mol) for one in (drawn, also)}
    assert len(found) == 1
    assert parent is None or found == {parent}


@pytest.mark.parametrize(
    "smiles",
    [
        *BALANCED,
        *("C[NH3+]", "CC(=O)[O-]", "[O-][N+](=O)[O-]", "C[N+](C)(C)CC[O-]", "[Ca+2]", "C[N+]#N"),
        *("[O-][Cl+3]([O-])([O-])[O-]", "C[P+]([O-])([O-])C", "C[O+]([O-])[N+](C)(C)C", "CCO"),
    ],
)
def test_balanced_charges_are_those_that_no_pattern_calls_unbalanced(smiles: str) -> None:
    mol = Chem.MolFromSmiles(smiles)
    balanced = standardising._is_balanced(surroundings(mol))
    assert balanced != holds(mol, standardising.UNBALANCED)


def test_what_surroundings_say_decides_about_the_centre_of_a_group() -> None:
    """They have no rings, and valences of the centre alone; a match of a group is one of its star.

    A pair of like drawings, of which only one is in a six-ring, is met in both orders.
    """
    words = re.compile(r"[\[\];,&!:0-9#]|[+-]\d?|[DHX]\d?|Cl|Br|[CNOPSFI*cnos]")
    for star, centre in standardising._stars():
        for atom in star.GetAtoms():
            rest = words.sub("", atom.GetSmarts().removesuffix("]"))
            assert rest in ("", "v") if atom.GetIdx() == centre else rest == "", atom.GetSmarts()
        assert not any("@" in bond.GetSmarts() for bond in star.GetBonds())
    pair = [("Oc1cc[nH]n1", False), ("Oc1ccccn1", True), ("CS(C)=O", True), ("CSC", False)]
    for order in (pair, pair[::-1]):
        standardising._groups_of.clear()
        for smiles, is_redrawn in order * 2:
            seen = surroundings(Chem.MolFromSmiles(smiles))
            assert standardising._has_redrawn(seen) == is_redrawn, smiles
