"""Cut a file of ligands into runs that fit into the host's memory."""

import numpy as np

HOST_BYTES = 1 << 28
"""Bytes of the results of one run of ligands. A few times this is in use for any library."""

SMALLEST = HOST_BYTES >> 2
"""Bytes of the first and the last run: work starts early, and little is written at the end."""


def slabs(sizes: np.ndarray) -> list[tuple[int, int]]:
    """Runs first <= ligand < last of up to `HOST_BYTES`, one ligand where that is more.

    `sizes` are bytes of each ligand. Runs grow from `SMALLEST` and shrink to it again.
    Without ligands there is one empty run.

    >>> slabs(np.full(3, HOST_BYTES))
    [(0, 1), (1, 2), (2, 3)]
    """
    total = np.concatenate([[0], np.cumsum(sizes)])
    runs, first = [], 0
    while first < len(sizes):
        done, left = total[first], total[-1] - total[first]
        room = np.clip(min(done, left // 2), SMALLEST, HOST_BYTES)
        last = int(np.searchsorted(total, done + room, side="right")) - 1
        last = max(last, first + 1)
        runs.append((first, last))
        first = last
    return runs or [(0, 0)]
