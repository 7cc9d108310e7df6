"""Redock crystal ligands: is the pose found, is it the best-scored one, is it physically sound?

    python benchmarks/redock.py FOLDER [--effort E] [--peer vina] [--device SELECTOR] [--json FILE]

FOLDER contains one folder for each complex: protein.pdb (or .pdb.gz), ligand.sdf (the crystal pose,
and the site), and ligand_start.sdf or ligand.smi, from which new conformers are made. The box is a
cube around the crystal ligand. A failure counts as a miss, with its reason. RMSD is
symmetry-corrected, over heavy atoms, without alignment. The best-scored pose is sound ("valid")
where it passes every check of PoseBusters (mode redock) but the distance to the crystal pose. "Best
of nine" is the nearest of the nine poses that score best over all states: Vina keeps nine a state,
this engine more. Shares have Wilson intervals of 95 %, differences bootstrap intervals of pairs.

FILE gets a line of JSON for the run, then one for each complex as soon as it is done, then the
summary. Complexes that are in FILE by the same code, settings, cores and device are not docked
again, so a run that was stopped goes on; another run's FILE is refused. To try a complex again that
failed, delete its line.

With gnina's networks (--set 'score.functions=["vina","ad4","gnina"]') "best-scored" is the pose
that they helped to choose, and "by physics" the one of the same run that energies alone choose.

With --peer vina AutoDock Vina docks the same states, each from the first of our conformers, in the
same boxes on as many cores, and its poses are judged by the same code. Seconds are those of the
wall from the parsed ligand and the pocket file to scored poses, maps included; kernels are built
before they count.
"""

import argparse
import gzip
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from posebusters import PoseBusters
from rdkit import Chem, RDLogger

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.docking import (
    Clock,
    Docked,
    LigandsInMemory,
    Settings,
    Target,
    about,
    add_settings,
    by_energies,
    cores_for,
    device_for,
    digest_of,
    dock,
    parsed,
    pinned,
    pocket_of,
    settings_from,
)
from benchmarks.figures import append, resumed, writable
from benchmarks.intervals import interval, wilson
from benchmarks.leaving import in_words
from ligen_py.errors import DeviceError, InputError
from ligen_py.functions import FUNCTIONS
from ligen_py.molecules.export import sdf_record, symmetric_rmsd
from ligen_py.molecules.receptor.site import read_heavy_atoms
from ligen_py.records.ledger import Ledger
from ligen_py.records.ligands import LIGANDS
from ligen_py.store.files.read import read

NEAR = (2.0, 1.0)
"""A pose within this RMSD of the crystal is a success, Angstrom."""

FEW = 9
"""Poses that somebody looks at: as many as Vina keeps by default."""

MARGIN = 5.0
"""The box reaches at least this far beyond the crystal ligand, Angstrom."""

MEASURED = {
    "rmsd_best_scored": "best-scored",
    "rmsd_best_by_physics": "by physics",
    "rmsd_best_of_nine": "best of nine",
    "rmsd_best_of_kept": "best of kept",
}
"""RMSD of a complex, and its name in the summary; what no complex has is left out."""

ALWAYS = ("rmsd_best_scored", "rmsd_best_of_nine", "rmsd_best_of_kept")

FAILURES = (RuntimeError, OSError, ValueError, IndexError, KeyError, InputError, DeviceError)
"""What makes a complex a miss instead of ending the run."""


@dataclass(frozen=True)
class Task:
    """One complex and how to treat it."""

    folder: Path
    cache: Path
    settings: Settings
    device: str | None
    peer: bool
    cores: int


@dataclass(frozen=True)
class Complex:
    """The files of a complex, ready to dock."""

    crystal: Path
    protein: Path
    target: Target
    molecules: LigandsInMemory
    work: Path


PROTEIN = ("protein.pdb", "protein.pdb.gz")
CRYSTAL = ("ligand.sdf",)
START = ("ligand_start.sdf", "ligand.smi")
FILES = (PROTEIN, CRYSTAL, START)
"""What a complex's folder contains, each under one of some names."""


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


def prepare(task: Task, work: Path) -> Complex:
    """Parse the ligand and make the pocket, or take both from the cache."""
    folder, settings = task.folder, task.settings
    crystal = find(folder, *CRYSTAL)
    protein = find(folder, *PROTEIN)
    cache = task.cache / folder.name
    start = find(folder, *START)
    ligands_file = parsed(start, cache, settings.parse)
    ledger: Ledger = read(ligands_file, LIGANDS, Ledger)
    if len(ledger.detail) > 1:
        raise InputError(f"{start}: has {len(ledger.detail)} records; leave the ligand's alone")
    pocket_file = pocket_of(protein, crystal, box_radius(crystal), cache, settings.pocket)
    molecules = LigandsInMemory.of(ligands_file)
    if not len(molecules.ligands.entry):
        raise RuntimeError(f"parse: {'; '.join(ledger.detail) or 'no molecule'}")
    if protein.suffix == ".gz":
        plain = work / "protein.pdb"
        plain.write_bytes(gzip.decompress(protein.read_bytes()))
        protein = plain
    return Complex(crystal, protein, Target.of(pocket_file), molecules, work)


