"""Tautomers and stereoisomers of a parent, as textbooks know them."""

import re

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdMolTransforms
from rdkit.Chem.rdDistGeom import EmbedMolecule

from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands.drawn import _said
from ligen_py.molecules.ligands.preparation import Prepared, prepare
from ligen_py.molecules.ligands.states import (
    open_stereo,
    stereoisomers,
    tautomers,
    undefined_stereo,
)
from ligen_py.records.ledger import Reason, Status
from ligen_py.settings.parse import ParseSettings
from tests.placed import started

SETTINGS = ParseSettings(conformers=1, macrocycle_conformers=4)


def smiles(mols: list[Chem.Mol]) -> set[str]:
    return {Chem.CanonSmiles(Chem.MolToSmiles(mol)) for mol in mols}


def of(text: str, settings: ParseSettings = SETTINGS) -> Prepared:
    return prepare(Record(1, "x", text), settings)


def states(prepared: Prepared) -> list[str]:
    return [str(state.shape["smiles"][0]) for state in prepared.states]


def test_tautomers_are_optional_and_begin_with_the_one_drawn() -> None:
    drawn = Chem.MolFromSmiles("Oc1ccccn1")
    assert tautomers(drawn, 1) == [drawn]
    assert [Chem.MolToSmiles(mol) for mol in tautomers(drawn, 2)] == ["Oc1ccccn1", "O=c1cccc[nH]1"]
    kept = tautomers(Chem.MolFromSmiles("C[C@H](N)CC(C)=O"), 3)
    assert all("@" in Chem.MolToSmiles(mol) for mol in kept)


@pytest.mark.parametrize(
    ("drawn", "others"),
    [
        ("OC(=O)CCl", []),
        ("C[C@H](N)C(=O)N[C@@H](CC(C)C)C(=O)O", []),
        ("C[C@H](C(=O)O)c1ccccc1", []),
        ("CC(=O)[C@@H](C)C(=O)OC", []),
        ("O=C1CCCCC1", []),
        ("Oc1cccc(O)c1", []),
        ("CC(=O)C(C)=NO", []),
        ("O=c1cccc[nH]1", ["Oc1ccccn1"]),
        ("CC(=O)CC(C)=O", ["CC(=O)C=C(C)O"]),
        ("Cc1c[nH]cn1", ["Cc1cnc[nH]1"]),
        ("Cc1cc(O)nn1C", ["Cc1cc(=O)[nH]n1C"]),
        ("Oc1ccc2ccccc2c1N=Nc1ccccc1", ["O=C1C=Cc2ccccc2C1=NNc1ccccc1"]),
        ("O=Nc1c(O)ccc2ccccc12", ["O=C1C=Cc2ccccc2C1=NO"]),
        ("O=C1CN=C(c2ccccc2)c2cc(Cl)ccc2N1", []),
        ("O=C1Nc2ccccc2C1=O", []),
    ],
)
def test_tautomers_that_water_hardly_has_are_left_out(drawn: str, others: list[str]) -> None:
    """RDKit makes enols of acids, imidic acids of peptides and rings that are aromatic no more."""
    _, *found = tautomers(Chem.MolFromSmiles(drawn), 8)
    assert [Chem.MolToSmiles(mol) for mol in found] == others


@pytest.mark.parametrize(
    ("smiles", "ion"), [("Cc1cnc[nH]1", "Cc1c[nH]c[nH+]1"), ("c1nnn[nH]1", "c1nnn[n-]1")]
)
def test_an_ion_of_two_tautomers_is_docked_once(smiles: str, ion: str) -> None:
    found = of(smiles, ParseSettings(tautomers=4))
    assert [state for state in dict.fromkeys(states(found)) if re.search(r"[+-]\]", state)] == [ion]


