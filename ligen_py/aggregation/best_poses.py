"""The poses that a campaign file contains: the best of each ranked molecule, and the reference's.

For `aggregate`, which ranks them.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py.engine.geometry import rebuild_each
from ligen_py.errors import InputError
from ligen_py.molecules.clusters import clusters, rmsd, symmetries_of_stored
from ligen_py.molecules.export import crystal_pose, heavy_atoms_of
from ligen_py.molecules.workers import each
from ligen_py.records.kept import KEPT
from ligen_py.records.ledger import Status
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.poses import POSES, WORST_RUN
from ligen_py.records.scores import SCORES
from ligen_py.store.campaign.layout import ELSEWHERE, Pose, Reference
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.campaign.part import Part, Poses, read_best
from ligen_py.store.campaign.writer import TargetWriter, reference_of
from ligen_py.store.files.read import (
    content_of,
    files_kept_open,
    read_columns,
    run_record,
)
from ligen_py.store.files.runs import Spool

log = logging.getLogger("ligen_py")


class Wanted(NamedTuple):
    """A ligand of a part, and the pose that is wanted of it."""

    member: int
    """Number of the conformation."""
    ligand: int
    pose: int
    """Row in the refined file."""


AT_ONCE = 1000
"""Poses that are written together."""

TOGETHER = 64
"""Ligands whose poses are rebuilt together."""

CHOSEN = np.dtype([("member", "u2"), ("ligand", "u4"), ("pose", "i8")])


class BestPoses:
    """Remembers the best pose of every scored record, on disk, and stores those that are asked."""

    def __init__(self, writer: TargetWriter, output: Path, jobs: int) -> None:
        """What is remembered lies beside `output`; poses are rebuilt by `jobs` processes."""
        self._writer, self._jobs = writer, jobs
        self._chosen = Spool(output, CHOSEN)
        self._parts: dict[int, Sequence[PartFiles]] = {}
        """The files of each part by its first scored row."""

    def add(self, part: Part, ligands: np.ndarray, members: Sequence[PartFiles]) -> None:
        """Add a part that is appended next; `ligands` are its `scored()`."""
        self._parts[self._writer.rows] = members  # in place of one without scored rows
        found = np.empty(len(ligands), CHOSEN)
        found["member"], found["ligand"] = part.member[ligands], ligands
        found["pose"] = part.best[ligands]
        self._chosen.add(found)

    def store(self, rows: np.ndarray) -> None:
        """Rebuild the best poses of some scored rows (ascending), part by part."""
        first = np.array(list(self._parts), dtype="i8")
        owner = np.searchsorted(first, rows, side="right") - 1
        parts = [(int(first[number]), rows[owner == number]) for number in np.unique(owner)]
        work = (
            (self._parts[start], [Wanted(*row) for row in self._chosen.rows(mine).tolist()])
            for start, mine in parts
        )
        waiting, poses = [], list[Pose]()
        rebuilt = each(_rebuilt, work, min(self._jobs, max(1, len(parts))))
        for (_, mine), (_, found) in zip(parts, rebuilt, strict=True):
            waiting.append(mine)
            poses += found
            if len(poses) >= AT_ONCE:
                self._writer.append_poses(np.concatenate(waiting), poses)
                waiting, poses = [], []
        if poses:
            self._writer.append_poses(np.concatenate(waiting), poses)


def reference_poses(members: Sequence[PartFiles]) -> Reference:
    """The poses of a target's reference ligand; `members` are the files of its control.

    A target without one has the files of another part, which name the crystal's pose, if any.
    """
    found: dict[str, tuple[Pose, str, str]] = {}
    crystal = members[0].crystal
    if crystal is not None:
        name, model = crystal.stem, None
        if members[0].control:
            part = read_best(members)
            name = str(part.name[0]) if len(part.name) else name
            if len(part.status) and part.status[0] == Status.SCORED:
                best = int(part.scored()[0])
                chosen = Wanted(int(part.member[best]), best, int(part.best[best]))
                (docked,) = _poses(members, [chosen])
                terms = {term: float(values[best]) for term, values in part.terms.items()}
                found["docked"] = docked, name, json.dumps(terms)
                with content_of(members[0].ligands, LIGANDS):
                    model = heavy_atoms_of(docked.molecule)
        there = None
        try:
            there = crystal_pose(crystal, model)
        except InputError as error:
            if members[0].control:
                raise
            log.warning("%s; the reference ligand is not shown", error)  # no ranking ends for that
        if there is not None:
            found["crystal"] = Pose(there.smiles, there.smiles, "", *there[1:]), name, ""
    return reference_of(found)


def _rebuilt(work: tuple[Sequence[PartFiles], Sequence[Wanted]]) -> list[Pose]:
    """The best poses of some ligands of a part, in a process of its own."""
    with files_kept_open():
        return _poses(*work)


def _poses(members: Sequence[PartFiles], ligands: Sequence[Wanted]) -> list[Pose]:
    """The best poses of some ligands of a part."""
    result = []
    with ExitStack() as stack:
        opened = [stack.enter_context(Poses(files)) for files in members]
        runs = [
            DockedRuns(files, stack.enter_context(Poses(files, POSES)))
            if _has_runs(files)
            else None
            for files in members
        ]
        energies = [_energies(files) for files in members]
        texts: dict[tuple[int, int], tuple[str, str, str]] = {}
        for number, files in enumerate(members):
            own = [chosen.ligand for chosen in ligands if chosen.member == number]
            with content_of(files.ligands, LIGANDS):
                found = zip(own, opened[number].texts(own), strict=True)
                texts |= {(number, ligand): three for ligand, three in found}
        for (member, ligand, best), kept, places in _placed(members, opened, ligands):
            poses = opened[member]
            with content_of(members[member].ligands, LIGANDS):
                chosen = best - kept.start
                energy = energies[member][kept.start : kept.stop]
                molecule = poses.molecule(ligand)
                gap = _gap(places[:, : poses.heavy(ligand)], energy, chosen, molecule)
                made = runs[member]
                histogram = "" if made is None else made.clusters(ligand, molecule)
            conformation = members[member].conformation
            place = places[chosen].copy()  # the others need not stay in memory
            result.append(
                Pose(*texts[member, ligand], place, molecule, conformation, gap, histogram)
            )
    return result


def _placed(
    members: Sequence[PartFiles], opened: Sequence[Poses], ligands: Sequence[Wanted]
) -> Iterator[tuple[Wanted, slice, np.ndarray]]:
    """Each of some ligands, the rows of its poses, and their coordinates.

    These are (poses, atoms, 3), Angstrom.
    """
    for member, own in groupby(ligands, key=lambda chosen: chosen.member):
        poses = opened[member]
        while some := list(islice(own, TOGETHER)):
            with content_of(members[member].ligands, LIGANDS):
                rows = [poses.kept(one.ligand) for one in some]
                given = [
                    poses.genotypes(one.ligand, kept) for one, kept in zip(some, rows, strict=True)
                ]
                places = rebuild_each(given)
            yield from zip(some, rows, places, strict=True)


def _has_runs(files: PartFiles) -> bool:
    """Whether the poses are those of a genetic algorithm's runs, and the filter's file is there."""
    if not (files.poses.is_file() and files.kept.is_file()):
        return False  # a part's files may be gone
    return run_record(files.poses, POSES).get("stage") == "lga"


def _energies(files: PartFiles) -> np.ndarray:
    """The energy (poses,) by which the best pose of a ligand was chosen, kcal/mol."""
    return read_columns(files.scores, SCORES, ("scores/energy",))["scores/energy"]


class DockedRuns:
    """The runs of a genetic algorithm in the poses file of a part, also those that were not kept.

    They are clustered at the filter's radius, as it clusters those that it keeps.
    """

    def __init__(self, files: PartFiles, docked: Poses) -> None:
        """Read what is needed of all ligands; `docked` reads single ones, and is open."""
        self._docked = docked
        (self._score,) = read_columns(files.poses, POSES, ("poses/score",)).values()
        filtered = json.loads(run_record(files.kept, KEPT)["settings"])
        self._limit: float = filtered["cluster_rmsd"]
        self._symmetry: bool = filtered["symmetry"]

    def clusters(self, ligand: int, molecule: np.ndarray) -> str:
        """Clusters of a ligand's runs as the campaign file has them; `molecule` is stored."""
        rows = self._docked.kept(ligand)
        energy = self._score[rows.start : rows.stop]
        energy = energy[energy >= WORST_RUN] / -1000.0  # the first; geometric poses are behind
        runs = range(rows.start, rows.start + len(energy))
        (places,) = rebuild_each([self._docked.genotypes(ligand, runs)])
        heavy = self._docked.heavy(ligand)
        ways = symmetries_of_stored(molecule) if self._symmetry else np.arange(heavy)[None]
        groups = clusters(list(places[:, :heavy]), energy, self._limit, ways)
        own = [energy[[member.pose for member in group]] for group in groups]
        return json.dumps([[float(one[0]), float(one.mean()), len(one)] for one in own])


def _gap(places: np.ndarray, energy: np.ndarray, best: int, molecule: np.ndarray) -> float:
    """How much worse the best pose of a ligand is that lies elsewhere; NaN where there is none.

    `places` (poses, heavy atoms, 3), Angstrom, and `energy` (poses,), kcal/mol, are of all poses.
    A ring that is turned onto itself, or two oxygens of an acid that changed places, lie nowhere
    else: the least RMSD over all ways to map the molecule onto itself counts.
    """
    square = ((places - places[best]) ** 2).sum(axis=2).mean(axis=1)
    rivals = np.flatnonzero((square > ELSEWHERE**2) & np.isfinite(energy))
    if not len(rivals):
        return float("nan")
    ways = symmetries_of_stored(molecule)
    for rival in rivals[np.argsort(energy[rivals], kind="stable")].tolist():
        if rmsd(places[rival], places[best], ways) > ELSEWHERE:
            return float(energy[rival] - energy[best])
    return float("nan")
