"""The genetic algorithm on AutoDock-GPU's five complexes: energies, success, evaluations, speed.

    python benchmarks/autodock.py FOLDER energies [--maps FOLDER]
    python benchmarks/autodock.py FOLDER complexes [--seeds N]
    python benchmarks/autodock.py FOLDER speed [--generations N]
    python benchmarks/autodock.py FOLDER screen [--ligands N] [--library FILE]
    python benchmarks/autodock.py FOLDER registers
    ... [--search bfgs adadelta solis_wets] [--set KEY=VALUE ...] [--only ID ...] [--runs N]
        [--device SELECTOR] [--json FILE]

FOLDER has a folder for each complex (1ac8, 1stp, 3ce3, 3tmn, 7cpa) with ID_ligand.pdbqt, the
crystal pose, and receptor.pdbqt. Boxes are those of AutoDock-GPU's examples. Each row is printed as
soon as it is known.

energies: of the crystal poses, terms apart, in our maps; with --maps in AutoGrid's, from
FOLDER/ID/*.maps.fld.
complexes: best energy, RMSD (symmetry-aware, heavy atoms) of the best pose and of the largest
cluster's, how many runs come within 1 kcal/mol of the lowest known energy and how many poses
within 2 A, evaluations, seconds; and E50, the evaluations that half the runs need to come within
1 kcal/mol of the lowest known energy of the search, by generations.
speed: evaluations a second at fixed work, without the automatic stop.
screen: ligands a second, all in one launch, in the box of 3ce3: the first state of each molecule of
FILE, which `ligen stage parse` wrote, or the five ligands again and again.
registers: of the kernels that search for one ligand, on NVIDIA's GPUs: registers of a lane, bytes
of them that are spilled, local memory of a sub-group, and how many sub-groups a multiprocessor has
room for.
Each local search has its own defaults; --set changes settings of the genetic algorithm.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.docking import LigandsInMemory
from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from ligen_py.cli import at_least
from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.genetic.batched import CLASSES, Lga
from ligen_py.engine.genetic.given_field import GivenField
from ligen_py.engine.genetic.poses import Poser, map_values
from ligen_py.engine.refinement.maps import Grid
from ligen_py.engine.refinement.reference import Genotype
from ligen_py.errors import InputError
from ligen_py.molecules import clusters
from ligen_py.molecules.autogrid import CHARGE, SOLVATION, read_maps
from ligen_py.molecules.pdbqt import type_name
from ligen_py.molecules.pdbqt_input import PdbqtLigand, read_ligand, read_receptor
from ligen_py.opencl.device import Device, select
from ligen_py.opencl.residency import occupancy, usage
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Receptor, Ad4Type
from ligen_py.records.rows import concatenated, rows_below, subset
from ligen_py.settings.check import check
from ligen_py.settings.lga import LgaSettings, LocalSearch

SPACING = 0.375
BOXES = {
    "1ac8": ((31.924, 93.444, 47.924), (60, 60, 60)),
    "1stp": ((10.734, 2.033, -11.537), (24, 22, 32)),
    "3ce3": ((20.402, 18.013, 56.855), (40, 54, 40)),
    "3tmn": ((52.340, 15.029, -2.932), (60, 60, 60)),
    "7cpa": ((49.836, 17.609, 36.272), (60, 60, 60)),
}
"""Centre, Angstrom, and cells along x, y, z."""

LOWEST = {"1ac8": -5.72, "1stp": -10.12, "3ce3": -14.57, "3tmn": -9.80, "7cpa": -21.97}
"""The lowest energy of the search (in the receptor and within the ligand) found here, kcal/mol; one
that a call finds below it stands in its place."""

NEAR_ENERGY, NEAR = 1.0, 2.0
"""kcal/mol and Angstrom of a success."""


def grid_of(name: str) -> Grid:
    """The box of a complex."""
    center, cells = BOXES[name]
    origin = np.array(center) - SPACING * np.array(cells) / 2
    x, y, z = (count + 1 for count in cells)
    return Grid(origin.astype(np.float32), SPACING, (x, y, z))


class System:
    """One complex on a device, its maps ours or AutoGrid's."""

    def __init__(self, folder: Path, name: str, device: Device, maps: Path | None = None) -> None:
        self.name, self.device = name, device
        self.ligand: PdbqtLigand = read_ligand(folder / name / f"{name}_ligand.pdbqt")
        one = self.ligand.ligands
        self.field: Ad4Field
        if maps:
            types = [Ad4Type(kind) for kind in np.unique(one.type)]
            path = next((maps / name).glob("*.maps.fld"), None)
            if path is None:
                raise InputError(f"{maps / name}: has no file *.maps.fld")
            read = read_maps(path, [type_name(kind) for kind in types])
            grid = Grid(read.origin.astype(np.float32), read.spacing, read.shape)
            given = {kind: read.values[type_name(kind)] for kind in types}
            charge, solvation = read.values[CHARGE], read.values[SOLVATION]
            self.field = GivenField(device, grid, charge, solvation, given)
        else:
            receptor: Ad4Receptor = read_receptor(folder / name / "receptor.pdbqt")
            self.field = Ad4Field(device, receptor, grid_of(name), one)
        self.poser = Poser(self.field, map_values(device, self.field), one, 0)
        self.ways = clusters.symmetries(one.element, self.ligand.bond)

    @property
    def crystal(self) -> Genotype:
        """The pose of the file."""
        still = np.zeros(len(self.ligand.ligands.torsion_axis))
        return Genotype(self.ligand.center, np.array([1.0, 0, 0, 0]), still)

    def heavy(self, genotype: Genotype) -> np.ndarray:
        """Coordinates of the heavy atoms."""
        return self.poser.places(genotype)[: int(self.ligand.ligands.heavy[0])]


