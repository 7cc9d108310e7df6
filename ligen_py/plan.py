"""What would a campaign cost? Check its config, look at its inputs, time a sample, and add up.

Prints every setting, the receptor atoms in each box, what becomes of a sample of each library, the
speed of each stage on this device, and from these the jobs, hours and disk of the whole campaign;
then what a run would do now, and why. Nothing of the campaign is written.
"""

import argparse
import logging
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ligen_py import cli, dock, filter, parse, pocket, refine, score
from ligen_py.campaign import CONTROL, Workplan
from ligen_py.errors import InputError
from ligen_py.formats import BYTES_PER_RECORD, COMPRESSED, COMPRESSION, LibraryFile, format_of
from ligen_py.paths import snakefile
from ligen_py.records.ledger import Ledger, Reason
from ligen_py.records.ligands import LIGANDS, Entries, Ligands
from ligen_py.records.pocket import POCKET, Audit, Field, Receptor
from ligen_py.settings.campaign import load_campaign
from ligen_py.settings.flags import flags
from ligen_py.settings.section import Section
from ligen_py.store.files.read import read
from ligen_py.summary.text import table

log = logging.getLogger("ligen_py")

METHOD = ("dock", "filter", "refine", "score")
SECTIONS = ("parse", "pocket", *METHOD)
JOB_MINUTES = (5, 60)
"""A chunk's job that is shorter wastes start-up, one that is longer loses much when it fails."""


@dataclass
class Sample:
    """What became of some records of a library."""

    records: int
    """In the whole library, about."""
    exact: bool
    parts: int
    ligands: Path
    reasons: Counter[str] = field(default_factory=Counter)
    states: int = 0
    seen: int = 0
    seconds: float = 0.0
    """Of one core, for the records seen."""
    bytes: int = 0


def main(argv: Sequence[str] | None = None) -> int:
    """Plan a campaign from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.plan", __doc__)
    parser.add_argument("config", type=cli.input_file, help="config file of the campaign")
    parser.add_argument(
        "--sample", type=int, default=100, metavar="N", help="records to time (default: 100)"
    )
    parser.add_argument(
        "--directory", type=Path, default=Path(), help="folder of the campaign (default: this one)"
    )
    cli.add_device(parser)
    return cli.run(parser, argv, _plan)


def _plan(options: argparse.Namespace) -> None:
    if options.sample < 1:
        raise InputError(f"--sample {options.sample}: give a number of records, 1 or more")
    config = load_campaign(options.config).model_dump()
    plan = Workplan.of(config, str(options.config), options.config.parent)
    print(f"{options.config}: sound, effort {plan.settings.effort}")
    for line in _settings(plan):
        print(line)
    if plan.pockets:
        _docking(plan, options)
    print("\nA run now")
    for line in _pending(options):
        print(f"  {line}")


def _docking(plan: Workplan, options: argparse.Namespace) -> None:
    """What docking the libraries into the targets would cost."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        print("\nPockets")
        _show(_pockets(plan, work), "<>>>>")
        print(f"\nLibraries, from {options.sample} records of each")
        samples = {name: _look(plan, name, options, work) for name in plan.settings.libraries}
        _show(_libraries(samples), "<>>>>><")
        timed = max(samples.values(), key=lambda sample: sample.states)
        if timed.states:
            speed = dict(_time(plan, timed, options.device, work))
            print(f"\nSpeed, {timed.states} ligands into {next(iter(plan.pockets))}")
            _show([("stage", "ligands/s"), *((s, f"{v:.1f}") for s, v in speed.items())], "<>")
            print("\nThe whole campaign, about")
            _show(_sum(plan, samples, speed, work), "<>")
            for line in _advice(plan, samples, speed):
                print(line)
        else:
            print("\nNo ligand of the samples can be docked: see the reasons above")


def _show(rows: Iterable[tuple[str, ...]], align: str) -> None:
    for line in table(list(rows), align):
        print(line)


def _settings(plan: Workplan) -> Iterator[str]:
    for name in SECTIONS:
        section: Section = getattr(plan.settings, name)
        told = ", ".join(f"{key} {_told(value)}" for key, value in section.model_dump().items())
        yield f"  {name}: {told}"


