"""Results made again from what stands before them: ranking, scores, pockets, molecules, files.

An `OutputError` is raised again: a full disk of temporary files is no fault of the campaign.
"""

import json
import logging
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import chdir, redirect_stdout
from hashlib import sha256
from io import StringIO
from pathlib import Path

import numpy as np

from ligen_py import granted
from ligen_py.campaign.parts import Part as Place
from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import STAGES
from ligen_py.engine.functions.gnina.constants import NETWORKS as FILES
from ligen_py.engine.functions.gnina.weights import load
from ligen_py.engine.scoring.scores import best_poses, pose_scores
from ligen_py.errors import InputError, OutputError
from ligen_py.molecules.library.reading import WHOLE, Columns, Part, Record
from ligen_py.molecules.library.reading import records as records_of
from ligen_py.records.column import Kind
from ligen_py.records.devices import device_class
from ligen_py.records.ledger import Ledger
from ligen_py.records.ligands import LIGANDS, Entries, Ligands, past_limits
from ligen_py.records.pocket import POCKET
from ligen_py.records.poses import Poses
from ligen_py.records.refined import REFINED
from ligen_py.records.rows import unequal
from ligen_py.records.scores import SCORES, Scores
from ligen_py.settings.campaign import NETWORKS
from ligen_py.settings.check import check
from ligen_py.settings.score import ScoreSettings
from ligen_py.store.campaign.differences import differences
from ligen_py.store.campaign.layout import CONFIG
from ligen_py.store.campaign.manifest import Manifest, PartFiles
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.read import groups_in, read, run_record
from ligen_py.store.files.some_ligands import write_some
from ligen_py.store.files.terms import read_terms
from ligen_py.unpacking import compression
from ligen_py.verification.causes import first_of
from ligen_py.verification.config import file_faults

log = logging.getLogger("ligen_py")

RESULTS = "results"
"""What a run calls the folder of its results, which the report names; it may be another by now."""

OF_THE_RUN = re.compile(
    rb'<time>[^<]*</time> &middot; |<div class="card wide" id="times">.*?</div>\n', re.DOTALL
)
"""What the page says of the run, not of the campaign: a copy has another date, or no times."""

POSES_SCORED = 1_000_000
"""Poses that are scored again: some minutes of a processor, some seconds of a GPU."""


def merge_faults(
    campaign: Path, path: Path, manifest: Manifest, attributes: Mapping[str, str]
) -> Iterator[str]:
    """Whether merging the parts again gives the campaign file: ranking, ledger, poses, controls."""
    stage = STAGES["aggregate"]
    settings = check(stage.settings, json.loads(attributes["settings"]), str(campaign))
    with tempfile.TemporaryDirectory() as name:
        table, again = Path(name) / path.name, Path(name) / "campaign.h5"
        table.write_text(manifest.text(), encoding="utf-8")
        inputs = {
            "manifest": table,
            "effort": attributes.get("effort", ""),
            "verdicts": verdicts_of(campaign),
        }
        try:
            stage.run(inputs, settings, None, again, jobs=granted.cores())
        except OutputError:
            raise
        except InputError as error:
            yield f"{campaign}: its parts cannot be merged: {error}"
            return
        except FileNotFoundError as error:
            yield f"{campaign}: its parts cannot be merged: {error.filename} is missing"
            return
        try:
            if found := differences(campaign, again):
                yield f"{campaign}: {first_of(found)} not what its parts give"
        except InputError as error:
            yield str(error)


def verdicts_of(campaign: Path) -> list[Path]:
    """The files of the controls that a campaign was made with."""
    with open_campaign(campaign) as opened:
        targets = opened.verdicts().target
    return [campaign.parent / "controls" / str(name) / "controls.json" for name in targets]


