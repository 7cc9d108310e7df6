"""Write the best poses of a campaign for people and other programs: a set of files per target.

Reads a campaign file and the manifest beside it, writes into a folder: the best ligands, best
first, as `{target}.sdf`, `.csv` and `.parquet`, the receptor as it was prepared (PDB), the
reference ligand, and scripts that show all of it in PyMOL (.pml) and ChimeraX (.cxc). What networks
say becomes columns, and `{target}-network.sdf` has their poses; those of the energies stay where
they are. What an earlier export has written of these targets, and this one does not, is deleted,
but for a reference ligand whose source is gone; all other files in the folder are left alone. With
--pose any single pose is made again from its genotype and written as `{target}-pose.sdf`, with
--pdbqt as PDBQT, too.
"""

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ligen_py import cli
from ligen_py.engine.geometry import rebuild
from ligen_py.errors import InputError
from ligen_py.molecules.library.record import clean_name
from ligen_py.records.ligands import LIGANDS
from ligen_py.settings.export import ExportSettings
from ligen_py.store.campaign.any_pose import find_poses
from ligen_py.store.campaign.exported import keep_lists, warn_of_lost_crystals
from ligen_py.store.campaign.judged import Beside
from ligen_py.store.campaign.known import KnownFiles
from ligen_py.store.campaign.listed import has_pockets, listed
from ligen_py.store.campaign.manifest import Manifest
from ligen_py.store.campaign.reader import CampaignReader, TargetReader, open_campaign
from ligen_py.store.files.read import content_of
from ligen_py.store.files.text import write_texts
from ligen_py.target_files import Files, Posed, PoseTexts, TargetFiles, pose_files, write_apart

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """Files that the stage reads."""

    campaign: Path
    manifest: Path | None = None
    """If given, what the campaign must be made from; else the one beside it is used."""
    name: str | None = None
    """What the names of the files start with, of a campaign of one target: not the target's."""
    reference: Path | None = None
    """Reference ligand that the scripts show where the campaign has no control."""
    networks: Path | None = None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.export", __doc__, ExportSettings)
    campaign = parser.add_mutually_exclusive_group(required=True)
    what = "campaign file of `aggregate`"
    campaign.add_argument("file", metavar="campaign", nargs="?", type=cli.input_file, help=what)
    campaign.add_argument("--campaign", type=cli.input_file, help="the same, as the workflow says")
    what = "if given, what the campaign must be made from"
    parser.add_argument("--manifest", type=cli.input_file, help=what)
    what = "file of `networks`, to be written, too"
    parser.add_argument("--networks", type=cli.input_file, help=what)
    parser.add_argument("--output", type=Path, required=True, help="folder to write into")
    what = "file that names what is written; what it named before and is not written now is deleted"
    parser.add_argument("--list", type=Path, help=what)
    parser.add_argument(
        "--pose",
        nargs=3,
        metavar=("TARGET", "LIGAND", "RESTART"),
        help="write one pose of the ligand of this name instead (manifest: by default the "
        "manifest.tsv beside the campaign file)",
    )
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    settings: ExportSettings = cli.settings_from(ExportSettings, options)
    campaign = options.file or options.campaign
    inputs = Inputs(campaign, options.manifest, networks=options.networks)
    if options.pose:
        _write_pose(inputs, options.pose, options.output, settings.pdbqt)
        return
    names, manifest = run(inputs, settings, None, options.output)
    keep_lists(options.list, options.output, names, manifest)


def run(
    inputs: Inputs, settings: ExportSettings, device: str | None, output: Path
) -> tuple[list[str], Manifest | None]:
    """Write every target's files into a folder; returns their names, and the manifest if found."""
    texts: Files = {}
    with open_campaign(inputs.campaign) as campaign:
        manifest = _manifest(inputs, campaign, settings)
        warn_of_lost_crystals(manifest, output)
        judged = Beside(inputs.campaign, inputs.networks) if inputs.networks else None
        for name in campaign.targets:
            target, said = campaign.target(name), judged.of(name) if judged else None
            count = settings.count_of(target.stored)
            _require_poses(inputs.campaign, name, target, count)
            there = _needs_all(inputs, settings) or has_pockets(manifest, name)
            whole = manifest if there else None
            found = TargetFiles(campaign, target, count, settings.poses, whole, said)
            texts |= found.files(inputs.name or name, inputs.reference, settings.pdbqt)
        write_apart(output, texts, manifest)
    log.info("wrote %d files into %s", len(texts), output)
    return list(texts), manifest


def _manifest(
    inputs: Inputs, campaign: CampaignReader, settings: ExportSettings
) -> Manifest | None:
    """The campaign's manifest; None where it is not here, and is not needed."""
    try:
        return listed(inputs.campaign, campaign, inputs.manifest)
    except InputError as error:
        if _needs_all(inputs, settings):
            raise
        log.warning("%s; receptor and scripts are left out", error)
        return None


def _needs_all(inputs: Inputs, settings: ExportSettings) -> bool:
    """Whether what is asked for cannot be written without the campaign's other files."""
    return inputs.manifest is not None or settings.poses > 1 or settings.pdbqt


def _write_pose(inputs: Inputs, pose: Sequence[str], output: Path, pdbqt: bool) -> None:
    with open_campaign(inputs.campaign) as campaign:
        name = campaign.target(pose[0]).name
        files = pose_files(name, list(_any_pose(inputs, campaign, pose, pdbqt)))
    write_texts(output, files)
    log.info("wrote %s into %s", ", ".join(files), output)


def _require_poses(path: Path, name: str, target: TargetReader, count: int) -> None:
    if target.stored < min(count, target.size):
        raise InputError(
            f"{path}: contains {target.stored} poses of target {name}, fewer than the {count} "
            f"asked for; give a smaller --count, or a larger aggregate.top_poses and run again"
        )


def _any_pose(
    inputs: Inputs, campaign: CampaignReader, pose: Sequence[str], pdbqt: bool
) -> Iterator[PoseTexts]:
    """The poses that --pose names, rebuilt from their genotypes."""
    target, ligand, restart = pose
    if not restart.isdecimal():
        raise InputError(f"--pose: restart {restart} is not a number from 0")
    manifest, known = listed(inputs.campaign, campaign, inputs.manifest), KnownFiles(campaign)
    for found in find_poses(manifest, known, target, clean_name(ligand), int(restart)):
        with content_of(found.source, LIGANDS):
            (xyz,) = rebuild(*found.genotype)
            yield PoseTexts.of(Posed(found.molecule, xyz, found.items), pdbqt)


if __name__ == "__main__":
    sys.exit(main())
