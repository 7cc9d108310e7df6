"""The files that rules read and write: their names, and what makes one of them new."""

import functools
import inspect

from ligen_py.chain import PART, SEQUENCES, TOGETHER, writer
from snakemake.common import overwrite_function_params
from snakemake.settings.types import RerunTrigger


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


def asked_for(stage):
    """A file that every `-R STAGE` writes anew; there is none before."""
    return f"<results>/.again/{stage}"


@functools.cache
def again():
    """The files of stages that chunks are asked to run again, in this run or before."""
    forced = workflow.dag_settings.forcerun
    marks = {stage.name: asked_for(stage.name) for stage in CHUNK}
    return [
        path
        for name, path in marks.items()
        if name in forced or Path(path.replace("<results>", "results")).exists()
    ]


def verdicts(ending):
    """The verdicts on all targets, as `json` or `txt`."""
    return [f"<results>/controls/{target}/controls.{ending}" for target in plan.ranked]


def accepted():
    """A file for each target whose controls let the campaign go on."""
    return [f"<results>/controls/{target}/accepted.txt" for target in plan.ranked]
