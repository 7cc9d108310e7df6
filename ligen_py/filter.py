"""Choose the poses worth a chemical score: sort, flag bumps, cluster, order, clip.

Reads a poses file (with its ligands file), writes a kept file, which says which poses they are: at
most `max_num_poses` a ligand, cluster representatives first, then other bump-free poses, then
bumped ones.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py import cli
from ligen_py.engine.filtering.batched import filter_poses
from ligen_py.opencl.device import select
from ligen_py.provenance import Run
from ligen_py.records.kept import KEPT, Verdict
from ligen_py.records.ledger import Ledger
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.poses import POSES, Poses
from ligen_py.settings.filter import FilterSettings
from ligen_py.store.files.inputs import require_made_from
from ligen_py.store.files.read import read
from ligen_py.store.files.same_ligands import require_same_ligands
from ligen_py.store.files.write import write

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """Files that the stage reads."""

    ligands: Path
    poses: Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.filter", __doc__, FilterSettings)
    cli.add_inputs(parser, ("ligands", "poses"))
    parser.add_argument("--output", type=Path, required=True, help="kept file to write")
    cli.add_device(parser)
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    inputs = Inputs(options.ligands, options.poses)
    run(inputs, cli.settings_from(FilterSettings, options), options.device, options.output)


def run(inputs: Inputs, settings: FilterSettings, device: str | None, output: Path) -> None:
    """Filter the poses of a chunk and write its kept file."""
    ligands: Ligands = read(inputs.ligands, LIGANDS, Ligands)
    ledger: Ledger = read(inputs.poses, POSES, Ledger)
    poses: Poses = read(inputs.poses, POSES, Poses)
    require_same_ligands(inputs.ligands, ligands, inputs.poses, poses)
    require_made_from(inputs.poses, POSES, inputs.ligands)
    chosen = select(device)

    ways = None
    if settings.symmetry:
        from ligen_py.molecules.clusters import symmetries_of  # RDKit: a tenth of a second

        ways = symmetries_of(ligands)
    kept, verdicts = filter_poses(chosen, ligands, poses, settings, ways)

    made_by = Run("filter", settings, inputs, chosen.label)
    write(output, KEPT, made_by, {"ledger": ledger, "chosen": kept, "verdicts": verdicts})
    counts = np.bincount(verdicts.verdict, minlength=len(Verdict))
    log.info(
        "kept %d of %d poses: %s",
        len(kept.number),
        len(poses.restart),
        ", ".join(f"{counts[v]} {v.name.lower().replace('_', '-')}" for v in Verdict),
    )


if __name__ == "__main__":
    sys.exit(main())
