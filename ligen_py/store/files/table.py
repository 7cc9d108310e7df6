"""Records on disk that grow, and single columns of them."""

from dataclasses import fields
from typing import Any, Generic, TypeVar

import h5py
import numpy as np

from ligen_py.records.column import STRING, Record
from ligen_py.store.files.guard import require_short_text
from ligen_py.store.files.write import CHUNK_BYTES, TEXT

R = TypeVar("R", bound=Record)

PIECE = 1 << 16
"""Rows that are read at once if many are needed."""

CLOSE = 64
"""If more rows than this of one piece are needed, the whole piece is read."""


class Table(Generic[R]):
    """A record on disk that grows along its first dimension, checked piece by piece."""

    def __init__(self, group: h5py.Group, record: type[R]) -> None:
        self._group = group
        self._fields = fields(record)  # type: ignore[arg-type]
        for spec in self._fields:
            meta = spec.metadata
            dtype: Any = TEXT if meta["dtype"] == STRING else meta["dtype"]
            if meta["enum"] is not None:
                dtype = h5py.enum_dtype({item.name: item.value for item in meta["enum"]}, "u1")
            growing_column(group, spec.name, dtype, meta["dims"][1:], meta["doc"], meta["units"])

    def append(self, piece: R) -> None:
        """Append the rows of a piece; its offsets continue those that are already there."""
        for spec in self._fields:
            dataset = self._group[spec.name]
            values = getattr(piece, spec.name)
            if spec.metadata["into"]:
                values = values + dataset[-1] if len(dataset) else values
                values = values[1:] if len(dataset) else values
            extend(dataset, values)


def growing_column(
    group: h5py.Group,
    name: str,
    dtype: Any,
    row: tuple[int, ...] = (),
    doc: str = "",
    units: str = "",
) -> None:
    """Create an empty dataset that grows along its first axis; `row` is the shape of one row."""
    text = dtype is TEXT
    row_bytes = (16 if text else np.dtype(dtype).itemsize) * int(np.prod(row, initial=1))
    dataset = group.create_dataset(
        name,
        shape=(0, *row),
        maxshape=(None, *row),
        dtype=dtype,
        chunks=(max(1, CHUNK_BYTES // row_bytes), *row),
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
    require_short_text(dataset, rows)
    return np.asarray(dataset.asstr(errors="replace")[rows], dtype=object)


def text_at(dataset: h5py.Dataset, row: int) -> str:
    """One row of a text dataset."""
    return str(text_rows(dataset, slice(row, row + 1))[0])
