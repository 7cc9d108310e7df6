"""Check a finished campaign: its files, what was made from what, its ledger, and a sample redocked.

Hashes every file again, follows the run records from the campaign back to ligands and pockets,
merges all parts anew and compares, then docks, filters, refines and scores a random sample of
the molecules again and compares every pose and score bit for bit. Prints each fault on a line of
its own; exit code 1 if there is one.
"""

import argparse
import json
import logging
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py import aggregate, cli, dock, filter, refine, score
from ligen_py.errors import InputError
from ligen_py.opencl.device import Device, select
from ligen_py.provenance import Run, file_digest, stage_digest
from ligen_py.records.column import Record
from ligen_py.records.kinds import KINDS
from ligen_py.records.ledger import Ledger, Status
from ligen_py.records.ligands import LIGANDS, Entries, Ligands
from ligen_py.records.poses import Poses
from ligen_py.records.rows import rows_below, subset, unequal
from ligen_py.records.scores import Checks, Scores
from ligen_py.settings.aggregate import AggregateSettings
from ligen_py.settings.check import check
from ligen_py.settings.dock import DockSettings
from ligen_py.settings.filter import FilterSettings
from ligen_py.settings.flags import flags
from ligen_py.settings.parse import ParseSettings
from ligen_py.settings.refine import RefineSettings
from ligen_py.settings.score import ScoreSettings
from ligen_py.settings.section import Section
from ligen_py.store.campaign.differences import differences
from ligen_py.store.campaign.manifest import FILES, Manifest, PartFiles, read_manifest
from ligen_py.store.campaign.part import RECORDED, input_digests, read_part
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.read import groups_in, read, read_terms, run_record
from ligen_py.store.files.write import write

log = logging.getLogger("ligen_py")

MADE_FROM = {
    "poses": ("ligands", "pocket"),
    "kept": ("ligands", "poses"),
    "refined": ("ligands", "pocket", "kept"),
    "scores": ("ligands", "pocket", "refined"),
}
"""File of a part -> the files of the part that it was made from."""

CHAIN: dict[str, tuple[Any, type[Section], tuple[str, ...]]] = {
    "poses": (dock, DockSettings, ("ligands", "pocket")),
    "kept": (filter, FilterSettings, ("ligands", "poses")),
    "refined": (refine, RefineSettings, ("ligands", "pocket", "poses=kept")),
    "scores": (score, ScoreSettings, ("ligands", "pocket", "poses=refined")),
}
"""File of a part -> the stage that makes it, its settings, its inputs (flag, or flag=file)."""


EQUAL_EVERYWHERE = ("poses", "kept")
"""What every class of device computes to the last bit; the rest only within one class."""


