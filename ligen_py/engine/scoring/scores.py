"""Score poses: batches within a memory budget, each ligand's best pose, the ledger after it."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Protocol

import numpy as np

from ligen_py.engine.batches import by_batches, spans
from ligen_py.engine.scoring.pose_kernel import PoseBatch
from ligen_py.functions import FUNCTIONS, load
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.pace import Pace
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.records.ligands import Ligands
from ligen_py.records.limits import MAX_ATOMS
from ligen_py.records.networks import NETWORK_SHARE
from ligen_py.records.poses import Poses
from ligen_py.records.scores import Scores
from ligen_py.records.typed import Typed
from ligen_py.settings.score import ScoreSettings

BATCH_BYTES = 256 << 20


class ScoringFunction(Protocol):
    """What `SCORER` of a function makes: its terms, `total` among them, larger is better."""

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the rows that `score` returns."""

    def score(self, ligands: Any, batch: PoseBatch) -> np.ndarray:
        """Terms of all poses of a batch, whose `ligands` it sees: float32 (terms, poses)."""


def score(
    device: Device,
    typed: Mapping[str, Typed],
    poses: Poses,
    batch_bytes: int = BATCH_BYTES,
) -> dict[str, dict[str, np.ndarray]]:
    """Scoring function -> term -> float32 (poses,), in the order of the poses.

    `typed` names the functions, each with the same ligands and receptor as it sees them. A pose
    whose coordinates are not finite has NaN in its terms. Batches hold as many ligands as about
    `batch_bytes` of device memory take; no value depends on it. Raises ValueError for a ligand
    larger than any kernel, DeviceError where the device cannot do the work.
    """
    functions = list(typed)
    ligands: Ligands = typed[functions[0]].ligands
    largest = int(np.diff(ligands.first_atom).max(initial=0))
    if largest > MAX_ATOMS:
        raise ValueError(f"a ligand has {largest} atoms; kernels take up to {MAX_ATOMS}")
    scorers: dict[str, ScoringFunction] = {
        name: load(name, "scorer").SCORER(device, seen.receptor) for name, seen in typed.items()
    }
    columns = {
        name: np.full((len(scorer.terms), len(poses.restart)), np.nan, np.float32)
        for name, scorer in scorers.items()
    }

    def launch(members: np.ndarray) -> int:
        """Score ligands; returns how many are left without a score that could rank them."""
        first, last = int(members[0]), int(members[-1]) + 1
        rows = slice(poses.first_pose[first], poses.first_pose[last])
        batch = PoseBatch(device, ligands, poses, first, last)
        for name, scorer in scorers.items():
            columns[name][:, rows] = scorer.score(typed[name].ligands, batch)
        total = columns[functions[0]][scorers[functions[0]].terms.index("total"), rows]
        owner = np.repeat(np.arange(last - first), np.diff(poses.first_pose[first : last + 1]))
        return last - first - len(np.unique(owner[np.isfinite(total)]))

    pace = Pace("ligands scored", len(ligands.entry))
    for first, last in batches(ligands, poses, min(batch_bytes, buffers.budget(device))):
        for members, failed in by_batches(device, launch, np.arange(first, last)):
            pace.add(len(members), failed)
    return {
        name: dict(zip(scorer.terms, columns[name], strict=True))
        for name, scorer in scorers.items()
    }


def batches(ligands: Ligands, poses: Poses, budget: int) -> Iterator[tuple[int, int]]:
    """Ranges of ligands whose arrays take up to `budget` bytes; one ligand where that is more."""
    pose_bytes = 64 * np.diff(poses.first_pose)
    turn_bytes = 8 * np.diff(poses.first_torsion[poses.first_pose])
    atoms = np.diff(ligands.first_atom)
    ligand_bytes = 36 + 36 * atoms + 2 * atoms**2 + 12 * np.diff(ligands.first_torsion)
    for first, last in spans(pose_bytes + turn_bytes + ligand_bytes, budget):
        if poses.first_pose[first] < poses.first_pose[last]:
            yield first, last