@pytest.mark.parametrize("smiles", ["CC(=O)CC(=O)c1ccc[nH]c1=O", "CC(=N)c1ccccc1"])
def test_tautomers_of_a_record_with_coordinates_keep_them(smiles: str) -> None:
    drawn = Chem.AddHs(Chem.MolFromSmiles(smiles))
    assert EmbedMolecule(drawn, randomSeed=1) == 0
    bare = Chem.RemoveHs(drawn)
    others = tautomers(bare, 3)
    assert len({Chem.MolToSmiles(mol) for mol in others}) == len(others) > 1
    there = bare.GetConformer().GetPositions()
    assert all(np.array_equal(mol.GetConformer().GetPositions(), there) for mol in others)
    settings = ParseSettings(tautomers=3)
    prepared = prepare(Record(1, "x", Chem.MolToMolBlock(drawn), "mol"), settings)
    assert prepared.status == Status.READY, prepared.detail
    assert len(set(states(prepared))) >= len(others)


@pytest.mark.parametrize("settings", [ParseSettings(tautomers=4), ParseSettings()])
def test_an_enol_does_not_keep_the_coordinates_of_a_ketone(settings: ParseSettings) -> None:
    """Nor an enolate: the carbon atom is no tetrahedron any more."""
    drawn = Chem.AddHs(Chem.MolFromSmiles("CC(=O)CC(=O)C(F)(F)F"))
    assert EmbedMolecule(drawn, randomSeed=1) == 0
    found = prepare(Record(1, "x", Chem.MolToMolBlock(drawn), "mol"), settings)
    assert any("C=C" in state or "C([O-])=" in state for state in states(found))
    for state in found.states:
        mol = Chem.RemoveHs(started(state.shape))
        for bond in mol.GetBonds():
            length = rdMolTransforms.GetBondLength(
                mol.GetConformer(), bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
            )
            assert bond.GetBondType() != Chem.BondType.DOUBLE or length < 1.42
    never = ParseSettings(tautomers=4, embed="never")
    there = prepare(Record(1, "x", Chem.MolToMolBlock(drawn), "mol"), never)
    assert there.status == Status.READY


def test_undefined_centres_are_enumerated_to_the_cap() -> None:
    racemate = of("CC(F)Cl")
    assert set(states(racemate)) == {"C[C@H](F)Cl", "C[C@@H](F)Cl"}
    assert racemate.note == ""
    assert len(set(states(of("C/C=C/C(F)=CC")))) == 2
    many = of("CC(F)C(Cl)C(Br)C(O)F")
    assert len(set(states(many))) == 4
    assert many.note == "up to 16 stereoisomers are open, 4 at most docked"
    assert states(many) == states(of("CC(F)C(Cl)C(Br)C(O)F"))
    assert states(of("C[C@H](F)Cl")) == ["C[C@H](F)Cl"]
    assert undefined_stereo(Chem.MolFromSmiles("CC(F)C(Cl)Br")) == 4
    assert len(list(stereoisomers(Chem.MolFromSmiles("CC(F)C(Cl)Br"), 3, 1))) == 3


@pytest.mark.parametrize("drawn", ["CC(C)Cc1ccc(cc1)C(C)C(=O)O", "CC(F)=C(C)CCl", "CC(F)C(O)CCl"])
def test_a_single_stereoisomer_is_named_as_it_is_docked(drawn: str) -> None:
    found = of(drawn, ParseSettings(stereoisomers=1))
    assert "at most docked" in found.note
    (state,) = set(states(found))
    assert undefined_stereo(Chem.MolFromSmiles(state)) == 1
    assert Chem.MolToSmiles(Chem.MolFromSmiles(state), isomericSmiles=False) == Chem.MolToSmiles(
        Chem.MolFromSmiles(states(of(drawn))[0]), isomericSmiles=False
    )


