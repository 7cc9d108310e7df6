"""A real Slurm on this machine runs a campaign, whole and through faults; `make test-slurm`."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import NOT_TESTED
from tests.workflow.cluster import GPUS, LATE, NODES, Cluster, UnavailableError
from tests.workflow.small import (
    ask_fault,
    command,
    contents,
    happened,
    run,
    run_local,
    wait_until,
    write_campaign,
)
from tests.workflow.test_plan import ROOT, genome_searches

CHUNKS = 6
pytestmark = pytest.mark.skipif(
    "LIGEN_TEST_SLURM" not in os.environ, reason="installs and starts Slurm: make test-slurm"
)


@pytest.fixture(scope="module")
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    # A run that is told to end stops its cluster, as at Ctrl-C; an exit would fail one test only.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Cluster(tmp_path_factory.getbasetemp()) as running:
            for what in running.missing:
                request.config.get_terminal_writer().line(f"{NOT_TESTED}: {what}", red=True)
            yield running
    except UnavailableError as reason:
        pytest.skip(f"{NOT_TESTED}: Slurm was asked for and does not run here: {reason}")


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


@contextmanager
def start(
    folder: Path, log: Path, extra: dict[str, str], *words: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Snakemake on the campaign in a folder, alongside the test; all that it says is in `log`."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command(*words),
            cwd=folder,
            env={**os.environ, **extra},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


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
    if cluster.accounting:
        accounted = cluster.accounted()
        assert {accounted[job] for job in submitted} == {"COMPLETED"}
    # One job for each: pocket, aggregate, export, report; for each chunk: parse, and screen, which
    # alone holds a card.
    assert len(submitted) == 4 + 2 * CHUNKS
    with_card = cluster.with_card()
    assert len(with_card) == CHUNKS
    assert {finished[job]["TimeLimit"] for job in with_card} == {"240"}
    assert {finished[job]["Partition"] for job in with_card} == {"gpu"}
    used = {finished[job]["NodeList"] for job in submitted}
    assert used <= set(NODES)
    assert len(used) > 1


def test_a_node_sees_late_what_others_do(tmp_path: Path, cluster: Cluster) -> None:
    if not cluster.late:
        pytest.skip(f"{NOT_TESTED}: all nodes see one file system here")
    file, asked = tmp_path / "file", tmp_path / "asked"
    look = f"""\
import os, time
os.path.exists({str(file)!r})
open({str(asked)!r}, "w").close()
while not os.path.exists({str(file)!r}):
    time.sleep(0.05)
print(time.time() - os.stat({str(file)!r}).st_mtime)
"""
    with subprocess.Popen(
        ["srun", "--nodelist=n1", sys.executable, "-c", look],
        env={**os.environ, **cluster.environment()},
        stdout=subprocess.PIPE,
        text=True,
    ) as looking:
        wait_until(asked.exists)
        file.touch()
        said, _ = looking.communicate()
    # Some of the time is over when this test sees that the node has looked for the file.
    assert float(said) > 0.2 * LATE


def test_a_job_opens_no_card_but_its_own(cluster: Cluster) -> None:
    if not cluster.guards_cards:
        pytest.skip(f"{NOT_TESTED}: nothing keeps a job from the card of another here")
    look = """\
import errno, sys
for name in sys.argv[1:]:
    try:
        open(name, "rb")
    except OSError as error:
        print(errno.errorcode[error.errno])
