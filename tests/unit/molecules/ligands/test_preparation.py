"""From a record to a ligand: chemistry, arrays, and every way to fail."""

import pickle
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdMolTransforms
from rdkit.Chem.rdDistGeom import EmbedMolecule, EmbedMultipleConfs

from ligen_py.engine.geometry import rebuild
from ligen_py.molecules.graph import Outline
from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands import building
from ligen_py.molecules.ligands.preparation import (
    Prepared,
    prepare,
    prepare_together,
)
from ligen_py.molecules.ligands.rows import columns_of
from ligen_py.molecules.ligands.standardising import canonical_smiles, largest_fragment
from ligen_py.molecules.ligands.unmarked_stereo import hands, ring_axes
from ligen_py.molecules.stored import molecule_of
from ligen_py.molecules.typing.gasteiger import gasteiger
from ligen_py.records.ledger import Reason, Status
from ligen_py.settings.parse import AS_GIVEN, ParseSettings
from tests.placed import started

SETTINGS = ParseSettings(**AS_GIVEN)
IMATINIB = "Cc1ccc(NC(=O)c2ccc(CN3CCN(C)CC3)cc2)cc1Nc1nccc(-c2cccnc2)n1"
METHOTREXATE = "CN(Cc1cnc2nc(N)nc(N)c2n1)c1ccc(cc1)C(=O)N[C@@H](CCC(=O)O)C(=O)O"
STRAINED = "NC(=S)NNC1=C2[C@@H]3C[C@H]4[C@H]5[C@@H]3[C@@H]1[C@H]5C1(OCCO1)[C@@H]24"
"""A cage with a double bond at a bridgehead."""
DRUGS = (IMATINIB, METHOTREXATE, "CCO", "C", "c1ccccc1", "CC(C)(C)OC(=O)N[C@H](CC#N)CSC")


def ligand(smiles: str, settings: ParseSettings = SETTINGS) -> Prepared:
    return prepare(Record(1, "x", smiles), settings)


def block(mol: Chem.Mol, settings: ParseSettings = SETTINGS) -> Prepared:
    return prepare(Record(1, "x", Chem.MolToMolBlock(mol), "mol"), settings)


def molecule(prepared: Prepared) -> Chem.Mol:
    return started(prepared.states[0].shape)


def same(first: Prepared, second: Prepared) -> bool:
    other = columns_of(second.states[:1])
    return all(
        np.array_equal(columns, other[group][name])
        for group, found in columns_of(first.states[:1]).items()
        for name, columns in found.items()
    )


@pytest.mark.parametrize("smiles", [*DRUGS, "C[N+](=O)[O-]", "O=c1[nH]cnc2[nH]cnc12"])
def test_states_pass_between_processes(smiles: str) -> None:
    prepared = ligand(smiles, ParseSettings())
    again = pickle.loads(pickle.dumps(prepared))
    assert len(again.states) == len(prepared.states)
    for state, other in zip(prepared.states, again.states, strict=True):
        arrays = {"partial": state.partial, **vars(state.outline), **state.shape}
        found = {"partial": other.partial, **vars(other.outline), **other.shape}
        for name in {*found, *state.shape, *(spec.name for spec in fields(Outline))}:
            assert found[name].dtype == arrays[name].dtype, name
            assert np.array_equal(found[name], arrays[name]), name


@pytest.mark.parametrize(
    "smiles",
    [
        "COc1ccc(-n2nc([N+](=O)[O-])c(NCc3cc(OC)ccc3OC)[n+]2[O-])cc1",
        "O=[N+]([O-])c1ccc(CC(=O)[O-])c([N+](=O)[O-])c1",
        "C[NH2+]CC(=[NH2+])Nc1ccc([N+](=O)[O-])cc1",
        "CC(C)(C)[NH2+]CC(O)COP(=O)([O-])[O-]",
        *DRUGS,
    ],
)
def test_charges_are_those_of_the_docking_order(smiles: str) -> None:
    """RDKit spreads formal charges over conjugated atoms in the order of their numbers."""
    for written in (smiles, Chem.MolToRandomSmilesVect(Chem.MolFromSmiles(smiles), 1, 3)[0]):
        for state in ligand(written, ParseSettings()).states:
            mol = Chem.Mol(molecule_of(state.shape["molecule"]))
            assert np.array_equal(state.partial, gasteiger(mol))


@pytest.mark.parametrize(
    ("smiles", "plain"),
    [
        ("[H]/N=C(/N)c1ccccc1", "N=C(N)c1ccccc1"),
        ("[H]/N=C(\\C)c1ccccc1", "CC(=N)c1ccccc1"),
        (r"[H]/N=C1/C(=N/Nc2cccc(Cl)c2Cl)C(N)=NN1C", r"CN1N=C(N)/C(=N\Nc2cccc(Cl)c2Cl)C1=N"),
    ],
)
def test_the_side_of_the_hydrogen_of_an_imine_is_left_open(smiles: str, plain: str) -> None:
    """Databases draw it, and RDKit then keeps the hydrogen as an atom."""
    for settings in (ParseSettings(), ParseSettings(standardise=False), SETTINGS):
        drawn, known = ligand(smiles, settings), ligand(plain, settings)
        assert drawn.status == Status.READY, drawn.detail
        assert (drawn.smiles, drawn.key) == (known.smiles, known.key)
        assert same(drawn, known)
    assert ligand(smiles, ParseSettings()).note == "side of the hydrogen of C=N-H left open"
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    assert EmbedMolecule(mol, randomSeed=1) == 0
    assert block(mol, ParseSettings()).key == ligand(plain).key