def test_each_open_centre_varies_among_the_stereoisomers_that_are_docked() -> None:
    """Eight forms in RDKit's order begin with four that share their last centre."""
    docked = [Chem.MolFromSmiles(smiles) for smiles in set(states(of("CC(F)C(O)CC(Cl)CO")))]
    assert len(docked) == 4
    labels = [dict(Chem.FindMolChiralCenters(mol, useLegacyImplementation=False)) for mol in docked]
    by_element = [
        {
            neighbour.GetSymbol(): label
            for atom, label in centres.items()
            for neighbour in mol.GetAtomWithIdx(atom).GetNeighbors()
            if neighbour.GetSymbol() in ("F", "Cl")
        }
        for mol, centres in zip(docked, labels, strict=True)
    ]
    for element in ("F", "Cl"):
        assert {centres[element] for centres in by_element} == {"R", "S"}
    assert all(len(centres) == 3 for centres in labels)


@pytest.mark.parametrize(
    ("smiles", "count"),
    [
        ("COP(=O)([O-])O", 1),
        ("COP(=O)(O)OCC", 1),
        ("COP(=O)([O-])OP(=O)(O)OC", 1),
        ("CC(O)(P(=O)(O)[O-])P(=O)([O-])O", 1),
        ("CS(=O)O", 1),
        ("CC(F)OP(=O)([O-])O", 2),
        ("CC=CCOP(=O)([O-])O", 2),
        ("COP([O-])(=S)OCC", 2),
        ("CS(=O)CC", 2),
    ],
)
def test_oxygens_that_share_a_proton_make_no_stereocentre(smiles: str, count: int) -> None:
    mol = Chem.MolFromSmiles(smiles)
    found = [Chem.MolToSmiles(form) for form in stereoisomers(mol, 8, 1)]
    assert undefined_stereo(mol) == len(set(found)) == len(found) == count
    bare = [Chem.MolFromSmiles(text) for text in found]
    for form in bare:
        Chem.RemoveStereochemistry(form)
    assert {Chem.MolToSmiles(form) for form in bare} == {Chem.CanonSmiles(smiles)}


@pytest.mark.parametrize("smiles", ["C[P@](=O)(O)OC[C@H](F)Cl", "CS(=O)O", "CO[P@](O)(=S)CC"])
def test_coordinates_do_not_mark_oxygens_that_share_a_proton(smiles: str) -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    assert EmbedMolecule(mol, randomSeed=1) == 0
    placed = prepare(Record(1, "x", Chem.MolToMolBlock(mol), "mol"), SETTINGS)
    assert (placed.smiles, placed.key) == (of(smiles).smiles, of(smiles).key)
    assert ("[P@" in placed.smiles) == ("=S" in smiles)


def test_impossible_stereoisomers_cost_only_themselves() -> None:
    """Of camphor's four drawings two cannot be built."""
    assert len(states(of("CC1(C)C2CCC1(C)C(=O)C2"))) == 2


def test_zwitterion_and_neutral_drawing_are_one_parent() -> None:
    drawings = ("C[C@H](N)C(=O)O", "C[C@H]([NH3+])C(=O)[O-]", "C[C@H](N)C(=O)[O-].[Na+]")
    found = [of(text) for text in drawings]
    assert len({prepared.key for prepared in found}) == 1
    assert all(states(prepared) == ["C[C@H]([NH3+])C(=O)[O-]"] for prepared in found)
    as_given = SETTINGS.model_copy(
        update={"standardise": False, "protonate": False, "stereoisomers": 1}
    )
    assert states(of(drawings[1], as_given)) == ["C[C@H]([NH3+])C(=O)[O-]"]


def test_mixtures_are_named_or_rejected() -> None:
    mixture = "CC(=O)Nc1ccc(O)cc1.CC(=O)Oc1ccccc1C(=O)O"
    assert of(mixture).note == "mixture, also of: CC(=O)Nc1ccc(O)cc1"
    rejected = of(mixture, SETTINGS.model_copy(update={"mixtures": "reject"}))
    assert (rejected.status, rejected.reason) == (Status.REJECTED, Reason.MIXTURE)
    assert of("CCN.Cl", SETTINGS.model_copy(update={"mixtures": "reject"})).status == Status.READY


