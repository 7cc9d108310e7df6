"""Read a campaign file; every column of any number of rows is read by block or by row."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import h5py
import numpy as np

from ligen_py.errors import InputError
from ligen_py.records.column import STRING
from ligen_py.records.limits import NAME
from ligen_py.records.molecule import checked
from ligen_py.records.properties import PROPERTY_NAMES, Properties
from ligen_py.records.site import Site
from ligen_py.store.campaign.layout import (
    BLOCK,
    CAMPAIGN,
    TARGET_GROUPS,
    Control,
    Counts,
    Left,
    Pose,
    Provenance,
    Reference,
    Runs,
    Scored,
    Verdicts,
    Watched,
    columns_of,
)
from ligen_py.store.campaign.manifest import Manifest
from ligen_py.store.files.guard import child, dataset_of
from ligen_py.store.files.read import open_file, read_record
from ligen_py.store.files.table import column_rows, some_rows, text_rows


@dataclass(frozen=True, slots=True)
class Ranked:
    """Some ranked molecules of a target; columns have one value a molecule."""

    rank: np.ndarray
    """From 1, i8."""
    row: np.ndarray
    """Rows of `scored`, i8."""
    scored: Scored
    terms: dict[str, np.ndarray]
    """'function/term' -> f4 of the best pose."""
    properties: Properties


EVERY = ("score", "heavy", "library", "file", "line")
"""Columns of `scored` that are read of all molecules at once."""


@dataclass(frozen=True, slots=True)
class Every:
    """Numbers of all ranked molecules of a target; columns have one value a molecule."""

    row: np.ndarray
    """Rows of `scored`, ascending."""
    rank: np.ndarray
    """Place in the ranking, from 1."""
    score: np.ndarray
    heavy: np.ndarray
    library: np.ndarray
    file: np.ndarray
    line: np.ndarray
    totals: dict[str, np.ndarray]
    """Scoring function -> its score of the best pose."""


class TargetReader:
    """Reads the results of one target."""

    def __init__(self, group: h5py.Group) -> None:
        """Check the type and size of every column before one of them is read."""
        for name, record in TARGET_GROUPS.items():
            for spec in fields(record):  # type: ignore[arg-type]
                column = f"{name}/{spec.name}"
                dataset_of(group, column, spec.metadata["dtype"], len(spec.metadata["dims"]))
        dataset_of(group, "ranking", np.dtype("i8"), 1)
        self._group = group
        self._found: dict[tuple[str, frozenset[str]], np.ndarray] = {}
        self.name = str(group.name).rpartition("/")[2]
        for term in self.terms:
            dataset_of(group, f"terms/{term}", np.dtype("f4"), 1)
        self.size = len(group["ranking"])
        """Ranked molecules."""
        self.scored = len(group["scored/score"])
        """Scored records, those that are not ranked as duplicates included."""
        self.stored = len(group["top/row"])
        """Molecules whose best pose is stored: the first of the ranking."""

    def order(self, count: int | None = None) -> np.ndarray:
        """Rows of `scored`, best first (i8): the first `count`, or all."""
        return np.asarray(self._group["ranking"][:count])

    def column(self, name: str, rows: slice | np.ndarray = slice(None)) -> np.ndarray:
        """A column of the scored records, or some rows of it in any order.

        `name` is one of `Scored`, a property, or a score term as 'function/term' or
        'function.term'; KeyError where there is none.
        """
        for group, record in (("scored", Scored), ("properties", Properties)):
            if name in record.__dataclass_fields__:
                return column_rows(self._group[group], record, name, rows)
        term = name.replace(".", "/")
        if term not in self.terms:
            raise KeyError(name)
        dataset = self._group["terms"][term]
        if isinstance(rows, slice):
            return np.asarray(dataset[rows])
        unique, inverse = np.unique(rows, return_inverse=True)
        return some_rows(dataset, unique)[inverse]

    @property
    def terms(self) -> list[str]:
        """Names of the score terms, 'function/term'."""
        terms = child(self._group, "terms")
        return [f"{function}/{term}" for function in terms for term in child(terms, function)]

    def best(self, count: int) -> Ranked:
        """The best `count` molecules, best first (all, where there are fewer)."""
        return self.ranked(0, count)

    def ranked(self, first: int, last: int) -> Ranked:
        """Molecules at places first <= place < last of the ranking, from 0."""
        rows = self._group["ranking"][first:last]
        return self.chosen(rows, np.arange(first + 1, first + 1 + len(rows)))

    def named(self, names: frozenset[str]) -> Ranked:
        """Ranked molecules that have, or a duplicate of which has, one of `names`; best first."""
        same_as = column_rows(self._group["left"], Left, "same_as", self._find("left", names))
        wanted = np.union1d(self._find("scored", names), same_as[same_as >= 0])
        ranks, rows = [np.empty(0, "i8")], [np.empty(0, "i8")]
        for start in range(0, self.size if len(wanted) else 0, BLOCK):
            block = self._group["ranking"][start : start + BLOCK]
            places = np.flatnonzero(np.isin(block, wanted))
            ranks.append(places + start + 1)
            rows.append(block[places])
        return self.chosen(np.concatenate(rows), np.concatenate(ranks))

    def left_named(self, names: frozenset[str]) -> Left:
        """Records that are not ranked and whose name is one of `names`."""
        return self._left(self._find("left", names))

    def other_cases(self, names: frozenset[str]) -> dict[str, str]:
        """Name -> that of a record from which it differs in upper and lower case alone."""
        wanted = {name.casefold() for name in names}
        found: dict[str, str] = {}
        for group in ("scored", "left") if names else ():
            dataset = self._group[group]["name"]
            for start in range(0, len(dataset), BLOCK):
                for name in text_rows(dataset, slice(start, start + BLOCK)):
                    if name.casefold() in wanted:
                        found.setdefault(name.casefold(), name)
        return {name: found[name.casefold()] for name in names if name.casefold() in found}

    def left(self, count: int | None = None) -> Left:
        """The first `count` records that are not ranked, or every one."""
        return self._left(slice(count))

    def _left(self, rows: slice | np.ndarray) -> Left:
        group = self._group["left"]
        names = (spec.name for spec in fields(Left))
        return Left(**{name: column_rows(group, Left, name, rows) for name in names})

    def chosen(self, rows: np.ndarray, rank: np.ndarray) -> Ranked:
        """Molecules by their rows of `scored`, whose ranks are given."""
        group = self._group["scored"]
        names = (spec.name for spec in fields(Scored))
        columns = {name: column_rows(group, Scored, name, rows) for name in names}
        group = self._group["properties"]
        properties = {name: column_rows(group, Properties, name, rows) for name in PROPERTY_NAMES}
        unique, inverse = np.unique(rows, return_inverse=True)
        terms = {
            name: some_rows(self._group["terms"][name], unique)[inverse] for name in self.terms
        }
        return Ranked(
            rank=rank,
            row=rows,
            scored=Scored(**columns),
            terms=terms,
            properties=Properties(**properties),
        )

    def _find(self, group: str, names: frozenset[str]) -> np.ndarray:
        """Rows of a group whose name is one of `names`; all are read, once for each question."""
        if not names:
            return np.empty(0, "i8")
        if (group, names) not in self._found:
            dataset = self._group[group]["name"]
            found = [
                start + row
                for start in range(0, len(dataset), BLOCK)
                for row, name in enumerate(text_rows(dataset, slice(start, start + BLOCK)))
                if name in names
            ]
            self._found[group, names] = np.array(found, dtype="i8")
        return self._found[group, names]

    def poses(self, last: int, first: int = 0) -> Iterator[Pose]:
        """Best poses of the molecules at places first <= place < last of the ranking, best first.

        Raises ValueError at the first whose pose is not stored.
        """
        return self.poses_of(self._group["ranking"][first:last])

    def has_pose(self, rows: np.ndarray) -> np.ndarray:
        """Of which scored rows the best pose is stored: bool (rows,)."""
        return np.isin(rows, self._top[0])

    def poses_of(self, rows: np.ndarray) -> Iterator[Pose]:
        """Best poses of some scored rows, in their order.

        Raises ValueError at the first whose pose is not stored, or is damaged.
        """
        group = self._group["top"]
        stored, first_atom, first_byte = self._top
        places = np.searchsorted(stored, rows)
        unique, inverse = np.unique(places[places < len(stored)], return_inverse=True)
        names = ("smiles", "state", "extra", "conformation", "clusters")
        texts = [some_rows(group[name], unique) for name in names]
        gap = some_rows(group["gap"], unique)
        for number, (row, i) in enumerate(zip(rows, places, strict=True)):
            if i == len(stored) or stored[i] != row:
                raise ValueError(f"the pose of row {row} is not stored")
            smiles, state, extra, conformation, clusters = (
                str(text[inverse[number]]) for text in texts
            )
            xyz = group["xyz"][first_atom[i] : first_atom[i + 1]]
            octets = group["molecule"][first_byte[i] : first_byte[i + 1]]
            yield Pose(
                smiles=smiles,
                state=state,
                extra=extra,
                xyz=xyz,
                molecule=checked(octets, len(xyz)),
                conformation=conformation,
                gap=float(gap[inverse[number]]),
                clusters=clusters,
            )

    def inputs(self, rows: np.ndarray) -> list[dict[str, str]]:
        """Further columns of the input of some scored rows; none where no pose is stored."""
        stored, *_ = self._top
        places = np.flatnonzero(np.isin(stored, rows))
        texts = some_rows(self._group["top"]["extra"], places)
        known = dict(zip(stored[places].tolist(), texts, strict=True))
        return [columns_of(str(known.get(row, ""))) for row in rows.tolist()]

    def input_columns(self, count: int, most: int) -> list[str]:
        """Names of further columns of the input that the best `count` molecules have, `most`."""
        stored, *_ = self._top
        names: dict[str, None] = {}
        for start in range(0, min(count, self.stored), BLOCK):
            rows = self._group["ranking"][start : min(start + BLOCK, count)]
            places = np.searchsorted(stored, rows)
            unique, inverse = np.unique(places[places < len(stored)], return_inverse=True)
            for text in some_rows(self._group["top"]["extra"], unique)[inverse]:
                names |= dict.fromkeys(columns_of(str(text)))
                if len(names) >= most:
                    return list(names)[:most]
        return list(names)

    @cached_property
    def _top(self) -> tuple[np.ndarray, ...]:
        names = ("row", "first_atom", "first_byte")
        return tuple(self._group["top"][name][...] for name in names)

    def others(self, rows: np.ndarray) -> dict[int, list[str]]:
        """Names of the duplicates of some scored rows, each once and other than the row's own."""
        result: dict[int, dict[str, None]] = {}
        group = self._group["left"]
        for start in range(0, len(group["same_as"]), BLOCK):
            same_as = group["same_as"][start : start + BLOCK]
            places = np.flatnonzero(np.isin(same_as, rows))
            names = some_rows(group["name"], places + start)
            for row, name in zip(same_as[places].tolist(), names, strict=True):
                result.setdefault(row, {})[str(name)] = None
        found = np.array(sorted(result), "i8")
        for row, own in zip(found.tolist(), self.column("name", found), strict=True):
            result[row].pop(str(own), None)
        return {row: list(names) for row, names in result.items() if names}

    def noted(self, words: str) -> int:
        """Ranked molecules whose note begins with some words; all notes are read."""
        notes, duplicate = (self._group["scored"][name] for name in ("note", "duplicate"))
        blocks = (slice(start, start + BLOCK) for start in range(0, len(notes), BLOCK))
        return sum(
            note.startswith(words) and not other
            for block in blocks
            for note, other in zip(text_rows(notes, block), duplicate[block], strict=True)
        )

    def scores(self) -> np.ndarray:
        """Scores (f4) of all ranked molecules, in no particular order."""
        group = self._group["scored"]
        return np.asarray(group["score"][...])[group["duplicate"][...] == 0]

    def counts(self) -> Counts:
        """Counts of the ledger."""
        return read_record(self._group["counts"], Counts)

    def watched(self) -> Watched:
        """Checks of the scores of each chunk."""
        return read_record(self._group["watched"], Watched)

    def control(self) -> Control:
        """The redocking control; no rows where the target has none."""
        return read_record(self._group["control"], Control)

    def every(self) -> Every:
        """Numbers of all ranked molecules, in the order of their rows."""
        group = self._group["scored"]
        ranked = group["duplicate"][...] == 0
        columns = {name: np.asarray(group[name][...])[ranked] for name in EVERY}
        totals = {
            name.removesuffix("/total"): np.asarray(self._group["terms"][name][...])[ranked]
            for name in self.terms
            if name.endswith("/total")
        }
        row = np.flatnonzero(ranked)
        rank = np.empty(len(row), "i8")
        rank[np.searchsorted(row, self.order())] = np.arange(1, len(row) + 1)
        return Every(row=row, rank=rank, totals=totals, **columns)

    def structures(self, rows: np.ndarray) -> dict[int, str]:
        """SMILES of the parents of those of some scored rows whose pose is stored."""
        return self.of_poses("smiles", rows)

    def of_poses(self, name: str, rows: np.ndarray) -> dict[int, str]:
        """A text of `Top` of those of some scored rows whose pose is stored."""
        stored, *_ = self._top
        places = np.flatnonzero(np.isin(stored, rows))
        texts = some_rows(self._group["top"][name], places)
        return dict(zip(stored[places].tolist(), map(str, texts), strict=True))

    def site(self) -> Site:
        """The receptor atoms around the site, of all conformations."""
        return read_record(self._group["site"], Site)

    def reference(self) -> Reference:
        """Poses of the reference ligand; no rows where the target has none."""
        return read_record(self._group["reference"], Reference)


