"""How many ligands a second each effort screens: dock, filter, refine and score, one by one.

    python benchmarks/screen.py [--effort E ...] [--count N] [--device SELECTOR] [--json FILE]

Ligands are seeded random molecules of drug-like size (benchmarks/datasets.py: 31 to 56 atoms with
hydrogens, 2 to 6 rotatable bonds), or those of --library FILE. The pocket is Candida albicans DHFR
with its cofactor (PDB 1IA1), or that of --complex FOLDER (protein.pdb and ligand.sdf, as for
redock.py). All work is done in this process, without files: from ligands and pocket in memory to
scores in memory. Parts of the library stand one after another, as chunks of a campaign do; the
first is also run once before the clock starts. Rates are medians over the parts.
"""

import argparse
import json
import sys
import tempfile
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.datasets import molecules
from benchmarks.docking import (
    STAGES,
    Clock,
    Settings,
    Target,
    add_settings,
    cores_for,
    device_for,
    dock,
    parsed,
    pocket_of,
    settings_from,
)
from benchmarks.redock import box_radius, find
from ligen_py.opencl.device import Device
from ligen_py.records import Ligands
from ligen_py.settings import PRESETS
from ligen_py.store.read import read

SIZES = ((31, 4), (38, 6), (44, 8), (50, 10), (56, 12))
"""Atoms and fragments of the made molecules, in turn."""


def library_of(count: int, file: Path) -> None:
    """Write `count` made molecules as SMILES, sizes in turn."""
    share = -(-count // len(SIZES))
    columns = [islice(molecules(*size), share) for size in SIZES]
    lines = [smiles for row in zip(*columns, strict=True) for smiles in row][:count]
    file.write_text("".join(f"{smiles} m{n}\n" for n, smiles in enumerate(lines, start=1)))


def packaged_complex() -> tuple[Path, Path]:
    """Receptor and ligand of PDB 1IA1, from files of the posebusters package."""
    folder = Path(str(files("posebusters"))) / "datasets" / "pdb" / "1ia1"
    return folder / "1ia1_protein_one_lig_removed.pdb", folder / "1ia1_ligand.sdf"


def measure(
    device: Device, parts: list[Ligands], target: Target, settings: Settings
) -> dict[str, Any]:
    """Rates of one effort."""
    dock(device, parts[0], target, settings, Clock())
    clocks = []
    for ligands in parts:
        clocks.append(Clock())
        dock(device, ligands, target, settings, clocks[-1])
    counts = np.array([len(ligands.entry) for ligands in parts])
    result: dict[str, Any] = {"settings": settings.model_dump(mode="json")}
    for kind in ("wall", "kernel"):
        times = {
            name: np.array([getattr(clock, kind)[name] for clock in clocks]) for name in STAGES
        }
        times["all"] = sum(times.values())
        result[kind] = {name: _rates(counts / seconds) for name, seconds in times.items()}
    return result


def _rates(rates: np.ndarray) -> dict[str, float]:
    return {
        "ligands_per_second": float(np.median(rates)),
        "lowest": float(rates.min()),
        "highest": float(rates.max()),
    }


def print_table(effort: str, result: dict[str, Any]) -> None:
    """Rates of one effort, a line a stage."""
    print(f"{effort:9} {'ligands/s, wall (lowest to highest)':>40} {'ligands/s, kernels':>40}")
    for name in (*STAGES, "all"):
        cells = [
            f"{rate['ligands_per_second']:,.1f} ({rate['lowest']:,.1f} to {rate['highest']:,.1f})"
            for rate in (result["wall"][name], result["kernel"][name])
        ]
        print(f"  {name:7} {cells[0]:>40} {cells[1]:>40}", flush=True)


def main() -> int:
    """Measure every effort asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add_settings(parser)
    parser.set_defaults(effort=None)
    parser.add_argument("--count", type=int, default=10_000, metavar="N", help="ligands to make")
    parser.add_argument("--library", type=Path, help="a library's file instead")
    parser.add_argument("--complex", type=Path, help="folder of the target, as for redock.py")
    parser.add_argument(
        "--parts", type=int, default=5, metavar="N", help="chunks of the library (default: 5)"
    )
    parser.add_argument("--cache", type=Path, help="keep parsed ligands and the pocket here")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    options = parser.parse_args()
    efforts = [options.effort] if options.effort else list(PRESETS)
    chosen = []
    for options.effort in efforts:
        chosen.append((options.effort, settings_from(options)))
    device = device_for(options.device)
    cores = len(cores_for(1)[0])
    with tempfile.TemporaryDirectory() as scratch:
        cache = options.cache or Path(scratch)
        library = options.library or Path(scratch) / "made.smi"
        if options.library is None:
            library_of(options.count, library)
        if options.complex:
            receptor = find(options.complex, "protein.pdb", "protein.pdb.gz")
            ligand = find(options.complex, "ligand.sdf")
        else:
            receptor, ligand = packaged_complex()
        settings = chosen[0][1]
        target = Target.of(pocket_of(receptor, ligand, box_radius(ligand), cache, settings.pocket))
        names = [f"{part}-of-{options.parts}" for part in range(1, options.parts + 1)]
        made = [parsed(library, cache, settings.parse, cores, name) for name in names]
        parts = [read(file, "ligands", "ligands") for file in made]
    atoms = np.concatenate([np.diff(ligands.first_atom) for ligands in parts])
    turns = np.concatenate([np.diff(ligands.first_torsion) for ligands in parts])
    print(f"{device.label}; {cores} cores")
    print(
        f"{len(atoms)} ligands in {len(parts)} parts: median {np.median(atoms):g} atoms "
        f"({atoms.min()} to {atoms.max()}), {np.median(turns):g} torsions "
        f"({turns.min()} to {turns.max()}); {receptor.name}, {len(target.receptor.xyz)} atoms, "
        f"box of {target.box[1][0]:g} A"
    )
    results = {}
    for effort, settings in chosen:
        results[effort] = measure(device, parts, target, settings)
        print_table(effort, results[effort])
    if options.json:
        document = {"device": device.label, "cores": cores, "ligands": len(atoms)}
        options.json.write_text(json.dumps(document | {"efforts": results}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
