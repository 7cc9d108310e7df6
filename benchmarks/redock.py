"""Redock crystal ligands: is the pose found, and is it the best-scored one?

    python benchmarks/redock.py FOLDER [--device SELECTOR] [--json FILE]

FOLDER holds one folder a complex: protein.pdb (or .pdb.gz), ligand.sdf (the truth, and the site),
ligand_start.sdf (the start: a conformer that knows nothing of the crystal) or ligand.smi. Every
complex goes through the stages as a user would run them. A failure is a miss, with its reason.
RMSD is symmetry-corrected, over heavy atoms, without alignment.
"""

import argparse
import contextlib
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from ligen_py import dock, filter, parse, pocket, refine, score
from ligen_py.engine.geometry import rebuild
from ligen_py.molecules.export import symmetric_rmsd
from ligen_py.molecules.site import read_heavy_atoms
from ligen_py.store.read import read

NEAR = 2.0
"""A pose within this RMSD of the crystal is a success, Angstrom."""

MARGIN = 5.0
"""The box reaches at least this far beyond the crystal ligand, Angstrom."""


def find(folder: Path, *names: str) -> Path:
    """The first of some files that exists in a complex's folder."""
    for name in names:
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"none of {', '.join(names)} in {folder}")


def box_radius(crystal: Path) -> float:
    """Half side of the cubic box: the ligand and MARGIN around it, at least 10 Angstrom."""
    xyz = read_heavy_atoms(crystal)
    return round(max(10.0, float(np.abs(xyz - xyz.mean(axis=0)).max()) + MARGIN), 2)


def stage(name: str, main: Any, *arguments: object) -> None:
    """Run one stage; RuntimeError when it says no."""
    if main(["--quiet", *(str(argument) for argument in arguments)]) != 0:
        raise RuntimeError(f"{name} failed")


def redock(folder: Path, work: Path, device: list[str]) -> dict[str, Any]:
    """Run one complex through the stages; the row of the table."""
    row: dict[str, Any] = {"id": folder.name, "rmsd_top1": None, "rmsd_best_of_kept": None}
    started = time.perf_counter()
    try:
        crystal = find(folder, "ligand.sdf")
        start = find(folder, "ligand_start.sdf", "ligand.smi")
        ligands, target, poses, kept, refined, scores = (
            work / f"{name}.h5"
            for name in ("ligands", "pocket", "poses", "kept", "refined", "scores")
        )
        stage("parse", parse.main, "--input", start, "--output", ligands)
        protein = find(folder, "protein.pdb", "protein.pdb.gz")
        site = ("--ligand", crystal, "--site-radius", box_radius(crystal))
        stage("pocket", pocket.main, "--receptor", protein, *site, "--output", target)
        docking = time.perf_counter()
        files = ("--ligands", ligands, "--pocket", target)
        stage("dock", dock.main, *files, "--output", poses, *device)
        stage(
            "filter", filter.main, "--ligands", ligands, "--poses", poses, "--output", kept, *device
        )
        stage("refine", refine.main, *files, "--poses", kept, "--output", refined, *device)
        stage("score", score.main, *files, "--poses", refined, "--output", scores, *device)
        row["docking_seconds"] = time.perf_counter() - docking
        rmsd = pose_rmsd(crystal, ligands, refined)
        best = int(read(scores, "scores", "scores").best[0])
        if best < 0:
            ledger = read(scores, "scores", "ledger")
            raise RuntimeError(str(ledger.detail[0]))
        row |= {"rmsd_top1": float(rmsd[best]), "rmsd_best_of_kept": float(rmsd.min())}
        row["status"] = "ok"
    except (RuntimeError, FileNotFoundError, ValueError, IndexError) as error:
        row["status"] = f"failed: {error}"
    row["seconds"] = time.perf_counter() - started
    return row


def pose_rmsd(crystal: Path, ligands_file: Path, refined_file: Path) -> np.ndarray:
    """RMSD (poses,) of every scored pose of the only ligand to the crystal."""
    ligands = read(ligands_file, "ligands", "ligands")
    poses = read(refined_file, "refined", "poses")
    places = rebuild(
        ligands.xyz,
        ligands.torsion_axis,
        ligands.torsion_range,
        poses.torsion.reshape(len(poses.restart), -1),
        poses.quaternion,
        poses.translation,
    )
    rmsd = symmetric_rmsd(ligands.molecule, places, crystal)
    if rmsd is None:
        raise ValueError(f"the start is not the molecule of {crystal}")
    return rmsd


def interval(hits: np.ndarray, draws: int = 10_000) -> tuple[float, float]:
    """Bootstrap interval of 95 % of a success rate, per cent (seeded)."""
    rng = np.random.default_rng(0)
    means = rng.choice(hits, (draws, len(hits))).mean(axis=1)
    low, high = np.percentile(100 * means, [2.5, 97.5])
    return float(low), float(high)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Success rates at NEAR with intervals; complexes without a pose count as misses."""
    result: dict[str, Any] = {"complexes": len(rows)}
    for key in ("rmsd_top1", "rmsd_best_of_kept"):
        hits = np.array([row[key] is not None and row[key] <= NEAR for row in rows])
        low, high = interval(hits)
        result[key] = {
            "within_2A": int(hits.sum()),
            "per_cent": round(100 * float(hits.mean()), 1),
            "interval_95": [round(low, 1), round(high, 1)],
        }
    return result


def main() -> int:
    """Redock every complex of a folder and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder of complexes")
    parser.add_argument("--device", help="OpenCL device, as in the stages")
    parser.add_argument("--json", type=Path, help="also write the table here")
    options = parser.parse_args()
    device = ["--device", options.device] if options.device else []
    folders = sorted(path for path in options.folder.iterdir() if path.is_dir())
    if not folders:
        parser.error(f"{options.folder} holds no complexes")
    rows = []
    print(f"{'complex':10} {'top-1':>7} {'best':>7} {'dock s':>7} {'all s':>7}  status")
    for folder in folders:
        with tempfile.TemporaryDirectory() as work, contextlib.redirect_stdout(sys.stderr):
            row = redock(folder, Path(work), device)
        rows.append(row)
        cells = [
            row["rmsd_top1"],
            row["rmsd_best_of_kept"],
            row.get("docking_seconds"),
            row["seconds"],
        ]
        text = " ".join(f"{cell:7.2f}" if cell is not None else f"{'-':>7}" for cell in cells)
        print(f"{row['id']:10} {text}  {row['status']}", flush=True)
    total = summary(rows)
    for key, label in (("rmsd_top1", "best-scored pose"), ("rmsd_best_of_kept", "best of kept")):
        part = total[key]
        print(
            f"{label} within {NEAR} A: {part['within_2A']}/{len(rows)} = {part['per_cent']} % "
            f"(95 % interval {part['interval_95'][0]} to {part['interval_95'][1]})"
        )
    if options.json:
        options.json.write_text(json.dumps({"complexes": rows, "summary": total}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
