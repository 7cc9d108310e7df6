"""The stage of the genetic algorithm: poses that go the way of all others."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ligen_py import dock, export, lga, report, verify
from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.genetic.poses import Poser, map_values
from ligen_py.engine.refinement.maps import Grid
from ligen_py.engine.refinement.reference import Genotype
from ligen_py.opencl.device import select
from ligen_py.records.kept import KEPT, Chosen, Verdicts
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, GeometricField
from ligen_py.records.poses import POSES, Poses
from ligen_py.records.refined import REFINED, Refinement
from ligen_py.records.rows import unequal
from ligen_py.settings.dock import DockSettings
from ligen_py.settings.lga import LgaSettings
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.read import read, run_record
from ligen_py.store.files.typed import read_typed
from tests.mini import LIBRARY, Mini

REFINE = ("--rounds", "0", "--field", "ad4")
KEEP_TWO = ("--max-num-poses", "2")
"""Of three runs."""

BLOCK = "&#9608;"
"""One run in the histogram of the page."""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Mini:
    folder = tmp_path_factory.mktemp("lga")
    flags = {"refine": REFINE, "filter": (*KEEP_TWO, "--cluster-rmsd", "2")}
    return Mini(folder, search="lga", control=True, flags=flags).run()


def test_every_ligand_has_a_pose_of_each_run(campaign: Mini) -> None:
    part = campaign.parts()[0]
    poses: Poses = read(part.poses, POSES, Poses)
    ligands: Ligands = read(part.ligands, LIGANDS, Ligands)
    assert (np.diff(poses.first_pose) == 3).all()
    assert len(poses.first_pose) == len(ligands.entry) + 1
    assert np.array_equal(poses.restart.reshape(-1, 3), np.tile([0, 1, 2], (len(ligands.entry), 1)))
    assert np.linalg.norm(poses.quaternion, axis=1) == pytest.approx(1, abs=1e-4)
    assert run_record(part.poses, POSES)["stage"] == "lga"


def test_scores_are_the_energies_of_the_poses(campaign: Mini) -> None:
    part = campaign.parts()[0]
    poses: Poses = read(part.poses, POSES, Poses)
    ligands: Ligands = read(part.ligands, LIGANDS, Ligands)
    typed = read_typed(["ad4"], part.ligands, part.pocket, ligands)["ad4"]
    box: GeometricField = read(part.pocket, POCKET, GeometricField)
    device = select(None)
    field = Ad4Field(device, typed.receptor, Grid.over(box, 0.375), typed.ligands)
    values = map_values(device, field)
    for number in range(len(ligands.entry)):
        poser = Poser(field, values, typed.ligands, number)
        for pose in range(poses.first_pose[number], poses.first_pose[number + 1]):
            terms = poser.terms(Genotype.of(poses, pose))
            energy = terms.intermolecular + terms.internal
            assert poses.score[pose] == pytest.approx(-1000 * energy, rel=2e-3, abs=20)


def test_poses_are_kept_as_they_are_and_have_ad4s_energy(campaign: Mini) -> None:
    for part in campaign.parts():
        docked: Poses = read(part.poses, POSES, Poses)
        kept: Poses = read(part.refined, REFINED, Poses)
        energies: Refinement = read(part.refined, REFINED, Refinement)
        score = {
            (ligand, int(docked.restart[row])): docked.score[row]
            for ligand in range(len(docked.first_pose) - 1)
            for row in range(docked.first_pose[ligand], docked.first_pose[ligand + 1])
        }
        assert len(kept.restart)
        for ligand in range(len(kept.first_pose) - 1):
            for row in range(kept.first_pose[ligand], kept.first_pose[ligand + 1]):
                known = -score[ligand, int(kept.restart[row])] / 1000
                assert energies.after[row] == pytest.approx(known, rel=2e-3, abs=0.02)


def test_the_same_settings_give_the_same_bits(campaign: Mini, tmp_path: Path) -> None:
    part = campaign.parts()[0]
    poses: Poses = read(part.poses, POSES, Poses)
    settings = LgaSettings(runs=3, population=8, generations=3, iterations=8)
    inputs = lga.Inputs(part.ligands, part.pocket)
    for name, changed in (("same", settings), ("other", settings.model_copy(update={"seed": 2}))):
        lga.run(inputs, changed, None, tmp_path / name)
    again: Poses = read(tmp_path / "same", POSES, Poses)
    assert not unequal(poses, again)
    other: Poses = read(tmp_path / "other", POSES, Poses)
    assert "translation" in unequal(poses, other)
    assert not unequal(replace(poses), poses)


def test_the_campaign_is_verified_reported_and_exported(
    campaign: Mini, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify.main([str(campaign.campaign)]) == 0, capsys.readouterr().err
    # Every stage is compared: the filter's record alone names no functions of the processor.
    assert "not compared, as it was made on" not in capsys.readouterr().err
    folder = tmp_path / "export"
    assert export.main(["--campaign", str(campaign.campaign), "--output", str(folder)]) == 0
    page = tmp_path / "report.html"
    words = ["--campaign", str(campaign.campaign), "--exported", str(folder)]
    assert report.main([*words, "--output", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "Lamarckian genetic algorithm" in text
    assert "poses were filtered and clustered, and scored by" in text
    with open_campaign(campaign.campaign) as reader:
        runs = reader.runs()
        assert {"poses", "kept"} < set(runs.kind)
        settings = json.loads(runs.settings[runs.kind == "kept"][0])
        assert (settings["max_num_poses"], settings["cluster_rmsd"]) == (2, 2.0)
        best = next(reader.target(reader.targets[0]).poses(1))
    rows = json.loads(best.clusters)
    assert rows == sorted(rows)
    assert sum(count for _, _, count in rows) == 3  # also the one that the filter left out
    lowest, mean, count = rows[0]
    assert lowest <= mean
    assert f"{count} of 3 runs in the best of {len(rows)} cluster" in text
    assert f"{lowest:7.2f} {mean:7.2f} {count:5} {count * BLOCK}\n" in text
    pose = ["--pose", "dhfr", "acetamide", "2", "--output", str(tmp_path / "poses")]
    assert export.main(["--campaign", str(campaign.campaign), *pose]) == 0


def test_poses_of_ligens_search_stand_behind_the_runs(campaign: Mini, tmp_path: Path) -> None:
    """They are those of the stage `dock`, with restarts that count on from the runs."""
    part = campaign.parts()[0]
    runs: Poses = read(part.poses, POSES, Poses)
    settings = LgaSettings(runs=3, restarts=20, population=8, generations=3, iterations=8)
    lga.run(lga.Inputs(part.ligands, part.pocket), settings, None, tmp_path / "both")
    alone = DockSettings(num_restart=20)
    dock.run(dock.Inputs(part.ligands, part.pocket), alone, None, tmp_path / "dock")
    both: Poses = read(tmp_path / "both", POSES, Poses)
    docked: Poses = read(tmp_path / "dock", POSES, Poses)
    assert len(both.restart) == len(runs.restart) + len(docked.restart)
    is_run = both.restart < 3
    for ligand in range(len(both.first_pose) - 1):
        own = slice(both.first_pose[ligand], both.first_pose[ligand + 1])
        assert is_run[own].tolist() == sorted(is_run[own], reverse=True)
    for column in ("translation", "quaternion", "internal_bumps", "pocket_bumps", "outside"):
        assert np.array_equal(getattr(both, column)[is_run], getattr(runs, column))
        assert np.array_equal(getattr(both, column)[~is_run], getattr(docked, column))
    turns = np.repeat(is_run, np.diff(both.first_torsion))
    assert np.array_equal(both.torsion[turns], runs.torsion)
    assert np.array_equal(both.torsion[~turns], docked.torsion)
    assert np.array_equal(both.restart[~is_run], docked.restart + 3)
    assert np.array_equal(both.score[is_run], runs.score)
    assert (both.score[~is_run] < both.score[is_run].min()).all()
    order = np.argsort(docked.score, kind="stable")
    assert np.array_equal(np.argsort(both.score[~is_run], kind="stable"), order)


def test_a_campaign_of_both_searches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its runs are refined as if there were no other poses, and its clusters are those of runs."""
    few = ("--runs", "3", "--population", "8", "--generations", "3")
    filtered = ("--max-num-poses", "8", "--cluster-rmsd", "2", "--symmetry", "True")
    flags = {"lga": few, "filter": filtered}
    # Poses of a chair are so alike by its symmetry that the filter leaves few of either search.
    library = LIBRARY.replace("C1CCCCC1 cyclohexane\n", "")
    alone = Mini(tmp_path / "alone", library, search="lga", flags=flags).run()
    flags |= {"lga": (*few, "--restarts", "20")}
    both = Mini(tmp_path / "both", library, search="lga", flags=flags).run()
    assert verify.main([str(both.campaign)]) == 0, capsys.readouterr().err
    with open_campaign(both.campaign) as reader:
        for pose in reader.target(reader.targets[0]).poses(3):
            assert sum(count for _, _, count in json.loads(pose.clusters)) == 3
    counts = _counts_of_the_filter(alone)
    with open_campaign(alone.campaign) as reader:
        for pose in reader.target(reader.targets[0]).poses(3):
            assert [count for *_, count in json.loads(pose.clusters)] in counts
    for one, other in zip(alone.parts(), both.parts(), strict=True):
        runs, poses = (read(part.refined, REFINED, Poses) for part in (one, other))
        is_run = poses.restart < 3
        assert 0 < is_run.sum() < len(is_run)
        for column in ("restart", "translation", "quaternion", "score"):
            assert np.array_equal(getattr(poses, column)[is_run], getattr(runs, column))
        own, words = (read(part.refined, REFINED, Refinement) for part in (one, other))
        assert np.array_equal(words.after[is_run], own.after)
        verdicts: Verdicts = read(other.refined, REFINED, Verdicts)
        for ligand in range(len(poses.first_pose) - 1):
            rows = slice(poses.first_pose[ligand], poses.first_pose[ligand + 1])
            assert words.after[rows].tolist() == sorted(words.after[rows])
            assert len(set(verdicts.cluster[rows])) == len(verdicts.cluster[rows])


def _counts_of_the_filter(campaign: Mini) -> list[list[int]]:
    """Poses of each of the filter's clusters, which number the best one 0, of every ligand."""
    counts = []
    for part in campaign.parts():
        first = read(part.kept, KEPT, Chosen).first_pose
        cluster = read(part.kept, KEPT, Verdicts).cluster
        counts += [np.bincount(own).tolist() for own in np.split(cluster, first[1:-1])]
    return counts
