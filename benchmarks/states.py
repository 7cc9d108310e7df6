"""States and conformers of a library's molecules by setting, and what they cost `parse`.

    python benchmarks/states.py LIBRARY [LIBRARY ...] [--count N]

For each library and each row of settings: states a molecule (of those that can be docked),
conformers a molecule, which are what is docked, and milliseconds of processor time a record with no
shapes of rigid pieces known and with all known. The rows are those of the table in
`config/README.md`. One process; N records of each library, evenly spread.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rdkit import rdBase

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.leaving import in_words
from ligen_py.cli import at_least
from ligen_py.errors import InputError
from ligen_py.molecules.library.reading import Record, records
from ligen_py.molecules.ligands.preparation import Prepared, prepare
from ligen_py.settings.parse import ParseSettings

ROWS = {
    "as drawn": {
        "standardise": False,
        "protonate": False,
        "stereoisomers": 1,
        "conformers": 1,
        "macrocycle_conformers": 1,
    },
    "stereoisomers 1, conformers 1": {
        "stereoisomers": 1,
        "conformers": 1,
        "macrocycle_conformers": 1,
    },
    "conformers 1": {"conformers": 1, "macrocycle_conformers": 1},
    "default": {},
}
"""Name -> what differs from the default settings."""


def measured(library: Sequence[Record], settings: ParseSettings) -> list[float]:
    """States and conformers a molecule, and milliseconds a record without shapes and with all."""
    times: list[float] = []
    prepared: list[Prepared] = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):  # the second pass finds what the first has made
            began = time.process_time()
            prepared = [prepare(record, settings, Path(folder) / "shapes") for record in library]
            times.append(1e3 * (time.process_time() - began) / len(library))
    ready = [one for one in prepared if one.states]
    if not ready:
        raise InputError(f"none of {len(library)} records can be docked; give a library")
    states = sum(len({str(state.shape["smiles"][0]) for state in one.states}) for one in ready)
    conformers = sum(len(one.states) for one in ready)
    return [states / len(ready), conformers / len(ready), *times]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library", type=Path, nargs="+")
    parser.add_argument(
        "--count", type=at_least(1), default=300, help="records (default: %(default)s)"
    )
    options = parser.parse_args()
    print("library, settings: states, conformers a molecule; ms with no shapes known, with all")
    for path in options.library:
        every = list(records(path))
        if not every:
            raise InputError(f"{path}: contains no molecules; give a library")
        chosen = every[:: max(1, len(every) // options.count)][: options.count]
        for name, changes in ROWS.items():
            settings = ParseSettings().model_copy(update=changes)
            prepare(chosen[0], settings)  # patterns are compiled once
            states, conformers, cold, warm = measured(chosen, settings)
            print(
                f"{path.stem}, {name}: {states:.2f}, {conformers:.2f}; {cold:.0f}, {warm:.0f}",
                flush=True,
            )


if __name__ == "__main__":
    with in_words(), rdBase.BlockLogs():
        main()
