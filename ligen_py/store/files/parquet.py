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
        rows: values as text. One that a row lacks is null.
    """
    schema = pyarrow.schema([(name, TYPES[kind]) for name, kind in kinds.items()])
    stream, source = io.BytesIO(), iter(rows)
    with pyarrow.parquet.ParquetWriter(stream, schema) as writer:
        while some := list(islice(source, ROWS)):
            arrays = [
                _texts(row.get(name) for row in some)
                if kind is str
                else _numbers([row.get(name) for row in some], kind)
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


def _numbers(values: Sequence[str | None], kind: type) -> pyarrow.Array:
    numbers = np.array([kind(value or 0) for value in values], TYPES[kind].to_pandas_dtype())
    known = np.array([value is not None for value in values], bool)
    bits = None if known.all() else pyarrow.py_buffer(np.packbits(known, bitorder="little"))
    return pyarrow.Array.from_buffers(TYPES[kind], len(values), [bits, pyarrow.py_buffer(numbers)])