ORDINARY = (
    "[H]/N=C(/N)c1ccccc1", "[2H]C([2H])([2H])Oc1ccc(CN)cc1", "CC(=O)CC(=O)c1ccc[nH]c1=O",
    "CC12CC1(C)C(=O)N(c1cc(Cl)cc(Cl)c1)C2=O", "CN1[C@H]2CC[C@@H]1CCC2", "O=C1CCCCCCCCCCCN1",
    "C[C@@H]1CC[C@H](C(C)C)[C@H](O)C1", "CC(=O)[O-].[Na+]", "OB(O)c1ccccc1", "c1ccccc1", "O",
    "C/C(=N\\O)c1ccccc1", "NC(=O)[C@@H](N)CS", "O=S(=O)(Nc1ncccn1)c1ccc(N)cc1",
)  # fmt: skip
OFF_DEFAULT: tuple[dict[str, Any], ...] = (
    {}, {"standardise": False}, {"protonate": False}, {"tautomers": 4}, {"stereoisomers": 1},
    {"conformers": 1, "macrocycle_conformers": 1}, {"embed": "always"}, {"embed": "never"},
    {"ph": 1.0}, {"ph": 13.0}, {"min_population": 0.0, "protomers": 16}, {"mixtures": "reject"},
    {"tautomers": 4, "standardise": False, "embed": "always"}, AS_GIVEN,
)  # fmt: skip


@pytest.mark.parametrize("given", OFF_DEFAULT, ids=str)
def test_no_setting_makes_an_ordinary_molecule_fail(given: dict[str, Any]) -> None:
    """As SMILES and with coordinates; what fails is rejected by a rule, in the rule's words."""
    settings = ParseSettings(**given)
    placed = 0
    for smiles in ORDINARY:
        mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
        found = [ligand(smiles, settings)]
        if EmbedMolecule(mol, randomSeed=1) == 0:
            found.append(block(mol, settings))
            placed += 1
        for prepared in found:
            assert not prepared.detail.startswith("RDKit"), f"{smiles}: {prepared.detail}"
            expected = settings.embed == "never" or "B" in smiles or "." in smiles
            assert prepared.states or expected, f"{smiles}: {prepared.detail}"
    assert placed > 10


@pytest.mark.parametrize("smiles", ["[2H]C([2H])([2H])Oc1ccc(CN)cc1", "[3H]c1ccccc1C(=O)O"])
def test_heavy_hydrogen_is_docked_where_isotopes_stay(smiles: str) -> None:
    for settings in (SETTINGS, ParseSettings(standardise=False)):
        prepared = ligand(smiles, settings)
        assert prepared.status == Status.READY, prepared.detail
        labelled = [atom for atom in molecule(prepared).GetAtoms() if atom.GetIsotope()]
        assert len(labelled) == smiles.count("H]")
        assert all(atom.GetIdx() >= molecule(prepared).GetNumHeavyAtoms() for atom in labelled)


@pytest.mark.parametrize("smiles", DRUGS)
def test_columns_describe_the_stored_molecule(smiles: str) -> None:
    prepared = ligand(smiles)
    mol, columns = molecule(prepared), prepared.states[0].columns
    assert canonical_smiles(mol) == canonical_smiles(Chem.MolFromSmiles(smiles)) == prepared.smiles
    assert columns["element"].tolist() == [atom.GetAtomicNum() for atom in mol.GetAtoms()]
    assert columns["charge"].tolist() == [atom.GetFormalCharge() for atom in mol.GetAtoms()]
    assert columns_of(prepared.states[:1])["xscore"]["hydrogens"].tolist() == [
        sum(other.GetAtomicNum() == 1 for other in atom.GetNeighbors()) for atom in mol.GetAtoms()
    ]
    assert np.array_equal(columns["xyz"], mol.GetConformer().GetPositions().astype("f4"))
    heavy = columns["element"] > 1
    assert heavy.sum() == columns["heavy"][0]
    assert heavy[: columns["heavy"][0]].all()
    assert np.allclose(columns["xyz"][heavy].mean(axis=0), 0, atol=1e-5)
    orders = {1.0: 1, 2.0: 2, 3.0: 3, 1.5: 4}
    for (first, second), order in zip(columns["bond"], columns["bond_order"], strict=True):
        bond = mol.GetBondBetweenAtoms(int(first), int(second))
        assert orders[bond.GetBondTypeAsDouble()] == order
    assert len(columns["bond"]) == mol.GetNumBonds()


