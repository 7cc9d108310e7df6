"""Let gnina's networks judge the kept poses of the best molecules of a campaign.

Reads a campaign file, its manifest, and the ligands, pocket, refined and scores files of the parts
that the best molecules lie in; writes a networks file: what the networks say of each kept pose of a
molecule's best state, and the pose of lowest energy - weight * logit. The campaign file, its
ranking and its poses stay as they are. The redocked crystal ligand of each target is judged, too.

  ligen stage networks --campaign results/campaign.h5 --best 500 --output results/networks.h5
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py import cli
from ligen_py.engine.functions.gnina.constants import NETWORKS as FILES
from ligen_py.engine.functions.gnina.device import Ensemble
from ligen_py.engine.functions.gnina.weights import load
from ligen_py.errors import InputError
from ligen_py.judging import Judge, groups, judged, together
from ligen_py.opencl.device import select
from ligen_py.provenance import Input, Run
from ligen_py.records.networks import NETWORKS
from ligen_py.settings.networks import NetworksSettings
from ligen_py.store.campaign.manifest import read_manifest
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.write import write

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """What the stage reads."""

    campaign: Path
    manifest: Path | None = None
    """None: manifest.tsv beside the campaign file."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.networks", __doc__, NetworksSettings)
    parser.add_argument("--campaign", type=cli.input_file, required=True, help="campaign file")
    parser.add_argument(
        "--manifest", type=cli.input_file, help="its manifest (default: manifest.tsv beside it)"
    )
    parser.add_argument("--output", type=Path, required=True, help="networks file to write")
    cli.add_device(parser)
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    settings: NetworksSettings = cli.settings_from(NetworksSettings, options)
    if not settings.best:
        raise InputError("command line: give --best, the number of molecules to judge")
    run(Inputs(options.campaign, options.manifest), settings, options.device, options.output)


def run(inputs: Inputs, settings: NetworksSettings, device: str | None, output: Path) -> None:
    """Judge the poses of the best molecules and write the networks file."""
    networks = load(FILES)
    path = inputs.manifest or inputs.campaign.with_name("manifest.tsv")
    if not path.is_file():
        raise InputError(f"{path}: does not exist; name the campaign's manifest by --manifest")
    manifest, chosen = read_manifest(path).found_from(path), select(device)
    with open_campaign(inputs.campaign) as campaign:
        campaign.require_made_from(path, manifest)
        size = sum(min(settings.best, campaign.target(name).size) for name in campaign.targets)
        judge = Judge(chosen, Ensemble(chosen, networks), size)
        pieces, place = [], [np.empty(0, "i8")]
        for group in groups(campaign, manifest, settings.best):
            pieces.append(judged(group, judge.terms(group), settings.weight))
            place.append(group.place)
    found = together(pieces, np.concatenate(place))
    weights = (Input(f"{name}.pt", digest) for name, digest in FILES.items())
    made_by = Run(
        "networks", settings, (inputs.campaign, manifest.input(), *weights), chosen.origin
    )
    write(output, NETWORKS, made_by, {"networks": found})
    log.info(
        "judged %d poses of %d molecules; the networks choose another pose of %d",
        len(found.restart),
        len(found.rank),
        np.count_nonzero(found.network != found.physics),
    )


if __name__ == "__main__":
    sys.exit(main())
