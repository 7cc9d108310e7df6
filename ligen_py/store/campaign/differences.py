"""Differences between two campaign files, column by column, in bounded memory."""

from pathlib import Path

import h5py
import numpy as np

from ligen_py.store.campaign.layout import BLOCK, CAMPAIGN
from ligen_py.store.files.guard import child, dataset_of
from ligen_py.store.files.read import open_file
from ligen_py.store.files.table import text_rows

PROGRAM = frozenset({"created-by", "stage-digest"})
"""Attributes that name the program, not its results."""


def differences(one: Path, other: Path) -> list[str]:
    """Names of groups, columns and attributes that are not equal; InputError where one is damaged.

    The version of the program that wrote a file is not compared.
    """
    with open_file(one, CAMPAIGN) as a, open_file(other, CAMPAIGN) as b:
        keys = (set(a.attrs) | set(b.attrs)) - PROGRAM
        found = [f"attribute {key}" for key in sorted(keys) if a.attrs.get(key) != b.attrs.get(key)]
        return found + _below(a, b)


def _below(a: h5py.Group, b: h5py.Group) -> list[str]:
    found = []
    for name in sorted(set(a) | set(b)):
        where = f"{a.name.rstrip('/')}/{name}"
        if name not in a or name not in b:
            found.append(f"{where} (only in one)")
            continue
        x, y = child(a, name), child(b, name)
        if isinstance(x, h5py.Group) and isinstance(y, h5py.Group):
            found += _below(x, y)
        elif type(x) is not type(y) or not _equal(x, y):
            found.append(where)
    return found


def _equal(x: h5py.Dataset, y: h5py.Dataset) -> bool:
    if (x.shape, x.dtype, dict(x.attrs)) != (y.shape, y.dtype, dict(y.attrs)):
        return False
    for dataset in (x, y):
        dataset_of(dataset.parent, dataset.name.rpartition("/")[2], dataset.dtype, dataset.ndim)
    for start in range(0, len(x), BLOCK):
        piece = slice(start, start + BLOCK)
        if x.dtype.kind == "O":
            if not np.array_equal(text_rows(x, piece), text_rows(y, piece)):
                return False
        elif x[piece].tobytes() != y[piece].tobytes():
            return False
    return True
