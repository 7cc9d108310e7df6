"""Compare the scores of the best molecules in their target with those in its anti-targets.

Reads the campaign, the ligands file of `best`, and the scores files of these ligands in each
anti-target; writes selectivity.tsv: rank, score, the best score in an anti-target, the difference.
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
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.scores import SCORES, Scores
from ligen_py.settings.best import BestSettings
from ligen_py.store.campaign.best import Origin, origins
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.inputs import require_made_from
from ligen_py.store.files.read import read, read_columns
from ligen_py.store.files.text import write_texts
from ligen_py.summary.antitargets import Row, higher, table, unlisted

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """What the stage reads."""

    campaign: Path
    ligands: Path
    panel: Path
    targets: tuple[str, ...]
    scores: dict[str, Path]
    """Of each anti-target, by accession."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.selectivity", __doc__, BestSettings)
    parser.add_argument("--campaign", type=cli.input_file, required=True, help="campaign file")
    parser.add_argument("--ligands", type=cli.input_file, required=True, help="file of `best`")
    parser.add_argument("--panel", type=cli.input_file, required=True, help="panel.tsv of `panel`")
    parser.add_argument("--targets", nargs="+", required=True, help="targets as in `best`")
    parser.add_argument("--names", nargs="+", required=True, help="accessions of anti-targets")
    parser.add_argument(
        "--scores", type=cli.input_file, nargs="+", required=True, help="their scores files"
    )
    parser.add_argument("--output", type=Path, required=True, help="table to write")
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    if len(options.names) != len(options.scores):
        raise InputError("command line: give one file of --scores for each of --names")
    if twice := {name for name in options.names if options.names.count(name) > 1}:
        raise InputError(f"command line: --names has {min(twice)} twice; give each one once")
    scores = dict(zip(options.names, options.scores, strict=True))
    inputs = Inputs(
        options.campaign, options.ligands, options.panel, tuple(options.targets), scores
    )
    run(inputs, cli.settings_from(BestSettings, options), None, options.output)


def run(inputs: Inputs, settings: BestSettings, device: str | None, output: Path) -> None:
    """Write the table."""
    unknown = unlisted(inputs.panel, list(inputs.scores))
    require_made_from(inputs.ligands, LIGANDS, inputs.campaign)
    docked = read_columns(inputs.ligands, LIGANDS, ("entries/line", "entries/name")).values()
    columns = {name: _best(inputs.ligands, path) for name, path in inputs.scores.items()}
    rows: list[Row] = []
    wanted: dict[Origin, str] = {}
    with open_campaign(inputs.campaign) as campaign:
        best = {target: campaign.target(target).best(settings.best) for target in inputs.targets}
        places = {target: origins(campaign, target, settings.best) for target in inputs.targets}
    for target in inputs.targets:
        wanted |= dict(zip(places[target], best[target].scored.name, strict=True))
    if list(zip(*docked, strict=True)) != [(one.line, name) for one, name in wanted.items()]:
        raise InputError(
            f"{inputs.ligands}: its molecules are not the best {settings.best} of "
            f"{', '.join(inputs.targets)}; give the file that `best` makes of these --targets with "
            "this --best"
        )
    entry = {origin: number for number, origin in enumerate(wanted)}
    for target, found in best.items():
        for i, origin in enumerate(places[target]):
            there = {name: float(values[entry[origin]]) for name, values in columns.items()}
            cells = int(found.rank[i]), str(found.scored.name[i]), origin.library
            rows.append(Row(target, *cells, float(found.scored.score[i]), there))
    write_texts(output.parent, {output.name: table(rows, list(columns))})
    for name in unknown:
        log.warning(
            "%s is docked as an anti-target, but %s does not list it; correct its accession, "
            "'min_identity' or 'max_evalue'", name, inputs.panel,
        )  # fmt: skip
    for sentence in higher(rows):
        log.info("%s", sentence)


def _best(ligands_file: Path, path: Path) -> np.ndarray:
    """The best score of each record's states (f4); NaN where none was scored."""
    require_made_from(path, SCORES, ligands_file)
    ligands: Ligands = read(ligands_file, LIGANDS, Ligands)
    scores: Scores = read(path, SCORES, Scores)
    if len(scores.best) != len(ligands.entry):
        raise InputError(f"{path}: was not made from {ligands_file}; dock and score it again")
    size = len(read_columns(ligands_file, LIGANDS, ("entries/name",))["entries/name"])
    found = np.full(size, -np.inf, np.float32)
    valid = scores.best >= 0
    np.maximum.at(found, ligands.entry[valid], scores.score[valid])
    return np.where(np.isinf(found), np.float32(np.nan), found)


if __name__ == "__main__":
    sys.exit(main())
