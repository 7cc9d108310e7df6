"""The kept poses of ranked molecules, best first; the campaign file has only the best of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.scores import SCORES
from ligen_py.store.campaign.known import KnownFiles
from ligen_py.store.campaign.manifest import Manifest, PartFiles
from ligen_py.store.campaign.part import Genotypes, Poses, read_best
from ligen_py.store.files.read import column_of, files_kept_open, open_file, read_columns
from ligen_py.store.files.terms import read_terms

CHUNKS = 8
"""Chunks whose records are remembered; the molecules of a ranking come from any of them."""


@dataclass(frozen=True, slots=True)
class KeptPose:
    """One kept pose of a molecule's best state."""

    genotype: Genotypes
    restart: int
    energy: float
    """What chooses the pose, lower is better; kcal/mol where the functions' energies are."""
    terms: dict[str, float]
    """'function/term' -> value."""
    source: Path
    """The ligands file."""


class KeptPoses:
    """Finds the kept poses of molecules of one target by where their records stand."""

    def __init__(self, manifest: Manifest, target: str, known: KnownFiles) -> None:
        self._known = known
        self._chunks: dict[tuple[str, str], list[list[PartFiles]]] = {}
        for library in manifest.libraries:
            for members in manifest.chunks(target, library):
                self._chunks.setdefault((library, members[0].file), []).append(members)
        self._span = cache(_span)
        self._lines = lru_cache(CHUNKS)(_lines)
        self._part = lru_cache(CHUNKS)(read_best)

    def of(self, library: str, file: str, line: int, count: int) -> list[KeptPose]:
        """The `count` best poses of the record at a line of a library's file, best first.

        Raises InputError where no part has this record, or its files are others by now.
        """
        chunks = [tuple(members) for members in self._chunks.get((library, file), ())]
        spans = [self._span(members[0].ligands) for members in chunks]
        found = [
            members
            for members, (first, last) in zip(chunks, spans, strict=True)
            if first <= line <= last
        ]
        for members in found:
            # Parts of a compressed library hold every n-th record, so that all of them span it.
            if len(found) > 1 and line not in self._lines(members[0].ligands):
                continue
            for one in members:
                self._known.require(one)
            entries = np.flatnonzero(self._part(members).line == line)
            if len(entries):
                return list(self._best(members, int(entries[0]), count))
        raise InputError(f"library {library}: no part contains the record at line {line} of {file}")

    def _best(self, members: tuple[PartFiles, ...], entry: int, count: int) -> Iterator[KeptPose]:
        part = self._part(members)
        ligand = next(row for row in part.scored() if part.entry[row] == entry)
        files = members[part.member[ligand]]
        with files_kept_open(), Poses(files) as poses:
            rows = poses.kept(int(ligand))
            kept = slice(rows.start, rows.stop)
            terms = read_terms(files.scores, kept)
            energy, restart = _numbers(files.scores, kept)
            order = np.argsort(energy, kind="stable").tolist()
            best = int(part.best[ligand]) - rows.start
            order.sort(key=lambda number: number != best)
            for number in order[:count]:
                row = rows[number]
                yield KeptPose(
                    genotype=poses.genotypes(int(ligand), range(row, row + 1)),
                    restart=int(restart[number]),
                    energy=float(energy[number]),
                    terms={
                        f"{function}/{term}": float(values[number])
                        for function, columns in terms.items()
                        for term, values in columns.items()
                    },
                    source=files.ligands,
                )


def _lines(ligands: Path) -> np.ndarray:
    return read_columns(ligands, LIGANDS, ("entries/line",))["entries/line"]


def _span(ligands: Path) -> tuple[int, int]:
    """First and last line of a chunk's records."""
    line = _lines(ligands)
    return (int(line.min()), int(line.max())) if len(line) else (1, 0)


def _numbers(scores: Path, kept: slice) -> tuple[np.ndarray, np.ndarray]:
    """Energies and restarts of some poses of a scores file."""
    with open_file(scores, SCORES) as file:
        energy, restart = (
            column_of(file, SCORES, f"scores/{name}")[kept] for name in ("energy", "restart")
        )
    return energy, restart