@pytest.mark.parametrize(
    ("drawn", "docked", "centres"),
    [
        # tropane with a bridge from one side to the other
        ("CN1[C@H]2CC[C@H]1CCC2", ["CN1[C@@H]2CC[C@H]1CCC2"], "a centre"),
        # norbornene with an imide: endo and exo
        (
            "CN1C(=O)[C@H]2[C@H]3C=C[C@@H](C3)[C@H]2C1=O",
            [
                "CN1C(=O)[C@@H]2[C@H](C1=O)[C@@H]1C=C[C@H]2C1",
                "CN1C(=O)[C@@H]2[C@H](C1=O)[C@H]1C=C[C@@H]2C1",
            ],
            "a centre",
        ),
    ],
)
def test_a_drawing_that_cannot_be_is_docked_as_its_nearest_isomers(
    drawn: str, docked: list[str], centres: str
) -> None:
    plain = SETTINGS.model_copy(update={"protonate": False})
    found = of(drawn, plain)
    assert found.smiles == Chem.CanonSmiles(drawn)
    assert found.note == f"impossible stereocentres; docked with {centres} inverted"
    assert set(states(found)) == {Chem.CanonSmiles(each) for each in docked}
    isomers = {int(state.shape["isomers"][0]) for state in found.states}
    assert isomers == {len(docked)}, "they share what the drawing's molecule would have been"
    other = Chem.MolToSmiles(Chem.MolFromSmiles(drawn), canonical=False, rootedAtAtom=3)
    assert states(of(other, plain)) == states(found)


def test_states_that_cannot_be_are_reported() -> None:
    found = of(
        "CN1C(=O)C2C3C=CC(C3)C2C1=O",
        SETTINGS.model_copy(update={"protonate": False, "stereoisomers": 16}),
    )
    assert 2 <= len(found.states) < 16
    assert "impossible stereoisomers left out" in found.note
    one = of("CC(N)C1(C)C2CCC1C2").note
    assert one == "1 impossible stereoisomer left out"
    both = of("Cc1[nH]cnc1C1CC2CCC1O2", ParseSettings()).note
    assert both.startswith("4 impossible stereoisomers left out"), "in each protonation state"


@pytest.mark.parametrize("stereoisomers", [1, 4])
@pytest.mark.parametrize(
    "smiles",
    [
        "NC12CC3CC(CC(C3)C1)C2", "OC1C2CC3CC(C2)CC1C3", "C12C3C4C1C5C2C3C45", "C1CC2CCC1C2N",
        "C1CN2CCC1CC2", "C1N2CN3CN1CN(C2)C3",
    ],
)  # fmt: skip
def test_a_cage_of_one_stereoisomer_has_no_note(smiles: str, stereoisomers: int) -> None:
    """RDKit counts bridgeheads as open, two ways each, of which one can be."""
    found = of(smiles, ParseSettings(stereoisomers=stereoisomers))
    assert (found.status, found.note) == (Status.READY, "")


@pytest.mark.parametrize("smiles", ["CC1(C)C2CCC1(C)C(=O)C2", "CN1C2CCC1CC(O)C2"])
def test_a_cage_of_two_stereoisomers_has_one_left_open(smiles: str) -> None:
    found = of(smiles, ParseSettings(stereoisomers=1))
    assert found.note.endswith("stereoisomers are open, 1 at most docked")


def test_nitrogens_of_cryptands_are_not_compared() -> None:
    """The energies of their shapes differ from seed to seed by as much as the limit."""
    for seed in (1, 8):
        found = of("C1CCCN2CCCCCN(CCC1)CCCCCC2", SETTINGS.model_copy(update={"seed": seed}))
        assert len(set(states(found))) == 3
        assert "stereoisomer" not in found.note


