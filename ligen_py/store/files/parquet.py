"""Tables as Parquet, for pandas, Polars, DuckDB and spreadsheets that read it."""

import io
from collections.abc import Iterable, Mapping
from itertools import islice

import pyarrow
import pyarrow.parquet

ROWS = 10_000
"""Rows of one group."""

TYPES = {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}


def parquet_bytes(kinds: Mapping[str, type], rows: Iterable[Mapping[str, str]]) -> bytes:
    """A table as the bytes of a Parquet file.

    Args:
        kinds: type of each column: int, float or str.
        rows: values as text; one that a row lacks is null.
    """
    schema = pyarrow.schema([(name, TYPES[kind]) for name, kind in kinds.items()])
    stream, source = io.BytesIO(), iter(rows)
    with pyarrow.parquet.ParquetWriter(stream, schema) as writer:
        while some := list(islice(source, ROWS)):
            columns = [
                [kind(row[name]) if name in row else None for row in some]
                for name, kind in kinds.items()
            ]
            writer.write_table(pyarrow.table(columns, schema=schema))
    return stream.getvalue()
