"""`ligen run`: how it ends when something went wrong."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.cli import parse_args

from ligen_py import run
from ligen_py.campaign.earlier import EarlierRun
from ligen_py.errors import InputError, UsageError
from ligen_py.paths import profile
from ligen_py.provenance import Run
from ligen_py.records.scores import SCORES
from ligen_py.running.flags import beside_profile, separated
from ligen_py.running.process import started
from ligen_py.running.stopped import error_at_the_end, why_stopped
from ligen_py.settings.score import ScoreSettings
from ligen_py.store.files.write import new_file
from tests.workflow import forked
from tests.workflow.small import (
    ROOT,
    ask_fault,
    campaign,
    command,
    happened,
    wait_until,
    working_in,
    write_campaign,
)


def ligen_run(
    folder: Path, *words: str, python: str | None = None, **options: Any
) -> subprocess.Popen[str]:
    """Start the campaign of a folder, with a Python that takes no signals where none is named."""
    command = [python or forked.python(), "-m", "ligen_py.run", str(folder / "c.yaml"), *words]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        **options,
    )


def test_the_sentence_of_the_stage_that_failed_is_the_last(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "run", 1)
    (folder / "drugs.smi").write_text("no molecule\n")
    process = ligen_run(folder)
    _, printed = process.communicate(timeout=300)
    assert process.returncode == 1
    last = printed.splitlines()[-1]
    assert last.startswith("ligen run: error: parse: drugs.smi: no record can be docked; ")
    assert last.endswith(f"(log: {folder / 'logs/parse/drugs/1-of-1.log'})")
    assert "Traceback" not in printed


def test_a_stage_that_is_killed_is_named(tmp_path: Path) -> None:
    """It says nothing itself: as where the system lacks memory."""
    folder = write_campaign(tmp_path / "run", 1)
    extra = ask_fault(tmp_path / "faults", "screen", "1-of-1", "die", 1)
    process = ligen_run(folder, env={**os.environ, **extra})
    _, printed = process.communicate(timeout=300)
    assert process.returncode == 1
    last = printed.splitlines()[-1]
    assert last.startswith("ligen run: error: screen ended without an error message, as what is ")
    assert "; its last line: " in last
    assert last.endswith(f"(log: {folder / 'logs/screen/dhfr/drugs/1-of-1.log'})")


def test_a_run_beside_another_and_one_that_is_stopped_say_how_to_go_on(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "run", 1)
    first = ligen_run(folder, python=sys.executable)
    end = time.monotonic() + 200
    while not list(folder.glob(".snakemake/locks/*.lock")):
        assert time.monotonic() < end
        assert first.poll() is None
        time.sleep(0.1)
    second = ligen_run(folder)
    _, printed = second.communicate(timeout=300)
    assert second.returncode == 1
    assert "another run works in this folder, or one was killed there" in printed.splitlines()[-1]
    first.terminate()
    _, printed = first.communicate(timeout=300)
    assert first.returncode == 128 + signal.SIGTERM
    assert printed.splitlines()[-1].endswith("stopped as asked; the same command goes on from here")


def test_a_folder_in_use_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / ".snakemake/log/run.log"
    log.parent.mkdir(parents=True)
    log.write_text("LockException: ... it can be removed with the --unlock argument.\n")
    monkeypatch.chdir(tmp_path)
    assert why_stopped(Path(), {}).startswith(f"{tmp_path}: another run works in this folder")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_run_without_a_terminal_that_is_stopped_leaves_no_lock(
    tmp_path: Path, number: signal.Signals
) -> None:
    """A supervisor's SIGINT reaches `ligen run` alone, the SIGHUP of a lost terminal each process.

    Of the one nothing came of before everything was done, of the other Snakemake died.
    """
    folder = write_campaign(tmp_path / "run", 1)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
    first = ligen_run(folder, python=sys.executable, start_new_session=True)
    end = time.monotonic() + 200
    # Not at the lock: while Snakemake plans, an exception may come where Python ignores it.
    while not list(folder.glob("logs/**/*.log")):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert list(folder.glob(".snakemake/locks/*.lock"))
    if number == signal.SIGINT:
        first.send_signal(number)
    else:
        os.killpg(first.pid, number)
    _, printed = first.communicate(timeout=300)
    assert first.returncode == 128 + number
    assert printed.splitlines()[-1].endswith("stopped as asked; the same command goes on from here")
    assert not (folder / "results/campaign.h5").exists()
    assert not list(folder.glob(".snakemake/locks/*.lock"))


SIGNAL_AT_THE_FIRST_JOB = """
import logging, os

