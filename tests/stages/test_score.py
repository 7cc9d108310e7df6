"""The score stage: its command line, its files, and what a user gets wrong."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ligen_py import filter, refine, score
from ligen_py.engine.functions.xscore import reference as xscore_reference
from ligen_py.engine.random_input import make_field, make_poses
from ligen_py.provenance import Run
from ligen_py.records.functions.xscore import XScoreLigands
from ligen_py.records.kept import Verdicts
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.records.ligands import LIGANDS, Entries
from ligen_py.records.pocket import POCKET, Audit, Receptor, Whole
from ligen_py.records.poses import POSES, Poses
from ligen_py.records.refined import REFINED, Refinement
from ligen_py.records.scores import SCORES, Scores
from ligen_py.settings.dock import DockSettings
from ligen_py.store.files.read import read, run_record
from ligen_py.store.files.terms import read_terms
from ligen_py.store.files.write import write
from tests.xscore_input import as_vina, charged_receptor, random_receptor, typed_ligands, with_types

RUN = Run("dock", DockSettings())


def text(*values: str) -> np.ndarray:
    return np.array(values, dtype=object)


def whole_of(receptor: Receptor) -> Whole:
    return Whole(
        xyz=receptor.xyz,
        element=receptor.element,
        label=receptor.label,
        hetero=np.zeros(len(receptor.xyz), "u1"),
    )


class Campaign:
    """Input files of one chunk: records 0 to 3, of which 1 was rejected by an earlier stage."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ligands = replace(typed_ligands([(9, 2), (14, 3), (6, 0)]), entry=np.array([0, 2, 3]))
        self.ledger = Ledger(
            np.array([Status.READY, Status.REJECTED, Status.READY, Status.READY], "u1"),
            np.array([0, Reason.TOO_MANY_ATOMS, 0, 0], "u1"),
            text("", "300 atoms", "", ""),
        )
        self.poses = make_poses(self.ligands, 4)
        self.receptor = random_receptor(60, 6.0)
        self.write_all()

    def write_all(self) -> None:
        names = text("a", "b", "c", "d")
        entries = Entries(names, np.arange(1, 5), *[names] * 4)
        records = {"entries": entries, "ledger": self.ledger, "ligands": self.ligands}
        typed = {**with_types(self.ligands), "xscore": self.ligands}
        write(self.folder / "ligands.h5", LIGANDS, RUN, {**records, **typed})
        audit = Audit(text(), text(), np.zeros(0, "i4"), text())
        pocket = {
            "receptor": self.receptor,
            "whole": whole_of(self.receptor),
            "vina": as_vina(self.receptor),
            "ad4": charged_receptor(80, 6.0),
            "xscore": self.receptor,
            "field": make_field(),
            "audit": audit,
        }
        write(self.folder / "pocket.h5", POCKET, RUN, pocket)
        self.write_poses(self.poses)

    def write_poses(self, poses: Poses) -> None:
        count = len(poses.restart)
        verdicts = Verdicts(np.zeros(count, "u1"), np.zeros(count, "i4"))
        refinement = Refinement(*np.zeros((2, count), "f4"))
        docked = {"ledger": self.ledger, "poses": poses}
        write(self.folder / "poses.h5", POSES, RUN, docked)
        refined = docked | {"verdicts": verdicts, "refinement": refinement}
        write(self.folder / "refined.h5", REFINED, RUN, refined)

    def score(self, poses: str = "refined.h5", output: str = "scores.h5", *more: str) -> int:
        files = {"--ligands": "ligands.h5", "--pocket": "pocket.h5", "--poses": poses}
        words = [word for flag, name in files.items() for word in (flag, str(self.folder / name))]
        return score.main([*words, "--output", str(self.folder / output), *more])


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign(tmp_path)


