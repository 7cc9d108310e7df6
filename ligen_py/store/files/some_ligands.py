"""A ligands file that holds some records of another one, to be docked by themselves."""

from pathlib import Path

import numpy as np

from ligen_py.provenance import Run
from ligen_py.records.column import Record, base_of
from ligen_py.records.ledger import Ledger
from ligen_py.records.ligands import LIGANDS, Entries, Ligands
from ligen_py.records.rows import rows_below, subset
from ligen_py.settings.section import Section
from ligen_py.store.files.read import groups_in, read
from ligen_py.store.files.write import write


def write_some(source: Path, records: np.ndarray, output: Path) -> np.ndarray:
    """Write some input records (rows, ascending) of a ligands file, with all their states.

    Returns the rows of their ligands in `source`.
    """
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
    write(output, LIGANDS, Run("parse", Section()), groups)
    return rows
