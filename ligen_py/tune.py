"""Find the fastest settings of the docking kernels on a device, and keep them for its kind.

Searches with kernel_tuner's strategies over lanes of a sub-group, sub-groups of a work-group, poses
an item, unrolling, the cap on registers (NVIDIA) and how the field is looked up. A candidate is
first compared with the NumPy twin and then timed; one that is wrong or spills registers is never
taken. Results stand in kernels/tuned/, where the stages look them up by device, architecture,
vendor and default. They change speed, never a result.
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
import os
import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py import cli
from ligen_py.engine.constants import ATOM_CLASSES
from ligen_py.engine.docking.batched import BY_SUB_GROUPS, FASTEST
from ligen_py.engine.docking.search import Plan
from ligen_py.engine.docking.tuning_candidate import Form, Outcome, Trial, random_input
from ligen_py.errors import DeviceError, InputError
from ligen_py.opencl.device import Device, select
from ligen_py.opencl.tuning import LANES, Tuning, names, read_rows, tuned, tuned_folder
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, GeometricField
from ligen_py.records.rows import rows_below, subset
from ligen_py.settings.dock import DockSettings
from ligen_py.store.files.read import read
from ligen_py.store.files.text import write_texts

log = logging.getLogger("ligen_py")

FORMS: tuple[Form, ...] = ("batched", "latency")
OURS = "one_by_one"
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
"""What is searched, by back end, in the order in which a strategy goes through it."""

QUEUES = {"gpu": (0, 8, 32), "cpu": (0, 1, 4)}


def main(argv: Sequence[str] | None = None) -> int:
    """Tune from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.tune", __doc__)
    parser.add_argument(
        "--forms", choices=FORMS, nargs="+", default=FORMS, help="of docking (default: both)"
    )
    parser.add_argument(
        "--classes",
        type=int,
        choices=ATOM_CLASSES,
        nargs="+",
        default=FEW_CLASSES,
        metavar="ATOMS",
        help=f"atom classes, of {', '.join(map(str, ATOM_CLASSES))} "
        f"(default: {', '.join(map(str, FEW_CLASSES))})",
    )
    parser.add_argument(
        "--seconds", type=float, default=120, metavar="X",
        help="of search for each form and class (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--strategy",
        default=OURS,
        help="one setting after the other (%(default)s, the default), or one of kernel_tuner's",
    )
    parser.add_argument(
        "--for", dest="level", choices=["device", "architecture", "vendor"], default="device",
        help="what the rows are valid for (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=Path, metavar="FOLDER", help="default: where the stages look"
    )
    parser.add_argument(
        "--ligands", type=cli.input_file, help="ligands file to dock; default: random ligands"
    )
    parser.add_argument("--pocket", type=cli.input_file, help="pocket file to dock them into")
    parser.add_argument("--quick", action="store_true", help="short runs: a trial of the command")
    cli.add_device(parser)
    return cli.run(parser, argv, _tune)


