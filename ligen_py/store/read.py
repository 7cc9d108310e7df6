"""Read a file of a known kind; anything wrong with it is one sentence that names the file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from ligen_py.errors import InputError
from ligen_py.records import STRING, Record
from ligen_py.store.spec import GROUPS, VERSIONS

R = TypeVar("R", bound=Record)


@contextmanager
def open_file(path: Path, kind: str) -> Iterator[h5py.File]:
    """Open a file of a kind; InputError if it is missing, damaged, of another kind or newer."""
    cure = f"make it again with the stage that writes {kind} files"
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        if path.is_dir():
            raise InputError(f"{path}: is a folder; give a {kind} file") from error
        if not path.exists():
            raise InputError(f"{path}: does not exist; give a {kind} file") from error
        raise InputError(f"{path}: not a complete HDF5 file; {cure}") from error
    with file:
        found = _text(file.attrs.get("encoding-type", "nothing"))
        if found != f"ligen_py.{kind}":
            raise InputError(f"{path}: holds {found}, not ligen_py.{kind}; give a {kind} file")
        version = file.attrs.get("encoding-version", 0)
        if not isinstance(version, (int, np.integer)) or version != VERSIONS[kind]:
            raise InputError(
                f"{path}: has layout version {version}, this ligen_py reads version "
                f"{VERSIONS[kind]}; {'update ligen_py' if _newer(version, kind) else cure}"
            )
        try:
            yield file
        except (OSError, KeyError, RuntimeError, ValueError) as error:
            raise InputError(f"{path}: damaged ({_first_line(error)}); {cure}") from error


def kind_of(path: Path, kinds: Sequence[str]) -> str:
    """Which of some kinds a file is; the first where it is none, so that reading it says why."""
    try:
        with h5py.File(path, "r") as file:
            found = _text(file.attrs.get("encoding-type", "")).removeprefix("ligen_py.")
    except OSError:
        return kinds[0]
    return found if found in kinds else kinds[0]


def _newer(version: Any, kind: str) -> bool:
    return bool(isinstance(version, int | np.integer) and version > VERSIONS[kind])


def _first_line(error: BaseException) -> str:
    return str(error).strip().strip("'\"").split("\n")[0]


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def read(path: Path, kind: str, group: str) -> Any:
    """Read one record of a file, every array checked against the record's declaration."""
    with open_file(path, kind) as file:
        return read_record(file[group], GROUPS[kind][group])


def read_record(group: h5py.Group, record: type[R]) -> R:
    """Read a record; ValueError or KeyError where a column is missing or does not fit."""
    columns = {spec.name: _column(group, spec.name, spec.metadata) for spec in fields(record)}  # type: ignore[arg-type]
    return record(**columns)


def read_columns(path: Path, kind: str, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """Read single columns such as 'poses/restart', each checked against its declaration."""
    with open_file(path, kind) as file:
        return {column: read_column(file, kind, column) for column in columns}


def read_column(file: h5py.File, kind: str, column: str) -> np.ndarray:
    """Read the column 'group/name' of an open file; ValueError or KeyError where it cannot be."""
    group, name = column.split("/")
    specs = {item.name: item for item in fields(GROUPS[kind][group])}  # type: ignore[arg-type]
    spec = specs[name]
    return _column(file[group], name, spec.metadata)


def _column(group: h5py.Group, name: str, meta: Any) -> np.ndarray:
    if name not in group:
        raise KeyError(f"{group.name}/{name} is missing")
    dataset = group[name]
    if not isinstance(dataset, h5py.Dataset) or dataset.ndim != len(meta["dims"]):
        raise ValueError(f"{group.name}/{name} has the wrong shape")
    if meta["dtype"] == STRING:
        if h5py.check_string_dtype(dataset.dtype) is None:
            raise ValueError(f"{group.name}/{name} is not text")
        return np.asarray(dataset.asstr(errors="replace")[...], dtype=object)
    if dataset.dtype != meta["dtype"]:
        raise ValueError(f"{group.name}/{name} has type {dataset.dtype}, not {meta['dtype']}")
    return np.asarray(dataset[...], dtype=meta["dtype"])


def read_terms(path: Path) -> dict[str, dict[str, np.ndarray]]:
    """Score terms of a scores file: scoring function -> term -> one float32 a pose."""
    with open_file(path, "scores") as file:
        return {
            function: {term: column[...] for term, column in columns.items()}
            for function, columns in file["terms"].items()
        }


def run_record(path: Path, kind: str) -> dict[str, str]:
    """The run record of a file: stage, digests, settings, inputs, device."""
    with open_file(path, kind) as file:
        return {key: _text(value) for key, value in file.attrs.items()}
