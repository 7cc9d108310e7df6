"""One molecule that clashes does not decide how all others compare."""

import numpy as np
import pytest

from ligen_py.summary.fence import fenced
from ligen_py.summary.queries.comparison import selectivity


def test_a_clash_counts_as_no_affinity() -> None:
    scores = np.random.default_rng(1).normal(5, 1, 1000).astype("f4")
    scores[7] = -279.7
    found = fenced(scores)
    assert found.dtype == scores.dtype
    assert found[7] == 0  # the fence is at 2
    assert np.array_equal(np.delete(found, 7), np.delete(scores, 7))


def test_who_clashes_in_one_target_changes_no_preference_of_the_others() -> None:
    rng = np.random.default_rng(2)
    one, other = rng.normal(4, 2, 200), rng.normal(6, 2, 200)
    without = selectivity(one[1:], other[1:])
    other[0] = -279.7
    assert np.abs(selectivity(one, other)[1:] - without).max() < 0.2


def test_where_scores_are_negative_a_clash_counts_as_three_deviations_below_the_median() -> None:
    scores = np.append(np.linspace(-12, -8, 101), -400.0)
    assert fenced(scores).min() == pytest.approx(-10 - 3 * 2 / 1.349, abs=0.1)
    assert np.array_equal(fenced(scores)[:-1], scores[:-1])


@pytest.mark.parametrize("scores", [[], [3.0], [3.0, 2.0, 0.0], [-1.0, -2.0, -3.0, -4.0]])
def test_without_a_clash_scores_stay(scores: list[float]) -> None:
    assert fenced(np.array(scores)).tolist() == scores
