"""Controls come first: a failure stops the libraries, and neither makes the other run again."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ligen_py import run, validate
from ligen_py.store.campaign.reader import open_campaign
from tests.workflow import forked
from tests.workflow.small import campaign, run_local

ACTIVES = (
    "COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC trimethoprim\nCCc1nc(N)nc(N)c1-c1ccc(Cl)cc1 pyrimethamine\n"
)
LIBRARY = "".join(f"{'C' * n}NC(=O)c1ccccc1 m{n}\n" for n in range(1, 16))


def settings(**control: Any) -> dict[str, Any]:
    return campaign(1) | {
        "libraries": {"drugs": {"file": "library", "chunks": 1}},
        "refine": {"rounds": 0},
        "score": {"functions": ["vina"], "pose_weights": {"vina": 1.0}},
        "controls": {"dhfr": {"actives": "actives.smi", "per_active": 6, **control}},
    }


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snakemake and its jobs start soon."""
    monkeypatch.setattr(sys, "executable", forked.python())


def write(folder: Path, config: dict[str, Any]) -> Path:
    path = folder / "c.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def would_run(folder: Path) -> dict[str, int]:
    """Jobs that a run would have now, by rule."""
    done = run_local(folder, "--dry-run")
    assert done.returncode == 0, done.stdout
    table = re.search(r"Job stats:\n.*?\n-.*?\n(.*?)\n\n", done.stdout, re.S)
    rows = (line.split() for line in table[1].splitlines()) if table else ()
    return {rule: int(count) for rule, count in rows if rule != "total"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("controls")
    (folder / "library").mkdir()
    (folder / "library/a.smi").write_text(LIBRARY)
    (folder / "actives.smi").write_text(ACTIVES)
    return folder


def test_controls_come_first_and_once(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = write(folder, settings(min_auc=1.0, below="stop"))
    results = folder / "results"

    # Alone: the verdict is shown and stays, the exit code says that a limit was missed.
    assert validate.main([str(config), "--cores", "2"]) == 1
    printed = capfd.readouterr()
    assert "accept: controls of dhfr failed: ROC AUC" in printed.err.splitlines()[-1]
    assert "Controls of dhfr: FAILED" in printed.out
    verdict = json.loads((results / "controls/dhfr/controls.json").read_text())
    assert verdict["passed"] is False
    assert (verdict["actives"], verdict["decoys"]) == (2, 12)
    assert verdict["origin"] == "drawn from the library drugs"
    assert not (results / "poses/dhfr/drugs").exists()

    # The campaign stops there, too, without docking anything again.
    judged = (results / "controls/dhfr/controls.json").stat().st_mtime_ns
    assert run.main([str(config), "--cores", "2"]) == 1
    assert "'below: warn' in the config" in capfd.readouterr().err
    assert not (results / "poses/dhfr/drugs").exists()

    # With a warning it goes on; the controls are not judged again, and shown at the end.
    write(folder, settings(min_auc=1.0, below="warn"))
    assert run.main([str(config), "--cores", "2"]) == 0
    shown, said = capfd.readouterr()
    assert shown.index("molecules ranked of") < shown.index("Controls of dhfr: FAILED")
    last = said.splitlines()[-1]
    assert last.startswith("controls of dhfr failed: ROC AUC")
    assert last.endswith("and 'When a control fails' in docs/controls.md")
    assert (results / "controls/dhfr/controls.json").stat().st_mtime_ns == judged
    with open_campaign(results / "campaign.h5") as found:
        assert found.verdicts().passed.tolist() == [0]
        assert json.loads(found.verdicts().document[0]) == verdict
        assert len(found.target("dhfr").scores()) == 15  # controls are not ranked
    assert would_run(folder) == {}
    assert run.main([str(config), "--cores", "2", "--quiet"]) == 0
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "controls of dhfr failed: ROC AUC" in printed.err.splitlines()[-1]


def test_a_stage_that_is_asked_for_again_runs_once_in_a_chunk(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The controls' chunks ran it in each of the two runs of Snakemake."""
    if not (folder / "results/campaign.h5").exists():
        pytest.skip("needs the campaign of the test before")
    capfd.readouterr()
    assert run.main([str(folder / "c.yaml"), "--cores", "2", "--", "-R", "score"]) == 0
    chunks = re.findall(r"Screen (\S+), part", capfd.readouterr().err)
    assert sorted(chunks) == ["actives-of-dhfr", "decoys-of-dhfr", "drugs"]


def test_neither_makes_the_other_run_again(folder: Path) -> None:
    if not (folder / "results/campaign.h5").exists():
        pytest.skip("needs the campaign of the test before")
    more = folder / "library/b.smi"
    more.write_text("CCOCC ether\n")
    grown = would_run(folder)
    assert grown["screen"] == grown["parse"] == 1
    assert not {"controls", "decoys", "accept"} & set(grown)
    more.unlink()
    assert would_run(folder) == {}
    # Another active: its part, the decoys, and what is made from both; no library.
    (folder / "actives.smi").write_text(ACTIVES + "Nc1ncc2ccccc2n1 third\n")
    jobs = would_run(folder)
    assert (jobs["screen"], jobs["decoys"], jobs["controls"], jobs["aggregate"]) == (2, 1, 1, 1)
    (folder / "actives.smi").write_text(ACTIVES)
    # A limit is compared anew, nothing is docked.
    write(folder, settings(min_auc=0.0, below="stop"))
    jobs = would_run(folder)
    assert "screen" not in jobs
    assert jobs["controls"] == jobs["accept"] == 1


@pytest.mark.parametrize(
    ("control", "said"),
    [
        ({"other": {}}, "no target is ranked under this name; there are: dhfr"),
        ({"dhfr": {"actives": "nowhere.smi"}}, "nowhere.smi does not exist"),
        ({"dhfr": {"decoys": "actives.smi"}}, "'decoys' needs 'actives'"),
        ({"dhfr": {"below": "cry"}}, "below"),
        ({"dhfr": {"waters": ["some"]}}, "waters"),
        ({"dhfr": {"active": "x"}}, "did you mean 'actives'"),
    ],
)
def test_wrong_sections_are_sentences(
    folder: Path, capsys: pytest.CaptureFixture[str], control: dict[str, Any], said: str
) -> None:
    config = folder / "wrong.yaml"
    config.write_text(yaml.safe_dump(settings() | {"controls": control}))
    assert validate.main([str(config)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ligen validate: error: ")
    assert "controls" in line
    assert said in line