def _told(value: Any) -> str:
    return " ".join(map(str, value)) or "-" if isinstance(value, list | tuple) else str(value)


def _run(stage: Any, *words: object) -> None:
    """Run a stage here; what it says of the user's input has been printed when it fails."""
    level = logging.getLogger().level
    status = stage.main(["--quiet", *map(str, words)])
    logging.getLogger().setLevel(level)
    if status:
        raise InputError(f"{stage.__name__} cannot work on this campaign; see the line above")


def _pockets(plan: Workplan, work: Path) -> Iterator[tuple[str, ...]]:
    yield "pocket", "atoms in and around the box", "anchors", "dropped", "noted"
    for name in plan.pockets:
        output = work / f"{name}.h5"
        words = shlex.split(plan.pocket_flags(name))
        _run(pocket, "--receptor", plan.receptor(name), "--output", output, *words)
        receptor: Receptor = read(output, POCKET, Receptor)
        audit = read(output, POCKET, Audit)
        anchors = len(read(output, POCKET, Field).anchor)
        actions = Counter(audit.action.tolist())
        counts = (len(receptor.xyz), anchors, actions["dropped"], actions["noted"])
        yield (name, *map(str, counts))


def _look(plan: Workplan, library: str, options: argparse.Namespace, work: Path) -> Sample:
    """Parse about as many records of a library's middle file as were asked for."""
    chunks = plan.chunks(library)
    files = plan.files(library)
    middle = files[len(files) // 2]
    parts = max(1, round(_estimate(middle) / options.sample))
    output = work / f"library-{library}.h5"
    words = ["--input", middle.path, "--part", f"{parts // 2 + 1}-of-{parts}", "--allow-empty"]
    told = [word for word in shlex.split(plan.parse_flags(library)) if word != "--allow-empty"]
    started = time.perf_counter()
    _run(parse, *words, "--jobs", "1", "--output", output, *told)
    seconds = time.perf_counter() - started
    entries: Entries = read(output, LIGANDS, Entries)
    ledger: Ledger = read(output, LIGANDS, Ledger)
    ligands: Ligands = read(output, LIGANDS, Ligands)
    seen = len(entries.line)
    share = sum(file.size for file in files) / max(1, middle.size)
    reasons = Counter(Reason(reason).name.lower().replace("_", " ") for reason in ledger.reason)
    del reasons["none"]
    return Sample(
        records=round(seen * parts * share),
        exact=parts == 1 and len(files) == 1,
        parts=len(chunks),
        ligands=output,
        reasons=reasons,
        states=len(ligands.entry),
        seen=seen,
        seconds=seconds,
        bytes=output.stat().st_size,
    )


def _estimate(file: LibraryFile) -> float:
    size = file.size * (COMPRESSION if file.path.suffix.lower() in COMPRESSED else 1)
    return size / BYTES_PER_RECORD[format_of(file.path)]


def _libraries(samples: dict[str, Sample]) -> Iterator[tuple[str, ...]]:
    yield "library", "records", "parts", "seen", "ligands of these", "parse a core", "left out"
    for name, sample in samples.items():
        left = ", ".join(f"{count} {reason}" for reason, count in sample.reasons.most_common())
        yield (
            name,
            f"{'' if sample.exact else 'about '}{sample.records:,}",
            f"{sample.parts:,}",
            str(sample.seen),
            str(sample.states),
            f"{sample.seen / sample.seconds:.1f}/s",
            left or "none",
        )


def _time(
    plan: Workplan, sample: Sample, device: str | None, work: Path
) -> Iterator[tuple[str, float]]:
    """Ligands a second of each stage, without what a process needs to start and compile."""
    files = {name: work / f"{name}.h5" for name in ("poses", "kept", "refined", "scores")}
    files |= {"ligands": sample.ligands, "pocket": work / f"{next(iter(plan.pockets))}.h5"}
    chain = {
        "dock": (dock, ("ligands", "pocket"), "poses", "poses"),
        "filter": (filter, ("ligands", "poses"), "kept", "poses"),
        "refine": (refine, ("ligands", "pocket", "poses"), "refined", "kept"),
        "score": (score, ("ligands", "pocket", "poses"), "scores", "refined"),
    }
    for name, (stage, inputs, output, poses) in chain.items():
        words: list[object] = ["--output", files[output], *(["--device", device] if device else [])]
        for given in inputs:
            words += [f"--{given}", files[poses if given == "poses" else given]]
        words += shlex.split(flags(getattr(plan.settings, name)))
        _run(stage, *words)  # compiles
        started = time.perf_counter()
        _run(stage, *words)
        yield name, sample.states / (time.perf_counter() - started)


def _device_seconds(speed: dict[str, float]) -> float:
    """Of one ligand in one pocket."""
    return sum(1 / value for value in speed.values())


def _ligands(samples: dict[str, Sample]) -> float:
    return sum(s.records * s.states / s.seen for s in samples.values() if s.seen)


def _sum(
    plan: Workplan, samples: dict[str, Sample], speed: dict[str, float], work: Path
) -> Iterator[tuple[str, str]]:
    """Jobs, hours and disk; the controls, one molecule each, count as jobs alone."""
    docked = _ligands(samples) * len(plan.pockets)
    controls = sum(part.library.startswith(CONTROL) for part in plan.parts())
    chunks = sum(sample.parts for sample in samples.values())
    yield "parse jobs", f"{chunks + controls:,}"
    yield "pocket jobs", f"{len(plan.pockets):,}"
    yield "chunk jobs (dock, filter, refine, score)", f"{len(plan.parts()):,}"
    cores = sum(s.records * s.seconds / s.seen for s in samples.values() if s.seen)
    yield "parse, core hours", f"{cores / 3600:,.2f}"
    yield "chunks, hours of this device", f"{docked * _device_seconds(speed) / 3600:,.2f}"
    ligand_bytes = sum(s.records * s.bytes / s.seen for s in samples.values() if s.seen)
    made = sum((work / f"{name}.h5").stat().st_size for name in ("poses", "kept", "refined"))
    made += (work / "scores.h5").stat().st_size
    timed = max(samples.values(), key=lambda sample: sample.states)
    disk = ligand_bytes + docked * made / timed.states
    yield "disk, GB", f"{disk / 1e9:,.2f}"


def _advice(plan: Workplan, samples: dict[str, Sample], speed: dict[str, float]) -> Iterator[str]:
    least, most = JOB_MINUTES
    for name, sample in samples.items():
        if not sample.seen:
            continue
        ligands = sample.records * sample.states / sample.seen
        minutes = ligands / sample.parts * _device_seconds(speed) / 60
        if minutes > most or (minutes < least and sample.parts > 1):
            records = least * 4 * 60 / _device_seconds(speed) * sample.seen / max(1, sample.states)
            size = int(float(f"{records:.1g}"))
            yield (
                f"Advice: a chunk of {name} takes {minutes:.1f} minutes; "
                f"'libraries.{name}.chunk_size: {size}' makes it about {least * 4}"
            )


def _pending(options: argparse.Namespace) -> Iterator[str]:
    """What Snakemake would run in the campaign's folder, rule by rule, and its reasons."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1"]
    command += ["--snakefile", str(snakefile()), "--configfile", str(options.config.resolve())]
    command += ["--directory", str(options.directory)]
    try:
        made = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        yield f"cannot be told: {error}"
        return
    lines = (made.stdout + made.stderr).splitlines()
    if made.returncode:
        yield "cannot be told: " + next(
            (line for line in lines if "rror" in line), "Snakemake is not installed here"
        )
        return
    # The counts stand at both ends of what Snakemake prints, the reasons after the last.
    stats = [i for i, line in enumerate(lines) if line.startswith("Job stats")]
    if not stats:
        yield "would do nothing: every result is up to date"
        return
    for line in lines[stats[-1] + 1 :]:
        if line.startswith("This was a dry-run"):
            break
        if line.strip() and "individual jobs above" not in line:
            yield line


if __name__ == "__main__":
    sys.exit(main())
