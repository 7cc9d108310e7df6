"""Find the fastest settings of the kernels on a device, and keep them for its kind.

Searches with kernel_tuner's strategies over lanes of a sub-group, sub-groups of a work-group, poses
an item, unrolling, the cap on registers (NVIDIA), queues and how the field is looked up: for each
kernel what changes its speed and never a result. A candidate must first give the right bits and is
then timed; one that is wrong or spills registers is never taken. Results are written to
kernels/tuned/, where the stages look them up by device, architecture, vendor and default.
"""

# kernel_tuner's own OpenCL back end is not used: it has one set of build options for a whole search
# where the register cap is one of ours, launches one kernel where the latency form has five in a
# row, and would time launches that are not those of the stages. Its search spaces, budgets and
# strategies drive a runner of ours, which builds and launches as the stages do.

import argparse
import contextlib
import datetime
import json
import logging
import math
import os
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py import cli
from ligen_py.engine.constants import ATOM_CLASSES
from ligen_py.engine.docking.batched import BY_SUB_GROUPS, FASTEST
from ligen_py.engine.docking.search import Plan
from ligen_py.engine.docking.tuning_candidate import Form, Outcome, Trial, random_input
from ligen_py.engine.refinement import batched as refinement
from ligen_py.engine.scoring.pose_kernel import ATOM_CLASSES as SCORED_CLASSES
from ligen_py.engine.stage_trial import Stages, StageTrial
from ligen_py.errors import DeviceError, InputError, UsageError, install
from ligen_py.opencl.device import Device, select
from ligen_py.opencl.tuning import EVERY, LANES, Tuning, names, read_table, tuned, tuned_folder
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, GeometricField
from ligen_py.records.rows import rows_below, subset
from ligen_py.settings.dock import DockSettings
from ligen_py.store.files.read import read
from ligen_py.store.files.temporary import temporary_for
from ligen_py.store.files.text import write_texts
from ligen_py.store.files.typed import read_typed

log = logging.getLogger("ligen_py")

FORMS: tuple[Form, ...] = ("batched", "latency")
SCORED = ("vina", "ad4", "xscore")
WITHOUT = {
    "lga": "other lanes give other bits, and the cap on registers was measured",
    "homologs": "the fastest shape for each length of query was measured, and is in the program",
    "offtargets": "its forms for GPUs and for processors are in the program",
}
"""Kernels without a setting that is free, and why; docs/tuning.md says more."""
SMALL = SCORED_CLASSES[0]
"""Atoms of the small ligands, for which kernels of scoring are compiled apart."""
KERNELS = (*FORMS, "filter", "refine", *SCORED, *WITHOUT)
OURS = "one_by_one"
FROM_ANYWHERE = ("brute_force", "random_sample", "hybrid_vndx")
"""Strategies that choose where they begin."""
STRATEGIES = (
    OURS, *FROM_ANYWHERE, "basinhopping", "dual_annealing", "genetic_algorithm", "greedy_ils",
    "greedy_mls", "minimize", "mls", "ordered_greedy_mls", "pso", "simulated_annealing",
)  # fmt: skip
"""Ours, and kernel_tuner's for one objective, but for those that fail here: for want of a package
that does not come with it, of its own back end, or of more settings than a kernel may have."""
FEW_CLASSES = ATOM_CLASSES[:3]
MOST_LIGANDS = 64
"""Different ligands of a file that are docked."""

SPACES: dict[str, dict[str, tuple[Any, ...]]] = {
    "ptx": {
        "sub_groups": (1, 2, 4, 8),
        "look_up": ("rows", "bricks", "image"),
        "unroll": (1, 2, 4),
        "registers": (0, 80, 96, 128),
        "poses_per_item": (0, 4, 16),
    },
    "khr": {
        "lanes": LANES,
        "sub_groups": (1, 2, 4),
        "unroll": (1, 2, 4),
        "look_up": ("rows", "bricks"),
        "poses_per_item": (0, 4, 16),
    },
    "local": {"lanes": LANES, "unroll": (1, 2), "look_up": ("rows", "bricks")},
}
"""What is searched of docking, by back end, in the order in which a strategy goes through it."""

QUEUES = {"gpu": (0, 8, 32), "cpu": (0, 1, 4)}

GROUPS = {"ptx": (1, 2, 4), "khr": (1, 2, 4)}
"""Sub-groups of a work-group that are tried for the filter and for scoring, by back end."""

REFINE_QUEUES = (0, 4, 16)
REFINE_REGISTERS = (0, 96, 112, 128, 144)
"""What is tried for the refinement on GPUs, the second on NVIDIA's alone."""


