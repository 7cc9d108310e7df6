"""Inputs of the stages that search a genome: the genome, its cache, a part of it, joined parts."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ligen_py import cli
from ligen_py.errors import InputError
from ligen_py.molecules.library.record import WHOLE, Part
from ligen_py.paths import cache_folder
from ligen_py.records.column import Record
from ligen_py.records.offtargets import OFFTARGETS
from ligen_py.settings.section import Section
from ligen_py.store.files.read import read, run_record


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
    kind = cli.parsed(Part.parse)
    parser.add_argument("--part", type=kind, default=default, metavar="K-of-N", help=meaning)


def read_parts(files: Sequence[Path], stage: str) -> tuple[dict[str, str], list[dict[str, Record]]]:
    """How the first part of a stage's search was made, and the sites of all.

    InputError if it is of another stage, or of two searches.
    """
    runs = [run_record(file, OFFTARGETS) for file in files]
    if runs[0]["stage"] != stage:
        raise InputError(
            f"{files[0]}: was made by '{runs[0]['stage']}', not by '{stage}'; give all parts "
            "of one search"
        )
    for file, run in zip(files, runs, strict=True):
        if (run["stage"], run["settings"]) != (runs[0]["stage"], runs[0]["settings"]):
            raise InputError(f"{file}: was searched with other settings than {files[0]}")
        if run["inputs"] != runs[0]["inputs"]:
            raise InputError(f"{file}: was made from other files than {files[0]}; search it again")
    kinds = OFFTARGETS.groups.items()
    return runs[0], [{name: read(file, OFFTARGETS, kind) for name, kind in kinds} for file in files]


def require_nothing_else(
    options: argparse.Namespace, files: Sequence[str], settings: Section
) -> None:
    """InputError where parts are joined and more is given, which is that of the parts."""
    given = [name for name in files if getattr(options, name)]
    given += ["part"] if options.part != WHOLE else []
    given += sorted(settings.model_fields_set)
    if given:
        flag = given[0].replace("_", "-")
        raise InputError(f"command line: --{flag}: leave it out; --join reads it from its files")
