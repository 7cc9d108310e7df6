"""The ways a stage stops: what the user gave it, how it was called, or what it should run on."""

import difflib
import shlex
from collections.abc import Iterable


class InputError(Exception):
    """A file, key, line or flag cannot be used; the message names it and says what to do.

    Stages print the message as one sentence and exit with code 1.
    """


class OutputError(InputError):
    """An output cannot be written; it says nothing of the inputs."""


class DeviceError(Exception):
    """No OpenCL device matches, or the chosen one cannot do the work; exit code 2."""


class UsageError(Exception):
    """A command line that contradicts itself; exit code 2."""


class WorkerError(Exception):
    """A process of a stage was ended, which says nothing of the inputs; exit code 1."""


class StoppedError(Exception):
    """A signal asked to end; exit code 128 and the signal's number, as a shell has it."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.number = number


EXTRAS = {
    "sql": ("duckdb",),
    "tune": ("kernel_tuner",),
    "workflow": (
        "pygments",
        "rich",
        "snakemake>=9.27",
        "snakemake-executor-plugin-slurm",
        "snakemake-logger-plugin-rich",
    ),
}
"""Requirements of the extras, as in pyproject.toml."""


def install(extra: str) -> str:
    """The command that installs what an extra has.

    It does not name this package, which an index does not have, or has from a stranger.

    >>> install("sql")
    'pip install duckdb'
    """
    return shlex.join(["pip", "install", *EXTRAS[extra]])


def close_to(word: str, known: Iterable[str]) -> str:
    """What to add to a sentence about an unknown word: the known word that was perhaps meant."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1)
    return f"; did you mean '{close[0]}'?" if close else f"; there are: {', '.join(names)}"