def test_a_quaternary_nitrogen_does_not_turn_inside_out() -> None:
    """Its trans form is 19 kcal/mol higher, as a carbon's might be."""
    assert len(states(of("C[N+]12CCCC1CCC2"))) == 2


@pytest.mark.parametrize(
    ("drawn", "docked", "left_out"),
    [
        ("C1CC2CNCC(C1)C2", ["C1C[C@@H]2C[NH2+]C[C@H](C1)C2"], 2),
        ("C1CC2CCCC(C1)N2C", ["C[N@H+]1[C@H]2CCC[C@@H]1CCC2"], 1),
        # Granisetron's amine: the amide endo or exo, the methyl group at either side.
        (
            "CN1C2CCCC1CC(C2)NC(C)=O",
            [
                f"CC(=O)N[{amide}H]1C[C@H]2CCC[C@@H](C1)[{amine}H+]2C"
                for amide in ("C@", "C@@") for amine in ("N@", "N@@")
            ],
            3,  # before the fourth that can be
        ),
        # Trans-fused small rings can be made.
        (
            "C1CC2CCC2C1",
            ["C1C[C@@H]2CC[C@@H]2C1", "C1C[C@H]2CC[C@@H]2C1", "C1C[C@@H]2CC[C@H]2C1"],
            0,
        ),
        # What is drawn is docked: a nitrogen's lone pair inside.
        ("C[N@H+]1[C@H]2CCC[C@H]1CCC2", ["C[N@H+]1[C@H]2CCC[C@H]1CCC2"], 0),
    ],
)  # fmt: skip
def test_bridges_from_one_side_of_a_ring_to_the_other_are_left_out(
    drawn: str, docked: list[str], left_out: int
) -> None:
    """Conformers of such isomers exist, 70 kcal/mol above the others."""
    found = of(drawn)
    assert set(states(found)) == set(map(Chem.CanonSmiles, docked))
    count = int(found.note.split()[0]) if left_out else 0
    assert count == left_out
    assert ("kcal/mol above another stereoisomer" in found.note) == (left_out > 0)
    for seed in (2, 3):  # which of them are met first does not matter
        other = of(drawn, SETTINGS.model_copy(update={"seed": seed, "stereoisomers": 1}))
        assert set(states(other)) <= set(states(found))


@pytest.mark.parametrize(
    ("drawn", "nitrogen"),
    [
        ("CC[C@]1(O)C[C@@H]2CN(CCc3c2[nH]c2ccccc32)C1", "N@@"),  # of vinca alkaloids
        ("CC[C@H]1C[C@@H]2C[C@@H]3[C@H]1N(C2)CCc1c3[nH]c2ccc(OC)cc12", "N@@"),  # ibogaine
    ],
)
def test_a_nitrogen_of_a_cage_is_not_turned_inside_out(drawn: str, nitrogen: str) -> None:
    """Conformers of both hands exist, one 30 kcal/mol above the other."""
    found = of(drawn)
    assert {nitrogen} == {re.search("N@+", one)[0] for one in states(found) if "[N@" in one}
    assert "left out" in found.note


@pytest.mark.parametrize(
    ("drawn", "count"),
    [
        ("ClC1=C(Cl)C2(Cl)C3C(Cl)C=CC3C1(Cl)C2(Cl)Cl", 4),  # 16 of 32 are possible
        ("ClC1=C(Cl)C2(Cl)C3C4CC(C=C4)C3C1(Cl)C2(Cl)Cl", 4),  # 64: aldrin
        ("NC12CC3CC(CC(C3)C1)C2", 1),
        ("CC(O)C12CC3CC(CC(C3)C1)C2", 2),
    ],
)
def test_isomers_that_bridges_exclude_take_no_place_of_others(drawn: str, count: int) -> None:
    """Of the first eight isomers of heptachlor three are possible, and adamantanes have one."""
    found = of(drawn)
    assert len(set(states(found))) == count
    assert ("stereoisomers are open" in found.note) == (count == 4)


