"""Read a file of a known kind; anything wrong with it is one sentence that names the file."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from ligen_py.errors import InputError
from ligen_py.provenance import HDF5
from ligen_py.records.column import STRING, Kind, Record, base_of, extended, own_columns
from ligen_py.store.files.guard import child, dataset_of
from ligen_py.store.files.memory import current
from ligen_py.store.files.seal import SEALED, has_line, is_broken
from ligen_py.store.files.table import text_rows

R = TypeVar("R", bound=Record)


DROPPED = "dropped"
"""Attribute of the root group: 1 where the rows of the file were dropped (see `dropped`)."""


@contextmanager
def open_file(path: Path, kind: Kind) -> Iterator[h5py.File]:
    """Open a file of a kind; InputError if it is missing, damaged, of another kind or newer.

    The same where its rows were dropped. What the block writes elsewhere may fail, too: such an
    OSError has a number, which those of HDF5 have not, and is passed on.
    """
    with _open_file(path, kind) as file:
        if DROPPED in file.attrs:
            raise InputError(
                f"{path}: its rows were dropped when its chunk was done; set docked_poses to keep "
                "in the config and run it again"
            )
        yield file


@contextmanager
def _open_file(path: Path, kind: Kind) -> Iterator[h5py.File]:
    held = _held.get()
    if held is None or _is_searched.get():  # what is kept open has been checked
        with _opened(path, kind) as file, content_of(path, kind):
            yield file
        return
    key = path, kind.name
    if key not in held.files:
        held.files[key] = held.stack.enter_context(_opened(path, kind))
    with content_of(path, kind):
        yield held.files[key]


class _Held:
    """Files that stay open."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.files: dict[tuple[Path, str], h5py.File] = {}


_held: ContextVar[_Held | None] = ContextVar("held", default=None)


@contextmanager
def files_kept_open() -> Iterator[None]:
    """A block in which each file is opened and checked once, and closed at the end.

    For many small files: opening one takes longer than reading it.
    """
    if _held.get() is not None:
        yield
        return
    with ExitStack() as stack:
        token = _held.set(_Held(stack))
        stack.callback(_held.reset, token)
        yield


_is_searched: ContextVar[bool] = ContextVar("is_searched", default=False)


@contextmanager
def searched() -> Iterator[None]:
    """A block in which the checksum of a whole file is left out: to look for something in many.

    HDF5 still checks what is read. Whoever uses a file's contents reads it outside.
    """
    token = _is_searched.set(True)
    try:
        yield
    finally:
        _is_searched.reset(token)


def _opened(path: Path, kind: Kind) -> h5py.File:
    cure = _cure(kind)
    try:
        if not _is_searched.get() and is_broken(path):
            raise InputError(f"{path}: damaged (its checksum differs); {cure}")
        file = h5py.File(path, "r")
    except OSError as error:
        if path.is_dir():
            raise InputError(f"{path}: is a folder; give {_a(kind)} file") from error
        if isinstance(error, PermissionError):
            raise InputError(f"{path}: cannot be read ({error.strerror})") from error
        if not path.exists():
            raise InputError(f"{path}: does not exist; give {_a(kind)} file") from error
        if _is_other(path):  # it may be of value
            raise InputError(f"{path}: not an HDF5 file; give {_a(kind)} file") from error
        raise InputError(f"{path}: not a complete HDF5 file; {cure}") from error
    with ExitStack() as stack:
        stack.enter_context(file)
        with content_of(path, kind):
            _require_kind(path, file, kind, cure)
            if SEALED in file.attrs and not has_line(path):
                raise InputError(
                    f"{path}: damaged (another program has changed it, or its end was lost); {cure}"
                )
        stack.pop_all()
    return file


def _is_other(path: Path) -> bool:
    """Whether a file begins with anything but HDF5's signature, or what a lost block leaves."""
    with path.open("rb") as file:
        head = file.read(len(HDF5))
    return bool(head.strip(b"\0")) and not HDF5.startswith(head)


@contextmanager
def content_of(path: Path, kind: Kind) -> Iterator[None]:
    """A block that uses what a file contains: where that cannot be, InputError names the file."""
    try:
        yield
    except (OSError, LookupError, RuntimeError, ValueError, OverflowError) as error:
        # Of what the block does beside reading, such as writing; HDF5's errors have no number.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InputError(f"{path}: damaged ({_first_line(error)}); {_cure(kind)}") from error


def _cure(kind: Kind) -> str:
    return (
        "delete it and make it again, with 'ligen run CONFIG' where it is of a campaign, else with "
        f"the stage that writes {kind.name} files"
    )


def _a(kind: Kind) -> str:
    """The name of a kind with its article."""
    return f"{'an' if kind.name[0] in 'aeiou' else 'a'} {kind.name}"


def _require_kind(path: Path, file: h5py.File, kind: Kind, cure: str) -> None:
    found = _text(file.attrs.get("encoding-type", "nothing"))
    if found != f"ligen_py.{kind.name}":
        raise InputError(
            f"{path}: contains {found}, not ligen_py.{kind.name}; give {_a(kind)} file"
        )
    version = file.attrs.get("encoding-version", 0)
    if not isinstance(version, (int, np.integer)) or version != kind.version:
        raise InputError(
            f"{path}: has layout version {version}, this ligen_py reads version "
            f"{kind.version}; {'update ligen_py' if _newer(version, kind) else cure}"
        )


