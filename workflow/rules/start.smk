"""What is looked at when a run starts: files, device, settings of Snakemake, jobs in a queue."""

import signal
import subprocess
import sys
from contextlib import suppress

from ligen_py.ending import end_with
from ligen_py.errors import DeviceError, UsageError
from ligen_py.follow import Running, follow
from ligen_py.store.campaign.contents import require_records
from ligen_py.store.files.text import write_texts
from snakemake.logging import logger


def submitted_before():
    """Slurm jobs that an earlier Snakemake submitted from this folder and that have not ended."""
    asked = ["squeue", "--me", "--noheader", "--Format=JobID:20,STDOUT:4096"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    rows = (line.split(maxsplit=1) for line in answer.splitlines())
    logs = os.path.join(os.path.realpath(".snakemake/slurm_logs"), "")
    return [row[0] for row in rows if len(row) == 2 and row[1].startswith(logs)]


def recorded():
    """No file: ends Snakemake where it cannot know what has changed, and is to find it out.

    Also where all scores would be made again without the networks that they have.
    """
    try:
        if not workflow.touch:
            earlier.require_networks()
        if not (workflow.dag_settings.forceall or workflow.touch):
            require_records(Path())
    except InputError as error:
        raise WorkflowError(str(error)) from None
    return []


def refused():
    """No file: ends Snakemake where an option, or an earlier run's job, would spoil results."""
    # The first two make half-written or deleted files look complete; docs/cluster.md says how.
    if getattr(workflow.executor_settings, "array_jobs", None):
        raise WorkflowError(
            "slurm-array-jobs loses finished files when a task fails; leave it out"
        )
    if workflow.execution_settings.keep_incomplete:
        raise WorkflowError(
            "keep-incomplete takes half-written files for complete; leave it out"
        )
    # A copy that fails late removes the files that its successor has finished.
    if hasattr(workflow.executor_settings, "array_jobs") and submitted_before():
        raise WorkflowError(
            "jobs of an earlier run in this folder are in Slurm's queue; wait until they end, "
            f"or cancel them: scancel {' '.join(submitted_before())}"
        )
    return []


def write_drafts():
    """Write what rules of the campaign copy."""
    DRAFTS.mkdir(parents=True, exist_ok=True)
    drafts = {"manifest.tsv": plan.manifest().text(), CONFIG: described}
    write_texts(DRAFTS, drafts)


def end(number, frame):
    """End the run: Snakemake cancels its jobs and takes its lock away."""
    raise KeyboardInterrupt


def heed_signals():
    """End the run by every signal to end, as by Ctrl-C; what `nohup` has us ignore stays ignored.

    Snakemake's own answer to SIGTERM waits for a lock that may be held by what it interrupts, and
    that to SIGHUP is none. Ctrl-C can be lost in a coroutine if Python's own answer is kept.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            with suppress(ValueError):  # not the main thread
                signal.signal(number, end)


# Of a module Snakemake runs the rules, and not what follows.
if workflow.is_main_process and not MAIN:
    heed_signals()
    try:
        write_drafts()
    except InputError as error:
        raise WorkflowError(str(error)) from None


onstart:
    heed_signals()  # again, since Snakemake has set its own by now
    # Jobs of Slurm go on, and are found in its queue.
    if workflow.local_exec and STARTED_BY:
        end_with(STARTED_BY)
    try:
        # `ligen run` has looked at all files before it started Snakemake.
        if "LIGEN_CHECKED" not in os.environ:
            from ligen_py.config_checks import (
                check_apart,
                check_machine,
                check_files,
            )

            check_files(plan)
            check_apart(plan, Path())
            # Not every target asks for `recorded`.
            if not workflow.touch:
                earlier.require_networks()
            if plan.without_networks:
                logger.warning(plan.without_networks)
            if workflow.local_exec:
                check_machine(plan)
    except (InputError, DeviceError, UsageError) as error:
        raise WorkflowError(str(error)) from None
    refused()
    try:
        contents.digests(plan.every_source())
        contents.keep()  # jobs on other machines need not read the files again
        write_drafts()
    except InputError as error:
        raise WorkflowError(str(error)) from None
    # For whoever watches: bars on a terminal or a line a minute, and a file that can be tailed.
    shown = [
        one for one in logger.handlers if getattr(one, "stream", None) is sys.stderr
    ]
    running = Running(
        Path("results/manifest.tsv"),
        searches=plan.searches.every_part_file("results"),
        is_old=earlier.is_old,
        marks=[Path("results/.again") / stage.name for stage in CHUNK],
    )
    follow(running, Path("logs/progress.log"), logger.info, shown)
