"""Records of a library file, whole or one part of it, without looking at any chemistry.

A record is one row of a table or one block of an SDF or MOL2 file. Part k of n of a plain text is
a byte range: the reader skips to the next record and owns every record that starts in its range, so
that n parts hold every record exactly once and nobody has to split the file. A compressed text
cannot be entered in the middle: there part k holds the records k, k + n, k + 2n, ... of the stream.
A Parquet file is cut by rows.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from ligen_py.formats import format_of
from ligen_py.molecules.library.parquet import parquet_records, parquet_rows
from ligen_py.molecules.library.record import GUESSED, WHOLE, Columns, Part, Record, clean_name
from ligen_py.molecules.library.sdf_mol2 import mol2_blocks, mol2_record, sdf_blocks, sdf_record
from ligen_py.molecules.library.smiles_csv import layout_of, row_record, rows
from ligen_py.unpacking import compression

__all__ = ["GUESSED", "WHOLE", "Columns", "Part", "Record", "clean_name", "count", "records"]


def records(path: Path, part: Part = WHOLE, columns: Columns = GUESSED) -> Iterator[Record]:
    """The records of one part of a library, in the order of the file.

    Text is UTF-8, with or without a byte-order mark, or else Latin-1, with Unix or Windows line
    ends. Whether a file is compressed is read from its content, its format from its name. See
    docs/inputs.md for the rules of each format.

    Raises InputError for an unknown format, for a table without the columns that are asked for, and
    for data that are damaged, cut short or out of proportion.
    """
    kind = format_of(path)
    if kind == "parquet":
        yield from parquet_records(path, part, columns)
        return
    cut, made = _reader(path, kind, columns)
    if compression(path):
        yield from map(made, islice(cut(), part.index - 1, None, part.count))
    else:
        yield from map(made, cut(*part.share(path.stat().st_size)))


def count(path: Path, columns: Columns = GUESSED) -> int:
    """How many records a library file has. No record is made: a million SMILES take seconds."""
    kind = format_of(path)
    if kind == "parquet":
        return parquet_rows(path)
    cut, _ = _reader(path, kind, columns)
    return sum(1 for _ in cut())


def no_molecules(path: Path) -> str:
    """What is said of a library file without records."""
    why = ", as no line starts with @<TRIPOS>MOLECULE" if format_of(path) == "mol2" else ""
    return f"contains no molecules{why}; give a file with one or more records"


def _reader(
    path: Path, kind: str, columns: Columns
) -> tuple[Callable[..., Iterator[Any]], Callable[[Any], Record]]:
    """What cuts a text into pieces of one record each, and what makes the record of a piece."""
    if kind == "sdf":
        return partial(sdf_blocks, path), partial(sdf_record, columns=columns)
    if kind == "mol2":
        return partial(mol2_blocks, path), mol2_record
    layout = layout_of(path, columns, kind == "csv")
    return partial(rows, path, layout), partial(row_record, layout=layout)
