"""Shared by the accuracy benchmarks: settings, prepared inputs, one run of the engine with times.

The engine is called as the stages dock, filter, refine and score call it, without their files.
"""

import argparse
import hashlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyopencl as cl
import yaml
from pydantic import Field, model_validator

from ligen_py import chain
from ligen_py.engine.docking.mode import docker
from ligen_py.engine.docking.oversized import larger_than_box
from ligen_py.engine.docking.search import Plan
from ligen_py.engine.filtering.batched import filter_poses
from ligen_py.engine.functions.gnina.constants import NETWORKS as FILES
from ligen_py.engine.functions.gnina.weights import load
from ligen_py.engine.genetic.beside import with_geometric
from ligen_py.engine.genetic.collected import docked
from ligen_py.engine.pose_arrays import places
from ligen_py.engine.refinement.batched import refine_poses
from ligen_py.engine.scoring.scores import best_poses, pose_scores, score
from ligen_py.errors import DeviceError, InputError
from ligen_py.functions import FUNCTIONS
from ligen_py.molecules.library.reading import Part
from ligen_py.opencl.buffers import busy
from ligen_py.opencl.device import Device, select
from ligen_py.opencl.program import Program
from ligen_py.provenance import file_digest, stage_digest
from ligen_py.records.column import Record
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, GeometricField, Receptor
from ligen_py.records.poses import Poses
from ligen_py.records.rows import rows_below, subset
from ligen_py.records.scores import Scores
from ligen_py.records.typed import Typed
from ligen_py.settings.campaign import NETWORKS, PRESETS, SEARCH_OF, Method
from ligen_py.settings.check import check
from ligen_py.settings.flags import flags
from ligen_py.settings.parse import ParseOptions, ParseSettings
from ligen_py.settings.pocket import PocketSettings, Site, Structure
from ligen_py.settings.score import ScoreSettings
from ligen_py.store.files.read import groups_in, read

STAGES = tuple(stage.name for stage in chain.SCREEN)

FOR_LIBRARIES = tuple(effort for effort in PRESETS if effort not in SEARCH_OF)
"""The efforts that are quick enough for libraries."""


