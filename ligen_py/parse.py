"""Make ligands ready to dock from a library, or from one part of it.

Reads SMILES, CSV, Parquet, SDF or MOL2, plain or compressed, and writes a ligands file: one row per
input record with its name, line, status and reason, and for each usable molecule its parent with
hydrogens, a 3-D conformer, torsions and the atom types of every scoring function.
"""

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py import cli, granted
from ligen_py.errors import InputError
from ligen_py.molecules.library.parsing import empty_columns, parse, summary
from ligen_py.molecules.library.reading import WHOLE, Columns, Part
from ligen_py.molecules.ligands.shapes import check_file
from ligen_py.paths import shapes_cure, shapes_file
from ligen_py.provenance import Input, Run
from ligen_py.records.ligands import LIGANDS, past_limits
from ligen_py.settings.parse import ParseOptions
from ligen_py.store.files.earlier import EarlierMolecules
from ligen_py.store.files.write import write

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """What the stage reads: one part of a library file."""

    input: Path
    part: Part = WHOLE
    after: Sequence[Path] = ()
    """Ligands files of earlier parts, whose molecules are duplicates here."""
    allow_empty: bool = False
    """Whether a file without a usable molecule is no error."""
    lines: frozenset[int] | None = None
    """First lines of the records to prepare; None: of all."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.parse", __doc__, ParseOptions)
    parser.add_argument(
        "--input", type=cli.input_file, required=True, help="library: one file, named by its format"
    )
    parser.add_argument(
        "--part",
        type=cli.parsed(Part.parse),
        default=WHOLE,
        metavar="K-of-N",
        help="part to read (default: 1-of-1)",
    )
    parser.add_argument(
        "--after",
        type=cli.input_file,
        nargs="*",
        default=(),
        metavar="FILE",
        help="ligands files of earlier parts: their molecules are duplicates here",
    )
    parser.add_argument(
        "--allow-empty", action="store_true", help="a file without a usable molecule is no error"
    )
    parser.add_argument("--output", type=Path, required=True, help="ligands file to write")
    parser.add_argument(
        "--shapes",
        type=Path,
        metavar="FILE",
        help="shapes of rigid pieces, which processes share, or a folder for them; it changes "
        "speed, so results only of molecules near --time-limit, and may be deleted at any time "
        "(default: that of LIGEN_SHAPES, or one in the user's cache)",
    )
    parser.add_argument(
        "--jobs",
        type=_jobs,
        default=granted.cores(),
        metavar="N",
        help="processes (default: all cores)",
    )
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    inputs = Inputs(options.input, options.part, options.after, options.allow_empty)
    settings = cli.settings_from(ParseOptions, options)
    run(inputs, settings, None, options.output, options.jobs, options.shapes)


def run(
    inputs: Inputs,
    settings: ParseOptions,
    device: str | None,
    output: Path,
    jobs: int = 1,
    shapes: Path | None = None,
) -> None:
    """Parse a part of a library in `jobs` processes and write its ligands file.

    `shapes` is the file of rigid pieces' shapes, or its folder (default: `paths.shapes_file`).
    """
    columns = Columns(**settings.model_dump(include=set(Columns._fields)))
    started = time.perf_counter()
    earlier = EarlierMolecules(inputs.after)
    elsewhere = earlier.find if len(earlier) else None
    shapes = shapes_file(shapes)
    check_file(shapes, shapes_cure(shapes))
    source = Input.of(inputs.input)
    reading = inputs.input, inputs.part, settings, jobs, columns
    library = parse(*reading, inputs.allow_empty, elsewhere, inputs.lines, shapes)
    if Input.of(inputs.input) != source:
        raise InputError(f"{inputs.input}: changed while it was read; run again when it is whole")
    seconds = time.perf_counter() - started

    # Of earlier parts only what this one has again: others may change, and it is not docked again.
    again = Input("molecules of earlier parts", earlier.sha256)
    others = (again,) if earlier.found else ()
    made_by = Run("parse", settings, (inputs.input, *others))
    write(output, LIGANDS, made_by, library.groups)
    rate = len(library.entries.line) / seconds
    where = f"{inputs.input.name}, part {inputs.part}"
    log.info("%s: %s; %.1f records/s", where, summary(library.ledger), rate)
    if count := np.count_nonzero(past_limits(library.entries, library.ledger)):
        log.warning(
            "%s: %d of them passed parse.time_limit (%g s) or parse.memory_limit (%d MiB), or "
            "crashed their worker: they have one state and conformer, or failed; another run may "
            "do otherwise; raise the limit to have all states",
            where,
            count,
            settings.time_limit,
            settings.memory_limit,
        )
    for column in empty_columns(columns, library.entries):
        log.warning("%s: no record has a value of '%s'; correct the name", where, column)


def _jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 4096:
        raise argparse.ArgumentTypeError(f"{text} is not a number of processes from 1 to 4096")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
