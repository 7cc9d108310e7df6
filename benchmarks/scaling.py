"""What docking costs against atoms, fragments, restarts, batch size, and number of devices.

    python benchmarks/scaling.py [--device SELECTOR] [--mode batched|latency|both]
                                 [--quick] [--json FILE]

Each table changes one thing and keeps the rest: 63 atoms, 8 fragments, 256 restarts, a batch that
fills the device. With several devices (--device gpu:all, or gpu:0,1) it also docks on 1, 2, 4 ..
of them at a time, one process each, as in the dock stage, timed by the host's clock. Every
configuration is compared with the NumPy twin before its figure is printed.
"""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.datasets import ATOMS, FRAGMENTS, benchmark_field, benchmark_search, dataset
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from benchmarks.steady import steady_rate
from benchmarks.throughput import atom_evaluations
from ligen_py.engine.docking.search import Plan
from ligen_py.engine.docking.tuning_candidate import Form, Trial
from ligen_py.opencl.device import Device, select_all
from ligen_py.opencl.workers import spread
from ligen_py.records.ligands import Ligands
from ligen_py.records.pocket import GeometricField

USUAL = {"atoms": 63, "fragments": 8, "restarts": 256}
PIECES = 8
"""Pieces of work that each device is given in the table of devices, after one to warm up."""


class Bench:
    """One device and form; molecules and pocket are made once."""

    def __init__(self, device: Device, form: Form, field: GeometricField, quick: bool) -> None:
        """`quick` means fewer molecules and runs."""
        self.device, self.form, self.field, self.quick = device, form, field, quick
        self.restarts = 256 if device.kind == "gpu" else 32
        full = {"batched": 4096, "latency": 256}[form]
        self.full = full if device.kind == "gpu" else 8 if quick else 16

    def row(self, **changes: int) -> dict[str, Any]:
        """One line: what was changed, its rate, and atom evaluations a second."""
        chosen = {**USUAL, "restarts": self.restarts, "batch": self.full, **changes}
        settings = benchmark_search(chosen["restarts"])
        plan = Plan.of(self.field, settings)
        ligands = molecules(chosen["atoms"], chosen["fragments"], 2 if self.quick else 4)
        runs = 3 if self.quick else 5
        outcome = Trial(self.device, self.form, ligands, plan, chosen["batch"], runs).attempt()
        if outcome.refused:
            raise SystemExit(f"{changes}: {outcome.refused}; no figure")
        work = atom_evaluations(ligands, chosen["fragments"], settings)
        row = {
            "mode": self.form,
            **chosen,
            "ligands_per_second": outcome.rate,
            "lowest": min(outcome.rates),
            "highest": max(outcome.rates),
            "microseconds_per_ligand": 1e6 / outcome.rate,
            "atom_evaluations_per_second": outcome.rate * work,
        }
        name, value = next(iter(changes.items()))
        print(
            f"{name:9} {value:5} {outcome.rate:12,.1f} "
            f"({row['lowest']:,.1f} to {row['highest']:,.1f}) {1e6 / outcome.rate:10,.1f} us "
            f"{outcome.rate * work / 1e9:9.3f}",
            flush=True,
        )
        return row


def molecules(atoms: int, fragments: int, count: int) -> Ligands:
    """The molecules of a dataset; each dataset is made once."""
    key = atoms, fragments, count
    if key not in _made:
        _made[key] = dataset(*key)
    return _made[key]


_made: dict[tuple[int, int, int], Ligands] = {}


def tables(bench: Bench) -> list[dict[str, Any]]:
    """All tables of one device and form."""
    step = 3 if bench.quick else 1
    print(f"\n{bench.form}: ligands/s (lowest to highest), time a ligand, 1e9 atoms/s", flush=True)
    rows = [bench.row(atoms=atoms) for atoms in ATOMS[::step]]
    rows += [bench.row(fragments=fragments) for fragments in FRAGMENTS[::step]]
    restarts = (64, 256, 1024) if bench.device.kind == "gpu" else (8, 32, 128)
    rows += [bench.row(restarts=count) for count in restarts[:: 2 if bench.quick else 1]]
    sizes = [size for size in (1, 4, 16, 64, 256, 1024, 4096) if size <= bench.full]
    return rows + [bench.row(batch=size) for size in sizes[:: 2 if bench.quick else 1]]


def worker(
    device: Device, form: Form, ligands: Ligands, plan: Plan, count: int
) -> Callable[[int], tuple[int, float, float]]:
    """The work of one device: dock a piece; returns which one, when it began and when it ended."""
    trial = Trial(device, form, ligands, plan, count, 1)
    outcome = trial.attempt()
    if outcome.refused:
        raise SystemExit(f"{device.label}: {outcome.refused}; no figure")
    docker, rows = trial.docker(None), np.arange(count) % len(ligands.entry)
    docker.time(ligands, rows)

    def dock(piece: int) -> tuple[int, float, float]:
        started = time.monotonic()
        docker.time(ligands, rows)
        return piece, started, time.monotonic()

    return dock


def on_devices(chosen: list[Device], bench: Bench) -> dict[str, Any]:
    """Ligands/s of several devices together, over the time in which all of them work."""
    plan = Plan.of(bench.field, benchmark_search(bench.restarts))
    ligands, count = molecules(USUAL["atoms"], USUAL["fragments"], 4), 4 * bench.full
    start = partial(worker, form=bench.form, ligands=ligands, plan=plan, count=count)
    pieces = range(len(chosen) * (PIECES + 1))
    done = list(spread(chosen, start, pieces))
    rate, seconds = steady_rate(
        [
            [(begun, ended, count) for piece, begun, ended in done if piece % len(chosen) == number]
            for number in range(len(chosen))
        ]
    )
    return {
        "mode": bench.form,
        "devices": len(chosen),
        "ligands_per_second": rate,
        "seconds": seconds,
    }


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--mode", choices=["batched", "latency", "both"], default="both")
    parser.add_argument("--device", help="OpenCL devices, as in the dock stage")
    parser.add_argument("--quick", action="store_true", help="a minute on a CPU: a few sizes")
    parser.add_argument("--json", type=writable, help="also write the tables here")
    parser.add_argument("--devices-only", action="store_true", help="only the table of devices")
    options = parser.parse_args()
    chosen, field = select_all(options.device), benchmark_field()
    forms: list[Form] = ["batched", "latency"] if options.mode == "both" else [options.mode]
    result: dict[str, Any] = {"device": chosen[0].label, "rows": [], "devices": []}
    print(chosen[0].label, flush=True)
    for form in forms:
        bench = Bench(chosen[0], form, field, options.quick)
        if not options.devices_only:
            result["rows"] += tables(bench)
            save(options.json, result)
        counts = [count for count in (1, 2, 4, 8) if count <= len(chosen)]
        for count in counts if len(chosen) > 1 else ():
            row = on_devices(chosen[:count], bench)
            alone = next(r for r in [*result["devices"], row] if r["mode"] == form)
            row["efficiency"] = row["ligands_per_second"] / count / alone["ligands_per_second"]
            result["devices"].append(row)
            print(
                f"{form}, {count} devices: {row['ligands_per_second']:,.1f} ligands/s, "
                f"{100 * row['efficiency']:.1f} % of {count} times one",
                flush=True,
            )
            save(options.json, result)
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
