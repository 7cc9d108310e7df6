"""What a campaign keeps of poses: gaps between them, the reference's, the receptor around them."""

import json
from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem

from ligen_py import aggregate
from ligen_py.aggregation.best_poses import _gap
from ligen_py.molecules.export import crystal_pose, heavy_atoms_of
from ligen_py.molecules.stored import molecule_of, stored
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.functions.xscore import Interaction
from ligen_py.store.campaign.reader import TargetReader, open_campaign
from tests.placed import started
from tests.stages.factory import (
    POSES,
    Molecule,
    library_of,
    poses_of,
    prepared,
    receptor,
    write_manifest,
    write_part,
)

REFERENCE = "CC(=O)c1ccc(OCC)cc1"
MOLECULES = [Molecule("a", "CCOC(C)=O", 5.0), Molecule("b", "c1ccncc1CO", 4.0)]


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    crystal = tmp_path / "crystal.sdf"
    mol = started(prepared(REFERENCE).states[0].shape)
    crystal.write_text(Chem.MolToMolBlock(mol))
    parts = [
        write_part(tmp_path, "t", "lib", "1-of-1", MOLECULES),
        write_part(tmp_path, "u", "lib", "1-of-1", MOLECULES),
        write_part(
            tmp_path, "t", "control-t", "1-of-1", [Molecule("REF", REFERENCE, 8.5)], crystal=crystal
        ),
    ]
    manifest = write_manifest(tmp_path / "manifest.tsv", parts)
    flags = ["--manifest", str(manifest), "--output", str(tmp_path / "campaign.h5"), "--quiet"]
    assert aggregate.main(flags) == 0
    return tmp_path / "campaign.h5"


def test_the_gap_is_to_the_best_pose_that_lies_elsewhere(campaign: Path) -> None:
    """Of three random poses the second is best, by 2 and by 1; those that are near do not count."""
    from ligen_py.engine.geometry import rebuild

    library = library_of(MOLECULES)
    poses, ligands = poses_of(library, 1), library.ligands
    with open_campaign(campaign) as opened:
        found = list(opened.target("t").poses(2))
    for number, pose in enumerate(found):
        atoms = slice(*ligands.first_atom[number : number + 2])
        torsions = slice(*ligands.first_torsion[number : number + 2])
        rows = slice(number * POSES, (number + 1) * POSES)
        turns = poses.torsion[poses.first_torsion[rows.start] : poses.first_torsion[rows.stop]]
        xyz = rebuild(
            ligands.xyz[atoms],
            ligands.torsion_axis[torsions],
            ligands.torsion_range[torsions],
            turns.reshape(POSES, -1),
            poses.quaternion[rows],
            poses.translation[rows],
        )[:, : ligands.heavy[number]]
        apart = np.sqrt(((xyz - xyz[1]) ** 2).sum(axis=2).mean(axis=1))
        others = [cost for cost, far in zip((2.0, 0.0, 1.0), apart > 2, strict=True) if far]
        expected = min(others) if others else np.nan
        assert pose.gap == pytest.approx(expected, nan_ok=True)


def test_the_reference_is_kept_in_the_crystal_and_redocked(campaign: Path) -> None:
    with open_campaign(campaign) as opened:
        kept, none = opened.target("t").reference(), opened.target("u").reference()
    assert kept.origin.tolist() == ["docked", "crystal"]
    assert set(kept.name) == {"REF"}
    assert len(set(kept.state)) == 1
    assert json.loads(kept.terms[0]) == {"xscore/half": 4.25, "xscore/total": 8.5}
    assert kept.terms[1] == ""
    docked, crystal = np.split(kept.xyz, kept.first_atom[1:-1])
    mol = Chem.MolFromMolFile(str(campaign.with_name("crystal.sdf")))
    heavy = mol.GetNumAtoms()
    given = mol.GetConformer().GetPositions()
    assert np.allclose(np.sort(crystal[:heavy], axis=0), np.sort(given, axis=0), atol=1e-3)
    assert not np.allclose(docked.mean(axis=0), crystal.mean(axis=0), atol=0.5)
    assert none.origin.tolist() == []


def test_the_receptor_is_kept_with_roles_and_polar_hydrogens(campaign: Path) -> None:
    with open_campaign(campaign) as opened:
        target: TargetReader = opened.target("t")
        site, every = target.site(), target.every()
    common, _, scored, charged = receptor()
    heavy = site.element > 1
    assert np.array_equal(site.xyz[heavy], common.xyz)
    assert np.array_equal(site.role[heavy], scored.interaction)
    assert np.array_equal(site.xyz[~heavy], charged.xyz[charged.type == Ad4Type.HD])
    assert set(site.role[~heavy]) == {Interaction.NONE}
    for place, label in zip(site.xyz[~heavy], site.label[~heavy], strict=True):
        near = np.linalg.norm(common.xyz - place, axis=1).argmin()
        assert common.label[near] == label
    assert every.score.tolist() == [5, 4]
    assert every.heavy.tolist() == [6, 8]
    assert every.totals["xscore"].tolist() == [5, 4]


def test_a_crystal_pose_takes_bond_orders_from_the_docked_molecule(tmp_path: Path) -> None:
    """A PDB file has none: the ring would be drawn, and would interact, as cyclohexane."""
    mol = started(prepared(REFERENCE).states[0].shape)
    flat = Chem.RemoveHs(mol)
    file = tmp_path / "crystal.pdb"
    file.write_text(Chem.MolToPDBBlock(flat, flavor=2))
    docked = stored(mol)
    found = crystal_pose(file, heavy_atoms_of(docked))
    assert found.smiles == Chem.CanonSmiles(REFERENCE)
    again = molecule_of(found.molecule)
    assert again.GetNumAtoms() == len(found.xyz) == mol.GetNumAtoms()
    assert sum(atom.GetIsAromatic() for atom in again.GetAtoms()) == 6
    other = stored(Chem.AddHs(Chem.MolFromSmiles("CCO")))
    assert crystal_pose(file, heavy_atoms_of(other)).smiles


@pytest.mark.parametrize(("shift", "expected"), [(1.99, np.nan), (2.01, 0.7), (-2.01, 0.7)])
def test_a_pose_lies_elsewhere_from_two_angstrom_on(shift: float, expected: float) -> None:
    start = np.array([[0, 0, 0], [1.5, 0, 0]])
    places = np.array([start + np.array([x, 0, 0]) for x in (0, shift, 0.5)])
    energy = np.array([-5, -4.3, -4.9])
    molecule = stored(Chem.MolFromSmiles("CO"))
    assert _gap(places, energy, 0, molecule) == pytest.approx(expected, abs=1e-6, nan_ok=True)
    energy[1] = np.inf
    assert np.isnan(_gap(places, energy, 0, molecule))


def test_a_molecule_turned_onto_itself_lies_nowhere_else() -> None:
    """Benzene after half a turn is the same pose, a ring without symmetry another one."""
    angle = np.arange(6) * np.pi / 3
    start = 1.39 * np.array([np.cos(angle), np.sin(angle), 0 * angle]).T
    places = np.array([start, np.roll(start, 3, axis=0), start + 5])
    energy = np.array([-5, -4.9, -3])
    for smiles, expected in (("c1ccccc1", 2.0), ("O1NCCCC1", 0.1)):
        molecule = stored(Chem.MolFromSmiles(smiles))
        assert _gap(places, energy, 0, molecule) == pytest.approx(expected)
