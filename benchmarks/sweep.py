"""Registers, spills and occupancy of every kernel, and the sweep of work-group size and cap.

    python benchmarks/sweep.py [--device SELECTOR] [--mode batched|latency|both]
                               [--part kernels light heavy] [--quick] [--json FILE]

After the LiGen paper: its Tables 1 and 2 (registers by kernel, latency and batched) and its
Figure 6 (register caps by work-group sizes, Light d_31_4 and Heavy d_89_20). Registers and spills
come from the build log, which NVIDIA's compiler writes; occupancy is sub-groups of one
multiprocessor at a time, of all that it can run. On other devices the sweep varies the lanes of a
sub-group instead of caps. Every setting is compared with the NumPy twin before it is timed.
"""

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.datasets import benchmark_field, benchmark_search, dataset
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from ligen_py.engine.constants import ATOM_CLASSES
from ligen_py.engine.docking.batched import Docker
from ligen_py.engine.docking.latency import LatencyDocker
from ligen_py.engine.docking.search import STRUCTS, Plan
from ligen_py.engine.docking.tuning_candidate import Form, Trial
from ligen_py.errors import DeviceError
from ligen_py.opencl.device import Device, select
from ligen_py.opencl.program import Program, build
from ligen_py.opencl.residency import occupancy, usage
from ligen_py.opencl.tuning import LANES, Tuning, tuned

LIGHT, HEAVY = (31, 4), (89, 20)
CAPS = (0, 64, 80, 96)
GROUPS = (1, 2, 4, 8, 16)
PARTS = ("kernels", "light", "heavy")


def kernels(device: Device, plan: Plan, form: Form, classes: tuple[int, ...]) -> dict[str, Any]:
    """Kernel, atom class -> registers, spilled bytes, sub-groups at a time and at most."""
    programs: list[tuple[int, Program, int]] = []
    for atom_class in classes:
        group = tuned(device, f"{form}/dock.cl", atom_class).sub_groups
        if form == "batched":
            programs.append((atom_class, Docker(device, plan).program(atom_class), group))
            for source in ("batched/filter.cl", "batched/xscore.cl"):
                group = tuned(device, source, atom_class).sub_groups
                definitions = {"MAX_ATOMS": atom_class, "WG_SUB_GROUPS": group}
                programs.append(
                    (atom_class, build(device, source, definitions, structs=STRUCTS), group)
                )
        else:
            for launches in ("ligand", "fragment"):
                docker = LatencyDocker(device, plan, launches)
                programs.append((atom_class, docker.program(atom_class), group))
    table: dict[str, Any] = {}
    for atom_class, program, group in programs:
        for name, found in usage(program.log).items():
            alone = form == "latency" and name in ("initialize_pose", "evaluate", "score")
            at_a_time, most = occupancy(program, name, 1 if alone else group)
            table.setdefault(name, {})[str(atom_class)] = {
                "registers": found.registers,
                "spilled_bytes": found.spilled,
                "sub_groups": at_a_time,
                "most": most,
            }
    return table


def show(table: dict[str, Any], form: Form) -> None:
    """Print registers, spills and occupancy."""
    number = {"latency": 1, "batched": 2}[form]
    print(f"\nas Table {number} of the paper ({form}): registers (bytes spilled), sub-groups")
    if not table:
        print("the driver does not report registers")
    for name, classes in table.items():
        words = [
            f"{atoms}: {row['registers']} ({row['spilled_bytes']}) "
            f"{row['sub_groups']}/{row['most']}"
            for atoms, row in classes.items()
        ]
        print(f"{name:16} {'   '.join(words)}", flush=True)