def send(record, sent=[]):
    if "Finished jobid" in record.getMessage() and not sent:
        sent.append(True)
        os.kill(os.getpid(), {number:d})
    return True

logging.getLogger("snakemake.logging").addFilter(send)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_comes_while_a_job_is_put_away_ends_snakemake(
    tmp_path: Path, number: signal.Signals
) -> None:
    """Its own answer to SIGTERM waits for a lock that it has then: it never ended."""
    folder = write_campaign(tmp_path / "run", 1)
    (tmp_path / "sitecustomize.py").write_text(SIGNAL_AT_THE_FIRST_JOB.format(number=number))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
    made = subprocess.run(
        command("--cores", "1"),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert made.returncode == 1
    assert "Terminating processes on user request" in made.stderr
    assert not list(folder.glob(".snakemake/locks/*.lock"))
    assert not (folder / "results/campaign.h5").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_jobs_of_a_run_that_is_stopped_end_with_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    """Snakemake would wait for a chunk that is on its way: an hour, and a supervisor kills it."""
    folder, faults = write_campaign(tmp_path / "run", 1), tmp_path / "faults"
    extra = ask_fault(faults, "screen", "1-of-1", "sleep", 600)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    process = ligen_run(
        folder, python=sys.executable, start_new_session=True, env={**os.environ, **extra}
    )
    wait_until(lambda: happened(faults, "screen", "1-of-1", "sleep"))
    process.send_signal(number)
    _, printed = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert printed.splitlines()[-1].endswith("stopped as asked; the same command goes on from here")
    assert not list(folder.glob(".snakemake/locks/*.lock"))
    assert not list(folder.glob("results/**/scores/**/*.h5"))
    assert not list(working_in(folder))


def test_all_that_a_run_has_started_ends_where_it_is_killed(tmp_path: Path) -> None:
    """Snakemake went on, and a run that was started beside it had files of both."""
    folder, faults = write_campaign(tmp_path / "run", 1), tmp_path / "faults"
    extra = ask_fault(faults, "screen", "1-of-1", "hold", "go on")
    process = ligen_run(folder, python=sys.executable, env={**os.environ, **extra})
    wait_until(lambda: happened(faults, "screen", "1-of-1", "hold"))
    process.kill()
    process.communicate()  # the others have the same output
    wait_until(lambda: not list(working_in(folder)))
    assert not list(folder.glob("results/**/scores/**/*.h5"))


def test_who_ignores_a_signal_goes_on_ignoring_it() -> None:
    """`nohup ligen run` goes on when the terminal closes, from the controls to the libraries."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with started([sys.executable, "-c", ""], os.environ) as (process, signals):
            os.kill(os.getpid(), signal.SIGHUP)
            assert process.wait() == 0
        assert signals == []
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_the_rules_refuse_is_said_last(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "run", 1)
    process = ligen_run(folder, "--", "--keep-incomplete")
    _, printed = process.communicate(timeout=300)
    assert process.returncode == 1
    last = printed.splitlines()[-1]
    assert last.startswith(
        "ligen run: error: keep-incomplete takes half-written files for complete"
    )


def test_networks_that_are_gone_stop_a_run(tmp_path: Path) -> None:
    """As in a new shell, where LIGEN_NETWORKS is not set: all was scored again without them."""
    folder = write_campaign(tmp_path / "run", 1)
    (folder / "c.yaml").write_text(yaml.safe_dump(campaign(1) | {"effort": "thorough"}))
    scores = folder / "results/scores/dhfr/drugs/1-of-1.h5"
    made = Run("score", ScoreSettings(functions=("vina", "gnina")), ())
    with new_file(scores, SCORES, made):
        pass
    before = scores.read_bytes()
    # In place of gninatorch there is nothing, if it is installed at all.
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['gninatorch'] = None\n")
    gone = {name: value for name, value in os.environ.items() if name != "LIGEN_NETWORKS"}
    gone["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(ROOT)])
    said = f"{folder / 'results'}: was scored with gnina's networks, which are not installed now"
    for words in ((), ("--", "--forceall")):
        process = ligen_run(folder, *words, python=sys.executable, env=gone)
        _, printed = process.communicate(timeout=300)
        assert process.returncode == 1
        assert printed.splitlines()[-1].startswith(f"ligen run: error: {said}")
    said = said.replace(f"{folder}/", "")
    for words in ((), ("results/ligands/drugs/1-of-1.h5",), ("--dry-run",), ("--touch",)):
        done = subprocess.run(
            command("--cores", "1", *words),
            cwd=folder,
            env=gone,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert (said in done.stdout) == (words != ("--touch",))
        assert done.returncode == 1 or words == ("--touch",)
    assert scores.read_bytes() == before
    assert not (folder / "results/ligands").exists()


def test_a_result_that_is_newer_than_now_is_named_before_anything_runs(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "run", 1)
    table = folder / "results" / "report.txt"
    table.parent.mkdir()
    table.touch()
    os.utime(table, (time.time() + 3600,) * 2)
    process = ligen_run(folder)
    _, printed = process.communicate(timeout=300)
    assert process.returncode == 1
    assert printed.splitlines()[-1].startswith(f"ligen run: error: {table}: is 3,")
    assert not (folder / ".snakemake").exists()


def test_of_many_lost_files_some_are_named_and_all_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_campaign(tmp_path / "run", 1)

    def stop(earlier: EarlierRun) -> list[str]:
        raise InputError("that is enough")

    lost = [(Path(f"{number}.h5"), "is missing") for number in range(12)]
    monkeypatch.setattr(EarlierRun, "lost", lambda earlier: lost)
    monkeypatch.setattr(EarlierRun, "other_targets", stop)
    assert run.main([str(folder / "c.yaml")]) == 1
    *_, tenth, rest, _ = capsys.readouterr().err.splitlines()
    assert tenth.endswith("9.h5 is missing; it is made again")
    assert rest.endswith("... and 2 more files missing or changed")


def test_a_part_of_a_campaign_does_not_show_the_report_of_before(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "run", 1)
    (folder / "results").mkdir()
    (folder / "results" / "report.txt").write_text("of yesterday\n")
    # Of a Slurm job whose processors are not bound: fewer than the mask has.
    process = ligen_run(
        folder, "--", "--until=pocket", env={**os.environ, "SLURM_CPUS_PER_TASK": "1"}
    )
    printed, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert (folder / "results" / "pockets" / "dhfr.h5").is_file()
    assert "of yesterday" not in printed
    assert "Provided cores: 1 " in said
    assert printed.endswith(f"{folder / 'results/report.txt'} was not made in this run\n")


def test_parts_that_await_each_other_can_all_be_parsed_and_no_more(tmp_path: Path) -> None:
    """Snakemake alone would stop after the first part and call it a bug."""
    folder = write_campaign(tmp_path / "run", 3)
    config = campaign(3) | {"duplicates": "campaign"}
    (folder / "c.yaml").write_text(yaml.safe_dump(config))
    process = ligen_run(folder, "--", "--until", "parse")
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    made = sorted(path.name for path in (folder / "results").rglob("*.h5"))
    assert made == ["1-of-3.h5", "2-of-3.h5", "3-of-3.h5"]


def test_what_is_set_for_a_rule_leaves_it_what_the_profile_sets() -> None:
    """`--set-resources screen:runtime=300` took the card away from every job, without a word."""
    words = ["--set-resources=screen:runtime=300", "--set-threads", "screen=4", "-n"]
    words += ["--set-resources", "screen:gpu=2", "parse:mem_mb=9", "--keep-going"]
    taken = parse_args(beside_profile(separated(words), profile("slurm")))[1]
    screen = {name: found.raw for name, found in taken.set_resources["screen"].items()}
    assert screen == {"slurm_partition": "gpu", "gpu": 2, "runtime": 300}
    assert taken.set_resources["networks"]["gpu"].value == 1
    assert taken.set_resources["parse"]["mem_mb"].value == 9
    threads = {rule: found.value for rule, found in taken.set_threads.items()}
    assert (threads["screen"], threads["parse"]) == (4, 8)
    assert beside_profile(["-n", "--quiet"], Path("no profile")) == ["-n", "--quiet"]


def test_what_is_added_to_a_profile_asks_for_one_that_can_be_read(tmp_path: Path) -> None:
    words = ["--set-threads", "screen=4"]
    (tmp_path / "profile.yaml").write_text("set-threads: [")
    with pytest.raises(InputError, match=f"{tmp_path / 'profile.yaml'}: line 1, .*not YAML"):
        beside_profile(words, tmp_path)
    later = tmp_path / "profile.v9+.yaml"
    later.write_text("__use_yte__: true")
    with pytest.raises(UsageError, match=re.escape(f"{later}: is a template; write there what")):
        beside_profile(words, tmp_path)
    later.write_text("set-threads: [parse=3]\nset-resources:\n")
    assert beside_profile(words, tmp_path) == ["--set-threads", "parse=3", "screen=4"]


BY_SLURM = """\
Error in rule screen:
    message: SLURM-job '7' failed, SLURM status is: 'TIMEOUT'. Reason: Unknown.
    jobid: 4
    log: logs/screen/dhfr/drugs/1-of-2.log, /c/.snakemake/slurm_logs/7.log (check log file(s) for)
Trying to restart job 4.
Error in rule screen:
    message: SLURM-job '9' {words}SLURM status is: '{state}'. Reason: Unknown.
    jobid: 4
    log: logs/screen/dhfr/drugs/1-of-2.log, /c/.snakemake/slurm_logs/9.log (check log file(s) for)
    shell:
        python -m ligen_py.screen --scores results/scores/dhfr/drugs/1-of-2.h5
        (command exited with non-zero exit code)
    external_jobid: 9

Logfile logs/screen/dhfr/drugs/1-of-2.log:
"""
"""What Snakemake's log has of a job that Slurm ended twice."""


@pytest.mark.parametrize(
    ("state", "words", "cure"),
    [
        ("OUT_OF_MEMORY", "failed, ", "memory; raise it with '-- --set-resources screen:mem_mb=N'"),
        ("TIMEOUT", "failed, ", "its time; raise it with '-- --set-resources screen:runtime=N'"),
        ("NODE_FAIL", "failed due to a node failure, ", "its node failed; the same command goes"),
        ("CANCELLED", "failed, ", "someone cancelled it; the same command goes"),
    ],
)
def test_why_slurm_ended_a_job_is_said(tmp_path: Path, state: str, words: str, cure: str) -> None:
    log = tmp_path / ".snakemake" / "log" / "now.snakemake.log"
    log.parent.mkdir(parents=True)
    log.write_text(BY_SLURM.format(state=state, words=words))
    said = why_stopped(tmp_path, {})
    assert said.startswith(f"screen: Slurm ended job 9 as {state}: ")
    assert cure in said
    assert said.endswith(" (log: /c/.snakemake/slurm_logs/9.log)")


NOT_TAKEN = """\
Error in rule screen:
    message: SLURM sbatch failed. The error message was '{said}'.
    sbatch call:
        sbatch --parsable -p nowhere --wrap="python -m snakemake"

For further error details see the cluster/cloud log and the log files of the involved rule(s).
    jobid: 4
    log: logs/screen/dhfr/drugs/1-of-2.log (check log file(s) for error details)
"""
"""What Snakemake's log has of a job that Slurm does not take."""


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            "sbatch: error: invalid partition specified: nowhere\n"
            "sbatch: error: Batch job submission failed: Invalid partition name specified",
            "invalid partition specified: nowhere; Invalid partition name specified",
        ),
        ("sbatch: error: Batch job submission failed: Invalid account", "Invalid account"),
    ],
)
def test_why_slurm_takes_no_job_is_said(tmp_path: Path, said: str, why: str) -> None:
    log = tmp_path / ".snakemake" / "log" / "now.snakemake.log"
    log.parent.mkdir(parents=True)
    log.write_text(NOT_TAKEN.format(said=said))
    found = why_stopped(tmp_path, {})
    assert found.startswith(f"screen: Slurm refused the job: {why}; correct the profile, or ")
    assert found.endswith(f" (log: {log})")
    # A job that was taken when it was tried again.
    log.write_text(log.read_text() + BY_SLURM.format(state="TIMEOUT", words="failed, "))
    assert why_stopped(tmp_path, {}).startswith("screen: Slurm ended job 9 as TIMEOUT: ")


