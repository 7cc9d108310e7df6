"""Molecules docked again: the exported hits, and a sample of the others, bit for bit."""

import json
import logging
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ligen_py.chain import FILES, SCREEN, STAGES
from ligen_py.errors import InputError, OutputError
from ligen_py.opencl.device import Device, select
from ligen_py.provenance import stage_digest
from ligen_py.records.column import Record
from ligen_py.records.devices import device_class
from ligen_py.records.kept import Chosen
from ligen_py.records.kinds import KINDS
from ligen_py.records.ledger import Ledger, Status
from ligen_py.records.ligands import LIGANDS, Entries
from ligen_py.records.poses import Poses
from ligen_py.records.rows import rows_below, subset, unequal
from ligen_py.records.scores import Checks, Scores
from ligen_py.settings.check import check
from ligen_py.store.campaign.manifest import Manifest, PartFiles
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.dropped import is_dropped
from ligen_py.store.files.read import read, run_record
from ligen_py.store.files.some_ligands import write_some
from ligen_py.store.files.terms import read_terms

log = logging.getLogger("ligen_py")

EQUAL_EVERYWHERE = ("dock", "filter")
"""Stages that every class of device computes to the last bit, from equal inputs; the others only
within one class."""

OFFSETS: Mapping[str, type[Record]] = {"kept": Chosen, "scores": Scores}
"""Kind of file -> the record that says where the rows of a ligand are, where it is not `Poses`."""

Place = tuple[str, str, str]
"""Target, library, and the file within the library."""


def choose(
    campaign: Path, manifest: Manifest, hits: int, sample: float, seed: int
) -> list[np.ndarray]:
    """Input records of each part to make again: the best `hits` of each target, and some others.

    `sample` is the number of others, or below 1 their share of all; `seed` chooses them. Gives rows
    of each part's ligands file, ascending.
    """
    lines = _hits(campaign, hits)
    ready: list[np.ndarray] = []
    best: list[np.ndarray] = []
    for part in manifest.parts:
        ledger: Ledger = read(part.ligands, LIGANDS, Ledger)
        entries: Entries = read(part.ligands, LIGANDS, Entries)
        ready.append(np.flatnonzero(ledger.status == Status.READY))
        wanted = [] if part.control else lines.get((part.target, part.library, part.file), [])
        best.append(np.isin(entries.line[ready[-1]], wanted))
    chosen = np.concatenate(best)
    others = np.flatnonzero(~chosen)
    count = sample if sample >= 1 else np.ceil(sample * len(chosen))
    count = min(int(count), len(others))
    log.info(
        "chosen of %d molecules: the best %d, and %d more by --seed %d",
        len(chosen),
        np.count_nonzero(chosen),
        count,
        seed,
    )
    chosen[np.random.default_rng(seed).choice(others, count, replace=False)] = True
    ends = np.cumsum([len(rows) for rows in ready])[:-1]
    return [rows[mask] for rows, mask in zip(ready, np.split(chosen, ends), strict=True)]


def redocking_faults(
    manifest: Manifest, chosen: list[np.ndarray], selector: str | None, scored: bool = True
) -> Iterator[str]:
    """Dock the chosen records of each part again, from the ligands to the scores, if `scored`."""
    device = select(selector)
    for part, records in zip(manifest.parts, chosen, strict=True):
        if len(records):
            yield from _part_redocked(part, records, device, selector, scored)


def _hits(path: Path, count: int) -> Mapping[Place, list[int]]:
    """The lines of the best `count` molecules of each target, by where they stand."""
    found: dict[Place, list[int]] = {}
    with open_campaign(path) as campaign:
        for name in campaign.targets:
            scored = campaign.target(name).best(count).scored
            for library, file, line in zip(scored.library, scored.file, scored.line, strict=True):
                place = name, campaign.libraries[library], campaign.files[file]
                found.setdefault(place, []).append(int(line))
    return found


def _part_redocked(
    part: PartFiles, records: np.ndarray, device: Device, selector: str | None, scored: bool
) -> Iterator[str]:
    """Faults of some input records of a part, after every stage has run on them again."""
    with tempfile.TemporaryDirectory() as folder:
        files = {kind: Path(folder) / f"{kind}.h5" for kind in FILES}
        rows = write_some(part.ligands, records, files["ligands"])
        files["pocket"] = part.pocket
        for kind in (stage.kind for stage in (SCREEN if scored else SCREEN[:-1])):
            path: Path = getattr(part, kind)
            record = run_record(path, KINDS[kind])
            stage = STAGES[record["stage"]]
            if record["stage-digest"] != stage_digest(stage.name):
                log.warning("%s: was made by another version of %s", path, stage.name)
            # After `lga` filter stands, too, whose record has no digest of the device's functions.
            equal = device_class(record["device"]) == device_class(device.origin)
            if stage.name not in EQUAL_EVERYWHERE and not equal:
                log.warning("%s: not compared, as it was made on %s", path, record["device"])
                return
            inputs = {flag: files[source] for flag, source in stage.inputs.items()}
            try:
                settings = check(stage.settings, json.loads(record["settings"]), str(path))
                stage.run(inputs, settings, selector, files[kind])
            except OutputError:  # as in `made_again`
                raise
            except InputError as error:
                yield f"{path}: its molecules cannot be docked again: {error}"
                return
            if is_dropped(path):
                continue
            if found := list(_unequal(path, files[kind], kind, records, rows)):
                yield (
                    f"{path}: molecules docked again: not equal in {len(found)} "
                    f"column{'s' * (len(found) > 1)}, {found[0]} first"
                )
                return  # what follows was made from it


def _unequal(
    path: Path, again: Path, kind: str, records: np.ndarray, rows: np.ndarray
) -> Iterator[str]:
    """Columns in which a file differs from the one made again of some of its records and rows."""
    table = read(path, KINDS[kind], OFFSETS.get(kind, Poses))
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
