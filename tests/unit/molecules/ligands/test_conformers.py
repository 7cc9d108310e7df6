"""Start conformers: shapes of rings, macrocycles, coordinates of the input."""

from itertools import combinations

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdDepictor, rdDistGeom, rdForceFieldHelpers, rdMolTransforms

from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands.conformers import (
    NoConformerError,
    embed,
    embed_piece,
    has_misplaced_hydrogens,
    have_conformers,
    relax,
)
from ligen_py.molecules.ligands.preparation import prepare
from ligen_py.molecules.ligands.ring_shapes import flexible_rings
from ligen_py.records.ledger import Reason
from ligen_py.settings.parse import ParseSettings
from tests.placed import started
from tests.unit.molecules.ligands.test_states import SETTINGS, of, states
from tests.unit.molecules.test_mol2 import written


def conformers(smiles: str, limit: int, seed: int = 1) -> Chem.Mol:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    embed(mol, seed, "key", limit)
    return mol


def test_one_conformer_without_flexible_rings() -> None:
    for smiles in ("CCCCCC", "c1ccccc1CCc1ccncc1", "C1CC1", "O=C1C=CC(=O)C=C1"):
        assert conformers(smiles, 8).GetNumConformers() == 1, smiles


def test_a_knotted_macrocycle_is_no_shape() -> None:
    """Of cilengitide one stood 4,600 kcal/mol above the others, with a bond of 1.78 A."""
    found = of(
        "CC(C)[C@@H]1N(C)C(=O)[C@@H](Cc2ccccc2)NC(=O)[C@H](CC(=O)O)NC(=O)CNC(=O)[C@H](CCCNC(=N)N)"
        "NC1=O",
        ParseSettings(),
    )
    strains = [float(state.shape["strain"][0]) for state in found.states]
    assert len(strains) > 4
    assert max(strains) < 30


def test_a_ring_saturated_in_part_is_puckered_in_its_piece() -> None:
    smiles = "C=[1C](C)N1C(=O)C[C@H]([2NH+](C)C)C1=O"
    made = embed_piece(Chem.MolFromSmiles(smiles), 1, smiles, 4)
    assert made is not None
    mol, energies = made
    assert mol.GetNumConformers() == len(energies) == 1
    (ring,) = mol.GetRingInfo().AtomRings()
    turns = [
        abs(rdMolTransforms.GetDihedralDeg(mol.GetConformer(), *np.roll(ring, -first)[:4].tolist()))
        for first in range(len(ring))
    ]
    assert max(turns) > 15


def test_a_cyclohexane_has_its_substituent_up_and_sideways() -> None:
    mol = conformers("CC1CCCCC1", 4)
    turns = {
        round(abs(rdMolTransforms.GetDihedralDeg(conformer, 0, 1, 2, 3)), -1)
        for conformer in mol.GetConformers()
    }
    assert min(turns) < 90  # axial: gauche to the ring
    assert max(turns) > 150  # equatorial: along the ring


@pytest.mark.parametrize(
    ("smiles", "axis", "angles"),
    [
        ("CC=C=CC", "CC=C=CC", {90, -90}),
        ("CC(CO)=C=C(C)CN", "[CH3]C=C=C[CH3]", {90, -90}),
        ("CCN=C=NCC", "CN=C=NC", {90, -90}),
        ("OCC=C=C=CC", "CC=C=C=CC", {0, 180}),
        ("CC(C)=C=CC", "[CH3]C(C)=C=C[CH3]", None),
    ],
)
def test_ends_of_an_allene_are_at_right_angles_to_both_sides(
    smiles: str, axis: str, angles: set[int] | None
) -> None:
    """Force fields turn them into one plane, and a drawing does not say to which side they are."""
    made = embed_piece(Chem.MolFromSmiles(smiles), 1, smiles, 4)
    assert made is not None
    mol, energies = made
    places = mol.GetSubstructMatch(Chem.MolFromSmarts(axis))
    ends = places[:2] + places[-2:]
    found = [rdMolTransforms.GetDihedralDeg(conformer, *ends) for conformer in mol.GetConformers()]
    if angles is None:
        assert [abs(angle) for angle in found] == pytest.approx([90], abs=5)
        return
    apart = [{angle: abs((value - angle + 180) % 360 - 180) for angle in angles} for value in found]
    assert {min(near, key=near.__getitem__) for near in apart} == angles
    assert max(min(near.values()) for near in apart) < 12
    assert energies == pytest.approx(energies[:1] * len(energies), abs=3)