class Settings(Method):
    """Settings of a benchmark: the sections of a campaign that change a result.

    States are made as a campaign makes them, and conformers anew, as for a library of SMILES.
    """

    pocket: PocketSettings = Field(default_factory=PocketSettings)

    @model_validator(mode="before")
    @classmethod
    def _embed(cls, values: Any) -> Any:
        return values | {"parse": {"embed": "always"} | values.get("parse", {})}


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add --effort, --set and --device."""
    parser.add_argument("--effort", default="standard", help=", ".join(PRESETS))
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="a setting that differs from the effort's, such as search=lga, refine.rounds=100 or\n"
        "'score.functions=[vina, ad4]'; as often as wanted",
    )
    parser.add_argument("--device", help="OpenCL device, as in the stages")


def settings_from(options: argparse.Namespace) -> Settings:
    """The settings that a command line asks for; leaves with a sentence where they are wrong.

    Or where they need networks that are not installed: each complex would be a miss.
    """
    document: dict[str, Any] = {"effort": options.effort}
    for item in options.set:
        key, equals, value = item.partition("=")
        section, dot, name = key.partition(".")
        if key == "search":
            document[key] = value
        elif equals and dot and name:
            document.setdefault(section, {})[name] = yaml.safe_load(value)
        else:
            raise SystemExit(f"--set {item}: give SECTION.KEY=VALUE, such as refine.rounds=100")
    try:
        settings = check(Settings, document, "command line")
        if NETWORKS in settings.score.functions:
            load(FILES)
    except InputError as error:
        raise SystemExit(str(error)) from None
    return settings


def about(device: str, settings: Settings, **more: Any) -> dict[str, Any]:
    """What the figures of a run depend on besides its files, as JSON has it."""
    code = {name: stage_digest(name) for name in ("parse", "pocket", "lga", *STAGES)}
    return {"device": device, **more, "code": code, "settings": settings.model_dump(mode="json")}


def digest_of(*files: Path) -> str:
    """A digest of some files."""
    return hashlib.sha256("".join(map(file_digest, files)).encode()).hexdigest()


@cache
def device_for(selector: str | None) -> Device:
    """The device of this process; kernels are built for it once. Leaves where there is none."""
    try:
        return select(selector)
    except DeviceError as error:
        raise SystemExit(str(error)) from None


def parsed(
    library: Path, folder: Path, settings: ParseSettings, jobs: int = 1, part: str = "1-of-1"
) -> Path:
    """The ligands file of (a part of) a library, made in `folder` unless it lies there already."""
    made = _cached(folder, "parse", [library], [part, flags(settings)])
    if not made.exists():
        inputs = {"input": library, "part": Part.parse(part)}
        options = ParseOptions(**settings.model_dump())
        chain.STAGES["parse"].run(inputs, options, None, made, jobs=jobs)
    return made


def pocket_of(
    receptor: Path, ligand: Path, radius: float, folder: Path, settings: PocketSettings
) -> Path:
    """The pocket file of a receptor around a ligand, made unless it lies there already."""
    made = _cached(folder, "pocket", [receptor, ligand], [str(radius), flags(settings)])
    if not made.exists():
        site = Site(ligand=str(ligand), radius=radius)
        inputs = {"receptor": receptor, "structure": Structure(), "site": site}
        chain.STAGES["pocket"].run(inputs, settings, None, made)
    return made


def _cached(folder: Path, stage: str, inputs: Sequence[Path], arguments: Sequence[str]) -> Path:
    """Where a result is kept: its name changes with the stage's code, its flags and its inputs."""
    words = [stage_digest(stage), *arguments, *(file_digest(path) for path in inputs)]
    name = hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{stage}-{name}.h5"


@dataclass(frozen=True)
class LigandsInMemory:
    """Ligands in memory, also as the scoring functions see them, by group."""

    ligands: Ligands
    typed: dict[str, Ligands]

    @classmethod
    def of(cls, file: Path) -> "LigandsInMemory":
        """Read a ligands file."""
        ligands: Ligands = read(file, LIGANDS, Ligands)
        groups = groups_in(file, LIGANDS)
        typed = {
            g: read(file, LIGANDS, record, ligands)
            for g, record in groups.items()
            if g not in LIGANDS.fixed and issubclass(record, Ligands)
        }
        return cls(ligands, typed)

    def some(self, rows: np.ndarray) -> "LigandsInMemory":
        """Some ligands, which may repeat."""
        below = rows_below(self.ligands, "ligand", rows)
        typed = {group: subset(ligands, below) for group, ligands in self.typed.items()}
        return LigandsInMemory(subset(self.ligands, below), typed)


