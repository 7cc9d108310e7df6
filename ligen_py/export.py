"""Write the best poses of a campaign for people and other programs: SDF and CSV per target.

Reads a campaign file, writes `{target}.sdf` and `{target}.csv` into a folder: the best ligands,
best first. Files of other names in the folder are left alone.
"""

import argparse
import csv
import io
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ligen_py import cli
from ligen_py.errors import InputError
from ligen_py.molecules.export import one_line, sdf_record
from ligen_py.settings import ExportSettings
from ligen_py.store.campaign import Pose
from ligen_py.store.campaign_reader import CampaignReader, Ranked, TargetReader, open_campaign
from ligen_py.store.manifest import read_manifest
from ligen_py.store.text import harmless, write_texts

log = logging.getLogger("ligen_py")

FREE = ("name", "other_names")
"""Columns whose text comes from outside."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.export", __doc__, ExportSettings)
    parser.add_argument("--campaign", type=cli.input_file, required=True, help="file to read")
    parser.add_argument(
        "--manifest", type=cli.input_file, help="if given, the campaign must have been made from it"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder to write into")
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    settings: ExportSettings = cli.settings_from(ExportSettings, options)
    texts: dict[str, str] = {}
    with open_campaign(options.campaign) as campaign:
        if options.manifest:
            _require_manifest(options.campaign, campaign, options.manifest)
        for name in campaign.targets:
            target = campaign.target(name)
            _require_poses(options.campaign, name, target, settings.count)
            best, poses = target.best(settings.count), list(target.poses(settings.count))
            rows = list(_rows(name, campaign.libraries, target, best, poses))
            texts[f"{name}.sdf"] = "".join(
                sdf_record(pose.molecule, pose.xyz, row["name"], row)
                for row, pose in zip(rows, poses, strict=True)
            )
            texts[f"{name}.csv"] = _table(rows, best)
    write_texts(options.output, texts)
    log.info("wrote %s into %s", ", ".join(texts), options.output)


def _require_manifest(path: Path, campaign: CampaignReader, manifest: Path) -> None:
    if read_manifest(manifest).digest() not in campaign.attributes["inputs"]:
        raise InputError(f"{path}: was not made from {manifest} as it is now; run aggregate again")


def _require_poses(path: Path, name: str, target: TargetReader, count: int) -> None:
    if target.stored < min(count, target.size):
        raise InputError(
            f"{path}: holds {target.stored} poses of target {name}, fewer than the {count} asked "
            f"for; give a smaller --count, or run aggregate again with --top-poses {count}"
        )


def _rows(
    name: str, libraries: list[str], target: TargetReader, best: Ranked, poses: Sequence[Pose]
) -> Iterator[dict[str, str]]:
    """What is told of each ligand, as text: its properties in the SDF, its cells in the CSV."""
    scored, others = best.scored, target.others(best.row)
    for i, pose in enumerate(poses):
        yield {
            "target": name,
            "rank": str(best.rank[i]),
            "name": one_line(str(scored.name[i])),
            "score": str(scored.score[i]),
            **{name.replace("/", "."): str(values[i]) for name, values in best.terms.items()},
            "smiles": pose.smiles,
            "state": pose.state,
            "states": str(scored.states[i]),
            "other_names": "; ".join(map(one_line, others.get(int(best.row[i]), ()))),
            "note": scored.note[i],
            "library": libraries[scored.library[i]],
            "line": str(scored.line[i]),
            "key": str(scored.key[i]),
            "restart": str(scored.restart[i]),
        }


def _table(rows: Sequence[dict[str, str]], best: Ranked) -> str:
    """The rows as CSV (RFC 4180 but for the line ends: LF), one row a line."""
    terms = [name.replace("/", ".") for name in best.terms]
    first, last = ("rank", "name", "score"), ("library", "line", "other_names", "note")
    header = [*first, *terms, "smiles", "state", "states", *last]
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(header)
    for row in rows:
        table.writerow([harmless(row[key]) if key in FREE else row[key] for key in header])
    return stream.getvalue()


if __name__ == "__main__":
    sys.exit(main())