@pytest.mark.parametrize("smiles", DRUGS)
def test_pair_mask_against_distances_and_fragments(smiles: str) -> None:
    prepared = ligand(smiles)
    mol, columns = molecule(prepared), prepared.states[0].columns
    heavy = int(columns["heavy"][0])
    cuts = [mol.GetBondBetweenAtoms(*map(int, axis)).GetIdx() for axis in columns["torsion_axis"]]
    cut = Chem.FragmentOnBonds(mol, cuts, addDummies=False) if cuts else mol
    piece = np.empty(mol.GetNumAtoms(), int)
    for number, atoms in enumerate(Chem.GetMolFrags(cut)):
        piece[list(atoms)] = number
    expected = (Chem.GetDistanceMatrix(mol) > 3) & (piece[:, None] != piece[None, :])
    words = columns["pair_mask"].reshape(heavy, -1)
    assert words.shape[1] == -(-heavy // 32)
    bits = np.unpackbits(words.view("u1"), axis=1, bitorder="little")
    assert np.array_equal(bits[:, :heavy].astype(bool), expected[:heavy, :heavy])
    assert not bits[:, heavy:].any()


def dihedral_atoms(mol: Chem.Mol, near: int, far: int) -> tuple[int, int, int, int]:
    def beside(atom: int, other: int) -> int:
        found = [n.GetIdx() for n in mol.GetAtomWithIdx(atom).GetNeighbors()]
        return min(i for i in found if i != other)

    return beside(near, far), near, far, beside(far, near)


def all_distances(xyz: np.ndarray, pairs: Sequence[tuple[int, int]]) -> np.ndarray:
    first, second = np.array(pairs).T
    return np.linalg.norm(xyz[first] - xyz[second], axis=1)


@pytest.mark.parametrize("smiles", [IMATINIB, METHOTREXATE])
def test_torsions_turn_the_dihedrals_that_they_name(smiles: str) -> None:
    prepared = ligand(smiles)
    mol, columns = molecule(prepared), prepared.states[0].columns
    xyz, axes, ranges = (columns[name] for name in ("xyz", "torsion_axis", "torsion_range"))
    angles = np.linspace(25, 330, len(axes)).astype("f4")
    still = np.array([1, 0, 0, 0], "f4"), np.zeros(3, "f4")
    posed = rebuild(xyz, axes, ranges, angles, *still)
    turned = Chem.Mol(mol)
    turned.GetConformer().SetPositions(posed.astype("f8"))
    for (near, far), angle in zip(axes.tolist(), angles, strict=True):
        atoms = dihedral_atoms(mol, near, far)
        before = rdMolTransforms.GetDihedralDeg(mol.GetConformer(), *atoms)
        after = rdMolTransforms.GetDihedralDeg(turned.GetConformer(), *atoms)
        assert abs((after - before - angle + 180) % 360 - 180) < 0.01
    distances = Chem.GetDistanceMatrix(mol)
    stiff = [(i, j) for i, j in np.argwhere((distances > 0) & (distances < 3)).tolist() if i < j]
    assert np.allclose(all_distances(posed, stiff), all_distances(xyz, stiff), atol=1e-3)
    Chem.AssignStereochemistryFrom3D(turned)
    assert canonical_smiles(turned) == prepared.smiles


def test_a_molecule_has_one_conformer_however_it_is_written() -> None:
    mol = Chem.MolFromSmiles(METHOTREXATE)
    other = Chem.MolToSmiles(mol, canonical=False, rootedAtAtom=17)
    assert other != METHOTREXATE
    assert same(ligand(METHOTREXATE), ligand(other))
    assert ligand(METHOTREXATE).key == ligand(other).key
    flat = block(mol)
    assert same(ligand(METHOTREXATE), flat)
    assert not same(
        ligand(METHOTREXATE), ligand(METHOTREXATE, SETTINGS.model_copy(update={"seed": 2}))
    )


def test_strained_rings_are_left_out_but_not_macrocycles() -> None:
    def strains(ring: str, most: float) -> list[float]:
        limits = {"max_strain": most, "conformers": 4, "macrocycle_conformers": 8}
        states = prepare(Record(1, "x", ring), SETTINGS.model_copy(update=limits)).states
        return [float(state.shape["strain"][0]) for state in states]

    small, large = "CC1CCCCC1", "C1CCCCCCCCC1"
    assert max(strains(small, 4.0)) <= 4 < max(strains(small, 1000.0))
    assert len(strains(small, 0.0)) == 1
    assert strains(large, 0.0) == strains(large, 1000.0)
    assert max(strains(large, 0.0)) > 0


def test_a_3d_block_is_kept_and_gets_its_missing_hydrogens() -> None:
    whole = molecule(ligand(METHOTREXATE, SETTINGS.model_copy(update={"seed": 9})))
    heavy_only = Chem.RemoveHs(whole)
    kept = block(heavy_only)
    assert kept.states[0].columns["element"].size == whole.GetNumAtoms()
    count = int(kept.states[0].columns["heavy"][0])
    match = molecule(kept).GetSubstructMatch(heavy_only)
    found = kept.states[0].columns["xyz"][list(match)]
    assert np.allclose(found, heavy_only.GetConformer().GetPositions(), atol=2e-4)
    hydrogens = kept.states[0].columns["bond"].max(axis=1) >= count
    pairs = [tuple(pair) for pair in kept.states[0].columns["bond"][hydrogens].tolist()]
    assert np.allclose(all_distances(kept.states[0].columns["xyz"], pairs), 1.05, atol=0.1)
    again = block(heavy_only, SETTINGS.model_copy(update={"embed": "always"}))
    assert same(again, ligand(METHOTREXATE))


def test_impossible_coordinates_are_replaced() -> None:
    mol = molecule(ligand("CCCC"))
    xyz = mol.GetConformer().GetPositions()
    xyz[0] = xyz[1]
    mol.GetConformer().SetPositions(xyz)
    assert same(block(mol), ligand("CCCC"))


@pytest.mark.parametrize(
    ("smiles", "parent"),
    [
        ("CC(=O)[O-].[Na+]", "CC(=O)[O-]"),
        ("CCO.CCCCN.Cl", "CCCCN"),
        ("O.O.O=S(=O)(O)O.CN", "CN"),
        ("CCN.CCO", "CCO"),
        ("CCC.CCC", "CCC"),
        ("[Na+].[Cl-]", "[Cl-]"),
        ("[2H]C.CCBr", "CCBr"),
    ],
)
def test_parents(smiles: str, parent: str) -> None:
    assert canonical_smiles(largest_fragment(Chem.MolFromSmiles(smiles))[0]) == parent


@pytest.mark.parametrize(
    ("smiles", "notes"),
    [
        ("C1CC1.C1CC1.C1CC1", ["taken off: 2 C1CC1"]),
        ("CC(=O)[O-].CC(=O)O.[Na+]", ["taken off: CC(=O)[O-], [Na+]"]),
        ("CCCO.CCN.CCN", ["mixture, also of: 2 CCN"]),
    ],
)
def test_no_fragment_goes_without_a_note(smiles: str, notes: list[str]) -> None:
    assert largest_fragment(Chem.MolFromSmiles(smiles))[1] == notes


@pytest.mark.parametrize(
    ("smiles", "reason", "detail"),
    [
        ("C1CC(", Reason.UNPARSABLE, "SMILES Parse Error: syntax error while parsing: C1CC("),
        ("CC(C)(C)(C)C", Reason.UNPARSABLE, "Explicit valence for atom # 1 C, 5, is greater"),
        ("c1cccc1", Reason.UNPARSABLE, "Can't kekulize mol"),
        ("C\x00C", Reason.UNPARSABLE, "not a SMILES"),
        ("Smiles", Reason.UNPARSABLE, "SMILES Parse Error"),
        ("é", Reason.UNPARSABLE, "not a SMILES"),
        ("C" * 5000 + "(", Reason.UNPARSABLE, "SMILES Parse Error"),
        ("[H][H]", Reason.NO_ATOMS, "no heavy atom"),
        ("CC*", Reason.UNSUPPORTED_ELEMENT, "no atom type for a dummy atom"),
        ("CB(O)O", Reason.UNSUPPORTED_ELEMENT, "no atom type for B"),
        ("[Na+].[Cl-]", Reason.UNSUPPORTED_ELEMENT, "a halogen alone, as of a salt"),
        ("[NH4+].[Br-]", Reason.UNSUPPORTED_ELEMENT, "a halogen alone, as of a salt"),
        ("I", Reason.UNSUPPORTED_ELEMENT, "a halogen alone, as of a salt"),
        ("C[Se]C[As]", Reason.UNSUPPORTED_ELEMENT, "no atom type for As, Se"),
        ("C" * 86, Reason.TOO_MANY_ATOMS, "260 atoms with hydrogens, at most 256"),
        ("C" * 68, Reason.TOO_MANY_TORSIONS, "65 rotatable bonds, at most 64"),
        (STRAINED, Reason.EMBEDDING_FAILED, "no conformer in 2 x"),
    ],
)
def test_bad_molecules_get_a_reason(smiles: str, reason: Reason, detail: str) -> None:
    prepared = ligand(smiles)
    assert prepared.reason == reason
    assert detail in prepared.detail
    assert len(prepared.detail) <= 200
    assert prepared.detail.isprintable()
    assert not prepared.states
    failed = reason in (Reason.UNPARSABLE, Reason.NO_ATOMS, Reason.EMBEDDING_FAILED)
    assert prepared.status == (Status.FAILED if failed else Status.REJECTED)


MUTED = """
from rdkit import Chem, rdBase
from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands.drawn import UnusableError, collector, molecule_of_record

def tell(smiles):
    with collector() as messages:
        try:
            molecule_of_record(Record(1, "x", smiles), messages)
        except UnusableError as error:
            print(error)

with rdBase.BlockLogs():
    tell("C1")
    Chem.MolFromSmiles("silent")
    tell("C2")
Chem.MolFromSmiles("shown")
tell("C3")
with rdBase.BlockLogs():
    rdBase.LogToPythonLogger()  # as at the import of Meeko
    tell("C4")
with rdBase.BlockLogs():
    tell("C5")
    Chem.MolFromSmiles("silent")
rdBase.DisableLog("rdApp.*")
tell("C6")
Chem.MolFromSmiles("silent")
"""
"""What a new process collects, and what it shows, where RDKit's logs are off."""


def test_rdkits_messages_are_kept_where_its_logs_are_off() -> None:
    found = subprocess.run(
        [sys.executable, "-c", MUTED], capture_output=True, text=True, check=True
    )
    said = [f"SMILES Parse Error: unclosed ring for input: 'C{number}'" for number in range(1, 7)]
    assert found.stdout.splitlines() == said
    assert "silent" not in found.stderr
    assert "shown" in found.stderr


def test_limits_are_inclusive() -> None:
    assert ligand("CCO", SETTINGS.model_copy(update={"max_atoms": 9})).status == Status.READY
    assert (
        ligand("CCO", SETTINGS.model_copy(update={"max_atoms": 8})).reason == Reason.TOO_MANY_ATOMS
    )
    assert ligand("CCCCC", SETTINGS.model_copy(update={"max_torsions": 2})).status == Status.READY
    assert (
        ligand("CCCCC", SETTINGS.model_copy(update={"max_torsions": 1})).reason
        == Reason.TOO_MANY_TORSIONS
    )


@pytest.mark.parametrize(
    ("listed", "is_molecule"),
    [
        ("  2 F    2   7   8\n", False),
        ("  2 T    2   7   8\n", False),
        ("M  ALS   2  2 F N   O   \n", False),
        ("M  ALS   2  1 T N   \n", False),
        ("M  ALS   2  1 F N   \n", True),
        ("M  SUB  1   2   1\n", True),
    ],
)
def test_a_list_of_elements_is_no_molecule(listed: str, is_molecule: bool) -> None:
    """RDKit takes an atom of some lists for the first element, also of "not nitrogen"."""
    text = Chem.MolToMolBlock(Chem.MolFromSmiles("CN")).replace("M  END", listed + "M  END")
    found = prepare(Record(1, "x", text, "mol"), SETTINGS)
    reason = Reason.NONE if is_molecule else Reason.UNSUPPORTED_ELEMENT
    assert (found.reason, found.smiles) == (reason, "CN" * is_molecule)


POLYMER = """M  STY  1   1 SRU
M  SAL   1  2   2   3
M  SBL   1  2   1   3
M  SMT   1 n
"""


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("A    4\nBoc\n", "the label 'Boc'"),
        ("A    4\nCO2Et\n", "the label 'CO2Et'"),
        ("A    4\nR1\n", "the label 'R1'"),
        (POLYMER, "a polymer"),
        (POLYMER.replace("SRU", "MUL"), ""),
        ("A    4\nCH3\n", ""),
        ("A    4\nC4\n", ""),
        ("A    3\n3\n", ""),
    ],
)
def test_what_stands_for_another_molecule_is_not_docked(lines: str, said: str) -> None:
    text = Chem.MolToMolBlock(Chem.MolFromSmiles("CCOC")).replace("M  END", lines + "M  END")
    found = prepare(Record(1, "x", text, "mol"), SETTINGS)
    assert said in found.detail
    assert found.reason == (Reason.UNPARSABLE if said else Reason.NONE)


