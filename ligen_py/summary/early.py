"""How early actives are in a ranking: the measures of virtual screening, with their uncertainty.

All functions take labels in ranked order, best first: bool (..., molecules), True for an active.
"""

from collections.abc import Callable

import numpy as np

from ligen_py.summary.enrichment import area

DRAWS = 2000
"""Bootstrap samples behind an interval, and orders tried where scores are equal."""

BLOCK = 1 << 22
"""Values of molecules in all draws that are in memory at a time; several arrays have as many."""

LOG_AUC_FROM = 0.001
"""False-positive rate at which the logarithmic area begins."""

BEDROC_ALPHA = 20.0
"""Weight of early ranks: 80 % of the score comes from the first 8 % of the ranking."""


def auc(labels: np.ndarray) -> np.ndarray:
    """Area under the ROC curve: 1 is perfect, 0.5 is chance."""
    actives_before = np.cumsum(labels, axis=-1)
    actives = actives_before[..., -1]
    decoys = labels.shape[-1] - actives
    return (actives_before * ~labels).sum(axis=-1) / (actives * decoys)


def log_auc(labels: np.ndarray) -> np.ndarray:
    """Area under the ROC curve over log10 of the false-positive rate.

    M. M. Mysinger, B. K. Shoichet, J. Chem. Inf. Model. 50 (2010) 1561-1573, not adjusted.
    """
    found = np.cumsum(labels, axis=-1) / labels.sum(axis=-1)[..., None]
    decoys = np.cumsum(~labels, axis=-1)
    return (found * _log_width(decoys, ~labels)).sum(axis=-1)


def log_auc_by_chance(decoys: int) -> float:
    """The logAUC of a random order, on average: 0.145 of many decoys, more of few."""
    number = np.arange(1, decoys + 1)
    # Before the i-th of n decoys are i of n + 1 parts of the actives.
    return float((number / (decoys + 1) * _log_width(number, np.ones_like(number))).sum())


def _log_width(decoys: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Share of the logarithmic axis of each molecule: from `decoys` - `step` to `decoys`."""
    rate = np.maximum(decoys / decoys[..., -1:], LOG_AUC_FROM)
    before = np.maximum((decoys - step) / decoys[..., -1:], LOG_AUC_FROM)
    return np.asarray(np.log(rate / before) / -np.log(LOG_AUC_FROM))


def enrichment_factor(labels: np.ndarray, share: float) -> np.ndarray:
    """Share of actives in the best part of the ranking over that in all: 1 is chance."""
    top = int(np.ceil(share * labels.shape[-1]))
    return labels[..., :top].mean(axis=-1) / labels.mean(axis=-1)


def bedroc(labels: np.ndarray) -> np.ndarray:
    """BEDROC at BEDROC_ALPHA, 0 to 1 (Truchon, Bayly, J. Chem. Inf. Model. 47 (2007) 488-508)."""
    count = labels.shape[-1]
    weight = np.exp(-BEDROC_ALPHA * np.arange(1, count + 1) / count)
    share = labels.mean(axis=-1)
    found = (labels * weight).sum(axis=-1) / labels.sum(axis=-1)
    chance = (1 - np.exp(-BEDROC_ALPHA)) / (np.exp(BEDROC_ALPHA / count) - 1) / count
    scale = np.sinh(BEDROC_ALPHA / 2) / (
        np.cosh(BEDROC_ALPHA / 2) - np.cosh(BEDROC_ALPHA / 2 - BEDROC_ALPHA * share)
    )
    return found / chance * share * scale + 1 / (1 - np.exp(BEDROC_ALPHA * (1 - share)))


MEASURES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ROC AUC": auc,
    "logAUC": log_auc,
    "EF1%": lambda labels: enrichment_factor(labels, 0.01),
    "EF5%": lambda labels: enrichment_factor(labels, 0.05),
    "BEDROC": bedroc,
}


def ranked(scores: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels in the order of scores (..., molecules), largest first; equal scores in any order."""
    chance = rng.random(scores.shape)
    return np.take_along_axis(labels, np.lexsort((chance, -scores), axis=-1), axis=-1)


def resampled(labels: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Molecules of bootstrap samples (draws, molecules), as many actives and decoys in each."""
    kinds = [np.flatnonzero(labels == kind) for kind in (True, False)]
    return np.concatenate([rng.choice(rows, (draws, len(rows))) for rows in kinds], axis=1)


def measure(scores: np.ndarray, labels: np.ndarray) -> dict[str, tuple[float, float, float]]:
    """Every figure with the ends of its interval of 95 % (stratified bootstrap, seeded).

    Equal scores stand in random order, and the figure is the mean over many such orders; the ROC
    AUC, which is compared with limits, is exact. A molecule without a score has -inf.
    """
    rng = np.random.default_rng(0)
    every = np.arange(len(scores))
    given = _figures(scores, labels, rng, lambda count: np.tile(every, (count, 1)))
    drawn = _figures(scores, labels, rng, lambda count: resampled(labels, count, rng))
    result = {}
    for name in MEASURES:
        low, high = np.percentile(drawn[name], [2.5, 97.5])
        result[name] = (float(given[name].mean()), float(low), float(high))
    return result | {"ROC AUC": (area(scores, scores[labels]), *result["ROC AUC"][1:])}


def _figures(
    scores: np.ndarray,
    labels: np.ndarray,
    rng: np.random.Generator,
    draw: Callable[[int], np.ndarray],
) -> dict[str, np.ndarray]:
    """Every figure of all draws, made in blocks; `draw`: molecules (draws, molecules) of some."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in MEASURES}
    block = max(1, BLOCK // len(scores))
    for start in range(0, DRAWS, block):
        rows = draw(min(block, DRAWS - start))
        some = ranked(scores[rows], labels[rows], rng)
        for name, function in MEASURES.items():
            found[name].append(function(some))
    return {name: np.concatenate(values) for name, values in found.items()}


def mean_rank(columns: list[np.ndarray]) -> np.ndarray:
    """Consensus of several scores (molecules,): minus the mean of their ranks, larger is better."""
    ranks = [1 + np.searchsorted(np.sort(-scores), -scores) for scores in columns]
    return -np.mean(ranks, axis=0)
