"""Whether a file is what a run would write now."""

import logging
from pathlib import Path

from ligen_py.errors import InputError
from ligen_py.provenance import Run
from ligen_py.records.column import Kind
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