@dataclass(frozen=True)
class Target:
    """A pocket as the engine needs it."""

    receptor: Receptor
    field: GeometricField
    typed: dict[str, Record]
    """Group -> the receptor as a scoring function sees it."""

    @classmethod
    def of(cls, file: Path) -> "Target":
        """Read a pocket file."""
        groups = groups_in(file, POCKET)
        typed = {g: read(file, POCKET, r) for g, r in groups.items() if g not in POCKET.fixed}
        return cls(read(file, POCKET, Receptor), read(file, POCKET, GeometricField), typed)

    def seen(self, molecules: "LigandsInMemory", functions: Sequence[str]) -> dict[str, Typed]:
        """Ligands and this receptor as some scoring functions see them."""
        groups = {name: types.group for name in functions if (types := FUNCTIONS[name].types)}
        return {
            name: Typed(
                molecules.typed.get(groups.get(name, ""), molecules.ligands),
                self.typed.get(groups.get(name, ""), self.receptor),
            )
            for name in functions
        }

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Centre (3,) and sides (3,) of the box, Angstrom."""
        sides = (np.array(self.field.value.shape) - 1) * self.field.spacing[0]
        return self.field.origin + sides / 2, sides


@contextmanager
def launched() -> Iterator[list[tuple[str, cl.Event]]]:
    """Names and events of all kernels that a block launches, whichever way it launches them."""
    found: list[tuple[str, cl.Event]] = []
    call, enqueue = cl.Kernel.__call__, cl.enqueue_nd_range_kernel

    def called(kernel: cl.Kernel, *arguments: Any, **options: Any) -> cl.Event:
        event = call(kernel, *arguments, **options)
        found.append((kernel.function_name, event))
        return event

    def enqueued(queue: cl.CommandQueue, kernel: cl.Kernel, *arguments: Any) -> cl.Event:
        event = enqueue(queue, kernel, *arguments)
        found.append((kernel.function_name, event))
        return event

    with (
        patch.object(cl.Kernel, "__call__", called),
        patch.object(cl, "enqueue_nd_range_kernel", enqueued),
    ):
        yield found


@dataclass
class Clock:
    """Seconds by stage: of the wall without building kernels, of the device, of building them.

    The device's seconds are those in which it ran at least one kernel.
    """

    wall: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    kernel: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    build: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of a block, and that of all kernels built and launched in it."""
        built = 0.0
        make = Program.__init__

        def timed_make(program: Program, *arguments: Any) -> None:
            nonlocal built
            began = time.perf_counter()
            make(program, *arguments)
            built += time.perf_counter() - began

        class TimedQueue(cl.CommandQueue):
            """A queue that times its events; a class, as pyopencl looks for its instances."""

            def __init__(self, context: cl.Context, *arguments: Any, **options: Any) -> None:
                profiling = cl.command_queue_properties.PROFILING_ENABLE
                super().__init__(context, *arguments, **{"properties": profiling} | options)

        started = time.perf_counter()
        with (
            patch.object(Program, "__init__", timed_make),
            patch.object(cl, "CommandQueue", TimedQueue),
            launched() as kernels,
        ):
            yield
        self.wall[name] += time.perf_counter() - started - built
        self.build += built
        self.kernel[name] += busy([event for _, event in kernels])


@dataclass(frozen=True)
class Docked:
    """Scored poses of some ligands; poses of a ligand stand together, best energy first."""

    ligands: Ligands
    poses: Poses
    columns: dict[str, np.ndarray]
    """What is known of every pose: "vina.affinity" and so on, and the energies in the field."""
    scores: Scores

    def ligand_of(self, pose: int) -> int:
        """The row of a pose's ligand."""
        return int(np.searchsorted(self.poses.first_pose, pose, side="right")) - 1

    def best_rows(self, records: int) -> np.ndarray:
        """Row of every record's best pose (records,), -1 where it has none; its states compete."""
        scored = np.flatnonzero(self.scores.best >= 0)[::-1]
        scored = scored[np.argsort(self.scores.score[scored], kind="stable")]
        rows = np.full(records, -1, np.int64)
        rows[self.ligands.entry[scored]] = self.scores.best[scored]  # the last one written stays
        return rows

    def by_record(self, column: np.ndarray, records: int) -> np.ndarray:
        """The largest value (records,) of a column at the best poses of a record's ligands.

        -inf for a record without a pose.
        """
        scored = np.flatnonzero(self.scores.best >= 0)
        values = np.full(records, -np.inf)
        np.maximum.at(values, self.ligands.entry[scored], column[self.scores.best[scored]])
        return values

    def terms(self, functions: Sequence[str]) -> dict[str, dict[str, np.ndarray]]:
        """The terms (poses,) of some functions."""
        found: dict[str, dict[str, np.ndarray]] = {name: {} for name in functions}
        for column, values in self.columns.items():
            function, _, term = column.partition(".")
            if function in found:
                found[function][term] = values
        return found

    def molecule(self, ligand: int) -> np.ndarray:
        """RDKit's binary molecule of a ligand."""
        first, last = self.ligands.first_byte[ligand : ligand + 2]
        return self.ligands.molecule[first:last]

    def coordinates(self, ligand: int) -> np.ndarray:
        """Coordinates (poses, atoms, 3) of all poses of a ligand, Angstrom."""
        return places(self.ligands, self.poses, ligand)


