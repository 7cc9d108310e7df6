"""Write screening.json: figures of invented screens by scikit-learn (`pip install scikit-learn`).

    python tests/data/make_screening.py

The area over the logarithm of the false-positive rate is the integral of scikit-learn's ROC curve;
an enrichment factor its precision in the best part over that in all. Where scores are equal, the
curve of scikit-learn is a slope, which is the mean over the orders of equal scores.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import precision_score, roc_auc_score, roc_curve
from sklearn.utils import resample
from sources import header

FROM = 0.001


def log_area(scores: np.ndarray, labels: np.ndarray) -> float:
    """Area under the ROC curve over log10 of the false-positive rate, from 0.001."""
    false, true, _ = roc_curve(labels, scores, drop_intermediate=False)
    area = 0.0
    for x0, x1, y0, y1 in zip(false, false[1:], true, true[1:], strict=False):
        # A sloping piece is a mean over orders: finely stepped.
        edges = np.linspace(x0, x1, 2001)
        level = np.interp((edges[1:] + edges[:-1]) / 2, [x0, x1], [y0, y1]) if x1 > x0 else []
        for low, high, y in zip(edges, edges[1:], level, strict=False):
            if high > FROM:
                area += y * np.log(high / max(low, FROM))
    return area / -np.log(FROM)


def factor(scores: np.ndarray, labels: np.ndarray, share: float) -> float:
    """Enrichment factor: precision in the best part over that in all."""
    top = int(np.ceil(share * len(scores)))
    cut = np.sort(scores)[-top]
    sure, tied = scores > cut, scores == cut
    # Of the equal scores at the edge a part is taken: its precision is theirs.
    hits = labels[sure].sum() + labels[tied].mean() * (top - sure.sum())
    if not (tied.sum() - 1):
        predicted = scores >= cut
        assert abs(precision_score(labels, predicted) - hits / top) < 1e-12
    return float(hits / top / labels.mean())


def interval(scores: np.ndarray, labels: np.ndarray) -> list[float]:
    """Stratified bootstrap of the AUC, 95 %."""
    found = []
    for seed in range(2000):
        rows = resample(np.arange(len(labels)), stratify=labels, random_state=seed)
        found.append(roc_auc_score(labels[rows], scores[rows]))
    return [float(value) for value in np.percentile(found, [2.5, 97.5])]


def case(name: str, scores: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    """One invented screen and its figures."""
    return {
        "name": name,
        "ties": len(np.unique(scores)) < len(scores),
        "scores": scores.tolist(),
        "labels": labels.astype(int).tolist(),
        "ROC AUC": float(roc_auc_score(labels, scores)),
        "logAUC": log_area(scores, labels),
        "EF1%": factor(scores, labels, 0.01),
        "EF5%": factor(scores, labels, 0.05),
        "interval": interval(scores, labels),
    }


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(5)
    labels = np.arange(400) < 40
    good = np.round(rng.normal(size=400) + 1.2 * labels, 6)
    cases = [
        case("good", good, labels),
        case("chance", np.round(rng.normal(size=400), 6), labels),
        case("worse", -good, labels),
        case(
            "few", np.round(rng.normal(size=60) + 0.8 * (np.arange(60) < 6), 6), np.arange(60) < 6
        ),
        case("ties", np.round(good), labels),
    ]
    path = Path(__file__).with_name("screening.json")
    about = [line.lstrip("# ") for line in header("make_screening.py", "scikit-learn")]
    path.write_text(json.dumps({"about": about, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