def ranking_faults(part: PartFiles) -> Iterator[str]:
    """Whether the best pose and the score of each ligand follow from the stored terms."""
    record = run_record(part.scores, SCORES)
    settings = check(ScoreSettings, json.loads(record["settings"]), str(part.scores))
    ligands: Ligands = read(part.ligands, LIGANDS, Ligands)
    poses: Poses = read(part.refined, REFINED, Poses)
    stored: Scores = read(part.scores, SCORES, Scores)
    found = read_terms(part.scores)  # by name; the first of the settings counts more than others
    if set(found) != set(settings.functions):
        yield f"{part.scores}: has terms of other functions than its settings name"
        return
    terms = {name: found[name] for name in settings.functions}
    again = best_poses(poses, *pose_scores(ligands, poses, terms, settings))
    if columns := [f"scores/{column}" for column in unequal(stored, again)]:
        yield f"{part.scores}: {first_of(columns)} not what the terms give"


def has_weights(campaign: Path, manifest: Manifest) -> bool:
    """Whether the networks that scored the parts, if any did, are here; a warning where not."""
    records = (run_record(part.scores, SCORES) for part in manifest.parts)
    if any(NETWORKS in json.loads(record["settings"])["functions"] for record in records):
        try:
            load(FILES)
        except InputError as error:
            log.warning(
                "%s: no pose is scored again, also none of molecules that are docked again: %s",
                campaign,
                error,
            )
            return False
    return True


def scoring_faults(manifest: Manifest, seed: int, device: str | None, label: str) -> Iterator[str]:
    """Score the poses of the parts again, of as many as have `POSES_SCORED` together, or one.

    `label` is that of the device; parts that another class of device scored are left out.
    """
    left, parts = POSES_SCORED, 0
    for place in np.random.default_rng(seed).permutation(len(manifest.parts)):
        part = manifest.parts[place]
        record = run_record(part.scores, SCORES)
        if device_class(record["device"]) != device_class(label):
            log.warning("%s: not compared, as it was made on %s", part.scores, record["device"])
            continue
        poses: Poses = read(part.refined, REFINED, Poses)
        left -= len(poses.restart)
        if left < 0 and parts:
            log.info("scored the poses of %d of %d parts again", parts, len(manifest.parts))
            return
        parts += 1
        yield from _scored_again(part, record, device)


def _scored_again(part: PartFiles, record: Mapping[str, str], device: str | None) -> Iterator[str]:
    stage = STAGES["score"]
    settings = check(stage.settings, json.loads(record["settings"]), str(part.scores))
    inputs = {flag: getattr(part, kind) for flag, kind in stage.inputs.items()}
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / "scores.h5"
        try:
            stage.run(inputs, settings, device, again)
        except OutputError:
            raise
        except InputError as error:
            yield f"{part.scores}: its poses cannot be scored again: {error}"
            return
        stored, made = read_terms(part.scores), read_terms(again)
        found = [
            f"terms/{function}/{term}"
            for function, columns in stored.items()
            for term, values in columns.items()
            if values.tobytes() != made[function][term].tobytes()
        ]
        if found:
            yield f"{part.scores}: {first_of(found)} not what its poses give"


def pocket_faults(plan: Workplan, manifest: Manifest) -> Iterator[str]:
    """Prepare every pocket again from its structure, and compare all columns."""
    stage = STAGES["pocket"]
    files = {part.place: part.pocket for part in manifest.parts}
    sources: dict[Path, str] = {}
    for name, path in files.items():
        place = Place(name, "", "")
        if name not in plan.pockets or any(file_faults(plan, place, "pocket", path, sources)):
            continue  # another fault says so
        inputs = plan.pocket_inputs(name)
        with tempfile.TemporaryDirectory() as folder:
            again = Path(folder) / path.name
            try:
                stage.run(inputs, plan.settings.pocket, None, again)
            except OutputError:
                raise
            except InputError as error:
                yield f"{path}: cannot be made again: {error}"
                continue
            if found := _columns(path, again, POCKET):
                yield f"{path}: {first_of(found)} not what {inputs['receptor']} gives"


