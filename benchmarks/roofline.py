"""The limits of the device, and what share of them the dock kernel reaches.

    python benchmarks/roofline.py [--device SELECTOR] [--mode batched|latency|both]
                                  [--refine] [--quick] [--json FILE]

Ceilings, all measured in the same run: single-precision multiply-adds, integer multiply-adds,
memory (read and written), and field look-ups from a buffer (by rows, by bricks) and from an image.
The look-up ceilings are the dock kernel's innermost loop alone (benchmarks/ceilings.cl): the same
molecule at the same starts, turned about its own bonds, lane = angle, nearest cell of an int8
field, atoms in turn. One atom evaluation costs 24 single-precision operations (12 fused
multiply-adds), 6 integer operations and one look-up. The ceiling of which the kernel uses the
largest share is its limit, and that share is its efficiency. A ceiling is the best of its runs, a
rate the median. Every kernel's results are compared with NumPy first; a share above 100 % means
that the machine did other work (look-ups are measured before and after the kernel for its sake).

With --refine the refine kernel follows, in both forms, as in benchmarks/refining.py: energies with
gradients a second, and their share of the single-precision ceiling.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks import refining
from benchmarks.ceilings import arithmetic, look_ups, memory, spread
from benchmarks.datasets import benchmark_field, benchmark_search, dataset
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from benchmarks.throughput import atom_evaluations
from ligen_py.engine.docking.search import Plan
from ligen_py.engine.docking.tuning_candidate import Form, Trial
from ligen_py.errors import DeviceError
from ligen_py.opencl.device import Device, select
from ligen_py.opencl.tuning import LOOK_UPS, tuned
from ligen_py.settings.dock import DockSettings

FLOPS, WHOLE = 24, 6
"""Operations of one atom evaluation: 9 + 3 fused multiply-adds; two multiply-adds for the index of
the cell, its bias, the sum."""

SETS = ((31, 4), (63, 8), (89, 20))


def efficiency(
    device: Device, plan: Plan, settings: DockSettings, forms: list[Form], quick: bool
) -> dict[str, Any]:
    """All ceilings and the dock kernel's rates beside them; the tables as JSON."""
    runs = 3 if quick else 7
    ceilings: dict[str, Any] = arithmetic(device, runs) | {"memory": memory(device, runs)}
    print(f"{'FP32':24} {ceilings['fused']['median'] / 1e9:10,.1f} 1e9 operations/s")
    print(f"{'whole numbers':24} {ceilings['whole']['median'] / 1e9:10,.1f} 1e9 operations/s")
    print(f"{'memory':24} {ceilings['memory']['median'] / 1e9:10,.1f} 1e9 bytes/s", flush=True)
    rows = []
    for atoms, fragments in SETS[::2] if quick else SETS:
        name = f"d_{atoms}_{fragments}"
        own: dict[str, dict[str, float]] = {}
        for look_up in LOOK_UPS:
            try:
                own[look_up] = look_ups(device, plan, atoms, fragments, look_up, runs)
            except DeviceError as error:
                print(f"look-up by {look_up}: {str(error).splitlines()[0]}")
                continue
            rate = own[look_up]["median"] / 1e9
            print(f"{name + ', ' + look_up:24} {rate:10,.3f} 1e9 look-ups/s", flush=True)
        ceilings[f"look_up {name}"] = own
        for form in forms:
            rows.append(dock_row(device, plan, settings, form, (atoms, fragments), ceilings, quick))
            print(line(rows[-1]), flush=True)
    return {"device": device.label, "ceilings": ceilings, "dock": rows}


def dock_row(
    device: Device,
    plan: Plan,
    settings: DockSettings,
    form: Form,
    size: tuple[int, int],
    ceilings: dict[str, Any],
    quick: bool,
) -> dict[str, Any]:
    """The dock kernel's rate on one dataset, and its share of each ceiling."""
    atoms, fragments = size
    count = {"batched": 4096, "latency": 256}[form] if device.kind == "gpu" else 16
    ligands = dataset(atoms, fragments, 4 if quick else 8)
    trial = Trial(device, form, ligands, plan, count, 3 if quick else 7)
    outcome = trial.attempt()
    if outcome.refused:
        raise SystemExit(f"d_{atoms}_{fragments}, {form}: {outcome.refused}; no figure")
    rate = outcome.rate * atom_evaluations(ligands, fragments, settings)
    own = ceilings[f"look_up d_{atoms}_{fragments}"]
    look_up = tuned(device, f"{form}/dock.cl", trial.atom_class).look_up
    # Again, after the kernel that is held against it: other work on the machine comes and goes.
    again = look_ups(device, plan, atoms, fragments, look_up, 3 if quick else 7)
    own[look_up] = max(own[look_up], again, key=lambda rates: rates["highest"])
    shares = {
        "look_up": rate / own[look_up]["highest"],
        "fused": rate * FLOPS / ceilings["fused"]["highest"],
        "whole": rate * WHOLE / ceilings["whole"]["highest"],
    }
    binding = max(shares, key=lambda name: shares[name])
    return {
        "dataset": f"d_{atoms}_{fragments}",
        "mode": form,
        "ligands_per_second": spread(list(outcome.rates)),
        "atom_evaluations_per_second": rate,
        "look_up": look_up,
        "shares": shares,
        "binding": binding,
        "share_of_ceiling": shares[binding],
    }


def line(row: dict[str, Any]) -> str:
    """One row of the table."""
    ligands = row["ligands_per_second"]
    return (
        f"{row['dataset']:8} {row['mode']:8} {ligands['median']:11,.1f} ligands/s "
        f"({ligands['lowest']:,.1f} to {ligands['highest']:,.1f}) "
        f"{row['atom_evaluations_per_second'] / 1e9:8.3f} 1e9 atoms/s = "
        f"{100 * row['share_of_ceiling']:.1f} % of {row['binding']}"
    )


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--mode", choices=["batched", "latency", "both"], default="both")
    parser.add_argument("--device", help="OpenCL device, as in the stages")
    parser.add_argument("--refine", action="store_true", help="the refine kernel, too")
    parser.add_argument("--quick", action="store_true", help="a minute on a CPU: fewer datasets")
    parser.add_argument("--json", type=writable, help="also write the tables here")
    options = parser.parse_args()
    device = select(options.device)
    settings = benchmark_search(64 if options.quick else 256)
    plan = Plan.of(benchmark_field(), settings)
    forms: list[Form] = ["batched", "latency"] if options.mode == "both" else [options.mode]
    print(device.label, flush=True)
    tables = efficiency(device, plan, settings, forms, options.quick)
    save(options.json, tables)
    if options.refine:
        runs = 2 if options.quick else 5
        given = refining.Given.of(device, 12 if options.quick else refining.ligands_for(device))
        tables["refine"] = refining.measure(device, given, "vina", refining.FORMS, runs)
        refining.print_rows(tables["refine"], tables["ceilings"]["fused"]["highest"])
        save(options.json, tables)
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
