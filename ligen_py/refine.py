"""Refine the kept poses of a chunk: chains of local minima in the field of a scoring function.

Reads a ligands file, a pocket file, a poses file and a kept file, which says which of these poses
are refined. Writes a refined file: for each ligand its best poses by energy, lowest first, one a
cluster, with their energies before and after. Geometric scores and bump counts remain those of the
docked pose. With no rounds poses stay as they are, bit for bit.
"""

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ligen_py import cli
from ligen_py.engine.refinement.batched import refine_poses
from ligen_py.opencl.device import select
from ligen_py.provenance import Run
from ligen_py.records.kept import KEPT, Chosen, Verdicts
from ligen_py.records.ledger import Ledger
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, GeometricField
from ligen_py.records.poses import POSES, Poses
from ligen_py.records.refined import REFINED
from ligen_py.settings.refine import RefineSettings
from ligen_py.store.files.inputs import require_made_from
from ligen_py.store.files.read import read, read_columns
from ligen_py.store.files.same_ligands import require_kept_of, require_same_ligands
from ligen_py.store.files.typed import read_typed
from ligen_py.store.files.write import write

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """Files that the stage reads."""

    ligands: Path
    pocket: Path
    poses: Path
    kept: Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.refine", __doc__, RefineSettings)
    cli.add_inputs(parser, Inputs._fields)
    parser.add_argument("--output", type=Path, required=True, help="refined file to write")
    cli.add_device(parser)
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    inputs = Inputs(options.ligands, options.pocket, options.poses, options.kept)
    run(inputs, cli.settings_from(RefineSettings, options), options.device, options.output)


def run(inputs: Inputs, settings: RefineSettings, device: str | None, output: Path) -> None:
    """Refine the kept poses of a chunk and write its refined file."""
    ligands: Ligands = read(inputs.ligands, LIGANDS, Ligands)
    typed = read_typed([settings.field], inputs.ligands, inputs.pocket, ligands)
    # Random numbers are a function of Vina's types, too, whatever the field.
    (kinds,) = read_columns(inputs.ligands, LIGANDS, ("vina/type",)).values()
    field = read(inputs.pocket, POCKET, GeometricField)
    ledger: Ledger = read(inputs.kept, KEPT, Ledger)
    kept: Chosen = read(inputs.kept, KEPT, Chosen)
    verdicts: Verdicts = read(inputs.kept, KEPT, Verdicts)
    docked: Poses = read(inputs.poses, POSES, Poses)
    require_same_ligands(inputs.ligands, ligands, inputs.poses, docked)
    require_kept_of(inputs.kept, kept, inputs.poses, docked.first_pose)
    for source in (inputs.ligands, inputs.pocket):
        require_made_from(inputs.poses, POSES, source)
    require_made_from(inputs.kept, KEPT, inputs.poses)
    chosen = select(device)

    started = time.perf_counter()
    poses, verdicts, refinement = refine_poses(
        chosen, settings, typed[settings.field], field, docked, kept, verdicts, kinds
    )
    seconds = time.perf_counter() - started

    made_by = Run("refine", settings, inputs, chosen.origin)
    records = {"ledger": ledger, "poses": poses, "verdicts": verdicts, "refinement": refinement}
    write(output, REFINED, made_by, records)
    log.info(
        "refined %d poses of %d ligands to %d; %.1f ligands/s",
        len(kept.number),
        len(ligands.entry),
        len(poses.restart),
        len(ligands.entry) / seconds,
    )


if __name__ == "__main__":
    sys.exit(main())
