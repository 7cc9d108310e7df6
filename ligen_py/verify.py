"""Check a finished campaign: its files, what was made from what, its ledger, and a sample redocked.

Hashes every file again, follows the run records from the campaign back to ligands and pockets,
merges all parts anew and compares, then docks, filters, refines and scores a random sample of
the molecules again and compares every pose and score bit for bit. With --config it compares the
campaign with its config file: parts, targets, settings and effort. Prints each fault on a line of
its own; exit code 1 if there is one.
"""

import argparse
import json
import logging
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ligen_py import cli
from ligen_py.campaign import Part, Workplan
from ligen_py.chain import FILES, SCREEN, STAGES, writer
from ligen_py.errors import InputError
from ligen_py.opencl.device import Device, select
from ligen_py.provenance import file_digest, stage_digest
from ligen_py.records.kinds import KINDS
from ligen_py.records.ledger import Ledger, Status
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.poses import Poses
from ligen_py.records.rows import rows_below, subset, unequal
from ligen_py.records.scores import Checks, Scores
from ligen_py.settings.check import check
from ligen_py.settings.document import read_document
from ligen_py.settings.section import Section
from ligen_py.store.campaign.differences import differences
from ligen_py.store.campaign.manifest import Manifest, PartFiles, read_manifest
from ligen_py.store.campaign.part import RECORDED, input_digests, read_part
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.read import groups_in, read, run_record
from ligen_py.store.files.some_ligands import write_some
from ligen_py.store.files.terms import read_terms

log = logging.getLogger("ligen_py")

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
        "--config", type=cli.input_file, help="config file of the campaign, to compare it with"
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
        plan = _plan(options.config)
    except InputError as error:
        yield str(error)
        return
    if plan is None:
        log.info("%s: not compared with a config; give it by --config", options.campaign)
    else:
        log.info("comparing with %s", options.config)
        yield from _config_faults(plan, options, path, manifest, attributes)
    log.info("files and run records of %d parts", len(manifest.parts))
    digests: dict[Path, str] = {}
    broken = False
    for part in manifest.parts:
        for fault in _part_faults(part, known, digests):
            broken = True
            yield fault
    log.info("merging %d parts anew", len(manifest.parts))
    yield from _merge_faults(options.campaign, path, manifest, attributes)
    if not broken:
        yield from _redocking_faults(manifest, options)


def _plan(config: Path | None) -> Workplan | None:
    """The campaign that a config file describes."""
    if config is None:
        return None
    document = read_document(config)
    return Workplan.of(document.values, document.source, config.parent)


def _config_faults(
    plan: Workplan,
    options: argparse.Namespace,
    path: Path,
    manifest: Manifest,
    attributes: dict[str, str],
) -> Iterator[str]:
    """Where the campaign is not the one that its config describes."""
    for words in plan.manifest().differences(manifest):
        yield f"{path}: {words}, by {options.config}"
    effort = attributes.get("effort", "")
    if effort != plan.settings.effort:
        found = f"was made with effort {effort}" if effort else "does not say its effort"
        yield f"{options.campaign}: {found}, {options.config} asks for {plan.settings.effort}"
    used = json.loads(attributes["settings"])
    yield from _unlike(options.campaign, used, plan.settings.aggregate, "aggregate")
    described = plan.manifest().parts
    places = {part.label: place for part, place in zip(described, plan.parts(), strict=True)}
    sources: dict[Path, str] = {}
    seen: set[Path] = set()
    for part in manifest.parts:
        place = places.get(part.label)
        for kind in FILES:
            file: Path = getattr(part, kind)
            if place and file not in seen and file.is_file():
                seen.add(file)
                yield from _file_faults(plan, place, kind, file, sources)


def _file_faults(
    plan: Workplan, place: Part, kind: str, file: Path, sources: dict[Path, str]
) -> Iterator[str]:
    """Whether a file of a part was made with the settings, and from the files, of the config."""
    try:
        record = run_record(file, KINDS[kind])
        known, used = input_digests(file, record), json.loads(record["settings"])
    except (InputError, KeyError, ValueError):
        return  # found again when every file is read
    stage = writer(kind)
    wanted: Section
    given: list[Path] = []
    if kind == "ligands":
        if plan.is_reused(place.library):
            return
        wanted, given = plan.parse_options(place.library), [plan.source(place.library, place.chunk)]
    else:
        wanted = getattr(plan.settings, stage.name)
    if kind == "pocket":
        given = [plan.receptor(place.target), *plan.site_files(place.target)]
    yield from _unlike(file, used, wanted, stage.name)
    for source in given:
        if source not in sources:
            sources[source] = file_digest(source)
        if sources[source] not in known:
            yield f"{file}: was not made from {source} as it is now"


def _unlike(file: Path, used: dict[str, object], wanted: Section, stage: str) -> Iterator[str]:
    """Settings of a run record that are not those of the config."""
    asked = wanted.model_dump(mode="json")
    for name in sorted({*used, *asked}):
        if used.get(name) != asked.get(name):
            yield (
                f"{file}: was made with {stage}.{name} {used.get(name)}, "
                f"the config asks for {asked.get(name)}"
            )


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
        for stage in SCREEN:
            path = getattr(part, stage.kind)
            inputs = input_digests(path, run_record(path, KINDS[stage.kind]))
            for source in stage.inputs.values():
                if digests[getattr(part, source)] not in inputs:
                    yield f"{path}: was not made from {getattr(part, source)} as it is now"
        read_part(part)
    except InputError as error:
        yield str(error)


def _merge_faults(
    campaign: Path, path: Path, manifest: Manifest, attributes: dict[str, str]
) -> Iterator[str]:
    """Whether merging the parts again gives the campaign file: ranking, ledger, poses, controls."""
    stage = STAGES["aggregate"]
    settings = check(stage.settings, json.loads(attributes["settings"]), str(campaign))
    with tempfile.TemporaryDirectory() as name:
        table, again = Path(name) / path.name, Path(name) / "campaign.h5"
        table.write_text(manifest.text(), encoding="utf-8")
        inputs = {"manifest": table, "effort": attributes.get("effort", "")}
        try:
            stage.run(inputs, settings, None, again)
        except InputError as error:
            yield f"{campaign}: its parts cannot be merged: {error}"
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
    with tempfile.TemporaryDirectory() as folder:
        files = {kind: Path(folder) / f"{kind}.h5" for kind in FILES}
        rows = write_some(part.ligands, records, files["ligands"])
        files["pocket"] = part.pocket
        for stage in SCREEN:
            kind = stage.kind
            path: Path = getattr(part, kind)
            record = run_record(path, KINDS[kind])
            if record["stage-digest"] != stage_digest(stage.name):
                log.warning("%s: was made by another version of %s", path, stage.name)
            if kind not in EQUAL_EVERYWHERE and device_class(record["device"]) != device_class(
                device.label
            ):
                log.warning("%s: not compared, as it was made on %s", path, record["device"])
                return
            settings = check(stage.settings, json.loads(record["settings"]), str(path))
            inputs = {flag: files[source] for flag, source in stage.inputs.items()}
            try:
                stage.run(inputs, settings, selector, files[kind])
            except InputError as error:
                yield f"{path}: its molecules cannot be docked again: {error}"
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
