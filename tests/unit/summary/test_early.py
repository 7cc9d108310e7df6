"""The measures of a screen: against scikit-learn's and RDKit's values, and worked by hand."""

import json
from pathlib import Path

import numpy as np
import pytest
from rdkit.ML.Scoring import Scoring

from ligen_py.summary import early

GOLDENS = json.loads((Path(__file__).parents[2] / "data" / "screening.json").read_text())["cases"]
"""Made by tests/data/make_screening.py."""

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
    assert early.log_auc_by_chance(3600) == pytest.approx(0.145, abs=0.0005)


def test_few_decoys_raise_the_log_auc_of_chance() -> None:
    """With one of two decoys behind a single active: 1, log10(500) / 3 and 0."""
    assert early.log_auc_by_chance(2) == pytest.approx((1 + np.log10(2) / 3) / 3)
    for decoys in (1, 2, 10, 40):
        few = np.tile(np.arange(decoys + 5) < 5, (20_000, 1))
        drawn = early.log_auc(np.random.default_rng(decoys).permuted(few, axis=1)).mean()
        assert early.log_auc_by_chance(decoys) == pytest.approx(drawn, abs=0.004)


def test_equal_scores_and_failures_are_worth_what_chance_makes_of_them() -> None:
    labels = np.arange(200) < 50
    tied = early.measure(np.zeros(200), labels)
    assert tied["ROC AUC"][0] == 0.5
    assert tied["EF5%"][0] == pytest.approx(1, abs=0.1)
    failed = np.where(labels, -np.inf, 0.0)
    assert early.measure(failed, labels)["ROC AUC"][0] == 0
    value, low, high = early.measure(np.random.default_rng(2).normal(size=200) + labels, labels)[
        "ROC AUC"
    ]
    assert low < value < high


def test_many_molecules_are_measured_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(3).normal(size=300) + LABELS
    whole = early.measure(scores, LABELS)
    monkeypatch.setattr(early, "BLOCK", 300 * 7)
    blocks = early.measure(scores, LABELS)
    for name, (value, low, high) in whole.items():
        assert blocks[name][0] == pytest.approx(value), name  # the same random numbers
        assert blocks[name][1:] == pytest.approx((low, high), rel=0.05, abs=0.02), name


@pytest.mark.parametrize("case", GOLDENS, ids=lambda case: case["name"])
def test_the_figures_are_those_of_scikit_learn(case: dict[str, object]) -> None:
    scores, labels = np.array(case["scores"], float), np.array(case["labels"], bool)
    found = early.measure(scores, labels)
    tolerance = 0.01 if case["ties"] else 1e-6
    for name in ("ROC AUC", "logAUC", "EF1%", "EF5%"):
        # Where scores are equal ours is the mean over 2000 orders.
        wide = tolerance * (20 if case["ties"] and name.startswith("EF") else 1)
        assert found[name][0] == pytest.approx(case[name], abs=wide), name
    # Scikit-learn's bootstrap has other random numbers.
    assert found["ROC AUC"][1:] == pytest.approx(case["interval"], abs=0.015)
