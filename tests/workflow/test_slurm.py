"""A real Slurm on this machine runs a campaign, whole and through faults; `make test-slurm`."""

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.workflow.cluster import Cluster, UnavailableError
from tests.workflow.small import contents, run, run_local, write_campaign
from tests.workflow.test_plan import ROOT

CHUNKS = 8
pytestmark = pytest.mark.skipif(
    "LIGEN_TEST_SLURM" not in os.environ, reason="installs and starts Slurm: make test-slurm"
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    # A test that is told to end must not leave a cluster behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    try:
        with Cluster() as running:
            yield running
    except UnavailableError as reason:
        pytest.skip(f"Slurm does not run here: {reason}")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The results of an undisturbed run without Slurm."""
    folder = write_campaign(tmp_path_factory.mktemp("local") / "run", CHUNKS)
    done = run_local(folder)
    assert done.returncode == 0, done.stdout
    return contents(folder)


def profile(folder: Path, **changes: Any) -> list[str]:
    """The project's own profile, but for what a small and quick machine needs otherwise."""
    settings = yaml.safe_load((ROOT / "workflow/profiles/slurm/profile.yaml").read_text())
    settings["jobs"] = 8
    settings["set-threads"] = dict.fromkeys(settings["set-threads"], 1)
    settings["latency-wait"] = 10
    settings["slurm-init-seconds-before-status-checks"] = 1
    (folder / "profile").mkdir()
    (folder / "profile" / "profile.yaml").write_text(yaml.safe_dump({**settings, **changes}))
    return ["--workflow-profile", str(folder / "profile")]


def test_a_campaign_on_the_cluster_is_that_of_one_computer(
    tmp_path: Path, cluster: Cluster, expected: dict[str, str]
) -> None:
    folder = write_campaign(tmp_path / "run", CHUNKS)
    done = run(folder, *profile(tmp_path), extra={**cluster.environment(), "LIGEN_DEVICE": "cpu"})
    assert done.returncode == 0, done.stdout
    assert contents(folder) == expected

    submitted = set(re.findall(r"SLURM jobid (\d+)", done.stdout))
    finished = {job["JobId"]: job for job in cluster.finished()}
    assert submitted <= set(finished)
    assert {finished[job]["JobState"] for job in submitted} == {"COMPLETED"}
    # One job for each: pocket, aggregate, export, report; for each chunk: parse, and the four
    # stages after it, which alone hold a card.
    assert len(submitted) == 4 + 2 * CHUNKS
    with_card = cluster.with_card()
    assert len(with_card) == CHUNKS
    # Stages of one job follow one another, so it asks for the sum of their times (minutes).
    assert {finished[job]["TimeLimit"] for job in with_card} == {"240"}
    assert {finished[job]["Partition"] for job in with_card} == {"gpu"}
    assert {finished[job]["NodeList"] for job in submitted} == {"n1", "n2"}
