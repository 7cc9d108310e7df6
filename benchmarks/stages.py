"""How fast whole stages are, from file to file, and how much of that time the kernels take.

    python benchmarks/stages.py [--device SELECTOR] [--count N] [--quick] [--json FILE]

parse: molecules a second a core (processor time of all processes), from SMILES with embedding and
from a ready 3-D SDF. dock, filter, refine and score: ligands a second of elapsed time from the
start of `python -m ligen_py.STAGE` to its finished file, on a library of --count ligands, and the
share of that time in which the device ran kernels; screen: the same of all four in one process.
The library is made of seeded random molecules of drug-like size, parsed once and repeated; the
pocket is Candida albicans DHFR (PDB 1IA1). Kernel time is the device's own; a stage is run in a
process that records the time of every kernel.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.docking import LigandsInMemory, device_for
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from benchmarks.screen import library_of, packaged_complex
from ligen_py.chain import SCREEN, TOGETHER
from ligen_py.cli import at_least
from ligen_py.molecules.export import posed
from ligen_py.provenance import Run
from ligen_py.records.column import STRING
from ligen_py.records.ledger import Ledger
from ligen_py.records.ligands import LIGANDS, Entries, Ligands
from ligen_py.settings.parse import ParseSettings
from ligen_py.store.files.read import read
from ligen_py.store.files.write import write

ROOT = Path(__file__).resolve().parents[1]
UNIQUE = 60
"""Different molecules; the library of the device's stages repeats them."""

SHARED = ("pocket.h5", "seconds")
"""Files that do not depend on the number of ligands."""

TIMED = """
import runpy, sys
import pyopencl as cl
stage, file = sys.argv[1:3]
from ligen_py.opencl import device as devices
events, enqueue = [], cl.Kernel.__call__
def recorded(self, *arguments, **options):
    events.append(enqueue(self, *arguments, **options))
    return events[-1]
cl.Kernel.__call__ = recorded
sys.argv = [stage, *sys.argv[3:]]
try:
    runpy.run_module(f"ligen_py.{stage}", run_name="__main__")
except SystemExit as end:
    code = end.code
def length(event):
    try:
        return event.profile.end - event.profile.start
    except cl.RuntimeError:  # of a queue without times, which the latency form uses
        return 0
seconds = sum(map(length, events)) * 1e-9
open(file, "w").write(str(seconds))
sys.exit(code)
"""
"""What runs a stage and leaves the seconds of all its kernels."""


def repeated(source: Path, output: Path, count: int) -> None:
    """Write a ligands file of `count` ligands: those of `source`, repeated, each a record."""
    library = LigandsInMemory.of(source)
    some = library.some(np.arange(count) % len(library.ligands.entry))
    names = np.array([f"m{n}" for n in range(count)], object)
    entries = {
        spec.name: names if spec.metadata["dtype"] == STRING else np.arange(1, count + 1)
        for spec in fields(Entries)
    }
    none = np.full(count, "", object)
    records = {
        "entries": Entries(**entries),
        "ledger": Ledger(np.zeros(count, "u1"), np.zeros(count, "u1"), none),
        "ligands": replace(some.ligands, entry=np.arange(count)),
        **some.typed,
    }
    write(output, LIGANDS, Run("parse", ParseSettings(), (source,)), records)


def run(*words: object) -> tuple[float, float]:
    """Seconds of the clock and of the processors that a command takes; leaves where it fails."""
    before, started = os.times(), time.perf_counter()
    done = subprocess.run([sys.executable, *map(str, words)], cwd=ROOT, stderr=subprocess.PIPE)
    seconds, after = time.perf_counter() - started, os.times()
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    used = after.children_user + after.children_system
    return seconds, used - before.children_user - before.children_system


def parse_row(name: str, library: Path, records: int, output: Path, start: float) -> dict[str, Any]:
    """Rate of `parse` with one worker: records a second of processor time, start-up taken off."""
    flags = ("--jobs", 1, "--quiet")
    _, used = run("-m", "ligen_py.parse", "--input", library, "--output", output, *flags)
    return {"stage": name, "records": records, "records_per_core_second": records / (used - start)}


def few(file: Path) -> Path:
    """The file of the same kind for as many ligands as were parsed."""
    return file if file.name in SHARED else file.with_name(f"few-{file.name}")


