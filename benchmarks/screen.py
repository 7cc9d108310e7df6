"""How many ligands a second each effort screens: dock, filter, refine and score, one by one.

    python benchmarks/screen.py [--effort E ...] [--count N] [--processes N] [--device SELECTOR]
                                [--json FILE]

Ligands are seeded random molecules of drug-like size (benchmarks/datasets.py: 31 to 56 atoms with
hydrogens, 2 to 6 rotatable bonds), or those of --library FILE, again and again up to --count. The
pocket is Candida albicans DHFR with its cofactor (PDB 1IA1), or that of --complex FOLDER
(protein.pdb and ligand.sdf, as for redock.py). All work is done without files: from ligands and
pocket in memory to scores in memory. Parts of the library follow one another like chunks of a
campaign, and are to be as large: parts of less than some thousand ligands do not fill a GPU. Every
ligand is run once before the measurement. A ligand counts once, however many states
and conformers of it are docked. Rates of stages are medians over the parts.

With --processes N so many processes share the device, each with --count ligands of its own, as N
chunks of a campaign on one GPU do. Rates of stages are then those of one process beside the others;
"together" is what all of them do a second while all of them work.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.datasets import molecules
from benchmarks.docking import (
    FOR_LIBRARIES,
    STAGES,
    Clock,
    LigandsInMemory,
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
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from benchmarks.redock import box_radius, find
from benchmarks.steady import steady_rate
from ligen_py.cli import at_least
from ligen_py.engine.pose_arrays import ranges
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.store.files.read import read

SIZES = ((31, 4), (38, 6), (44, 8), (50, 10), (56, 12))
"""Atoms and fragments of the made molecules, in turn."""

MADE = 10_000
"""Ligands of a process where neither a number nor a library is given."""


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


@dataclass(frozen=True)
class Work:
    """What one process docks."""

    ligands: Path
    pocket: Path
    count: int
    parts: int
    number: int
    """Of the process; each starts at another ligand."""
    device: str | None
    settings: Settings

    def molecules(self, different: int) -> list[np.ndarray]:
        """Numbers of the molecules of every part; they start again where the library ends."""
        numbers = np.arange(self.count) + self.number * self.count
        return np.array_split(numbers % different, self.parts)


@dataclass(frozen=True)
class Part:
    """One part: molecules, its times by stage, when it began and ended."""

    molecules: int
    clock: Clock
    began: float
    ended: float


def work(given: Work) -> list[Part]:
    """Dock all parts; with other processes, from when all of them are ready."""
    try:
        device, target = device_for(given.device), Target.of(given.pocket)
        library = LigandsInMemory.of(given.ligands)
        _, first, states = np.unique(library.ligands.entry, return_index=True, return_counts=True)
        chosen = given.molecules(len(first))
        parts = [library.some(ranges(first[part], states[part])) for part in chosen]
        once = np.unique(np.concatenate(chosen))
        warm = library.some(ranges(first[once], states[once]))
        dock(device, warm, target, given.settings, Clock())
        if _ready:
            _ready[0].wait()
    except BaseException:
        for barrier in _ready:
            barrier.abort()  # the others would wait for ever
        raise
    done = []
    for some, numbers in zip(parts, chosen, strict=True):
        clock, began = Clock(), time.monotonic()
        dock(device, some, target, given.settings, clock)
        done.append(Part(len(numbers), clock, began, time.monotonic()))
    return done


_ready: list[Barrier] = []
"""In a process that has others beside it: where they wait for each other."""


def measure(works: list[Work]) -> dict[str, Any]:
    """Rates of one effort: of one process here, or of several, each in a process of its own."""
    if len(works) == 1:
        done = [work(works[0])]
    else:
        spawn = multiprocessing.get_context("spawn")  # drivers do not survive a fork
        barrier = spawn.Barrier(len(works))
        with ProcessPoolExecutor(len(works), spawn, _ready.append, (barrier,)) as pool:
            done = list(pool.map(work, works))
    every = [part for parts in done for part in parts]
    counts = np.array([part.molecules for part in every])
    spans = [[(part.began, part.ended, part.molecules) for part in parts] for parts in done]
    rate, seconds = steady_rate(spans)
    result: dict[str, Any] = {
        "settings": works[0].settings.model_dump(mode="json"),
        "processes": len(works),
        "together": {"ligands_per_second": rate, "seconds": seconds},
    }
    for kind in ("wall", "kernel"):
        times = {
            name: np.array([getattr(part.clock, kind)[name] for part in every]) for name in STAGES
        }
        times["all"] = np.sum(list(times.values()), axis=0)
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
        print(f"  {name:7} {cells[0]:>40} {cells[1]:>40}")
    rate, seconds = result["together"].values()
    print(
        f"  together {rate:,.1f} over {seconds:.1f} s of {result['processes']} at work", flush=True
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add_settings(result)
    result.set_defaults(effort=None)
    result.add_argument(
        "--count",
        type=at_least(1),
        metavar="N",
        help="ligands for each process (default: those of --library, each once; without\n"
        "one 10,000, those that are made again and again)",
    )
    result.add_argument(
        "--make",
        type=at_least(1),
        default=1_000,
        metavar="N",
        help="different ligands to make (default: 1,000; the smallest size has 352)",
    )
    result.add_argument("--library", type=Path, help="a library's file instead")
    result.add_argument(
        "--processes",
        type=at_least(1),
        default=1,
        metavar="N",
        help="processes that share the device",
    )
    result.add_argument("--complex", type=Path, help="folder of the target, as for redock.py")
    result.add_argument(
        "--parts",
        type=at_least(1),
        default=2,
        metavar="N",
        help="chunks of the library (default: 2)",
    )
    result.add_argument("--cache", type=Path, help="keep parsed ligands and the pocket here")
    result.add_argument("--json", type=writable, help="also write all figures here")
    return result


def main() -> int:
    """Measure the efforts asked for."""
    arguments = parser()
    options = arguments.parse_args()
    efforts = [options.effort] if options.effort else FOR_LIBRARIES
    chosen = []
    for options.effort in efforts:
        chosen.append((options.effort, settings_from(options)))
    device = device_for(options.device)
    cores = len(cores_for(1)[0])
    with tempfile.TemporaryDirectory() as scratch:
        cache = options.cache or Path(scratch)
        library = options.library or Path(scratch) / "made.smi"
        if options.library is None:
            library_of(min(options.make, options.count or MADE), library)
        if options.complex:
            receptor = find(options.complex, "protein.pdb", "protein.pdb.gz")
            ligand = find(options.complex, "ligand.sdf")
        else:
            receptor, ligand = packaged_complex()
        pocket_settings = chosen[0][1].pocket
        pocket = pocket_of(receptor, ligand, box_radius(ligand), cache, pocket_settings)
        target = Target.of(pocket)
        print(
            f"{device.label}; {cores} cores; {receptor.name}, {len(target.receptor.xyz)} atoms, "
            f"box of {target.box[1][0]:g} A"
        )
        results = {}
        for effort, settings in chosen:
            made = parsed(library, cache, settings.parse, cores)
            ligands: Ligands = read(made, LIGANDS, Ligands)
            different = len(np.unique(ligands.entry))
            if not different:
                arguments.error(f"{library}: no ligand to dock")
            count = options.count or (different if options.library else MADE)
            if count < options.parts:
                arguments.error(f"--parts {options.parts}: there are {count} ligands")
            atoms, turns = np.diff(ligands.first_atom), np.diff(ligands.first_torsion)
            print(
                f"{options.processes} x {count} ligands ({different} different, "
                f"{len(atoms) / different:.2f} states and conformers each) in {options.parts} "
                f"parts: median {np.median(atoms):g} atoms ({atoms.min()} to {atoms.max()}), "
                f"{np.median(turns):g} torsions ({turns.min()} to {turns.max()})"
            )
            given = (made, pocket, count, options.parts)
            works = [
                Work(*given, number, options.device, settings)
                for number in range(options.processes)
            ]
            results[effort] = measure(works) | {
                "ligands": count,
                "different": different,
                "conformers": len(atoms) / different,
            }
            print_table(effort, results[effort])
            save(options.json, {"device": device.label, "cores": cores, "efforts": results})
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