def test_every_function_gives_its_terms_and_their_energies_rank(campaign: Campaign) -> None:
    names = ("vina", "xscore", "vinardo", "ad4")
    assert campaign.score("refined.h5", "scores.h5", "--functions", *names) == 0
    terms = read_terms(campaign.folder / "scores.h5")
    assert set(terms) == set(names)
    for name in names:
        assert np.isfinite(terms[name]["total"]).all()
    for name in ("vina", "vinardo", "ad4"):
        assert np.array_equal(terms[name]["total"], -terms[name]["affinity"])
    scores = read(campaign.folder / "scores.h5", SCORES, Scores)
    pairs = ("gauss1", "gauss2", "repulsion", "hydrophobic", "hbond", "intra")
    with_receptor = sum(terms["ad4"][name] for name in ("vdw", "hbond", "estat", "desolv"))
    energy = sum(terms["vina"][name] for name in pairs) + 0.5 * with_receptor
    assert scores.best.tolist() == list(energy.reshape(3, 4).argmin(axis=1) + np.array([0, 4, 8]))
    heavy, torsions = campaign.ligands.heavy, np.diff(campaign.ligands.first_torsion)
    gained = energy[scores.best] - terms["vina"]["intra"].reshape(3, 4).min(axis=1)
    by_hand = -gained / (1 + 0.02 * torsions) / np.sqrt(heavy)
    by_hand = np.where(gained < 0, by_hand, -gained)
    assert scores.score == pytest.approx(by_hand, rel=1e-5)
    assert (
        campaign.score("refined.h5", "first.h5", "--functions", *names, "--rank-by", "first") == 0
    )
    first = read(campaign.folder / "first.h5", SCORES, Scores)
    assert np.array_equal(first.best, scores.best)
    assert np.array_equal(first.score, terms["vina"]["total"][scores.best])


def test_xscore_ranks_without_its_constant(campaign: Campaign) -> None:
    """Divided by size, a constant of 3.5 pKd would make the smallest molecules the best."""
    assert campaign.score("refined.h5", "scores.h5", "--functions", "xscore") == 0
    terms = read_terms(campaign.folder / "scores.h5")["xscore"]
    scores = read(campaign.folder / "scores.h5", SCORES, Scores)
    hp = 0.004 * terms["vdw"] + 0.054 * terms["hb"] + 0.009 * terms["hp"]
    hm = 0.004 * terms["vdw"] + 0.101 * terms["hb"] + 0.387 * terms["hm"]
    energy = (-1.364 * (hp + hm) / 2)[scores.best]
    heavy, torsions = campaign.ligands.heavy, np.diff(campaign.ligands.first_torsion)
    by_hand = np.where(energy < 0, -energy / (1 + 0.02 * torsions) / np.sqrt(heavy), -energy)
    assert scores.score == pytest.approx(by_hand, rel=1e-4, abs=1e-4)
    highest = terms["total"].reshape(3, 4).argmax(axis=1)
    assert np.array_equal(scores.best, highest + np.array([0, 4, 8]))


def test_scores_are_those_of_the_twin(campaign: Campaign) -> None:
    flags = "--functions", "xscore", "--rank-by", "first"
    assert campaign.score("refined.h5", "scores.h5", *flags) == 0
    output = campaign.folder / "scores.h5"
    terms = read_terms(output)["xscore"]
    assert set(terms) == {"vdw", "hb", "hp", "hm", "rt", "hpscore", "hmscore", "total"}
    expected = xscore_reference.score_poses(campaign.ligands, campaign.receptor, campaign.poses)
    for name, values in expected.items():
        assert terms[name] == pytest.approx(values, rel=1e-4, abs=1e-4)
    scores = read(output, SCORES, Scores)
    by_ligand = terms["total"].reshape(3, 4)
    assert scores.best.tolist() == (by_ligand.argmax(axis=1) + 4 * np.arange(3)).tolist()
    assert scores.score.tolist() == by_ligand.max(axis=1).tolist()
    ledger = read(output, SCORES, Ledger)
    scored = Status.SCORED
    assert ledger.status.tolist() == [scored, Status.REJECTED, scored, scored]
    assert ledger.detail.tolist() == ["", "300 atoms", "", ""]


