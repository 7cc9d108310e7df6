"""Put all parts of a campaign together: rankings, best poses, ledger, redocking controls.

Reads the manifest, a table with one row per pocket, library and chunk. For every target all input
records must be accounted for, as scored, rejected, failed or duplicate, or nothing is written.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from contextlib import closing
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

from ligen_py import cli, granted
from ligen_py.aggregation.best_poses import BestPoses, reference_poses
from ligen_py.aggregation.chunk import Chunk
from ligen_py.aggregation.ranked import Molecules
from ligen_py.engine.scoring.drift import Drift
from ligen_py.errors import InputError
from ligen_py.molecules.workers import each
from ligen_py.provenance import Run
from ligen_py.redocking import redock
from ligen_py.settings.aggregate import AggregateSettings
from ligen_py.store.campaign.layout import Control
from ligen_py.store.campaign.lineage import Lineage, Origin
from ligen_py.store.campaign.manifest import Manifest, PartFiles, read_manifest
from ligen_py.store.campaign.site import other_places, read_site
from ligen_py.store.campaign.verdicts import read_verdicts
from ligen_py.store.campaign.writer import CampaignWriter, control_of, new_campaign

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """What the stage reads, and what the campaign's config says of it."""

    manifest: Path
    parts: str | None = None
    """Digest of the parts that the config describes; None: the manifest is used as it is."""
    effort: str = ""
    """Effort of the config, to be stored."""
    verdicts: Sequence[Path] = ()
    """What the controls showed, to be stored."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.aggregate", __doc__, AggregateSettings)
    parser.add_argument("--manifest", type=cli.input_file, required=True, help="table of all parts")
    parser.add_argument("--output", type=Path, required=True, help="campaign file to write")
    parser.add_argument(
        "--parts",
        metavar="DIGEST",
        help="digest of the parts that the config describes, as the workflow computes it; a "
        "manifest that lists other parts is an error (default: not compared)",
    )
    parser.add_argument(
        "--effort", default="", metavar="NAME", help="effort of the config, to be stored"
    )
    parser.add_argument(
        "--verdicts",
        type=cli.input_file,
        nargs="*",
        default=(),
        metavar="FILE",
        help="JSON files of `controls`, to be stored",
    )
    parser.add_argument(
        "--jobs",
        type=cli.at_least(1),
        default=granted.cores(),
        metavar="N",
        help="processes that read parts; results do not depend on it (default: all cores)",
    )
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    inputs = Inputs(options.manifest, options.parts, options.effort, options.verdicts)
    settings = cli.settings_from(AggregateSettings, options)
    run(inputs, settings, None, options.output, options.jobs)


def run(
    inputs: Inputs,
    settings: AggregateSettings,
    device: str | None,
    output: Path,
    jobs: int = 1,
) -> None:
    """Merge all parts of the manifest, read by `jobs` processes, and write the campaign file."""
    manifest, lineage = _manifest(inputs), Lineage()
    numbers = {file: number for number, file in enumerate(manifest.files)}
    names = [name for _, name in numbers]
    made_by = Run("aggregate", settings, (manifest.input(),))
    places = product(manifest.targets, manifest.libraries)
    chunks = {place: manifest.chunks(*place) for place in places}
    every = [members for some in chunks.values() for members in some]
    reading = each(Chunk.of, every, min(jobs, len(every)))
    with new_campaign(output, made_by, inputs.effort) as campaign, closing(reading):
        for target in manifest.targets:
            writer = campaign.target(target)
            molecules, best = Molecules(writer, output), BestPoses(writer, output, jobs)
            for number, library in enumerate(manifest.libraries):
                drift = Drift(settings.max_drift)
                for files, chunk in islice(reading, len(chunks[target, library])):
                    part, ligands, hashes, origins = chunk
                    file, name = numbers[library, files[0].file], files[0].label
                    campaign.append_parts(lineage.add(files, origins, len(part.status)))
                    molecules.add(part, ligands, hashes, file)
                    best.add(part, ligands, files)
                    writer.append(part, ligands, number, file, name)
                    writer.add_checks(drift.checks(part.score[ligands], name), number, name)
            out = molecules.take_out_duplicates(manifest.libraries, names)
            if settings.rank_by == "consensus":
                molecules.rank_by_consensus()
            best.store(molecules.ranking(out, settings.top_poses))
            members = manifest.control(target)
            control = _control(campaign, lineage, members)
            pockets = chunks[target, manifest.libraries[0]][0]
            site = read_site(pockets)
            if said := other_places(pockets):
                log.warning("%s: %s", target, said)
            writer.finish(control, site, reference_poses(members or pockets))
            log.info("%s: ranked %d molecules", target, writer.rows - out)
        verdicts = read_verdicts(inputs.verdicts)
        campaign.finish(manifest.libraries, names, lineage.runs(), verdicts)


def _manifest(inputs: Inputs) -> Manifest:
    manifest = read_manifest(inputs.manifest)
    if inputs.parts is None:
        log.info("%s: not compared with a config", inputs.manifest)
    elif manifest.digest() != inputs.parts:
        raise InputError(
            f"{inputs.manifest}: is stale, it lists other parts than the config describes; delete "
            "it and run the campaign again"
        )
    return manifest


def _control(campaign: CampaignWriter, lineage: Lineage, members: Sequence[PartFiles]) -> Control:
    """Redock a target's reference ligand: the first record of the control's ligands file."""
    if not members or members[0].crystal is None:
        return control_of(None)
    found = redock(members)
    origins = [Origin.of(files) for files in members]
    campaign.append_parts(lineage.add(members, origins, len(found.part.status)))
    return control_of(found.part, found.poses, rmsd=found.rmsd, problem=found.problem)


if __name__ == "__main__":
    sys.exit(main())
