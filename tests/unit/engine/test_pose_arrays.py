"""Ranges of flat arrays."""

import numpy as np
import pytest

from ligen_py.engine import pose_arrays


@pytest.mark.parametrize("ranges", [0, 1, 7])
def test_gathered_values_are_those_of_the_ranges(
    monkeypatch: pytest.MonkeyPatch, ranges: int
) -> None:
    monkeypatch.setattr(pose_arrays, "BLOCK", 2)
    rng = np.random.default_rng(ranges)
    starts, counts = rng.integers(0, 50, ranges), rng.integers(0, 5, ranges)
    values = rng.random(60).astype("f4")
    expected = [values[start : start + count] for start, count in zip(starts, counts, strict=True)]
    found = pose_arrays.gathered(values, starts, counts)
    assert found.dtype == np.float32
    assert np.array_equal(found, np.concatenate([np.zeros(0, "f4"), *expected]))
