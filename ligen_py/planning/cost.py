"""What docking would cost: boxes, libraries, the speed of each stage on a sample, and the sum."""

import logging
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import BETWEEN, STAGES, Stage, screen
from ligen_py.engine.functions.gnina.scorer import Gnina
from ligen_py.engine.genetic.effort import least_evaluations
from ligen_py.engine.scoring.pose_kernel import PoseBatch
from ligen_py.errors import InputError
from ligen_py.opencl.device import select
from ligen_py.planning.sample import Sample, look, require_use, sample_of
from ligen_py.records.kinds import KINDS
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, Audit, GeometricField, Receptor
from ligen_py.records.poses import Poses
from ligen_py.records.refined import REFINED
from ligen_py.store.campaign.expected import Expected
from ligen_py.store.files.read import bytes_used, read
from ligen_py.store.files.some_ligands import write_some
from ligen_py.store.files.typed import read_typed
from ligen_py.summary.table import table

log = logging.getLogger("ligen_py")

JOB_MINUTES = (5, 60)
"""A chunk's job that is shorter wastes start-up, one that is longer loses much when it fails."""

TIMED = 60.0
"""Seconds that the stages are timed for, about, where a sample takes longer."""

FEW = 3
"""Records that show how long a sample takes."""

JUDGED = {"gpu": 256, "cpu": 32}
"""Poses that networks judge to be timed, by kind of device."""


def show_cost(plan: Workplan, folder: Path, records: int, device: str | None) -> None:
    """Print what docking the libraries into the targets would cost, and note the speed.

    `records` of each library are prepared, and those of the largest sample docked on `device`.
    The folder of the campaign keeps the time of a record, from which a run estimates its own.
    Raises InputError for a target or library of which nothing can be docked.
    """
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        print("\nPockets")
        _show(_pockets(plan, work), "<>>>>")
        print(f"\nLibraries, from about {records} records of each")
        samples = {name: look(plan, name, records, work) for name in plan.settings.libraries}
        _show(_libraries(plan, samples), "<>>>>>><")
        for name, sample in samples.items():
            require_use(plan, name, sample)
        largest = max(samples.values(), key=lambda sample: sample.states)
        if largest.states:
            timed, speed = _speed(plan, largest, device, work)
            print(f"\nSpeed, {timed.states} ligands into {next(iter(plan.pockets))}")
            _show([("stage", "ligands/s"), *((s, _rate(v)) for s, v in speed.items())], "<>")
            judged = list(_judging(plan, samples, timed, device, work))
            print("\nThe whole campaign, about")
            _show([*_sum(plan, samples, timed, speed, work), *judged], "<>")
            for line in _advice(plan, samples, speed):
                print(line)
            _keep(folder, samples, speed)
        else:
            seen = all(
                sample.exact and sample.seen == sample.records for sample in samples.values()
            )
            more = "" if seen else ", or look at more records with --sample"
            print(f"\nNo ligand of the samples can be docked: see the reasons above{more}")


def _keep(folder: Path, samples: dict[str, Sample], speed: dict[str, float]) -> None:
    """Note the time of a record in one pocket: a run begins with it to say how long it takes."""
    records = sum(sample.records for sample in samples.values())
    expected = Expected(_ligands(samples) / max(records, 1) * _device_seconds(speed))
    try:
        expected.write(folder)
    except (InputError, OSError) as error:
        log.warning("not noted for the run: %s", error)


def _show(rows: Iterable[tuple[str, ...]], align: str) -> None:
    for line in table(list(rows), align):
        print(line)


def _pockets(plan: Workplan, work: Path) -> Iterator[tuple[str, ...]]:
    yield "pocket", "atoms in and around the box", "atoms removed", "anchors", "notes"
    (work / "pockets").mkdir()
    for name in plan.pockets:
        output = _pocket(name, work)
        try:
            STAGES["pocket"].run(plan.pocket_inputs(name), plan.settings.pocket, None, output)
        except InputError as error:  # as that a searched cavity is not there
            raise InputError(f"{plan.place(name)}: {error}") from error
        receptor: Receptor = read(output, POCKET, Receptor)
        audit = read(output, POCKET, Audit)
        anchors = len(read(output, POCKET, GeometricField).anchor)
        removed = int(audit.atoms[audit.action == "dropped"].sum())
        notes = int((audit.action == "noted").sum())
        counts = (len(receptor.xyz), removed, anchors, notes)
        yield (name, *map(str, counts))


def _libraries(plan: Workplan, samples: dict[str, Sample]) -> Iterator[tuple[str, ...]]:
    counts = "records", "parts", "seen", "of files", "ligands of these", "parse a core"
    yield "library", *counts, "left out"
    for name, sample in samples.items():
        left = ", ".join(f"{count} {reason}" for reason, count in sample.reasons.most_common())
        yield (
            name,
            f"{'' if sample.exact else 'about '}{sample.records:,}",
            f"{sample.parts:,}",
            str(sample.seen),
            f"{sample.files} of {len(plan.files(name))}",
            str(sample.states),
            f"{sample.seen / sample.seconds:.1f}/s" if sample.seconds else "parsed before",
            left or "none",
        )