def distances(given: Complex, molecule: np.ndarray, places: np.ndarray) -> np.ndarray:
    """RMSD (poses,) to the crystal."""
    rmsd = symmetric_rmsd(molecule, places, given.crystal)
    if rmsd is None:
        raise ValueError(f"the start is not the molecule of {given.crystal}")
    return rmsd


@cache
def _checks() -> dict[str, Any]:
    """Those of PoseBusters for redocking, but for the RMSD.

    That ends with an error where the crystal file draws another tautomer.
    """
    config: dict[str, Any] = PoseBusters("redock").config
    modules = [module for module in config["modules"] if module["function"] != "rmsd"]
    return config | {"modules": modules}


def failed_checks(given: Complex, molecule: np.ndarray, xyz: np.ndarray) -> list[str]:
    """Names of PoseBusters' checks that a pose (atoms, 3) fails, as its exported SDF record."""
    block = sdf_record(molecule, xyz, "pose", {})
    mol = Chem.MolFromMolBlock(block, removeHs=False)
    if mol is None:
        return ["sanitization"]
    table = PoseBusters(_checks()).bust(
        [mol], Chem.MolFromMolFile(str(given.crystal)), given.protein
    )
    passed = table.iloc[0] == True  # noqa: E712
    return [str(name) for name in passed.index[~passed.to_numpy(bool)]]


def ours(task: Task, given: Complex) -> dict[str, Any]:
    """Dock with this engine; what the table shows of it."""
    clock = Clock()
    docked = dock(device_for(task.device), given.molecules, given.target, task.settings, clock)
    best = int(docked.best_rows(1)[0])
    if best < 0:
        raise RuntimeError(f"none of {len(docked.poses.restart)} poses has a finite score")
    rmsd = np.concatenate([distances(given, *pose) for pose in _by_ligand(docked)])
    ligand = docked.ligand_of(best)
    place = docked.coordinates(ligand)[best - docked.poses.first_pose[ligand]]
    others = {}
    if not all(FUNCTIONS[name].is_energy for name in task.settings.score.functions):
        alone = by_energies(docked, task.settings.score)
        others["rmsd_best_by_physics"] = float(rmsd[alone.best_rows(1)[0]])
    return {
        "rmsd_best_scored": float(rmsd[best]),
        **others,
        "rmsd_best_of_nine": _best_of_few(rmsd, docked.columns["score"]),
        "rmsd_best_of_kept": float(rmsd.min()),
        "failed_checks": failed_checks(given, docked.molecule(ligand), place),
        "seconds": sum(clock.wall.values()),
        "kernel_seconds": sum(clock.kernel.values()),
        "build_seconds": clock.build,
        "stage_seconds": clock.wall,
        "poses": {"rmsd": _rounded(rmsd)} | {k: _rounded(v) for k, v in docked.columns.items()},
    }


def _best_of_few(rmsd: np.ndarray, score: np.ndarray) -> float:
    """RMSD of the nearest of the poses that score best."""
    order = np.argsort(-np.where(np.isfinite(score), score, -np.inf), kind="stable")
    return float(rmsd[order[:FEW]].min())


def _by_ligand(docked: Docked) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Molecule and coordinates of every ligand's poses (forms of one molecule are ligands)."""
    for ligand in np.flatnonzero(np.diff(docked.poses.first_pose)):
        yield docked.molecule(int(ligand)), docked.coordinates(int(ligand))


def _rounded(column: np.ndarray) -> list[float | None]:
    return [round(float(v), 4) if np.isfinite(v) else None for v in column]


def vina(task: Task, given: Complex) -> dict[str, Any]:
    """Dock with AutoDock Vina: every state, from its first conformer, all poses together.

    A state that it cannot dock is lost alone, as one of ours is.
    """
    from benchmarks.vina_peer import VinaPeer  # only who asks for the peer needs its packages

    started = time.perf_counter()
    peer = VinaPeer(given.target, given.work, task.cores)
    found, failures = [], []
    for row in np.flatnonzero(given.molecules.ligands.conformer == 0):
        try:
            found.append(peer.dock(given.molecules.ligands, int(row)))
        except FAILURES as error:
            failures.append(error)
    if not found:
        raise failures[0]
    seconds = time.perf_counter() - started
    rmsd = np.concatenate([distances(given, state.molecule, state.xyz) for state in found])
    affinity = np.concatenate([state.affinity for state in found])
    best = min(found, key=lambda state: float(state.affinity[0]))
    return {
        "rmsd_best_scored": float(rmsd[affinity.argmin()]),
        "rmsd_best_of_nine": _best_of_few(rmsd, -affinity),
        "rmsd_best_of_kept": float(rmsd.min()),
        "failed_checks": failed_checks(given, best.molecule, best.xyz[0]),
        "seconds": seconds,
        "poses": {"rmsd": _rounded(rmsd), "affinity": _rounded(affinity)},
    }


