"""What every record shares: columns with a type, dimensions, a unit and a meaning.

Every record is a frozen dataclass of NumPy arrays; `ligen_py.store` derives the HDF5 layout from
its columns. Ragged data are CSR: a column of dimension ``ligand+1`` holds offsets into the
dimension that it names with `into`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np

Bounds = Iterator[tuple[str, Any]]
"""Name of a column, and whether its values lie in their range: bool, or an array of bool."""

STRING = np.dtype(object)
"""Type of a text column: an object array of `str`."""


def column(
    dtype: Any,
    *dims: str | int,
    units: str = "",
    doc: str,
    into: str = "",
    enum: type[IntEnum] | None = None,
) -> Any:
    """Declare one array of a record: element type, dimensions, unit, meaning."""
    return field(
        metadata={
            "dtype": np.dtype(dtype),
            "dims": dims,
            "units": units,
            "doc": doc,
            "into": into,
            "enum": enum,
        }
    )


class Record:
    """Base of all records: checks shapes and types against the declarations."""

    def __post_init__(self) -> None:
        sizes: dict[str, int] = {}
        for column_field in fields(self):  # type: ignore[arg-type]
            self._check(column_field.name, column_field.metadata, sizes)
        for column_field in fields(self):  # type: ignore[arg-type]
            into = column_field.metadata["into"]
            if into:
                self._check_offsets(column_field.name, into, sizes)

    def _check(self, name: str, spec: Any, sizes: dict[str, int]) -> None:
        array = getattr(self, name)
        where = f"{type(self).__name__}.{name}"
        if not isinstance(array, np.ndarray) or array.dtype != spec["dtype"]:
            found = getattr(array, "dtype", type(array).__name__)
            raise ValueError(f"{where} must be an array of {spec['dtype']}, not {found}")
        if array.ndim != len(spec["dims"]):
            raise ValueError(
                f"{where} must have dimensions {spec['dims']}, not shape {array.shape}"
            )
        for dim, size in zip(spec["dims"], array.shape, strict=True):
            plus = isinstance(dim, str) and dim.endswith("+1")
            key = str(dim).removesuffix("+1")
            expected = dim if isinstance(dim, int) else sizes.setdefault(key, size - plus) + plus
            if size != expected:
                raise ValueError(f"{where} has shape {array.shape}; {dim} should be {expected}")

    def _check_offsets(self, name: str, into: str, sizes: dict[str, int]) -> None:
        offsets = getattr(self, name)
        where = f"{type(self).__name__}.{name}"
        if not len(offsets) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
            raise ValueError(f"{where} must start at 0 and never decrease")
        if offsets[-1] != sizes.get(into, offsets[-1]):
            raise ValueError(
                f"{where} ends at {offsets[-1]}, but there are {sizes[into]} {into} rows"
            )

    def bounds(self) -> Bounds:
        """Ranges that kernels and look-ups rely on: no index may point outside its array."""
        return iter(())

    def require_bounds(self) -> None:
        """ValueError that names the first column with a value out of its range."""
        for name, fits in self.bounds():
            if not np.all(fits):
                raise ValueError(f"{type(self).__name__}.{name} contains values out of range")


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of file: its name, the version of its layout, and the record in each of its groups.

    A record that extends another one, such as a function's types of the ligands' atoms, stands in
    its group without the columns of that other one (`own_columns`).
    """

    name: str
    version: int
    """To be raised when a reader of the old layout would misread the new one."""
    fixed: dict[str, type[Record]]
    """Groups that every file has."""
    typed: Callable[[], dict[str, type[Record]]] = dict
    """Groups that came later: a file made before a scoring function was added lacks its group."""

    @property
    def groups(self) -> dict[str, type[Record]]:
        """All groups of a file that is written now."""
        known = list(self.fixed.values())
        return self.fixed | {
            group: record for group, record in self.typed().items() if record not in known
        }

    def group_of(self, record: type[Record]) -> str:
        """Name of the group that holds a record; ValueError where no group does."""
        for name, held in self.groups.items():
            if held is record:
                return name
        raise ValueError(f"a {self.name} file contains no {record.__name__}")


def base_of(record: type[Record]) -> type[Record] | None:
    """The record that this one extends, or None."""
    base = record.__mro__[1]
    return base if is_dataclass(base) and issubclass(base, Record) else None


def own_columns(record: type[Record]) -> list[Any]:
    """Fields of a record without those of the record that it extends."""
    base = base_of(record)
    inherited = {spec.name for spec in fields(base)} if base else set()  # type: ignore[arg-type]
    return [spec for spec in fields(record) if spec.name not in inherited]  # type: ignore[arg-type]


R = TypeVar("R", bound=Record)


def extended(base: Record, record: type[R], **own: np.ndarray) -> R:
    """A record with the columns of the one that it extends, taken from `base`, and its own."""
    mine = {spec.name for spec in own_columns(record)}
    shared = (spec.name for spec in fields(record) if spec.name not in mine)  # type: ignore[arg-type]
    return record(**{name: getattr(base, name) for name in shared}, **own)