def choice_energy(
    columns: Mapping[str, Mapping[str, np.ndarray]], weights: Mapping[Any, float]
) -> np.ndarray:
    """The energy by which a ligand's pose is chosen: a weighted sum over functions, float32.

    Functions without a weight are left out, and so are weights of functions that were not
    evaluated; where nothing is left, the energy is that of the first function. An energy that is
    left alone counts whole. Where a function has no finite value, the sum is over the others.
    """
    energies = [
        w * load(name, "scorer").pose_energy(columns[name])
        for name, w in _weighed(columns, weights).items()
    ]
    known = np.isfinite(energies).any(axis=0)
    total = np.nansum(np.where(np.isfinite(energies), energies, np.nan), axis=0)
    return np.where(known, total, np.nan).astype(np.float32)


def _weighed(
    columns: Mapping[str, Mapping[str, np.ndarray]], weights: Mapping[Any, float]
) -> dict[str, float]:
    found = {name: weights[name] for name in columns if weights.get(name)}
    only = next(iter(found or columns))
    # Beside half of an energy a state's cost in kcal/mol would weigh twice as much.
    whole = not found or (len(found) == 1 and FUNCTIONS[only].is_energy)
    return {only: 1.0} if whole else found


def free_energy(
    poses: Poses,
    columns: Mapping[str, Mapping[str, np.ndarray]],
    weights: Mapping[Any, float],
) -> np.ndarray:
    """The ligand's own part of the energy of `choice_energy` where it is lowest: float32 (poses,).

    The lowest of a ligand's poses stands for the free ligand, so a molecule gains nothing by what
    its own atoms do to each other, and pays for a strained pose.
    """
    own = np.zeros(len(poses.restart), np.float32)
    for name, weight in _weighed(columns, weights).items():
        if (term := load(name, "scorer").OWN) is not None:
            own += np.float32(weight) * np.nan_to_num(columns[name][term], nan=np.inf)
    counts = np.diff(poses.first_pose)
    lowest = np.full(len(counts), np.inf, np.float32)
    np.minimum.at(lowest, np.repeat(np.arange(len(counts)), counts), own)
    return np.repeat(np.where(np.isfinite(lowest), lowest, 0), counts)


TORSION_WEIGHT = 0.02
"""What each rotatable bond takes off a molecule's score, as a share: it costs entropy to hold.

This and the square root of `merit` are chosen on ligands docked into the pockets of other ligands
and on actives among decoys (docs/accuracy.md)."""


def merit(ligands: Ligands, poses: Poses, energy: np.ndarray) -> np.ndarray:
    """What ranks molecules of different size: float32 (poses,), larger is better.

    Minus the energy (poses,), kcal/mol, over (1 + TORSION_WEIGHT * torsions) and the square root of
    the number of heavy atoms: a sum over atoms grows faster with a molecule than measured
    affinities do. Energies above 0 are not divided: a bad pose is none the better for being large.
    """
    torsions = np.diff(ligands.first_torsion)
    scale = (1 + TORSION_WEIGHT * torsions) * np.sqrt(np.maximum(ligands.heavy, 1.0))
    scale = np.repeat(scale, np.diff(poses.first_pose))
    return np.where(energy < 0, -energy / scale, -energy).astype(np.float32)


MOST_ROWS = 64
"""Most stereoisomers of a state, and most conformers of one (settings of parse)."""

_LOGS = np.array([0.0, *(float(Decimal(n).ln()) for n in range(1, MOST_ROWS + 1))])


def handicap(ligands: Ligands, settings: ScoreSettings) -> np.ndarray:
    """What is added to the energies of a ligand's poses where ligands compete: float32, kcal/mol.

    The cost of its protonation state and tautomer; `strain_cost` times the strain of its conformer;
    and `row_cost` times the logarithm of the number of ligands that differ from it by stereoisomer,
    because the best of many draws is better by chance. Conformers whose strain is not known are
    draws as well.
    """
    block = np.cumsum(ligands.conformer == 0)
    draws = np.where(np.bincount(block, ligands.strain) == 0, np.bincount(block), 1)[block]
    rows = _LOGS[np.minimum(ligands.isomers, MOST_ROWS)] + _LOGS[np.minimum(draws, MOST_ROWS)]
    cost = settings.state_cost * ligands.state_cost + settings.strain_cost * ligands.strain
    return (cost + settings.row_cost * rows).astype(np.float32)