def redock(task: Task) -> dict[str, Any]:
    """All of one complex: its row."""
    RDLogger.DisableLog("rdApp.*")
    programs = {"ours": ours} | ({"vina": vina} if task.peer else {})
    row: dict[str, Any] = {"id": task.folder.name}
    with tempfile.TemporaryDirectory() as work:
        try:
            given = prepare(task, Path(work))
        except FAILURES as error:
            return row | {name: {"status": f"failed: {error}"} for name in programs}
        for name, program in programs.items():
            row[name] = attempt(program, task, given)
    return row


def attempt(
    program: Callable[[Task, Complex], dict[str, Any]], task: Task, given: Complex
) -> dict[str, Any]:
    """What a program makes of a complex, or why it failed."""
    try:
        return program(task, given) | {"status": "ok"}
    except FAILURES as error:
        return {"status": f"failed: {error}"}


def run(tasks: list[Task], jobs: int) -> Iterator[dict[str, Any]]:
    """Rows as they come, from `jobs` processes with cores of their own."""
    with pinned(jobs) as pool:
        for done in as_completed([pool.submit(redock, task) for task in tasks]):
            yield done.result()


def hits(rows: list[dict[str, Any]], program: str, key: str, near: float) -> np.ndarray:
    """Which complexes are a success (complexes,); those without a pose are not."""
    return np.array([row[program].get(key, np.inf) <= near for row in rows])


def valid(rows: list[dict[str, Any]], program: str) -> np.ndarray:
    """Which complexes have a sound best-scored pose (complexes,)."""
    return np.array([row[program].get("failed_checks") == [] for row in rows])


def measures(rows: list[dict[str, Any]], program: str) -> dict[str, np.ndarray]:
    """Every fraction of the summary, one truth value for each complex."""
    result = {}
    for key, label in MEASURED.items():
        if key not in ALWAYS and not any(key in row[program] for row in rows):
            continue
        for near in NEAR:
            result[f"{label} within {near:g} A"] = hits(rows, program, key, near)
    sound = valid(rows, program)
    result["best-scored valid"] = sound
    result["best-scored within 2 A and valid"] = sound & result["best-scored within 2 A"]
    return result


def summary(rows: list[dict[str, Any]], programs: list[str]) -> dict[str, Any]:
    """Shares, median times, and paired differences ours minus the peer's."""
    result: dict[str, Any] = {"complexes": len(rows)}
    shares = {program: measures(rows, program) for program in programs}
    for program in programs:
        result[program] = {name: _share(hit) for name, hit in shares[program].items()}
        for key in ("seconds", "kernel_seconds"):
            times = [row[program][key] for row in rows if key in row[program]]
            if times:
                result[program][f"median {key}"] = round(float(np.median(times)), 4)
    if len(programs) == 2:
        first, second = (shares[program] for program in programs)
        result["difference"] = {
            name: _difference(first[name].astype(float) - second[name])
            for name in first
            if name in second
        }
    return result


def _share(hit: np.ndarray) -> dict[str, Any]:
    hits, count = int(hit.sum()), len(hit)
    return {"count": hits} | _per_cent(hits / count, wilson(hits, count))


def _difference(values: np.ndarray) -> dict[str, Any]:
    """Of pairs; without an interval where no complex differs, as a bootstrap's has no width."""
    return _per_cent(float(values.mean()), interval(values) if values.any() else None)


def _per_cent(value: float, ends: tuple[float, float] | None) -> dict[str, Any]:
    """A figure and its interval in per cent."""
    return {
        "per_cent": round(100 * value, 1),
        "interval_95": [round(100 * end, 1) for end in ends] if ends else None,
    }


def table_line(row: dict[str, Any], programs: list[str]) -> str:
    """One complex as a line."""
    words = {row[program]["status"] for program in programs}
    if len(words) == 1 and words != {"ok"}:
        return f"{row['id']:10} {words.pop()}"
    parts = []
    for program in programs:
        found = row[program]
        if found["status"] == "ok":
            failed = found["failed_checks"]
            word = "valid" if not failed else f"{len(failed)} bad"
            numbers = [found["rmsd_best_scored"], found["rmsd_best_of_kept"], found["seconds"]]
            text = " ".join(f"{number:7.2f}" for number in numbers) + f" {word:>6}"
        else:
            text = found["status"]
        parts.append(f"{text:30}")
    return f"{row['id']:10} " + " | ".join(parts).rstrip()


