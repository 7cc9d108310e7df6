"""What all rules share: the checked campaign, the interpreter, the shapes of names."""

import atexit
import functools
import inspect
import os
import re
import shlex
from pathlib import Path

from ligen_py.campaign.workplan import MARK, Workplan, stage_environment
from ligen_py.chain import BEST, PART, SEQUENCES, STAGES, TOGETHER, screen, writer
from ligen_py.errors import InputError
from ligen_py.provenance import stage_digest
from ligen_py.settings.document import from_here, read_document
from ligen_py.settings.flags import flags
from ligen_py.settings.section import NAME
from ligen_py.store.campaign.layout import CONFIG
from ligen_py.store.campaign.contents import DEEP, Contents
from snakemake.common import overwrite_function_params
from snakemake.exceptions import WorkflowError
from snakemake.settings.types import RerunTrigger

# Config files are merged key by key, so the example must not lie under a campaign of your own.
if not workflow.overwrite_configfiles and not config:

    configfile: "config/config.yaml"


wildcard_constraints:
    target=NAME,
    library=NAME,
    search=NAME,
    genome=NAME,
    chunk=r"([^/]+\.)?\d+-of-\d+",


def checked_plan():
    """The campaign of this run; what is wrong with it ends Snakemake with one sentence."""
    files = workflow.overwrite_configfiles or workflow.configfiles
    path = from_here(files[-1]) if files else "command line"
    one = len(files) == 1 and not workflow.config_settings.config
    try:
        source = read_document(Path(path)).source if one else path
        return Workplan.of(config, source, Path(path).parent)
    except InputError as error:
        raise WorkflowError(str(error)) from None


def seen(function):
    """A function of many jobs, with its parameters: Snakemake finds them several times a job."""
    overwrite_function_params(function, inspect.signature(function).parameters)
    return function


def given(function):
    """An input function whose files from outside count by their contents, which are params.

    Snakemake compares the contents of small files alone: a new time would make others news.
    """

    def marked(found):
        if isinstance(found, dict):
            return {name: marked(file) for name, file in found.items()}
        if isinstance(found, list):
            return [marked(file) for file in found]
        params = RerunTrigger.PARAMS in workflow.dag_settings.rerun_triggers
        outside = params and not str(found).startswith("<results>")
        return ancient(str(found)) if outside else str(found)

    return seen(lambda wildcards: marked(function(wildcards)))


def made(kind):
    """The file of a kind that a stage writes, as a pattern."""
    return f"<results>/{writer(kind).path}"


def inputs(stage):
    """The files that a stage reads, by the flags that name them on its command line."""
    return {flag: made(kind) for flag, kind in STAGES[stage].inputs.items()}


def searched(rule, beside=None):
    """The file that a rule of a search writes, or a table beside it, as a pattern."""
    path = Path(SEQUENCES[rule].path)
    return f"<results>/{path.with_name(beside) if beside else path}"


def log_of(stage, folder="<logs>", ending=".log"):
    """The log of a stage, one a job; or another file of each job in another folder."""
    path = PART if stage == TOGETHER else (STAGES | SEQUENCES)[stage].path
    return os.path.join(folder, stage, *re.findall(r"\{\w+\}", path)) + ending


def times_of(stage):
    """Where Snakemake writes time and memory of each job of a stage."""
    return log_of(stage, "<benchmarks>", ".tsv")


plan = checked_plan()
described = plan.described(Path("results"))
CHUNK = screen(plan.settings.search)
# What is known at the start, to be copied: a rule with Python code starts another Snakemake.
DRAFTS = Path(".snakemake", "ligen_drafts")
contents = Contents(Path.cwd(), deep=DEEP in os.environ)


@atexit.register  # a run with nothing to do calls no handler of Snakemake's
def keep_contents():
    """Note the contents of the campaign's files for the next run."""
    if workflow.is_main_process and not workflow.dryrun:
        contents.keep()


os.environ.update(stage_environment())
