"""Tables as Parquet, for pandas, Polars, DuckDB and spreadsheets that read it."""

import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import numpy as np
import pyarrow
import pyarrow.parquet

ROWS = 10_000
"""Rows of one group."""

TYPES = {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}


def parquet_bytes(kinds: Mapping[str, type], rows: Iterable[Mapping[str, str]]) -> bytes:
    """A table as the bytes of a Parquet file.

    Args:
        kinds: type of each column: int, float or str.
        rows: values as text. One without a text is null; every row has all numbers.
    """
    schema = pyarrow.schema([(name, TYPES[kind]) for name, kind in kinds.items()])
    stream, source = io.BytesIO(), iter(rows)
    with pyarrow.parquet.ParquetWriter(stream, schema) as writer:
        while some := list(islice(source, ROWS)):
            arrays = [
                _texts(row.get(name) for row in some)
                if kind is str
                else _numbers([kind(row[name]) for row in some], TYPES[kind])
                for name, kind in kinds.items()
            ]
            writer.write_batch(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))
    return stream.getvalue()


# pyarrow.array would import pandas, which takes half a second, to see whether a list is one of its.


def _texts(values: Iterable[str | None]) -> pyarrow.Array:
    builder = pyarrow.lib.StringBuilder()
    for value in values:
        builder.append(value)
    return builder.finish()


def _numbers(values: Sequence[int | float], kind: pyarrow.DataType) -> pyarrow.Array:
    buffer = pyarrow.py_buffer(np.array(values, kind.to_pandas_dtype()))
    return pyarrow.Array.from_buffers(kind, len(values), [None, buffer])