def print_summary(total: dict[str, Any], programs: list[str]) -> None:
    """The shares below the table."""
    count = total["complexes"]
    names = [name for name in total["ours"] if not name.startswith("median")]
    for name in names:
        cells = []
        for program in (program for program in programs if name in total[program]):
            part = total[program][name]
            low, high = part["interval_95"]
            cells.append(
                f"{program} {part['count']}/{count} = {part['per_cent']} % ({low} to {high})"
            )
        if name in total.get("difference", {}):
            part = total["difference"][name]
            ends = "no complex differs"
            if part["interval_95"]:
                ends = "{:+} to {:+}".format(*part["interval_95"])
            cells.append(f"difference {part['per_cent']:+} ({ends})")
        print(f"{name:33} {'; '.join(cells)}")
    for program in programs:
        times = [f"{k} {v:g}" for k, v in total[program].items() if k.startswith("median")]
        print(f"{program}: {', '.join(times) or 'no times'} a ligand")


def complexes(parser: argparse.ArgumentParser, folder: Path, only: list[str] | None) -> list[Path]:
    """The folders of some complexes, or of all; leaves with a sentence where one is not there."""
    if not folder.is_dir():
        parser.error(f"{folder} is not a folder")
    found = sorted(path for path in folder.iterdir() if path.is_dir())
    unknown = sorted(set(only or ()) - {path.name for path in found})
    if unknown or not found:
        parser.error(f"{folder} has no {', '.join(unknown) or 'complexes'}")
    return [path for path in found if not only or path.name in only]


def check_peer(parser: argparse.ArgumentParser, peer: str | None) -> None:
    """Leave with a sentence where packages of the peer are missing, before anything is docked."""
    try:
        if peer:
            import_module(f"benchmarks.{peer}_peer")
    except ImportError as error:
        parser.error(f"--peer {peer}: {error}; requirements-dev.lock has what it needs")


def main() -> int:
    """Redock every complex of a folder and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder of complexes")
    add_settings(parser)
    parser.add_argument("--peer", choices=["vina"], help="program to run beside ours")
    parser.add_argument("--json", type=writable, help="also write all figures and every pose here")
    parser.add_argument(
        "--cache", type=Path, help="keep parsed ligands and pockets here for later runs"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="complexes at a time, each on its share of the cores; times of a GPU are\n"
        "those of one complex only with 1 (default)",
    )
    parser.add_argument("--only", nargs="+", metavar="ID", help="these complexes only")
    options = parser.parse_args()
    settings = settings_from(options)
    folders = complexes(parser, options.folder, options.only)
    for folder in folders:
        missing = [names for names in FILES if not any((folder / name).exists() for name in names)]
        if missing:
            parser.error(f"{folder} has no {' or '.join(missing[0])}")
    check_peer(parser, options.peer)
    programs = ["ours", *([options.peer] if options.peer else [])]
    cores = len(cores_for(options.jobs)[0])
    device = device_for(options.device).label
    print(f"{device}; {options.jobs} complexes at a time, {cores} cores each")
    print(f"effort {settings.effort}{''.join(f', {item}' for item in options.set)}")
    titles = [f"{program}: RMSD, best, seconds, sound" for program in programs]
    print(f"{'complex':10} " + " | ".join(f"{title:30}" for title in titles).rstrip())
    given = {
        folder.name: digest_of(*(find(folder, *names) for names in FILES)) for folder in folders
    }
    run_of = about(device, settings, jobs=options.jobs, cores_each=cores, programs=programs)
    earlier = {  # by the name: one that stands in the file twice counts once
        row["id"]: row
        for row in resumed(options.json, run_of)
        if "id" in row and row["given"] == given.get(row["id"])
    }
    rows = list(earlier.values())
    for row in rows:
        print(table_line(row, programs), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        cache = options.cache or Path(scratch)
        tasks = [
            Task(folder, cache, settings, options.device, bool(options.peer), cores)
            for folder in folders
            if folder.name not in earlier
        ]
        for row in run(tasks, options.jobs):
            rows.append(row | {"given": given[row["id"]]})
            append(options.json, rows[-1])
            print(table_line(row, programs), flush=True)
    rows.sort(key=lambda row: str(row["id"]))  # equal rows, equal intervals
    total = summary(rows, programs)
    append(options.json, {"summary": total})
    print_summary(total, programs)
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