def kind_of(path: Path, kinds: Sequence[Kind]) -> Kind:
    """Which of some kinds a file is; the first where it is none, so that reading it says why."""
    memory = current()
    if memory and (known := memory.kind(path)):
        return known
    try:
        if is_broken(path):
            return kinds[0]
        with h5py.File(path, "r") as file:
            found = _text(file.attrs.get("encoding-type", "")).removeprefix("ligen_py.")
    except (OSError, LookupError, RuntimeError, ValueError):
        return kinds[0]
    return next((kind for kind in kinds if kind.name == found), kinds[0])


def _newer(version: Any, kind: Kind) -> bool:
    return bool(isinstance(version, int | np.integer) and version > kind.version)


def _first_line(error: BaseException) -> str:
    return str(error).strip().strip("'\"").split("\n")[0]


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def read(path: Path, kind: Kind, record: type[R], base: Record | None = None) -> R:
    """Read one record of a file, every array checked against the record's declaration.

    `base` is the record that this one extends, or the record itself, where it was read before.
    Raises InputError for a file that is older than the scoring function the record belongs to.
    """
    if isinstance(base, record):
        return base
    memory = current()
    if memory is None:
        return _from_disk(path, kind, record, base)
    with memory.lock(path, record):
        found = memory.record(path, record)
        if found is None:
            found = _from_disk(path, kind, record, base)
            memory.keep(path, kind, found, record)
        return found


def _from_disk(path: Path, kind: Kind, record: type[R], base: Record | None) -> R:
    extends = base_of(record)
    if extends is not None and base is None:
        base = read(path, kind, extends)
    with open_file(path, kind) as file:
        group = kind.group_of(record)
        if group not in kind.fixed and group not in file:
            raise InputError(
                f"{path}: has no atom types for the scoring function {group}, which is newer; make "
                f"it again with the stage that writes {kind.name} files"
            )
        return read_record(child(file, group), record, base)


def groups_in(path: Path, kind: Kind) -> dict[str, type[Record]]:
    """The groups of a file with their records; it may lack those of newer scoring functions."""
    with open_file(path, kind) as file:
        return {
            name: record
            for name, record in kind.groups.items()
            if name in kind.fixed or name in file
        }


def read_record(group: h5py.Group, record: type[R], base: Record | None = None) -> R:
    """Read a record; ValueError or KeyError where a column is missing, or its values do not fit."""
    columns = {spec.name: _column(group, spec.name, spec.metadata) for spec in own_columns(record)}
    found = record(**columns) if base is None else extended(base, record, **columns)
    found.require_bounds()
    return found


def bytes_used(path: Path, kind: Kind) -> int:
    """Bytes of a file without those that its columns keep for rows to come: some MB of few rows."""
    idle = 0

    def add(_: str, found: h5py.Group | h5py.Dataset) -> None:
        nonlocal idle
        if isinstance(found, h5py.Dataset):
            idle += max(0, found.id.get_storage_size() - found.nbytes)

    with open_file(path, kind) as file:
        file.visititems(add)
    return path.stat().st_size - idle


def read_columns(path: Path, kind: Kind, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """Read single columns such as 'poses/restart', each checked against its declaration."""
    if current():  # which needs the whole records anyway, sooner or later
        groups = kind.groups
        names = (column.split("/") for column in columns)
        values = (getattr(read(path, kind, groups[group]), name) for group, name in names)
        return dict(zip(columns, values, strict=True))
    with open_file(path, kind) as file:
        found = {column: read_column(file, kind, column) for column in columns}
        _require_lengths(kind, found)
        return found


def _require_lengths(kind: Kind, columns: Mapping[str, np.ndarray]) -> None:
    """Columns of one group that share their first dimension have equal lengths."""
    lengths: dict[tuple[str, str], int] = {}
    for column, values in columns.items():
        group, name = column.split("/")
        dim = str(_spec(kind, group, name)["dims"][0])
        length = len(values) - dim.endswith("+1")
        if lengths.setdefault((group, dim.removesuffix("+1")), length) != length:
            raise ValueError(f"{column} has {len(values)} rows; others of its group have not")


def read_column(file: h5py.File, kind: Kind, column: str) -> np.ndarray:
    """Read the column 'group/name' of an open file; ValueError or KeyError where it cannot be."""
    group, name = column.split("/")
    return _column(child(file, group), name, _spec(kind, group, name))


def column_of(file: h5py.File, kind: Kind, column: str) -> h5py.Dataset:
    """The dataset 'group/name' of an open file, to be read in pieces; as `read_column`."""
    group, name = column.split("/")
    meta = _spec(kind, group, name)
    return dataset_of(file, column, meta["dtype"], len(meta["dims"]))


def _spec(kind: Kind, group: str, name: str) -> Any:
    record: Any = kind.groups[group]
    return _metadata(record)[name]


@cache
def _metadata(record: Any) -> dict[str, Any]:
    return {item.name: item.metadata for item in fields(record)}


def _column(group: h5py.Group, name: str, meta: Any) -> np.ndarray:
    dataset = dataset_of(group, name, meta["dtype"], len(meta["dims"]))
    if meta["dtype"] == STRING:
        return text_rows(dataset, slice(None))
    values = np.asarray(dataset[...], dtype=meta["dtype"])
    if meta["enum"]:
        known = np.zeros(256, bool)
        known[list(meta["enum"])] = True
        if not known[values].all():
            strange = values[~known[values]][0]
            raise ValueError(f"{group.name}/{name} contains {strange}, which has no meaning")
    return values


def run_record(path: Path, kind: Kind) -> dict[str, str]:
    """The run record of a file: stage, digests, settings, inputs, device."""
    with _open_file(path, kind) as file:
        return {key: _text(value) for key, value in file.attrs.items()}