def _speed(
    plan: Workplan, sample: Sample, device: str | None, work: Path
) -> tuple[Sample, dict[str, float]]:
    """Ligands a second of each stage, and the sample that was timed.

    That is the whole one, or as many of its records as take about `TIMED` seconds, without those
    that would take long alone; the speed of the search is that of all. What a process needs to
    start and compile does not count.
    """
    ligands: Ligands = read(sample.ligands, LIGANDS, Ligands)
    docked, expected = np.unique(ligands.entry), _expected_work(plan, ligands)
    work_of = np.bincount(ligands.entry, expected)[docked]

    def some(rows: np.ndarray) -> Sample:
        """The records of some rows of `docked`."""
        output = work / "timed.h5"
        write_some(sample.ligands, docked[rows], output)
        return sample_of(output, sample.records, sample.exact, sample.parts, sample.files, None)

    def speed(timed: Sample, rows: np.ndarray, seconds: dict[str, float]) -> dict[str, float]:
        """Ligands a second, of the search as if the rows had the work of all."""
        found = {name: timed.states / taken for name, taken in seconds.items()}
        share = (work_of[rows].sum() / timed.states) / (work_of.sum() / sample.states)
        found[screen(plan.settings.search)[0].name] *= share
        return found

    timed, rows = sample, np.arange(len(docked))
    few = _spread(np.flatnonzero(work_of <= np.median(work_of)), FEW)
    if len(few) < len(docked):
        shown, part = some(few), work_of[few].sum()
        seconds = _seconds(plan, shown, device, work)
        if sum(seconds.values()) > part / work_of.sum() * TIMED:
            seconds = _seconds(plan, shown, device, work)  # nothing is compiled any more
        long = sum(seconds.values()) / part * work_of
        rows = np.flatnonzero(long <= TIMED / FEW)
        if left := len(docked) - len(np.union1d(rows, few)):
            print(
                f"{left} of {len(docked)} records would take longer than {TIMED / FEW:.0f} s "
                "each, and are not timed: their time is estimated"
            )
        rows = _spread(rows, int(len(rows) / max(long[rows].sum() / TIMED, 1)))
        if len(rows) <= len(few):
            return shown, speed(shown, few, seconds)
        if len(rows) < len(docked):
            timed = some(rows)
    _seconds(plan, timed, device, work)  # compiles
    return timed, speed(timed, rows, _seconds(plan, timed, device, work))


def _rate(value: float) -> str:
    """Of something a second, also where it takes minutes."""
    return f"{value:.1f}" if value >= 0.1 else f"{value:.1g}"


