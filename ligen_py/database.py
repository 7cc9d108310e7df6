"""Turn a FASTA file of proteins into a database file, which devices read without delay.

Every record is there with its header. One without residues, or with a letter that is no amino
acid, is not searched, and the ledger says why. U, O and J are read as X.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py import cli
from ligen_py.engine.alignment.packing import pack_all
from ligen_py.provenance import Run
from ligen_py.records.database import Blocks, Proteins
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.sequences.proteins import read_proteins
from ligen_py.settings.section import Section
from ligen_py.store.sequences.database import write_database
from ligen_py.summary.homologs import warn_of_rejected

log = logging.getLogger("ligen_py")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.database", __doc__)
    parser.add_argument(
        "--input", type=cli.input_file, required=True, help="FASTA file, plain or compressed"
    )
    parser.add_argument("--output", type=Path, required=True, help="database file to write")
    return cli.run(parser, argv, _stage)


class Inputs(NamedTuple):
    """Files that the stage reads."""

    input: Path


def _stage(options: argparse.Namespace) -> None:
    run(Inputs(options.input), Section(), None, options.output)


def run(inputs: Inputs, settings: Section, device: str | None, output: Path) -> None:
    """Write the database file of a FASTA file."""
    ledger, names = convert(inputs.input, output)
    warn_of_rejected(ledger, names.__getitem__)


def convert(source: Path, output: Path) -> tuple[Ledger, list[str]]:
    """Write the database file of a FASTA file; what became of its records, and their names."""
    found = read_proteins(source, keep_faulty=True)
    residues = np.fromiter(map(len, found.letters), "i4", len(found))
    ledger = Ledger(
        np.zeros(len(found), "u1"),
        np.zeros(len(found), "u1"),
        np.full(len(found), "", object),
    )
    for faults, reason, words in (
        (np.array([bool(fault) for fault in found.fault]), Reason.UNKNOWN_LETTER, found.fault),
        (residues == 0, Reason.NO_RESIDUES, ["no residues"] * len(found)),
    ):
        rows = np.flatnonzero(faults & (ledger.status == Status.READY))
        ledger = ledger.marked(rows, Status.REJECTED, reason, [words[row] for row in rows])
    searched = np.flatnonzero(ledger.status == Status.READY)
    packed = pack_all([found.letters[row] for row in searched])
    record = np.where(packed.record < 0, -1, np.append(searched, -1)[packed.record])
    blocks = Blocks(packed.first, packed.length, record, packed.letters)
    names, headers = np.array(found.name, object), np.array(found.header, object)
    made_by = Run("database", Section(), (source,))
    write_database(output, made_by, ledger, Proteins(names, headers, residues), blocks)
    log.info("%s: %d records, %d residues", source, len(residues), residues.sum(dtype="i8"))
    if found.unknown:
        log.info("%d letters U, O or J are read as X", found.unknown)
    return ledger, found.name


if __name__ == "__main__":
    sys.exit(main())
