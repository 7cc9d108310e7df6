"""What would a campaign cost? Check its config, look at its inputs, time a sample, and add up.

Prints every setting of preparation, docking and scoring, the receptor atoms in each box, what
becomes of a sample of each library, the speed of each stage on this device, and from these the
jobs, hours and disk of the whole campaign; then what a run would do now, and why. It writes no
results. In the campaign's folder it leaves the folder `.snakemake/`, with what Snakemake notes and
with the speed, in `ligen_expected.json`: a run begins with it to estimate its time.
"""

import argparse
import logging
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py import cli
from ligen_py.campaign.earlier import EarlierRun
from ligen_py.campaign.old_parts import old_parts
from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import BETWEEN, STAGES, Stage, screen
from ligen_py.config_checks import check_apart, checked
from ligen_py.engine.functions.gnina.scorer import Gnina
from ligen_py.engine.genetic.effort import least_evaluations
from ligen_py.engine.scoring.pose_kernel import PoseBatch
from ligen_py.errors import InputError
from ligen_py.library_sample import Sample, look, require_use, sample_of
from ligen_py.opencl.device import select
from ligen_py.paths import snakefile, unknown_user
from ligen_py.provenance import Run
from ligen_py.records.kinds import KINDS
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, Audit, GeometricField, Receptor
from ligen_py.records.poses import Poses
from ligen_py.records.refined import REFINED
from ligen_py.search_changes import search_changes
from ligen_py.settings.campaign import PRESETS, Method
from ligen_py.settings.section import Section
from ligen_py.store.campaign.contents import DEEP, Contents, require_past, require_records
from ligen_py.store.campaign.expected import Expected
from ligen_py.store.campaign.manifest import read_manifest
from ligen_py.store.files.fresh import asked_again, is_fresh, stale
from ligen_py.store.files.inputs import input_digests
from ligen_py.store.files.read import bytes_used, read, run_record, searched
from ligen_py.store.files.some_ligands import write_some
from ligen_py.store.files.typed import read_typed
from ligen_py.summary.table import NAMED, shortened, table

log = logging.getLogger("ligen_py")

JOB_MINUTES = (5, 60)
"""A chunk's job that is shorter wastes start-up, one that is longer loses much when it fails."""

_EXCEPTION = re.compile(r"^\w+(?:Error|Exception)\b[^\n]*:\n(?:Error:\n)?(.+)", re.MULTILINE)
"""What Snakemake says where it lets no run begin."""

TIMED = 60.0
"""Seconds that the stages are timed for, about, where a sample takes longer."""

FEW = 3
"""Records that show how long a sample takes."""

JUDGED = {"gpu": 256, "cpu": 32}
"""Poses that networks judge to be timed, by kind of device."""