def sweep(
    device: Device, plan: Plan, form: Form, size: tuple[int, int], quick: bool
) -> list[dict[str, Any]]:
    """The grid of one dataset; what cannot be built or is wrong has a reason for a rate."""
    atoms, fragments = size
    is_gpu = device.kind == "gpu"
    count = {"batched": 2048, "latency": 128}[form] if is_gpu else 8
    trial = Trial(device, form, dataset(atoms, fragments, 4), plan, count, 3)
    start = tuned(device, f"{form}/dock.cl", trial.atom_class)
    if device.back_end == "ptx":
        grid = [(f"cap {cap}", replace(start, registers=cap)) for cap in CAPS]
    else:
        sizes = [lanes for lanes in LANES if lanes <= device.sub_group_size]
        grid = [(f"lanes {lanes}", replace(start, lanes=lanes)) for lanes in sizes]
    groups: tuple[int, ...] = GROUPS[:3] if form == "latency" or not is_gpu else GROUPS
    groups = groups[:1] if device.back_end == "local" else groups
    if quick:
        grid, groups = grid[::2], groups[:2]
    rows = []
    print(f"\nas Figure 6, d_{atoms}_{fragments}, {form}: ligands/s (lowest to highest)")
    for label, tuning in grid:
        for group in groups:
            rows.append(_cell(trial, replace(tuning, sub_groups=group), size))
            row = rows[-1]
            result = row.get("refused") or (
                f"{row['ligands_per_second']:12,.1f} "
                f"({row['lowest']:,.1f} to {row['highest']:,.1f})"
            )
            registers = f"{row['registers']} registers, {row['spilled_bytes']} bytes spilled"
            extra = registers if row["registers"] is not None else ""
            print(f"{label:9} work-group {group * tuning.lanes:4} {result} {extra}", flush=True)
    return rows


def _cell(trial: Trial, tuning: Tuning, size: tuple[int, int]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "dataset": f"d_{size[0]}_{size[1]}",
        "mode": trial.form,
        "lanes": tuning.lanes,
        "work_group": tuning.sub_groups * tuning.lanes,
        "cap": tuning.registers,
        "registers": None,
        "spilled_bytes": None,
    }
    try:
        outcome = trial.attempt(tuning)
    except DeviceError as error:
        return row | {"refused": str(error).splitlines()[0]}
    if outcome.usage:
        row |= {"registers": outcome.usage.registers, "spilled_bytes": outcome.usage.spilled}
    if outcome.refused:
        return row | {"refused": outcome.refused}
    rates = np.array(outcome.rates)
    return row | {
        "ligands_per_second": float(np.median(rates)),
        "lowest": float(rates.min()),
        "highest": float(rates.max()),
    }


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--mode", choices=["batched", "latency", "both"], default="both")
    parser.add_argument("--device", help="OpenCL device, as in the stages")
    parser.add_argument(
        "--part", choices=PARTS, nargs="+", default=PARTS, help="default: all, minutes on a GPU"
    )
    parser.add_argument("--quick", action="store_true", help="a minute on a CPU: a few settings")
    parser.add_argument("--json", type=writable, help="also write the tables here")
    options = parser.parse_args()
    # Programs from the driver's cache come without the words on registers and spills.
    os.environ.setdefault("CUDA_CACHE_DISABLE", "1")
    device = select(options.device)
    settings = benchmark_search(256 if device.kind == "gpu" else 32)
    plan = Plan.of(benchmark_field(), settings)
    print(device.label, flush=True)
    forms: list[Form] = ["batched", "latency"] if options.mode == "both" else [options.mode]
    classes = ATOM_CLASSES[:3:2] if options.quick else ATOM_CLASSES[:4]
    tables: dict[str, Any] = {"device": device.label, "kernels": {}, "sweep": []}
    for form in forms:
        if "kernels" in options.part:
            if device.back_end == "ptx":
                tables["kernels"][form] = kernels(device, plan, form, classes)
            show(tables["kernels"].get(form, {}), form)
        for name, size in (("light", LIGHT), ("heavy", HEAVY)):
            if name in options.part and not (options.quick and name == "heavy"):
                tables["sweep"] += sweep(device, plan, form, size, options.quick)
        save(options.json, tables)
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