def dock(
    device: Device, molecules: LigandsInMemory, target: Target, settings: Settings, clock: Clock
) -> Docked:
    """Run dock (or lga), filter, refine and score over ligands in memory; times go to `clock`."""
    ligands = molecules.ligands
    large = np.array(sorted(larger_than_box(ligands, target.field)), np.int64)
    rows = np.setdiff1d(np.arange(len(ligands.entry)), large)
    with clock.stage("dock"):
        if settings.search == "lga":
            seen = target.seen(molecules, ["ad4"])["ad4"]
            found = docked(device, seen.ligands, seen.receptor, target.field, rows, settings.lga)
            runs = found.poses()
            poses = with_geometric(device, ligands, target.field, rows, runs, settings.lga)
        else:
            plan = Plan.of(target.field, settings.dock)
            poses = docker("auto", device, plan, len(rows)).dock(ligands, rows)
    with clock.stage("filter"):
        kept, verdicts = filter_poses(device, ligands, poses, settings.filter)
    with clock.stage("refine"):
        name, kinds = settings.refine.field, molecules.typed["vina"].type  # type: ignore[attr-defined]
        seen = target.seen(molecules, [name])[name]
        poses, _, energies = refine_poses(
            device, settings.refine, seen, target.field, poses, kept, verdicts, kinds
        )
    with clock.stage("score"):
        terms = score(device, target.seen(molecules, settings.score.functions), poses)
        ranks, energy = pose_scores(ligands, poses, terms, settings.score)
        scores = best_poses(poses, ranks, energy)
    columns = {f"{name}.{term}": v for name, part in terms.items() for term, v in part.items()}
    columns |= {"refine.before": energies.before, "refine.after": energies.after}
    columns |= {"dock.score": poses.score, "choice": energy, "score": ranks}
    return Docked(ligands, poses, columns, scores)


def by_energies(docked: Docked, settings: ScoreSettings) -> Docked:
    """The same poses, chosen and scored by the energies alone, without what networks say."""
    names = tuple(name for name in settings.functions if FUNCTIONS[name].is_energy)
    alone = settings.model_copy(update={"functions": names, "rank_by": "energy"})
    ranks, energy = pose_scores(docked.ligands, docked.poses, docked.terms(names), alone)
    columns = docked.columns | {"choice": energy, "score": ranks}
    return Docked(docked.ligands, docked.poses, columns, best_poses(docked.poses, ranks, energy))


def cores_for(jobs: int) -> list[list[int]]:
    """The cores of each of some processes: this process's own, shared out evenly."""
    mine = sorted(os.sched_getaffinity(0))
    if not 1 <= jobs <= len(mine):
        raise SystemExit(f"--jobs {jobs}: from 1 to {len(mine)}, the cores of this process")
    share = len(mine) // jobs
    return [mine[share * job : share * (job + 1)] for job in range(jobs)]


class _Pool(ProcessPoolExecutor):
    """Processes that begin nothing more after an error, or Ctrl-C, in the block that uses them."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.shutdown(cancel_futures=kind is not None)


def pinned(
    jobs: int, start: Callable[..., None] | None = None, *given: object
) -> ProcessPoolExecutor:
    """Processes that each keep to their share of the cores; each begins with start(*given)."""
    spawn = multiprocessing.get_context("spawn")  # drivers do not survive a fork
    shares = spawn.Queue()
    for share in cores_for(jobs):
        shares.put(share)
    return _Pool(jobs, spawn, _begin, (shares, start, given))


def _begin(
    shares: "Queue[list[int]]", start: Callable[..., None] | None, given: tuple[object, ...]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends at once and in silence, as its parent says
    os.sched_setaffinity(0, shares.get())  # before OpenCL starts
    if start is not None:
        start(*given)