def main(argv: Sequence[str] | None = None) -> int:
    """Plan a campaign from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.plan", __doc__)
    parser.add_argument("config", type=cli.input_file, help="config file of the campaign")
    parser.add_argument(
        "--sample",
        type=cli.at_least(1),
        default=100,
        metavar="N",
        help="records to time (default: 100)",
    )
    parser.add_argument(
        "--directory", type=Path, help="folder of the campaign (default: that of the config file)"
    )
    cli.add_deep(parser)
    cli.add_device(parser)
    return cli.run(parser, argv, _plan)


def _folder(options: argparse.Namespace) -> Path:
    """The folder of the campaign."""
    return Path(options.directory or options.config.parent)


def _command(options: argparse.Namespace) -> str:
    """The command that runs the campaign."""
    where = [] if options.directory is None else ["--directory", str(options.directory)]
    return shlex.join(["ligen", "run", str(options.config), *where])


def _plan(options: argparse.Namespace) -> None:
    plan = checked(options.config)
    check_apart(plan, _folder(options))
    if plan.pockets:
        print(f"{options.config}: sound, effort {plan.settings.effort}")
        for line in (*_overridden(plan), *_unused(plan), *_settings(plan)):
            print(line)
        if plan.without_networks:
            print(plan.without_networks)
        _docking(plan, options)
    else:  # searches of sequences alone, which have no stage that the effort sets
        print(f"{options.config}: sound")
    print("\nA run now")
    folder = _folder(options)
    contents = Contents(folder, deep=options.deep)
    if plan.pockets:
        for line in (*_stale_list(plan, folder), *_stale_files(plan, folder, contents)):
            print(f"  {line}")
    lost = [*_lost(plan, folder, _command(options)), *_damaged(plan, folder)]
    for line in (*_stale_searches(plan, folder, contents), *lost, *_old_parts(plan, folder)):
        print(f"  {line}")
    try:
        EarlierRun(plan, folder).require_networks()
        pending = list(_pending(options))
    except InputError as error:
        pending = [f"would stop: {error}"]
    for line in (*pending, *_files_kept(plan, folder, pending)):
        print(f"  {line}")


def _overridden(plan: Workplan) -> Iterator[str]:
    """Says which keys of its effort the config sets to something else."""
    effort, search = plan.settings.effort, plan.settings.search
    usual, keys = Method(effort=effort, search=search), []
    if search != Method(effort=effort).search:
        keys.append("search")
    for section, preset in PRESETS[effort].items():
        mine, its = getattr(plan.settings, section), getattr(usual, section)
        # Where networks are for the best alone, or not installed, the functions are other ones.
        free = {"functions", "rank_by"} if plan.settings.networks.best else set()
        differ = [key for key in preset if getattr(mine, key) != getattr(its, key)]
        if "functions" in differ:  # without gnina among them networks rank no molecule
            free |= {"rank_by"}
        keys += [f"{section}.{key}" for key in differ if key not in free]
    if keys:
        yield f"the file sets other values than the effort's: {', '.join(keys)}"


def _unused(plan: Workplan) -> Iterator[str]:
    """Names what the file sets of a search that the campaign does not use."""
    settings = plan.settings
    usual = Method(effort=settings.effort, search=settings.search)
    if settings.search == "ligen" and settings.lga != usual.lga:
        yield "lga has no effect, as search is ligen; write search: lga to use it"
    if settings.search == "lga" and settings.dock != usual.dock:
        both = (
            "its restarts have the defaults of dock, and of lga their number"
            if settings.lga.restarts
            else "write lga: {restarts: N} to use both searches"
        )
        yield f"dock has no effect, as search is lga; {both}"
    bumps = settings.filter.max_pocket_bumps != usual.filter.max_pocket_bumps
    if bumps and settings.search == "lga" and not settings.lga.restarts:
        yield (
            "filter.max_pocket_bumps has no effect, as search is lga: its runs count as free of "
            "bumps; take it out"
        )


def _docking(plan: Workplan, options: argparse.Namespace) -> None:
    """What docking the libraries into the targets would cost."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        print("\nPockets")
        _show(_pockets(plan, work), "<>>>>")
        print(f"\nLibraries, from about {options.sample} records of each")
        samples = {name: look(plan, name, options.sample, work) for name in plan.settings.libraries}
        _show(_libraries(plan, samples), "<>>>>>><")
        for name, sample in samples.items():
            require_use(plan, name, sample)
        largest = max(samples.values(), key=lambda sample: sample.states)
        if largest.states:
            timed, speed = _speed(plan, largest, options.device, work)
            print(f"\nSpeed, {timed.states} ligands into {next(iter(plan.pockets))}")
            _show([("stage", "ligands/s"), *((s, _rate(v)) for s, v in speed.items())], "<>")
            judged = list(_judging(plan, samples, timed, options.device, work))
            print("\nThe whole campaign, about")
            _show([*_sum(plan, samples, timed, speed, work), *judged], "<>")
            for line in _advice(plan, samples, speed):
                print(line)
            _keep(_folder(options), samples, speed)
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


