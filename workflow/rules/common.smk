"""What all rules share: the checked campaign, the interpreter, the shapes of names."""

import atexit
import os
import shlex
import subprocess
import sys
from pathlib import Path

from ligen_py.campaign import BEST, Workplan, stage_environment
from ligen_py.chain import STAGES, writer
from ligen_py.errors import DeviceError, InputError
from ligen_py.progress import follow
from ligen_py.provenance import stage_digest
from ligen_py.settings.document import read_document
from ligen_py.settings.flags import flags
from ligen_py.settings.section import NAME
from ligen_py.store.campaign.layout import CONFIG
from ligen_py.store.campaign.contents import DEEP, Contents
from ligen_py.store.files.text import write_texts
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

DEFAULT_CONFIG = "config/config.yaml"

# Config files are merged key by key, so the example must not lie under a campaign of your own.
if not workflow.overwrite_configfiles and not config:

    configfile: DEFAULT_CONFIG


wildcard_constraints:
    target=NAME,
    library=NAME,
    search=NAME,
    genome=NAME,
    chunk=r"([^/]+\.)?\d+-of-\d+",


def checked_plan():
    """The campaign of this run; what is wrong with it ends Snakemake with one sentence."""
    files = workflow.overwrite_configfiles or workflow.configfiles
    path = os.path.relpath(files[-1]) if files else "command line"
    one = len(files) == 1 and not workflow.config_settings.config
    try:
        source = read_document(Path(path)).source if one else path
        return Workplan.of(config, source, Path(path).parent)
    except InputError as error:
        raise WorkflowError(str(error)) from None


def made(kind):
    """The file of a kind that a stage writes, as a pattern."""
    return f"<results>/{writer(kind).path}"


def inputs(stage):
    """The files that a stage reads, by the flags that name them on its command line."""
    return {flag: made(kind) for flag, kind in STAGES[stage].inputs.items()}


def log_of(stage, folder="<logs>", ending=".log"):
    """The log of a stage, one a job; or another file of each job in another folder."""
    wildcards = STAGES[stage].path.removesuffix(".h5").partition("/")[2]
    return "/".join(filter(None, (folder, stage, wildcards))) + ending


def times_of(stage):
    """Where Snakemake writes time and memory of each job of a stage."""
    return log_of(stage, "<benchmarks>", ".tsv")


def list_parts(table, mark):
    """Write the list of parts, and the file named after them in place of older ones."""
    for old in table.parent.glob(".parts-*"):
        old.unlink()
    texts = {table.name: plan.manifest(str(table.parent)).text(), mark.name: ""}
    write_texts(table.parent, texts)


plan = checked_plan()
contents = Contents(Path.cwd(), deep=DEEP in os.environ)


@atexit.register  # a run with nothing to do calls no handler of Snakemake's
def keep_contents():
    """Note the contents of the campaign's files for the next run."""
    if workflow.is_main_process and not workflow.dryrun:
        contents.keep()


os.environ.update(stage_environment())


def submitted_before():
    """Slurm jobs that an earlier Snakemake submitted from this folder and that have not ended."""
    asked = ["squeue", "--me", "--noheader", "--Format=JobID:20,STDOUT:4096"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    rows = (line.split(maxsplit=1) for line in answer.splitlines())
    logs = os.path.join(os.path.realpath(".snakemake/slurm_logs"), "")
    return [row[0] for row in rows if len(row) == 2 and row[1].startswith(logs)]


onstart:
    try:
        # `ligen run` has looked at all files before it started Snakemake.
        if "LIGEN_CHECKED" not in os.environ:
            from ligen_py.config_checks import check_device, check_files

            check_files(plan)
            if workflow.local_exec:
                check_device()
    except (InputError, DeviceError) as error:
        raise WorkflowError(str(error)) from None
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
    try:
        contents.digests(plan.every_source())
    except InputError as error:
        raise WorkflowError(str(error)) from None
    # For whoever watches: bars on a terminal or a line a minute, and a file that can be tailed.
    shown = [
        one for one in logger.handlers if getattr(one, "stream", None) is sys.stderr
    ]
    files = Path("results/manifest.tsv"), Path("logs/progress.log")
    follow(*files, logger.info, shown, searches=plan.search_part_files("results"))