def settings_of(options: argparse.Namespace, search: str, **given: Any) -> LgaSettings:
    """The settings that a command line asks for."""
    words = dict(item.partition("=")[::2] for item in options.set)
    few = {"runs": options.runs, "generations": options.generations}
    return check(
        LgaSettings, {"local_search": search, **few, **given, **words}, "command line, --set"
    )


def from_library(file: Path, most: int) -> Ad4Ligands:
    """The first state of each molecule of a ligands file."""
    molecules = LigandsInMemory.of(file)
    rows = np.unique(molecules.ligands.entry, return_index=True)[1][:most]
    typed = molecules.typed["ad4"]
    return subset(typed, rows_below(typed, "ligand", rows))  # type: ignore[return-value]


def energies(folder: Path, names: Iterable[str], options: argparse.Namespace) -> Iterable[dict]:
    """Rows of the crystal poses' energies."""
    device = select(options.device)
    for name in names:
        system = System(folder, name, device, options.maps)
        terms = system.poser.terms(system.crystal)
        yield {
            "complex": name,
            "vdw, hbond, desolv": round(float(terms.vdw.sum()), 3),
            "electrostatic": round(float(terms.electrostatic.sum()), 3),
            "intermolecular": round(terms.intermolecular, 3),
            "internal": round(terms.internal, 3),
            "torsional": round(terms.torsional, 3),
            "binding": round(terms.binding, 3),
        }


def complexes(folder: Path, names: Iterable[str], options: argparse.Namespace) -> Iterable[dict]:
    """Rows of docking each complex with each local search and seed."""
    device = select(options.device)
    for name in names:
        system = System(folder, name, device)
        for search in options.search:
            for seed in range(1, options.seeds + 1):
                yield docked(system, search, seed, options)


def docked(system: System, search: str, seed: int, options: argparse.Namespace) -> dict:
    """One docking of one complex."""
    settings = settings_of(options, search, seed=seed)
    trace: list[tuple[np.ndarray, np.ndarray]] = []

    def watch(_: np.ndarray, runs: np.ndarray) -> None:
        trace.append((runs["evaluations"].copy(), runs["energy"].copy()))

    lga, started = Lga(system.device, system.field), time.perf_counter()
    ((_, found),) = lga.search(system.ligand.ligands, settings, watch=watch)
    seconds = time.perf_counter() - started
    torsions = len(system.ligand.ligands.torsion_axis)
    genotypes = [
        Genotype(
            found.translation[run].astype(float),
            found.quaternion[run].astype(float),
            found.torsion[run * torsions : (run + 1) * torsions].astype(float),
        )
        for run in range(settings.runs)
    ]
    terms = [system.poser.terms(one) for one in genotypes]
    binding = np.array([one.binding for one in terms])
    places = [system.heavy(one) for one in genotypes]
    groups = clusters.clusters(places, binding, NEAR, system.ways)
    crystal = system.heavy(system.crystal)
    rmsds = [clusters.rmsd(crystal, place, system.ways) for place in places]
    largest = max(groups, key=len)
    lowest = min(LOWEST[system.name], float(found.energy.min()))
    needed = first_near(trace, lowest + NEAR_ENERGY)
    return {
        "complex": system.name,
        "search": search,
        "seed": seed,
        "best binding": round(float(binding.min()), 2),
        "lowest energy": round(float(found.energy.min()), 2),
        "rmsd of best": round(rmsds[groups[0][0].pose], 2),
        "rmsd of largest cluster": round(rmsds[largest[0].pose], 2),
        "runs near the lowest": int((found.energy <= lowest + NEAR_ENERGY).sum()),
        "runs within 2 A": int((np.array(rmsds) <= NEAR).sum()),
        "runs": settings.runs,
        "million evaluations": round(float(found.evaluations.sum()) / 1e6, 2),
        "generations": int(np.median(found.generations)),
        "E50, million": None if needed is None else round(needed / 1e6, 3),
        "seconds": round(seconds, 2),
        "kernel seconds": round(lga.kernel_seconds, 2),
        "device": system.device.label,
    }