def _settings(plan: Workplan) -> Iterator[str]:
    screened = (stage.name for stage in screen(plan.settings.search))
    networks = ("networks",) if plan.settings.networks.best else ()
    for name in ("parse", "pocket", *screened, *networks):
        section: Section = getattr(plan.settings, name)
        values = ", ".join(f"{key} {_text(value)}" for key, value in section.model_dump().items())
        yield f"  {name}: {values}"


def _text(value: Any) -> str:
    return " ".join(map(str, value)) or "-" if isinstance(value, list | tuple) else str(value)


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


def _stale_list(plan: Workplan, folder: Path) -> Iterator[str]:
    """Whether the list of parts of an earlier run is that of this config."""
    path = folder / "results" / "manifest.tsv"
    if not path.exists():
        return
    try:
        found = plan.manifest().differences(read_manifest(path).moved(folder))
    except InputError as error:
        yield f"{error}; delete it, and a run makes it again"
        return
    if found:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        yield f"{path} is stale: it {found[0]}{more}; a run makes it again"


def _lost(plan: Workplan, folder: Path, command: str) -> Iterator[str]:
    """Files of an earlier run that are not there, or no longer as it wrote them."""
    try:
        lost = EarlierRun(plan, folder).lost()
    except InputError:  # the list of parts is damaged, as said above
        return
    lines = [f"{file} {how}; '{command}' makes it again" for file, how in lost]
    yield from shortened(lines, "missing or changed")


def _damaged(plan: Workplan, folder: Path) -> Iterator[str]:
    """Files of an earlier run at which the ranking would stop, if nothing makes them again."""
    damaged = []
    for part in plan.manifest(str(folder / "results")).parts:
        for kind in ("refined", "scores"):
            file: Path = getattr(part, kind)
            try:
                if file.is_file():
                    with searched():  # checksums would read all of it
                        run_record(file, KINDS[kind])
            except InputError as error:
                damaged.append(str(error))
    yield from shortened(damaged, "damaged")


def _old_parts(plan: Workplan, folder: Path) -> Iterator[str]:
    """Files of parts that the campaign has no longer, and how many there are."""
    found = list(old_parts(plan, folder / "results"))
    if found:
        count, size = sum(old.files for old in found), sum(old.size for old in found)
        files = f"{count:,} old file{'s' * (count > 1)}, {size / 1e6:,.1f} MB"
        yield (
            f"{files}, of parts that this config does not have; no job of it reads them; delete "
            "them unless you go back to these parts, or they are of another config:"
        )
    for old in found[:NAMED]:
        yield f"  {old.pattern}"
    if len(found) > NAMED:
        yield f"  ... and {sum(old.files for old in found[NAMED:]):,} files in further folders"


def _stale_searches(plan: Workplan, folder: Path, contents: Contents) -> Iterator[str]:
    """Searches of an earlier run that were made from other contents than their sources have now."""
    seen: set[tuple[Path, str]] = set()
    try:
        for source, file, search in search_changes(plan, folder / "results", contents.digest):
            if (source, search) not in seen:
                seen.add((source, search))
                what = "the selectivity" if file.parent.name == "pockets" else "all results"
                yield (
                    f"{source} has changed: {file}, and {what} of the search '{search}', are "
                    "stale; a run makes them again"
                )
    except InputError as error:  # the run reads it, and stops
        yield f"would stop: {error}"


def _stale_files(plan: Workplan, folder: Path, contents: Contents) -> Iterator[str]:
    """Files of an earlier run that were made from other contents than their sources have now."""
    seen: set[Path] = set()
    files = plan.manifest(str(folder / "results")).parts
    for part, place in zip(files, plan.parts(), strict=True):
        for kind in ("pocket", "ligands"):
            file: Path = getattr(part, kind)
            reused = kind == "ligands" and plan.is_reused(place.library)
            if file in seen or reused or not file.is_file():
                continue
            seen.add(file)
            try:
                known = input_digests(file, run_record(file, KINDS[kind]))
            except InputError as error:  # the run reads it, and stops
                yield f"would stop: {error}"
                continue
            for source in plan.sources(place, kind):
                if contents.digest(source) not in known:
                    name = place.library if kind == "ligands" else place.target
                    yield (
                        f"{source} has changed: {file}, and all results of '{name}', are stale; "
                        "a run makes them again"
                    )


