"""A whole campaign through Snakemake, from a parsed library to campaign.h5: wall time and kernels.

    python benchmarks/campaign.py [--effort E ...] [--count N] [--chunks N] [--device SELECTOR]
                                  [--cores N] [--threads N] [--unique N] [--complex FOLDER]
                                  [--cold] [--quick] [--keep FOLDER] [--json FILE]

The library is made of --unique seeded random molecules of drug-like size (as for screen.py), parsed
once and repeated under new names up to --count ligands in --chunks files; neither belongs to the
time. The pocket is Candida albicans DHFR with its cofactor (PDB 1IA1), or that of --complex FOLDER
(protein.pdb and ligand.sdf). The time is that of one `snakemake ... results/campaign.h5` in an
empty folder: Snakemake's start, the pocket, each chunk's process, and the ranking. Kernels are
compiled before, by a campaign of one molecule of each size; --cold leaves that out.

"kernels" is the share of that time in which the device ran at least one kernel. As many chunks run
beside each other as have --threads cores, and share the device.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.docking import FOR_LIBRARIES, device_for
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from benchmarks.redock import box_radius, find
from benchmarks.screen import library_of, packaged_complex
from benchmarks.stages import repeated
from ligen_py.chain import STAGES
from ligen_py.cli import at_least
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.scores import SCORES
from ligen_py.settings.campaign import PRESETS
from ligen_py.settings.parse import ParseOptions
from ligen_py.store.campaign.times import read_times
from ligen_py.store.files.read import read_columns

ROOT = Path(__file__).resolve().parents[1]
PROFILE = ROOT / "workflow" / "profiles" / "local"
FEW = 5
"""Molecules of the campaign that compiles: one of each size of `screen.SIZES`."""

QUICK = {"dock": {"num_restart": 64}, "refine": {"rounds": 1, "finalists": 4}}


def parsed(count: int, folder: Path) -> Path:
    """A ligands file of so many made molecules, one conformer each."""
    folder.mkdir(parents=True, exist_ok=True)
    smiles, made = folder / "library.smi", folder / "made.h5"
    library_of(count, smiles)
    options = ParseOptions(conformers=1, stereoisomers=1, protonate=False)
    STAGES["parse"].run({"input": smiles}, options, None, made, jobs=os.cpu_count() or 1)
    return made


def library(made: Path, count: int, chunks: int, folder: Path) -> Path:
    """A parsed library of `count` ligands, in so many files."""
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(count), chunks), start=1):
        repeated(made, folder / f"{number}-of-{chunks}.h5", len(rows))
    return folder


def config_of(effort: str, ligands: Path, given: argparse.Namespace) -> dict[str, Any]:
    """The campaign."""
    receptor, crystal = packaged_complex()
    if given.complex:
        receptor = find(given.complex, "protein.pdb", "protein.pdb.gz")
        crystal = find(given.complex, "ligand.sdf")
    site = {"center": centre_of(crystal), "radius": box_radius(crystal)}  # without a control
    return {
        "effort": effort,
        "targets": {"target": {"receptor": str(receptor.resolve()), "site": site}},
        "libraries": {"made": {"parsed": str(ligands)}},
        **(QUICK if given.quick else {}),
    }


def centre_of(ligand: Path) -> list[float]:
    """The mean of the atoms of a reference ligand."""
    from rdkit import Chem

    molecule = next(iter(Chem.SDMolSupplier(str(ligand), sanitize=False)))
    return [round(float(x), 3) for x in molecule.GetConformer().GetPositions().mean(axis=0)]


def campaign(config: dict[str, Any], folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Run it in an empty folder; seconds of the clock, of the device, and of the jobs by rule."""
    (folder / "kernels").mkdir(parents=True)
    (folder / "c.yaml").write_text(yaml.safe_dump(config))
    environment = {**os.environ, "LIGEN_BENCHMARK_KERNELS": str(folder / "kernels")}
    paths = [str(ROOT / "benchmarks" / "recorded"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    if given.device:
        environment["LIGEN_DEVICE"] = given.device
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    command += ["--configfile", str(folder / "c.yaml"), "--directory", str(folder)]
    command += ["--workflow-profile", str(PROFILE), "--cores", str(given.cores)]
    command += ["--set-threads", f"screen={given.threads}"] if given.threads else []
    command += ["--", "results/campaign.h5"]
    before, started = os.times(), time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    seconds, after = time.perf_counter() - started, os.times()
    if done.returncode:
        raise SystemExit(done.stdout[-4000:] + done.stderr[-4000:])
    return {
        "seconds": seconds,
        "processor_seconds": after.children_user
        + after.children_system
        - before.children_user
        - before.children_system,
        **kernels(folder / "kernels"),
        "jobs": {time.stage: time.seconds for time in read_times(folder / "benchmarks")},
    }


def kernels(folder: Path) -> dict[str, float]:
    """Seconds of all kernels, and seconds in which at least one ran."""
    spans = np.concatenate([np.load(path) for path in folder.glob("*.npy")])
    return {"kernels": float((spans[:, 1] - spans[:, 0]).sum()), "busy": busy(spans)}


def busy(spans: np.ndarray) -> float:
    """Length of the union of spans (n, 2)."""
    begun, ended = spans[np.argsort(spans[:, 0])].T
    before = np.maximum.accumulate(np.concatenate([[-np.inf], ended[:-1]]))
    return float(np.clip(ended - np.maximum(begun, before), 0, None).sum())


def measure(effort: str, made: Path, work: Path, given: argparse.Namespace) -> dict[str, Any]:
    """One effort: a small campaign that compiles, then the one that counts."""
    work.mkdir(parents=True)
    sizes = {"few": (FEW, 1), "many": (given.count, given.chunks)}
    for name, (count, chunks) in sizes.items():
        if name == "few" and given.cold:
            continue
        ligands = library(made, count, chunks, work / f"{name}-ligands")
        config = config_of(effort, ligands, given)
        found = campaign(config, work / name, given)
    scored = [
        np.isfinite(read_columns(path, SCORES, ("scores/score",))["scores/score"])
        for path in sorted((work / "many/results/scores").rglob("*.h5"))
    ]
    return {
        "effort": effort,
        "molecules": given.count,
        "scored": int(np.concatenate(scored).sum()),
        "chunks": given.chunks,
        **found,
        "molecules_per_second": given.count / found["seconds"],
        "share": found["busy"] / found["seconds"],
    }


def line(row: dict[str, Any]) -> str:
    """One effort in words."""
    jobs = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in row["jobs"].items())
    return (
        f"{row['effort']:9} {row['molecules']:,} molecules in {row['chunks']} chunks: "
        f"{row['seconds']:.1f} s, {row['molecules_per_second']:,.0f} a second; kernels "
        f"{row['busy']:.1f} s ({row['share']:.0%}); processors {row['processor_seconds']:.1f} s; "
        f"jobs, s: {jobs}"
    )


def main() -> int:
    """Measure the efforts asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--effort", nargs="+", choices=PRESETS, help="default: those for libraries")
    parser.add_argument("--count", type=at_least(1), help="ligands (default: 100000; --quick: 20)")
    parser.add_argument("--chunks", type=at_least(1), help="files of the library (default: 2)")
    parser.add_argument("--unique", type=at_least(1), default=200, help="different molecules")
    parser.add_argument("--device", help="OpenCL device, as in the stages")
    parser.add_argument("--cores", type=at_least(1), default=os.cpu_count(), help="default: all")
    parser.add_argument(
        "--threads", type=at_least(1), help="cores of a chunk's job (default: the rule's)"
    )
    parser.add_argument("--complex", type=Path, help="folder of the target, as for redock.py")
    parser.add_argument("--cold", action="store_true", help="compile within the time")
    parser.add_argument("--quick", action="store_true", help="a little search of few molecules")
    parser.add_argument("--keep", type=Path, help="empty folder that keeps all files")
    parser.add_argument("--json", type=writable, help="also write all figures here")
    given = parser.parse_args()
    given.count = given.count or (20 if given.quick else 100_000)
    given.chunks = given.chunks or 2
    if not 1 <= given.chunks <= given.count or given.unique < FEW:
        parser.error(f"give chunks of 1 to --count, and {FEW} different molecules at least")
    device = device_for(given.device)
    print(f"{device.label}; {given.cores} cores", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        work = given.keep or Path(scratch)
        made = parsed(min(given.unique, given.count), work / "parsed")
        rows_made = len(read_columns(made, LIGANDS, ("ligands/entry",))["ligands/entry"])
        print(f"{rows_made} different ligands, repeated", flush=True)
        for effort in given.effort or FOR_LIBRARIES:
            rows.append(measure(effort, made, work / effort, given))
            print(line(rows[-1]), flush=True)
            save(given.json, {"device": device.label, "cores": given.cores, "efforts": rows})
            if given.keep is None:
                shutil.rmtree(work / effort)
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
