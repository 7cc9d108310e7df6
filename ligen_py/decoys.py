"""Draw decoys for known actives from a library: alike in properties, not in structure.

Looks at about 20,000 molecules, spread evenly over one file of the library, and writes the decoys
as SMILES. A drawn decoy is presumed not to bind; one of them may.
"""

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ligen_py import cli
from ligen_py.errors import InputError
from ligen_py.formats import LibraryFile, parts_of
from ligen_py.molecules.decoys import candidates_of, draw
from ligen_py.molecules.library.reading import Columns, Part, Record, records
from ligen_py.records.ligands import LIGANDS
from ligen_py.settings.controls import DecoysSettings
from ligen_py.settings.parse import Reading
from ligen_py.store.files.read import read_columns
from ligen_py.store.files.text import write_texts
from ligen_py.summary.table import readable

log = logging.getLogger("ligen_py")

PIECES, PIECE = 8, 2500
"""Parts of the library's file that are looked at, and molecules of each, about."""

LEAST = 10
"""Fewer decoys show nothing."""


class Inputs(NamedTuple):
    """What the stage reads."""

    actives: Path
    library: Path
    columns: Columns = Columns()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.decoys", __doc__, DecoysSettings, Reading)
    parser.add_argument("--actives", type=cli.input_file, required=True, help="known binders")
    parser.add_argument(
        "--library",
        type=cli.input_file,
        required=True,
        help="library to draw from: a file of molecules, or a ligands file of `parse`",
    )
    parser.add_argument("--output", type=Path, required=True, help="SMILES file to write")
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    reading = cli.settings_from(Reading, options).model_dump(include=set(Columns._fields))
    inputs = Inputs(options.actives, options.library, Columns(**reading))
    run(inputs, cli.settings_from(DecoysSettings, options), None, options.output)


def run(inputs: Inputs, settings: DecoysSettings, device: str | None, output: Path) -> None:
    """Draw the decoys and write them."""
    actives = candidates_of(records(inputs.actives))
    if not actives.name:
        raise InputError(f"{inputs.actives}: contains no molecule; give a file of known binders")
    library = candidates_of(_sample(inputs))
    rows = draw(actives, library, settings.per_active, settings.max_similarity)
    if len(rows) < LEAST:
        raise InputError(
            f"{inputs.library}: has {len(rows)} molecules that can be decoys, fewer than {LEAST}; "
            "give a file of decoys in the section 'controls'"
        )
    lines = (f"{library.smiles[row]} {readable(library.name[row])}\n" for row in rows)
    write_texts(output.parent, {output.name: lines})
    wanted, looked_at = len(actives.name) * settings.per_active, len(library.name)
    log.info("drew %d decoys (of %d wanted) among %d molecules", len(rows), wanted, looked_at)


def _sample(inputs: Inputs) -> Iterator[Record | tuple[str, str]]:
    path = inputs.library
    if path.suffix == ".h5":
        found = read_columns(path, LIGANDS, ("entries/name", "entries/smiles"))
        step = 1 + len(found["entries/name"]) // (PIECES * PIECE)
        yield from zip(*(values[::step] for values in found.values()), strict=True)
        return
    count = parts_of(LibraryFile(path, path.name, "", path.stat().st_size), PIECE)
    for number in range(0, count, max(1, count // PIECES)):
        yield from records(path, Part(number + 1, count), inputs.columns)


if __name__ == "__main__":
    sys.exit(main())
