"""What becomes of some records of a library, from which a campaign's cost is estimated."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import STAGES
from ligen_py.errors import InputError
from ligen_py.formats import BYTES_PER_RECORD, LibraryFile, format_of, unpacked
from ligen_py.molecules.library.reading import Columns, Part, count, no_molecules
from ligen_py.provenance import Run
from ligen_py.records.ledger import Ledger, Reason
from ligen_py.records.ligands import LIGANDS, Entries, Ligands
from ligen_py.settings.section import Section
from ligen_py.store.files.read import bytes_used, read, read_columns
from ligen_py.store.files.some_ligands import write_chosen

COUNTED = 64 << 20
"""Bytes of text in which records are counted, which takes seconds; beyond, they are estimated."""

ENOUGH = 50
"""Records one after another, none of them readable, that show that a file is no library."""

LOOKED_AT, WHOLE = 5, 20
"""Files of a library from which records are looked at; and of one that is looked at whole, since
it has no more records than were asked for."""


@dataclass
class Sample:
    """What became of some records of a library."""

    records: int
    """In the whole library; about, unless they are `exact`."""
    exact: bool
    parts: int
    ligands: Path
    reasons: Counter[str] = field(default_factory=Counter)
    states: int = 0
    seen: int = 0
    files: int = 1
    """That the records seen are from."""
    seconds: float | None = None
    """Of one core, for the records seen; None where another campaign has parsed them."""
    bytes: int = 0
    """Of the records seen, on disk."""
    idle: int = 0
    """What their file keeps for more."""


def look(plan: Workplan, library: str, most: int, work: Path) -> Sample:
    """What becomes of about as many records of a library as were asked for.

    They are from several of its files; of a library with fewer records, all of them.
    """
    files = plan.files(library)
    output = work / f"library-{library}.h5"
    if plan.is_reused(library):
        return _reused(plan, library, most, output)
    settings = plan.parse_options(library)
    columns = Columns(**settings.model_dump(include=set(Columns._fields)))
    exact = sum(map(unpacked, files)) <= COUNTED or all(map(_is_parquet, files))
    held = {file: count(file.path, columns) for file in files} if exact else {}
    records = sum(held.values())
    whole = exact and records <= most and len(files) <= WHOLE
    some = files if whole else _spread(files, most)
    seen: list[Path] = []
    seconds, here = 0.0, 0
    for file in some:
        if not exact and unpacked(file) <= COUNTED:
            held[file] = count(file.path, columns)
        guess = held.get(file) or round(unpacked(file) / BYTES_PER_RECORD[format_of(file.path)])
        parts = 1 if whole else max(1, round(guess * len(some) / most))
        part = Part(parts // 2 + 1, parts)
        seen.append(work / f"library-{library}-{len(seen)}.h5")
        started = time.perf_counter()
        inputs = {"input": file.path, "part": part, "allow_empty": True}
        STAGES["parse"].run(inputs, settings, None, seen[-1])
        seconds += time.perf_counter() - started
        here += held[file] if file in held else len(_column(seen[-1], "ledger/status")) * parts
    together = [(path, row) for path in seen for row in range(len(_column(path, "ledger/status")))]
    write_chosen(together, Run("parse", Section()), output, seen[0])
    share = sum(file.size for file in files) / max(1, sum(file.size for file in some))
    records = records if exact else round(here * share)
    return sample_of(output, records, exact, len(plan.chunks(library)), len(some), seconds)


def _reused(plan: Workplan, library: str, most: int, output: Path) -> Sample:
    """The sample of a library that another campaign has parsed."""
    files = plan.files(library)
    sizes = {file.path: len(_column(file.path, "ledger/status")) for file in files}
    some = files if sum(sizes.values()) <= most else _spread(files, most)
    each = most if len(some) == len(files) else -(-most // len(some))
    chosen = [(file.path, row) for file in some for row in range(min(each, sizes[file.path]))]
    write_chosen(chosen, Run("parse", Section()), output, files[0].path)
    records, parts = sum(sizes.values()), len(plan.chunks(library))
    return sample_of(output, records, True, parts, len(some), None)


def _spread(files: Sequence[LibraryFile], most: int) -> list[LibraryFile]:
    """At most so many of the files, and `LOOKED_AT`, from all over their list."""
    count = min(len(files), LOOKED_AT, most)
    return [files[(2 * place + 1) * len(files) // (2 * count)] for place in range(count)]


def sample_of(
    output: Path, records: int, exact: bool, parts: int, files: int, seconds: float | None
) -> Sample:
    """What stands in the ligands file of a sample."""
    entries: Entries = read(output, LIGANDS, Entries)
    ledger: Ledger = read(output, LIGANDS, Ledger)
    ligands: Ligands = read(output, LIGANDS, Ligands)
    reasons = Counter(Reason(reason).name.lower().replace("_", " ") for reason in ledger.reason)
    del reasons["none"]
    used = bytes_used(output, LIGANDS)
    return Sample(
        records=records,
        exact=exact,
        parts=parts,
        ligands=output,
        files=files,
        reasons=reasons,
        states=len(ligands.entry),
        seen=len(entries.line),
        seconds=seconds,
        bytes=used,
        idle=output.stat().st_size - used,
    )


def require_use(plan: Workplan, library: str, sample: Sample) -> None:
    """InputError for a library without molecules, or that `parse` would refuse as a whole.

    A file of a folder or glob may be without any.
    """
    if plan.is_reused(library) or sample.states:
        return
    alone = not plan.files(library)[0].label
    whole = sample.exact and sample.seen == sample.records
    given = plan.settings.libraries[library].file
    where = f"{plan.config.place('libraries', library)}: {given}"
    if whole and not sample.seen:
        raise InputError(f"{where}: {no_molecules(plan.files(library)[0].path)}")
    unparsable = sample.seen == sample.reasons["unparsable"] and (whole or sample.seen >= ENOUGH)
    if alone and (unparsable or (whole and sample.parts == 1)):
        left = ", ".join(f"{count} {reason}" for reason, count in sample.reasons.most_common())
        raise InputError(
            f"{where}: no record can be docked, of {sample.seen} looked at ({left}); correct the "
            "file, or name another"
        )


def _column(path: Path, name: str) -> np.ndarray:
    return read_columns(path, LIGANDS, (name,))[name]


def _is_parquet(file: LibraryFile) -> bool:
    return format_of(file.path) == "parquet"
