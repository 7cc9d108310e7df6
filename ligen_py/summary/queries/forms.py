"""What the command line of a question has beside it: how many molecules, and in which form."""

from pathlib import Path

LIMIT = 10
"""Molecules of each target where no number is given."""

FORMATS = ("table", "csv", "tsv", "jsonl", "parquet", "sdf")

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".parquet": "parquet", ".sdf": "sdf"}
"""Endings of a file that name its format."""


def format_of(given: str | None, output: Path | None) -> str:
    """The format that is asked for: by its flag, else by the ending of its file, else a table."""
    if given:
        return given
    if output is None or output.suffix.lower() not in SUFFIXES:
        return "table"
    return SUFFIXES[output.suffix.lower()]
