"""The best molecules of a campaign with their kept poses, and what networks say of these.

For `networks`, and for `verify`, which does a part of it again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ligen_py.engine.functions.gnina.device import Ensemble
from ligen_py.engine.functions.gnina.scorer import Gnina
from ligen_py.engine.pose_arrays import places
from ligen_py.engine.scoring.pose_kernel import PoseBatch
from ligen_py.errors import InputError
from ligen_py.molecules.clusters import rmsd, symmetries_of_stored
from ligen_py.molecules.export import symmetric_rmsd
from ligen_py.opencl.device import Device
from ligen_py.pace import Pace
from ligen_py.records.functions.gnina import GninaLigands, GninaReceptor
from ligen_py.records.ledger import Status
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.networks import NETWORK_SHARE, Judged
from ligen_py.records.poses import Poses
from ligen_py.records.refined import REFINED
from ligen_py.records.rows import concatenated, no_rows, rows_below, subset
from ligen_py.records.scores import SCORES
from ligen_py.store.campaign.known import KnownFiles
from ligen_py.store.campaign.manifest import Manifest, PartFiles
from ligen_py.store.campaign.part import Part, lines_of, read_best
from ligen_py.store.campaign.reader import CampaignReader, Ranked
from ligen_py.store.files.read import content_of, files_kept_open, read, read_columns
from ligen_py.store.files.typed import read_typed

AT_ONCE = 64
"""Molecules whose poses are judged together."""

COLUMNS = ("logit", "pose", "affinity")
"""What the networks say of a pose."""

Terms = Mapping[str, np.ndarray]
"""COLUMNS by name, float32 (poses,)."""


@dataclass(frozen=True)
class Group:
    """Some of the best molecules of a target, of one part, with the kept poses of their states."""

    target: str
    files: PartFiles
    place: np.ndarray
    """Numbers of the molecules among all that are judged, i8; the rest is in this order."""
    rank: np.ndarray
    row: np.ndarray
    name: np.ndarray
    ligands: GninaLigands
    receptor: GninaReceptor
    poses: Poses
    energy: np.ndarray
    """float32 (poses,), kcal/mol."""
    physics: np.ndarray
    """The pose that energies choose, i4, counted from the molecule's first."""
    score: np.ndarray
    """float32, of the scores file."""


def groups(campaign: CampaignReader, manifest: Manifest, best: int) -> Iterator[Group]:
    """The `best` molecules of each target and its crystal ligand, docked again, part by part.

    Raises InputError where a part's files are not those that the campaign was made from.
    """
    parts, first = _Parts(campaign), 0
    for target in campaign.targets:
        ranked = campaign.target(target).best(best)
        yield from _ranked(parts, campaign, manifest, target, ranked, first)
        first += len(ranked.row)
        members = manifest.control(target)
        if members and members[0].crystal is not None:
            with files_kept_open():
                part = read_best(members)
                if len(part.status) and part.status[0] == Status.SCORED:
                    ligand, nobody = part.scored()[:1], np.array([-1])
                    own = _Chosen(np.array([first]), np.zeros(1, "i8"), nobody, ligand)
                    yield from parts.groups(target, members, part, own)
                    first += 1


@dataclass(frozen=True)
class _Chosen:
    """Molecules of a chunk: place among all, rank, row in the campaign, ligand in the chunk."""

    place: np.ndarray
    rank: np.ndarray
    row: np.ndarray
    ligand: np.ndarray


def _ranked(
    parts: "_Parts",
    campaign: CampaignReader,
    manifest: Manifest,
    target: str,
    ranked: Ranked,
    first: int,
) -> Iterator[Group]:
    """Molecules of a ranking, whose numbers count from `first`."""
    scored, found = ranked.scored, 0
    library = np.array([campaign.libraries[number] for number in scored.library], object)
    file = np.array([campaign.files[number] for number in scored.file], object)
    for name in dict.fromkeys(library.tolist()):
        for members in manifest.chunks(target, name):
            here = np.flatnonzero((library == name) & (file == members[0].file))
            if not len(here):
                continue
            line = lines_of(members[0].ligands)
            here = here[np.isin(scored.line[here], line)]
            if not len(here):
                continue
            found += len(here)
            with files_kept_open():
                part = read_best(members)
                ligand = _ligands(part, scored.line[here])
                chosen = _Chosen(first + here, ranked.rank[here], ranked.row[here], ligand)
                yield from parts.groups(target, members, part, chosen)
    if found != len(ranked.row):
        raise InputError(
            f"target {target}: the manifest lists no part with {len(ranked.row) - found} of its "
            f"best {len(ranked.row)} molecules; run 'ligen run CONFIG' again"
        )


def _ligands(part: Part, lines: np.ndarray) -> np.ndarray:
    """The best state of the scored records at some lines."""
    scored = part.scored()
    ligand = {int(part.line[part.entry[row]]): int(row) for row in scored}
    return np.array([ligand[line] for line in lines.tolist()], "i8")