def _pending(options: argparse.Namespace) -> Iterator[str]:
    """What Snakemake would run in the campaign's folder, rule by rule, and its reasons."""
    try:
        require_records(_folder(options))
        require_past(_folder(options))
    except InputError as error:
        yield f"would stop: {error}"
        return
    if find_spec("snakemake") is None:
        yield "what it would do is not known: Snakemake is not installed here"
        return
    folder = _folder(options)
    for place in filter(Path.exists, (folder, folder / ".snakemake")):
        if not os.access(place, os.W_OK):
            yield (
                f"what it would do is not known: {place} cannot be written, and Snakemake plans "
                "only where it can; name a copy of the folder by --directory"
            )
            return
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1"]
    # As the profiles have it: without, Snakemake lists nothing while a run works or after a kill.
    command += ["--rerun-incomplete"]
    command += ["--snakefile", str(snakefile()), "--configfile", str(options.config.absolute())]
    command += ["--directory", str(folder)]
    environment = {**os.environ, **unknown_user(), **({DEEP: "1"} if options.deep else {})}
    try:
        made = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        yield f"what it would do is not known: {error}"
        return
    lines = (made.stdout + made.stderr).splitlines()
    if made.returncode:
        said = _EXCEPTION.search("\n".join(lines))
        last = next((line for line in reversed(lines) if line.strip()), "Snakemake says nothing")
        yield f"what it would do is not known: {said[1].strip() if said else last}"
        return
    # The counts stand at both ends of what Snakemake prints, the reasons after the last.
    stats = [i for i, line in enumerate(lines) if line.startswith("Job stats")]
    if not stats:
        yield "would do nothing: every result is up to date"
        return
    yield from _table_and_reasons(lines[stats[-1] + 1 :])


def _table_and_reasons(lines: Sequence[str]) -> Iterator[str]:
    """The jobs and why they run; what follows is Snakemake's own advice.

    It says how a result of other settings can be kept as it is: wrong here.
    """
    reasons = False
    for line in lines:
        if line.startswith("This was a dry-run") or (reasons and line[:1].strip()):
            return
        reasons |= line.startswith("Reasons:")
        if line.strip() and "individual jobs above" not in line:
            yield line


def _files_kept(plan: Workplan, folder: Path, pending: Sequence[str]) -> Iterator[str]:
    """Which files of a part a run keeps that screens it again; Snakemake does not know it.

    One part speaks for all, as all have the same settings and code, unless it is up to date.
    """
    jobs = {words[0] for words in map(str.split, pending) if len(words) == 2}
    # What is made before a part decides, too, and is not known before it is made.
    if "screen" not in jobs or jobs & {"parse", "reuse", "pocket"}:
        return
    parts = plan.manifest(str(folder / "results")).parts
    part = next((part for part in parts if part.poses.is_file()), None)
    if part is None:
        return
    stages, files, settings = plan.screening(part)
    marks = [folder / "results" / ".again" / stage.name for stage in stages]
    again = asked_again(marks, files["scores"])
    first, last = stale(stages, files, settings, again, plan.dropped), stages[-1]
    if stages[first] == last:
        inputs = tuple(files[kind] for kind in last.inputs.values())
        expected = Run(last.name, settings[last.name], inputs)
        if is_fresh(files[last.kind], KINDS[last.kind], expected):
            return
    kept, made = (", ".join(s.name for s in some) for some in (stages[:first], stages[first:]))
    if kept:
        yield f"Of {part.label} the files of {kept} are kept; those of {made} are made again"


if __name__ == "__main__":
    sys.exit(main())
