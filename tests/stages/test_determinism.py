"""The contract of docs/determinism.md, on a real campaign: what must not change any score."""

from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem

from ligen_py import export
from ligen_py.chain import SCREEN, STAGES, Stage
from ligen_py.engine.docking import batched as docking
from ligen_py.engine.filtering import batched as filtering
from ligen_py.engine.geometry import rebuild
from ligen_py.engine.refinement import batched as refining
from ligen_py.engine.scoring import scores as scoring
from ligen_py.records.kept import KEPT, Chosen
from ligen_py.records.kinds import KINDS
from ligen_py.records.ligands import LIGANDS, Entries, Ligands
from ligen_py.records.poses import POSES, Poses
from ligen_py.records.refined import REFINED
from ligen_py.store.campaign.part import Poses as PartPoses
from ligen_py.store.campaign.reader import Ranked, open_campaign
from ligen_py.store.files.read import read
from tests.mini import LIBRARY, Mini


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Mini:
    """The campaign that all others are compared with: one chunk."""
    return Mini(tmp_path_factory.mktemp("whole")).run()


def ranked(campaign: Mini) -> Ranked:
    with open_campaign(campaign.campaign) as opened:
        return opened.target("dhfr").best(100)


def facts(found: Ranked) -> dict[str, tuple[object, ...]]:
    """All that is reported of each molecule but its place in the library."""
    row = found.scored
    return {
        name: (
            *(row.key[i], row.score[i].tobytes(), row.restart[i], row.poses[i], row.states[i]),
            *(values[i].tobytes() for values in found.terms.values()),
        )
        for i, name in enumerate(row.name)
    }


def poses_by_name(campaign: Mini, kind: str) -> dict[str, bytes]:
    """Every bit of every pose of a stage, by the name of its molecule."""
    found = {}
    for part in campaign.parts():
        names = read(part.ligands, LIGANDS, Entries).name
        entry = read(part.ligands, LIGANDS, Ligands).entry
        if kind == "kept":
            chosen: Chosen = read(part.kept, KEPT, Chosen)
            for own, record in zip(
                np.split(chosen.number, chosen.first_pose[1:-1]), entry, strict=True
            ):
                found[names[record]] = own.tobytes()
            continue
        poses: Poses = read(getattr(part, kind), KINDS[kind], Poses)
        for ligand, record in enumerate(entry):
            rows = slice(poses.first_pose[ligand], poses.first_pose[ligand + 1])
            turns = slice(poses.first_torsion[rows.start], poses.first_torsion[rows.stop])
            columns = ("restart", "translation", "quaternion", "score", "pocket_bumps", "outside")
            found[names[record]] = b"".join(
                [
                    *(getattr(poses, name)[rows].tobytes() for name in columns),
                    poses.torsion[turns].tobytes(),
                ]
            )
    return found


def same_poses(one: Mini, other: Mini) -> None:
    """All poses are equal; what is a duplicate within one chunk may have poses in another."""
    for kind in ("poses", "kept", "refined"):
        found, expected = poses_by_name(one, kind), poses_by_name(other, kind)
        assert {name: found[name] for name in expected} == expected, kind


def test_the_campaign_is_worth_comparing(whole: Mini) -> None:
    found = ranked(whole)
    assert set(found.scored.name) > {"acetamide", "ether", "trimethoprim"}
    assert len(found.scored.name) == 5
    assert len(set(found.scored.score.tolist())) == 5


def test_chunk_size(whole: Mini, tmp_path: Path) -> None:
    cut = Mini(tmp_path, chunks=4).run()
    assert facts(ranked(cut)) == facts(ranked(whole))
    assert ranked(cut).scored.line.tolist() == ranked(whole).scored.line.tolist()
    same_poses(cut, whole)


def test_ligand_order(whole: Mini, tmp_path: Path) -> None:
    lines = LIBRARY.splitlines(keepends=True)[:-1]  # of equal molecules the first in order counts
    turned = Mini(tmp_path, library="".join(reversed(lines))).run()
    assert facts(ranked(turned)) == facts(ranked(whole))
    assert ranked(turned).scored.name.tolist() == ranked(whole).scored.name.tolist()


def test_neighbours(whole: Mini, tmp_path: Path) -> None:
    alone = Mini(tmp_path, library=LIBRARY.splitlines()[0]).run()
    assert facts(ranked(alone))["trimethoprim"] == facts(ranked(whole))["trimethoprim"]


def test_batch_size(whole: Mini, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docking, "LIGANDS_PER_RESIDENT", 0)
    for module in (filtering, scoring):
        monkeypatch.setattr(module, "BATCH_BYTES", 1)
    monkeypatch.setattr(refining, "BATCH_LIGANDS", 1)
    small = Mini(tmp_path).run()
    assert small.campaign.read_bytes() == whole.campaign.read_bytes()