def main(argv: Sequence[str] | None = None) -> int:
    """Tune from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.tune", __doc__)
    parser.add_argument(
        "--kernels", choices=KERNELS, nargs="+", default=KERNELS, metavar="NAME",
        help=f"of {', '.join(KERNELS)}: docking's two forms, other stages, scoring functions, "
        "searches (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--classes",
        type=int,
        choices=ATOM_CLASSES,
        nargs="+",
        default=FEW_CLASSES,
        metavar="ATOMS",
        help=f"classes of docking, by heavy atoms, of {', '.join(map(str, ATOM_CLASSES))} "
        f"(default: {', '.join(map(str, FEW_CLASSES))})",
    )
    parser.add_argument(
        "--seconds", type=float, default=120, metavar="X",
        help="of search for each kernel and class (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--strategy",
        default=OURS,
        metavar="NAME",
        help="one setting after the other (%(default)s, the default), or of kernel_tuner's "
        f"{', '.join(STRATEGIES[1:])}",
    )
    parser.add_argument(
        "--for", dest="level", choices=["device", "architecture", "vendor"], default="device",
        help="what the rows are valid for (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="default: the only folder in which the stages look",
    )
    parser.add_argument(
        "--ligands",
        type=cli.input_file,
        help="ligands file to dock (default: random ligands, for docking alone)",
    )
    parser.add_argument("--pocket", type=cli.input_file, help="pocket file to dock them into")
    parser.add_argument("--quick", action="store_true", help="short runs: a trial of the command")
    cli.add_device(parser)
    return cli.run(parser, argv, _tune)


def _tune(options: argparse.Namespace) -> None:
    _require_kernel_tuner()
    if options.strategy not in STRATEGIES:
        raise UsageError(f"--strategy {options.strategy}: one of {', '.join(STRATEGIES)}")
    if not 0 < options.seconds < math.inf:
        raise UsageError(f"--seconds {options.seconds:g}: give a time above 0")
    if bool(options.ligands) != bool(options.pocket):
        raise UsageError("--ligands and --pocket belong together; give both, or neither")
    # Programs from the driver's cache come without the words on registers and spills.
    os.environ.setdefault("CUDA_CACHE_DISABLE", "1")
    device = select(options.device)
    folder = options.output or tuned_folder()
    path = folder / f"{names(device)[options.level]}.json"
    empty: dict[str, Any] = {"for": "", "device": "", "kernels": {}, "measured": {}}
    own = {"for": device.handle.name.strip(), "device": device.label}
    table = empty | read_table(path) | own
    temporary_for(path).unlink()  # what cannot be written is said before the search
    written = False
    for trial, kernel, key, values in _trials(options, device):
        log.info("%s, %s", kernel, "all ligands" if key == EVERY else f"up to {key} atoms")
        start = tuned(device, kernel, None if key == EVERY else int(key))
        found = search(trial, start, values, options.strategy, options.seconds)
        best = fastest(found)
        settings, outcome = best
        log.info("best: %s", described(settings, outcome))
        # What was not searched stays with the file that has it.
        chosen = {name: value for name, value in asdict(settings).items() if name in values}
        table["kernels"].setdefault(kernel, {})[key] = chosen
        table["measured"].setdefault(kernel, {})[key] = measured(
            trial, best, (start, dict(found)[start]), len(found)
        )
        write_texts(folder, {path.name: json.dumps(table, indent=2) + "\n"})
        written = True
    if written:
        unread = folder.resolve() != tuned_folder().resolve()
        cure = f"; no stage reads them there: copy the file to {tuned_folder()}" if unread else ""
        log.info("rows in %s%s", path, cure)
    else:
        log.info("nothing was tuned%s", f"; {path} stays as it is" if path.exists() else "")


Space = Mapping[str, tuple[Any, ...]]
"""Values of each setting that are tried."""


def _trials(
    options: argparse.Namespace, device: Device
) -> Iterator[tuple[Trial | StageTrial, str, str, Space]]:
    """What is tried in turn: work, kernel file, atom class or `EVERY`, and values."""
    behind = None
    for name in options.kernels:
        values = space(device, name)
        if name in WITHOUT:
            log.info("%s: nothing to tune: %s", name, WITHOUT[name])
        elif not values:
            log.info("%s: nothing to tune: on this device it has no setting that is free", name)
        elif name in FORMS:
            for atom_class in options.classes:
                trial = _docking(options, device, name, atom_class)
                yield trial, f"{name}/dock.cl", str(atom_class), values
        elif not options.ligands:
            log.info("%s: left out: give --ligands and --pocket, which it is tuned on", name)
        else:
            behind = behind or _stages(options, device)
            found = behind.trial(name, 2 if options.quick else 5)
            small = name in SCORED and int(np.diff(behind.ligands.first_atom).max()) <= SMALL
            yield found, found.kernel, str(SMALL) if small else EVERY, values


def _docking(options: argparse.Namespace, device: Device, form: Form, atom_class: int) -> Trial:
    is_gpu = device.kind == "gpu"
    count = {True: {"batched": 2048, "latency": 256}[form], False: 8}[is_gpu]
    sizes = (8, count // 4, 2) if options.quick else (256 if is_gpu else 32, count, 5)
    given = _input(options.ligands, options.pocket, atom_class, sizes[0])
    return Trial(device, form, *given, *sizes[1:])


def _stages(options: argparse.Namespace, device: Device) -> Stages:
    """Ligands of the library in the pocket: as many as keep a device busy."""
    ligands: Ligands = read(options.ligands, LIGANDS, Ligands)
    typed = read_typed(SCORED, options.ligands, options.pocket, ligands)
    field: GeometricField = read(options.pocket, POCKET, GeometricField)
    count = 2048 if device.kind == "gpu" else 16
    return Stages(device, typed, field, count // 4 if options.quick else count)


def _input(
    ligands_file: Path | None, pocket: Path | None, atom_class: int, restarts: int
) -> tuple[Ligands, Plan]:
    """Ligands of an atom class and a search: those of the files, or random ones."""
    if ligands_file is None or pocket is None:
        return random_input(atom_class, restarts)
    ligands: Ligands = read(ligands_file, LIGANDS, Ligands)
    classes = np.searchsorted(ATOM_CLASSES, ligands.heavy)
    rows = np.flatnonzero(classes == ATOM_CLASSES.index(atom_class))[:MOST_LIGANDS]
    if not len(rows):
        least = max((size + 1 for size in ATOM_CLASSES if size < atom_class), default=1)
        raise InputError(
            f"{ligands_file}: no ligand of {least} to {atom_class} heavy atoms; leave {atom_class} "
            "out of --classes, or give other ligands"
        )
    field: GeometricField = read(pocket, POCKET, GeometricField)
    settings = DockSettings(num_restart=restarts)
    chosen = subset(ligands, rows_below(ligands, "ligand", rows))
    return chosen, Plan.of(field, settings)


def _require_kernel_tuner() -> None:
    try:
        import kernel_tuner.interface  # noqa: F401
    except ImportError:
        raise InputError(f"kernel_tuner is not installed; install it: {install('tune')}") from None


def space(device: Device, kernel: str) -> Space:
    """Values of each setting of one of `KERNELS` that are tried on a device; none: none is free."""
    if kernel in ("filter", *SCORED):
        groups = GROUPS.get(device.back_end)
        return {"sub_groups": groups} if groups else {}
    if kernel == "refine":
        if device.kind not in refinement.QUEUES:
            return {}
        registers = {"registers": REFINE_REGISTERS} if device.back_end == "ptx" else {}
        return {**registers, "queues": REFINE_QUEUES}
    by_lanes = kernel == "batched" and FASTEST.get(device.kind, BY_SUB_GROUPS) != BY_SUB_GROUPS
    if kernel in WITHOUT or by_lanes:
        return {}
    chosen = dict(SPACES[device.back_end])
    if "lanes" in chosen:
        chosen["lanes"] = tuple(lanes for lanes in LANES if lanes <= device.sub_group_size)
    if kernel == "latency":
        chosen.pop("poses_per_item", None)
        chosen["queues"] = QUEUES.get(device.kind, (0,))
    return chosen


def search(
    trial: Trial | StageTrial, start: Tuning, values: Space, strategy: str, seconds: float
) -> list[tuple[Tuning, Outcome]]:
    """All settings that one of `STRATEGIES` has tried, `start` first, with outcomes."""
    from kernel_tuner.interface import Options, strategy_map
    from kernel_tuner.runners.runner import Runner
    from kernel_tuner.searchspace import Searchspace
    from kernel_tuner.util import CompilationFailedConfig, StopCriterionReached, TuningBudget

    parameters = {
        name: list(dict.fromkeys((*some, getattr(start, name)))) for name, some in values.items()
    }
    tried: dict[Tuning, Outcome] = {}

    class TrialRunner(Runner):
        """Runs candidates as the stages would."""

        def get_device_info(self) -> Any:
            """The device whose settings are tried."""
            return trial.device

        def get_environment(self, tuning_options: Any) -> dict[str, str]:
            """What Kernel Tuner writes beside its results: the device's name."""
            return {"device_name": trial.device.label}

        def run(self, parameter_space: Iterable[Any], tuning_options: Any) -> list[Any]:
            """Candidates' results, as Kernel Tuner takes them; None where the budget is spent."""
            results: list[Any] = []
            for element in parameter_space:
                values = dict(zip(parameters, element, strict=True))
                settings = replace(start, **values)
                if settings not in tried:
                    if tried and tuning_options.budget.is_done():
                        results.append(None)
                        continue
                    tuning_options.budget.add_evaluations(1)
                    tried[settings] = attempt(trial, settings)
                outcome = tried[settings]
                if is_fit(outcome):
                    results.append(values | {"time": 1e3 / outcome.rate})
                else:
                    error = CompilationFailedConfig()
                    results.append(values | {"time": error, "__error__": error})
            return results

    random.seed(1)
    np.random.seed(1)
    options = Options(
        tune_params=parameters,
        strategy_options=Options(
            {} if strategy in FROM_ANYWHERE
            else {"x0": [getattr(start, name) for name in parameters]}
        ),
        objective=["time"],
        objective_higher_is_better=[False],
        verbose=False,
        restrictions=None,
        cache={},
        budget=TuningBudget(time_limit=seconds),
    )  # fmt: skip
    tried[start] = attempt(trial, start)
    with contextlib.suppress(StopCriterionReached):
        chosen = OneByOne if strategy == OURS else strategy_map[strategy]
        chosen.tune(Searchspace(parameters, None, 1024), TrialRunner(), options)
    return list(tried.items())