@pytest.mark.parametrize(
    "smiles",
    [
        "C1CC/C=C/CCCC1",
        "O[C@@H]1CC/C=C/CCC1",
        "C[C@@H]1NC(=O)[C@H](C)NC(=O)[C@@H](C)NC(=O)[C@H](C)NC(=O)[C@@H](C)NC1=O",
    ],
)
def test_the_minimisation_turns_nothing_into_another_isomer(smiles: str) -> None:
    """Strain does: the cis cyclononene that came of a trans one was its lowest shape."""
    made = embed_piece(Chem.MolFromSmiles(smiles), 1, smiles, 8)
    assert made is not None
    mol, energies = made
    assert mol.GetNumConformers() == len(energies) > 3
    for conformer in mol.GetConformers():
        one = Chem.Mol(mol, confId=conformer.GetId())
        Chem.AssignStereochemistryFrom3D(one)
        assert Chem.MolToSmiles(Chem.RemoveHs(one)) == Chem.CanonSmiles(smiles)


@pytest.mark.parametrize("smiles", ["FS(F)(F)(F)(F)c1ccccc1", "FS(F)(F)(F)(F)C(F)(F)F"])
def test_pentafluorosulfanyl_groups_are_octahedra(smiles: str) -> None:
    """No force field knows them: distance geometry alone had angles of 35 to 160 degrees."""
    mol = conformers(smiles, 1)
    (centre,) = (atom for atom in mol.GetAtoms() if atom.GetSymbol() == "S")
    xyz = mol.GetConformer().GetPositions()
    arms = xyz[[other.GetIdx() for other in centre.GetNeighbors()]] - xyz[centre.GetIdx()]
    lengths = np.linalg.norm(arms, axis=1)
    assert sorted(lengths.round(2)) == [1.58] * 5 + [1.80]
    cosines = sorted((arms @ arms.T / np.outer(lengths, lengths))[np.triu_indices(6, 1)])
    assert np.allclose(cosines, [-1] * 3 + [0] * 12, atol=1e-6)
    placed = prepare(Record(1, "x", Chem.MolToMolBlock(mol), "mol"), SETTINGS)
    assert placed.smiles == Chem.CanonSmiles(smiles), "RDKit marks the octahedron as a centre"


def test_conformers_of_a_macrocycle_differ_in_its_ring() -> None:
    mol = conformers("O=C1CCCCCCCCCCCCO1", 6)
    (ring,) = flexible_rings(mol)
    assert mol.GetNumConformers() == 6
    order = Chem.GetSymmSSSR(mol)[0]
    turned = [
        [
            rdMolTransforms.GetDihedralDeg(conformer, *(order[(i + k) % 14] for k in range(4)))
            for i in range(14)
        ]
        for conformer in mol.GetConformers()
    ]
    for one, other in combinations(np.array(turned), 2):
        assert np.abs((one - other + 180) % 360 - 180).max() > 30
    assert set(order) <= ring


def test_macrocycles_are_named_and_sampled() -> None:
    prepared = of("O=C1CCCCCCCCCCCCO1")
    assert prepared.note == "macrocycle of 14 atoms"
    assert len(prepared.states) == 4
    numbers = [int(state.shape["conformer"][0]) for state in prepared.states]
    assert numbers == [0, 1, 2, 3]
    shapes = {state.shape["xyz"].tobytes() for state in prepared.states}
    assert len(shapes) == 4
    assert len(of("CC1CCCCC1C", SETTINGS.model_copy(update={"stereoisomers": 1})).states) == 1


def test_conformers_follow_from_molecule_and_seed() -> None:
    first, again = (conformers("CC1CCNCC1", 4) for _ in range(2))
    for one, other in zip(first.GetConformers(), again.GetConformers(), strict=True):
        assert np.array_equal(one.GetPositions(), other.GetPositions())
    other = conformers("CC1CCNCC1", 4, seed=2)
    assert not np.array_equal(
        first.GetConformer().GetPositions(), other.GetConformer().GetPositions()
    )
    single = conformers("CC1CCNCC1", 1)
    assert np.array_equal(single.GetConformer().GetPositions(), first.GetConformer().GetPositions())


def test_chirality_and_amides_are_those_of_the_drawing() -> None:
    for smiles in ("C[C@H]1CC[C@@H](O)CC1", "C/C=C/[C@H]1CCNC1"):
        mol = conformers(smiles, 4)
        for conformer in mol.GetConformers():
            single = Chem.Mol(mol, confId=conformer.GetId())
            Chem.AssignStereochemistryFrom3D(single)
            assert Chem.MolToSmiles(Chem.RemoveHs(single)) == Chem.CanonSmiles(smiles)
    amide = conformers("CNC(=O)C", 1)
    turn = rdMolTransforms.GetDihedralDeg(amide.GetConformer(), 0, 1, 2, 4)
    assert abs(turn) == pytest.approx(180, abs=20)


def test_impossible_stereo_has_no_conformer() -> None:
    with pytest.raises(NoConformerError, match="no conformer in 2 x 20 attempts"):
        conformers("Oc1cccc(C2C[C@H]3CC[C@@H](C2)N3CC)c1".replace("@@", "@"), 1)


