"""The kept poses of ranked molecules, best first; the campaign file has only the best of each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.records.scores import SCORES
from ligen_py.store.campaign.best import Origin
from ligen_py.store.campaign.known import KnownFiles
from ligen_py.store.campaign.manifest import Manifest, PartFiles
from ligen_py.store.campaign.part import Genotypes, Poses, lines_of, read_best
from ligen_py.store.files.read import column_of, files_kept_open, open_file
from ligen_py.store.files.terms import read_terms

PIECE = 100_000
"""Poses held at a time, some 3 kB each; for each such piece, the chunks are read anew."""

Chunk = tuple[PartFiles, ...]
"""The same ligands against all conformations of a target."""


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

    def __init__(
        self, manifest: Manifest, target: str, known: KnownFiles, wanted: Sequence[Origin]
    ) -> None:
        """`wanted`: the records of the molecules, in any order."""
        self._manifest = manifest
        self._target = target
        self._known = known
        self._wanted = wanted

    def best(self, count: int) -> Iterator[list[KeptPose]]:
        """The `count` best poses of each wanted record, best first; records as they were given.

        Records of one chunk are read together, since those of a ranking come from any chunk in
        turn, and opening a file reads it whole. Raises InputError where no part has one of the
        records, or its files are others by now.
        """
        size = max(1, PIECE // count)
        for start in range(0, len(self._wanted), size):
            piece = self._places[start : start + size]
            rows: dict[Chunk, list[int]] = {}
            for chunk, row in piece:
                rows.setdefault(chunk, []).append(row)
            found = {chunk: self._of_chunk(chunk, some, count) for chunk, some in rows.items()}
            for chunk, row in piece:
                yield found[chunk][row]

    @cached_property
    def _places(self) -> list[tuple[Chunk, int]]:
        """The chunk of each wanted record, and its row there: the first that has it."""
        lines: dict[tuple[str, str], list[int]] = {}
        for library, file, line in self._wanted:
            lines.setdefault((library, file), []).append(line)
        found: dict[Origin, tuple[Chunk, int]] = {}
        for library in dict.fromkeys(library for library, _ in lines):
            for members in self._manifest.chunks(self._target, library):
                first = members[0]
                if (library, first.file) not in lines:
                    continue
                column = lines_of(first.ligands)
                for row in np.flatnonzero(np.isin(column, lines[library, first.file])).tolist():
                    origin = Origin(library, first.file, int(column[row]))
                    found.setdefault(origin, (tuple(members), row))
        for one in self._wanted:
            if one not in found:
                raise InputError(
                    f"library {one.library}: no part contains the record at line {one.line} of "
                    f"{one.file}"
                )
        return [found[one] for one in self._wanted]

    def _of_chunk(self, chunk: Chunk, rows: list[int], count: int) -> dict[int, list[KeptPose]]:
        """The `count` best poses of some records of a chunk, by their rows."""
        for one in chunk:
            self._known.require(one)
        found: dict[int, list[KeptPose]] = {}
        with files_kept_open():
            part = read_best(chunk)
            scored = part.scored()
            ligands = scored[np.searchsorted(part.entry[scored], rows)]
            for member in np.unique(part.member[ligands]).tolist():
                with Poses(chunk[member]) as poses:
                    for row, ligand in zip(rows, ligands.tolist(), strict=True):
                        if part.member[ligand] == member:
                            best = int(part.best[ligand])
                            found[row] = list(_kept(poses, chunk[member], ligand, best, count))
        return found


def _kept(poses: Poses, files: PartFiles, ligand: int, best: int, count: int) -> Iterator[KeptPose]:
    """The `count` best poses of a ligand, that in row `best` first."""
    rows = poses.kept(ligand)
    kept = slice(rows.start, rows.stop)
    terms = read_terms(files.scores, kept)
    energy, restart = _numbers(files.scores, kept)
    order = np.argsort(energy, kind="stable").tolist()
    order.sort(key=lambda number: rows[number] != best)
    for number in order[:count]:
        row = rows[number]
        yield KeptPose(
            genotype=poses.genotypes(ligand, range(row, row + 1)),
            restart=int(restart[number]),
            energy=float(energy[number]),
            terms={
                f"{function}/{term}": float(values[number])
                for function, columns in terms.items()
                for term, values in columns.items()
            },
            source=files.ligands,
        )


def _numbers(scores: Path, kept: slice) -> tuple[np.ndarray, np.ndarray]:
    """Energies and restarts of some poses of a scores file."""
    with open_file(scores, SCORES) as file:
        energy, restart = (
            column_of(file, SCORES, f"scores/{name}")[kept] for name in ("energy", "restart")
        )
    return energy, restart
