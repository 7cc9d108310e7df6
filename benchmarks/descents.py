"""How far BFGS and ADADELTA descend in the field of `refine` for equal numbers of evaluations.

    python benchmarks/descents.py FOLDER [--only ID ...] [--poses N] [--json FILE]

FOLDER is laid out as for redock.py. Poses are docked and filtered as a campaign does it; from each
of the first ones both descend in the NumPy twin of the refine kernel, whose BFGS is the kernel's.
ADADELTA (Zeiler 2012; AutoDock-GPU's, Santos-Martins et al. 2021, with its decay of 0.8) runs with
several values of its constant epsilon, in the same units: those in which a step of 1 moves atoms by
about an Angstrom. An evaluation is an energy and its gradient, nearly all of the cost of either
method. Prints the lowest energy found, relative to the lowest that any method reaches from the same
start, averaged over poses, and the fraction of poses in which BFGS is lower than the best ADADELTA
with the same number of evaluations.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from rdkit import RDLogger

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.docking import Settings, add_settings, device_for, settings_from
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from benchmarks.redock import FAILURES, Complex, Task, complexes, prepare
from ligen_py.cli import at_least
from ligen_py.engine.docking.mode import docker
from ligen_py.engine.docking.search import Plan
from ligen_py.engine.filtering.batched import filter_poses
from ligen_py.engine.refinement.chemical_field import field_over
from ligen_py.engine.refinement.given import kept_of
from ligen_py.engine.refinement.maps import Grid
from ligen_py.engine.refinement.reference import Genotype, Problem, descend
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device

BUDGETS = (10, 20, 30, 60, 120, 300)
"""Evaluations after which the lowest energies are compared."""

DECAY = 0.8
EPSILONS = (1e-4, 1e-3, 1e-2, 1e-1)

Evaluate = Callable[[Genotype], tuple[float, np.ndarray]]


def adadelta(evaluate: Evaluate, start: Genotype, scale: np.ndarray, epsilon: float) -> None:
    """Descend for the longest of the budgets, each degree of freedom in units of sqrt(scale)."""
    unit, place = np.sqrt(scale), start
    slopes, steps = np.zeros(len(scale)), np.zeros(len(scale))
    for _ in range(BUDGETS[-1]):
        gradient = evaluate(place)[1] * unit
        slopes = DECAY * slopes + (1 - DECAY) * gradient**2
        step = -np.sqrt((steps + epsilon) / (slopes + epsilon)) * gradient
        steps = DECAY * steps + (1 - DECAY) * step**2
        place = place.moved(step * unit)


def lowest(run: Callable[[Evaluate], object], evaluate: Evaluate) -> np.ndarray:
    """Lowest energy seen within each budget, kcal/mol; a run may end before the last."""
    seen: list[float] = []

    def noted(place: Genotype) -> tuple[float, np.ndarray]:
        energy, gradient = evaluate(place)
        seen.append(energy)
        return energy, gradient

    run(noted)
    best = np.minimum.accumulate(seen)
    return best[np.minimum(BUDGETS, len(seen)) - 1]


def descents(given: Complex, device: Device, settings: Settings, count: int) -> np.ndarray:
    """Lowest energies (poses, optimisers, budgets), kcal/mol: BFGS, then ADADELTA by epsilon."""
    plan = Plan.of(given.target.field, settings.dock)
    ligands = given.molecules.ligands
    poses = docker("auto", device, plan, 1).dock(ligands, np.arange(1))
    chosen, _ = filter_poses(device, ligands, poses, settings.filter)
    kept = kept_of(poses, chosen)
    target = given.target
    grid = Grid.over(target.field, settings.refine.spacing)
    name = settings.refine.field
    seen = target.seen(given.molecules, [name])[name]
    field = field_over(name, device, seen.receptor, grid, seen.ligands)
    shape = (field.maps.count, *grid.shape)
    values = buffers.download(device, field.maps.buffer, shape, np.float32)
    problem = Problem.of(name, seen.ligands, 0, field, values)
    scale, result = problem.squared_scale, []
    for pose in range(min(count, int(kept.first_pose[1]))):
        start = Genotype.of(kept, pose)
        runs: list[Callable[[Evaluate], object]] = [
            partial(
                descend,
                start=start,
                evaluations=BUDGETS[-1],
                scale=scale,
                inverse=problem.first_inverse(start),
            )
        ]
        runs += [partial(adadelta, start=start, scale=scale, epsilon=e) for e in EPSILONS]
        result.append([lowest(run, problem.evaluate) for run in runs])
    return np.array(result).reshape(-1, 1 + len(EPSILONS), len(BUDGETS))


def main() -> int:
    """Compare both on the complexes of a folder."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    arguments.add_argument("folder", type=Path, help="folder of complexes")
    add_settings(arguments)
    arguments.add_argument("--only", nargs="+", metavar="ID", help="these complexes only")
    arguments.add_argument(
        "--poses",
        type=at_least(1),
        default=8,
        metavar="N",
        help="poses of each complex (default: 8)",
    )
    arguments.add_argument("--json", type=writable, help="also write every lowest energy here")
    options = arguments.parse_args()
    settings = settings_from(options)
    folders = complexes(arguments, options.folder, options.only)
    device = device_for(options.device)
    RDLogger.DisableLog("rdApp.*")
    names = ["BFGS", *(f"ADADELTA {epsilon:g}" for epsilon in EPSILONS)]
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        for folder in folders:
            task = Task(folder, Path(scratch), settings, options.device, False, 1)
            try:
                given = prepare(task, Path(scratch))
                energies = descents(given, device, settings, options.poses)
            except FAILURES as error:
                print(f"{folder.name}: failed: {error}", flush=True)
                continue
            found.append(energies - energies.min(axis=(1, 2), keepdims=True))
            table = np.concatenate(found)
            save(options.json, {"names": names, "energies": table.tolist()})
    if not found:
        raise SystemExit("all complexes failed")
    print(f"{len(table)} poses of {len(found)} complexes; kcal/mol above the lowest, mean")
    print(f"{'evaluations':>16} " + " ".join(f"{budget:>8}" for budget in BUDGETS))
    for name, column in zip(names, table.mean(axis=0), strict=True):
        print(f"{name:>16} " + " ".join(f"{value:8.2f}" for value in column))
    best = table[:, 1:].mean(axis=0).argmin(axis=0)
    lower = [np.mean(table[:, 0, k] < table[:, 1 + e, k]) for k, e in enumerate(best)]
    print(f"{'BFGS is lower in':>16} " + " ".join(f"{100 * share:6.0f} %" for share in lower))
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
