"""The choice among rankings is not fooled by chance; the verdict is a sentence."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from ligen_py.summary.controls import (
    Bar,
    Choice,
    Docked,
    Redocked,
    Row,
    Verdict,
    beside,
    choose,
    document,
    figures_of,
    rankings,
    text_of,
)
from ligen_py.summary.early import log_auc, ranked

LABELS = np.arange(220) < 20


def docked(pocket: str, **score: np.ndarray) -> Docked:
    rng = np.random.default_rng(9)
    properties = {"heavy": rng.normal(size=220), "logp": np.full(220, np.nan)}
    properties["states"] = 2 - LABELS  # one state of an active, two of a decoy
    return Docked(pocket, LABELS, score, properties)


def noise(seed: int, signal: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=220) + signal * LABELS


def chosen(one: Docked) -> Choice | None:
    """The choice by rows without intervals, which take a hundred times as long."""
    rng = np.random.default_rng(0)
    rows = [
        Row(one.pocket, by, False, {"logAUC": (float(log_auc(labels).mean()), 0.0, 0.0)})
        for by, scores in rankings(one).items()
        for labels in [ranked(np.tile(scores, (50, 1)), np.tile(one.is_active, (50, 1)), rng)]
    ]
    return choose([one], rows)


def test_the_better_function_and_pocket_are_chosen() -> None:
    dry = docked("a", score=noise(1), vina=noise(2), ad4=noise(3, 0.5))
    wet = docked("waters near", score=noise(4), vina=noise(5), ad4=noise(6, 3.0))
    choice = choose([dry, wet], figures_of([dry, wet]))
    assert choice is not None
    assert (choice.pocket, choice.by, choice.candidates) == ("waters near", "ad4", 8)
    assert choice.agreement > 0.9
    assert abs(choice.value - choice.validated) < 0.1


def test_a_choice_among_noise_is_worth_nothing_after_validation() -> None:
    """On the mean of many screens without any signal; what chance gives is about 0.15."""
    found = []
    for start in range(0, 600, 30):
        names = {f"f{i}": noise(start + i) for i in range(1, 30)}
        choice = chosen(docked("a", score=noise(start), **names))
        assert choice is not None
        found.append((choice.value, choice.validated, choice.agreement))
    value, validated, agreement = np.mean(found, axis=0)
    assert value > 0.22
    assert 0.13 < validated < 0.19
    assert agreement < 0.9


def test_nothing_is_chosen_of_few_or_one() -> None:
    few = np.arange(220) < 4
    assert chosen(replace(docked("a", score=noise(1), vina=noise(2)), is_active=few)) is None
    assert chosen(docked("a", score=noise(1))) is None


def test_without_a_choice_nothing_is_taken_off() -> None:
    """Few decoys make logAUC larger, so a fifth of them must not be compared with all."""
    few = (LABELS & (np.arange(220) < 6)) | (np.arange(220) > 207)
    score = {"score": noise(1, 1.0)[few], "vina": noise(2)[few] - 20 * LABELS[few]}
    score["same"] = 2 * score["score"] + 1
    small = Docked(
        "a", LABELS[few], score, {name: np.zeros(18) for name in ("heavy", "logp", "states")}
    )
    rows = figures_of([small, replace(small, pocket="waters near")])
    choice = choose([small, replace(small, pocket="waters near")], rows)
    assert choice is not None
    assert (choice.by, choice.pocket, choice.candidates, choice.agreement) == ("score", "a", 3, 1.0)
    assert choice.value == choice.validated == rows[0].figures["logAUC"][0]


def test_the_chosen_ranking_is_the_best_of_the_table_where_ranks_are_equal() -> None:
    for start in range(4):
        some = docked("a", score=np.round(noise(start, 0.5)), vina=np.round(noise(start + 50)))
        rows = figures_of([some])
        best = max((row for row in rows if not row.is_null), key=lambda row: row.figures["logAUC"])
        choice = choose([some], rows)
        assert choice is not None
        assert (choice.by, choice.value) == (best.by, best.figures["logAUC"][0])


def test_rows_are_all_rankings_and_the_null_ones() -> None:
    every = [docked("a", score=noise(1), vina=noise(2), ad4=noise(3))]
    assert list(rankings(every[0])) == ["score", "vina", "ad4", "mean rank"]
    rows = figures_of(every)
    names = ["score", "vina", "ad4", "mean rank", "heavy atoms", "logP", "docked states"]
    assert [row.by.removeprefix("many ").removeprefix("high ") for row in rows[:-1]] == names[:-1]
    assert [row.is_null for row in rows] == 4 * [False] + 3 * [True]
    # Without a value all are equal: chance.
    assert abs(rows[-2].figures["ROC AUC"][0] - 0.5) < 0.01
    # The end of a property counts at which the actives are.
    assert rows[-1].by == "few docked states"
    assert rows[-1].figures["ROC AUC"][0] == 1


def test_the_verdict_in_words_and_as_json() -> None:
    redocked = Redocked("t", "LIG", "", 3.1, 0.9, 12)
    bars = [Bar("RMSD 3.10", False), Bar("ROC AUC 0.80", True)]
    rows = figures_of([docked("t", score=noise(1, 2.0))])
    verdict = Verdict("t", [redocked], 20, 200, "given in a file", rows, None, bars, ["Caution."])
    assert not verdict.passed
    assert verdict.sentence == "controls of t failed: RMSD 3.10"
    text = text_of(verdict)
    assert "FAILED  RMSD 3.10" in text
    assert "passed  ROC AUC 0.80" in text
    assert re.search(r"heavy atoms +\(null\)", text)
    assert "20 actives among 200 decoys, given in a file" in text
    assert "chance: ROC AUC 0.5, logAUC 0.146, EF 1" in text
    found = json.loads(json.dumps(document(verdict)))
    assert found["passed"] is False
    assert found["rankings"][0]["figures"]["ROC AUC"]["value"] > 0.8
    assert found["redocking"][0]["rmsd"] == 3.1
    nothing = Verdict("t")
    assert nothing.passed
    assert nothing.sentence == "t has no control"


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [(0.597, 0.6, "0.597"), (0.6, 0.6, "0.60"), (0.8612, 0.8611, "0.8612"), (3.1, 2.0, "3.10")],
)
def test_a_figure_is_written_on_its_side_of_the_limit(
    value: float, limit: float, text: str
) -> None:
    assert beside(value, limit) == text
