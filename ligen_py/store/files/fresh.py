"""Whether files are what a run would write now, and where a run has to start."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from ligen_py.chain import Stage
from ligen_py.errors import InputError
from ligen_py.provenance import Run
from ligen_py.records.column import Kind
from ligen_py.records.kinds import KINDS
from ligen_py.settings.section import Section
from ligen_py.store.files.disk import writing
from ligen_py.store.files.dropped import is_dropped
from ligen_py.store.files.read import run_record, searched

log = logging.getLogger("ligen_py")

CODE = ("stage", "stage-digest", "settings")
COMPARED = (*CODE, "inputs")
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
    again: Collection[str],
    drop: Collection[str],
) -> int:
    """Number of the first stage that must run: its file is missing, damaged or made otherwise.

    `files` by kind, `settings` by stage; the file of a stage in `again` counts as stale. It is the
    last stage where all are as they should be. A stage runs, too, whose file lost the rows that a
    later one needs, or that `drop` does not name.
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
    again: Collection[str],
) -> int:
    for number, stage in enumerate(stages[:-1]):
        inputs = tuple(files[kind] for kind in stage.inputs.values())
        expected = Run(stage.name, settings[stage.name], inputs)
        if stage.name in again or not is_fresh(files[stage.kind], KINDS[stage.kind], expected):
            return number
    return len(stages) - 1


def is_old(
    stages: Sequence[Stage], files: Mapping[str, Path], settings: Mapping[str, Section]
) -> bool:
    """Whether a part's files were written by other code, settings or contents of its inputs.

    The inputs are read where one is newer than the last file. Raises InputError for a file that is
    none, FileNotFoundError for one that is not there.
    """
    first, made = stages[0], files[stages[-1].kind].stat().st_mtime_ns
    given = [files[kind] for kind in first.inputs.values()]
    newer = any(path.stat().st_mtime_ns > made for path in given)
    for stage in stages:
        with searched():
            found = run_record(files[stage.kind], KINDS[stage.kind])
        inputs = given if newer and stage == first else []
        expected = Run(stage.name, settings[stage.name], tuple(inputs)).attributes()
        if any(found.get(name) != expected[name] for name in (COMPARED if inputs else CODE)):
            return True
    return False


def asked_again(marks: Iterable[Path], scores: Path) -> list[str]:
    """Stages that a part has yet to run again, by the marks of all that was ever asked for.

    A mark is named as its stage and has other content each time. A part notes which it has
    followed. The times of its files say nothing: after a job that failed Snakemake puts the former
    files back, and they look new.
    """
    return [mark.name for mark in marks if _content(mark) != _content(_note(mark, scores))]


def note_again(marks: Iterable[Path], scores: Path) -> None:
    """Note that a part has followed all marks. Raises InputError where it cannot be written."""
    for mark in filter(Path.is_file, marks):
        note = _note(mark, scores)
        with writing(note):
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_bytes(mark.read_bytes())


def _content(path: Path) -> bytes:
    """What a file has; nothing where there is none."""
    return path.read_bytes() if path.is_file() else b""


def _note(mark: Path, scores: Path) -> Path:
    """Where a part, known by target, library and name, notes that it has followed a mark."""
    return mark.parent.joinpath("done", mark.name, *scores.parts[-3:-1], scores.stem)
