"""Write the best poses of a campaign for people and other programs: SDF and CSV per target.

Reads a campaign file, writes `{target}.sdf` and `{target}.csv` into a folder: the best ligands,
best first. Files of other names in the folder are left alone. With --pose any single pose is made
again from its genotype and written as `{target}-pose.sdf`.
"""

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ligen_py import cli
from ligen_py.engine.geometry import rebuild
from ligen_py.errors import InputError
from ligen_py.molecules.export import one_line, sdf_record
from ligen_py.settings.export import ExportSettings
from ligen_py.store.campaign.any_pose import find_poses
from ligen_py.store.campaign.layout import Pose
from ligen_py.store.campaign.manifest import read_manifest
from ligen_py.store.campaign.reader import CampaignReader, TargetReader, open_campaign
from ligen_py.store.files.text import csv_line, harmless, write_texts
from ligen_py.summary.molecule import MOST_COLUMNS, columns, facts

log = logging.getLogger("ligen_py")

PIECE = 1000
"""Ligands read and written at a time."""


class Inputs(NamedTuple):
    """Files that the stage reads."""

    campaign: Path
    manifest: Path | None = None
    """If given, what the campaign must be made from."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.export", __doc__, ExportSettings)
    parser.add_argument("--campaign", type=cli.input_file, required=True, help="file to read")
    parser.add_argument(
        "--manifest", type=cli.input_file, help="if given, what the campaign must be made from"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder to write into")
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
    inputs = Inputs(options.campaign, options.manifest)
    if options.pose:
        _write_pose(inputs, options.pose, options.output)
    else:
        run(inputs, settings, None, options.output)


def run(inputs: Inputs, settings: ExportSettings, device: str | None, output: Path) -> None:
    """Write the best ligands of every target into the folder `output`."""
    texts: dict[str, Iterator[str]] = {}
    with _opened(inputs) as campaign:
        for name in campaign.targets:
            target = campaign.target(name)
            _require_poses(inputs.campaign, name, target, settings.count)
            texts[f"{name}.sdf"] = _sdf(name, campaign, target, settings.count)
            texts[f"{name}.csv"] = _csv(name, campaign, target, settings.count)
        write_texts(output, texts)
    log.info("wrote %s into %s", ", ".join(texts), output)


def _write_pose(inputs: Inputs, pose: Sequence[str], output: Path) -> None:
    with _opened(inputs) as campaign:
        name = campaign.target(pose[0]).name
    write_texts(output, {f"{name}-pose.sdf": _any_pose(inputs, pose)})
    log.info("wrote %s-pose.sdf into %s", name, output)


@contextmanager
def _opened(inputs: Inputs) -> Iterator[CampaignReader]:
    """The campaign, once it has been compared with the manifest that is given."""
    with open_campaign(inputs.campaign) as campaign:
        if inputs.manifest:
            _require_manifest(inputs.campaign, campaign, inputs.manifest)
        yield campaign


def _require_manifest(path: Path, campaign: CampaignReader, manifest: Path) -> None:
    if read_manifest(manifest).digest() not in campaign.attributes["inputs"]:
        raise InputError(f"{path}: was not made from {manifest} as it is now; run aggregate again")


def _require_poses(path: Path, name: str, target: TargetReader, count: int) -> None:
    if target.stored < min(count, target.size):
        raise InputError(
            f"{path}: contains {target.stored} poses of target {name}, fewer than the {count} "
            f"asked for; give a smaller --count, or run aggregate again with --top-poses {count}"
        )


def _rows(
    name: str, campaign: CampaignReader, target: TargetReader, count: int
) -> Iterator[tuple[dict[str, str], Pose]]:
    """What is reported of each ligand, and its best pose."""
    for start in range(0, min(count, target.size), PIECE):
        best = target.ranked(start, min(start + PIECE, count))
        others = target.others(best.row)
        for i, pose in enumerate(target.poses(start + len(best.rank), start)):
            names = others.get(int(best.row[i]), [])
            yield facts(name, campaign, best, i, pose, names), pose


def _sdf(*of: Any) -> Iterator[str]:
    for row, pose in _rows(*of):
        yield sdf_record(pose.molecule, pose.xyz, row["name"], row)


def _csv(*of: Any) -> Iterator[str]:
    target, count = of[2:]
    header = columns(target.terms, target.input_columns(count, MOST_COLUMNS))
    yield csv_line(map(harmless, header))
    for row, _ in _rows(*of):
        yield csv_line(harmless(one_line(row.get(key, ""))) for key in header)


def _any_pose(inputs: Inputs, pose: Sequence[str]) -> Iterator[str]:
    """The SDF records of the poses that --pose names, rebuilt from their genotypes."""
    target, ligand, restart = pose
    if not restart.isdecimal():
        raise InputError(f"--pose: restart {restart} is not a number from 0")
    path = inputs.manifest or inputs.campaign.with_name("manifest.tsv")
    for found in find_poses(read_manifest(path).found_from(path), target, ligand, int(restart)):
        (xyz,) = rebuild(*found.genotype)
        yield sdf_record(found.molecule, xyz, found.items["name"], found.items)


if __name__ == "__main__":
    sys.exit(main())
