"""Choose the form of the docking search, which changes speed and never results."""

import logging
from typing import Literal, get_args

from ligen_py.engine.docking.batched import Docker
from ligen_py.engine.docking.latency import LatencyDocker
from ligen_py.engine.docking.search import Plan
from ligen_py.opencl.device import Device

log = logging.getLogger("ligen_py")

Mode = Literal["auto", "latency", "batched"]
MODES: tuple[Mode, ...] = get_args(Mode)

FEW_LIGANDS = {"gpu": 16}
"""Up to so many ligands `latency` is faster, by kind of device (docs/notes/performance.md)."""


def resolve(mode: Mode, device: Device, ligands: int) -> Mode:
    """`latency` or `batched`: what `auto` means for this number of ligands on this device."""
    if mode != "auto":
        return mode
    return "latency" if ligands <= FEW_LIGANDS.get(device.kind, 0) else "batched"


def docker(mode: Mode, device: Device, plan: Plan, ligands: int) -> Docker | LatencyDocker:
    """The docker for this number of ligands, with a plan, on a device."""
    form = resolve(mode, device, ligands)
    log.info("mode: %s", form)
    return LatencyDocker(device, plan) if form == "latency" else Docker(device, plan)