def _tune(options: argparse.Namespace) -> None:
    _require_kernel_tuner(options.strategy)
    if options.seconds <= 0:
        raise InputError(f"--seconds {options.seconds:g}: give a time above 0")
    if bool(options.ligands) != bool(options.pocket):
        raise InputError("--ligands and --pocket belong together; give both, or neither")
    # Programs from the driver's cache come without the words on registers and spills.
    os.environ.setdefault("CUDA_CACHE_DISABLE", "1")
    device = select(options.device)
    folder = options.output or tuned_folder()
    path = folder / f"{names(device)[options.level]}.json"
    table = read_table(path) | {"for": device.handle.name.strip(), "device": device.label}
    is_gpu = device.kind == "gpu"
    for form in options.forms:
        if form == "batched" and FASTEST.get(device.kind, BY_SUB_GROUPS) != BY_SUB_GROUPS:
            log.warning("batched: this device takes a form without settings; nothing to tune")
            continue
        for atom_class in options.classes:
            log.info("%s, up to %d atoms", form, atom_class)
            count = {True: {"batched": 2048, "latency": 256}[form], False: 8}[is_gpu]
            restarts = 256 if is_gpu else 32
            sizes = (8, count // 4, 2) if options.quick else (restarts, count, 5)
            given = _input(options.ligands, options.pocket, atom_class, sizes[0])
            trial = Trial(device, form, *given, *sizes[1:])
            kernel = f"{form}/dock.cl"
            start = tuned(device, kernel, atom_class)
            found = search(trial, start, options.strategy, options.seconds)
            best = fastest(found)
            settings, outcome = best
            log.info("best: %s", described(settings, outcome))
            table["kernels"].setdefault(kernel, {})[str(atom_class)] = asdict(settings)
            table["measured"].setdefault(kernel, {})[str(atom_class)] = measured(
                trial, best, (start, dict(found)[start]), len(found)
            )
            write_texts(folder, {path.name: [json.dumps(table, indent=2) + "\n"]})
    log.info("rows in %s", path)


def _input(
    ligands_file: Path | None, pocket: Path | None, atom_class: int, restarts: int
) -> tuple[Ligands, Plan]:
    """Ligands of an atom class and a search: those of the files, or random ones."""
    if ligands_file is None or pocket is None:
        return random_input(atom_class, restarts)
    ligands: Ligands = read(ligands_file, LIGANDS, Ligands)
    classes = np.searchsorted(ATOM_CLASSES, np.diff(ligands.first_atom))
    rows = np.flatnonzero(classes == ATOM_CLASSES.index(atom_class))[:MOST_LIGANDS]
    if not len(rows):
        least = max((size + 1 for size in ATOM_CLASSES if size < atom_class), default=1)
        raise InputError(
            f"{ligands_file}: no ligand of {least} to {atom_class} atoms; leave {atom_class} "
            "out of --classes, or give other ligands"
        )
    field: GeometricField = read(pocket, POCKET, GeometricField)
    settings = DockSettings(num_restart=restarts)
    chosen = subset(ligands, rows_below(ligands, "ligand", rows))
    return chosen, Plan.of(field, settings)


def _require_kernel_tuner(strategy: str) -> None:
    try:
        from kernel_tuner.interface import strategy_map
    except ImportError:
        raise InputError(
            "kernel_tuner is not installed; install it with pip install 'ligen_py[tune]'"
        ) from None
    if strategy not in (OURS, *strategy_map):
        raise InputError(f"--strategy {strategy}: one of {', '.join((OURS, *strategy_map))}")


def read_table(path: Path) -> dict[str, Any]:
    """A tuned file as it stands, to which rows are added; an empty one where there is none."""
    old = json.loads(path.read_text()) if read_rows(path) else {}
    return {"for": "", "device": "", "kernels": {}, "measured": {}} | old


def space(device: Device, form: Form, start: Tuning) -> dict[str, list[Any]]:
    """Values of each setting that are tried on a device; those of `start` are among them."""
    chosen = dict(SPACES[device.back_end])
    if "lanes" in chosen:
        chosen["lanes"] = tuple(lanes for lanes in LANES if lanes <= device.sub_group_size)
    if form == "latency":
        chosen.pop("poses_per_item", None)
        chosen["queues"] = QUEUES.get(device.kind, (0,))
    return {
        name: list(dict.fromkeys((*values, getattr(start, name))))
        for name, values in chosen.items()
    }


def search(
    trial: Trial, start: Tuning, strategy: str, seconds: float
) -> list[tuple[Tuning, Outcome]]:
    """All settings that a strategy of kernel_tuner has tried, from `start` on, with outcomes."""
    from kernel_tuner.interface import Options, strategy_map
    from kernel_tuner.runners.runner import Runner
    from kernel_tuner.searchspace import Searchspace
    from kernel_tuner.util import CompilationFailedConfig, StopCriterionReached, TuningBudget

    parameters = space(trial.device, trial.form, start)
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
            {} if strategy in ("brute_force", "random_sample")
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


def attempt(trial: Trial, settings: Tuning) -> Outcome:
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
    trial: Trial, best: tuple[Tuning, Outcome], start: tuple[Tuning, Outcome], tried: int
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
        "restarts": trial.plan.num_restart,
        "candidates": tried,
        "best": figures(best[1]),
        "start": asdict(start[0]) | figures(start[1]),
    }


if __name__ == "__main__":
    sys.exit(main())
