"""Any pose of a campaign: coordinates are kept for the best, genotypes for all that were kept."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.poses import POSES
from ligen_py.records.refined import REFINED
from ligen_py.records.scores import SCORES
from ligen_py.store.campaign.known import KnownFiles
from ligen_py.store.campaign.manifest import Manifest, PartFiles
from ligen_py.store.campaign.part import Genotypes, Poses
from ligen_py.store.files.dropped import is_dropped
from ligen_py.store.files.inputs import require_made_from
from ligen_py.store.files.read import read_columns, run_record
from ligen_py.store.files.terms import read_terms

ORIGINS = {REFINED: "refined and scored", POSES: "docked, not scored"}
"""File that holds a genotype -> what its pose is; a scored one comes before a docked one."""


@dataclass(frozen=True, slots=True)
class Found:
    """One pose: how to rebuild it, its molecule, and what is known of it, as text."""

    genotype: Genotypes
    molecule: np.ndarray
    items: dict[str, str]
    source: Path
    """The ligands file."""


def find_poses(
    manifest: Manifest, known: KnownFiles, target: str, name: str, restart: int
) -> list[Found]:
    """The poses that a restart made of all ligands of this name, each state and record its own.

    The best poses of their states come first, the best-scored one before the others, with their
    scores. Poses that were scored are those of the refined file. A restart that the filter or the
    refinement left out gives the pose as it was docked.

    Raises InputError where no ligand has this name, or none a pose of this restart, and where files
    of its part are not those that the campaign was made from.
    """
    parts = [part for part in manifest.parts if part.target == target]
    ligands = [(part, row) for part in parts for row in _named(part, name)]
    if not ligands:
        raise InputError(f"no ligand of target {target} is named {name}, or it was never docked")
    for part in {part.label: part for part, _ in ligands}.values():
        known.require(part)
    found = [pose for part, ligand in ligands for pose in _poses(part, ligand, restart)]
    if not found:
        raise InputError(
            f"ligand {name} of target {target} has no pose of restart {restart}: "
            f"{_why_none(ligands[0][0], restart)}"
        )
    return sorted(found, key=lambda pose: -float(pose.items.get("score", "-inf")))


def _why_none(part: PartFiles, restart: int) -> str:
    settings = json.loads(run_record(part.poses, POSES)["settings"])
    runs = settings.get("runs", 0)  # of the genetic algorithm; restarts beside them count on
    restarts = settings["num_restart"] if "num_restart" in settings else settings["restarts"]
    kept = settings.get("max_num_poses", restarts)
    if restart >= runs + restarts:
        return f"its restarts are 0 to {runs + restarts - 1}"
    if runs and restart >= runs:
        return f"of the {restarts} restarts beside the {runs} runs only the best are kept"
    if is_dropped(part.poses):
        return (
            "docked poses that were not kept were dropped; with docked_poses: keep in the config "
            "`ligen run` makes them again"
        )
    if runs or not 0 < kept < restarts:
        return "it was not docked"
    return (
        f"docking kept the best {kept} of {restarts}; with dock.max_num_poses 0 in the config "
        "`ligen run` docks again and keeps all, bit for bit the same poses; a "
        "molecule's best: `ligen query results/campaign.h5 --columns name restart`"
    )


def _named(part: PartFiles, name: str) -> list[int]:
    columns = read_columns(part.ligands, LIGANDS, ("entries/name", "ligands/entry"))
    records = np.flatnonzero(columns["entries/name"] == name)
    return [int(row) for row in np.flatnonzero(np.isin(columns["ligands/entry"], records))]


def _poses(part: PartFiles, ligand: int, restart: int) -> Iterator[Found]:
    for kind, origin in ORIGINS.items():
        path = getattr(part, kind.name)
        if is_dropped(path):
            continue
        if kind is POSES:
            require_made_from(part.refined, REFINED, path)
        made = read_columns(path, kind, ("poses/restart",))["poses/restart"]
        settings = json.loads(run_record(path, kind).get("settings", "{}"))
        if settings.get("rounds") == 0:  # the refinement left it as it was docked
            origin = "docked and scored"
        with Poses(part, kind) as poses:
            rows = [row for row in poses.kept(ligand) if made[row] == restart]
            for row in rows:
                items = {"target": part.target, "name": poses.name(ligand)}
                items |= {"state": next(poses.texts([ligand]))[1], "library": part.library}
                items |= {"conformation": part.conformation}
                items |= {"restart": str(restart), "pose": origin}
                if kind is REFINED:
                    items |= _score(part, ligand, row) | _terms(part, row)
                genotype = poses.genotypes(ligand, range(row, row + 1))
                yield Found(genotype, poses.molecule(ligand), items, part.ligands)
        if rows:
            return


def _score(part: PartFiles, ligand: int, row: int) -> dict[str, str]:
    """The score of a state, of the pose that is its best."""
    found = read_columns(part.scores, SCORES, ("scores/best", "scores/score"))
    is_best = found["scores/best"][ligand] == row
    return {"score": str(found["scores/score"][ligand])} if is_best else {}


def _terms(part: PartFiles, row: int) -> dict[str, str]:
    return {
        f"{function}.{term}": str(values[row])
        for function, columns in read_terms(part.scores).items()
        for term, values in columns.items()
    }
