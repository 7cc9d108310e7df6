"""The figures that the benchmarks print: against RDKit's and worked by hand."""

import numpy as np
import pytest
from rdkit.ML.Scoring import Scoring

from benchmarks import early, redock

LABELS = np.random.default_rng(1).random(300) < np.linspace(0.6, 0.02, 300)


def test_screening_figures_are_those_of_rdkit() -> None:
    rows = [[float(label)] for label in LABELS]
    assert early.auc(LABELS) == pytest.approx(Scoring.CalcAUC(rows, 0))
    assert early.bedroc(LABELS) == pytest.approx(Scoring.CalcBEDROC(rows, 0, early.BEDROC_ALPHA))
    for share, expected in zip((0.01, 0.05), Scoring.CalcEnrichment(rows, 0, [0.01, 0.05])):  # noqa: B905
        assert early.enrichment_factor(LABELS, share) == pytest.approx(expected)


def test_log_auc_of_known_curves() -> None:
    # All actives first: 1. One active behind the first of ten decoys: nothing up to a
    # false-positive rate of 0.1, all from there on, one decade of three.
    assert early.log_auc(np.array([True, True, False, False])) == pytest.approx(1)
    behind = np.array([False, True] + 9 * [False])
    assert early.log_auc(behind) == pytest.approx(1 / 3)
    chance = np.random.default_rng(0).permuted(np.tile(np.arange(4000) < 400, (50, 1)), axis=1)
    assert early.log_auc(chance).mean() == pytest.approx(0.145, abs=0.003)


def test_equal_scores_and_failures_are_worth_what_chance_makes_of_them() -> None:
    labels = np.arange(200) < 50
    tied = early.measure(np.zeros(200), labels)
    assert tied["ROC AUC"][0] == pytest.approx(0.5, abs=0.01)
    assert tied["EF5%"][0] == pytest.approx(1, abs=0.1)
    failed = np.where(labels, -np.inf, 0.0)
    assert early.measure(failed, labels)["ROC AUC"][0] == 0
    value, low, high = early.measure(np.random.default_rng(2).normal(size=200) + labels, labels)[
        "ROC AUC"
    ]
    assert low < value < high


def test_a_complex_that_failed_is_a_miss_of_every_measure() -> None:
    good = {"status": "ok", "rmsd_best_scored": 1.5, "rmsd_best_of_kept": 0.5, "failed_checks": []}
    rows = [
        {"id": "a", "ours": good},
        {"id": "b", "ours": {"status": "failed: no"}},
        {"id": "c", "ours": good | {"rmsd_best_scored": 2.1, "failed_checks": ["Bond angles"]}},
    ]
    total = redock.summary(rows, ["ours"])["ours"]
    counts = {name: part["count"] for name, part in total.items()}
    assert counts == {
        "best-scored within 2 A": 1,
        "best-scored within 1 A": 0,
        "best of kept within 2 A": 2,
        "best of kept within 1 A": 2,
        "best-scored valid": 1,
        "best-scored within 2 A and valid": 1,
    }
    low, high = total["best-scored within 2 A"]["interval_95"]
    assert low == 0
    assert high == 100
