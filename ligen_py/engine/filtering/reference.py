"""The NumPy twin of kernels/batched/filter.cl: sort, cluster, order, clip; readable and slow."""

import numpy as np

from ligen_py.engine.geometry import F4, fma32
from ligen_py.records.kept import Verdict

NO_CLUSTER = -1


def select_poses(
    score: np.ndarray,
    bumped: np.ndarray,
    places: np.ndarray,
    cluster_rmsd: float,
    max_num_poses: int,
    ways: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Choose the poses of one ligand that are refined (docs/method.md, filter).

    Args:
        score: geometric scores (poses,), larger is better.
        bumped: which poses bump or have atoms outside the box (poses,), bool.
        places: heavy atoms of every pose (poses, heavy, 3), Angstrom, float32.
        cluster_rmsd: poses within this of a representative belong to it, Angstrom; with 0 each
            bump-free pose is a cluster.
        max_num_poses: poses kept.
        ways: to map the heavy atoms onto themselves (ways, heavy); the nearest counts.

    Returns:
        pose numbers in final order, their verdicts and their clusters, each (kept,).
    """
    order = np.argsort(-score, kind="stable")
    cluster = np.full(len(score), NO_CLUSTER)
    verdict = np.where(bumped, Verdict.BUMPED, Verdict.BUMP_FREE)
    limit = F4(cluster_rmsd * cluster_rmsd) * F4(places.shape[1])
    if ways is None:
        ways = np.arange(places.shape[1])[None]
    clusters = 0
    for rank, leader in enumerate(order):
        if clusters == max_num_poses:
            break
        if bumped[leader] or cluster[leader] != NO_CLUSTER:
            continue
        later = order[rank + 1 :]
        free = later[~bumped[later] & (cluster[later] == NO_CLUSTER)]
        if limit > 0:
            apart = [squared_distances(places[leader][way], places[free]) for way in ways]
            near = np.min(apart, axis=0) <= limit
            cluster[free[near]] = clusters
        cluster[leader] = clusters
        verdict[leader] = Verdict.REPRESENTATIVE
        clusters += 1
    kept = np.concatenate([order[verdict[order] == v] for v in Verdict])[:max_num_poses]
    return kept, verdict[kept], cluster[kept]


def squared_distances(leader: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Sum over atoms of squared distances (poses,) of (atoms, 3) to each of (poses, atoms, 3)."""
    total = np.zeros(len(others), F4)
    for atom in range(len(leader)):
        d = leader[atom] - others[:, atom]
        inner = fma32(d[:, 2], d[:, 2], total)
        total = fma32(d[:, 0], d[:, 0], fma32(d[:, 1], d[:, 1], inner))
    return total
