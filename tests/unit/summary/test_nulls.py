"""A property's ranking is that of its better end; what has no value ranks last."""

import numpy as np
import pytest

from ligen_py.summary.nulls import null_of


def test_the_better_end_counts() -> None:
    logp = np.array([3.0, -1.0, 2.0, 0.0, np.nan], "f4")
    low = null_of("logp", logp, np.array([False, True, False, False, False]))
    assert (low.words, low.auc) == ("low logP", 1.0)
    high = null_of("logp", logp, np.array([True, False, False, True, False]))
    # 3 is above -1, 2 and the unknown one, 0 above two of them.
    assert high.words == "high logP"
    assert high.auc == pytest.approx(5 / 6)


def test_what_has_no_value_ranks_last_at_both_ends() -> None:
    states = np.array([np.nan, 1, 2, 3])
    null = null_of("states", states, np.array([True, False, False, False]))
    assert null.auc == 0
    assert null.scores[0] == -np.inf


def test_equal_values_are_chance() -> None:
    assert null_of("heavy", np.full(6, 12), np.arange(6) < 2).auc == 0.5
