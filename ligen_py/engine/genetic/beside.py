"""Poses of LiGen's geometric search beside those of the genetic algorithm's runs."""

from dataclasses import replace

import numpy as np

from ligen_py.engine.docking.mode import docker
from ligen_py.engine.docking.search import Plan
from ligen_py.engine.pose_arrays import take
from ligen_py.opencl.device import Device
from ligen_py.records.ligands import Ligands
from ligen_py.records.pocket import GeometricField
from ligen_py.records.poses import BEHIND, Poses
from ligen_py.records.rows import concatenated
from ligen_py.settings.dock import DockSettings
from ligen_py.settings.lga import LgaSettings


def with_geometric(
    device: Device,
    ligands: Ligands,
    box: GeometricField,
    rows: np.ndarray,
    runs: Poses,
    settings: LgaSettings,
) -> Poses:
    """The poses `runs` of the ligands `rows`, and behind them those of a geometric search.

    That has `settings.restarts`, and else the defaults of the stage `dock`; without restarts there
    are no such poses. Their numbers of restarts count on from the runs.
    """
    if not (settings.restarts and len(rows)):
        return runs
    plan = Plan.of(box, DockSettings(num_restart=settings.restarts))
    found = docker("auto", device, plan, len(rows)).dock(ligands, rows)
    found = replace(found, restart=found.restart + settings.runs, score=found.score - BEHIND)
    counts = np.diff(runs.first_pose), np.diff(found.first_pose)
    owner = np.concatenate([np.repeat(np.arange(len(part)), part) for part in counts])
    order = np.argsort(owner, kind="stable")
    return take(concatenated([runs, found]), order, counts[0] + counts[1])
