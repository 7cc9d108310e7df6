"""All stages of a chunk in one process: its search, filter, refine and score.

Reads a ligands file and a pocket file once, hands poses on in memory, and writes the files of the
stages behind them, each with the bytes that the stage alone would write. Files of earlier stages
that exist already, and were made by this code from these settings and inputs, are kept: the work
starts with the first stage whose file is not. The last stage always runs.
"""

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from typing import Any

from ligen_py import cli
from ligen_py.chain import BETWEEN, STAGES, Stage, screen
from ligen_py.errors import InputError
from ligen_py.opencl.sharing import take_one
from ligen_py.records.kinds import KINDS
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.settings.section import Section
from ligen_py.store.files.dropped import drop_rows
from ligen_py.store.files.fresh import asked_again, note_again, stale
from ligen_py.store.files.memory import handing_on
from ligen_py.store.files.read import read
from ligen_py.store.files.typed import read_typed

log = logging.getLogger("ligen_py")

INPUTS = ("ligands", "pocket")
SEARCHES = tuple(dict.fromkeys(stage.search for stage in STAGES.values() if stage.search))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stages from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.screen", __doc__)
    cli.add_inputs(parser, INPUTS)
    for stage in screen(SEARCHES[0]):
        what = f"{stage.kind} file, written or kept"
        parser.add_argument(f"--{stage.kind}", type=Path, required=True, help=what)
    parser.add_argument(
        "--search", choices=SEARCHES, default=SEARCHES[0], help="default: %(default)s"
    )
    for stage in {stage.name: stage for name in SEARCHES for stage in screen(name)}.values():
        parser.add_argument(
            f"--{stage.name}",
            metavar="FLAGS",
            default="",
            help=f"settings of {stage.name} in one word, such as --{stage.name}='--FLAG VALUE', "
            f"with the flags of `ligen stage {stage.name}`",
        )
    parser.add_argument(
        "--again",
        nargs="*",
        type=Path,
        default=[],
        metavar="FILE",
        help="files named as stages: a stage runs again until this has noted, in the folder `done` "
        "beside them, that it has with the file's content",
    )
    parser.add_argument(
        "--drop",
        action="append",
        choices=BETWEEN,
        default=[],
        metavar="KIND",
        help="file of which only the run record is kept when all is done: %(choices)s; repeatable",
    )
    cli.add_device(parser, "of several the least used one: 'gpu:0,1', or 'all' for every GPU")
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    given = vars(options)
    stages = screen(options.search)
    files = {kind: given[kind] for kind in (*INPUTS, *(stage.kind for stage in stages))}
    settings = {
        stage.name: cli.section_from(stage.settings, given[stage.name], f"--{stage.name}")
        for stage in stages
    }
    again = asked_again(options.again, options.scores)
    first = stale(stages, files, settings, again, options.drop)
    for stage in stages[:first]:
        log.info("%s: kept %s", stage.name, files[stage.kind])
    run(stages[first:], files, settings, options.device)
    for kind in options.drop:
        drop_rows(files[kind], KINDS[kind])
    note_again(options.again, options.scores)


def run(
    stages: Sequence[Stage],
    files: Mapping[str, Path],
    settings: Mapping[str, Section],
    device: str | None,
) -> None:
    """Run some stages of a chunk, one after another, with records in memory between them.

    Of several devices that `device` names they use the one that the fewest other processes do.
    Raises what the stages raise; what those before the failed one have made is written.
    """
    with ThreadPoolExecutor(1) as reader, handing_on() as memory:
        # While the modules of the first stage are loaded, and while the device docks.
        reader.submit(copy_context().run, _read_ahead, files, settings)
        device = take_one(device)
        for number, stage in enumerate(stages):
            inputs = {flag: files[kind] for flag, kind in stage.inputs.items()}
            stage.run_logged(inputs, settings[stage.name], device, files[stage.kind])
            later = {kind for after in stages[number + 1 :] for kind in after.inputs.values()}
            for kind in set(stage.inputs.values()) - later:
                memory.forget(files[kind])


def _read_ahead(files: Mapping[str, Path], settings: Mapping[str, Any]) -> None:
    """Read what all stages need of ligands and pocket; a stage says what is wrong with a file."""
    with suppress(InputError):
        ligands = read(files["ligands"], LIGANDS, Ligands)
        functions = (settings["refine"].field, *settings["score"].functions)
        read_typed(functions, files["ligands"], files["pocket"], ligands)


if __name__ == "__main__":
    sys.exit(main())
