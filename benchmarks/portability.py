"""Performance portability: Pennycook's Phi, the harmonic mean of efficiencies over devices.

    python benchmarks/portability.py [--device SELECTOR] [--mode batched|latency|both]
                                     [--quick] [--json FILE]
    python benchmarks/portability.py --combine a.json b.json ... [--json FILE]

The first form measures one device: both forms of docking on Light (d_31_4) and Heavy (d_89_20),
as a share of the ceiling that limits them (benchmarks/roofline.py, in the same run) and, on an
NVIDIA device with CuPy, against the same kernel files compiled natively, as CUDA through NVRTC
(benchmarks/native.py): application efficiency. Without CuPy that column is empty. The second
form combines the files of several devices. Results, native ones too, are compared with the
NumPy twin before a figure is printed.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks import native, roofline
from benchmarks.ceilings import arithmetic, class_of, look_ups, spread
from benchmarks.datasets import benchmark_field, benchmark_search, dataset
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from ligen_py.engine.docking.batched import Docker
from ligen_py.engine.docking.search import Plan
from ligen_py.engine.docking.tuning_candidate import Form, Trial
from ligen_py.errors import InputError
from ligen_py.opencl.device import Device, select
from ligen_py.opencl.tuning import tuned

SETS = ((31, 4), (89, 20))
EFFICIENCIES = ("share_of_ceiling", "application_efficiency")


def phi(efficiencies: list[float | None]) -> float:
    """Harmonic mean of efficiencies; 0 where a device is not supported (None)."""
    known = [value for value in efficiencies if value]
    return len(known) / sum(1 / value for value in known) if len(known) == len(efficiencies) else 0


def measure(device: Device, forms: list[Form], quick: bool) -> dict[str, Any]:
    """Efficiencies of one device; the table as JSON."""
    settings = benchmark_search(64 if quick else 256)
    plan = Plan.of(benchmark_field(), settings)
    runs = 3 if quick else 7
    has_native = device.back_end == "ptx" and importlib.util.find_spec("cupy") is not None
    if not has_native:
        print("no native compiler here (NVIDIA with CuPy): no application efficiency")
    ceilings: dict[str, Any] = arithmetic(device, runs)
    rows = []
    for atoms, fragments in SETS:
        atom_class = class_of(int(dataset(atoms, fragments, 1).heavy.max()))
        looks = {
            look_up: look_ups(device, plan, atoms, fragments, look_up, runs)
            for look_up in {tuned(device, f"{form}/dock.cl", atom_class).look_up for form in forms}
        }
        ceilings[f"look_up d_{atoms}_{fragments}"] = looks
        for form in forms:
            size = (atoms, fragments)
            row = roofline.dock_row(device, plan, settings, form, size, ceilings, quick)
            if has_native:
                row |= native_rate(device, plan, form, size, row, quick)
            rows.append(row)
            print(line(row), flush=True)
    return {"device": device.label, "ceilings": ceilings, "rows": rows}


def native_rate(
    device: Device,
    plan: Plan,
    form: Form,
    size: tuple[int, int],
    row: dict[str, Any],
    quick: bool,
) -> dict[str, Any]:
    """Rate of the natively compiled kernels, and what share of it the OpenCL ones reach."""
    count = {"batched": 4096, "latency": 256}[form]
    ligands = dataset(*size, 4 if quick else 8)
    trial = Trial(device, form, ligands, plan, count, 1)
    tuning = tuned(device, f"{form}/dock.cl", trial.atom_class)
    if tuning.look_up == "image":
        return {}
    docker: native.NativeDocker | native.NativeLatencyDocker
    if form == "batched":
        model = Docker(device, trial.plan, tuning)
        docker = native.NativeDocker(model, tuning, trial.atom_class)
    else:
        docker = native.NativeLatencyDocker(trial.plan, tuning, trial.atom_class)
    if not trial.equals_twin(docker.search(ligands, trial.sample)):
        raise SystemExit(f"{row['dataset']}, {form}: the native kernel differs from the twin")
    found = spread(native.rates(docker, ligands, count, 3 if quick else 7))
    efficiency = row["ligands_per_second"]["median"] / found["median"]
    return {"native_ligands_per_second": found, "application_efficiency": efficiency}


def line(row: dict[str, Any]) -> str:
    """One row of the table."""
    words = roofline.line(row)
    if "application_efficiency" in row:
        rate = row["native_ligands_per_second"]["median"]
        words += f"; native {rate:,.1f} ligands/s, {100 * row['application_efficiency']:.1f} %"
    return words


def _table(path: Path) -> dict[str, Any]:
    """What --json has written; InputError for any other file."""
    try:
        table: dict[str, Any] = json.loads(path.read_text())
        table["device"], table["rows"]
    except (ValueError, LookupError, TypeError):
        raise InputError(f"{path}: is no file that portability.py --json wrote") from None
    return table


def combine(paths: list[Path]) -> list[dict[str, Any]]:
    """Phi of every form and dataset over the devices of some files."""
    tables = [_table(path) for path in paths]
    keys = list(
        dict.fromkeys((row["mode"], row["dataset"]) for table in tables for row in table["rows"])
    )
    result = []
    for mode, name in keys:
        found: dict[str, dict[str, Any]] = {
            table["device"]: next(
                (r for r in table["rows"] if (r["mode"], r["dataset"]) == (mode, name)), {}
            )
            for table in tables
        }
        row: dict[str, Any] = {"mode": mode, "dataset": name, "devices": list(found)}
        for kind in EFFICIENCIES:
            # Application efficiency is known only where there is a native compiler.
            values = [
                one.get(kind) for one in found.values() if kind == "share_of_ceiling" or kind in one
            ]
            row[kind] = values
            row[f"phi_{kind}"] = phi(values) if values else None
        result.append(row)
        cells = [f"{mode:8} {name:8}"]
        for kind in EFFICIENCIES:
            if row[f"phi_{kind}"] is not None:
                each = ", ".join(f"{100 * (value or 0):.1f}" for value in row[kind])
                words = kind.replace("_", " ")
                cells.append(f"Phi of {words} {100 * row[f'phi_{kind}']:.1f} % ({each})")
        print("  ".join(cells))
    return result


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--mode", choices=["batched", "latency", "both"], default="both")
    parser.add_argument("--device", help="OpenCL device, as in the stages")
    parser.add_argument("--quick", action="store_true", help="a minute on a CPU: fewer runs")
    parser.add_argument("--json", type=writable, help="also write the tables here")
    parser.add_argument("--combine", type=Path, nargs="+", metavar="FILE", help="of --json")
    options = parser.parse_args()
    if options.combine:
        tables: Any = combine(options.combine)
    else:
        device = select(options.device)
        print(device.label, flush=True)
        forms: list[Form] = ["batched", "latency"] if options.mode == "both" else [options.mode]
        tables = measure(device, forms, options.quick)
    save(options.json, tables)
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
