"""Dock every ligand of a chunk into one pocket: LiGen's Algorithm 1, deterministic.

Reads a ligands file and a pocket file, writes a poses file: the `max_num_poses` best genotypes of
the `num_restart` of a ligand, in the order of restarts, with their geometric scores and bump
counts. A record of which no state can fit is excluded.
"""

import argparse
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ligen_py import cli
from ligen_py.engine.docking.chunk import Docked, dock_runs
from ligen_py.engine.docking.mode import MODES, Mode, docker
from ligen_py.engine.docking.oversized import mark_lost
from ligen_py.engine.docking.runs import slabs
from ligen_py.engine.docking.search import Plan
from ligen_py.opencl.device import Device, labels, select_all
from ligen_py.opencl.workers import spread
from ligen_py.pace import Pace
from ligen_py.provenance import Run
from ligen_py.records.ledger import Ledger, Reason
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, GeometricField
from ligen_py.records.poses import POSES
from ligen_py.settings.dock import DockSettings
from ligen_py.store.files.growing import growing, read_pieces
from ligen_py.store.files.read import read, read_columns

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """Files that the stage reads."""

    ligands: Path
    pocket: Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.dock", __doc__, DockSettings)
    cli.add_inputs(parser, ("ligands", "pocket"))
    parser.add_argument("--output", type=Path, required=True, help="poses file to write")
    cli.add_device(parser, cli.EACH)
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="auto",
        help="a ligand over the whole device (latency), or many at once (batched); it changes "
        "speed, never results; default: by the number of ligands and the device",
    )
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    inputs = Inputs(options.ligands, options.pocket)
    settings = cli.settings_from(DockSettings, options)
    run(inputs, settings, options.device, options.output, options.mode)


def run(
    inputs: Inputs, settings: DockSettings, device: str | None, output: Path, mode: Mode = "auto"
) -> None:
    """Dock a chunk and write its poses file; `mode` changes the speed only."""
    ledger: Ledger = read(inputs.ligands, LIGANDS, Ledger)
    columns = ("ligands/entry", "ligands/first_torsion")
    entry, first_torsion = read_columns(inputs.ligands, LIGANDS, columns).values()
    field: GeometricField = read(inputs.pocket, POCKET, GeometricField)
    plan = Plan.of(field, settings)
    chosen = select_all(device)

    shared: dict[str, Any] = {"path": inputs.ligands, "field": field, "plan": plan}
    shared |= {"mode": mode, "count": len(entry)}
    runs = slabs(plan.pose_bytes(np.diff(first_torsion)))
    too_large: dict[int, str] = {}
    made_by = Run("dock", settings, inputs, labels(chosen))
    with growing(output, POSES, made_by) as file:
        pace = Pace("ligands docked", len(entry))
        if len(chosen) == 1:
            docked = _searcher(chosen[0], **shared, pace=pace)(runs)
        else:
            docked = spread(chosen, partial(_one_by_one, **shared), runs)
        for (first, last), found in zip(runs, docked, strict=True):
            file.append("poses", partial(plan.poses, found.torsions, found.rows, found.results))
            too_large |= {first + row: words for row, words in found.too_large.items()}
            pace.reach(last, len(too_large))
        ledger = mark_lost(ledger, entry, too_large)
        file.write("ledger", ledger)
    ligands = len(entry) - len(too_large)
    log.info(
        "docked %d ligands, %d poses kept, %d records too large for the box; %.1f ligands/s",
        ligands,
        ligands * plan.num_poses,
        np.count_nonzero(ledger.reason == Reason.LARGER_THAN_BOX),
        pace.rate,
    )


Runs = Iterable[tuple[int, int]]


def _searcher(
    device: Device,
    path: Path,
    field: GeometricField,
    plan: Plan,
    mode: Mode,
    count: int,
    pace: Pace,
) -> Callable[[Runs], Iterator[Docked]]:
    """The work of a device: read runs of ligands and dock them."""
    form = docker(mode, device, plan, count)

    def dock(runs: Runs) -> Iterator[Docked]:
        """Each run of ligands docked, in order; a run is read when the device is ready for it."""
        return dock_runs(form, field, read_pieces(path, LIGANDS, Ligands, "ligand", runs), pace)

    return dock


def _one_by_one(device: Device, **shared: Any) -> Callable[[tuple[int, int]], Docked]:
    """The work of one of several devices, a run at a time; the stage counts what comes back."""
    dock = _searcher(device, **shared, pace=Pace("ligands docked"))
    return lambda run: next(dock([run]))


if __name__ == "__main__":
    sys.exit(main())