@pytest.fixture
def placed() -> Chem.Mol:
    mol = Chem.AddHs(Chem.MolFromSmiles("C[C@H](N)CC(=O)O"))
    rdDistGeom.EmbedMolecule(mol, randomSeed=7)
    return mol


def heavy_distances(mol: Chem.Mol) -> np.ndarray:
    """Distances of heavy atoms, sorted: coordinates whatever their frame and order."""
    xyz = mol.GetConformer().GetPositions()[[a.GetAtomicNum() > 1 for a in mol.GetAtoms()]]
    return np.sort(np.linalg.norm(xyz[:, None] - xyz, axis=-1).ravel())


def test_input_coordinates_are_kept_when_asked(placed: Chem.Mol) -> None:
    record = Record(1, "x", Chem.MolToMolBlock(placed), "mol")
    found = {}
    for choice in ("never", "missing", "always"):
        prepared = prepare(record, SETTINGS.model_copy(update={"embed": choice}))
        assert states(prepared) == ["C[C@H]([NH3+])CC(=O)[O-]"]
        found[choice] = started(prepared.states[0].shape)
        assert found[choice].GetNumAtoms() == placed.GetNumAtoms()
    expected = heavy_distances(placed)
    assert np.allclose(heavy_distances(found["never"]), expected, atol=1e-3)
    assert np.allclose(heavy_distances(found["missing"]), expected, atol=1e-3)
    assert not np.allclose(heavy_distances(found["always"]), expected, atol=0.1)


def test_as_given_keeps_the_hydrogens_too(placed: Chem.Mol) -> None:
    given = SETTINGS.model_copy(update={"standardise": False, "protonate": False})
    record = Record(1, "x", Chem.MolToMolBlock(placed), "mol")
    mol = started(prepare(record, given).states[0].shape)
    xyz = placed.GetConformer().GetPositions()
    xyz = xyz - xyz[[a.GetAtomicNum() > 1 for a in placed.GetAtoms()]].mean(axis=0)
    assert np.allclose(np.sort(mol.GetConformer().GetPositions(), 0), np.sort(xyz, 0), atol=1e-3)


def test_never_embed_fails_without_coordinates() -> None:
    prepared = of("CCO", SETTINGS.model_copy(update={"embed": "never"}))
    assert prepared.reason == Reason.NO_COORDINATES
    assert not prepared.states


def energy(mol: Chem.Mol) -> float:
    """MMFF94s without charges, kcal/mol."""
    properties = rdForceFieldHelpers.MMFFGetMoleculeProperties(mol, mmffVariant="MMFF94s")
    properties.SetMMFFEleTerm(False)
    field = rdForceFieldHelpers.MMFFGetMoleculeForceField(mol, properties)
    return float(field.CalcEnergy())


def test_conformers_are_minimised() -> None:
    smiles = "CC(C)Cc1ccc(cc1)[C@H](C)C(=O)NCC1CCOCC1"
    raw = Chem.AddHs(Chem.MolFromSmiles(smiles))
    rdDistGeom.EmbedMolecule(raw, rdDistGeom.ETKDGv3())
    lowest = Chem.Mol(raw)
    for _ in range(20):
        relax(lowest)
    relaxed = Chem.Mol(raw)
    relax(relaxed)
    gained, left = energy(raw) - energy(relaxed), energy(relaxed) - energy(lowest)
    assert gained > 10 * left
    Chem.AssignStereochemistryFrom3D(relaxed)
    assert Chem.CanonSmiles(Chem.MolToSmiles(Chem.RemoveHs(relaxed))) == Chem.CanonSmiles(smiles)


def test_what_no_field_knows_stays_and_has_no_energy() -> None:
    mol = Chem.MolFromSmiles("*CC")
    rdDepictor.Compute2DCoords(mol)
    before = mol.GetConformer().GetPositions()
    assert relax(mol) == [0]
    assert np.array_equal(mol.GetConformer().GetPositions(), before)


def test_what_mmff_does_not_know_is_minimised_in_uff() -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles("OB(O)c1ccccc1"))
    assert not rdForceFieldHelpers.MMFFHasAllMoleculeParams(mol)
    rdDistGeom.EmbedMolecule(mol, rdDistGeom.ETKDGv3())
    before = rdForceFieldHelpers.UFFGetMoleculeForceField(mol).CalcEnergy()
    relax(mol)
    assert rdForceFieldHelpers.UFFGetMoleculeForceField(mol).CalcEnergy() < before - 1


