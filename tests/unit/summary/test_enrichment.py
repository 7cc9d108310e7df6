import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ligen_py.summary.enrichment import enrichment


def ranks_of(scores: np.ndarray, members: np.ndarray) -> np.ndarray:
    order = np.argsort(-scores, kind="stable")
    return np.flatnonzero(np.isin(order, members)) + 1


def test_a_ranking_small_enough_for_paper() -> None:
    scores = np.array([9, 8, 7, 6, 5, 4, 3, 2, 1, 0], "f4")
    members = np.array([0, 2])
    found = enrichment(scores, scores[members], ranks_of(scores, members))
    assert found is not None
    # 9 beats all 8 others, 7 beats 7 of them: 15 of 16 pairs.
    assert found.auc == pytest.approx(15 / 16)
    assert found.median_rank == 2
    assert found.interval is None
    best5, best10 = found.factors
    assert (best5.top, best5.hits, best5.value, best5.highest) == (1, 1, 5.0, 5.0)
    assert (best10.top, best10.hits, best10.value) == (1, 1, 5.0)


def test_ties_count_half() -> None:
    scores = np.array([1, 1, 1], "f4")
    found = enrichment(scores, scores[:1], np.array([1]))
    assert found is not None
    assert found.auc == 0.5


def test_a_perfect_group_has_no_spread_and_a_random_one_contains_chance() -> None:
    scores = np.arange(200, dtype="f4")
    best = enrichment(scores, scores[-10:], np.arange(1, 11))
    assert best is not None
    assert (best.auc, best.interval) == (1.0, (1.0, 1.0))
    assert best.factors[0].value == best.factors[0].highest == 20.0
    members = np.random.default_rng(4).choice(200, 12, replace=False)
    other = enrichment(scores, scores[members], ranks_of(scores, members))
    assert other is not None
    assert other.interval is not None
    assert other.interval[0] < 0.5 < other.interval[1]
    assert other.interval[0] < other.auc < other.interval[1]


def test_the_bootstrap_agrees_with_drawing_molecules_one_by_one() -> None:
    rng = np.random.default_rng(7)
    scores = np.round(rng.normal(0, 1, 120), 1).astype("f4")
    members = np.arange(15)
    scores[members] += np.float32(0.8)
    found = enrichment(scores, scores[members], ranks_of(scores, members))
    assert found is not None
    assert found.interval is not None
    own, others = scores[:15], scores[15:]
    drawn = []
    for _ in range(2000):
        a, b = rng.choice(own, 15)[:, None], rng.choice(others, 105)
        drawn.append(np.mean((a > b) + 0.5 * (a == b)))
    assert found.interval == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.015)


def test_nothing_to_compare() -> None:
    scores = np.array([1, 2], "f4")
    assert enrichment(scores, scores[:0], np.empty(0, "i8")) is None
    assert enrichment(scores, scores, np.array([2, 1])) is None


@settings(max_examples=50)
@given(st.lists(st.integers(0, 6), min_size=3, max_size=30), st.integers(1, 2))
def test_the_auc_is_the_share_of_won_pairs(values: list[int], count: int) -> None:
    scores = np.array(values, "f4")
    found = enrichment(scores, scores[:count], np.arange(1, count + 1))
    assert found is not None
    a, b = scores[:count, None], scores[count:]
    assert found.auc == pytest.approx(np.mean((a > b) + 0.5 * (a == b)))