class _Parts:
    """Reads chosen molecules of parts, after a look at whether the campaign was made from them."""

    def __init__(self, campaign: CampaignReader) -> None:
        self._known = KnownFiles(campaign)

    def groups(
        self, target: str, members: Sequence[PartFiles], part: Part, chosen: _Chosen
    ) -> Iterator[Group]:
        """Molecules of a chunk, those of each conformation of the target together."""
        member = part.member[chosen.ligand]
        for number in np.unique(member):
            order = np.flatnonzero(member == number)
            order = order[np.argsort(chosen.ligand[order], kind="stable")]
            rows, files = chosen.ligand[order], members[number]
            self._known.require(files)
            every: Ligands = read(files.ligands, LIGANDS, Ligands)
            typed = read_typed(("gnina",), files.ligands, files.pocket, every)["gnina"]
            poses: Poses = read(files.refined, REFINED, Poses)
            below = rows_below(poses, "ligand", rows)
            energy = read_columns(files.scores, SCORES, ("scores/energy",))["scores/energy"]
            yield Group(
                target=target,
                files=files,
                place=chosen.place[order],
                rank=chosen.rank[order],
                row=chosen.row[order],
                name=part.name[part.entry[rows]],
                ligands=subset(typed.ligands, rows_below(typed.ligands, "ligand", rows)),
                receptor=typed.receptor,
                poses=subset(poses, below),
                energy=energy[below["pose"]],
                physics=(part.best[rows] - poses.first_pose[rows]).astype("i4"),
                score=part.score[rows],
            )


class Judge:
    """gnina's networks on a device."""

    def __init__(self, device: Device, ensemble: Ensemble, molecules: int) -> None:
        """`molecules` are judged in all, as the log says."""
        self._device, self._ensemble = device, ensemble
        self._pace = Pace("molecules judged", molecules)

    def terms(self, group: Group) -> Terms:
        """What the networks say of all poses of a group."""
        scorer = Gnina(self._device, group.receptor, self._ensemble)
        count, found = len(group.place), []
        for first in range(0, count, AT_ONCE):
            last = min(first + AT_ONCE, count)
            batch = PoseBatch(self._device, group.ligands, group.poses, first, last)
            found.append(scorer.score(group.ligands, batch))
            self._pace.add(last - first)
        values = dict(zip(scorer.terms, np.concatenate(found, axis=1), strict=True))
        return {name: values[name] for name in COLUMNS}


def judged(group: Group, terms: Terms, weight: float) -> Judged:
    """The record of a group's molecules."""
    first = group.poses.first_pose
    network = choice(first, group.energy, terms["logit"], weight, group.physics)
    moved, crystal, atoms = [], [], []
    for number in range(len(group.place)):
        two = [int(first[number] + own[number]) for own in (group.physics, network)]
        xyz = [places(group.ligands, group.poses, number, slice(p, p + 1))[0] for p in two]
        heavy = int(group.ligands.heavy[number])
        octets = group.ligands.molecule[slice(*group.ligands.first_byte[number : number + 2])]
        ways = symmetries_of_stored(octets)
        moved.append(rmsd(xyz[0][:heavy].astype("f8"), xyz[1][:heavy], ways))
        crystal.append(_to_crystal(group, number, xyz[1]))
        atoms.append(xyz[1].astype("f4"))
    return Judged(
        target=np.array([group.target] * len(group.place), object),
        rank=group.rank.astype("i8"),
        row=group.row.astype("i8"),
        name=np.array([str(name) for name in group.name], object),
        first_pose=first,
        physics=group.physics,
        network=network,
        score=group.score + np.float32(NETWORK_SHARE) * terms["logit"][first[:-1] + network],
        moved=np.array(moved, "f4"),
        crystal=np.array(crystal, "f4"),
        restart=group.poses.restart,
        energy=group.energy,
        **{name: terms[name] for name in COLUMNS},
        first_atom=group.ligands.first_atom,
        xyz=np.concatenate(atoms),
    )


def _to_crystal(group: Group, number: int, xyz: np.ndarray) -> float:
    """How far a pose of the crystal ligand is from the crystal's, Angstrom; NaN of others."""
    if group.rank[number] or group.files.crystal is None:
        return float("nan")
    octets = group.ligands.molecule[slice(*group.ligands.first_byte[number : number + 2])]
    with content_of(group.files.ligands, LIGANDS):
        found = symmetric_rmsd(octets, xyz[None], group.files.crystal)
    return float("nan") if found is None else float(found[0])


def choice(
    first_pose: np.ndarray, energy: np.ndarray, logit: np.ndarray, weight: float, rest: np.ndarray
) -> np.ndarray:
    """The pose of lowest energy - weight * logit of each molecule, counted from its first: i4.

    Ties go to the lower row. A pose without a logit has its energy alone, one without an energy is
    not chosen; `rest` (molecules,) are those of molecules that have no other.
    """
    heard = np.where(np.isfinite(logit), np.float32(weight) * -logit, np.float32(0))
    total = np.where(np.isfinite(energy), energy + heard, np.inf)
    found = rest.copy()
    for number, (start, end) in enumerate(pairwise(first_pose)):
        if np.isfinite(total[start:end]).any():
            found[number] = total[start:end].argmin()
    return found


def together(pieces: Sequence[Judged], place: np.ndarray) -> Judged:
    """Molecules of several records by their `place` (molecules,); there may be none."""
    if not pieces:
        return no_rows(Judged)
    record = concatenated(pieces)
    return subset(record, rows_below(record, "molecule", np.argsort(place)))
