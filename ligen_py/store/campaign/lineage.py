"""The origin of the parts of a campaign, and whether they can be ranked together."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from ligen_py.chain import BETWEEN, FILES
from ligen_py.errors import InputError
from ligen_py.provenance import Input
from ligen_py.records.poses import POSES
from ligen_py.store.campaign.layout import Provenance, Runs
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.campaign.part import RECORDED, part_runs
from ligen_py.store.files.inputs import recorded_inputs
from ligen_py.store.files.read import run_record


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the files of a part come from, as they say themselves."""

    digests: dict[str, str]
    """SHA-256 by kind; of kept poses where their file is there."""
    runs: dict[str, dict[str, str]]
    """Run records by kind; of docked and of kept poses where their files are there."""

    @classmethod
    def of(cls, files: PartFiles) -> "Origin":
        """Read those of a part; InputError where its files were not made from each other."""
        paths: dict[str, Path] = {kind: getattr(files, kind) for kind in FILES}
        runs = {POSES.name: run_record(files.poses, POSES)} if files.poses.is_file() else {}
        # Most of a campaign's disk, and not looked at here but for clusters of runs.
        unread = runs.get(POSES.name, {}).get("stage") != "lga"
        there = [kind for kind in FILES if kind in RECORDED or paths[kind].is_file()]
        read = [kind for kind in there if not (kind == POSES.name and unread)]
        digests = {kind: Input.of(paths[kind]).sha256 for kind in read}
        return cls(digests, runs | part_runs(files, digests))


class Lineage:
    """Collects run records; each distinct one is kept once."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, ...], int] = {}
        self._made: dict[tuple[str, str], tuple[Path, dict[str, str]]] = {}
        self._sources: dict[tuple[str, str], tuple[Path, Input | None]] = {}

    def add(
        self, members: Sequence[PartFiles], origins: Sequence[Origin], records: int
    ) -> Provenance:
        """The provenance of a chunk with `records` input records: four rows a conformation.

        Raises InputError if its files were made with other settings or code than those of the parts
        before: their scores must not be compared.
        """
        parts = zip(members, origins, strict=True)
        rows = [self._add(files, origin, records) for files, origin in parts]
        names = [spec.name for spec in fields(Provenance)]
        return Provenance(
            **{name: np.concatenate([getattr(row, name) for row in rows]) for name in names}
        )

    def _add(self, files: PartFiles, origin: Origin, records: int) -> Provenance:
        for kind, run in origin.runs.items():
            self._require_same(files, kind, getattr(files, kind), run)
        self._require_same_file(files, origin.runs["ligands"])
        made = (_row(kind, origin.runs[kind]) for kind in RECORDED)
        rows = [self._runs.setdefault(row, len(self._runs)) for row in made]
        for kind in (kind for kind in BETWEEN if kind in origin.runs):
            self._runs.setdefault(_row(kind, origin.runs[kind]), len(self._runs))
        return Provenance(
            target=np.array([files.place] * len(RECORDED), object),
            library=np.array([files.library] * len(RECORDED), object),
            chunk=np.array([files.ligands.stem] * len(RECORDED), object),
            run=np.array(rows, dtype="i8"),
            sha256=np.array([origin.digests[kind] for kind in RECORDED], object),
            records=np.full(len(RECORDED), records, dtype="i8"),
        )

    def runs(self) -> Runs:
        """The distinct run records, in the order of their first occurrence."""
        columns = zip(*self._runs, strict=True) if self._runs else ((),) * 5
        return Runs(*(np.array(list(column), object) for column in columns))

    def _require_same(self, files: PartFiles, kind: str, path: Path, run: dict[str, str]) -> None:
        """Ligands within a library, everything else within the campaign, made in the same way."""
        scope = files.library if kind == "ligands" else ""
        made = {name: run.get(name, "") for name in ("settings", "stage-digest")}
        first_path, first = self._made.setdefault((kind, scope), (path, made))
        for name, what in (("settings", "other settings"), ("stage-digest", "another version")):
            if made[name] != first[name]:
                raise InputError(
                    f"{path}: was made with {what} of the stage than {first_path}, so the two "
                    "cannot stand in one ranking; delete the one that you do not want and make it "
                    "again, with 'ligen run CONFIG' where it is of a campaign"
                )

    def _require_same_file(self, files: PartFiles, run: dict[str, str]) -> None:
        """Parts of one library file from one state of it: each is a share of the file's size."""
        source = next(iter(recorded_inputs(files.ligands, run)), None)
        place = files.library, files.file
        first_path, first = self._sources.setdefault(place, (files.ligands, source))
        if source != first:
            raise InputError(
                f"{files.ligands}: was made from {files.file} as it was before or after a change, "
                f"unlike {first_path}, so records may be missing; run again"
            )


def _row(kind: str, run: dict[str, str]) -> tuple[str, ...]:
    names = ("stage-digest", "created-by", "settings", "device")
    return (kind, *(run.get(name, "") for name in names))
