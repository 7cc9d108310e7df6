"""A small campaign whose best molecules networks judge, where gnina's own are installed."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from ligen_py import command
from ligen_py.records.networks import NETWORKS, Judged
from ligen_py.store.files.read import read
from tests.gnina import weights_folder
from tests.workflow.small import campaign, contents, run, run_local, write_campaign
from tests.workflow.test_plan import jobs

pytestmark = pytest.mark.skipif(
    weights_folder() is None, reason="the weights of gnina's networks are not installed"
)


def changed(folder: Path, **sections: Any) -> None:
    (folder / "c.yaml").write_text(yaml.safe_dump(campaign(2) | sections))


def test_what_a_change_makes_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_campaign(tmp_path / "c", 2)
    assert run_local(folder).returncode == 0
    plain = contents(folder)
    changed(folder, networks={"best": 2})
    done = run_local(folder)
    assert done.returncode == 0, done.stdout
    judged = contents(folder)
    # Of what was there, only what shows the networks is another one.
    assert {name for name in plain if plain[name] != judged[name]} == {
        *("config.yaml", "report.html", "report.txt"),
        *(f"export/dhfr.{ending}" for ending in ("csv", "cxc", "parquet", "pml", "sdf")),
    }
    assert set(judged) - set(plain) == {"networks.h5", "export/dhfr-network.sdf"}
    path = folder / "results/networks.h5"
    assert read(path, NETWORKS, Judged).rank.tolist() == [1, 2]
    assert jobs(run(folder, "--dry-run").stdout) == {}
    path_of_campaign = str(folder / "results/campaign.h5")
    assert command.main(["verify", path_of_campaign, "--hits", "0", "--sample", "0"]) == 0
    capsys.readouterr()
    # More of them, a library that has grown, one stage alone, and none of them.
    shown = {"config": 1, "networks": 1, "export": 1, "report": 1, "all": 1}
    changed(folder, networks={"best": 3})
    assert jobs(run(folder, "--dry-run").stdout) == shown
    changed(folder, networks={"best": 2})
    again = jobs(run(folder, "--dry-run", "-R", "networks").stdout)
    assert again == {name: 1 for name in shown if name != "config"}
    changed(folder)
    done = run_local(folder)
    assert done.returncode == 0, done.stdout
    path.unlink()
    assert contents(folder) == plain
