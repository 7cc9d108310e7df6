"""How fast the dock kernel is, on the 16 datasets of the LiGen paper.

    python benchmarks/throughput.py [--device SELECTOR] [--quick] [--json FILE]

One stated setting: 256 restarts, 3 iterations, 32 angles, both sides of each rotatable bond, the
alignment of 246 evaluations a restart, bump check on. Time is the device's own, of the kernel;
each figure is the median of several launches that fill the device, after a warm-up, with the
spread beside it. Before a figure is printed, some restarts are compared with the NumPy twin.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.datasets import NAMES, benchmark_field, dataset
from ligen_py.engine import docking_reference
from ligen_py.engine.docking import Docker
from ligen_py.engine.search import Plan, pack
from ligen_py.opencl.device import Device, select
from ligen_py.records import Ligands
from ligen_py.settings import DockSettings

ALIGNMENT = 246
"""Evaluations of the whole ligand in one restart's rigid alignment (ligen.md 8.5)."""

UNIQUE = 32
"""Different molecules of a dataset; launches repeat them."""


def pose_evaluations(fragments: int, settings: DockSettings) -> int:
    """Poses, whole or fragments of them, evaluated for one ligand."""
    scan = settings.num_iterations * fragments * settings.n_angles
    return settings.num_restart * (ALIGNMENT + scan)


def atom_evaluations(atoms: int, fragments: int, settings: DockSettings) -> float:
    """Atoms rotated and looked up for one ligand; the two sides of a bond are all atoms."""
    scan = settings.num_iterations * fragments * settings.n_angles * atoms / 2
    return settings.num_restart * (ALIGNMENT * atoms + scan)


def agree(docker: Docker, ligands: Ligands, restarts: int) -> bool:
    """Whether the first restarts of the first ligand equal the twin's, bit for bit."""
    poses = docker.dock(ligands, np.array([0]))
    batch = pack(ligands, np.array([0]), docker.plan)
    expected = docking_reference.dock(docker.plan, batch, 0, slice(restarts))
    found = np.stack([poses.score, poses.internal_bumps, poses.pocket_bumps, poses.outside], 1)
    quaternion = np.roll(expected[1], 1, axis=1)
    return np.array_equal(found[:restarts], expected[0]) and np.array_equal(
        poses.quaternion[:restarts], quaternion
    )


def measure(docker: Docker, ligands: Ligands, count: int, repeats: int) -> np.ndarray:
    """Seconds on the device (repeats,) for `count` ligands, after one warm-up."""
    rows = np.arange(count) % len(ligands.entry)
    seconds = []
    for _ in range(repeats + 1):
        docker.kernel_seconds = 0.0
        docker.time(ligands, rows)
        seconds.append(docker.kernel_seconds)
    return np.array(seconds[1:])


def run(device: Device, quick: bool) -> dict[str, Any]:
    """Measure all datasets; the table as JSON."""
    settings = DockSettings(num_restart=256)
    plan = Plan.of(benchmark_field(), **settings.model_dump())
    docker = Docker(device, plan)
    count = 4096 if device.kind == "gpu" and not quick else 1024 if device.kind == "gpu" else 32
    unique, repeats = (4, 3) if quick else (UNIQUE, 7)
    rows = []
    for atoms, fragments in NAMES[:: 5 if quick else 1]:
        ligands = dataset(atoms, fragments, unique)
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
                * atom_evaluations(atoms, fragments, settings),
            }
        )
        print(line(rows[-1]), flush=True)
    return {
        "device": device.label,
        "version": "batched",
        "settings": settings.model_dump(),
        "ligands_per_launch": count,
        "launches": repeats,
        "datasets": rows,
        "median_ligands_per_second": float(np.median([row["ligands_per_second"] for row in rows])),
    }


def line(row: dict[str, Any]) -> str:
    """One row of the table."""
    return (
        f"{row['dataset']:8} {row['ligands_per_second']:12,.1f} "
        f"({row['lowest']:,.1f} to {row['highest']:,.1f}) "
        f"{row['pose_evaluations_per_second'] / 1e9:9.2f} "
        f"{row['atom_evaluations_per_second'] / 1e9:9.2f}"
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--device", help="OpenCL device, as in the stages")
    parser.add_argument("--quick", action="store_true", help="a minute on a CPU: fewer datasets")
    parser.add_argument("--json", type=Path, help="also write the table here")
    options = parser.parse_args()
    device = select(options.device)
    print(f"{device.label}\ndataset   ligands/s (lowest to highest)   1e9 poses/s   1e9 atoms/s")
    table = run(device, options.quick)
    print(f"median over datasets: {table['median_ligands_per_second']:,.1f} ligands/s")
    if options.json:
        options.json.write_text(json.dumps(table, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
