"""Let a campaign go on after its controls, or stop it: the libraries wait for this."""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ligen_py import cli
from ligen_py.errors import InputError
from ligen_py.settings.controls import AcceptSettings
from ligen_py.store.campaign.verdicts import read_verdict
from ligen_py.store.files.text import write_texts

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """What the stage reads."""

    verdict: Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.accept", __doc__, AcceptSettings)
    parser.add_argument(
        "--verdict", type=cli.input_file, required=True, help="JSON file of `controls`"
    )
    parser.add_argument("--output", type=Path, required=True, help="file to write if accepted")
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    settings = cli.settings_from(AcceptSettings, options)
    run(Inputs(options.verdict), settings, None, options.output)


def run(inputs: Inputs, settings: AcceptSettings, device: str | None, output: Path) -> None:
    """Write `output`; InputError where a control failed and the campaign is to stop."""
    verdict = read_verdict(inputs.verdict)
    target, passed, sentence = verdict["target"], verdict["passed"], verdict["sentence"]
    if not passed and settings.below == "stop":
        raise InputError(
            f"{sentence}; see {inputs.verdict.with_suffix('.txt')}; correct the target, or set "
            f"'below: warn' in the config at 'controls', '{target}', to go on"
        )
    if not passed:
        log.warning("%s", sentence)
    write_texts(output.parent, {output.name: text_of(sentence)})


def text_of(sentence: str) -> bytes:
    """What the file says, UTF-8: the sentence of the verdict."""
    return f"{sentence}\n".encode()


if __name__ == "__main__":
    sys.exit(main())
