"""Turn a genome into bit planes, which `offtargets` and `guides` read without delay.

Reads FASTA, plain or compressed, .2bit, or a folder of these; writes a folder for their --cache.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ligen_py import cli
from ligen_py.errors import InputError
from ligen_py.sequences.genome import finish_keeping, read_genome
from ligen_py.settings.section import Section

log = logging.getLogger("ligen_py")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.genome", __doc__)
    parser.add_argument(
        "--genome",
        type=Path,
        required=True,
        help="FASTA or .2bit file, plain or compressed, or a folder of them",
    )
    parser.add_argument("--output", type=Path, required=True, help="folder to write into")
    return cli.run(parser, argv, _stage)


class Inputs(NamedTuple):
    """Files that the stage reads."""

    genome: Path


def _stage(options: argparse.Namespace) -> None:
    run(Inputs(options.genome), Section(), None, options.output)


def run(inputs: Inputs, settings: Section, device: str | None, output: Path) -> None:
    """Write the bit planes of a genome into a folder, which may have others."""
    genome = read_genome(inputs.genome, output)
    finish_keeping()
    if not any(output.glob("*/planes.npy")):
        raise InputError(f"{output}: cannot be written; make room, or give another folder")
    log.info("%s: %d records, %d bases", inputs.genome, len(genome.names), genome.bases)


if __name__ == "__main__":
    sys.exit(main())
