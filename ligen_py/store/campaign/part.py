"""One part of a campaign, the results of one chunk against one target, checked while it is read.

Only the columns that a campaign keeps are read, so a part costs memory by its ligands, not by its
poses' atoms.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import h5py
import numpy as np

from ligen_py.chain import STAGES, writer
from ligen_py.errors import InputError
from ligen_py.records.column import Kind
from ligen_py.records.kinds import KINDS
from ligen_py.records.ledger import Reason, Status
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.molecule import checked
from ligen_py.records.properties import PROPERTY_NAMES, Properties
from ligen_py.records.refined import REFINED
from ligen_py.records.scores import SCORES, Checks
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.files.inputs import input_digests
from ligen_py.store.files.read import (
    column_of,
    content_of,
    files_kept_open,
    groups_in,
    open_file,
    read,
    read_column,
    read_columns,
    run_record,
    searched,
)
from ligen_py.store.files.table import some_rows, text_at
from ligen_py.store.files.terms import read_terms

CHECKS = tuple(spec.name for spec in fields(Checks))


@dataclass(frozen=True, slots=True)
class Part:
    """What a campaign needs of one part: per input record, and per ligand (`entry` joins them).

    The ligands of a record are its states.
    """

    name: np.ndarray
    """Text, one an input record."""
    line: np.ndarray
    key: np.ndarray
    smiles: np.ndarray
    note: np.ndarray
    properties: Properties
    """One row an input record; not a number in files from before they were stored."""
    status: np.ndarray
    """u1 `Status` after the last stage, one an input record; never READY."""
    reason: np.ndarray
    detail: np.ndarray
    entry: np.ndarray
    """Input record of each ligand (i8), ascending."""
    heavy: np.ndarray
    """Heavy atoms of each ligand (i4)."""
    score: np.ndarray
    """f4, one a ligand; finite where it has a best pose."""
    best: np.ndarray
    """Row of the best pose in the refined and the scores file (i8), -1 where none."""
    poses: np.ndarray
    """Poses kept per ligand (i4)."""
    restart: np.ndarray
    """Restart that made the best pose (i4), -1 where none."""
    terms: dict[str, np.ndarray]
    """'function/term' -> f4 of the best pose, one a ligand; 0 where none."""
    member: np.ndarray
    """Number of the conformation that the best pose lies in (i4), one a ligand."""
    checks: Checks
    """How believable its scores are."""

    def scored(self) -> np.ndarray:
        """The best state (row of the per-ligand columns) of every SCORED record, in input order.

        Of equal scores the first state's counts.
        """
        rows = np.flatnonzero(self.best >= 0)
        rows = rows[np.lexsort((-self.score[rows], self.entry[rows]))]
        return rows[np.unique(self.entry[rows], return_index=True)[1]]

    def left(self) -> np.ndarray:
        """Every record (row of the per-record columns) that is not scored."""
        return np.flatnonzero(self.status != Status.SCORED)

    def states(self) -> np.ndarray:
        """Docked states of every input record (i4): those with poses."""
        tried = self.entry[self.poses > 0]
        return np.bincount(tried, minlength=len(self.status)).astype("i4")


def read_part(files: PartFiles) -> Part:
    """Read and check one part.

    Raises InputError that names the file where one is damaged, the files do not belong together,
    or the ledger's law is broken: input records = scored + rejected + failed + duplicates.
    """
    with files_kept_open():
        return _read_part(files)


def _read_part(files: PartFiles) -> Part:
    ligands = read_columns(
        files.ligands,
        LIGANDS,
        (
            *(f"entries/{name}" for name in ("name", "line", "key", "smiles", "note")),
            *("ledger/status", "ligands/entry", "ligands/heavy"),
        ),
    )
    refined = read_columns(
        files.refined, REFINED, ("ledger/status", "poses/first_pose", "poses/restart")
    )
    scores = read_columns(
        files.scores,
        SCORES,
        (
            *(f"ledger/{name}" for name in ("status", "reason", "detail")),
            *(f"scores/{name}" for name in ("first_pose", "restart", "best", "score")),
            *(f"checks/{name}" for name in CHECKS),
        ),
    )
    _check_sizes(files, ligands, refined, scores)
    _check_law(files, ligands, refined, scores)
    best = scores["scores/best"]
    found = best >= 0
    pose = best[found]
    return Part(
        name=ligands["entries/name"],
        line=ligands["entries/line"],
        key=ligands["entries/key"],
        smiles=ligands["entries/smiles"],
        note=ligands["entries/note"],
        properties=_properties(files.ligands, len(ligands["entries/name"])),
        status=scores["ledger/status"],
        reason=scores["ledger/reason"],
        detail=scores["ledger/detail"],
        entry=ligands["ligands/entry"],
        heavy=ligands["ligands/heavy"],
        score=scores["scores/score"],
        best=best,
        poses=np.diff(scores["scores/first_pose"]).astype("i4"),
        restart=_scatter(found, scores["scores/restart"][pose], -1),
        terms={
            name: _scatter(found, values[pose], 0)
            for name, values in _terms(files, len(scores["scores/restart"])).items()
        },
        member=np.zeros(len(best), "i4"),
        checks=Checks(*(scores[f"checks/{name}"] for name in CHECKS)),
    )


def _properties(path: Path, records: int) -> Properties:
    if "properties" in groups_in(path, LIGANDS):
        found: Properties = read(path, LIGANDS, Properties)
        if len(found.weight) != records:
            raise InputError(f"{path}: has properties of other records; parse the library again")
        return found
    return Properties(*np.full((len(PROPERTY_NAMES), records), np.nan, "f4"))


def lines_of(ligands: Path) -> np.ndarray:
    """Where each record of a ligands file stands in its library's file, to look for some of them.

    In many files, so their checksums are left out: whoever takes a record reads it anew.
    """
    with searched():
        return read_columns(ligands, LIGANDS, ("entries/line",))["entries/line"]


def read_best(members: Sequence[PartFiles]) -> Part:
    """Read and check the same ligands against all conformations of a target, as one part.

    Every ligand is what it is in the conformation where its score is best, the first of equal ones;
    a record is scored if it is in one of them. Raises InputError as `read_part` does, and where the
    score terms differ.
    """
    parts = [read_part(files) for files in members]
    first = parts[0]
    if len(parts) == 1:
        return first
    if any(list(part.terms) != list(first.terms) for part in parts):
        raise InputError(
            f"{members[0].label}: the conformations of its target have different score terms; run "
            "the score stage of all parts again"
        )
    scores = np.stack([np.where(part.best >= 0, part.score, -np.inf) for part in parts])
    member = scores.argmax(axis=0).astype("i4")
    scored = np.stack([part.status == Status.SCORED for part in parts]).argmax(axis=0)
    return replace(
        first,
        **{name: _chosen(parts, name, scored) for name in ("status", "reason", "detail")},  # type: ignore[arg-type]
        **{name: _chosen(parts, name, member) for name in ("score", "best", "poses", "restart")},  # type: ignore[arg-type]
        terms={
            name: np.stack([part.terms[name] for part in parts])[member, np.arange(len(member))]
            for name in first.terms
        },
        member=member,
        checks=Checks(
            *(np.concatenate([getattr(part.checks, name) for part in parts]) for name in CHECKS)
        ),
    )


def _chosen(parts: Sequence[Part], name: str, member: np.ndarray) -> np.ndarray:
    """A column with each value from the part of that number."""
    values = np.stack([getattr(part, name) for part in parts])
    return np.asarray(values[member, np.arange(len(member))])


def _scatter(where: np.ndarray, values: np.ndarray, rest: int) -> np.ndarray:
    result = np.full(len(where), rest, dtype=values.dtype)
    result[where] = values
    return result


def _terms(files: PartFiles, poses: int) -> dict[str, np.ndarray]:
    result = {
        f"{function}/{term}": values
        for function, columns in read_terms(files.scores).items()
        for term, values in columns.items()
    }
    for name, values in result.items():
        if values.dtype != np.dtype("f4") or values.shape != (poses,):
            raise InputError(
                f"{files.scores}: term {name} has type {values.dtype} and shape {values.shape}, "
                f"not one float32 for each of {poses} poses; run the score stage again"
            )
    return result


Columns = Mapping[str, np.ndarray]


def _check_sizes(files: PartFiles, ligands: Columns, refined: Columns, scores: Columns) -> None:
    """Files of other inputs betray themselves by their sizes, poses or ledgers."""
    records, count = len(ligands["entries/name"]), len(ligands["ligands/entry"])
    for path, columns, group in (
        (files.refined, refined, "poses"),
        (files.scores, scores, "scores"),
    ):
        what, stage = ("refined", "refine") if group == "poses" else ("scores", "score")
        found = len(columns["ledger/status"]), len(columns[f"{group}/first_pose"]) - 1
        if found != (records, count):
            raise InputError(
                f"{path}: contains {found[0]} input records and {found[1]} ligands, but "
                f"{files.ligands} contains {records} and {count}; this {what} file was made from "
                f"another ligands file, so run the {stage} stage again"
            )
    poses_agree = np.array_equal(refined["poses/first_pose"], scores["scores/first_pose"])
    if not poses_agree or not np.array_equal(refined["poses/restart"], scores["scores/restart"]):
        raise InputError(
            f"{files.scores}: its poses are not those of {files.refined}; run the score stage again"
        )
    ready = np.flatnonzero(ligands["ledger/status"] == Status.READY)
    entry = ligands["ligands/entry"]
    if not np.array_equal(ready, np.unique(entry)) or (np.diff(entry) < 0).any():
        raise InputError(
            f"{files.ligands}: {len(ready)} records are ready, but its {count} ligands are not "
            "those; run the parse stage again"
        )


def _check_law(files: PartFiles, ligands: Columns, refined: Columns, scores: Columns) -> None:
    """Nothing is lost: each record ends scored, rejected, failed or duplicate, with a reason."""
    status, reason = scores["ledger/status"], scores["ledger/reason"]
    scored = status == Status.SCORED
    left_early = ligands["ledger/status"] != Status.READY
    changed = left_early & (status != ligands["ledger/status"])
    changed |= (refined["ledger/status"] != Status.READY) & (status != refined["ledger/status"])
    faults = {
        "are still READY": status == Status.READY,
        "are excluded without a reason, or are scored with one": (
            (scored != (reason == Reason.NONE)) & (status != Status.READY)
        ),
        "changed their status after they were excluded": changed,
        "are scored without a pose and a finite score, or have one and are not scored": (
            scored != _has_score(files, ligands, scores)
        ),
    }
    for fault, rows in faults.items():
        if rows.any():
            raise InputError(
                f"{files.scores}: the ledger of part {files.label} does not add up: "
                f"{np.count_nonzero(rows)} of {len(status)} input records {fault} "
                f"({_counts(status)}); run the stages of this part again"
            )


def _has_score(files: PartFiles, ligands: Columns, scores: Columns) -> np.ndarray:
    first, best = scores["scores/first_pose"], scores["scores/best"]
    if ((best >= 0) & ((best < first[:-1]) | (best >= first[1:]))).any():
        raise InputError(
            f"{files.scores}: a best pose is not one of its ligand's; run the score stage again"
        )
    if not np.isfinite(scores["scores/score"][best >= 0]).all():
        raise InputError(
            f"{files.scores}: a best pose has no finite score; run the score stage again"
        )
    result = np.zeros(len(scores["ledger/status"]), dtype=bool)
    result[ligands["ligands/entry"][best >= 0]] = True
    return result


def _counts(status: np.ndarray) -> str:
    found = ((item.name.lower(), np.count_nonzero(status == item)) for item in Status)
    return ", ".join(f"{count} {name}" for name, count in found if count)


class Genotypes(NamedTuple):
    """The arguments of `engine.geometry.rebuild` for some poses of one ligand, in its order."""

    xyz: np.ndarray
    axis: np.ndarray
    ranges: np.ndarray
    torsion: np.ndarray
    quaternion: np.ndarray
    translation: np.ndarray


RECORDED = tuple(STAGES["aggregate"].inputs)
"""Kinds of the files of a part whose run records the campaign keeps."""


class Poses:
    """Reads single ligands and their poses of one part; a context manager.

    `kind` names the file that the poses come from: those that were scored, or another one. Where
    the block cannot use what was read, InputError names the ligands file.
    """

    def __init__(self, files: PartFiles, kind: Kind = REFINED) -> None:
        self._files = files
        self._kind = kind
        self._stack = ExitStack()
        self._columns: dict[str, h5py.Dataset] = {}

    def __enter__(self) -> Self:
        """Open the ligands and the refined file and read their offsets."""
        with ExitStack() as stack:
            self._path = getattr(self._files, self._kind.name)
            self._posed = stack.enter_context(open_file(self._path, self._kind))
            self._first_pose = read_column(self._posed, self._kind, "poses/first_pose")
            self._first_angle = read_column(self._posed, self._kind, "poses/first_torsion")
            # The last one, so that what the block raises is of this file.
            self._ligands = stack.enter_context(open_file(self._files.ligands, LIGANDS))
            self._first = {
                name: read_column(self._ligands, LIGANDS, f"ligands/first_{name}")
                for name in ("atom", "torsion", "byte")
            }
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        """Close both files."""
        return self._stack.__exit__(kind, error, trace)

    def molecule(self, ligand: int) -> np.ndarray:
        """The molecule of a ligand as stored, u1; ValueError where it is damaged."""
        first, last = self._first["atom"][ligand : ligand + 2]
        return checked(self._of(ligand, "byte", "molecule"), int(last - first))

    def texts(self, ligands: Sequence[int]) -> Iterator[tuple[str, str, str]]:
        """Of some ligands: SMILES of the parent and of the state, and the record's further columns.

        The SMILES are canonical; the columns are a JSON object or nothing.
        """
        entry = self._ligand_column("ligands/entry")[...][list(ligands)]
        columns = {"entries/smiles": entry, "ligands/smiles": ligands, "entries/extra": entry}
        found = []
        for name, rows in columns.items():
            some, inverse = np.unique(rows, return_inverse=True)
            found.append(some_rows(self._ligand_column(name), some)[inverse].tolist())
        return zip(*found, strict=True)

    def entry(self, ligand: int) -> int:
        """The input record of a ligand."""
        return int(self._ligand_column("ligands/entry")[ligand])

    def name(self, ligand: int) -> str:
        """The name of a ligand's input record."""
        return text_at(self._ligand_column("entries/name"), self.entry(ligand))

    def heavy(self, ligand: int) -> int:
        """How many of a ligand's atoms are heavy; they are the first."""
        return int(self._ligand_column("ligands/heavy")[ligand])

    def kept(self, ligand: int) -> range:
        """Rows of a ligand's poses."""
        return range(int(self._first_pose[ligand]), int(self._first_pose[ligand + 1]))

    def genotypes(self, ligand: int, poses: range) -> Genotypes:
        """Start conformer of a ligand and the genotypes of some of its poses."""
        axis = self._of(ligand, "torsion", "torsion_axis")
        with content_of(self._path, self._kind):
            first, last = self._first_angle[poses.start], self._first_angle[poses.stop]
            torsion, quaternion, translation = (
                self._column(self._posed, self._kind, f"poses/{name}")
                for name in ("torsion", "quaternion", "translation")
            )
            angles = torsion[first:last].reshape(len(poses), len(axis))
            turned = quaternion[poses.start : poses.stop]
            moved = translation[poses.start : poses.stop]
        return Genotypes(
            xyz=self._of(ligand, "atom", "xyz"),
            axis=axis,
            ranges=self._of(ligand, "torsion", "torsion_range"),
            torsion=angles,
            quaternion=turned,
            translation=moved,
        )

    def _of(self, ligand: int, dimension: str, column: str) -> np.ndarray:
        first, last = self._first[dimension][ligand : ligand + 2]
        return np.asarray(self._ligand_column(f"ligands/{column}")[first:last])

    def _ligand_column(self, column: str) -> h5py.Dataset:
        return self._column(self._ligands, LIGANDS, column)

    def _column(self, file: h5py.File, kind: Kind, column: str) -> h5py.Dataset:
        """A column, checked when it is first used; no two of the files have one of equal name."""
        if column not in self._columns:
            self._columns[column] = column_of(file, kind, column)
        return self._columns[column]


def part_runs(files: PartFiles, digests: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Run records of a part's files by kind, after checking that each names the others as inputs.

    `digests` holds the SHA-256 of the files by kind. A record without inputs, as of files that
    were not made by a stage, is not checked.
    """
    paths: dict[str, Path] = {kind: getattr(files, kind) for kind in digests}
    runs = {kind: run_record(path, KINDS[kind]) for kind, path in paths.items()}
    for made, run in runs.items():
        stage, known = writer(made), input_digests(paths[made], run)
        for source in stage.inputs.values():
            if known and source in digests and digests[source] not in known:
                raise InputError(
                    f"{paths[made]}: was not made from {paths[source]} as it is now; run the "
                    f"{run.get('stage', stage.name)} stage of part {files.label} again"
                )
    return runs
