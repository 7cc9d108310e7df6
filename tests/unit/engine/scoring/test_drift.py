import numpy as np
import pytest

from ligen_py.engine.scoring.drift import FIRST, Drift
from ligen_py.errors import InputError


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Kolmogorov-Smirnov's distance as it is defined; 0 where there is nothing to compare with."""
    places = np.append(one, other)
    return max(abs((one <= x).mean() - (other <= x).mean()) for x in places) if len(one) else 0.0


def test_drift_is_measured_against_the_first_chunks() -> None:
    rng = np.random.default_rng(1)
    drift = Drift(0.9)
    known = np.empty(0, "f4")
    for median, alarm in ((6, 0), (6, 0), (6.3, 0), (8, 1)):
        scores = rng.normal(median, 1, 400).astype("f4").round(1)  # with many equal ones
        checks = drift.checks(scores, "t/lib/3-of-9")
        assert checks.measure[0] == pytest.approx(apart(known, scores))
        assert checks.seen[0] == min(len(known), 400)
        assert checks.alarm[0] == alarm, median
        known = np.append(known, scores) if len(known) < FIRST else known
    assert len(known) == 1200
    assert (
        drift.checks(rng.normal(20, 1, 5).astype("f4"), "t/lib/3-of-9").alarm[0] == 0
    )  # too few to say
    with pytest.raises(
        InputError, match=r"part t/lib/3-of-9: its scores are apart by 1\.00 .*, raise --max-drift"
    ):
        drift.checks(rng.normal(20, 1, 50).astype("f4"), "t/lib/3-of-9")


def test_a_thousand_scores_are_enough_to_compare_with() -> None:
    for first, seen in ((999, 1999), (1000, 1000)):
        drift = Drift(1.0)
        for count in (first, 1000):
            drift.checks(np.zeros(count, "f4"), "a")
        assert drift.checks(np.zeros(5000, "f4"), "a").seen[0] == seen
