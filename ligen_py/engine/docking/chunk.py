"""Dock the ligands of a chunk run by run; the device gets the next run before the last one ends."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ligen_py.engine.docking.batched import Docker, Job
from ligen_py.engine.docking.latency import LatencyDocker
from ligen_py.engine.docking.oversized import larger_than_box
from ligen_py.engine.docking.search import Found
from ligen_py.pace import Pace
from ligen_py.records.ligands import Ligands
from ligen_py.records.pocket import GeometricField


class Docked(NamedTuple):
    """Results of one run of ligands: torsions of all, numbers of those docked, their poses."""

    torsions: np.ndarray
    rows: np.ndarray
    results: Found
    too_large: dict[int, str]


def dock_runs(
    form: Docker | LatencyDocker, field: GeometricField, runs: Iterable[Ligands], pace: Pace
) -> Iterator[Docked]:
    """Dock runs of ligands; the next run may be read before the results of the last are returned.

    `pace` counts ligands as they are docked, and those that are too large for the box as failed.
    """
    begun: deque[tuple[np.ndarray, np.ndarray, dict[int, str]]] = deque()

    def jobs() -> Iterator[Job]:
        """The ligands of each run that fit into the box; `begun` keeps those that do not."""
        for ligands in runs:
            too_large = larger_than_box(ligands, field)
            rows = np.setdiff1d(np.arange(len(ligands.entry)), list(too_large))
            begun.append((np.diff(ligands.first_torsion), rows, too_large))
            pace.add(len(too_large), len(too_large))
            yield Job(ligands, rows)

    for results in form.searches(jobs(), pace.add):
        torsions, rows, too_large = begun.popleft()
        yield Docked(torsions, rows, results, too_large)
