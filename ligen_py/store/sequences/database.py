"""A database file: letters in one piece, which are read as fast as the disk gives them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ligen_py.provenance import HDF5, Run
from ligen_py.records.column import Kind
from ligen_py.records.database import DATABASE, Blocks, Proteins
from ligen_py.records.ledger import Ledger
from ligen_py.store.files.guard import child
from ligen_py.store.files.read import column_of, open_file, read_column, read_record
from ligen_py.store.files.table import column_rows
from ligen_py.store.files.write import new_file, write_record


def is_database(path: Path) -> bool:
    """Is a file an HDF5 file, and so no FASTA?"""
    with path.open("rb") as stream:
        return stream.read(len(HDF5)) == HDF5


def write_database(
    path: Path, run: Run, ledger: Ledger, proteins: Proteins, blocks: Blocks
) -> None:
    """Write a database file. Its seal is the letters' only checksum."""
    with new_file(path, DATABASE, run) as file:
        write_record(file.create_group("ledger"), ledger)
        write_record(file.create_group("proteins"), proteins)
        group = file.create_group("blocks")
        for spec in fields(blocks):
            dataset = group.create_dataset(spec.name, data=getattr(blocks, spec.name))
            dataset.attrs["doc"] = spec.metadata["doc"]


class DatabaseFile:
    """An open database."""

    def __init__(self, file: h5py.File, kind: Kind) -> None:
        """Read where the sequences lie, but none of them."""
        self._file = file
        self.first, self.length, self.record = (
            read_column(file, kind, f"blocks/{name}") for name in ("first", "length", "record")
        )
        self._letters = _mapped(column_of(file, kind, "blocks/letters"))
        self.records = len(column_of(file, kind, "proteins/residues"))
        self.residues = int(self.length.sum(dtype="i8"))
        self.sequences = int((self.record >= 0).sum())
        if self.first[-1] != len(self._letters) or (np.diff(self.first) < 0).any():
            raise ValueError("blocks/first does not fit blocks/letters")

    def blocks(self, start: int, end: int) -> Blocks:
        """The blocks from `start` to before `end`, with their letters."""
        a, b = (int(self.first[place]) for place in (start, end))
        found = Blocks(
            self.first[start : end + 1] - a,
            self.length[start:end],
            self.record[start:end],
            self._letters[a:b],
        )
        found.require_bounds()
        return found

    def letters(self, place: int) -> np.ndarray:
        """One sequence, by its place (flat) in the index."""
        block, lane = divmod(place, self.record.shape[1])
        start = int(self.first[block])
        return np.array(self._letters[start : start + self.length[block, lane], lane])

    def names(self, rows: Sequence[int] | np.ndarray) -> dict[str, np.ndarray]:
        """Name and header of some records."""
        return {name: self._texts(name, rows) for name in ("name", "header")}

    def headers(self, rows: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Headers of several lists of records, looked up together; names where they are empty."""
        every = np.concatenate(rows)
        found = self._texts("header", every)
        unnamed = found == ""
        found[unnamed] = self._texts("name", every[unnamed])
        return np.split(found, np.cumsum([len(some) for some in rows])[:-1])

    def _texts(self, name: str, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        group = child(self._file, "proteins")
        return column_rows(group, Proteins, name, np.asarray(rows, "i8"))

    def ledger(self) -> Ledger:
        """What became of each record."""
        found: Any = read_record(child(self._file, "ledger"), Ledger)
        return found


def _mapped(dataset: h5py.Dataset) -> np.ndarray:
    """A dataset in one piece where it lies in its file: a device reads it without a copy."""
    if not dataset.size:
        return np.zeros(dataset.shape, dataset.dtype)
    offset = dataset.id.get_offset()
    if offset is None:
        raise ValueError(f"{dataset.name} is not in one piece")
    return np.memmap(dataset.file.filename, dataset.dtype, "r", offset, dataset.shape)


@contextmanager
def open_database(path: Path) -> Iterator[DatabaseFile]:
    """Open a database file; InputError where it is damaged or none."""
    with open_file(path, DATABASE) as file:
        yield DatabaseFile(file, DATABASE)
