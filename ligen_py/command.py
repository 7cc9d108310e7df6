"""The command `ligen`: one name for everything that a user types.

Each command is the `main` of the module of that name, which `python -m ligen_py.NAME` runs, too.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from importlib import import_module

from ligen_py import __version__, cli
from ligen_py.cli import COMMANDS
from ligen_py.errors import close_to

STAGES = {
    "parse": "library file -> ligands",
    "pocket": "structure and site -> pocket",
    "decoys": "known actives and a library -> decoys",
    "dock": "ligands and pocket -> poses",
    "lga": "ligands and pocket -> poses, by AutoDock's genetic algorithm",
    "filter": "poses -> the poses worth refining",
    "refine": "poses -> refined poses",
    "score": "refined poses -> scores",
    "screen": "ligands and pocket -> scores: all stages of a chunk in one process",
    "controls": "scores of controls -> verdict on a target",
    "accept": "verdict -> whether the libraries are docked",
    "aggregate": "scores of all parts -> campaign file",
    "networks": "campaign file -> what gnina's networks say of the best molecules' poses",
    "export": "campaign file -> SDF, CSV, receptor, scripts of viewers",
    "report": "campaign file -> report",
    "database": "FASTA file of proteins -> database of `homologs`",
    "best": "campaign file -> ligands file of the best molecules",
    "selectivity": "scores in target and anti-targets -> table",
    "genome": "FASTA or .2bit files -> bit planes of `offtargets` and `guides`",
    "panel": "parts of a search -> hits and anti-targets",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the module that a command line names; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = _parser("ligen", "Virtual screening with LiGen's method on OpenCL.", COMMANDS)
    parser.add_argument("--version", action="version", version=f"ligen_py {__version__}")
    name, rest = _first(parser, words, COMMANDS)
    modules = cli.MODULES
    if name == "stage":
        modules = {}
        parser = _parser("ligen stage", "Run a single stage by hand.", STAGES)
        name, rest = _first(parser, rest, STAGES)
    try:
        module = import_module(f"ligen_py.{modules.get(name, name)}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "ligen_py":
            raise
        cure = "install ligen_py again, with what it requires"
        parser.exit(1, f"{parser.prog} {name}: error: {error.name} is missing; {cure}\n")
    except OSError as error:  # OpenCL's loader needs a folder, and every disk may be full
        parser.exit(1, f"{parser.prog} {name}: error: {cli.refused(error)}\n")
    except KeyboardInterrupt:  # the libraries take most of a second
        parser.exit(cli.INTERRUPTED, f"{parser.prog} {name}: error: stopped as asked\n")
    status: int = module.main(rest)
    return status


def _parser(prog: str, description: str, names: dict[str, str]) -> argparse.ArgumentParser:
    rows = "\n".join(f"  {name:10} {meaning}" for name, meaning in names.items())
    return argparse.ArgumentParser(
        prog=prog,
        usage=f"{prog} NAME ...",
        description=f"{description}\n\n{rows}\n\n`{prog} NAME --help` explains each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _first(
    parser: argparse.ArgumentParser, words: list[str], names: dict[str, str]
) -> tuple[str, list[str]]:
    """The name that a command line starts with, and all that follows it."""
    if not words or words[0].startswith("-"):
        parser.parse_args(words)
        parser.error(f"name one of: {', '.join(names)}")
    name = words[0]
    if name not in names and name in STAGES:
        parser.error(f"'{name}' is a single stage: type `ligen stage {shlex.join(words)}`")
    if name not in names:
        parser.error(f"unknown name '{name}'{close_to(name, names)}")
    return name, words[1:]


if __name__ == "__main__":
    sys.exit(main())
