"""A campaign whose search is the genetic algorithm: planned, run and verified."""

from pathlib import Path

import pytest
import yaml

from ligen_py import export, verify
from tests.workflow import small
from tests.workflow.test_plan import jobs

FEW = {"runs": 3, "population": 8, "generations": 3, "iterations": 8}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = small.write_campaign(tmp_path / "campaign", 1)
    settings = {**small.campaign(1), "search": "lga", "lga": FEW}
    (place / "c.yaml").write_text(yaml.safe_dump(settings))
    return place


def test_the_search_chooses_the_stages(folder: Path) -> None:
    assert jobs(small.run(folder, "--dry-run").stdout)["screen"] == 1
    again = jobs(small.run(folder, "--dry-run", "-R", "lga").stdout)
    assert again["lga"] == again["screen"] == 1
    assert "MissingRuleException" in small.run(folder, "--dry-run", "-R", "dock").stdout


def test_a_campaign_runs_and_is_verified(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With refinement, and after a change of the config without."""
    config = yaml.safe_load((folder / "c.yaml").read_text())
    monkeypatch.chdir(folder)
    for refine, origin in (
        ({}, "refined and scored"),
        ({"rounds": 0, "field": "ad4"}, "docked and scored"),
    ):
        (folder / "c.yaml").write_text(yaml.safe_dump(config | {"refine": refine}))
        done = small.run_local(folder)
        assert done.returncode == 0, done.stdout
        assert "Lamarckian genetic algorithm" in (folder / "results" / "report.html").read_text()
        words = ["results/campaign.h5", "--config", "c.yaml", "--hits", "2", "--sample", "1"]
        assert verify.main(words) == 0, capsys.readouterr().err
        assert "not compared" not in capsys.readouterr().err  # on the device that made it
        words = ["--campaign", words[0], "--output", ".", "--pose", "dhfr", "aspirin", "0"]
        assert export.main(words) == 0
        assert f">  <pose>\n{origin}\n" in Path("dhfr-pose.sdf").read_text()