"""
    # No driver stands behind a card: ENXIO is the answer of one that may be opened.
    for count in (0, 1, 3):
        done = subprocess.run(
            ["srun", f"--gpus={count}", sys.executable, "-c", look, *map(str, cluster.cards)],
            env={**os.environ, **cluster.environment()},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        assert sorted(done.stdout.split()) == ["ENXIO"] * count + ["EPERM"] * (GPUS - count)


def test_searches_on_the_cluster_are_those_of_one_computer(
    tmp_path: Path, cluster: Cluster
) -> None:
    found = {}
    for name in ("local", "cluster"):
        folder = tmp_path / name / "run"
        folder.mkdir(parents=True)
        (folder / "c.yaml").write_text(yaml.safe_dump(genome_searches(folder)))
        if name == "local":
            done = run_local(folder, extra={"LIGEN_DEVICE": "cpu"})
        else:
            extra = {**cluster.environment(), "LIGEN_DEVICE": "cpu"}
            done = run(folder, *profile(tmp_path / name), extra=extra)
        assert done.returncode == 0, done.stdout
        # The cache knows a genome by its path, too.
        found[name] = {k: v for k, v in contents(folder).items() if not k.startswith("genomes/")}
    assert found["cluster"] == found["local"]
    assert len([name for name in found["local"] if name.endswith("-of-3.h5")]) == 3


def test_a_signal_to_end_cancels_the_jobs(tmp_path: Path, cluster: Cluster) -> None:
    """A supervisor that sends SIGTERM does not wait for the hours that a chunk takes."""
    folder, faults, log = write_campaign(tmp_path / "run", 1), tmp_path / "faults", tmp_path / "log"
    extra = ask_fault(faults, "parse", "1-of-1", "sleep", 900) | cluster.environment()
    with start(folder, log, extra, *profile(tmp_path)) as snakemake:
        wait_until(lambda: happened(faults, "parse", "1-of-1", "sleep"))
        snakemake.terminate()
        assert snakemake.wait(120) == 1, log.read_text()
    wait_until(lambda: not cluster.jobs())
    assert not list(folder.glob(".snakemake/locks/*.lock"))


def test_a_campaign_comes_through_the_faults_of_a_cluster(tmp_path: Path, cluster: Cluster) -> None:
    undisturbed = write_campaign(tmp_path / "undisturbed", 4)
    done = run_local(undisturbed)
    assert done.returncode == 0, done.stdout
    expected = contents(undisturbed)

    folder, faults = write_campaign(tmp_path / "run", 4), tmp_path / "faults"
    log = tmp_path / "log"
    ask_fault(faults, "screen", "1-of-4", "sleep", 900)
    ask_fault(faults, "screen", "2-of-4", "hold", "go on")
    ask_fault(faults, "screen", "3-of-4", "hog", 5000)
    ask_fault(faults, "screen", "3-of-4", "hold", "never")
    ask_fault(faults, "screen", "4-of-4", "sleep", 900)
    extra = ask_fault(faults, "parse", "1-of-4", "sleep", 300)
    extra |= {**cluster.environment(), "LIGEN_DEVICE": "cpu"}
    limits = {"slurm_partition": "gpu", "gpu": 1, "mem_mb": "1500 * attempt"}
    # One chunk may meet more of these faults than the profile tries it again.
    words = profile(tmp_path, **{"set-resources": {"screen": limits}, "retries": 4})

    # Snakemake is killed, its jobs are not.
    with start(folder, log, extra, *words) as snakemake:
        wait_until(lambda: happened(faults, "parse", "1-of-4", "sleep"))
        snakemake.kill()
    assert run(folder, "--unlock", extra=extra).returncode == 0
    refused = run(folder, *words, extra=extra)
    assert refused.returncode != 0
    cure = re.search(r"or cancel them: (scancel [\d ]+)", refused.stdout)
    assert cure is not None, refused.stdout
    subprocess.run(cure.group(1).split(), env={**os.environ, **extra}, check=True)
    wait_until(lambda: not cluster.jobs())

    with start(folder, log, extra, *words) as snakemake:
        waiting = (("screen", "1-of-4", "sleep"), ("screen", "2-of-4", "hold"))
        waiting += (("screen", "3-of-4", "hog"), ("screen", "4-of-4", "sleep"))
        wait_until(lambda: all(happened(faults, *fault) for fault in waiting))
        # Slurm ends what takes too much memory, perhaps before others begin; then it runs again.
        wait_until(lambda: list((folder / "results/poses").rglob(".3-of-4.h5.*.part")))
        # Slurm writes down that a job runs up to five seconds later; a controller that dies before
        # ends the job when it is back.
        time.sleep(8)
        # Nobody answers for a while; then a job is cancelled, another runs out of its time.
        cluster.kill_controller()
        cluster.kill_accounting()
        time.sleep(25)
        cluster.start_accounting()  # in its first minutes a controller does not start without
        cluster.start_controller()
        cluster.kill_accounting()
        subprocess.run(["scancel", cluster.job_of("screen", "1-of-4")], check=True)
        late = cluster.job_of("screen", "4-of-4")
        subprocess.run(["scontrol", "update", f"JobId={late}", "TimeLimit=1"], check=True)
        wait_until(lambda: late not in cluster.jobs())
        # The power of a node goes, with a file of a chunk complete but for its name.
        dark, lost = cluster.node_of("screen", "3-of-4"), cluster.job_of("screen", "3-of-4")
        if cluster.node_of("screen", "2-of-4") == dark:  # that one shall be held again
            (faults / "screen.2-of-4.hold.begun").unlink()
            ask_fault(faults, "screen", "2-of-4", "hold", "go on")
        cluster.kill_node(dark)
        wait_until(lambda: not cluster.stages("screen", "3-of-4"))
        wait_until(lambda: cluster.state(dark) == "down")
        cluster.start_node(dark)
        cluster.start_accounting()  # until here only squeue had an answer
        # A node is cut off, its job goes on; a second copy starts elsewhere; both write.
        wait_until(lambda: happened(faults, "screen", "2-of-4", "hold"))
        (first,) = cluster.stages("screen", "2-of-4")
        node = cluster.node_of("screen", "2-of-4")
        cluster.cut_node(node)
        wait_until(lambda: len(cluster.stages("screen", "2-of-4")) == 2)
        (faults / "go on").touch()
        wait_until(lambda: first not in cluster.stages("screen", "2-of-4"))
        cluster.start_node(node)
        code = snakemake.wait(900)
    said = log.read_text()
    assert code == 0, said
    assert contents(folder) == expected
    logs = [path.read_text() for path in (folder / ".snakemake/slurm_logs").rglob("*.log")]
    killed = "oom-kill event" if cluster.kernel_limits else "exceeded memory limit"
    assert any(killed in text for text in logs), said
    ends = {job["JobId"]: job for job in cluster.finished()}
    assert (ends[lost]["JobState"], ends[lost]["NodeList"]) == ("NODE_FAIL", dark)
    states = {job["JobState"] for job in cluster.finished()}
    assert states >= {"CANCELLED", "TIMEOUT", "NODE_FAIL", "COMPLETED"}
    if cluster.accounting and cluster.kernel_limits:
        assert "OUT_OF_MEMORY" in cluster.accounted().values()
    # Nothing of the cut node comes back to disturb what is finished.
    wait_until(lambda: not cluster.jobs())
    assert contents(folder) == expected
