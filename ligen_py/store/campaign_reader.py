"""Read a campaign file; every column of any number of rows is read by block or by row."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import h5py
import numpy as np

from ligen_py.errors import InputError
from ligen_py.store.campaign import (
    BLOCK,
    KIND,
    Control,
    Counts,
    Left,
    Pose,
    Provenance,
    Runs,
    Scored,
)
from ligen_py.store.read import open_file, read_record
from ligen_py.store.table import column_rows, text_rows


@dataclass(frozen=True, slots=True)
class Ranked:
    """Some ranked molecules of a target; columns have one value a molecule."""

    rank: np.ndarray
    """From 1, i8."""
    scored: Scored
    terms: dict[str, np.ndarray]
    """'function/term' -> f4 of the best pose."""


class TargetReader:
    """Reads the results of one target."""

    def __init__(self, group: h5py.Group) -> None:
        self._group = group
        self.size = len(group["ranking"])
        """Ranked molecules."""
        self.stored = len(group["top/row"])
        """Molecules whose best pose is stored: the first of the ranking."""

    def best(self, count: int) -> Ranked:
        """The best `count` molecules, best first (all, where there are fewer)."""
        rows = self._group["ranking"][:count]
        return self._ranked(rows, np.arange(1, 1 + len(rows)))

    def named(self, names: frozenset[str]) -> Ranked:
        """Ranked molecules whose name is one of `names`, best first."""
        wanted = self._find("scored", names)
        ranks, rows = [np.empty(0, "i8")], [np.empty(0, "i8")]
        for start in range(0, self.size if len(wanted) else 0, BLOCK):
            block = self._group["ranking"][start : start + BLOCK]
            places = np.flatnonzero(np.isin(block, wanted))
            ranks.append(places + start + 1)
            rows.append(block[places])
        return self._ranked(np.concatenate(rows), np.concatenate(ranks))

    def left_named(self, names: frozenset[str]) -> Left:
        """Records that are not ranked and whose name is one of `names`."""
        rows = self._find("left", names)
        group = self._group["left"]
        names_of = (spec.name for spec in fields(Left))
        return Left(**{name: column_rows(group, Left, name, rows) for name in names_of})

    def _ranked(self, rows: np.ndarray, rank: np.ndarray) -> Ranked:
        group = self._group["scored"]
        names = (spec.name for spec in fields(Scored))
        columns = {name: column_rows(group, Scored, name, rows) for name in names}
        unique, inverse = np.unique(rows, return_inverse=True)
        terms = {
            f"{function}/{term}": np.asarray(dataset[unique])[inverse]
            for function, datasets in self._group["terms"].items()
            for term, dataset in datasets.items()
        }
        return Ranked(rank=rank, scored=Scored(**columns), terms=terms)

    def _find(self, group: str, names: frozenset[str]) -> np.ndarray:
        dataset = self._group[group]["name"]
        found = [
            start + row
            for start in range(0, len(dataset), BLOCK)
            for row, name in enumerate(text_rows(dataset, slice(start, start + BLOCK)))
            if name in names
        ]
        return np.array(found, dtype="i8")

    def poses(self, count: int) -> Iterator[Pose]:
        """Best poses of the best `count` molecules, best first; at most `stored`."""
        group = self._group["top"]
        stored = group["row"][...]
        first_atom, first_byte = group["first_atom"][...], group["first_byte"][...]
        for row in self._group["ranking"][:count]:
            i = int(np.searchsorted(stored, row))
            if i == len(stored) or stored[i] != row:
                raise ValueError(f"the pose of row {row} is not stored")
            yield Pose(
                smiles=str(group["smiles"].asstr(errors="replace")[i]),
                xyz=group["xyz"][first_atom[i] : first_atom[i + 1]],
                molecule=group["molecule"][first_byte[i] : first_byte[i + 1]],
            )

    def scores(self) -> np.ndarray:
        """Scores (f4) of all ranked molecules, in no particular order."""
        group = self._group["scored"]
        return np.asarray(group["score"][...])[group["duplicate"][...] == 0]

    def counts(self) -> Counts:
        """The ledger in numbers."""
        return read_record(self._group["counts"], Counts)

    def control(self) -> Control:
        """The redocking control; no rows where the target has none."""
        return read_record(self._group["control"], Control)


class CampaignReader:
    """Reads a campaign."""

    def __init__(self, file: h5py.File) -> None:
        self._file = file
        self.libraries = [str(name) for name in text_rows(file["libraries"], slice(None))]
        self.targets = list(file["targets"])
        self.attributes = {key: str(value) for key, value in file.attrs.items()}

    def target(self, name: str) -> TargetReader:
        """One target's results."""
        return TargetReader(self._file[f"targets/{name}"])

    def runs(self) -> Runs:
        """The distinct run records of all parts."""
        return read_record(self._file["runs"], Runs)

    def parts(self) -> Provenance:
        """Which run made each file of each part."""
        return read_record(self._file["parts"], Provenance)


@contextmanager
def open_campaign(path: Path) -> Iterator[CampaignReader]:
    """Open a campaign file; InputError if it is missing, damaged, of another kind or newer."""
    with open_file(path, KIND) as file:
        if "targets" not in file or not len(file["targets"]):
            raise InputError(f"{path}: holds no target; make it again with the aggregate stage")
        yield CampaignReader(file)
