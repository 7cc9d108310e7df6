"""What the command line of a question has beside it: how many molecules, and in which form."""

from pathlib import Path

from ligen_py.errors import UsageError

LIMIT = 10
"""Molecules of each target where no number is given."""

FORMATS = ("table", "csv", "tsv", "jsonl", "parquet", "sdf")

SUFFIXES = {f".{name}": name for name in FORMATS[1:]} | {".txt": "table", "": "table"}
"""Endings of a file that name its format."""


def format_of(given: str | None, output: Path | None) -> str:
    """The format that is asked for: by its flag, else by the ending of its file, else a table.

    Raises UsageError where the ending names none.
    """
    if given:
        return given
    ending = output.suffix.lower() if output else ""
    if ending not in SUFFIXES:
        known = ", ".join(f".{name}" for name in FORMATS[1:])
        raise UsageError(f"--output {output}: no format is called {ending}; give {known} or .txt")
    return SUFFIXES[ending]