def main(argv: Sequence[str] | None = None) -> int:
    """Verify a campaign from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.verify", __doc__)
    parser.add_argument("campaign", type=cli.input_file, help="campaign file of `aggregate`")
    parser.add_argument(
        "--manifest", type=cli.input_file, help="its manifest (default: manifest.tsv beside it)"
    )
    parser.add_argument(
        "--sample",
        type=float,
        default=0.001,
        metavar="X",
        help="molecules to dock again: a share below 1, or their number (default: %(default)s, "
        "at least one)",
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (default: 1)")
    cli.add_device(parser)
    return cli.run(parser, argv, _verify)


def _verify(options: argparse.Namespace) -> None:
    if options.sample < 0 or (options.sample > 1 and options.sample % 1):
        raise InputError(f"--sample {options.sample}: give a share below 1, or a whole number")
    path = options.manifest or options.campaign.with_name("manifest.tsv")
    if not path.exists():
        raise InputError(f"{path}: does not exist; name the campaign's manifest by --manifest")
    faults = 0
    for fault in _faults(options, path):
        print(f"FAULT {fault}", flush=True)
        faults += 1
    if faults:
        raise InputError(f"{options.campaign}: {faults} faults; make again what they name")
    print(f"{options.campaign}: no fault")


def _faults(options: argparse.Namespace, path: Path) -> Iterator[str]:
    try:
        manifest = read_manifest(path).found_from(path)
        with open_campaign(options.campaign) as campaign:
            attributes, parts = campaign.attributes, campaign.parts()
        rows = zip(parts.target, parts.library, parts.chunk, parts.sha256, strict=True)
        known = {
            (*map(str, row[:3]), RECORDED[i % len(RECORDED)]): row[3] for i, row in enumerate(rows)
        }
        if manifest.digest() not in attributes["inputs"]:
            yield f"{options.campaign}: was not made from {path} as it is now"
    except InputError as error:
        yield str(error)
        return
    log.info("files and run records of %d parts", len(manifest.parts))
    digests: dict[Path, str] = {}
    broken = False
    for part in manifest.parts:
        for fault in _part_faults(part, known, digests):
            broken = True
            yield fault
    settings = check(AggregateSettings, json.loads(attributes["settings"]), str(options.campaign))
    log.info("merging %d parts anew", len(manifest.parts))
    yield from _merge_faults(options.campaign, path, manifest, settings)
    if not broken:
        yield from _redocking_faults(manifest, options)


def _fails(stage: Any, words: list[str], settings: Section) -> bool:
    """Run a stage here, with warnings only; True if it ended with an error."""
    level = logging.getLogger().level
    status = stage.main([*words, "--quiet", *shlex.split(flags(settings))])
    logging.getLogger().setLevel(level)
    return bool(status)


def _part_faults(
    part: PartFiles, known: dict[tuple[str, ...], str], digests: dict[Path, str]
) -> Iterator[str]:
    """Checksums, content and provenance of the files of one part, and its ledger."""
    label = (part.place, part.library, part.ligands.stem)
    sound = True
    for kind in FILES:
        path: Path = getattr(part, kind)
        if path in digests:
            continue
        if not path.is_file():
            yield f"{path}: is missing"
            return
        digests[path] = file_digest(path)
        try:
            for record in groups_in(path, KINDS[kind]).values():
                read(path, KINDS[kind], record)
        except InputError as error:
            sound = False
            yield str(error)
    for kind in RECORDED:
        if known.get((*label, kind)) != digests[getattr(part, kind)]:
            yield f"{getattr(part, kind)}: is not the file that the campaign was made from"
    if not sound:
        return
    try:
        for kind, sources in MADE_FROM.items():
            path = getattr(part, kind)
            inputs = input_digests(path, run_record(path, KINDS[kind]))
            for source in sources:
                if digests[getattr(part, source)] not in inputs:
                    yield f"{path}: was not made from {getattr(part, source)} as it is now"
        read_part(part)
    except InputError as error:
        yield str(error)


def _merge_faults(
    campaign: Path, path: Path, manifest: Manifest, settings: Section
) -> Iterator[str]:
    """Whether merging the parts again gives the campaign file: ranking, ledger, poses, controls."""
    with tempfile.TemporaryDirectory() as name:
        table, again = Path(name) / path.name, Path(name) / "campaign.h5"
        table.write_text(manifest.text(), encoding="utf-8")
        words = ["--manifest", str(table), "--output", str(again)]
        if _fails(aggregate, words, settings):
            yield f"{campaign}: its parts cannot be merged"
            return
        try:
            for what in differences(campaign, again):
                yield f"{campaign}: {what} is not what its parts give"
        except InputError as error:
            yield str(error)


def _redocking_faults(manifest: Manifest, options: argparse.Namespace) -> Iterator[str]:
    """Dock a sample of each part's molecules again, from the ligands file to the scores."""
    ready = [np.flatnonzero(_statuses(part) == Status.READY) for part in manifest.parts]
    every = np.repeat(np.arange(len(ready)), [len(rows) for rows in ready])
    wanted = options.sample if options.sample >= 1 else np.ceil(options.sample * len(every))
    rng = np.random.default_rng(options.seed)
    chosen = rng.choice(len(every), min(int(wanted), len(every)), replace=False)
    device = select(options.device)
    log.info("docking %d of %d molecules again", len(chosen), len(every))
    for number in np.unique(every[chosen]):
        first = np.searchsorted(every, number)
        records = np.sort(ready[number][chosen[every[chosen] == number] - first])
        yield from _part_redocked(manifest.parts[number], records, device, options.device)


