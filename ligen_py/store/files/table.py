"""Records on disk that grow, and single columns of them."""

from collections.abc import Callable
from dataclasses import Field, fields
from typing import Any, Generic, TypeVar

import h5py
import numpy as np

from ligen_py.records.column import STRING, Record
from ligen_py.store.files.guard import bytes_of_text
from ligen_py.store.files.write import CHUNK_BYTES, TEXT

R = TypeVar("R", bound=Record)

PIECE = 1 << 16
"""Rows that are read or written at once where there are many."""

LEAST_CHUNK = 1 << 12
"""Bytes of a growing column's smallest chunk: more rows may follow the first ones."""

CLOSE = 64
"""If more rows than this of one piece are needed, the whole piece is read."""


class Buffer:
    """Collects pieces of columns, and has as many rows as are worth it written at once.

    What is written when does not depend on how the rows were cut into pieces.
    """

    def __init__(self, write: Callable[[dict[str, np.ndarray]], None]) -> None:
        self._write = write
        self._waiting: list[dict[str, np.ndarray]] = []
        self._held = 0
        self.rows = 0
        """All rows that were added."""

    def add(self, columns: dict[str, np.ndarray]) -> None:
        """Add rows; all pieces have the same columns."""
        count = len(next(iter(columns.values()), ()))
        self._waiting.append(columns)
        self._held += count
        self.rows += count
        if self._held >= PIECE:
            self._flush(self._held - self._held % PIECE)

    def flush(self) -> None:
        """Write what was not written yet."""
        self._flush(self._held)

    def _flush(self, count: int) -> None:
        if not count:
            return
        names = list(self._waiting[0])
        every = {
            name: np.concatenate([columns[name] for columns in self._waiting]) for name in names
        }
        for start in range(0, count, PIECE):
            stop = min(start + PIECE, count)
            self._write({name: values[start:stop] for name, values in every.items()})
        self._waiting = [{name: values[count:].copy() for name, values in every.items()}]
        self._held -= count


class Table(Generic[R]):
    """A record on disk that grows along its first dimension, checked piece by piece."""

    def __init__(self, group: h5py.Group, record: type[R]) -> None:
        self._group = group
        self._fields = fields(record)  # type: ignore[arg-type]

    def append(self, piece: R) -> None:
        """Append the rows of a piece; its offsets continue those that are already there."""
        for spec in self._fields:
            values = getattr(piece, spec.name)
            self._create(spec, len(values))
            dataset = self._group[spec.name]
            if spec.metadata["into"]:
                values = values + dataset[-1] if len(dataset) else values
                values = values[1:] if len(dataset) else values
            extend(dataset, values)

    def finish(self) -> None:
        """Have all columns on disk, also where no rows came."""
        for spec in self._fields:
            self._create(spec, 0)

    def _create(self, spec: Field[Any], rows: int) -> None:
        if spec.name in self._group:
            return
        meta = spec.metadata
        dtype: Any = TEXT if meta["dtype"] == STRING else meta["dtype"]
        if meta["enum"] is not None:
            dtype = h5py.enum_dtype({item.name: item.value for item in meta["enum"]}, "u1")
        growing_column(
            self._group, spec.name, dtype, rows, meta["dims"][1:], meta["doc"], meta["units"]
        )


