"""Flags of the stages that search a genome: the genome, its cache, a part of it."""

import argparse
from pathlib import Path

from ligen_py.molecules.library.record import Part
from ligen_py.paths import cache_folder


def add_genome(parser: argparse.ArgumentParser, required: bool) -> None:
    """Add the flags of a genome, and of the folder where it is kept."""
    parser.add_argument(
        "--genome",
        type=Path,
        required=required,
        help="FASTA or .2bit file, plain or compressed, or a folder of them",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=cache_folder("genomes"),
        help="folder of genomes as bit planes (default: %(default)s)",
    )


def add_part(parser: argparse.ArgumentParser, default: Part | None, meaning: str) -> None:
    """Add the flag of a part of a genome."""
    parser.add_argument("--part", type=_part, default=default, metavar="K-of-N", help=meaning)


def _part(text: str) -> Part:
    try:
        return Part.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
