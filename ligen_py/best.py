"""Choose the best molecules of a campaign, to be docked into anti-targets: a ligands file.

Their states and conformers are those that were docked into the target.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py import cli
from ligen_py.errors import InputError
from ligen_py.provenance import Run
from ligen_py.settings.best import BestSettings
from ligen_py.store.campaign.best import Origin, best_molecules
from ligen_py.store.campaign.manifest import Manifest, read_manifest
from ligen_py.store.campaign.part import lines_of
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.some_ligands import write_chosen

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """What the stage reads."""

    campaign: Path
    manifest: Path
    targets: tuple[str, ...]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.best", __doc__, BestSettings)
    parser.add_argument("--campaign", type=cli.input_file, required=True, help="campaign file")
    parser.add_argument("--manifest", type=cli.input_file, required=True, help="its manifest")
    parser.add_argument("--targets", nargs="+", required=True, help="targets as they are ranked")
    parser.add_argument("--output", type=Path, required=True, help="ligands file to write")
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    inputs = Inputs(options.campaign, options.manifest, tuple(options.targets))
    run(inputs, cli.settings_from(BestSettings, options), None, options.output)


def run(inputs: Inputs, settings: BestSettings, device: str | None, output: Path) -> None:
    """Write the best molecules of each target, those of the first one first, each once."""
    with open_campaign(inputs.campaign) as campaign:
        wanted = best_molecules(campaign, inputs.targets, settings.best)
    manifest = read_manifest(inputs.manifest).found_from(inputs.manifest)
    places = _places(manifest, inputs.targets, set(wanted))
    missing = [origin for origin in wanted if origin not in places]
    if missing:
        raise InputError(
            f"{inputs.manifest}: no ligands file has {missing[0].file}, line {missing[0].line}, "
            f"which {inputs.campaign} ranks; run 'ligen run CONFIG' again"
        )
    chosen = [places[origin] for origin in wanted]
    like = next(part.ligands for part in manifest.parts if part.target in inputs.targets)
    write_chosen(chosen, Run("best", settings, (inputs.campaign,)), output, like)
    log.info("%d molecules of %s", len(chosen), ", ".join(inputs.targets))


def _places(
    manifest: Manifest, targets: Sequence[str], wanted: set[Origin]
) -> dict[Origin, tuple[Path, int]]:
    """The ligands file and row of each molecule."""
    files = {
        part.ligands: (part.library, part.file)
        for part in manifest.parts
        if part.target in targets and not part.control
    }
    found: dict[Origin, tuple[Path, int]] = {}
    for path, (library, file) in files.items():
        lines = {one.line: one for one in wanted if (one.library, one.file) == (library, file)}
        if not lines:
            continue
        line = lines_of(path)
        for row in np.flatnonzero(np.isin(line, list(lines))):
            found[lines[int(line[row])]] = path, int(row)
    return found


if __name__ == "__main__":
    sys.exit(main())
