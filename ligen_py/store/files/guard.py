"""Check a dataset of a foreign file before memory is allocated for it.

HDF5 lets a file of a few hundred bytes declare a column of a thousand million million rows, name
another file as the place of its data, or let every row point at the same long text. Files of this
project do none of that: their columns are plain, uncompressed and stored completely.
"""

import math
from typing import Any

import h5py
import numpy as np

from ligen_py.records.column import STRING

REFERENCE = np.dtype([("length", "<u4"), ("address", "<u8"), ("number", "<u4")])
"""One text in a chunk, as HDF5 stores it: its bytes, and where they lie in the file."""


def child(group: h5py.Group, path: str) -> Any:
    """A group or dataset below a group; ValueError for a link to another place."""
    for name in path.split("/"):
        links = group.id.links if isinstance(group, h5py.Group) else None
        if links is None or not links.exists(name.encode()):
            raise KeyError(f"{group.name}/{name} is missing")
        if links.get_info(name.encode()).type != h5py.h5l.TYPE_HARD:
            raise ValueError(f"{group.name}/{name} is a link to another place")
        group = group[name]
    return group


def dataset_of(group: h5py.Group, name: str, dtype: np.dtype[Any], dims: int) -> h5py.Dataset:
    """A dataset with the given type and number of dimensions, safe to be read completely.

    Raises KeyError if it is missing, ValueError if it has another type or shape, is stored in
    another file, is compressed, or is larger than the bytes that are stored for it.
    """
    found = child(group, name)
    where = f"{str(group.name).rstrip('/')}/{name}"
    shape = found.shape if isinstance(found, h5py.Dataset) else None
    if shape is None or len(shape) != dims:
        raise ValueError(f"{where} has the wrong shape")
    kind = found.dtype
    if dtype == STRING:
        if h5py.check_string_dtype(kind) is None:
            raise ValueError(f"{where} is not text")
    elif kind != dtype:
        raise ValueError(f"{where} has type {kind}, not {dtype}")
    plan = found.id.get_create_plist()
    if plan.get_layout() == h5py.h5d.VIRTUAL or plan.get_external_count():
        raise ValueError(f"{where} keeps its data in another file")
    filters = {plan.get_filter(number)[0] for number in range(plan.get_nfilters())}
    if filters - {h5py.h5z.FILTER_FLETCHER32}:
        raise ValueError(f"{where} is compressed; these files are not")
    declared = math.prod(shape) * found.id.get_type().get_size()
    stored = min(found.id.get_storage_size(), _file_size(found))
    if declared > stored:
        raise ValueError(f"{where} declares {declared} bytes, {stored} are stored")
    return found


def _file_size(dataset: h5py.Dataset) -> int:
    return int(h5py.h5i.get_file_id(dataset.id).get_filesize())


def bytes_of_text(dataset: h5py.Dataset, rows: slice | np.ndarray) -> int:
    """Bytes of all texts in the chunks of some rows; ValueError where a file cannot hold as many.

    1 for a dataset whose texts have no lengths of their own.
    """
    if not dataset.size or dataset.dtype.kind != "O":
        return 1
    if not dataset.chunks:
        raise ValueError(f"{dataset.name} is text in one piece; these files store it in chunks")
    height = dataset.chunks[0]
    if isinstance(rows, slice):
        first, last, _ = rows.indices(len(dataset))
        numbers = range(first // height, -(-last // height))
    else:
        numbers = np.unique(rows // height)  # type: ignore[assignment]
    total, limit = 0, _file_size(dataset)
    for number in numbers:
        _, raw = dataset.id.read_direct_chunk((int(number) * height,))
        total += int(np.frombuffer(raw, REFERENCE)["length"].sum(dtype=np.int64))
    if total > limit:
        raise ValueError(f"{dataset.name} contains {total} bytes of text in a file of {limit}")
    return total