@pytest.mark.parametrize(
    ("smiles", "reason", "said"),
    [
        ("*Cl.CCc1ccccc1 |m:0:4.5.6|", Reason.UNPARSABLE, "several atoms at once"),
        ("CCOC |Sg:n:1,2:n:ht|", Reason.UNPARSABLE, "a polymer"),
        ("[CH-]1C=CC=C1.[CH-]1C=CC=C1CN(C)C.[Fe+2]", Reason.UNSUPPORTED_ELEMENT, "for Fe"),
        ("[Na+].[cH-]1cccc1", Reason.NONE, ""),
    ],
)
def test_parts_of_a_drawing_are_not_docked_in_its_place(
    smiles: str, reason: Reason, said: str
) -> None:
    """Ethylbenzene for its chloride, one unit for a polymer, cyclopentadiene for ferrocene."""
    found = ligand(smiles)
    assert (found.reason, said in found.detail) == (reason, True)


def test_a_block_cut_short_is_unparsable() -> None:
    text = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO"))
    for cut in range(0, len(text) - 2, 7):
        prepared = prepare(Record(1, "x", text[:cut], "mol"), SETTINGS)
        assert prepared.reason == Reason.UNPARSABLE
        assert "cut short" in prepared.detail


@pytest.mark.parametrize(
    ("smiles", "reason"),
    [
        ("C.O.C", Reason.UNPARSABLE),
        ("C", Reason.NONE),
        ("[Na+].[Cl-]", Reason.UNSUPPORTED_ELEMENT),  # a salt, and no drawing without its bonds
    ],
)
def test_a_block_without_bonds_is_no_mixture_of_atoms(smiles: str, reason: Reason) -> None:
    found = block(Chem.MolFromSmiles(smiles))
    assert found.reason == reason
    assert ("no bonds" in found.detail) == (reason == Reason.UNPARSABLE)


