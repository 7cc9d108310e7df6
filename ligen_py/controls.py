"""What the controls of a target show: the reference ligand redocked, and actives among decoys.

Reads the files of their parts and writes the verdict as JSON and as text. The figures are ROC AUC,
logAUC, enrichment factors and BEDROC by every scoring function, with bootstrap intervals, beside
those by size, logP or docked states alone. A molecule that could not be docked ranks last.
"""

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ligen_py import cli
from ligen_py.errors import InputError, UsageError
from ligen_py.redocking import redock
from ligen_py.settings.controls import ControlsSettings
from ligen_py.store.campaign.control_scores import read_controls
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.files.text import write_texts
from ligen_py.summary.controls import (
    OURS,
    Docked,
    Redocked,
    Verdict,
    alike,
    choose,
    figures_of,
    texts_of,
)

log = logging.getLogger("ligen_py")

GROUPS = ("crystal", "actives", "decoys")

Parts = Mapping[tuple[str, str], list[PartFiles]]
"""Pocket and group -> its parts, with all conformations."""


class Inputs(NamedTuple):
    """What the stage reads."""

    target: str
    parts: Parts
    origin: str = "given"
    """Where the decoys come from, in words."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.controls", __doc__, ControlsSettings)
    parser.add_argument("--target", required=True, help="name of the target")
    parser.add_argument(
        "--part",
        nargs=7,
        action="append",
        default=[],
        metavar=("GROUP", "POCKET", "CONFORMATION", "LIGANDS", "REFINED", "SCORES", "CRYSTAL"),
        help=f"files of a part; GROUP is one of {', '.join(GROUPS)}, CONFORMATION and CRYSTAL are "
        "'' where there is none; the first pocket is that of the campaign",
    )
    parser.add_argument("--origin", default="given", help="where the decoys come from, in words")
    parser.add_argument("--output", type=Path, required=True, help="JSON file to write")
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    parts: dict[tuple[str, str], list[PartFiles]] = {}
    for group, pocket, conformation, ligands, refined, scores, crystal in options.part:
        if group not in GROUPS:
            raise UsageError(f"--part {group}: give one of {', '.join(GROUPS)}")
        none, paths = Path(), (Path(refined), Path(scores))
        files = PartFiles(pocket, group, none, Path(ligands), none, none, *paths)
        where = Path(crystal) if crystal else None
        files = replace(files, control=bool(where), crystal=where, conformation=conformation)
        parts.setdefault((pocket, group), []).append(files)
    for pocket, group in parts:
        other = {"actives": "decoys", "decoys": "actives"}.get(group)
        if other and (pocket, other) not in parts:
            raise UsageError(f"--part {group} {pocket}: give its {other}, too")
    inputs = Inputs(options.target, parts, options.origin)
    run(inputs, cli.settings_from(ControlsSettings, options), None, options.output)


def run(inputs: Inputs, settings: ControlsSettings, device: str | None, output: Path) -> None:
    """Write the verdict as `output` and, with the ending .txt, as text."""
    verdict = judge(inputs, settings)
    names = output.name, output.with_suffix(".txt").name
    write_texts(output.parent, dict(zip(names, texts_of(verdict), strict=True)))
    log.info("%s", verdict.sentence)


def judge(inputs: Inputs, settings: ControlsSettings) -> Verdict:
    """Measure all controls of a target, and compare them with the limits."""
    pockets = list(dict.fromkeys(pocket for pocket, _ in inputs.parts))
    redocked = [
        _redocked(pocket, inputs.parts[pocket, "crystal"])
        for pocket in pockets
        if (pocket, "crystal") in inputs.parts
    ]
    read = {
        pocket: read_controls(inputs.parts[pocket, "actives"], inputs.parts[pocket, "decoys"])
        for pocket in pockets
        if (pocket, "actives") in inputs.parts
    }
    bars = [redocked[0].bar(settings.max_rmsd)] if redocked else []
    if not read:
        found = {one.pocket: (one.rmsd, one.nearest, one.poses) for one in redocked if one.nearest}
        return Verdict(inputs.target, redocked, bars=bars, notes=list(alike(found)))
    every = [
        Docked(pocket, found.is_active, {OURS: found.score, **found.totals}, found.properties)
        for pocket, found in read.items()
    ]
    left_out = list(dict.fromkeys(words for found in read.values() for words in found.left_out))
    actives = int(every[0].is_active.sum())
    decoys = len(every[0].is_active) - actives
    if not actives or not decoys:
        because = f" ({'; '.join(left_out)})" if left_out else ""
        raise InputError(
            f"controls of {inputs.target}: {actives} actives and {decoys} decoys can be compared"
            f"{because}; both are needed, so look at their files"
        )
    rows = figures_of(every)
    bars.append(rows[0].bar(settings.min_auc))
    notes = [f"{words.capitalize()}." for words in left_out]
    for row in rows:
        if row.is_null and row.figures["ROC AUC"][0] >= rows[0].figures["ROC AUC"][0]:
            notes.append(
                f"Caution: {row.by} alone ranks these molecules as well "
                f"(ROC AUC {row.figures['ROC AUC'][0]:.2f})."
            )
    if actives < 20:
        notes.append(f"With {actives} actives one molecule more or less changes these figures.")
    notes += alike(
        {one.pocket: b"".join(values.tobytes() for values in one.score.values()) for one in every}
    )
    choice = choose(every, rows)
    return Verdict(
        inputs.target, redocked, actives, decoys, inputs.origin, rows, choice, bars, notes
    )


def _redocked(pocket: str, members: Sequence[PartFiles]) -> Redocked:
    found = redock(members)
    name = str(found.part.name[0])
    if found.rmsd is None:
        return Redocked(pocket, name, found.problem, None, None, 0)
    return Redocked(pocket, name, "", *found.rmsd, found.poses)


if __name__ == "__main__":
    sys.exit(main())