def pose_scores(
    ligands: Ligands,
    poses: Poses,
    terms: Mapping[str, Mapping[str, np.ndarray]],
    settings: ScoreSettings,
) -> tuple[np.ndarray, np.ndarray]:
    """What ranks a molecule by each of its poses, and the energy that chooses one of them.

    Both float32 (poses,), from the terms of all functions (`score`).
    A pose without a finite value of the first function has no finite score, nor has one without a
    logit where `rank_by` is networks. Only the first value knows the ligand's `handicap`. What is
    no energy helps to choose a pose, and ranks molecules by `NETWORK_SHARE` alone.
    """
    energy = choice_energy(terms, settings.pose_weights)
    first = terms[next(iter(terms))]["total"]
    if settings.rank_by == "first":
        return first, energy
    ranking = {name: columns for name, columns in terms.items() if FUNCTIONS[name].is_energy}
    bound = choice_energy(ranking, settings.pose_weights)
    gained = bound - free_energy(poses, ranking, settings.pose_weights)
    compared = gained + np.repeat(handicap(ligands, settings), np.diff(poses.first_pose))
    ranks = np.where(np.isfinite(first), merit(ligands, poses, compared), first)
    if settings.rank_by == "networks":
        ranks += np.float32(NETWORK_SHARE) * terms["gnina"]["logit"]
    return ranks, energy


def best_poses(poses: Poses, score: np.ndarray, energy: np.ndarray) -> Scores:
    """The pose of lowest energy of every ligand, with its score; ties go to the lowest row.

    Both are (poses,). A ligand without a pose whose score is finite has `best` -1 and `score` NaN,
    and its record fails where no other state is scored (`settle`).
    """
    count = len(poses.first_pose) - 1
    best, value = np.full(count, -1, np.int64), np.full(count, np.nan, np.float32)
    owner = np.repeat(np.arange(count), np.diff(poses.first_pose))
    rank = np.where(np.isfinite(energy), -energy, -np.inf)
    rows = np.flatnonzero(np.isfinite(score))
    highest = np.full(count, -np.inf, np.float32)
    np.maximum.at(highest, owner[rows], rank[rows])
    rows = rows[rank[rows] == highest[owner[rows]]]
    winners, first = np.unique(owner[rows], return_index=True)
    best[winners], value[winners] = rows[first], score[rows[first]]
    return Scores(
        first_pose=poses.first_pose,
        restart=poses.restart,
        energy=energy.astype(np.float32),
        best=best,
        score=value,
    )


def settle(ledger: Ledger, ligands: Ligands, scores: Scores) -> Ledger:
    """The ledger after scoring: a READY record with a state that has a score becomes SCORED.

    The others become FAILED with the reason in words. Raises ValueError where ledger and ligands do
    not belong together.
    """
    count = len(ledger.status)
    if (ligands.entry >= count).any():
        raise ValueError(f"the ledger has {count} records, fewer than the ligands point at")
    ready = np.flatnonzero(ledger.status == Status.READY)
    without = np.setdiff1d(ready, ligands.entry)
    if len(without):
        raise ValueError(f"record {without[0]} is ready, but no ligand belongs to it")
    has_score = np.bincount(ligands.entry[scores.best >= 0], minlength=count)[ready] > 0
    scored, failed = ready[has_score], ready[~has_score]
    counts = np.zeros(count, np.int64)
    np.add.at(counts, ligands.entry, np.diff(scores.first_pose))
    words = [
        f"none of {count} poses has a finite score" if count else "there is no pose to score"
        for count in counts[failed]
    ]
    ledger = ledger.marked(scored, Status.SCORED, Reason.NONE, [""] * len(scored))
    return ledger.marked(failed, Status.FAILED, Reason.NO_FINITE_SCORE, words)