@pytest.mark.parametrize("words", ["r", "&1:1,3,r"])
def test_relative_stereochemistry_of_a_whole_molecule_is_a_racemate(words: str) -> None:
    assert of(f"C[C@H](F)[C@@H](C)Cl |{words}|").key == of("C[C@H](F)[C@@H](C)Cl |&1:1,3|").key


def test_what_rdkit_says_of_another_molecule_is_left_out() -> None:
    said = "[03:54:12] sanitize [03:54:12] aspirin: [03:54:12] Explicit valence for atom # 3 N, 4"
    assert _said([said]) == "Explicit valence for atom # 3 N, 4"


@pytest.mark.parametrize(
    ("given", "parent", "docked"),
    [
        ("C[C@@H](F)Cl |&1:1|", "C[C@H](F)Cl |&1:1|", {"C[C@@H](F)Cl", "C[C@H](F)Cl"}),
        ("C[C@@H](F)Cl |a:1|", "C[C@@H](F)Cl", {"C[C@@H](F)Cl"}),
        (
            "C[C@H](F)[C@@H](C)Cl.Cl |o1:1,3|",
            "C[C@H](F)[C@@H](C)Cl |o1:1,3|",
            {"C[C@H](F)[C@@H](C)Cl", "C[C@H](Cl)[C@@H](C)F"},
        ),
        # Its own mirror image.
        ("F[C@H]1CC[C@@H](C)CC1 |&1:1,4|", "C[C@H]1CC[C@@H](F)CC1", {"C[C@H]1CC[C@@H](F)CC1"}),
        ("C[C@H](F)[C@H](F)C |&1:1,3|", "C[C@H](F)[C@@H](C)F", {"C[C@H](F)[C@@H](C)F"}),
    ],
)
def test_racemates_and_relative_isomers_are_docked_as_both(
    given: str, parent: str, docked: set[str]
) -> None:
    drawing = Chem.MolFromSmiles(given)
    found = of(given)
    assert (found.smiles, set(states(found))) == (parent, docked)
    flat = prepare(Record(1, "x", Chem.MolToV3KMolBlock(drawing), "mol"), SETTINGS)
    assert (flat.key, states(flat)) == (found.key, states(found))
    assert (found.key == of(given.split()[0]).key) == (" " not in parent)
    drawing = Chem.AddHs(drawing)
    assert EmbedMolecule(drawing, randomSeed=1) == 0
    placed = prepare(Record(1, "x", Chem.MolToV3KMolBlock(drawing), "mol"), SETTINGS)
    assert (placed.key, len(placed.states)) == (found.key, 1)


def test_isomers_drawn_by_lot_do_not_depend_on_the_writing() -> None:
    drawn = Chem.MolFromSmiles("CC(O)C(N)C(F)C(Cl)C(Br)C(=O)O")
    written = {Chem.MolToSmiles(drawn, canonical=False, rootedAtAtom=i) for i in (0, 3, 9)}
    assert len(written) == 3
    assert len({tuple(states(of(each))) for each in written}) == 1


@pytest.mark.parametrize(
    ("smiles", "count"),
    [
        ("N[C@@H](CCCNC(N)=N)C(=O)O", 0),
        ("NC(CCCNC(N)=N)C(=O)O", 1),
        ("NC(=N)c1ccccc1", 0),
        ("FS(F)(F)(F)(F)c1ccccc1", 0),
        ("CC=C=CCO", 0),
        ("CC=CC(C)O", 2),
        ("CC=NO", 1),
        ("COP(=O)(O)OCC", 0),
    ],
)
def test_only_what_a_chemist_can_draw_is_open(smiles: str, count: int) -> None:
    assert open_stereo(Chem.MolFromSmiles(smiles)) == count
