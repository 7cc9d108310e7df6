"""Write a file under a temporary name, flush it to disk, then give it its name."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ligen_py.provenance import Run
from ligen_py.records.column import STRING, Kind, Record, own_columns
from ligen_py.store.files.disk import Disk, writing
from ligen_py.store.files.memory import current
from ligen_py.store.files.seal import SEALED, seal
from ligen_py.store.files.temporary import publish, temporary_for

CHUNK_BYTES = 1 << 18
CACHE_BYTES = 1 << 24
"""Of HDF5's chunks in memory, a dataset: with its default of 1 MiB growing takes twice as long."""

TEXT = h5py.string_dtype("utf-8")


@contextmanager
def new_file(path: Path, kind: Kind, run: Run) -> Iterator[h5py.File]:
    """As `new_file_on_disk`, for what is written at once."""
    with new_file_on_disk(path, kind, run) as (file, _):
        yield file


@contextmanager
def new_file_on_disk(path: Path, kind: Kind, run: Run) -> Iterator[tuple[h5py.File, Disk]]:
    """Open a new file of a kind; it appears under `path` only if the block ends well.

    The temporary name is unique to the process, so two writers of one output never share a file.
    Raises InputError where the disk refuses, for lack of room as an example.
    """
    temporary = temporary_for(path)
    versions = ("v110", "v110")
    try:
        with (
            ThreadPoolExecutor(1) as thread,
            Disk(path, temporary) as disk,
            h5py.File(disk, "w", libver=versions, rdcc_nbytes=CACHE_BYTES) as file,
        ):
            attributes = thread.submit(run.attributes)  # reads all inputs
            file.attrs["encoding-type"] = f"ligen_py.{kind.name}"
            file.attrs["encoding-version"] = kind.version
            file.attrs[SEALED] = 1
            yield file, disk
            for key, value in attributes.result().items():
                file.attrs[key] = value
        with writing(path):
            seal(temporary)
            publish([(temporary, path)])
    finally:
        temporary.unlink(missing_ok=True)


def write(
    path: Path,
    kind: Kind,
    run: Run,
    records: Mapping[str, Record],
    terms: Mapping[str, Mapping[str, np.ndarray]] | None = None,
) -> None:
    """Write the records of a kind (`kind.groups`), and the score terms where there are any.

    `terms` maps scoring function -> term -> float32 array with one value a pose.
    """
    if not set(kind.fixed) <= set(records) <= set(kind.groups):
        raise ValueError(
            f"a {kind.name} file contains {sorted(kind.groups)}, not {sorted(records)}"
        )

    def to_disk() -> None:
        """Write all records; the file has its name only when it is whole."""
        with new_file(path, kind, run) as file:
            for group, record in records.items():
                write_record(file.create_group(group), record, kind.groups[group])
            for function, columns in (terms or {}).items():
                target = file.create_group(f"terms/{function}")
                for term, values in columns.items():
                    write_column(target, term, values)

    memory = current()
    if memory is None:
        to_disk()
        return
    for group, record in records.items():
        record.require_bounds()  # as a reader would
        memory.keep(path, kind, record, kind.groups[group])
    memory.later(to_disk)


def write_record(group: h5py.Group, record: Record, declared: type[Record] | None = None) -> None:
    """Write the `own_columns` of a record, each with its unit, meaning and enumeration.

    `declared` is the record of the group, where the given one extends it.
    """
    for spec in own_columns(declared or type(record)):
        meta = spec.metadata
        values = getattr(record, spec.name)
        dtype: Any = TEXT if meta["dtype"] == STRING else meta["dtype"]
        if meta["enum"] is not None:
            dtype = h5py.enum_dtype({item.name: item.value for item in meta["enum"]}, "u1")
        dataset = write_column(group, spec.name, values, dtype)
        dataset.attrs["doc"] = meta["doc"]
        if meta["units"]:
            dataset.attrs["units"] = meta["units"]


def write_column(
    group: h5py.Group, name: str, values: np.ndarray, dtype: Any = None
) -> h5py.Dataset:
    """Write one array, chunked along its first axis, with a checksum on every chunk."""
    dtype = values.dtype if dtype is None else dtype
    if not values.size:
        return group.create_dataset(name, shape=values.shape, dtype=dtype)
    row_bytes = max(1, values.nbytes // len(values))
    rows = int(np.clip(CHUNK_BYTES // row_bytes, 1, len(values)))
    text = dtype is TEXT
    return group.create_dataset(
        name, data=values, dtype=dtype, chunks=(rows, *values.shape[1:]), fletcher32=not text
    )