def test_an_empty_block_has_no_atoms() -> None:
    assert block(Chem.Mol()).reason == Reason.NO_ATOMS


def test_what_goes_wrong_with_arrays_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(lists: object) -> None:
        raise RuntimeError("no arrays")

    monkeypatch.setattr(building, "docking_orders", fail)
    found = prepare(Record(1, "x", "CCO"), SETTINGS)
    assert (found.reason, found.detail) == (Reason.UNPARSABLE, "RDKit: RuntimeError: no arrays")
    assert found.smiles == "CCO"
    assert found.key


def test_what_goes_wrong_with_one_of_a_batch_costs_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = []
    for number, smiles in enumerate(("CCO", "CCCBr", "CCN"), start=1):
        mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
        EmbedMolecule(mol, randomSeed=1)
        records.append(Record(number, "x", Chem.MolToMolBlock(mol), "mol"))
    alone = [prepare(record, SETTINGS) for record in records]
    orders = building.docking_orders

    def fail(lists: list) -> list:  # type: ignore[type-arg]
        if any(35 in one.element for one in lists):
            raise RuntimeError("no bromine")
        return orders(lists)

    monkeypatch.setattr(building, "docking_orders", fail)
    first, second, third = prepare_together(records, SETTINGS)
    assert isinstance(second, Prepared)
    assert second.detail == "RDKit: RuntimeError: no bromine"
    assert (second.smiles, second.key) == (alone[1].smiles, alone[1].key)
    for found, expected in ((first, alone[0]), (third, alone[2])):
        assert isinstance(found, Prepared)
        assert pickle.dumps(found.states) == pickle.dumps(expected.states)


@pytest.mark.parametrize("settings", [SETTINGS, ParseSettings()])
def test_map_numbers_are_no_part_of_a_molecule(settings: ParseSettings) -> None:
    """A labelled molecule is a duplicate of the same one without labels, from SMILES and SDF."""
    mol = Chem.AddHs(Chem.MolFromSmiles("OCC[NH3+]"))
    EmbedMolecule(mol, randomSeed=1)
    plain = block(mol, settings)
    mol.GetAtomWithIdx(1).SetAtomMapNum(7)
    labelled = block(mol, settings)
    assert (labelled.smiles, labelled.key) == (plain.smiles, plain.key)
    assert labelled.note == "map numbers of atoms removed"
    assert pickle.dumps(labelled.states) == pickle.dumps(plain.states)
    assert ligand("O[CH2:7]C[NH3+]").key == ligand("OCC[NH3+]").key


