"""Some rows of a record with everything that belongs to them."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from ligen_py.records.column import Record

R = TypeVar("R", bound=Record)

Rows = dict[str, np.ndarray]
"""Dimension -> chosen rows."""


def rows_below(record: Record, dim: str, rows: np.ndarray) -> Rows:
    """The chosen rows of a dimension and those of every dimension that its offsets lead to."""
    found = {dim: rows}
    waiting = [dim]
    while waiting:
        above = waiting.pop()
        for spec in _specs(record):
            into = spec.metadata["into"]
            if into and spec.metadata["dims"][0] == f"{above}+1" and into not in found:
                offsets = getattr(record, spec.name)
                counts = np.diff(offsets)[found[above]]
                ends = np.cumsum(counts)
                within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
                found[into] = np.repeat(offsets[found[above]], counts) + within
                waiting.append(into)
    return found


def subset(record: R, rows: Rows) -> R:
    """The record with the chosen rows only; its offsets count from 0 again."""
    columns = {}
    for spec in _specs(record):
        dim, values = str(spec.metadata["dims"][0]), getattr(record, spec.name)
        if dim.endswith("+1"):
            counts = np.diff(values)[rows[dim.removesuffix("+1")]]
            columns[spec.name] = np.concatenate([[0], np.cumsum(counts)]).astype(values.dtype)
        else:
            columns[spec.name] = values[rows[dim]]
    return type(record)(**columns)


def piece(record: R, dim: str, first: int, last: int) -> R:
    """Rows first <= row < last of a dimension, with all that belongs to them; offsets start at 0.

    Its columns are views of the record's, but for the offsets.
    """
    spans, columns = {dim: (first, last)}, {}
    for spec in _specs(record):
        name, values = str(spec.metadata["dims"][0]), getattr(record, spec.name)
        start, end = spans[name.removesuffix("+1")]
        values = values[start : end + name.endswith("+1")]
        if spec.metadata["into"]:
            spans[spec.metadata["into"]] = int(values[0]), int(values[-1])
            values = values - values[0]
        columns[spec.name] = values
    return type(record)(**columns)


def concatenated(records: Sequence[R]) -> R:
    """The rows of several records one after another; offsets are counted on."""
    columns = {}
    for spec in _specs(records[0]):
        values = [getattr(record, spec.name) for record in records]
        if str(spec.metadata["dims"][0]).endswith("+1"):
            counts = np.concatenate([np.diff(one) for one in values])
            columns[spec.name] = np.concatenate([[0], np.cumsum(counts)]).astype(values[0].dtype)
        else:
            columns[spec.name] = np.concatenate(values)
    return type(records[0])(**columns)


def no_rows(record: type[R]) -> R:
    """A record of some type without rows."""
    columns = {}
    for spec in _specs(record):
        dims = spec.metadata["dims"]
        shape = [dim if isinstance(dim, int) else int(dim.endswith("+1")) for dim in dims]
        columns[spec.name] = np.zeros(shape, spec.metadata["dtype"])
    return record(**columns)


def unequal(one: Record, other: Record) -> list[str]:
    """Names of the columns that are not equal bit for bit."""
    return [spec.name for spec in _specs(one) if not _same(one, other, spec.name)]


def _same(one: Record, other: Record, name: str) -> bool:
    a, b = getattr(one, name), getattr(other, name)
    same_bits = a.dtype == object or a.tobytes() == b.tobytes()
    return a.shape == b.shape and same_bits and (a.dtype != object or a.tolist() == b.tolist())


def _specs(record: Record | type[Record]) -> Any:
    return fields(record)  # type: ignore[arg-type]