def first_near(trace: list[tuple[np.ndarray, np.ndarray]], limit: float) -> float | None:
    """Evaluations of a run after which half of all runs have come below an energy.

    `trace` has evaluations and lowest energy of each run after every generation.
    """
    evaluations = np.array([one for one, _ in trace], float)
    below = np.array([energy for _, energy in trace]) <= limit
    needed = np.where(below, evaluations, np.inf).min(axis=0)
    half = float(np.sort(needed)[(len(needed) - 1) // 2])
    return half if np.isfinite(half) else None


def speed(folder: Path, names: Iterable[str], options: argparse.Namespace) -> Iterable[dict]:
    """Rows of evaluations a second at fixed work."""
    device = select(options.device)
    for name in names:
        system = System(folder, name, device)
        for search in options.search:
            settings = settings_of(options, search, stop=False)
            for timed in (False, True):  # the first compiles
                lga, given = Lga(device, system.field), settings
                if not timed:
                    given = settings.model_copy(update={"generations": 1})
                started, busy = time.perf_counter(), time.process_time()
                ((_, found),) = lga.search(system.ligand.ligands, given)
            seconds = time.perf_counter() - started
            evaluations = float(found.evaluations.astype(float).sum())
            yield {
                "complex": name,
                "search": search,
                "million evaluations": round(evaluations / 1e6, 2),
                "seconds": round(seconds, 2),
                "million evaluations/s": round(evaluations / seconds / 1e6, 3),
                "processor microseconds an evaluation": round(
                    1e6 * (time.process_time() - busy) / evaluations, 3
                ),
                "device": device.label,
            }


def screen(folder: Path, names: Iterable[str], options: argparse.Namespace) -> Iterable[dict]:
    """Rows of many ligands in one launch."""
    device = select(options.device)
    if options.library:
        many = from_library(options.library, options.ligands)
    else:
        ligands = [read_ligand(folder / name / f"{name}_ligand.pdbqt").ligands for name in names]
        many = concatenated([ligands[n % len(ligands)] for n in range(options.ligands)])
    count = len(many.first_atom) - 1
    receptor = read_receptor(folder / "3ce3" / "receptor.pdbqt")
    field = Ad4Field(device, receptor, grid_of("3ce3"), many)
    for search in options.search:
        settings = settings_of(options, search)
        for timed in (False, True):  # the first compiles
            lga, given = Lga(device, field), settings
            if not timed:
                given = settings.model_copy(update={"generations": 1})
            started = time.perf_counter()
            searched = list(lga.search(many, given))
        seconds = time.perf_counter() - started
        evaluations = sum(float(found.evaluations.astype(float).sum()) for _, found in searched)
        yield {
            "search": search,
            "ligands": count,
            "seconds": round(seconds, 1),
            "ligands/s": round(count / seconds, 3),
            "million evaluations a ligand": round(evaluations / count / 1e6, 2),
            "million evaluations/s": round(evaluations / seconds / 1e6, 3),
            "device": device.label,
        }


def registers(folder: Path, names: Iterable[str], options: argparse.Namespace) -> Iterable[dict]:
    """Rows of what the kernel of each size of ligand takes; none from a compiler that is silent."""
    device = select(options.device)
    lga = Lga(device, System(folder, next(iter(names)), device).field)
    for search in options.search:
        for atoms, freedoms in CLASSES:
            settings = settings_of(options, search)
            individuals = settings.population * settings.runs
            program, _ = lga.program((atoms, freedoms), settings, individuals)
            for kernel, found in usage(program.log).items():
                if kernel not in ("generations", "generation"):
                    continue
                room, most = occupancy(program, kernel, 1)
                yield {
                    "search": search,
                    "atoms": atoms,
                    "degrees of freedom": freedoms,
                    "registers": found.registers,
                    "bytes spilled": found.spilled,
                    "bytes of local memory": program.local_bytes(kernel),
                    "sub-groups": f"{room} of {most}",
                    "device": device.label,
                }


TABLES: dict[str, Callable[..., Iterable[dict]]] = {
    "energies": energies,
    "complexes": complexes,
    "speed": speed,
    "screen": screen,
    "registers": registers,
}


def main() -> None:
    """Print a table, row by row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--only", nargs="+", choices=BOXES, default=list(BOXES))
    parser.add_argument("--maps", type=Path)
    parser.add_argument("--seeds", type=at_least(1), default=10)
    parser.add_argument("--runs", type=at_least(1), default=20)
    parser.add_argument("--generations", type=at_least(1), default=42_000)
    parser.add_argument("--ligands", type=at_least(1), default=200)
    parser.add_argument("--library", type=Path)
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE")
    parser.add_argument(
        "--search", nargs="+", choices=get_args(LocalSearch), default=list(get_args(LocalSearch))
    )  # fmt: skip
    parser.add_argument("--device")
    parser.add_argument("--json", type=writable)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for row in TABLES[options.table](options.folder, options.only, options):
        if not rows:
            print(" | ".join(row))
        rows.append(row)
        print(" | ".join(map(str, row.values())), flush=True)
        save(options.json, rows)


if __name__ == "__main__":
    with in_words():
        main()