class OneByOne:
    """A strategy for kernel_tuner: one setting after the other, each with all of its values.

    The best stays; rounds follow until one changes nothing. kernel_tuner's own local searches go
    through combinations of changes, which takes more builds than there is time for.
    """

    @staticmethod
    def tune(space: Any, runner: Any, options: Any) -> list[Any]:
        """As kernel_tuner's strategies: all results, until nothing improves or time is up."""
        from kernel_tuner.strategies.common import CostFunc

        cost = CostFunc(space, options, runner)
        best = list(options.strategy_options["x0"])
        lowest, before = cost(best), None
        while before != best:
            before = list(best)
            for place, values in enumerate(space.tune_params.values()):
                for value in values:
                    other = [*best[:place], value, *best[place + 1 :]]
                    if (found := cost(other)) < lowest:
                        best, lowest = other, found
        return cost.results


def attempt(trial: Trial | StageTrial, settings: Tuning) -> Outcome:
    """The outcome of some settings; what cannot be built is refused, not an error."""
    try:
        outcome = trial.attempt(settings)
    except DeviceError as error:
        outcome = Outcome(str(error).splitlines()[0])
    log.info("  %s", described(settings, outcome))
    return outcome


def described(settings: Tuning, outcome: Outcome) -> str:
    """One line on a candidate."""
    words = [f"{name} {value}" for name, value in asdict(settings).items()]
    if outcome.usage:
        words += [f"{outcome.usage.registers} registers", f"{outcome.usage.spilled} bytes spilled"]
    rate = f"{outcome.rate:12,.1f} ligands/s" if outcome.rates else f"refused: {outcome.refused}"
    return f"{rate}  {', '.join(words)}"