def _spread(rows: np.ndarray, count: int) -> np.ndarray:
    """So many of some rows, or all, from all over them."""
    count = min(count, len(rows))
    return np.asarray(rows[np.arange(count) * len(rows) // max(count, 1)])


def _expected_work(plan: Workplan, ligands: Ligands) -> np.ndarray:
    """How long the search of each ligand (ligands,) takes beside others; with LiGen's as long."""
    if plan.settings.search != "lga":
        return np.ones(len(ligands.entry))
    torsions = np.diff(ligands.first_torsion).tolist()
    evaluations = [least_evaluations(plan.settings.lga, number) for number in torsions]
    return np.array(evaluations, float) * ligands.heavy


def _seconds(plan: Workplan, sample: Sample, device: str | None, work: Path) -> dict[str, float]:
    """Seconds of each stage for all ligands of a sample, in the first pocket."""
    files = {stage.kind: _made(stage, work) for stage in screen(plan.settings.search)}
    files |= {"ligands": sample.ligands, "pocket": _pocket(next(iter(plan.pockets)), work)}
    seconds = {}
    for stage in screen(plan.settings.search):
        inputs = {flag: files[kind] for flag, kind in stage.inputs.items()}
        started = time.perf_counter()
        stage.run(inputs, getattr(plan.settings, stage.name), device, files[stage.kind])
        seconds[stage.name] = time.perf_counter() - started
    return seconds


def _judging(
    plan: Workplan, samples: dict[str, Sample], timed: Sample, device: str | None, work: Path
) -> Iterator[tuple[str, str]]:
    """What it costs that networks judge the poses of the best molecules."""
    best = plan.settings.networks.best
    if not best:
        return
    chosen = select(device)
    ligands: Ligands = read(timed.ligands, LIGANDS, Ligands)
    pocket = _pocket(next(iter(plan.pockets)), work)
    seen = read_typed(("gnina",), timed.ligands, pocket, ligands)["gnina"]
    poses: Poses = read(work / "refined.h5", REFINED, Poses)
    last = int(np.searchsorted(poses.first_pose, JUDGED.get(chosen.kind, JUDGED["cpu"])))
    last = min(max(last, 1), len(ligands.entry))
    judge = Gnina(chosen, seen.receptor)
    batch = PoseBatch(chosen, seen.ligands, poses, 0, last)
    judge.score(seen.ligands, batch)  # compiles
    started = time.perf_counter()
    judge.score(seen.ligands, batch)
    seconds = (time.perf_counter() - started) / max(int(poses.first_pose[last]), 1)
    molecules = len(plan.ranked) * min(best, sum(sample.records for sample in samples.values()))
    count = molecules * len(poses.restart) / len(ligands.entry)
    yield "networks, poses to judge", f"{count:,.0f}"
    yield "networks, hours of this device", f"{count * seconds / 3600:,.2f}"


def _pocket(name: str, work: Path) -> Path:
    """Where a pocket lies; a target may be called like a kind of file."""
    return work / "pockets" / f"{name}.h5"


def _made(stage: Stage, work: Path) -> Path:
    """Where the file of a stage lies while the sample is timed."""
    return work / f"{stage.kind}.h5"


def _device_seconds(speed: dict[str, float]) -> float:
    """Of one ligand in one pocket."""
    return sum(1 / value for value in speed.values())


def _ligands(samples: dict[str, Sample]) -> float:
    return sum(s.records * s.states / s.seen for s in samples.values() if s.seen)


def _sum(
    plan: Workplan,
    samples: dict[str, Sample],
    timed: Sample,
    speed: dict[str, float],
    work: Path,
) -> Iterator[tuple[str, str]]:
    """Jobs, hours, disk and memory; the controls, some molecules each, count as jobs alone."""
    docked = _ligands(samples) * len(plan.pockets)
    controls = [files for target in plan.ranked for *_, files in plan.controls.parts(target)]
    chunks = sum(sample.parts for sample in samples.values())
    yield "parse jobs", f"{chunks + len({files.ligands for files in controls}):,}"
    yield "pocket jobs", f"{len(plan.pockets) + len(plan.controls.variants):,}"
    chain = ", ".join(stage.name for stage in screen(plan.settings.search))
    yield f"chunk jobs ({chain})", f"{chunks * len(plan.pockets) + len(controls):,}"
    yield "of these for controls, which come first", f"{len(controls):,}"
    cores = sum(s.records * (s.seconds or 0) / s.seen for s in samples.values() if s.seen)
    yield "parse, core hours", f"{cores / 3600:,.2f}"
    yield "chunks, hours of this device", f"{docked * _device_seconds(speed) / 3600:,.2f}"
    parsed = sum(
        s.records * s.bytes / s.seen + s.parts * s.idle for s in samples.values() if s.seen
    )
    made = {stage.kind: _made(stage, work) for stage in screen(plan.settings.search)}
    used = {kind: bytes_used(path, KINDS[kind]) for kind, path in made.items()}
    idle = sum(path.stat().st_size for path in made.values()) - sum(used.values())
    between = docked * sum(used[kind] for kind in BETWEEN) / timed.states
    disk = parsed + docked * sum(used.values()) / timed.states + chunks * len(plan.pockets) * idle
    if plan.dropped:
        yield "disk, GB", f"{(disk - between) / 1e9:,.2f}"
    else:
        yield "disk, GB", f"{disk / 1e9:,.2f}"
        yield "of it docked poses, which 'docked_poses: drop' saves", f"{between / 1e9:,.2f}"
    # A job of `parse` requests less.
    parts = ((name, chunk) for name in samples for chunk in plan.chunks(name))
    asked = max(plan.resources.screen_memory(*part) for part in parts)
    yield "memory that a chunk job requests, GB", f"{asked / 1000:,.1f}"


def _advice(plan: Workplan, samples: dict[str, Sample], speed: dict[str, float]) -> Iterator[str]:
    least, most = JOB_MINUTES
    for name, sample in samples.items():
        # Who takes parts of another campaign takes their number, too.
        if not sample.states or plan.is_reused(name):
            continue
        in_all = sample.records * sample.states / sample.seen * _device_seconds(speed) / 60
        minutes = in_all / sample.parts
        # A part is of one file, so it is no longer than a file.
        longest = in_all / len(plan.files(name))
        if minutes > most or (minutes < least <= longest):
            aim = min(least * 4, longest)
            records = aim * 60 / _device_seconds(speed) * sample.seen / sample.states
            size = max(1, int(float(f"{records:.1g}")))
            key = f"libraries.{name}"
            chunks = plan.settings.libraries[name].chunks
            first = "" if chunks is None else f"take '{key}.chunks' away, and "
            yield (
                f"Advice: a chunk of {name} takes {minutes:.1f} minutes; "
                f"{first}'{key}.chunk_size: {size}' makes it about {aim:.0f}"
            )
