import numpy as np
import pytest

from ligen_py.engine.scoring.drift import Drift
from ligen_py.errors import InputError


def test_drift_is_measured_against_the_first_chunks() -> None:
    rng = np.random.default_rng(1)
    drift = Drift(0.9)
    for median, alarm in ((6, 0), (6, 0), (6.3, 0), (8, 1)):
        checks = drift.checks(rng.normal(median, 1, 400).astype("f4"), "t/lib/3-of-9")
        assert checks.alarm[0] == alarm, median
        assert (checks.measure[0] == 0) == (checks.seen[0] == 0), "the first one has no other"
    assert (
        drift.checks(rng.normal(20, 1, 5).astype("f4"), "t/lib/3-of-9").alarm[0] == 0
    )  # too few to say
    with pytest.raises(
        InputError, match=r"part t/lib/3-of-9: its scores are apart by 1\.00 .*, raise --max-drift"
    ):
        drift.checks(rng.normal(20, 1, 50).astype("f4"), "t/lib/3-of-9")
