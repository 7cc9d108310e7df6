"""How fast docking is, on the 16 datasets of the LiGen paper, in both its forms.

    python benchmarks/throughput.py [--mode latency|batched|both] [--device SELECTOR]
                                    [--quick] [--json FILE] [--launches fragment] [--crossover]

One stated setting: 256 restarts, 3 iterations, 32 angles, both sides of each rotatable bond, the
alignment of 246 evaluations a restart, bump check on. `batched` is timed by the device's events of
the kernel; `latency` by the host's clock, with packing and copies, because ligands overlap there.
Each figure is the median of several runs that fill the device, after a warm-up, with the spread.
Before a figure is printed, some restarts are compared with the NumPy twin.

--launches fragment runs the latency form as the paper does, with two launches a fragment.
--crossover prints instead how long a few ligands take in both forms, by the host's clock: where
`auto` changes from one to the other (ligen_py/engine/docking/mode.py).
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.datasets import NAMES, benchmark_field, benchmark_search, datasets
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from ligen_py.engine.docking import reference as docking_reference
from ligen_py.engine.docking.batched import Docker
from ligen_py.engine.docking.latency import LatencyDocker
from ligen_py.engine.docking.search import Plan, pack
from ligen_py.opencl.device import Device, select
from ligen_py.records.ligands import Ligands
from ligen_py.settings.dock import DockSettings

ALIGNMENT = 246
"""Evaluations of the whole ligand in one restart's rigid alignment:
twice 3 x 32 angles and 27 offsets."""

UNIQUE = 24
"""Different molecules of a dataset; launches repeat them."""

CROSSOVER = ((31, 4), (63, 8), (89, 20))
"""Datasets of the table of few ligands."""


def made(names: Sequence[tuple[int, int]], quick: bool) -> dict[tuple[int, int], Ligands]:
    """Datasets by their names."""
    return dict(zip(names, datasets(names, 4 if quick else UNIQUE), strict=True))


def pose_evaluations(fragments: int, settings: DockSettings) -> int:
    """Poses, whole or fragments of them, evaluated for one ligand."""
    scan = settings.num_iterations * fragments * settings.n_angles
    return settings.num_restart * (ALIGNMENT + scan)


def atom_evaluations(ligands: Ligands, fragments: int, settings: DockSettings) -> float:
    """Atoms rotated and looked up for one ligand, on average. The two sides of a bond are all."""
    atoms = float(ligands.heavy.mean())
    scan = settings.num_iterations * fragments * settings.n_angles * atoms / 2
    return settings.num_restart * (ALIGNMENT * atoms + scan)


def agree(docker: Docker | LatencyDocker, ligands: Ligands, restarts: int) -> bool:
    """Whether the first restarts of the first and last ligand equal the twin's, bit for bit."""
    rows = np.unique([0, len(ligands.entry) - 1])
    poses = docker.dock(ligands, rows)
    batch = pack(ligands, rows, docker.plan)
    found = np.stack([poses.score, poses.internal_bumps, poses.pocket_bumps, poses.outside], 1)
    for number, row in enumerate(rows):
        first = poses.first_pose[row]
        mine = slice(first, first + restarts)
        expected = docking_reference.dock(docker.plan, batch, number, slice(restarts))
        if not np.array_equal(found[mine], expected[0]):
            return False
        if not np.array_equal(poses.quaternion[mine], expected[1]):
            return False
    return True


def seconds(docker: Docker | LatencyDocker, ligands: Ligands, rows: np.ndarray) -> float:
    """Time to dock rows once: of the kernel for `batched`, of the host for `latency`."""
    if isinstance(docker, Docker):
        docker.kernel_seconds = 0.0
        docker.time(ligands, rows)
        return docker.kernel_seconds
    started = time.perf_counter()
    docker.time(ligands, rows)
    return time.perf_counter() - started


def measure(
    docker: Docker | LatencyDocker, ligands: Ligands, count: int, repeats: int
) -> np.ndarray:
    """Seconds (repeats,) for `count` ligands, after one warm-up."""
    rows = np.arange(count) % len(ligands.entry)
    return np.array([seconds(docker, ligands, rows) for _ in range(repeats + 1)][1:])


