"""Work on batches where the device may be short of memory: then by halves, down to one ligand."""

import logging
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from ligen_py.opencl.buffers import OutOfMemoryError

log = logging.getLogger("ligen_py")

Result = TypeVar("Result")


def by_halves(
    work: Callable[[np.ndarray], Result], members: np.ndarray
) -> Iterator[tuple[np.ndarray, Result]]:
    """Results of `work` on members, in order, for all at once or for as many as there is room for.

    OutOfMemoryError where there is none for a single one.
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
