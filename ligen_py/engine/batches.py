"""Work on batches of ligands: small ones on processors, halves where memory does not suffice."""

import logging
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from ligen_py.opencl.buffers import OutOfMemoryError
from ligen_py.opencl.device import Device

log = logging.getLogger("ligen_py")

Result = TypeVar("Result")

LIGANDS_PER_CORE = 32
"""Ligands of a batch on a processor, for each of its cores: seconds to minutes of work, so that a
stage can report its progress."""


def by_batches(
    device: Device,
    work: Callable[[np.ndarray], Result],
    members: np.ndarray,
    sizes: np.ndarray | None = None,
    room: int = 0,
) -> Iterator[tuple[np.ndarray, Result]]:
    """`by_halves` for all members at once on a GPU, in batches by cores on a CPU.

    With `sizes` (members,), the memory of each in bytes, a batch takes at most `room` bytes, or is
    a single member.
    """
    most = max(1, len(members))
    if device.kind != "gpu":
        most = LIGANDS_PER_CORE * int(device.handle.max_compute_units)
    before = None if sizes is None else np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    start = 0
    while start < len(members):
        end = min(start + most, len(members))
        if before is not None:
            fits = int(np.searchsorted(before, before[start] + room, side="right")) - 1
            end = min(end, max(start + 1, fits))
        yield from by_halves(device, work, members[start:end])
        start = end


def by_halves(
    device: Device, work: Callable[[np.ndarray], Result], members: np.ndarray
) -> Iterator[tuple[np.ndarray, Result]]:
    """Results of `work` on members, in order: on all at once, else on halves, quarters and so on.

    Before it tries again, it waits for what the device still does for the work that failed.

    Raises OutOfMemoryError if a single member does not fit.
    """
    try:
        result = work(members)
    except OutOfMemoryError as error:
        if len(members) < 2:
            raise
        log.warning("%s; trying again with %d ligands at a time", error, -(-len(members) // 2))
    else:
        yield members, result
        return
    device.finish()
    for half in np.array_split(members, 2):
        yield from by_halves(device, work, half)
