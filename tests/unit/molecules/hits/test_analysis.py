"""What is computed of a hit: properties, alerts, drawing, strain, stereo; hostile molecules."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdDistGeom, rdForceFieldHelpers, rdMolTransforms

from ligen_py.molecules.hits.analysis import Analysis, Posed, _left_open, analyse
from ligen_py.molecules.hits.depiction import HEIGHT, WIDTH, drawing
from ligen_py.molecules.hits.properties import properties
from ligen_py.molecules.hits.strain import strain
from ligen_py.molecules.stored import stored
from ligen_py.records.site import Site
from tests.stages.factory import receptor


def embedded(smiles: str) -> Chem.Mol:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    assert rdDistGeom.EmbedMolecule(mol, randomSeed=7) == 0
    rdForceFieldHelpers.MMFFOptimizeMolecule(mol, maxIters=2000)
    return mol


def site() -> Site:
    common, _, scored, _ = receptor()
    none = np.array([""] * len(common.xyz), object)
    atoms = common.xyz, common.element, common.residue, common.label, scored.interaction, none
    return Site(
        *atoms,
        receptor=np.array(["protein.pdb"], object),
        box=np.array([""], object),
        warning=np.array([], object),
    )


def posed(smiles: str, parent: str = "") -> Posed:
    mol = embedded(smiles)
    octets = stored(mol)
    return Posed(parent or smiles, smiles, octets, mol.GetConformer().GetPositions())


def test_properties_are_those_of_the_parent_and_the_state() -> None:
    aspirin = properties(Chem.MolFromSmiles("CC(=O)Oc1ccccc1C(=O)O"), -1)
    assert aspirin.weight == pytest.approx(180.16, abs=0.01)
    assert aspirin.tpsa == pytest.approx(63.6, abs=0.01)
    assert (aspirin.donors, aspirin.acceptors, aspirin.charge) == (1, 3, -1)
    assert (aspirin.heavy, aspirin.polar) == (13, 4)
    assert any(alert.startswith("Brenk") for alert in aspirin.alerts)
    quinone = properties(Chem.MolFromSmiles("O=C1C=CC(=O)c2ccccc12"), 0)
    assert "PAINS quinone A" in quinone.alerts
    assert properties(Chem.MolFromSmiles("CCCCCC"), 0).polar == 0
    assert properties(Chem.MolFromSmiles("CCO"), 0).alerts == ()


@pytest.mark.parametrize(
    "smiles",
    [
        "CC(=O)Oc1ccccc1C(=O)[O-]", "C", "[Na+].[Cl-]", "C[C@H](N)C(=O)O",
        "FC(F)(F)c1cc(Br)c(I)c(Cl)c1S(=O)(=O)P", "C" * 60,
    ],
)  # fmt: skip
def test_a_drawing_is_short_xml_inside_its_frame(smiles: str) -> None:
    text = drawing(Chem.MolFromSmiles(smiles))
    root = ElementTree.fromstring(f"<svg>{text}</svg>")
    assert {one.tag for one in root} <= {"path", "text"}
    assert all(set(one.attrib) <= {"class", "d", "x", "y"} for one in root)
    for path in root.iter("path"):
        numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*", path.attrib["d"])]
        assert all(-2 <= x <= WIDTH + 2 for x in numbers[::2])
        assert all(-2 <= y <= HEIGHT + 2 for y in numbers[1::2])
    assert len(text) < 6000


def test_strain_is_what_a_turned_torsion_costs() -> None:
    mol = embedded("CC(=O)Nc1ccccc1")
    (match,) = mol.GetSubstructMatches(Chem.MolFromSmarts("CC(=O)Nc"))
    relaxed = strain(Chem.Mol(mol))
    turned = Chem.Mol(mol)
    torsion = match[0], match[1], match[3], match[4]
    rdMolTransforms.SetDihedralDeg(turned.GetConformer(), *torsion, 90)
    assert relaxed < 1
    assert strain(turned) > relaxed + 5


def test_strain_is_that_of_a_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was up to 4 kcal/mol off, since minimisations ended after 200 steps."""
    mol = embedded("CN(Cc1cnc2nc(N)nc(N)c2n1)c1ccc(cc1)C(=O)NC(CCC(O)=O)C(O)=O")
    found = strain(Chem.Mol(mol))
    monkeypatch.setattr("ligen_py.molecules.hits.strain.STEPS", 50_000)
    assert strain(Chem.Mol(mol)) == pytest.approx(found, abs=1e-3)


@pytest.mark.parametrize(
    ("smiles", "count"),
    {
        "NC12CC3CC(CC(C3)C1)C2": 0,  # amantadine
        "OC1C2CC3CC(C2)CC1C3": 0,
        "C12C3C4C1C5C2C3C45": 0,
        "CC(N)C12CC3CC(CC(C3)C1)C2": 1,  # rimantadine
        "OC12CC3CC(C1)CC(NCC(=O)N1CCC[C@H]1C#N)(C3)C2": 0,  # vildagliptin, one centre drawn
        "OC1CC2CCC1C2": 2,  # the two ends of the bridge are one
        "CC1CCC(O)CC1": 2,
        "C[C@H](O)C(C)F": 1,
        "C/C=C/CC(C)O": 1,
        "CC=CC": 1,
        "CC=C1CCC(C)CC1": 2,  # an axis, which RDKit does not mark in space
        "O=C(N[C@@H]1C[C@H]2CC[C@@H]1C2)OC1=CC2CCC1C2": 1,  # two cages, one of them drawn
        "O=C(NC1CC2CCC1C2)NC1CC2CCC1O2": 4,
    }.items(),
)
def test_what_has_no_isomers_is_not_called_open(smiles: str, count: int) -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    assert rdDistGeom.EmbedMolecule(mol, randomSeed=1) == 0
    assert _left_open(Chem.MolFromSmiles(smiles), mol)[0] == count


def test_hits_are_analysed_in_order_in_processes_of_their_own() -> None:
    smiles = ["CC(=O)[O-]", "Nc1ncccn1", "C[C@H](N)C(=O)O"]
    hits = [posed(smiles[0], "CC(=O)O"), posed(smiles[1]), posed(smiles[2], "CC(N)C(=O)O")]
    alone, together = analyse(hits, site(), 1), analyse(hits, site(), 2)
    assert repr(alone) == repr(together)
    acid, amine, alanine = alone
    assert acid.properties is not None
    assert (acid.properties.charge, acid.properties.donors) == (-1, 1)
    assert (amine.open_centres, amine.stereo) == (0, "")
    assert alanine.open_centres == 1
    assert alanine.stereo in ("R", "S")
    assert acid.elements.count(1) == 0
    assert amine.elements.count(1) == 2
    assert {order for *_, order in amine.bonds} == {1, 4}
    assert analyse([], site(), 2) == []


def test_a_molecule_that_cannot_be_read_takes_no_other_with_it() -> None:
    bad = Posed("C(", "C(", np.zeros(4, "u1"), np.zeros((1, 3)))
    good = posed("CCO")
    found = analyse([bad, good, bad], site(), 1)
    assert repr(found[0]) == repr(found[2]) == repr(Analysis())
    assert found[1].properties is not None
