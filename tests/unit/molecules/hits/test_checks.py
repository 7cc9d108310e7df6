"""Checks of a pose, on crystal ligands and what is done to them, beside PoseBusters itself."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml
from rdkit import Chem
from rdkit.Chem import rdDistGeom

from ligen_py.molecules.hits import checks as module
from ligen_py.molecules.hits.checks import CHECKS, checks, overlap
from ligen_py.molecules.interactions.receptor import Surroundings, surroundings
from ligen_py.records.functions.xscore import Interaction
from ligen_py.records.site import Site
from tests.data.sources import ligand, structure_file

posebusters = pytest.importorskip("posebusters")

NAME = "1s3v"
OURS = {
    "bonds": ("bond_lengths", "bond_angles"),
    "clash": ("internal_steric_clash",),
    "flat": ("aromatic_ring_flatness", "double_bond_flatness"),
    "contact": ("minimum_distance_to_protein",),
    "overlap": ("volume_overlap_with_protein",),
}
"""Our check -> PoseBusters'; all of them pass where ours does."""


@cache
def protein() -> Surroundings:
    """All heavy atoms of the protein, without roles: the checks ask for places alone."""
    mol = Chem.MolFromPDBFile(str(structure_file(NAME)), sanitize=False, removeHs=True)
    rows = [a.GetIdx() for a in mol.GetAtoms() if not a.GetPDBResidueInfo().GetIsHeteroAtom()]
    count = len(rows)
    element = np.array([mol.GetAtomWithIdx(row).GetAtomicNum() for row in rows], "u1")
    return surroundings(
        Site(
            xyz=mol.GetConformer().GetPositions()[rows].astype("f4"),
            element=element,
            residue=np.arange(count, dtype="i4"),
            label=np.array([f"A/UNK/{i}/X" for i in range(count)], object),
            role=np.full(count, Interaction.POLAR, "u1"),
            conformation=np.array([""] * count, object),
            receptor=np.array(["protein.pdb"], object),
            box=np.array([""], object),
            warning=np.array([], object),
        )
    )


def moved(change: Callable[[np.ndarray], np.ndarray]) -> Chem.Mol:
    mol = Chem.Mol(ligand(NAME))
    mol.GetConformer().SetPositions(change(mol.GetConformer().GetPositions()))
    return mol


def aside(xyz: np.ndarray) -> np.ndarray:
    return xyz + np.array([3.0, 0, 0])


def squeezed(xyz: np.ndarray) -> np.ndarray:
    return xyz.mean(axis=0) + 0.7 * (xyz - xyz.mean(axis=0))


def buckled(xyz: np.ndarray) -> np.ndarray:
    mol = ligand(NAME)
    rings = [list(ring) for ring in mol.GetRingInfo().AtomRings()]
    ring = next(r for r in rings if all(mol.GetAtomWithIdx(i).GetIsAromatic() for i in r))
    result = xyz.copy()
    normal = np.linalg.svd(xyz[ring] - xyz[ring].mean(axis=0))[2][2]
    result[ring[0]] += 1.2 * normal
    return result


def folded(xyz: np.ndarray) -> np.ndarray:
    """Its two ends brought together."""
    result = xyz.copy()
    heavy = ligand(NAME).GetNumHeavyAtoms()
    far = int(np.linalg.norm(xyz[:heavy] - xyz[0], axis=1).argmax())
    result[far] = xyz[0] + [0.9, 0, 0]
    return result


