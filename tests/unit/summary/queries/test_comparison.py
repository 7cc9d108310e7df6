"""Pairs of two rankings, and their correlation as SciPy has it."""

import numpy as np
import pytest

from ligen_py.summary.queries.comparison import Pairs, Ranking, correlation, pairs_of, selectivity


def ranking(names: str, keys: str) -> Ranking:
    name, key = (np.array(text.split(), object) for text in (names, keys))
    unnamed = np.array([text.startswith("line-") for text in name], bool)
    score = np.zeros(len(name), "f4")
    return Ranking("x", name, key, unnamed, score, {}, name.__getitem__)


def test_by_name_then_by_structure() -> None:
    one = ranking("a b c d twin twin", "1 2 3 4 5 6")
    other = ranking("d x a y twin c", "9 2 1 7 6 3")
    pairs = pairs_of(one, other)
    assert pairs.one.tolist() == [0, 1, 2, 3, 5]
    assert pairs.other.tolist() == [2, 1, 5, 0, 4]
    assert pairs.by_name.tolist() == [True, False, True, True, False]
    assert pairs.same_structure.tolist() == [True, True, True, False, True]


def test_records_without_names_are_matched_by_structure() -> None:
    """Their names are their lines, which say nothing of another file: one that was sorted."""
    one = ranking("line-1 line-2 line-3 line-4", "1 2 3 4")
    pairs = pairs_of(one, ranking("line-1 line-3 line-2 line-4", "2 1 9 4"))
    assert pairs.one.tolist() == [0, 1, 3]
    assert pairs.other.tolist() == [1, 0, 3]
    assert pairs.same_structure.all()
    # The same file with other settings: a parent that is another one now has its line alone.
    pairs = pairs_of(one, ranking("line-1 line-2 line-3 line-4", "1 2 3 9"))
    assert pairs.other.tolist() == [0, 1, 2, 3]
    assert pairs.same_structure.tolist() == [True, True, True, False]


def test_nothing_in_common() -> None:
    pairs = pairs_of(ranking("a b", "1 2"), ranking("c", "3"))
    assert len(pairs.one) == len(pairs.other) == 0
    assert correlation(pairs) is None
    assert len(pairs_of(ranking("", ""), ranking("c", "3")).one) == 0


@pytest.mark.parametrize("count", [4, 30, 1000])
def test_the_correlation_is_scipys(count: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(count)
    one = np.sort(rng.permutation(10 * count)[:count])
    other = (
        rng.permutation(10 * count)[:count]
        if count < 9
        else np.argsort(one + rng.normal(0, 3 * count, count))
    )
    found = correlation(Pairs(one, other, one > -1, one > -1))
    assert found is not None
    assert found.value == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-12)
    assert -1 <= found.low < found.value < found.high <= 1


def test_the_interval_covers_the_true_correlation() -> None:
    """Of a normal pair with r = 0.6 Spearman's is 6 / pi asin(r / 2)."""
    rng, true, inside = np.random.default_rng(1), 6 / np.pi * np.arcsin(0.3), 0
    for _ in range(1000):
        x, noise = rng.standard_normal((2, 50))
        y = 0.6 * x + 0.8 * noise
        one = np.argsort(np.argsort(x))
        order = np.argsort(one)
        other = np.argsort(np.argsort(y))[order]
        found = correlation(Pairs(one[order], other, one > -1, one > -1))
        assert found is not None
        inside += found.low <= true <= found.high
    assert 930 <= inside <= 970


def test_equal_and_opposite_order() -> None:
    up = np.arange(9)
    assert correlation(Pairs(up, up * 3, up > -1, up > -1)).value == 1  # type: ignore[union-attr]
    assert correlation(Pairs(up, -up, up > -1, up > -1)).value == -1  # type: ignore[union-attr]


def test_selectivity_has_no_scale() -> None:
    scores = np.array([1.0, 2.0, 5.0])
    assert selectivity(scores, 7 * scores + 3) == pytest.approx(np.zeros(3))
    assert selectivity(scores, np.ones(3)) == pytest.approx((scores - scores.mean()) / scores.std())
    assert np.argmax(selectivity(scores, -scores)) == 2