def test_poses_of_another_pocket(campaign: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    folder = campaign.folder
    made_by = Run("dock", DockSettings(), (folder / "ligands.h5", folder / "pocket.h5"))
    write(folder / "own.h5", POSES, made_by, {"ledger": campaign.ledger, "poses": campaign.poses})
    assert campaign.score("own.h5") == 0
    campaign.receptor = random_receptor(61, 6.0)
    campaign.write_all()
    assert campaign.score("own.h5") == 1
    assert f"own.h5: was not made from {folder / 'pocket.h5'}" in capsys.readouterr().err


def test_filtered_poses_of_another_pocket(
    campaign: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = campaign.folder
    ligands, pocket, own, ours = (
        str(folder / f"{name}.h5") for name in ("ligands", "pocket", "own", "ours")
    )
    made_by = Run("dock", DockSettings(), (Path(ligands), Path(pocket)))
    write(Path(own), POSES, made_by, {"ledger": campaign.ledger, "poses": campaign.poses})
    words = ["--quiet", "--ligands", ligands, "--poses"]
    assert filter.main([*words, own, "--output", ours]) == 0
    files = ["--kept", ours, "--pocket", pocket, "--output", str(folder / "of_own.h5")]
    again = [*words, own, *files]
    assert campaign.score("own.h5") == 0
    assert refine.main(again) == 0
    campaign.receptor = random_receptor(61, 6.0)
    campaign.write_all()
    refused = f"own.h5: was not made from {pocket}"
    assert campaign.score("own.h5") == 1
    assert refused in capsys.readouterr().err
    assert refine.main(again) == 1
    assert refused in capsys.readouterr().err


def test_the_file_says_what_made_it(campaign: Campaign) -> None:
    campaign.score()
    record = run_record(campaign.folder / "scores.h5", SCORES)
    assert record["stage"] == "score"
    assert "xscore" in record["settings"]
    assert all(name in record["inputs"] for name in ("ligands.h5", "pocket.h5", "refined.h5"))
    assert record["device"]


def test_equal_runs_write_equal_bytes(campaign: Campaign) -> None:
    campaign.score(output="one.h5")
    campaign.score(output="two.h5")
    one, two = (campaign.folder / name for name in ("one.h5", "two.h5"))
    assert one.read_bytes() == two.read_bytes()


def test_poses_straight_from_docking_are_scored_alike(campaign: Campaign) -> None:
    campaign.score("refined.h5", "one.h5")
    campaign.score("poses.h5", "two.h5")
    one, two = (read_terms(campaign.folder / name)["xscore"] for name in ("one.h5", "two.h5"))
    assert np.array_equal(one["total"], two["total"])


def test_ligands_without_a_pose_or_a_finite_score_fail_with_the_reason(campaign: Campaign) -> None:
    poses = campaign.poses
    translation = poses.translation.copy()
    translation[:4] = np.nan
    campaign.write_poses(replace(poses, translation=translation))
    assert campaign.score() == 0
    output = campaign.folder / "scores.h5"
    ledger = read(output, SCORES, Ledger)
    assert ledger.status.tolist()[0] == Status.FAILED
    assert ledger.reason.tolist()[0] == Reason.NO_FINITE_SCORE
    assert ledger.detail[0] == "none of 4 poses has a finite score"
    assert read(output, SCORES, Scores).best.tolist()[0] == -1


def test_a_record_is_scored_when_one_of_its_states_is(campaign: Campaign) -> None:
    campaign.ligands = replace(campaign.ligands, entry=np.array([0, 0, 3]))
    campaign.ledger = campaign.ledger.marked(np.array([2]), Status.FAILED, Reason.TIMED_OUT, ["x"])
    translation = campaign.poses.translation.copy()
    translation[:4] = translation[8:] = np.nan
    campaign.poses = replace(campaign.poses, translation=translation)
    campaign.write_all()
    assert campaign.score() == 0
    output = campaign.folder / "scores.h5"
    ledger, scores = read(output, SCORES, Ledger), read(output, SCORES, Scores)
    assert scores.best.tolist()[0] == scores.best.tolist()[2] == -1
    assert ledger.status.tolist()[0] == Status.SCORED
    assert ledger.reason.tolist()[3] == Reason.NO_FINITE_SCORE


def test_a_chunk_without_ligands(campaign: Campaign) -> None:
    empty = {
        name: getattr(campaign.ligands, name)[: 1 if name.startswith("first") else 0]
        for name in XScoreLigands.__dataclass_fields__
    }
    campaign.ligands = XScoreLigands(**empty)
    campaign.ledger = campaign.ledger.marked(
        np.arange(4), Status.FAILED, Reason.UNPARSABLE, ["bad"] * 4
    )
    campaign.poses = make_poses(campaign.ligands, 4)
    campaign.write_all()
    assert campaign.score() == 0
    assert read(campaign.folder / "scores.h5", SCORES, Scores).best.tolist() == []


def error_of(campaign: Campaign, capsys: pytest.CaptureFixture[str], **files: str) -> str:
    assert campaign.score(**files) == 1
    assert not (campaign.folder / "scores.h5").exists()
    assert not list(campaign.folder.glob(".*part"))
    message = capsys.readouterr().err.strip().split("\n")[-1]
    assert "Traceback" not in message
    return message


def test_poses_of_other_ligands(campaign: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    campaign.write_poses(make_poses(typed_ligands([(9, 2), (14, 2), (6, 0)]), 4))
    assert "refined.h5" in error_of(campaign, capsys)
    campaign.write_poses(make_poses(typed_ligands([(9, 2)]), 4))
    assert "refined.h5" in error_of(campaign, capsys)


def test_an_input_is_not_replaced(campaign: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    known = (campaign.folder / "refined.h5").read_bytes()
    message = error_of(campaign, capsys, output="refined.h5")
    assert f"{campaign.folder / 'refined.h5'}: is an input, and would be replaced" in message
    assert (campaign.folder / "refined.h5").read_bytes() == known


def test_a_ledger_of_other_records(campaign: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    ready = np.zeros(5, "u1")
    campaign.ledger = Ledger(ready, ready, text(*[""] * 5))
    campaign.write_poses(campaign.poses)
    message = error_of(campaign, capsys)
    assert "refined.h5: record 1 is ready, but no ligand belongs to it" in message


def test_a_file_of_the_wrong_kind(campaign: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    message = error_of(campaign, capsys, poses="pocket.h5")
    assert "pocket.h5" in message
    assert "refined" in message


def test_a_file_cut_short(campaign: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    refined = campaign.folder / "refined.h5"
    refined.write_bytes(refined.read_bytes()[:3000])
    assert "refined.h5" in error_of(campaign, capsys)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--ligands, --pocket, --poses, --output"),
        (["--functions", "nonsense"], "--functions: invalid choice: 'nonsense'"),
        (["--ligands", "/nowhere/ligands.h5"], "/nowhere/ligands.h5 does not exist"),
    ],
)
def test_wrong_usage_names_the_flag(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        score.main(words)
    assert stop.value.code == 2
    assert said in capsys.readouterr().err


def test_an_unknown_device_is_named(campaign: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    folder = campaign.folder
    words = ["--ligands", "ligands.h5", "--pocket", "pocket.h5", "--poses", "refined.h5"]
    paths = [str(folder / word) if word.endswith(".h5") else word for word in words]
    code = score.main([*paths, "--output", str(folder / "scores.h5"), "--device", "no-such-thing"])
    assert code == 2
    assert "no-such-thing" in capsys.readouterr().err
    assert not (folder / "scores.h5").exists()