def test_dative_bonds_are_written_as_charges_and_others_are_refused() -> None:
    drawn, charged = ligand("CN(C)(C)->O"), ligand("C[N+](C)(C)[O-]")
    assert (drawn.key, pickle.dumps(drawn.states)) == (charged.key, pickle.dumps(charged.states))
    assert drawn.note == "dative bonds written as charges"
    assert ligand("C1CC<-N1").smiles == "[CH-]1CC[NH2+]1"  # one in a ring made no end
    for smiles in ("CC~C", "C1CCCCC~1", "C~1CCCCC1", "C1CC~2CCCC2C1"):
        found = ligand(smiles)
        assert found.detail == "a bond is neither single, double, triple nor aromatic", smiles


@pytest.mark.parametrize("smiles", ["CCO", "c1cc[nH]c1", "CN(C)C"])
def test_hydrogens_that_an_atom_asks_for_are_no_part_of_a_molecule(smiles: str) -> None:
    """They are for searches. RDKit takes such an atom's own off, so ethanol was a carbene."""
    mol = Chem.MolFromSmiles(smiles)
    Chem.Kekulize(mol, clearAromaticFlags=True)
    plain = Chem.MolToMolBlock(mol)
    count = mol.GetNumAtoms()
    for asked in (1, 2, 4):
        lines = plain.split("\n")
        for number in range(4, 4 + count):
            lines[number] = f"{lines[number][:42]}{asked:3d}{lines[number][45:]}"
        record = Record(1, "x", "\n".join(lines), "mol")
        assert prepare(record, ParseSettings()).key == ligand(smiles, ParseSettings()).key


@pytest.mark.parametrize("settings", [SETTINGS, ParseSettings()])
def test_a_radical_is_docked_with_a_note(settings: ParseSettings) -> None:
    assert ligand("[CH2]c1ccccc1", settings).note.startswith("unpaired electrons, as drawn")
    assert ligand("CC1(C)CCCC(C)(C)N1[O]", settings).note.startswith("unpaired electrons")
    for smiles in ("[CH3]c1ccccc1", "C[N+](=O)[O-]", "C[NH3+]", "CN=[N+]=[N-]", "[C-]#[O+]"):
        assert "unpaired" not in ligand(smiles, settings).note


@pytest.mark.parametrize("settings", [SETTINGS, ParseSettings()])
def test_allenes_are_one_molecule_with_a_note(settings: ParseSettings) -> None:
    for smiles in ("CC=C=CC(=O)O", "C(=CC1CCCCC1)=CC1CCCCC1"):
        found = ligand(smiles, settings)
        assert found.note == "allene or cumulene: which isomer is drawn is left open"
    found = ligand("CC=C=CC(=O)O", settings)
    assert len(found.states) == min(2, settings.conformers)
    for smiles in ("CC(C)=C=CC(=O)O", "C=C=CCO", "CCN=C=NCC", "CC(C)=C=O", "C=CC=C"):
        assert ligand(smiles, settings).note == "", smiles


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Oc1cccc2CC[C@]3(CCc4cccc(O)c34)c12", "Oc1cccc2CC[C@@]3(CCc4cccc(O)c34)c12"),
        ("C1CCO[C@]2(C1)CCCCO2", "C1CCO[C@@]2(C1)CCCCO2"),
        ("C1C[C@]2(CC1=O)CCC(=O)C2", "C1C[C@@]2(CC1=O)CCC(=O)C2"),
        (
            "Cc1ccc2c(c1)C[N@]1C[N@@]2Cc2cc(C)ccc12",
            "Cc1ccc2c(c1)C[N@@]1C[N@]2Cc2cc(C)ccc12",
        ),
    ],
)
def test_hands_without_a_stereocentre_are_one_molecule_docked_in_both(one: str, other: str) -> None:
    """RDKit keeps no mark of an atom two of whose neighbours are alike."""
    found = ligand(one, ParseSettings())
    assert found.note.endswith("which mirror image is drawn is left open")
    assert ligand(other, ParseSettings()).key == found.key
    (hand,) = hands(started(found.states[0].shape))
    docked = [started(state.shape).GetConformer() for state in found.states[:2]]
    assert {hand.is_positive(conformer) for conformer in docked} == {False, True}