def stage_row(stage: str, count: int, words: list[object], work: Path) -> dict[str, Any]:
    """Clock rate of a stage and the share of its kernels, after a few ligands for the binaries."""
    file = work / "seconds"
    timed = ("-c", TIMED, stage, file, *words, "--quiet")
    run(*(few(word) if isinstance(word, Path) and word.parent == work else word for word in timed))
    seconds, _ = run(*timed)
    kernels = float(file.read_text())
    return {
        "stage": stage,
        "ligands": count,
        "ligands_per_second": count / seconds,
        "kernel_ligands_per_second": count / kernels,
        "kernel_share": kernels / seconds,
    }


def to_sdf(ligands: Path, output: Path) -> int:
    """Write the ligands of a file as 3-D SDF; how many."""
    from rdkit import Chem

    found: Ligands = read(ligands, LIGANDS, Ligands)
    with Chem.SDWriter(str(output)) as writer:
        for ligand in range(len(found.entry)):
            octets = found.molecule[slice(*found.first_byte[ligand : ligand + 2])]
            xyz = found.xyz[slice(*found.first_atom[ligand : ligand + 2])]
            writer.write(posed(octets, xyz, {}))
    return len(found.entry)


def measure(options: argparse.Namespace, work: Path) -> None:
    """Print all rows of the table, and keep them, as they come."""
    rows: list[dict[str, Any]] = []

    def add(row: dict[str, Any]) -> None:
        rows.append(row)
        print(line(row), flush=True)
        save(options.json, rows)

    device = ["--device", options.device] if options.device else []
    receptor, crystal = packaged_complex()
    smiles, sdf, one = work / "library.smi", work / "library.sdf", work / "one.smi"
    made, many, pocket = work / "made.h5", work / "ligands.h5", work / "pocket.h5"
    unique = 20 if options.quick else UNIQUE
    library_of(unique, smiles)
    one.write_text("C methane\n")
    _, start = run("-m", "ligen_py.parse", "--input", one, "--output", made, "--jobs", 1)
    add(parse_row("parse, SMILES", smiles, unique, made, start))
    copies = "".join([(to_sdf(made, sdf), sdf.read_text())[1]] * (1 if options.quick else 5))
    sdf.write_text(copies)
    add(parse_row("parse, 3-D SDF", sdf, copies.count("$$$$"), work / "again.h5", start))

    site = ("--receptor", receptor, "--ligand", crystal)
    run("-m", "ligen_py.pocket", *site, "--output", pocket, "--quiet")
    repeated(made, many, options.count)
    repeated(made, few(many), unique)
    files = {stage.kind: work / f"{stage.kind}.h5" for stage in SCREEN}
    files |= {"ligands": many, "pocket": pocket}
    for stage in SCREEN:
        words: list[object] = ["--output", files[stage.kind], *device]
        for flag, kind in stage.inputs.items():
            words += [f"--{flag}", files[kind]]
        words += [*options.search, *options.mode] if stage.name == "dock" else []
        add(stage_row(stage.name, options.count, words, work))
    words = ["--ligands", many, "--pocket", pocket, *device]
    for stage in SCREEN:
        words += [f"--{stage.kind}", work / f"together-{stage.kind}.h5"]
    words += [f"--dock={shlex.join(options.search)}"] if options.search else []
    add(stage_row(TOGETHER, options.count, words, work))


def line(row: dict[str, Any]) -> str:
    """One row of the table."""
    if "records_per_core_second" in row:
        return f"{row['stage']:15} {row['records_per_core_second']:10,.1f} records/s a core"
    return (
        f"{row['stage']:15} {row['ligands_per_second']:10,.1f} ligands/s file to file, kernels "
        f"{row['kernel_ligands_per_second']:10,.1f}, share {row['kernel_share']:.0%}"
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--device", help="one OpenCL device, as in the stages")
    parser.add_argument("--count", type=at_least(1), help="ligands (default: 100000; --quick: 16)")
    parser.add_argument("--quick", action="store_true", help="a few minutes on a CPU")
    parser.add_argument("--json", type=writable, help="also write the table here")
    options = parser.parse_args()
    options.search = ["--num-restart", "64"] if options.quick else []
    options.mode = ["--mode", "batched"] if options.quick else []
    options.count = options.count or (16 if options.quick else 100_000)
    device_for(options.device)  # one that is not there is missed now
    with tempfile.TemporaryDirectory() as work:
        measure(options, Path(work))
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
