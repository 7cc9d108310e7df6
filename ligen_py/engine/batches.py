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
    per_core: int = LIGANDS_PER_CORE,
) -> Iterator[tuple[np.ndarray, Result]]:
    """`by_halves` for all members at once on a GPU, in batches by cores on a CPU.

    With `sizes` (members,), the memory of each in bytes, a batch takes at most `room` bytes, or is
    a single member.
    """
    most = len(members)
    if device.kind != "gpu":
        most = per_core * int(device.handle.max_compute_units)
    sizes = np.zeros(len(members), np.int64) if sizes is None else sizes
    for first, last in spans(sizes, room, most):
        yield from by_halves(device, work, members[first:last])


def spans(sizes: np.ndarray, room: int, most: int | None = None) -> Iterator[tuple[int, int]]:
    """First and one past the last of consecutive members whose sizes fit into some room.

    A larger one is alone. `most`: members of a span.
    """
    before, first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]), 0
    most = most or len(sizes)
    while first < len(sizes):
        fits = int(np.searchsorted(before, before[first] + room, side="right")) - 1
        last = max(first + 1, min(fits, first + most))
        yield first, last
        first = last


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
