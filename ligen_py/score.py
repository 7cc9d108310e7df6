"""Score the poses of a chunk in their pocket with any of the scoring functions, one column a term.

The functions are X-Score's predicted pKd, the affinities of Vina, Vinardo and AutoDock4 in
kcal/mol, and gnina's networks. The column `total` of each is larger for better poses. A weighted
sum of energies, and of the networks' logit, chooses each ligand's pose. Molecules rank by minus the
sum of the energies, divided by a function of torsions and size.

Reads a ligands file, a pocket file and any file that holds poses (refined, or straight from
`dock`), writes a scores file: every term of every pose, and the best pose of each ligand.
A record is scored when one of its states is; one without a finite score fails.
"""

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py import cli
from ligen_py.engine.scoring.checks import alarms, too_many
from ligen_py.engine.scoring.scores import best_poses, pose_scores, score, settle
from ligen_py.engine.scoring.watch import watch
from ligen_py.errors import InputError
from ligen_py.opencl.device import select
from ligen_py.provenance import Run
from ligen_py.records.kinds import KINDS
from ligen_py.records.ledger import Ledger, Status
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, GeometricField
from ligen_py.records.poses import Poses
from ligen_py.records.scores import SCORES
from ligen_py.settings.score import ScoreSettings
from ligen_py.store.files.inputs import require_made_from
from ligen_py.store.files.read import kind_of, read
from ligen_py.store.files.same_ligands import require_same_ligands
from ligen_py.store.files.typed import read_typed
from ligen_py.store.files.write import write

log = logging.getLogger("ligen_py")

POSE_KINDS = tuple(kind for kind in reversed(KINDS.values()) if Poses in kind.groups.values())
"""Every kind of file that holds poses; the first is what a campaign gives."""


class Inputs(NamedTuple):
    """Files that the stage reads."""

    ligands: Path
    pocket: Path
    poses: Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.score", __doc__, ScoreSettings)
    cli.add_inputs(
        parser, Inputs._fields, poses="refined file of `refine`, or poses file of `dock`"
    )
    parser.add_argument("--output", type=Path, required=True, help="scores file to write")
    cli.add_device(parser)
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    inputs = Inputs(options.ligands, options.pocket, options.poses)
    run(inputs, cli.settings_from(ScoreSettings, options), options.device, options.output)


def run(inputs: Inputs, settings: ScoreSettings, device: str | None, output: Path) -> None:
    """Score the poses of a chunk and write its scores file."""
    ligands: Ligands = read(inputs.ligands, LIGANDS, Ligands)
    typed = read_typed(settings.functions, inputs.ligands, inputs.pocket, ligands)
    kind = kind_of(inputs.poses, POSE_KINDS)
    ledger: Ledger = read(inputs.poses, kind, Ledger)
    poses: Poses = read(inputs.poses, kind, Poses)
    require_same_ligands(inputs.ligands, ligands, inputs.poses, poses)
    require_made_from(inputs.poses, kind, inputs.ligands)
    require_made_from(inputs.poses, kind, inputs.pocket)
    field: GeometricField = read(inputs.pocket, POCKET, GeometricField)
    chosen = select(device)

    started = time.perf_counter()
    try:
        terms = score(chosen, typed, poses)
        scores = best_poses(poses, *pose_scores(ligands, poses, terms, settings))
        ledger = settle(ledger, ligands, scores)
    except ValueError as error:
        cure = f"make it again from {inputs.ligands}"
        raise InputError(f"{inputs.poses}: {error}; {cure}") from error
    seconds = time.perf_counter() - started
    watched = {name: typed[name] for name in ranking(settings)}
    checks = watch(watched, poses, scores, field, terms, settings.check_every)
    for words in alarms(checks):
        log.warning("watch: %s", words)
    if too_many(checks, settings.max_suspect):
        raise InputError(
            f"{inputs.poses}: its scores are not believable ({'; '.join(alarms(checks))}); look "
            f"at the pocket {inputs.pocket} and at the device, or raise --max-suspect, in a config "
            "score.max_suspect"
        )

    made_by = Run("score", settings, inputs, chosen.origin)
    records = {"ledger": ledger, "scores": scores, "checks": checks}
    write(output, SCORES, made_by, records, terms)
    log.info(
        "scored %d poses of %d ligands, %d without a finite score, and %d records; %.1f ligands/s",
        len(poses.restart),
        len(ligands.entry),
        np.count_nonzero(scores.best < 0),
        np.count_nonzero(ledger.status == Status.SCORED),
        len(ligands.entry) / seconds,
    )


def ranking(settings: ScoreSettings) -> list[str]:
    """The functions that contribute to the scores, the first one first."""
    heard = [name for name in settings.functions if settings.pose_weights.get(name)]
    networks = ["gnina"] if settings.rank_by == "networks" else []  # also without a weight
    return list(dict.fromkeys((settings.functions[0], *heard, *networks)))


if __name__ == "__main__":
    sys.exit(main())