def library_faults(plan: Workplan, manifest: Manifest, chosen: list[np.ndarray]) -> Iterator[str]:
    """Read the names of all molecules again from the library, and prepare the chosen ones again."""
    described = plan.manifest().parts
    places = {part.label: place for part, place in zip(described, plan.parts(), strict=True)}
    records: dict[Path, np.ndarray] = {}
    sources: dict[Path, str] = {}
    compressed = _Compressed()
    for part, rows in zip(manifest.parts, chosen, strict=True):
        records[part.ligands] = np.union1d(records.get(part.ligands, rows), rows)
    for part in {part.ligands: part for part in manifest.parts}.values():
        place = places.get(part.label)
        if place is None or plan.is_reused(place.library):
            continue
        if any(file_faults(plan, place, "ligands", part.ligands, sources)):
            continue  # another fault says so
        yield from _read_again(plan, place.library, place.chunk, part, compressed)
        if len(records[part.ligands]):
            rows = records[part.ligands].astype("i8")
            yield from _parsed_again(plan, place.library, place.chunk, part, rows)


class _Compressed:
    """Digests of what is compared of each part of a compressed library.

    A part can only be read from the beginning of the file, of which it holds one record in so
    many (`reading.records`), so all are read together.
    """

    def __init__(self) -> None:
        self._parts: dict[tuple[Path, int, Columns], list[bytes]] = {}

    def has(self, entries: Entries, source: Path, part: Part, columns: Columns) -> bool:
        """Whether a library is compressed, and these are the records of one of its parts."""
        if not compression(source):
            return False
        key = source, part.count, columns
        if key not in self._parts:
            digests = [sha256() for _ in range(part.count)]
            for number, record in enumerate(records_of(source, WHOLE, columns)):
                digests[number % part.count].update(repr(_compared(record)).encode())
            self._parts[key] = [digest.digest() for digest in digests]
        stored = sha256()
        for row in zip(entries.line.tolist(), entries.name, entries.extra, strict=True):
            stored.update(repr(row).encode())
        return stored.digest() == self._parts[key][part.index - 1]


def _compared(record: Record) -> tuple[int, str, str]:
    return record.line, record.name, record.extra


def _read_again(
    plan: Workplan, library: str, chunk: str, part: PartFiles, compressed: _Compressed
) -> Iterator[str]:
    """Compare line, name and further columns of all records with the library's file."""
    entries: Entries = read(part.ligands, LIGANDS, Entries)
    options, source = plan.parse_options(library), plan.source(library, chunk)
    columns = Columns(**options.model_dump(include=set(Columns._fields)))
    share = Part.parse(chunk.rpartition(".")[2])
    if compressed.has(entries, source, share, columns):
        return
    found = list(records_of(source, share, columns))
    if len(found) != len(entries.line):
        yield f"{part.ligands}: contains {len(entries.line)} records, {source} has {len(found)}"
        return
    stored = zip(entries.line.tolist(), entries.name, entries.extra, strict=True)
    others = [
        (row, record) for row, record in zip(stored, found, strict=True) if row != _compared(record)
    ]
    for row, record in others[:1]:
        more = f"; {len(others) - 1} other records differ, too" if len(others) > 1 else ""
        yield (
            f"{part.ligands}: the record of line {row[0]} is called {row[1]!r}, in {source} "
            f"line {record.line} is called {record.name!r}, or has other columns{more}"
        )


def _parsed_again(
    plan: Workplan, library: str, chunk: str, part: PartFiles, records: np.ndarray
) -> Iterator[str]:
    """Compare some records of a ligands file with what their lines in the library give."""
    entries: Entries = read(part.ligands, LIGANDS, Entries)
    lines = frozenset(entries.line[records].tolist())
    source = plan.source(library, chunk)
    share = Part.parse(chunk.rpartition(".")[2])
    inputs = {"input": source, "part": share, "lines": lines, "allow_empty": True}
    with tempfile.TemporaryDirectory() as folder:
        some, again = Path(folder) / "some.h5", Path(folder) / "again.h5"
        write_some(part.ligands, records, some)
        try:
            STAGES["parse"].run(inputs, plan.parse_options(library), None, again)
        except OutputError:
            raise
        except InputError as error:
            yield f"{part.ligands}: cannot be made again: {error}"
            return
        some, again = _within_limits(part.ligands, some, again)
        if differing := _columns(some, again, LIGANDS):
            yield f"{part.ligands}: {first_of(differing)} not what {source} gives"


