"""The files that a file was made from, by its run record."""

import json
from collections.abc import Mapping
from pathlib import Path

from ligen_py.errors import InputError
from ligen_py.provenance import Input
from ligen_py.records.column import Kind
from ligen_py.store.files.memory import current
from ligen_py.store.files.read import run_record


def require_made_from(path: Path, kind: Kind, source: Path) -> None:
    """InputError where a file's run record names its inputs, and `source` is none of them.

    What stages of one process hand on was made from what the same process read.
    """
    if current():
        return
    known = {item.sha256 for item in recorded_inputs(path, run_record(path, kind))}
    if known and Input.of(source).sha256 not in known:
        raise InputError(
            f"{path}: was not made from {source} as it is now; give the files that belong "
            "together, or make it again"
        )


def input_digests(path: Path, run: Mapping[str, str]) -> set[str]:
    """SHA-256 of the files that a file was made from, by its run record."""
    return {item.sha256 for item in recorded_inputs(path, run)}


def recorded_inputs(path: Path, run: Mapping[str, str]) -> list[Input]:
    """The files that a file was made from, by its run record."""
    try:
        return [Input(**item) for item in json.loads(run.get("inputs", "[]"))]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(f"{path}: its run record cannot be read; make the file again") from error
