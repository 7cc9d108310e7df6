"""A part of a library: a record is a row of `Entries` and `Ledger`, its states are `Ligands`."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py.errors import InputError
from ligen_py.functions import typed_records
from ligen_py.molecules.library.columns import plain
from ligen_py.molecules.library.reading import (
    GUESSED,
    WHOLE,
    Columns,
    Part,
    Record,
    no_molecules,
    records,
)
from ligen_py.molecules.ligands.filters import check_patterns
from ligen_py.molecules.ligands.preparation import (
    Prepared,
    compile_rules,
    lost,
    prepare,
    prepare_one_state,
    prepare_together,
)
from ligen_py.molecules.ligands.rotatable_bonds import pair_words
from ligen_py.molecules.ligands.rows import State, columns_of
from ligen_py.molecules.workers import ordered_map
from ligen_py.pace import Pace
from ligen_py.records.column import Record as Stored
from ligen_py.records.column import extended, own_columns
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.records.ligands import Entries, Ligands
from ligen_py.records.properties import Properties
from ligen_py.settings.parse import ParseSettings

SIZES: dict[str, Callable[[State], int]] = {
    "first_atom": lambda state: len(state.outline.element),
    "first_bond": lambda state: len(state.outline.ends),
    "first_torsion": lambda state: len(state.shape["torsion_axis"]),
    "first_pair": lambda state: pair_words(int(state.shape["heavy"][0])),
    "first_byte": lambda state: len(state.shape["molecule"]),
}
"""Offset column of `Ligands` -> how many rows a state has of what it divides."""

BLOCK = 1024
"""States that are typed at a time."""

Elsewhere = Callable[[str], str | None]
"""Where the molecule of a content key stands outside a part, in words, if it does."""


@dataclass(frozen=True)
class Library:
    """The records of a ligands file."""

    entries: Entries
    ledger: Ledger
    ligands: Ligands
    typed: dict[str, Ligands]
    """Group -> the ligands as a scoring function sees them."""
    properties: Properties

    @property
    def groups(self) -> dict[str, Stored]:
        """All groups of the file."""
        own = {"entries": self.entries, "ledger": self.ledger, "ligands": self.ligands}
        return {**own, "properties": self.properties, **self.typed}


def parse(
    path: Path,
    part: Part,
    settings: ParseSettings,
    jobs: int,
    columns: Columns = GUESSED,
    allow_empty: bool = False,
    elsewhere: Elsewhere | None = None,
    lines: frozenset[int] | None = None,
    shapes: Path | None = None,
) -> Library:
    """Read one part of a library and prepare its molecules in `jobs` processes.

    With `lines` only the records that begin there are prepared. The result does not depend on
    `jobs`. Of records with the same parent the first ready one stays and the later ones are its
    duplicates; so are those of parents that stand `elsewhere`. `shapes` is a file of rigid pieces'
    shapes that processes share.

    Raises InputError for a file that cannot be read, for a pattern that is no SMARTS and, unless
    `allow_empty`, for a file without records and for a whole file without a usable record. A part
    of several may be without any.
    """
    check_patterns(settings.exclude)
    compile_rules()
    together = partial(prepare_together, settings=settings, shapes=shapes)
    prepared = ordered_map(
        partial(prepare, settings=settings, shapes=shapes),
        (one for one in records(path, part, columns) if lines is None or one.line in lines),
        jobs,
        settings.time_limit,
        partial(lost, settings=settings),
        settings.memory_limit,
        partial(prepare_one_state, settings=settings, shapes=shapes),
        together,
    )
    library = assemble(prepared, elsewhere)
    if allow_empty:
        return library
    if not len(library.entries.line) and next(records(path, WHOLE, columns), None) is None:
        raise InputError(f"{path}: {no_molecules(path)}")
    if part.count == 1 and not elsewhere and not len(library.ligands.entry):
        raise InputError(_no_use(path, library))
    return library


def assemble(
    prepared: Iterable[tuple[Record, Prepared]], elsewhere: Elsewhere | None = None
) -> Library:
    """Gather prepared records, in input order, into arrays; later equals become duplicates."""
    entries: list[tuple[str, int, str, str, str, str]] = []
    ledger: list[tuple[Status, Reason, str]] = []
    states: list[State] = []
    properties: list[tuple[float, ...]] = []
    rows: list[int] = []
    first: dict[str, str] = {}
    pace = Pace("records read")
    for record, result in prepared:
        if result.status != Status.READY:
            ledger.append((result.status, result.reason, result.detail))
        elif original := first.get(result.key) or (elsewhere and elsewhere(result.key)):
            ledger.append((Status.DUPLICATE, Reason.DUPLICATE_OF, f"same parent as {original}"))
        else:
            first[result.key] = f"{record.name} at line {record.line}"
            ledger.append((Status.READY, Reason.NONE, ""))
            rows += [len(entries)] * len(result.states)
            states += result.states
        entry = record.name, record.line, result.smiles, result.key, result.note, record.extra
        entries.append(entry)
        properties.append(result.properties)
        pace.add(1, result.status == Status.FAILED)
    return Library(
        _table(Entries, entries),
        _table(Ledger, ledger),
        *_ligands(rows, states),
        _table(Properties, properties),
    )


def _table(record: type[Any], rows: list[Any]) -> Any:
    """A record of one-dimensional columns from its rows."""
    columns = {}
    for place, spec in enumerate(fields(record)):
        column = np.empty(len(rows), spec.metadata["dtype"])
        column[:] = [row[place] for row in rows]
        columns[spec.name] = column
    return record(**columns)


def _ligands(rows: list[int], states: list[State]) -> tuple[Ligands, dict[str, Ligands]]:
    """The ligands, and as each scoring function sees them."""
    given: dict[str, np.ndarray] = {"entry": np.array(rows, "i8")}
    for offsets, sizes in SIZES.items():
        given[offsets] = np.cumsum([0, *map(sizes, states)], dtype="i8")
    blocks = [columns_of(block) for block in _blocks(states)]

    def columns(group: str, record: type[Stored]) -> dict[str, np.ndarray]:
        """The columns of a record of all blocks, one after another; without those made above."""
        return {
            spec.name: _joined([block[group][spec.name] for block in blocks], spec.metadata)
            for spec in own_columns(record)
            if group != "ligands" or spec.name not in given
        }

    ligands = Ligands(**given, **columns("ligands", Ligands))
    return ligands, {
        group: extended(ligands, record, **columns(group, record))
        for group, record in typed_records("LIGANDS").items()
    }


def _blocks(states: list[State]) -> Iterator[list[State]]:
    for start in range(0, len(states), BLOCK):
        yield states[start : start + BLOCK]


def _joined(parts: list[np.ndarray], meta: Any) -> np.ndarray:
    empty = np.empty((0, *meta["dims"][1:]), meta["dtype"])
    return np.concatenate([empty, *parts])


def summary(ledger: Ledger) -> str:
    """Counts by status and reason: "12 records: 9 ready, 2 failed (2 unparsable), 1 duplicate"."""
    words = []
    for status in Status:
        chosen = ledger.status == status
        if not chosen.any():
            continue
        reasons = Counter(Reason(value) for value in ledger.reason[chosen])
        named = [
            f"{count} {reason.name.lower()}"
            for reason, count in sorted(reasons.items())
            if reason not in (Reason.NONE, Reason.DUPLICATE_OF)
        ]
        detail = f" ({', '.join(named)})" if named else ""
        words.append(f"{int(chosen.sum())} {status.name.lower()}{detail}")
    count = len(ledger.status)
    return f"{count} {'record' if count == 1 else 'records'}: {', '.join(words) or 'none'}"


def empty_columns(columns: Columns, entries: Entries) -> Iterator[str]:
    """Columns that are asked for and empty: which ones an SDF has is not known before."""
    if not len(entries.line):
        return
    named = zip(entries.name, entries.line, strict=True)
    if columns.name_column and all(name == f"line-{line}" for name, line in named):
        yield columns.name_column
    for wanted in columns.wanted():
        texts = (json.loads(text) for text in entries.extra if text)
        if not any(plain(wanted) in map(plain, names) for names in texts):
            yield wanted


def _no_use(path: Path, library: Library) -> str:
    entries, ledger = library.entries, library.ledger
    return (
        f"{path}: no record can be docked; {summary(ledger)}; "
        f"first, line {entries.line[0]}: {ledger.detail[0]}; give a file of molecules"
    )