def is_fit(outcome: Outcome) -> bool:
    """Right, and without spills where the driver reports them."""
    return bool(outcome.rates) and not (outcome.usage and outcome.usage.spilled)


def fastest(found: list[tuple[Tuning, Outcome]]) -> tuple[Tuning, Outcome]:
    """The best of the fit candidates; DeviceError where there is none.

    The first one, from which the search began, stays unless another beats its best run.
    """
    start, fit = found[0], [row for row in found if is_fit(row[1])]
    if not fit:
        reasons = "; ".join(sorted({outcome.refused or "spills" for _, outcome in found}))
        raise DeviceError(f"no setting can be used on this device: {reasons}")
    best = max(fit, key=lambda row: row[1].rate)
    return start if is_fit(start[1]) and best[1].rate <= max(start[1].rates) else best


def measured(
    trial: Trial | StageTrial,
    best: tuple[Tuning, Outcome],
    start: tuple[Tuning, Outcome],
    tried: int,
) -> dict[str, Any]:
    """The record beside a row: when, at what, how fast, against what."""

    def figures(outcome: Outcome) -> dict[str, Any]:
        """Rates in ligands a second, registers and spilled bytes, or why it was refused."""
        if not outcome.rates:
            return {"refused": outcome.refused}
        return {
            "ligands_per_second": round(outcome.rate, 1),
            "lowest": round(min(outcome.rates), 1),
            "highest": round(max(outcome.rates), 1),
            "registers_used": outcome.usage.registers if outcome.usage else None,
            "spilled_bytes": outcome.usage.spilled if outcome.usage else None,
        }

    return {
        "date": datetime.date.today().isoformat(),
        "device": trial.device.label,
        **trial.of,
        "candidates": tried,
        "best": figures(best[1]),
        "start": asdict(start[0]) | figures(start[1]),
    }


if __name__ == "__main__":
    sys.exit(main())