@pytest.mark.parametrize(
    "smiles",
    [
        "C1CCC2(CC1)CCCCC2", "CC1CCC2(C1)OCCO2", "CC1CCC2(C1)CCC(C)C2", "C1CN2CCN1CC2",
        "C1CC2CCN3CCCC1C23", "C[C@H]1CC[C@]2(C1)CCC(=O)C2", "c1cc2c3c(c1)CCN3CN2C",
    ],
)  # fmt: skip
def test_other_spiro_atoms_and_amines_leave_no_hand_open(smiles: str) -> None:
    assert "mirror image" not in ligand(smiles).note


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("OC(=O)/C=C1/CC[C@H](C)CC1", "OC(=O)/C=C1/CC[C@@H](C)CC1"),
        ("O/N=C1/CC[C@H](C(C)(C)C)CC1", "O/N=C1/CC[C@@H](C(C)(C)C)CC1"),
        ("OC(=O)/C=C1/C[C@H](C(=O)NC)C1", "OC(=O)/C=C1/C[C@@H](C(=O)NC)C1"),
        ("O[C@H]1CC2(C1)C[C@H](N)C2", "O[C@@H]1CC2(C1)C[C@H](N)C2"),
        ("O[C@H]1CCC2(CC1)CC[C@H](N)CC2", "O[C@@H]1CCC2(CC1)CC[C@H](N)CC2"),
        ("F/C=C1/CC[S@](=O)CC1", "F/C=C1/CC[S@@](=O)CC1"),
        ("CC=C1CCC(C=C)CC1", "C/C=C1/CC[C@H](C=C)CC1"),
    ],
)
@pytest.mark.parametrize("stereoisomers", [1, 4])
def test_isomers_of_rings_in_a_row_are_one_molecule_docked_as_both(
    one: str, other: str, stereoisomers: int
) -> None:
    """RDKit drops their marks, and one of the two was docked, drawn or not."""
    settings = ParseSettings(stereoisomers=stereoisomers)
    found = ligand(one, settings)
    assert found.note == "double bonds and rings in a row: which isomer is drawn is left open"
    assert ligand(other, settings).key == found.key
    docked = [started(state.shape) for state in found.states]
    assert {axis.is_positive(mol.GetConformer()) for mol in docked for axis in ring_axes(mol)} == {
        False,
        True,
    }


@pytest.mark.parametrize(
    ("smiles", "axes"),
    [("CC=C=C1CCC(C)CC1", 1), ("CC=C=C1CC2(C1)CC(F)C2", 1), ("CC=C=C1CCC(=CC)CC1", 1),
     ("CC=C=C1CCCCC1", 0)],
)  # fmt: skip
def test_a_row_goes_on_through_cumulated_double_bonds(smiles: str, axes: int) -> None:
    assert len(ring_axes(Chem.MolFromSmiles(smiles))) == axes


@pytest.mark.parametrize(
    "smiles",
    [
        "OC1CC2(C1)CC(N)C2",
        "OC1CCC2(CC1)CCC(N)CC2",
        "CC1COC2(CCC(C)CC2)OC1",
        "CC1CCC(=C2CCC(O)CC2)CC1",
        "CC1CCC2(CC1)CC1(CCC(O)CC1)C2",
        "CC1CC(=C2CCS(=O)CC2)C1",
    ],
)
def test_conformers_of_rings_in_a_row_are_told_apart(smiles: str) -> None:
    """As RDKit's new perception does, whatever the shapes of the rings."""
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    EmbedMultipleConfs(mol, 30, randomSeed=1)
    bare = Chem.RemoveHs(mol)
    (axis,) = ring_axes(bare)
    isomers = set()
    Chem.SetUseLegacyStereoPerception(False)
    try:
        for conformer, full in zip(bare.GetConformers(), mol.GetConformers(), strict=True):
            placed = Chem.Mol(mol, confId=full.GetId())
            Chem.AssignStereochemistryFrom3D(placed)
            marked = Chem.MolToSmiles(Chem.RemoveHs(placed))
            isomers.add((axis.is_positive(conformer), marked))
    finally:
        Chem.SetUseLegacyStereoPerception(True)
    hands, marks = zip(*isomers, strict=True)
    assert set(hands) == {False, True}
    assert len(set(marks)) == len(isomers)


@pytest.mark.parametrize(
    "smiles",
    [
        "C=C1CCC(C)CC1", "CC(C)=C1CCC(C)CC1", "CC=C1CCC(=O)CC1", "CC1CCC2(CC1)CC2", "CC1CCC(O)CC1",
        "OC(=O)C=C1CCN(C)CC1", "OC(=O)C=C1C2CC3CC1CC(C2)C3", "NC1CC2(C1)CC(F)(F)C2", "CC=CC=CC",
        "C1CCC2(CC1)CCC(O)CC2", "ON=C1CC2CCC(C1)N2C", "CC=C1CCCC(C)C1", "CN1CCC2(CC1)CCNCC2",
    ],
)  # fmt: skip
def test_rings_whose_ends_are_mirrors_leave_nothing_open(smiles: str) -> None:
    assert "in a row" not in ligand(smiles).note


@pytest.mark.parametrize("settings", [SETTINGS, ParseSettings()])
def test_atropisomers_are_one_molecule_with_a_note(settings: ParseSettings) -> None:
    """Docking turns the bond between the rings, whichever of them is drawn."""
    flat = "Cc1cccc(C(=O)O)c1-c1c(C)cccc1N"
    one, other = (ligand(f"{flat} |w{side}:10.11|", settings) for side in "UD")
    assert one.key == other.key == ligand(flat, settings).key
    for found in (one, other):
        assert found.note == "atropisomer: which one is drawn is left open"
    assert ligand(flat, settings).note == ""


@pytest.mark.parametrize(
    ("sided", "plain"),
    [
        ("[H]/C1=C(/[H])CCCCCCCC1", "C1=C/CCCCCCCC/1"),
        ("[H]/C1=C([H])/CCCCCCCC1", "C1=C\\CCCCCCCC/1"),
        ("C1(/[H])=C(/[H])CCCCCCCC1", "C1=C\\CCCCCCCC/1"),
        ("[H]/C(C)=C(/[H])C", "C/C=C/C"),
        ("[H]/C(C)=C(\\[H])C", "C/C=C\\C"),
        ("[H]/C(=N/O)c1ccccc1", "O/N=C\\c1ccccc1"),
    ],
)
def test_hydrogens_name_the_side_of_a_double_bond(sided: str, plain: str) -> None:
    """In a ring RDKit alone reads the other side."""
    assert ligand(sided).smiles == ligand(plain).smiles


