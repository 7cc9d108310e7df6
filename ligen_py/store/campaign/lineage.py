"""The origin of the parts of a campaign, and whether they can be ranked together."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.provenance import Input, file_digest
from ligen_py.records.poses import POSES
from ligen_py.store.campaign.layout import Provenance, Runs
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.campaign.part import RECORDED, part_runs
from ligen_py.store.files.inputs import recorded_inputs
from ligen_py.store.files.read import run_record
from ligen_py.store.files.seal import is_broken

AHEAD = 4
"""Chunks whose files are hashed while those before them are merged."""


class Lineage:
    """Collects run records; each distinct one is kept once."""

    def __init__(self) -> None:
        self._digests: dict[Path, str] = {}
        self._runs: dict[tuple[str, ...], int] = {}
        self._made: dict[tuple[str, str], tuple[Path, dict[str, str]]] = {}
        self._sources: dict[tuple[str, str], tuple[Path, Input | None]] = {}

    def ahead(self, chunks: Iterable[Sequence[PartFiles]]) -> Iterator[Sequence[PartFiles]]:
        """The chunks, each when its files are hashed; threads hash those of the next ones."""
        waiting: deque[tuple[Sequence[PartFiles], list[Future[None]]]] = deque()
        with ThreadPoolExecutor(AHEAD) as pool:
            for members in chunks:
                paths = {getattr(files, kind) for files in members for kind in RECORDED}
                waiting.append((members, [pool.submit(self._hash, path) for path in paths]))
                if len(waiting) > AHEAD:
                    yield _ready(*waiting.popleft())
            while waiting:
                yield _ready(*waiting.popleft())

    def _hash(self, path: Path) -> None:
        with suppress(OSError):  # whoever reads the file says what is wrong
            is_broken(path)
            self._digest(path)

    def add(self, members: Sequence[PartFiles], records: int) -> Provenance:
        """The provenance of a chunk with `records` input records: four rows a conformation.

        Raises InputError if its files were not made from each other, or were made with other
        settings or code than the parts before: their scores must not be compared.
        """
        rows = [self._add(files, records) for files in members]
        names = [spec.name for spec in fields(Provenance)]
        return Provenance(
            **{name: np.concatenate([getattr(row, name) for row in rows]) for name in names}
        )

    def _add(self, files: PartFiles, records: int) -> Provenance:
        paths = {kind: getattr(files, kind) for kind in RECORDED}
        digests = {kind: self._digest(path) for kind, path in paths.items()}
        runs = part_runs(files, digests)
        for kind in RECORDED:
            self._require_same(files, kind, paths[kind], runs[kind])
        self._require_same_file(files, runs["ligands"])
        rows = [self._runs.setdefault(_row(kind, runs[kind]), len(self._runs)) for kind in RECORDED]
        if files.poses.is_file():  # which search made the poses; the files of a part may be gone
            searched = _row(POSES.name, run_record(files.poses, POSES))
            self._runs.setdefault(searched, len(self._runs))
        return Provenance(
            target=np.array([files.place] * len(RECORDED), object),
            library=np.array([files.library] * len(RECORDED), object),
            chunk=np.array([files.ligands.stem] * len(RECORDED), object),
            run=np.array(rows, dtype="i8"),
            sha256=np.array([digests[kind] for kind in RECORDED], object),
            records=np.full(len(RECORDED), records, dtype="i8"),
        )

    def runs(self) -> Runs:
        """The distinct run records, in the order of their first occurrence."""
        columns = zip(*self._runs, strict=True) if self._runs else ((),) * 5
        return Runs(*(np.array(list(column), object) for column in columns))

    def _digest(self, path: Path) -> str:
        """Ligands and pockets serve many parts and are hashed once."""
        if path not in self._digests:
            self._digests[path] = file_digest(path)
        return self._digests[path]

    def _require_same(self, files: PartFiles, kind: str, path: Path, run: dict[str, str]) -> None:
        """Ligands within a library, everything else within the campaign, made in the same way."""
        scope = files.library if kind == "ligands" else ""
        made = {name: run.get(name, "") for name in ("settings", "stage-digest")}
        first_path, first = self._made.setdefault((kind, scope), (path, made))
        for name, what in (("settings", "other settings"), ("stage-digest", "another version")):
            if made[name] != first[name]:
                raise InputError(
                    f"{path}: was made with {what} of the stage than {first_path}, so the two "
                    f"cannot stand in one ranking; run that stage again for part {files.label}"
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


def _ready(members: Sequence[PartFiles], hashed: list[Future[None]]) -> Sequence[PartFiles]:
    for one in hashed:
        one.result()
    return members


def _row(kind: str, run: dict[str, str]) -> tuple[str, ...]:
    names = ("stage-digest", "created-by", "settings", "device")
    return (kind, *(run.get(name, "") for name in names))