def run(
    docker: Docker | LatencyDocker,
    settings: DockSettings,
    sets: dict[tuple[int, int], Ligands],
    quick: bool,
) -> dict[str, Any]:
    """Measure all datasets, by atoms and fragments; the table as JSON."""
    device = docker.device
    count = 4096 if device.kind == "gpu" and not quick else 1024 if device.kind == "gpu" else 16
    repeats = 3 if quick else 7
    rows = []
    for (atoms, fragments), ligands in sets.items():
        if not agree(docker, ligands, 2 if quick else 8):
            raise SystemExit(f"d_{atoms}_{fragments}: the kernel differs from its twin; no figure")
        rates = count / measure(docker, ligands, count, repeats)
        median = float(np.median(rates))
        rows.append(
            {
                "dataset": f"d_{atoms}_{fragments}",
                "ligands_per_second": median,
                "lowest": float(rates.min()),
                "highest": float(rates.max()),
                "pose_evaluations_per_second": median * pose_evaluations(fragments, settings),
                "atom_evaluations_per_second": median
                * atom_evaluations(ligands, fragments, settings),
            }
        )
        print(line(rows[-1]), flush=True)
    overall = float(np.median([row["ligands_per_second"] for row in rows]))
    print(f"median over datasets: {overall:,.1f} ligands/s", flush=True)
    return {
        "device": device.label,
        "settings": settings.model_dump(),
        "ligands_per_run": count,
        "runs": repeats,
        "datasets": rows,
        "median_ligands_per_second": overall,
    }


def line(row: dict[str, Any]) -> str:
    """One row of the table."""
    return (
        f"{row['dataset']:8} {row['ligands_per_second']:12,.1f} "
        f"({row['lowest']:,.1f} to {row['highest']:,.1f}) "
        f"{row['pose_evaluations_per_second'] / 1e9:9.2f} "
        f"{row['atom_evaluations_per_second'] / 1e9:9.2f}"
    )


def crossover(device: Device, plan: Plan, quick: bool) -> dict[str, Any]:
    """Milliseconds, by the host's clock, from ligands to poses in both forms, by their number."""
    largest = 4096 if device.kind == "gpu" else 32
    rows = []
    print("dataset  ligands  latency ms  batched ms")
    for (atoms, fragments), ligands in made(CROSSOVER, quick).items():
        for count in (4**power for power in range(7) if 4**power <= largest):
            chosen = np.arange(count) % len(ligands.entry)
            found: dict[str, Any] = {"dataset": f"d_{atoms}_{fragments}", "ligands": count}
            for name, docker in (("latency", LatencyDocker), ("batched", Docker)):
                form = docker(device, plan)
                times = []
                for _ in range(4 if quick else 8):
                    started = time.perf_counter()
                    form.time(ligands, chosen)
                    times.append(time.perf_counter() - started)
                found[name] = 1e3 * float(np.median(times[1:]))
            rows.append(found)
            print(
                f"{found['dataset']:8} {count:7} {found['latency']:11.2f} {found['batched']:11.2f}",
                flush=True,
            )
    return {"device": device.label, "milliseconds": rows}


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--mode", choices=["latency", "batched", "both"], default="both", help="default: both"
    )
    parser.add_argument("--device", help="OpenCL device, as in the stages")
    parser.add_argument("--quick", action="store_true", help="a minute on a CPU: fewer datasets")
    parser.add_argument("--json", type=writable, help="also write the tables here")
    parser.add_argument(
        "--launches", choices=["ligand", "fragment"], default="ligand", help="of the latency form"
    )
    parser.add_argument("--crossover", action="store_true", help="few ligands in both forms")
    options = parser.parse_args()
    device = select(options.device)
    settings = benchmark_search(256, max_num_poses=0)
    plan = Plan.of(benchmark_field(), settings)
    print(device.label)
    tables: dict[str, Any] = {}
    if options.crossover:
        tables["crossover"] = crossover(device, plan, options.quick)
        save(options.json, tables)
    else:
        sets = made(NAMES[:: 5 if options.quick else 1], options.quick)
        for mode in ("batched", "latency") if options.mode == "both" else (options.mode,):
            print(
                f"{mode}\ndataset   ligands/s (lowest to highest)   1e9 poses/s   1e9 atoms/s",
                flush=True,
            )
            if mode == "batched":
                tables[mode] = run(Docker(device, plan), settings, sets, options.quick)
            else:
                form = LatencyDocker(device, plan, options.launches)
                tables[mode] = run(form, settings, sets, options.quick)
            save(options.json, tables)
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
