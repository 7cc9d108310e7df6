"""Dock every ligand of a chunk into one pocket by AutoDock's Lamarckian genetic algorithm.

Reads a ligands file and a pocket file, writes a poses file as `dock` does: the best pose of each of
the `runs` of a ligand, in their order, and behind them with `restarts` those of LiGen's search. The
score of a run is its energy in AutoDock4's field, in the receptor and within the ligand, in cal/mol
with the sign reversed. A record of which no state can fit is excluded.
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
from ligen_py.engine.docking.oversized import larger_than_box, mark_lost
from ligen_py.engine.genetic.beside import with_geometric
from ligen_py.engine.genetic.collected import docked
from ligen_py.opencl.device import select
from ligen_py.pace import Pace
from ligen_py.provenance import Run
from ligen_py.records.ledger import Ledger, Reason
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, GeometricField
from ligen_py.records.poses import POSES
from ligen_py.settings.lga import LgaSettings
from ligen_py.store.files.read import read
from ligen_py.store.files.typed import read_typed
from ligen_py.store.files.write import write

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """Files that the stage reads."""

    ligands: Path
    pocket: Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.lga", __doc__, LgaSettings)
    cli.add_inputs(parser, ("ligands", "pocket"))
    parser.add_argument("--output", type=Path, required=True, help="poses file to write")
    cli.add_device(parser)
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    inputs = Inputs(options.ligands, options.pocket)
    run(inputs, cli.settings_from(LgaSettings, options), options.device, options.output)


def run(inputs: Inputs, settings: LgaSettings, device: str | None, output: Path) -> None:
    """Dock a chunk and write its poses file."""
    ledger: Ledger = read(inputs.ligands, LIGANDS, Ledger)
    ligands: Ligands = read(inputs.ligands, LIGANDS, Ligands)
    typed = read_typed(["ad4"], inputs.ligands, inputs.pocket, ligands)["ad4"]
    box: GeometricField = read(inputs.pocket, POCKET, GeometricField)
    chosen = select(device)

    too_large = larger_than_box(ligands, box)
    rows = np.setdiff1d(np.arange(len(ligands.entry)), list(too_large))
    started = time.perf_counter()
    pace = Pace("ligands docked", len(rows))
    collected = docked(chosen, typed.ligands, typed.receptor, box, rows, settings, pace.add)
    poses = with_geometric(chosen, ligands, box, rows, collected.poses(), settings)
    seconds = time.perf_counter() - started

    ledger = mark_lost(ledger, ligands.entry, too_large)
    made_by = Run("lga", settings, inputs, chosen.origin)
    write(output, POSES, made_by, {"ledger": ledger, "poses": poses})
    log.info(
        "docked %d ligands, %d runs each, %d records too large for the box; %.2f ligands/s, "
        "%.3g evaluations/s",
        len(rows),
        settings.runs,
        np.count_nonzero(ledger.reason == Reason.LARGER_THAN_BOX),
        len(rows) / seconds,
        collected.evaluations / seconds,
    )


if __name__ == "__main__":
    sys.exit(main())