CHANGES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], set[str]]] = {
    "as in the crystal": (lambda xyz: xyz, set()),
    "moved aside": (aside, {"contact", "overlap"}),
    "squeezed": (squeezed, {"bonds", "clash"}),
    "buckled": (buckled, {"flat"}),  # so far that the sign which PoseBusters keeps does not matter
    "folded": (folded, {"bonds", "clash"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_checks_are_those_of_posebusters(name: str, tmp_path: Path) -> None:
    change, least = CHANGES[name]
    mol = moved(change)
    found = checks(mol, Chem.MolToSmiles(Chem.RemoveHs(ligand(NAME))), protein())
    file = tmp_path / "pose.sdf"
    file.write_text(Chem.MolToMolBlock(mol))
    theirs = posebusters.PoseBusters(config="dock").bust(file, mol_cond=structure_file(NAME))
    row = theirs.iloc[0]
    for check, names in OURS.items():
        assert found[check] == all(bool(row[one]) for one in names), (check, dict(row))
    assert least <= {check for check, passed in found.items() if not passed}


def test_a_centre_turned_over_fails_and_an_open_one_does_not() -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles("C[C@H](N)C(=O)O"))
    rdDistGeom.EmbedMolecule(mol, randomSeed=1)
    assert checks(mol, "C[C@H](N)C(=O)O", None)["stereo"]
    assert not checks(mol, "C[C@@H](N)C(=O)O", None)["stereo"]
    assert checks(mol, "CC(N)C(=O)O", None)["stereo"]


@pytest.mark.parametrize("smiles", ["CC[P@@](C)c1ccccc1", "C[C@H](F)[P@H]c1ccccc1"])
def test_a_phosphine_has_the_stereo_that_was_docked(smiles: str) -> None:
    from rdkit.Chem import rdDistGeom

    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    rdDistGeom.EmbedMolecule(mol, randomSeed=1)
    assert checks(mol, smiles, None)["stereo"]
    assert checks(mol, smiles.replace("[C@H]", "[C@@H]"), None)["stereo"] == ("[C@H]" not in smiles)


def test_a_turned_double_bond_fails() -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles("C/C=C/C(=O)O"))
    rdDistGeom.EmbedMolecule(mol, randomSeed=1)
    assert checks(mol, "C/C=C/C(=O)O", None)["stereo"]
    assert not checks(mol, "C/C=C\\C(=O)O", None)["stereo"]


@pytest.mark.parametrize(
    "smiles",
    ["OC[C@H]1C[N@]2CC[C@H]1CC2", "C=C[C@H]1C[N@]2CC[C@H]1C[C@@H]2CO", "C[P@](c1ccccc1)[C@H](C)F"],
)
def test_centres_that_coordinates_do_not_show_are_no_fault_of_a_pose(smiles: str) -> None:
    """A SMILES marks them where they are neutral, but RDKit finds no marks in coordinates."""
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    assert rdDistGeom.EmbedMolecule(mol, randomSeed=1) == 0
    assert checks(mol, smiles, None)["stereo"]
    positions = mol.GetConformer().GetPositions()
    mol.GetConformer().SetPositions(positions * [1, 1, -1])
    assert not checks(mol, smiles, None)["stereo"]


@pytest.mark.parametrize("smiles", ["C/C=C/C", "CC=C(C)C", "CC(C)=C(C)C"])
@pytest.mark.parametrize("turn", [0, 50])
def test_a_twisted_double_bond_fails_as_in_posebusters(
    smiles: str, turn: int, tmp_path: Path
) -> None:
    from rdkit.Chem import rdDistGeom, rdMolTransforms

    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    rdDistGeom.EmbedMolecule(mol, randomSeed=1)
    (double,) = [b for b in mol.GetBonds() if b.GetBondType() == Chem.BondType.DOUBLE]
    one, two = double.GetBeginAtom(), double.GetEndAtom()
    first = next(a.GetIdx() for a in one.GetNeighbors() if a.GetIdx() != two.GetIdx())
    last = next(a.GetIdx() for a in two.GetNeighbors() if a.GetIdx() != one.GetIdx())
    ends = first, one.GetIdx(), two.GetIdx(), last
    now = rdMolTransforms.GetDihedralDeg(mol.GetConformer(), *ends)
    rdMolTransforms.SetDihedralDeg(mol.GetConformer(), *ends, now + turn)
    file = tmp_path / "pose.sdf"
    file.write_text(Chem.MolToMolBlock(mol))
    theirs = posebusters.PoseBusters(config="mol").bust(file).iloc[0]
    assert checks(mol, smiles, None)["flat"] == bool(theirs["double_bond_flatness"]) == (turn == 0)


@pytest.mark.parametrize("shift", [0.0, 0.5, 1.0, 1.5, 2.5])
def test_overlap_is_the_share_of_a_volume_as_posebusters_has_it(shift: float) -> None:
    # Its volumes have soft rims, so more of them lies in each other than of hard spheres.
    overlaps = pytest.importorskip("posebusters.modules.volume_overlap")
    protein_file = str(structure_file(NAME))
    given = Chem.MolFromPDBFile(protein_file, sanitize=False, removeHs=True, proximityBonding=False)
    mol = Chem.RemoveHs(moved(lambda xyz: xyz + np.array([shift, 0, 0])))
    others = {"hydrogens", "organic_cofactors", "inorganic_cofactors", "waters"}
    checked = overlaps.check_volume_overlap(mol, given, 0.075, 0.8, others)
    theirs = checked["results"]["volume_overlap"]
    element = np.array([atom.GetAtomicNum() for atom in mol.GetAtoms()])
    found = overlap(mol.GetConformer().GetPositions(), element, protein())
    assert found == pytest.approx(theirs, abs=0.01)
    assert overlap(mol.GetConformer().GetPositions() + 900, element, protein()) == 0


def test_limits_are_those_of_posebusters_own_configuration() -> None:
    file = Path(posebusters.__file__).with_name("config") / "redock.yml"
    modules = yaml.safe_load(file.read_text(encoding="utf-8"))["modules"]
    given = {one["name"]: one.get("parameters", {}) for one in modules}
    geometry, overlaps = given["Geometry"], given["Volume overlap with protein"]
    assert geometry["threshold_bad_bond_length"] == module.WIDER_BONDS
    assert geometry["threshold_bad_angle"] == module.WIDER_BONDS
    assert geometry["threshold_clash"] == module.WIDER_CLASH
    assert given["Ring flatness"]["threshold_flatness"] == module.FLAT
    assert given["Double bond flatness"]["threshold_flatness"] == module.FLAT
    assert given["Distance to protein"]["clash_cutoff"] == module.NEAREST
    assert overlaps["clash_cutoff"] == module.MOST_OVERLAP
    assert overlaps["vdw_scale"] == module.SHRUNK


@pytest.mark.parametrize(("share", "passes"), [(0.075, True), (0.0751, False)])
def test_the_limit_of_overlap_is_posebusters(
    share: float, passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`volume_overlap` of PoseBusters takes a share of `clash_cutoff`, 0.075, and none above."""
    monkeypatch.setattr(module, "overlap", lambda *_: share)
    assert checks(ligand(NAME), "", protein())["overlap"] == passes


def test_every_check_is_explained() -> None:
    mol = ligand(NAME)
    assert set(checks(mol, Chem.MolToSmiles(Chem.RemoveHs(mol)), protein())) == set(CHECKS)
