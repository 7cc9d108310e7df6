"""A ligands file that holds some records of another one, to be docked by themselves."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ligen_py.provenance import Run
from ligen_py.records.column import Record, base_of
from ligen_py.records.ledger import Ledger
from ligen_py.records.ligands import LIGANDS, Entries, Ligands
from ligen_py.records.rows import concatenated, rows_below, subset
from ligen_py.settings.section import Section
from ligen_py.store.files.read import groups_in, read
from ligen_py.store.files.write import write


def write_some(source: Path, records: np.ndarray, output: Path) -> np.ndarray:
    """Write some input records (rows, ascending) of a ligands file, with all their states.

    Returns the rows of their ligands in `source`.
    """
    groups, rows = _some(source, records)
    write(output, LIGANDS, Run("parse", Section()), groups)
    return rows


def write_chosen(chosen: Sequence[tuple[Path, int]], run: Run, output: Path, like: Path) -> None:
    """Write input records (ligands file, row) of several files, in this order, with their states.

    Groups of scoring functions that not every file has are left out. Where nothing is chosen the
    groups are those of the file `like`.
    """
    files = list(dict.fromkeys(path for path, _ in chosen)) or [like]
    records = {
        path: np.unique(np.array([row for file, row in chosen if file == path], np.int64))
        for path in files
    }
    parts = [_some(path, records[path])[0] for path in files]
    names = [name for name in parts[0] if all(name in part for part in parts)]
    whole = {name: concatenated([part[name] for part in parts]) for name in names}
    before = np.cumsum([0, *(len(rows) for rows in records.values())])
    first = dict(zip(files, before.tolist(), strict=False))
    order = np.array(
        [first[path] + np.searchsorted(records[path], row) for path, row in chosen], np.int64
    )
    ligands = whole["ligands"]
    assert isinstance(ligands, Ligands)
    owner = np.repeat(before[:-1], [len(part["ligands"].entry) for part in parts])  # type: ignore[attr-defined]
    entry = ligands.entry + owner
    place = np.argsort(order)[entry]
    rows = np.argsort(place, kind="stable")
    below = rows_below(ligands, "ligand", rows)
    of_records = {"entry": order, "row": order}
    groups: dict[str, Record] = {
        name: subset(record, below if name == "ligands" or base_of(type(record)) else of_records)
        for name, record in whole.items()
    }
    ordered = groups["ligands"]
    assert isinstance(ordered, Ligands)
    ordered.entry[:] = place[rows]
    write(output, LIGANDS, run, groups)


def _some(source: Path, records: np.ndarray) -> tuple[dict[str, Record], np.ndarray]:
    """The groups of some records (rows, ascending) of a file, and the rows of their ligands."""
    entries: Entries = read(source, LIGANDS, Entries)
    ledger: Ledger = read(source, LIGANDS, Ledger)
    ligands: Ligands = read(source, LIGANDS, Ligands)
    rows = np.flatnonzero(np.isin(ligands.entry, records))
    below = rows_below(ligands, "ligand", rows)
    some = subset(ligands, below)
    some.entry[:] = np.searchsorted(records, some.entry)
    chosen = {"entry": records}
    groups: dict[str, Record] = {
        "entries": subset(entries, chosen),
        "ledger": subset(ledger, chosen),
        "ligands": some,
    }
    for name, types in groups_in(source, LIGANDS).items():
        if name not in LIGANDS.fixed:
            extends = base_of(types) is not None
            record = read(source, LIGANDS, types, ligands if extends else None)
            groups[name] = subset(record, below if extends else {"row": records})
    return groups, rows