def _within_limits(name: Path, stored: Path, made: Path) -> tuple[Path, Path]:
    """Ligands files of the same records, without those that passed a limit in one of the two."""
    passed = [
        past_limits(read(path, LIGANDS, Entries), read(path, LIGANDS, Ledger))
        for path in (stored, made)
    ]
    if len(passed[0]) != len(passed[1]) or not np.any(passed):
        return stored, made
    within = np.flatnonzero(~np.any(passed, axis=0))
    log.warning(
        "%s: %d of %d molecules not compared, as they passed parse.time_limit or "
        "parse.memory_limit, or crashed their worker, then or now",
        name,
        len(passed[0]) - len(within),
        len(passed[0]),
    )
    kept = stored.with_name("stored-within.h5"), made.with_name("made-within.h5")
    for path, to in zip((stored, made), kept, strict=True):
        write_some(path, within, to)
    return kept


def _columns(one: Path, other: Path, kind: Kind) -> list[str]:
    """Names of the columns that are not equal in two files of a kind."""
    return [
        f"{group}/{column}"
        for group, record in groups_in(one, kind).items()
        for column in unequal(read(one, kind, record), read(other, kind, record))
    ]


def written_faults(campaign: Path, plan: Workplan, manifest: Manifest) -> Iterator[str]:
    """Write the exported molecules and the report again, and compare them with those that lie here.

    `manifest` has paths that lead somewhere from here.
    """
    results = campaign.parent
    with tempfile.TemporaryDirectory() as folder:
        again, table = Path(folder) / RESULTS, Path(folder) / "manifest.tsv"
        again.mkdir()
        table.write_text(manifest.moved(Path.cwd()).text(), encoding="utf-8")
        searches = [Path(file) for file in plan.searches.reported(RESULTS)]
        references = tuple(file.resolve() for file in plan.references())
        below = {file.parts[1] for file in searches}
        judged = [STAGES["networks"].path] if plan.settings.networks.best else []
        for name in (campaign.name, *judged, *sorted(below)):
            (again / name).symlink_to(results.resolve() / name)
        seen, printed = Path(RESULTS), StringIO()
        inputs = {"campaign": seen / campaign.name}
        if judged:
            inputs["networks"] = seen / judged[0]
        listed = inputs | {"manifest": table}
        shown = inputs | {
            "exported": seen / "export",
            "searches": tuple(searches),
            "references": references,
        }
        try:
            with chdir(folder), redirect_stdout(printed):
                STAGES["export"].run(listed, plan.settings.export, None, seen / "export")
                STAGES["report"].run(shown, plan.settings.report, None, seen / "report.html")
        except OutputError:
            raise
        except InputError as error:
            yield f"{campaign}: its files cannot be written again: {error}"
            return
        (again / "report.txt").write_text(printed.getvalue(), encoding="utf-8")
        yield from _unlike(results, again, campaign)


def _unlike(results: Path, again: Path, campaign: Path) -> Iterator[str]:
    """Files written into `again` that are not the same in a folder of results."""
    files = [file for file in again.rglob("*") if file.is_file() and not file.is_symlink()]
    parts = {file.relative_to(again) for file in files}
    for part in sorted(parts):
        # Snakemake knows the folder `export` as one result.
        stored, top = results / part, results / part.parts[0]
        if not top.exists():
            if (results / CONFIG).exists():  # else nobody asked for a report
                yield f"{top}: is missing; 'ligen run CONFIG' makes it again"
            continue
        cure = f"delete {top}, and 'ligen run CONFIG' makes it again"
        if not stored.is_file():
            yield f"{stored}: is missing; {cure}"
        elif _content(stored) != _content(again / part):
            yield f"{stored}: is not what {campaign} gives; {cure}"
    for stored in sorted((results / "export").rglob("[!.]*")):
        if stored.is_file() and stored.relative_to(results) not in parts:
            log.warning("%s: not compared, as export does not write it", stored)


def _content(file: Path) -> bytes:
    content = file.read_bytes()
    return OF_THE_RUN.sub(b"", content) if file.suffix == ".html" else content
