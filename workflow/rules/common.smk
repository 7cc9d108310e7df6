"""What all rules share: the checked campaign, the interpreter, the shapes of names."""

import os
import shlex
import subprocess
from pathlib import Path

from ligen_py.campaign import Workplan, stage_environment
from ligen_py.errors import InputError
from ligen_py.progress import follow
from ligen_py.provenance import stage_digest
from ligen_py.settings.flags import flags
from ligen_py.store.files.text import write_texts
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

DEFAULT_CONFIG = "config/config.yaml"

# Config files are merged key by key, so the example must not lie under a campaign of your own.
if not workflow.overwrite_configfiles and not config:

    configfile: DEFAULT_CONFIG


wildcard_constraints:
    target=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
    library=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
    search=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
    chunk=r"([A-Za-z0-9][A-Za-z0-9_.-]*\.)?\d+-of-\d+",


def checked_plan():
    """The campaign of this run; what is wrong with it ends Snakemake with one sentence."""
    files = workflow.overwrite_configfiles or workflow.configfiles
    source = os.path.relpath(files[-1]) if files else "command line"
    try:
        return Workplan.of(config, source, Path(source).parent)
    except InputError as error:
        raise WorkflowError(str(error)) from None


plan = checked_plan()
os.environ.update(stage_environment())


def submitted_before():
    """Slurm jobs that an earlier Snakemake submitted from this folder and that have not ended."""
    asked = ["squeue", "--me", "--noheader", "--Format=JobID:20,STDOUT:4096"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    rows = (line.split(maxsplit=1) for line in answer.splitlines())
    logs = os.path.join(os.path.realpath(".snakemake/slurm_logs"), "")
    return [row[0] for row in rows if len(row) == 2 and row[1].startswith(logs)]


onstart:
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
    # One line a minute for whoever watches, here and in a file that can be tailed.
    follow(Path("results/manifest.tsv"), Path("logs/progress.log"), logger.info)