def test_which_molecules_have_conformers() -> None:
    """Side by side: whole, flat, with a bond too long or too short, without a number, and none."""

    def of(*places: tuple[float, float, float], is_3d: bool = True) -> Chem.Mol:
        mol = Chem.MolFromSmiles("CO")
        conformer = Chem.Conformer(2)
        conformer.SetPositions(np.array(places, float))
        conformer.Set3D(is_3d)
        mol.AddConformer(conformer)
        return mol

    whole = of((0, 0, 0), (1, 0, 1))
    one = Chem.MolFromSmiles("C")
    one.AddConformer(Chem.Conformer(1))
    mols = {
        "whole": whole,
        "flat": of((0, 0, 1), (1.4, 0, 1.005)),
        "long": of((0, 0, 0), (0, 0, 3.6)),
        "short": of((0, 0, 0), (0, 0, 0.4)),
        "nowhere": of((0, 0, 0), (np.nan, 0, 1)),
        "drawn": of((0, 0, 0), (1, 0, 1), is_3d=False),
        "none": Chem.MolFromSmiles("CO"),
        "one atom": one,
        "again": whole,
    }
    found = dict(zip(mols, have_conformers(list(mols.values())), strict=True))
    assert {name for name, placed in found.items() if placed} == {"whole", "one atom", "again"}
    assert have_conformers([mols["none"]]) == [False]


@pytest.mark.parametrize("smiles", ["C[C@@H](O)[C@H](N)C(=O)O", "C/C=C\\[C@H](O)c1ccccc1"])
def test_hydrogens_in_one_point_are_placed_anew(smiles: str) -> None:
    """So RDKit's `AddHs` leaves them: they were docked there, and gave no hydrogen bonds."""
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    assert rdDistGeom.EmbedMolecule(mol, randomSeed=1) == 0
    bare = Chem.RemoveHs(mol)
    block = Chem.MolToMolBlock(Chem.AddHs(bare), kekulize=True)
    found = prepare(Record(1, "x", block, "mol"), SETTINGS)
    assert found.note == "hydrogens stood elsewhere than at their atoms; placed anew"
    assert found.smiles == Chem.CanonSmiles(smiles)
    ready = started(found.states[0].shape)
    assert not has_misplaced_hydrogens(ready)
    assert np.allclose(heavy_distances(ready), heavy_distances(bare), atol=1e-3)
    assert not prepare(Record(1, "x", Chem.MolToMolBlock(mol), "mol"), SETTINGS).note


@pytest.mark.parametrize("scale", [0.0, 0.1, 10.0])
def test_impossible_coordinates_are_made_anew_with_a_note(scale: float) -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles("CCC(=O)NC"))
    assert rdDistGeom.EmbedMolecule(mol, randomSeed=1) == 0
    conformer = mol.GetConformer()
    conformer.SetPositions(conformer.GetPositions() * scale)
    found = prepare(Record(1, "x", Chem.MolToMolBlock(mol), "mol"), SETTINGS)
    assert found.note == "coordinates had impossible bonds; made anew, check the stereo"
    assert not has_misplaced_hydrogens(started(found.states[0].shape))


@pytest.mark.parametrize("hydrogens", [False, True])
def test_without_coordinates_centres_have_the_hand_of_the_parity_column(hydrogens: bool) -> None:
    """As of Open Babel; 1 and 2 are the two hands."""
    mol = Chem.MolFromSmiles("CC(N)C(=O)O")
    mol = Chem.AddHs(mol) if hydrogens else mol
    nowhere = Chem.Conformer(mol.GetNumAtoms())
    nowhere.Set3D(False)
    mol.AddConformer(nowhere)
    lines = Chem.MolToMolBlock(mol).split("\n")
    assert lines[5][39:42] == "  0"
    found = {}
    for parity in "012":
        lines[5] = f"{lines[5][:39]}  {parity}{lines[5][42:]}"
        found[parity] = prepare(Record(1, "x", "\n".join(lines), "mol"), SETTINGS)
    assert found["1"].smiles == "C[C@@H](N)C(=O)O"
    assert found["2"].smiles == "C[C@H](N)C(=O)O"
    assert found["1"].note == found["2"].note == ""
    assert found["0"].note == "no coordinates, so stereo may be lost: it is left open"


def test_a_flat_mol2_has_no_centres_and_says_so() -> None:
    text = written("C[C@H](N)C(=O)O", "none")
    rows = text.splitlines()
    for number, row in enumerate(rows):
        if " LIG " in row:
            rows[number] = " ".join([*row.split()[:4], "0.0", *row.split()[5:]])
    found = prepare(Record(1, "x", "\n".join([*rows, ""]), "mol2"), SETTINGS)
    assert found.smiles == "CC(N)C(=O)O"
    assert found.note == "flat MOL2 without wedges, so stereo may be lost: it is left open"
    found = prepare(Record(1, "x", written("c1ccccc1O", "none"), "mol2"), SETTINGS)
    assert found.note == prepare(Record(1, "x", text, "mol2"), SETTINGS).note == ""