def _statuses(part: PartFiles) -> np.ndarray:
    ledger: Ledger = read(part.ligands, LIGANDS, Ledger)
    return ledger.status


def _part_redocked(
    part: PartFiles, records: np.ndarray, device: Device, selector: str | None
) -> Iterator[str]:
    """Faults of some input records of a part, after every stage has run on them again."""
    entries: Entries = read(part.ligands, LIGANDS, Entries)
    ledger: Ledger = read(part.ligands, LIGANDS, Ledger)
    ligands: Ligands = read(part.ligands, LIGANDS, Ligands)
    rows = np.flatnonzero(np.isin(ligands.entry, records))
    some = subset(ligands, rows_below(ligands, "ligand", rows))
    some.entry[:] = np.searchsorted(records, some.entry)
    chosen_device = ["--device", selector] if selector else []
    with tempfile.TemporaryDirectory() as folder:
        files = {kind: Path(folder) / f"{kind}.h5" for kind in ("ligands", *CHAIN)}
        chosen = {"entry": records}
        groups: dict[str, Record] = {
            "entries": subset(entries, chosen),
            "ledger": subset(ledger, chosen),
        }
        for name, types in groups_in(part.ligands, LIGANDS).items():
            if name not in LIGANDS.fixed:
                typed = read(part.ligands, LIGANDS, types, ligands)
                groups[name] = subset(typed, rows_below(ligands, "ligand", rows))
        write(files["ligands"], LIGANDS, Run("parse", ParseSettings()), {**groups, "ligands": some})
        files["pocket"] = part.pocket
        for kind, (stage, model, inputs) in CHAIN.items():
            path: Path = getattr(part, kind)
            record = run_record(path, KINDS[kind])
            if record["stage-digest"] != stage_digest(record["stage"]):
                log.warning("%s: was made by another version of %s", path, record["stage"])
            if kind not in EQUAL_EVERYWHERE and device_class(record["device"]) != device_class(
                device.label
            ):
                log.warning("%s: not compared, as it was made on %s", path, record["device"])
                return
            settings = check(model, json.loads(record["settings"]), str(path))
            words = ["--output", str(files[kind]), *chosen_device]
            for item in inputs:
                flag, _, name = item.partition("=")
                words += [f"--{flag}", str(files[name or flag])]
            if _fails(stage, words, settings):
                yield f"{path}: its molecules cannot be docked again"
                return
            for what in _unequal(path, files[kind], kind, records, rows):
                yield f"{path}: {what} of {len(records)} molecules docked again: not equal"


def _unequal(
    path: Path, again: Path, kind: str, records: np.ndarray, rows: np.ndarray
) -> Iterator[str]:
    """Columns in which a file differs from the one made again of some of its records and rows."""
    table = read(path, KINDS[kind], Scores if kind == "scores" else Poses)
    where = {"entry": records, **rows_below(table, "ligand", rows)}
    for group, record in KINDS[kind].groups.items():
        stored, made = (read(file, KINDS[kind], record) for file in (path, again))
        if isinstance(stored, Checks):  # of the whole chunk
            continue
        if isinstance(stored, Scores) and isinstance(made, Scores):
            stored, made = _relative(stored), _relative(made)
        yield from (f"{group}/{column}" for column in unequal(subset(stored, where), made))
    if kind == "scores":
        stored_terms, made_terms = read_terms(path), read_terms(again)
        for function, columns in stored_terms.items():
            for term, values in columns.items():
                if values[where["pose"]].tobytes() != made_terms[function][term].tobytes():
                    yield f"terms/{function}/{term}"


def _relative(scores: Scores) -> Scores:
    """The best pose counted from the first of its ligand."""
    best = np.where(scores.best < 0, -1, scores.best - scores.first_pose[:-1])
    return replace(scores, best=best)


def device_class(label: str) -> str:
    """Platform and kind of a device, as in its label `platform / name (kind, driver ...)`."""
    kind = label.rpartition("(")[2].partition(",")[0]
    return f"{label.partition(' / ')[0]} {kind}"


if __name__ == "__main__":
    sys.exit(main())