def test_processes_of_parse(whole: Mini, tmp_path: Path) -> None:
    busy = Mini(tmp_path, flags={"parse": ("--jobs", "3")}).run()
    assert busy.campaign.read_bytes() == whole.campaign.read_bytes()


@pytest.mark.parametrize("stage", SCREEN, ids=lambda stage: stage.name)
def test_resume_point(whole: Mini, tmp_path: Path, stage: Stage) -> None:
    """One part of two is lost from some stage on, and a half-written file lies beside it."""
    campaign = Mini(tmp_path, chunks=2).run()
    expected = campaign.campaign.read_bytes()
    part = campaign.parts()[1]
    for lost in SCREEN[SCREEN.index(stage) :]:
        path: Path = getattr(part, lost.kind)
        path.with_name(f".{path.name}.x.part").write_bytes(path.read_bytes()[:1000])
        path.unlink()
    campaign.campaign.unlink()
    assert campaign.run().campaign.read_bytes() == expected


def test_a_pose_on_demand(whole: Mini, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of each restart: as it was scored, or, where it was left out, as it was docked."""
    (part,) = whole.parts()
    with PartPoses(part) as poses:
        kept = list(read(part.refined, REFINED, Poses).restart[poses.kept(0)])
        ((_, state, _),) = poses.texts([0])
    words = ["--campaign", str(whole.campaign), "--output", str(tmp_path), "--quiet"]
    for restart in range(12):
        pose = ["--pose", "dhfr", "trimethoprim", str(restart)]
        assert export.main([*words, *pose]) == 0
        every = Chem.SDMolSupplier(str(tmp_path / "dhfr-pose.sdf"), removeHs=False)
        mol = next(mol for mol in every if mol.GetProp("state") == state)
        kind = "refined" if restart in kept else "poses"
        assert mol.GetProp("pose").startswith("refined" if restart in kept else "docked")
        made = read(getattr(part, kind), KINDS[kind], Poses)
        row = made.restart[: made.first_pose[1]].tolist().index(restart)
        with PartPoses(part, KINDS[kind]) as poses:
            (xyz,) = rebuild(*poses.genotypes(0, range(row, row + 1)))
        assert np.abs(mol.GetConformer().GetPositions() - xyz).max() < 6e-5  # four decimals
    assert export.main([*words, "--pose", "dhfr", "trimethoprim", "12"]) == 1
    assert "its restarts are 0 to 11" in capsys.readouterr().err


def test_the_ranked_pose_comes_first_of_all_states(tmp_path: Path) -> None:
    """Which state it is of is not known from the restart."""
    campaign = Mini(tmp_path, "CC(F)C(O)CCl open\nCC(Cl)C(O)CF open\n").run()
    with open_campaign(campaign.campaign) as opened:
        best = opened.target("dhfr").best(2)
    words = ["--campaign", str(campaign.campaign), "--output", str(tmp_path), "--quiet"]
    for restart, score in zip(best.scored.restart, best.scored.score, strict=True):
        assert export.main([*words, "--pose", "dhfr", "open", str(restart)]) == 0
        every = list(Chem.SDMolSupplier(str(tmp_path / "dhfr-pose.sdf"), removeHs=False))
        scores = [float(mol.GetProp("score")) for mol in every if mol.HasProp("score")]
        assert len(every) > 1
        assert scores == sorted(scores, reverse=True)
        assert every[0].HasProp("score")
        assert str(score) in {mol.GetProp("score") for mol in every if mol.HasProp("score")}
        if score == best.scored.score[0]:
            assert every[0].GetProp("score") == str(score)


def test_a_pose_that_was_not_kept_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Docking with all poses kept makes it again: those that were kept before are the same."""
    campaign = Mini(tmp_path, "CC(=O)NCc1ccccc1 amide\n", flags={"dock": ("--max-num-poses", "4")})
    (part,) = campaign.run().parts()
    few = read(part.poses, POSES, Poses)
    (lost, *_) = set(range(12)) - set(few.restart.tolist())
    words = ["--campaign", str(campaign.campaign), "--output", str(tmp_path), "--quiet"]
    pose = ["--pose", "dhfr", "amide", str(lost)]
    assert export.main([*words, *pose]) == 1
    assert "docking kept the best 4 of 12; with dock.max_num_poses 0" in capsys.readouterr().err
    campaign.flags = {"dock": ("--max-num-poses", "0")}
    part.poses.unlink()
    campaign.screen(STAGES["dock"], part)
    assert export.main([*words, *pose]) == 1
    assert f"was not made from {part.poses} as it is now" in capsys.readouterr().err
    for later in (part.kept, part.refined, part.scores, campaign.campaign):
        later.unlink()
    campaign.run()
    every = read(part.poses, POSES, Poses)
    assert np.array_equal(every.restart, range(12))
    assert np.array_equal(every.quaternion[few.restart], few.quaternion)
    assert export.main([*words, *pose]) == 0
