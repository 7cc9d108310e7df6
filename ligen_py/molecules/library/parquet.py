"""Molecules in Parquet files, row by row."""

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ligen_py.errors import InputError
from ligen_py.molecules.library.columns import find, find_name, find_smiles
from ligen_py.molecules.library.record import (
    Columns,
    Part,
    Record,
    decoded,
    extra_text,
    smiles_record,
)
from ligen_py.unpacking import RATIO_GRACE, RATIO_LIMIT, compression, unpacked

BATCH = 1024
"""Rows that are unpacked at a time."""


def parquet_records(path: Path, part: Part, columns: Columns) -> Iterator[Record]:
    """The records of one part of a Parquet file: of its rows an equal share, one after the other.

    Raises InputError for a file that is no Parquet, is damaged or out of proportion, and where a
    column that is asked for, or the SMILES', is missing.
    """
    with _opened(path) as file:
        yield from _records(path, file, part, columns)


def parquet_rows(path: Path) -> int:
    """The number of rows of a Parquet file, as it says itself; InputError as `parquet_records`."""
    with _opened(path) as file:
        return int(file.metadata.num_rows)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pyarrow  # not every library needs it
    from pyarrow import parquet

    try:
        with _seekable(path) as source, parquet.ParquetFile(source, pre_buffer=False) as file:
            yield file
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        said = " ".join(str(error).split())
        raise InputError(f"{path}: no readable Parquet file ({said}); copy it again") from error


@contextmanager
def _seekable(path: Path) -> Iterator[Any]:
    """A file to read at any place; one that is compressed as a whole is unpacked beside."""
    if not compression(path):
        yield str(path)
        return
    with tempfile.TemporaryFile() as plain:
        with unpacked(path) as stream:
            while piece := stream.read(1 << 20):
                plain.write(piece)
        plain.seek(0)
        yield plain


def _records(path: Path, file: Any, part: Part, columns: Columns) -> Iterator[Record]:
    names = file.schema_arrow.names
    if columns.smiles_column:
        smiles = find(path, names, columns.smiles_column)
    else:
        smiles = find_smiles(path, names)
    if columns.name_column:
        name = find(path, names, columns.name_column)
    else:
        name = find_name(names, smiles)
    wanted = {names[find(path, names, column)] for column in columns.wanted()}
    columns = columns._replace(columns=tuple(wanted)) if wanted else columns
    read = [
        column for i, column in enumerate(names) if i in (smiles, name) or columns.keeps(column)
    ]
    start, end = part.share(file.metadata.num_rows)
    given, most = 0, max(RATIO_GRACE, RATIO_LIMIT * path.stat().st_size)
    for row, cells in _rows(file, read, start, end):
        texts = {column: _text(value) for column, value in cells.items()}
        given += sum(map(len, texts.values()))
        if given > most:
            raise InputError(
                f"{path}: more than {RATIO_LIMIT} bytes come out of each byte; if that is right, "
                "write the table as CSV"
            )
        smiles_text = texts.pop(names[smiles])
        name_text = texts.pop(names[name], "") if name >= 0 else ""
        yield smiles_record(row + 1, name_text, smiles_text, extra_text(texts.items()))


def _rows(
    file: Any, columns: list[str], start: int, end: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows `start` to `end` with their cells; row groups outside are not read."""
    first = 0
    for group in range(file.metadata.num_row_groups):
        count = file.metadata.row_group(group).num_rows
        if first < end and start < first + count:
            row = first
            for batch in file.iter_batches(BATCH, row_groups=[group], columns=columns):
                low, high = max(start - row, 0), min(end - row, len(batch))
                if low < high:
                    cells: dict[str, list[Any]] = {}  # of equal names the first column counts
                    cuts = batch.slice(low, high - low).columns
                    for name, cut in zip(batch.schema.names, cuts, strict=True):
                        cells.setdefault(name, _values(cut))
                    for i, values in enumerate(zip(*cells.values(), strict=True), row + low):
                        yield i, dict(zip(cells, values, strict=True))
                row += len(batch)
        first += count


def _values(cells: Any) -> list[Any]:
    """Cells of a column; text as bytes, for it need not be the UTF-8 that it should be."""
    import pyarrow

    if pyarrow.types.is_string(cells.type) or pyarrow.types.is_large_string(cells.type):
        cells = cells.cast(pyarrow.large_binary())
    return list(cells.to_pylist())


def _text(value: Any) -> str:
    """A cell as text; what is missing is empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bytes):
        return decoded(value)
    return str(value)
