"""Pick molecules of a campaign to buy or make: the best of a target, no two too much alike.

Takes the ranking from the best on and leaves out what would be one too many of its scaffold
(Bemis-Murcko), too similar to a molecule already picked, or, with --undoubted, what the report's
list would mark with a doubt. Writes CSV, SDF or SMILES, as the ending of --output says, or CSV to
the terminal.
"""

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ligen_py import cli, granted
from ligen_py.errors import InputError, UsageError
from ligen_py.molecules.export import one_line, sdf_record
from ligen_py.molecules.hits.similarity import pick, scaffold
from ligen_py.store.campaign.layout import Pose
from ligen_py.store.campaign.reader import CampaignReader, TargetReader, open_campaign
from ligen_py.store.files.text import csv_line, harmless, write_texts
from ligen_py.summary.dossier import dossier_of
from ligen_py.summary.facts import targets_of
from ligen_py.summary.molecule import MOST_COLUMNS, columns, facts

log = logging.getLogger("ligen_py")

SUFFIXES = (".csv", ".sdf", ".smi")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = cli.parser("ligen_py.pick", __doc__)
    parser.add_argument("campaign", type=cli.input_file, help="campaign file")
    parser.add_argument("--target", help="target whose ranking counts (default: the only one)")
    parser.add_argument(
        "--count", type=cli.at_least(1), default=96, metavar="N", help="molecules (default: 96)"
    )
    parser.add_argument(
        "--max-per-scaffold",
        type=cli.at_least(1),
        default=3,
        metavar="N",
        help="most molecules of one scaffold; those without rings count as one (default: 3)",
    )
    parser.add_argument(
        "--max-similarity",
        type=float,
        default=1.0,
        metavar="X",
        help="largest Tanimoto similarity, of Morgan fingerprints, to a molecule already picked "
        "(default: 1, any)",
    )
    parser.add_argument(
        "--undoubted",
        action="store_true",
        help="leave out what the report's list would mark with a doubt",
    )
    parser.add_argument("--output", type=Path, help="file to write: .csv, .sdf or .smi")
    return cli.run(parser, argv, _run)


def _run(options: argparse.Namespace) -> None:
    output: Path | None = options.output
    if not 0 < options.max_similarity <= 1:
        raise UsageError(f"--max-similarity {options.max_similarity:g}: give more than 0, up to 1")
    if output is not None and output.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--output {output}: end the name with one of {', '.join(SUFFIXES)}")
    with open_campaign(options.campaign) as campaign:
        target = campaign.target(_name(options, campaign))
        chosen, limits = _chosen(options, campaign, target)
        rows = _rows(campaign, target, chosen)
        if output is None:
            sys.stdout.writelines(_csv(target, rows))
        else:
            kinds = {".csv": lambda: _csv(target, rows), ".sdf": lambda: _sdf(rows)}
            text = kinds.get(output.suffix.lower(), lambda: _smiles(rows))()
            write_texts(output.parent, {output.name: text})
    advice = _advice(options, len(chosen), target, limits)
    if advice:
        log.warning(
            "picked %d, not %d, of the %d molecules with poses in the campaign; %s",
            len(chosen),
            options.count,
            target.stored,
            ", or ".join(advice),
        )
    else:
        log.info("picked %d of %d molecules", len(chosen), target.stored)


def _advice(
    options: argparse.Namespace, chosen: int, target: TargetReader, limits: list[str]
) -> list[str]:
    """What would give more molecules, where fewer were chosen than asked for and there are more."""
    advice = []
    if chosen < min(options.count, target.stored):
        advice.append(f"loosen {', '.join(limits)}")
    if chosen < options.count and target.stored < target.size:
        advice.append("set a larger aggregate.top_poses and run again")
    return advice


def _name(options: argparse.Namespace, campaign: CampaignReader) -> str:
    if options.target:
        return str(options.target)
    if len(campaign.targets) > 1:
        raise UsageError(f"give --target, one of: {', '.join(campaign.targets)}")
    return campaign.targets[0]


def _chosen(
    options: argparse.Namespace, campaign: CampaignReader, target: TargetReader
) -> tuple[list[int], list[str]]:
    """Places of the ranking, from 0, that are picked, and the flags that left others out."""
    if not target.stored:
        raise InputError(f"{options.campaign}: contains no pose of target {target.name}")
    limits = options.max_per_scaffold, options.max_similarity
    ranked = target.best(target.stored).row
    smiles = target.structures(ranked)
    # Doubts take a look at each pose, and few may be enough.
    among = min(target.stored, 2 * options.count) if options.undoubted else target.stored
    while True:
        places = _undoubted(campaign, target, among) if options.undoubted else list(range(among))
        open_to = [smiles[int(ranked[place])] for place in places]
        chosen = [places[i] for i in pick(open_to, options.count, *limits)]
        if len(chosen) == options.count or among == target.stored:
            return chosen, _limits(options, open_to, among)
        among = min(target.stored, 4 * among)


def _limits(options: argparse.Namespace, open_to: Sequence[str], among: int) -> list[str]:
    """Flags that left out some of the first `among` molecules; `open_to`: SMILES without doubt."""
    limits = []
    if max(Counter(map(scaffold, open_to)).values(), default=0) > options.max_per_scaffold:
        limits.append(f"--max-per-scaffold {options.max_per_scaffold}")
    if options.max_similarity < 1:
        limits.append(f"--max-similarity {options.max_similarity:g}")
    if len(open_to) < among:
        limits.append("--undoubted")
    return limits


def _undoubted(campaign: CampaignReader, target: TargetReader, among: int) -> list[int]:
    """Places of the first so many in which the report's list marks no doubt."""
    (about,) = (one for one in targets_of(campaign, 1, {}) if one.name == target.name)
    found = dossier_of(campaign, about, among, {}, granted.cores())
    return sorted(row.rank - 1 for row in found.hits if not row.doubts)


Rows = Iterator[tuple[dict[str, str], Pose]]


def _rows(campaign: CampaignReader, target: TargetReader, places: Sequence[int]) -> Rows:
    """What is written of each molecule, and its pose."""
    best = target.ranked(0, max(places, default=-1) + 1)
    others = target.others(best.row[list(places)])
    for place in places:
        (pose,) = target.poses(place + 1, place)
        names = others.get(int(best.row[place]), [])
        row = facts(target.name, campaign, best, place, pose, names)
        yield {**row, "scaffold": scaffold(pose.smiles)}, pose


def _csv(target: TargetReader, rows: Rows) -> Iterator[str]:
    header = columns(target.terms, target.input_columns(target.stored, MOST_COLUMNS))
    header.insert(header.index("smiles") + 1, "scaffold")
    yield csv_line(map(harmless, header))
    for row, _ in rows:
        yield csv_line(harmless(one_line(row.get(name, ""))) for name in header)


def _sdf(rows: Rows) -> Iterator[str]:
    for row, pose in rows:
        yield sdf_record(pose.molecule, pose.xyz, row["name"], row)


def _smiles(rows: Rows) -> Iterator[str]:
    for row, pose in rows:
        yield f"{pose.smiles}\t{one_line(row['name'])}\n"


if __name__ == "__main__":
    sys.exit(main())