def growing_column(
    group: h5py.Group,
    name: str,
    dtype: Any,
    rows: int,
    row: tuple[int, ...] = (),
    doc: str = "",
    units: str = "",
) -> None:
    """Create an empty dataset that grows along its first axis; `row` is the shape of one row.

    Its chunks are as large as the first `rows` that it will take, within bounds: on disk every
    chunk is whole, so chunks for millions of rows would make a campaign of ten molecules 30 MB.
    """
    text = dtype is TEXT
    row_bytes = (16 if text else np.dtype(dtype).itemsize) * int(np.prod(row, initial=1))
    size = int(np.clip(rows * row_bytes, LEAST_CHUNK, CHUNK_BYTES))
    dataset = group.create_dataset(
        name,
        shape=(0, *row),
        maxshape=(None, *row),
        dtype=dtype,
        chunks=(max(1, size // row_bytes), *row),
        fletcher32=not text,
    )
    dataset.attrs["doc"] = doc
    if units:
        dataset.attrs["units"] = units


def extend(dataset: h5py.Dataset, values: np.ndarray) -> None:
    """Append rows to a growing dataset."""
    if len(values):
        start = len(dataset)
        dataset.resize(start + len(values), axis=0)
        dataset[start:] = values


class BufferedTable(Generic[R]):
    """A record without offsets on disk that grows by many small pieces."""

    def __init__(self, group: h5py.Group, record: type[R]) -> None:
        self._table = table = Table(group, record)
        self._buffer = Buffer(lambda columns: table.append(record(**columns)))
        self.flush = self._buffer.flush

    def append(self, piece: R) -> None:
        """Append the rows of a piece; they are on disk after the next `flush`."""
        names = [spec.name for spec in fields(piece)]  # type: ignore[arg-type]
        self._buffer.add({name: getattr(piece, name) for name in names})

    def finish(self) -> None:
        """Write what was not written yet; all columns are on disk, also where no rows came."""
        self.flush()
        self._table.finish()

    @property
    def rows(self) -> int:
        """Rows so far, written or not."""
        return self._buffer.rows


def assign(dataset: h5py.Dataset, rows: np.ndarray, values: np.ndarray) -> None:
    """Set rows of a dataset by ascending numbers; HDF5 is slow for single rows."""
    for start in range(0, len(dataset), PIECE):
        first, last = np.searchsorted(rows, (start, start + PIECE))
        if first < last:
            piece = dataset[start : start + PIECE]
            piece[rows[first:last] - start] = values[first:last]
            dataset[start : start + PIECE] = piece


def column_rows(
    group: h5py.Group, record: type[Record], name: str, rows: slice | np.ndarray
) -> np.ndarray:
    """A column of a record: a slice of its rows, or some rows in any order, repeats allowed."""
    spec = {item.name: item for item in fields(record)}[name]  # type: ignore[arg-type]
    dataset = group[name]
    text = spec.metadata["dtype"] == STRING
    some: slice | np.ndarray = rows
    inverse: slice | np.ndarray = slice(None)
    if not isinstance(rows, slice):
        some, inverse = np.unique(rows, return_inverse=True)
    if isinstance(some, slice):
        values = text_rows(dataset, some) if text else np.asarray(dataset[some])
    else:
        values = some_rows(dataset, some)
    return values.astype(spec.metadata["dtype"])[inverse]


def some_rows(dataset: h5py.Dataset, rows: np.ndarray) -> np.ndarray:
    """Rows of a dataset by ascending numbers, text as `str`; needs the memory of one more piece.

    HDF5 is slow for single rows, so where rows are close to each other the whole piece is read.
    """
    text = h5py.check_string_dtype(dataset.dtype) is not None
    pieces = []
    ends = np.searchsorted(rows, range(PIECE, len(dataset) + PIECE, PIECE))
    for number, mine in enumerate(np.split(rows, ends[:-1])):
        where: Any = mine
        if close := len(mine) > CLOSE:
            where = slice(number * PIECE, (number + 1) * PIECE)
        if len(mine):
            found = text_rows(dataset, where) if text else np.asarray(dataset[where])
            pieces.append(found[mine - number * PIECE] if close else found)
    empty = np.empty((0, *dataset.shape[1:]), dtype=object if text else dataset.dtype)
    return np.concatenate([empty, *pieces])


def text_rows(dataset: h5py.Dataset, rows: Any) -> np.ndarray:
    """Rows of a text dataset as `str`, by slice or by ascending row numbers.

    Raises ValueError where they are longer than their file (see `guard`).
    """
    if not bytes_of_text(dataset, rows) and isinstance(rows, slice):
        # As in most ledgers: no record was rejected. HDF5 takes long for many texts.
        return np.full(len(range(*rows.indices(len(dataset)))), "", object)
    return np.asarray(dataset.asstr(errors="replace")[rows], dtype=object)


def text_at(dataset: h5py.Dataset, row: int) -> str:
    """One row of a text dataset."""
    return str(text_rows(dataset, slice(row, row + 1))[0])
