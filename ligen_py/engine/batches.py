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
    device: Device, work: Callable[[np.ndarray], Result], members: np.ndarray
) -> Iterator[tuple[np.ndarray, Result]]:
    """`by_halves` for all members at once on a GPU, in batches by cores on a CPU."""
    size = max(1, len(members))
    if device.kind != "gpu":
        size = LIGANDS_PER_CORE * int(device.handle.max_compute_units)
    for start in range(0, len(members), size):
        yield from by_halves(work, members[start : start + size])


def by_halves(
    work: Callable[[np.ndarray], Result], members: np.ndarray
) -> Iterator[tuple[np.ndarray, Result]]:
    """Results of `work` on members, in order: on all at once, else on halves, quarters and so on.

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
    for half in np.array_split(members, 2):
        yield from by_halves(work, half)
