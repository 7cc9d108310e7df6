"""Dock every ligand of a chunk into one pocket: LiGen's Algorithm 1, deterministic.

Reads a ligands file and a pocket file, writes a poses file: `num_restart` genotypes a ligand with
their geometric scores and bump counts. A record of which no state can fit leaves the race.
"""

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ligen_py import cli
from ligen_py.engine.limits import larger_than_box
from ligen_py.engine.mode import MODES, docker
from ligen_py.engine.search import Plan
from ligen_py.opencl.device import select
from ligen_py.provenance import Run
from ligen_py.records import Ledger, Ligands, Reason, Status
from ligen_py.settings import DockSettings
from ligen_py.store.read import read
from ligen_py.store.write import write

log = logging.getLogger("ligen_py")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.dock", __doc__, DockSettings)
    parser.add_argument(
        "--ligands", type=cli.input_file, required=True, help="ligands file of `parse`"
    )
    parser.add_argument(
        "--pocket", type=cli.input_file, required=True, help="pocket file of `pocket`"
    )
    parser.add_argument("--output", type=Path, required=True, help="poses file to write")
    cli.add_device(parser)
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="auto",
        help="a ligand over the whole device (latency), or many at once (batched); it changes "
        "speed, never results; default: by the number of ligands and the device",
    )
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    settings: DockSettings = cli.settings_from(DockSettings, options)
    ledger: Ledger = read(options.ligands, "ligands", "ledger")
    ligands: Ligands = read(options.ligands, "ligands", "ligands")
    field = read(options.pocket, "pocket", "field")
    device = select(options.device)

    too_large = larger_than_box(ligands, field)
    rows = np.setdiff1d(np.arange(len(ligands.entry)), list(too_large))
    # A record is lost with the last of its states; the ledger tells of the first.
    out = np.setdiff1d(np.unique(ligands.entry, return_index=True)[1], rows)
    out = out[~np.isin(ligands.entry[out], ligands.entry[rows])]
    ledger = ledger.marked(
        ligands.entry[out], Status.FAILED, Reason.LARGER_THAN_BOX, [too_large[row] for row in out]
    )

    started = time.perf_counter()
    plan = Plan.of(field, **settings.model_dump())
    poses = docker(options.mode, device, plan, len(rows)).dock(ligands, rows)
    seconds = time.perf_counter() - started

    run = Run("dock", settings, (options.ligands, options.pocket), device.label)
    write(options.output, "poses", run, {"ledger": ledger, "poses": poses})
    rate = len(rows) / seconds if seconds else 0.0
    log.info(
        "docked %d ligands, %d poses, %d records too large for the box; %.1f ligands/s",
        len(rows),
        len(poses.restart),
        len(out),
        rate,
    )


if __name__ == "__main__":
    sys.exit(main())
