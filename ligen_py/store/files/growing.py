"""Records in pieces: some ligands of a file at a time, and a file that grows by them."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from ligen_py.provenance import Run
from ligen_py.records.column import STRING, Kind, Record
from ligen_py.records.rows import concatenated, piece
from ligen_py.store.files.disk import Disk
from ligen_py.store.files.guard import child, dataset_of
from ligen_py.store.files.memory import current
from ligen_py.store.files.read import open_file, read
from ligen_py.store.files.table import Table, text_rows
from ligen_py.store.files.write import new_file_on_disk, write_record

R = TypeVar("R", bound=Record)


def read_piece(path: Path, kind: Kind, record: type[R], dim: str, first: int, last: int) -> R:
    """Rows first <= row < last of dimension `dim` of a record, with all that belongs to them.

    Offsets count from the first row. Checked as a whole record is; the bytes read are those of the
    piece.
    """
    with open_file(path, kind) as file:
        source = child(file, kind.group_of(record))
        spans, columns = {dim: (first, last)}, {}
        for spec in fields(record):  # type: ignore[arg-type]
            meta, name = spec.metadata, str(spec.metadata["dims"][0])
            dataset = dataset_of(source, spec.name, meta["dtype"], len(meta["dims"]))
            start, end = spans[name.removesuffix("+1")]
            rows = slice(start, end + name.endswith("+1"))
            if meta["dtype"] == STRING:
                values = text_rows(dataset, rows)
            else:
                values = np.asarray(dataset[rows], meta["dtype"])
            if meta["into"]:
                if not len(values) or values[0] < 0 or (np.diff(values) < 0).any():
                    where = f"{record.__name__}.{spec.name}"
                    raise ValueError(f"{where} must start at 0 and never decrease")
                spans[meta["into"]] = int(values[0]), int(values[-1])
                values = values - values[0]
            columns[spec.name] = values
        found = record(**columns)
        found.require_bounds()
        return found


def read_pieces(
    path: Path, kind: Kind, record: type[R], dim: str, runs: Iterable[tuple[int, int]]
) -> Iterator[R]:
    """`read_piece` of one run of rows after another; the next is read while the last is in use."""
    if current():
        whole = read(path, kind, record)
        yield from (piece(whole, dim, first, last) for first, last in runs)
        return
    with ThreadPoolExecutor(1) as thread:
        waiting: deque[Future[R]] = deque()
        for run in runs:
            waiting.append(thread.submit(read_piece, path, kind, record, dim, run[0], run[1]))
            if len(waiting) > 1:
                yield waiting.popleft().result()
        if waiting:
            yield waiting.popleft().result()


WAITING = 2
"""Pieces that are made or wait to be written while the stage goes on."""


class Growing:
    """A file of a kind that is written record by record, and piece by piece where asked.

    One thread makes pieces, another writes them, one after another; at most `WAITING` wait. A third
    has the disk take what is written meanwhile: left to the end, a large file holds the stage up.
    """

    def __init__(
        self, file: h5py.File, disk: Disk, kind: Kind, threads: list[ThreadPoolExecutor]
    ) -> None:
        self._file, self._disk, self._kind = file, disk, kind
        self._maker, self._writer, self._flusher = threads
        self._tables: dict[str, Table[Any]] = {}
        self._kept: dict[str, list[Future[Record]]] | None = {} if current() else None
        self._pending: deque[Future[None]] = deque()
        self._flush = self._flusher.submit(self._disk.flush_data)

    def append(self, group: str, make: Callable[[], Record]) -> None:
        """Append what `make` returns to a group, once the pieces before it are written."""
        piece = self._maker.submit(make)
        self._pending.append(self._writer.submit(self._append, group, piece))
        if self._kept is None:
            self._settle(WAITING)
        else:  # the next stage needs all of them in memory
            self._kept.setdefault(group, []).append(piece)

    def _append(self, group: str, piece: Future[Record]) -> None:
        if group not in self._tables:
            record = self._kind.groups[group]
            self._tables[group] = Table(self._file.create_group(group), record)
        self._tables[group].append(piece.result())
        self._disk.require()
        if self._flush.done():
            self._flush = self._flusher.submit(self._disk.flush_data)

    def _settle(self, waiting: int = 0) -> None:
        """Wait until no more than so many pieces wait; raises what their writing raised."""
        while len(self._pending) > waiting:
            self._pending.popleft().result()

    def finish(self) -> None:
        """Wait for the last piece and for the disk; raises what either raised."""
        self._settle()
        self._flush.result()

    def write(self, group: str, record: Record) -> None:
        """Write a whole record, after all pieces."""
        if self._kept is not None:
            made: Future[Record] = Future()
            made.set_result(record)
            self._kept[group] = [made]
        self._pending.append(self._writer.submit(self._write, group, record))

    def _write(self, group: str, record: Record) -> None:
        write_record(self._file.create_group(group), record)

    def records(self) -> dict[str, Record]:
        """All records, where stages hand them on in memory."""
        kept = self._kept or {}
        made = {group: [piece.result() for piece in pieces] for group, pieces in kept.items()}
        return {
            group: pieces[0] if len(pieces) == 1 else concatenated(pieces)
            for group, pieces in made.items()
        }


@contextmanager
def growing(path: Path, kind: Kind, run: Run) -> Iterator[Growing]:
    """A new file that appears under its name only if the block ends well.

    Where stages hand on their records (`memory`), it is completed behind the block.
    """
    memory = current()
    with ExitStack() as stack:
        file, disk = stack.enter_context(new_file_on_disk(path, kind, run))
        threads = [ThreadPoolExecutor(1) for _ in range(3)]
        for thread in threads:
            stack.callback(thread.shutdown, wait=True)  # before the file is closed
        result = Growing(file, disk, kind, threads)
        yield result
        if memory is None:
            result.finish()
            return
        for group, record in result.records().items():
            record.require_bounds()  # as a reader would
            memory.keep(path, kind, record, kind.groups[group])
        rest = stack.pop_all()

    def complete() -> None:
        """Write what is known only at the end, and give the file its name."""
        with rest:
            result.finish()

    memory.later(complete)