def test_a_job_that_ended_by_itself_on_the_cluster_is_named_with_its_log(tmp_path: Path) -> None:
    """Snakemake lists Slurm's log behind that of the stage: both were taken for one name."""
    log = tmp_path / ".snakemake" / "log" / "now.snakemake.log"
    stage = tmp_path / "logs" / "screen" / "dhfr" / "drugs" / "1-of-2.log"
    for path in (log, stage):
        path.parent.mkdir(parents=True)
    stage.write_text("9 ligands docked\n")
    log.write_text(BY_SLURM.format(state="FAILED", words="failed, "))
    said = why_stopped(tmp_path, {})
    assert said.startswith("screen ended without an error message, ")
    assert said.endswith(f"; its last line: 9 ligands docked (log: {stage})")


def test_a_job_that_the_rules_do_not_let_begin_on_the_cluster_says_why(tmp_path: Path) -> None:
    """The stage has no log then, so it was said to have been killed."""
    log = tmp_path / ".snakemake" / "log" / "now.snakemake.log"
    slurm = tmp_path / ".snakemake" / "slurm_logs" / "9.log"
    for path in (log, slurm):
        path.parent.mkdir(parents=True)
    said = BY_SLURM.format(state="FAILED", words="failed, ")
    log.write_text(said.replace("/c/.snakemake/", f"{tmp_path}/.snakemake/"))
    slurm.write_text(
        'WorkflowError in file "/r/common.smk", line 65:\nc.yaml: was changed\n  File\n'
    )
    assert why_stopped(tmp_path, {}) == f"c.yaml: was changed (log: {slurm})"


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("a line\nligen stage dock: error: p.h5: damaged\n", "dock: p.h5: damaged"),
        ("error: the device has not answered\n", "error: the device has not answered"),
        (
            "Traceback (most recent call last):\n  File\nValueError: odd\n",
            "ValueError: odd; this is",
        ),
        ("docked 7 ligands\n", ""),
        ("", ""),
    ],
)
def test_the_error_at_the_end_of_a_log(tmp_path: Path, log: str, words: str) -> None:
    path = tmp_path / "dock.log"
    path.write_text(log)
    assert error_at_the_end(path).startswith(words)
    assert bool(error_at_the_end(path)) == bool(words)
