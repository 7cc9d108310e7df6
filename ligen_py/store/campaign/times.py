"""How long the jobs of a campaign took, as Snakemake measured them."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ligen_py.chain import STAGES, TOGETHER


@dataclass(frozen=True, slots=True)
class Time:
    """Of all jobs of a stage."""

    stage: str
    jobs: int
    seconds: float
    """Wall-clock seconds, summed over jobs."""
    memory: float
    """Most of a job, MiB."""


def read_times(
    folder: Path, parts: Iterable[tuple[str, str, str]] | None = None, networks: bool = False
) -> list[Time]:
    """The times of each stage up to the ranking; none where the folder has none or is not there.

    With `parts`, by target, library and chunk, only their jobs count: the folder keeps those of
    libraries and chunks that the campaign has no more, and those of its controls. With `networks`
    there are those of the stage of this name, too. Files that cannot be read are left out: times
    are no result.
    """
    known = {name for part in parts or () for name in (part[0], "/".join(part[1:]), "/".join(part))}
    found = []
    names = list(STAGES)
    ranking = names.index("aggregate")
    for stage in (*names[:ranking], TOGETHER, names[ranking], *(["networks"] if networks else [])):
        files = [folder / f"{stage}.tsv"]
        for file in sorted((folder / stage).rglob("*.tsv")):
            name = file.relative_to(folder / stage).as_posix().removesuffix(".tsv")
            if parts is None or name in known:
                files.append(file)
        rows = [row for file in files for row in _rows(file)]
        if rows:
            seconds, memory = zip(*rows, strict=True)
            found.append(Time(stage, len(rows), sum(seconds), max(memory)))
    return found


def _rows(file: Path) -> list[tuple[float, float]]:
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            table = csv.DictReader(stream, delimiter="\t")
            return [(float(row["s"]), _number(row["max_rss"])) for row in table]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _number(text: str) -> float:
    """A number; 0 where nothing was measured, as of a job shorter than the interval."""
    try:
        return float(text)
    except ValueError:
        return 0.0