def test_a_carboxylate_of_aromatic_bonds_is_refused() -> None:
    """RDKit reads them from an SDF record, and finds neither hydrogens nor charges."""
    text = Chem.MolToMolBlock(Chem.MolFromSmiles("CC(=O)O"))
    drawn = text.replace("  2  3  2  0", "  2  3  4  0").replace("  2  4  1  0", "  2  4  4  0")
    assert drawn.count("  4  0\n") == 2
    found = prepare(Record(1, "x", drawn, "mol"), SETTINGS)
    said = "a bond outside rings is drawn as aromatic; draw it as single or double"
    assert (found.reason, found.detail) == (Reason.UNPARSABLE, said)


def test_the_reason_is_rdkits_error_and_not_its_warning() -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles("C[NH3+]"))
    EmbedMolecule(mol, randomSeed=1)
    flat = Chem.MolToMolBlock(mol).replace("     RDKit          3D", "     RDKit          2D")
    uncharged = "".join(line for line in flat.splitlines(True) if not line.startswith("M  CHG"))
    found = prepare(Record(1, "x", uncharged, "mol"), SETTINGS)
    assert found.detail == "Explicit valence for atom # 1 N, 4, is greater than permitted"
    typed = "@<TRIPOS>MOLECULE\nx\n1 0\nSMALL\nNO_CHARGES\n\n@<TRIPOS>ATOM\n1 C 0 0 0 c3 1 x 0\n"
    detail = prepare(Record(1, "x", typed, "mol2"), SETTINGS).detail
    assert detail.startswith("Element 'c3' not found; atom types of a MOL2 file are SYBYL's")


@pytest.mark.parametrize("drawn", ["C/C=C/C(=O)Nc1ccccc1", "C/C=C\\C(=O)Nc1ccccc1", "C/C(CC)=N/O"])
def test_coordinates_say_the_side_of_a_double_bond_that_is_marked_as_open(drawn: str) -> None:
    """RDKit marks it where it embeds a molecule whose side was not drawn."""
    mol = Chem.AddHs(Chem.MolFromSmiles(drawn))
    EmbedMolecule(mol, randomSeed=1)
    for bond in mol.GetBonds():
        bond.SetStereo(Chem.BondStereo.STEREONONE)
        bond.SetBondDir(Chem.BondDir.NONE)
    text = Chem.MolToMolBlock(mol)
    assert re.search(r"^ *\d+ +\d+  2  3$", text, re.MULTILINE)
    found = prepare(Record(1, "x", text, "mol"), SETTINGS)
    assert found.key == prepare(Record(1, "x", drawn), SETTINGS).key
    assert not found.note
    flat = Chem.MolFromSmiles(drawn)
    (marked,) = (bond for bond in flat.GetBonds() if bond.GetStereo())
    marked.SetStereo(Chem.BondStereo.STEREOANY)
    assert prepare(Record(1, "x", Chem.MolToMolBlock(flat), "mol"), SETTINGS).key != found.key


def test_the_reason_is_that_of_a_bond_drawn_twice() -> None:
    text = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO")).replace("  2  3  1  0", "  2  1  1  0")
    found = prepare(Record(1, "x", text, "mol"), SETTINGS)
    assert found.detail == "RDKit: Pre-condition Violation: bond already exists"


def test_what_must_be_embedded_is_left_to_be_made_alone(tmp_path: Path) -> None:
    """Until its shapes are known."""
    records = [Record(n, "x", smiles) for n, smiles in enumerate(("CCOC1CCNCC1", "not one"), 1)]
    for known in (False, True):
        found, wrong = prepare_together(records, SETTINGS, tmp_path / "shapes")
        assert isinstance(wrong, Prepared)
        assert callable(found) != known
        made = found() if callable(found) else found
        assert pickle.dumps(made.states) == pickle.dumps(prepare(records[0], SETTINGS).states)


def test_records_in_turn_become_what_each_becomes_alone() -> None:
    """Those that need conformers go on alone; a message belongs to the record that it is about."""
    records = []
    for number, smiles in enumerate([*DRUGS, "C[N+](=O)[O-]", "OC(=O)CN"], start=1):
        mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
        EmbedMolecule(mol, randomSeed=1)
        records.append(Record(number, "x", Chem.MolToMolBlock(mol), "mol"))
    flat = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO"))
    strange = Record(20, "x", records[0].text.replace(" C  ", " Qq ", 1), "mol")
    crowded = Record(21, "x", records[4].text.replace("  1  2  2", "  1  2  3"), "mol")
    spoilt = [strange, crowded, Record(10, "x", "CCO"), Record(11, "x", flat, "mol")]
    mixed = [*spoilt[:1], *records[:4], *spoilt[1:], *records[4:]]
    for settings in (SETTINGS, ParseSettings()):
        alone = [prepare(record, settings) for record in mixed]
        together = prepare_together(mixed, settings)
        for one, other in zip(alone, together, strict=True):
            if callable(other):
                other = other()
            assert (other.smiles, other.key, other.reason) == (one.smiles, one.key, one.reason)
            assert (other.detail, other.note) == (one.detail, one.note)
            assert np.array_equal(other.properties, one.properties, equal_nan=True)
            assert pickle.dumps(other.states) == pickle.dumps(one.states)
        assert alone[0].detail != alone[5].detail
