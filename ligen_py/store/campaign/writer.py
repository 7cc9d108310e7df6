"""Write a campaign file target by target and part by part, with the memory of one part."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import h5py
import numpy as np

from ligen_py.errors import InputError
from ligen_py.provenance import Run
from ligen_py.records.ledger import REASON_STAGE, Reason, Status
from ligen_py.records.properties import Properties
from ligen_py.records.rows import no_rows, subset
from ligen_py.records.scores import Check, Checks
from ligen_py.records.site import Site
from ligen_py.store.campaign.layout import (
    CAMPAIGN,
    Control,
    Counts,
    Left,
    Pose,
    Provenance,
    Reference,
    Runs,
    Scored,
    Top,
    Verdicts,
    Watched,
)
from ligen_py.store.campaign.part import Part
from ligen_py.store.files.table import (
    Buffer,
    BufferedTable,
    Table,
    assign,
    column_rows,
    extend,
    growing_column,
)
from ligen_py.store.files.write import CHUNK_BYTES, TEXT, new_file, write_column, write_record

log = logging.getLogger("ligen_py")

NO_VERDICTS = no_rows(Verdicts)

NAME_LENGTH = 80
"""Characters of another record's name that the detail of a duplicate repeats."""


class TargetWriter:
    """Writes the results of one target, part by part."""

    def __init__(self, group: h5py.Group) -> None:
        self._group = group
        self._terms: tuple[str, ...] | None = None
        self._counts: Counter[tuple[int, int, int, str]] = Counter()
        self._scored = BufferedTable(group.create_group("scored"), Scored)
        self._properties = BufferedTable(group.create_group("properties"), Properties)
        self._left = BufferedTable(group.create_group("left"), Left)
        self._watched = BufferedTable(group.create_group("watched"), Watched)
        self._top = Table(group.create_group("top"), Top)
        self._values = Buffer(self._write_terms)
        group.create_group("terms")

    @property
    def rows(self) -> int:
        """Scored records so far."""
        return self._scored.rows

    @property
    def rows_left(self) -> int:
        """Records so far that were not scored."""
        return self._left.rows

    def flush(self) -> None:
        """Write all that was appended, so that it can be read and changed."""
        for table in (self._scored, self._properties, self._left, self._watched, self._values):
            table.flush()
        if not self.rows:
            self._write_terms({name: np.empty(0, "f4") for name in self._terms or ()})

    def append(self, part: Part, ligands: np.ndarray, library: int, file: int, label: str) -> None:
        """Append a part of a library's file: what is scored, and what became of the rest.

        `ligands` are those of `part.scored()`. Raises InputError, with the part's `label`, where
        its score terms are others than before.
        """
        records = part.entry[ligands]
        self.add_checks(part.checks, library, label)
        self._append_terms({name: values[ligands] for name, values in part.terms.items()}, label)
        self._scored.append(
            Scored(
                library=np.full(len(ligands), library, dtype="u2"),
                file=np.full(len(ligands), file, dtype="u4"),
                line=part.line[records],
                name=part.name[records],
                key=part.key[records],
                smiles=part.smiles[records],
                note=part.note[records],
                score=part.score[ligands],
                states=part.states()[records],
                poses=part.poses[ligands],
                restart=part.restart[ligands],
                heavy=part.heavy[ligands],
                duplicate=np.zeros(len(ligands), dtype="u1"),
            )
        )
        self._properties.append(subset(part.properties, {"row": records}))
        out = part.left()
        self._left.append(
            Left(
                library=np.full(len(out), library, dtype="u2"),
                file=np.full(len(out), file, dtype="u4"),
                line=part.line[out],
                name=part.name[out],
                status=part.status[out],
                reason=part.reason[out],
                detail=part.detail[out],
                same_as=np.full(len(out), -1, dtype="i8"),
            )
        )
        found = np.stack([part.status, part.reason], axis=1)
        kinds, counts = np.unique(found, axis=0, return_counts=True)
        for (status, reason), records in zip(kinds.tolist(), counts.tolist(), strict=True):
            stage = REASON_STAGE.get(Reason(reason), "")
            self._counts[library, status, reason, stage] += records

    def add_checks(self, checks: Checks, library: int, label: str) -> None:
        """Append what the watch found in a part; alarms are logged."""
        count = len(checks.check)
        for row in np.flatnonzero(checks.alarm):
            name = Check(checks.check[row]).name.lower()
            log.warning("watch: %s: %s: %s", label, name, checks.detail[row])
        self._watched.append(
            Watched(
                library=np.full(count, library, dtype="u2"),
                chunk=np.full(count, label.rpartition("/")[2], dtype=object),
                **{spec.name: getattr(checks, spec.name) for spec in fields(checks)},
            )
        )

    def _append_terms(self, terms: dict[str, np.ndarray], label: str) -> None:
        if self._terms is None:
            self._terms = tuple(terms)
        if self._terms != tuple(terms):
            raise InputError(
                f"part {label} contains the score terms {', '.join(terms)}, the parts before it "
                f"{', '.join(self._terms)}; run the score stage of all parts again"
            )
        self._values.add(terms)

    def _write_terms(self, terms: Mapping[str, np.ndarray]) -> None:
        group = self._group["terms"]
        for name, values in terms.items():
            if name not in group:
                growing_column(group, name, "f4", len(values), doc="term of the best pose")
            extend(group[name], values)

    def append_poses(self, rows: np.ndarray, poses: list[Pose]) -> None:
        """Append the best poses of some scored records (ascending, behind those before)."""
        self._top.append(
            Top(
                row=rows,
                smiles=np.array([pose.smiles for pose in poses], dtype=object),
                state=np.array([pose.state for pose in poses], dtype=object),
                conformation=np.array([pose.conformation for pose in poses], dtype=object),
                extra=np.array([pose.extra for pose in poses], dtype=object),
                gap=np.array([pose.gap for pose in poses], dtype="f4"),
                clusters=np.array([pose.clusters for pose in poses], dtype=object),
                first_atom=np.cumsum([0, *(len(pose.xyz) for pose in poses)], dtype="i8"),
                first_byte=np.cumsum([0, *(len(pose.molecule) for pose in poses)], dtype="i8"),
                xyz=np.concatenate([pose.xyz for pose in poses]),
                molecule=np.concatenate([pose.molecule for pose in poses]),
            )
        )

    def column(self, name: str, rows: slice | np.ndarray = slice(None)) -> np.ndarray:
        """A column of the scored records: a slice, or rows in any order, repeats allowed."""
        return column_rows(self._group["scored"], Scored, name, rows)

    def totals(self) -> list[h5py.Dataset]:
        """The score by each function (f4) of the best pose of every scored record."""
        names = [name for name in self._terms or () if name.endswith("/total")]
        return [self._group["terms"][name] for name in names]

    def replace_scores(self, scores: Iterable[np.ndarray]) -> None:
        """Let other values rank, pieces of one for each scored record: the terms stay."""
        start = 0
        for piece in scores:
            self._group["scored/score"][start : start + len(piece)] = piece
            start += len(piece)

    def take_out_duplicates(
        self,
        pairs: Iterable[tuple[np.ndarray, np.ndarray]],
        libraries: Sequence[str],
        files: Sequence[str],
    ) -> None:
        """Move scored records from the ranking to the ledger.

        Pieces of `pairs` hold their rows, ascending, and the row of the earlier record of the same
        molecule; `libraries` and `files` the names.
        """
        for rows, of in pairs:
            assign(self._group["scored/duplicate"], rows, np.ones(len(rows), "u1"))
            library, file = self.column("library", rows), self.column("file", rows)
            others = (self.column(name, of) for name in ("name", "line", "library", "file"))
            details = [
                f"the same molecule as {_short(name)} in line {line}"
                + (f" of {files[there]}" if there != here else "")
                + (f" of library {libraries[theirs]}" if theirs != ours else "")
                for name, line, theirs, there, ours, here in zip(
                    *others, library, file, strict=True
                )
            ]
            self._left.append(
                Left(
                    library=library,
                    file=file,
                    line=self.column("line", rows),
                    name=self.column("name", rows),
                    status=np.full(len(rows), Status.DUPLICATE, dtype="u1"),
                    reason=np.full(len(rows), Reason.DUPLICATE_OF, dtype="u1"),
                    detail=np.array(details, dtype=object),
                    same_as=of,
                )
            )
            for number, records in Counter(library.tolist()).items():
                self._counts[number, Status.SCORED, Reason.NONE, ""] -= records
                key = number, Status.DUPLICATE, Reason.DUPLICATE_OF, "aggregate"
                self._counts[key] += records

    def join_names(self, pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> None:
        """Say which scored record stands for a duplicate: pieces of rows of `left`, ascending."""
        for rows, same_as in pairs:
            assign(self._group["left/same_as"], rows, same_as)

    def write_ranking(self, pieces: Iterable[np.ndarray], count: int) -> None:
        """Write the ranking, `count` rows of `scored` in pieces, best first."""
        height = int(np.clip(CHUNK_BYTES // 8, 1, max(count, 1)))
        chunks = {"chunks": (height,), "fletcher32": True} if count else {}
        dataset = self._group.create_dataset("ranking", (count,), "i8", **chunks)
        dataset.attrs["doc"] = "rows of `scored`, best first; ties by library, then by line"
        start = 0
        for piece in pieces:
            dataset[start : start + len(piece)] = piece
            start += len(piece)

    def finish(self, control: Control, site: Site, reference: Reference) -> None:
        """Write what is known only at the end."""
        self.flush()
        for table in (self._scored, self._properties, self._left, self._watched, self._top):
            table.finish()
        write_record(self._group.create_group("counts"), _counts(self._counts))
        write_record(self._group.create_group("control"), control)
        write_record(self._group.create_group("site"), site)
        write_record(self._group.create_group("reference"), reference)


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 3]}..."


def _counts(found: Counter[tuple[int, int, int, str]]) -> Counts:
    rows = sorted(key for key, records in found.items() if records)
    return Counts(
        library=np.array([row[0] for row in rows], dtype="u2"),
        status=np.array([row[1] for row in rows], dtype="u1"),
        stage=np.array([row[3] for row in rows], dtype=object),
        reason=np.array([row[2] for row in rows], dtype="u1"),
        records=np.array([found[row] for row in rows], dtype="i8"),
    )


def control_of(
    part: Part | None,
    poses: int = 0,
    rmsd: tuple[float, float] | None = None,
    problem: str = "",
) -> Control:
    """The redocking control of the first record of a part; no rows where there is no part.

    `rmsd` holds the RMSD to the crystal (Angstrom) of the best-scored pose and the least of all
    `poses` of its states.
    """
    ends = [] if part is None else [(part.name[0], part.status[0], part.reason[0], part.detail[0])]
    name, status, reason, detail = zip(*ends, strict=True) if ends else ((),) * 4
    scored: list[int] = []
    if part is not None and part.status[0] == Status.SCORED:
        scored = part.scored()[:1].tolist()
    best, least = zip(rmsd, strict=True) if rmsd else ((), ())
    return Control(
        name=np.array(name, dtype=object),
        status=np.array(status, dtype="u1"),
        reason=np.array(reason, dtype="u1"),
        detail=np.array([problem or text for text in detail], dtype=object),
        score=np.array([part.score[i] for i in scored], dtype="f4"),  # type: ignore[union-attr]
        poses=np.array([poses for _ in scored], dtype="i4"),
        rmsd=np.array(best, dtype="f4"),
        rmsd_kept=np.array(least, dtype="f4"),
    )


def reference_of(poses: Mapping[str, tuple[Pose, str, str]]) -> Reference:
    """Poses of a reference ligand by origin, each with its name and its terms as JSON."""
    every = [pose for pose, _, _ in poses.values()]
    return Reference(
        origin=np.array(list(poses), object),
        name=np.array([name for _, name, _ in poses.values()], object),
        state=np.array([pose.state for pose in every], object),
        terms=np.array([terms for _, _, terms in poses.values()], object),
        conformation=np.array([pose.conformation for pose in every], object),
        gap=np.array([pose.gap for pose in every], dtype="f4"),
        first_atom=np.cumsum([0, *(len(pose.xyz) for pose in every)], dtype="i8"),
        first_byte=np.cumsum([0, *(len(pose.molecule) for pose in every)], dtype="i8"),
        xyz=np.concatenate([np.empty((0, 3), "f4"), *(pose.xyz for pose in every)]),
        molecule=np.concatenate([np.empty(0, "u1"), *(pose.molecule for pose in every)]),
    )


class CampaignWriter:
    """Writes a campaign target by target."""

    def __init__(self, file: h5py.File) -> None:
        self._file = file
        self._file.create_group("targets")
        self._parts = BufferedTable(file.create_group("parts"), Provenance)

    def target(self, name: str) -> TargetWriter:
        """Begin a target."""
        return TargetWriter(self._file.create_group(f"targets/{name}"))

    def append_parts(self, parts: Provenance) -> None:
        """Append the provenance of some parts."""
        self._parts.append(parts)

    def finish(
        self,
        libraries: list[str],
        files: list[str],
        runs: Runs,
        verdicts: Verdicts = NO_VERDICTS,
    ) -> None:
        """Write the names of the libraries and their files, the run records and the verdicts."""
        self._parts.finish()
        for name, texts in (("libraries", libraries), ("files", files)):
            dataset = write_column(self._file, name, np.array(texts, dtype=object), TEXT)
            dataset.attrs["doc"] = f"names of the {name}"
        write_record(self._file.create_group("runs"), runs)
        write_record(self._file.create_group("verdicts"), verdicts)


@contextmanager
def new_campaign(path: Path, run: Run, effort: str = "") -> Iterator[CampaignWriter]:
    """Open a new campaign file; it appears under `path` only if the block ends well.

    `effort` is the preset of the config, empty where nobody knows it.
    """
    with new_file(path, CAMPAIGN, run) as file:
        file.attrs["effort"] = effort
        yield CampaignWriter(file)
