"""Whether files are what a run would write now, and where a run has to start."""

import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from ligen_py.chain import Stage
from ligen_py.errors import InputError
from ligen_py.provenance import Run
from ligen_py.records.column import Kind
from ligen_py.records.kinds import KINDS
from ligen_py.settings.section import Section
from ligen_py.store.files.dropped import is_dropped
from ligen_py.store.files.read import run_record

log = logging.getLogger("ligen_py")

COMPARED = ("stage", "stage-digest", "settings", "inputs")
"""Attributes that decide; a result is kept when the device or the version's number changes."""


def is_fresh(path: Path, kind: Kind, run: Run) -> bool:
    """Whether a complete file was written by the same code, settings and contents of inputs.

    A damaged one is named in the log.
    """
    if not path.exists():
        return False
    try:
        found = run_record(path, kind)
        expected = run.attributes()
    except InputError as error:
        log.warning("%s", error)
        return False
    except FileNotFoundError:  # an input that an earlier stage has to make first
        return False
    return all(found.get(name) == expected[name] for name in COMPARED)


def stale(
    stages: Sequence[Stage],
    files: Mapping[str, Path],
    settings: Mapping[str, Section],
    again: Mapping[str, Path],
    drop: Collection[str] = (),
) -> int:
    """Number of the first stage that must run: its file is missing, damaged or made otherwise.

    `files` by kind, `settings` by stage, `again`: files by stage; a result that is older than the
    file of its stage counts as stale. It is the last stage where all are as they should be. A stage
    runs, too, whose file lost the rows that a later one needs, or that `drop` does not name.
    """
    first = _first_stale(stages, files, settings, again)
    dropped = [number for number, stage in enumerate(stages) if is_dropped(files[stage.kind])]
    for number in reversed(dropped):
        kind = stages[number].kind
        needed = any(kind in stage.inputs.values() for stage in stages[first:])
        if needed or kind not in drop:
            first = min(first, number)
    return first


def _first_stale(
    stages: Sequence[Stage],
    files: Mapping[str, Path],
    settings: Mapping[str, Section],
    again: Mapping[str, Path],
) -> int:
    for number, stage in enumerate(stages[:-1]):
        result, asked = files[stage.kind], again.get(stage.name)
        inputs = tuple(files[kind] for kind in stage.inputs.values())
        expected = Run(stage.name, settings[stage.name], inputs)
        if not is_fresh(result, KINDS[stage.kind], expected):
            return number
        if asked and asked.exists() and asked.stat().st_mtime > result.stat().st_mtime:
            return number
    return len(stages) - 1