class CampaignReader:
    """Reads a campaign."""

    def __init__(self, file: h5py.File) -> None:
        self._file = file
        names = dataset_of(file, "libraries", STRING, 1)
        self.libraries = [str(name) for name in text_rows(names, slice(None))]
        names = dataset_of(file, "files", STRING, 1)
        self.files = [str(name) for name in text_rows(names, slice(None))]
        self.targets = list(child(file, "targets"))
        for name in (*self.targets, *self.libraries):
            if not re.fullmatch(NAME, name):
                raise InputError(f"{file.filename}: {name!r} is no name; make the file again")
        self.attributes = {key: str(value) for key, value in file.attrs.items()}

    def target(self, name: str) -> TargetReader:
        """One target's results; InputError where the campaign has no such target."""
        if name not in self.targets:
            known = ", ".join(self.targets)
            raise InputError(f"{self._file.filename}: contains no target {name}; it has {known}")
        return TargetReader(child(self._file, f"targets/{name}"))

    def require_made_from(self, path: Path, manifest: Manifest) -> None:
        """InputError where the campaign was not made from a manifest, which is that of `path`."""
        if manifest.digest() not in self.attributes["inputs"]:
            raise InputError(
                f"{self._file.filename}: was not made from {path} as it is now; "
                "run 'ligen run CONFIG' again"
            )

    def runs(self) -> Runs:
        """The distinct run records of all parts."""
        return read_record(child(self._file, "runs"), Runs)

    def verdicts(self) -> Verdicts:
        """What the controls of each target showed; no rows where they were not judged."""
        return read_record(child(self._file, "verdicts"), Verdicts)

    def parts(self) -> Provenance:
        """The run that made each file of each part."""
        return read_record(child(self._file, "parts"), Provenance)


@contextmanager
def open_campaign(path: Path) -> Iterator[CampaignReader]:
    """Open a campaign file; InputError if it is missing, damaged, of another kind or newer."""
    with open_file(path, CAMPAIGN) as file:
        if "targets" not in file or not len(file["targets"]):
            raise InputError(f"{path}: contains no target; make it again with the aggregate stage")
        yield CampaignReader(file)
