"""Cut a file of ligands into runs that fit into the host's memory."""

import numpy as np

HOST_BYTES = 1 << 29
"""Results held for one run of ligands; a few times this is in use, whatever the library."""


def slabs(sizes: np.ndarray) -> list[tuple[int, int]]:
    """Runs first <= ligand < last of up to `HOST_BYTES`, one ligand where that is more.

    `sizes` are bytes of each ligand. Without ligands there is one empty run.
    """
    total = np.concatenate([[0], np.cumsum(sizes)])
    runs, first = [], 0
    while first < len(sizes):
        last = int(np.searchsorted(total, total[first] + HOST_BYTES, side="right")) - 1
        last = max(last, first + 1)
        runs.append((first, last))
        first = last
    return runs or [(0, 0)]
