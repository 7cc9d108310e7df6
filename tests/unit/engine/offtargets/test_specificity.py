"""The MIT score, against its definition written a second time, and by hand."""

import itertools
import math

import numpy as np
import pytest

from ligen_py.engine.offtargets.specificity import hit_scores, specificities

HSU = (
    *(0, 0, 0.014, 0, 0, 0.395, 0.317, 0, 0.389, 0.079),
    *(0.445, 0.508, 0.613, 0.851, 0.732, 0.828, 0.615, 0.804, 0.685, 0.583),
)


def plain(places: list[int]) -> float:
    score = math.prod(1 - HSU[place] for place in places)
    if len(places) > 1:
        gaps = [b - a for a, b in itertools.pairwise(places)]
        score /= (19 - sum(gaps) / len(gaps)) / 19 * 4 + 1
    return score / len(places) ** 2 if places else 1.0


def row(places: list[int]) -> np.ndarray:
    mismatch = np.zeros(20, bool)
    mismatch[places] = True
    return mismatch


@pytest.mark.parametrize(
    ("places", "score"),
    [
        ([], 1.0),
        ([0], 1.0),
        ([13], 0.149),
        ([0, 19], (1 - 0.583) / 4),
        ([18, 19], 0.315 * 0.417 / (18 / 19 * 4 + 1) / 4),
    ],
)
def test_by_hand(places: list[int], score: float) -> None:
    assert hit_scores(row(places)[None])[0] == pytest.approx(score, rel=1e-12)


def test_random_off_targets() -> None:
    rng = np.random.default_rng(1)
    some = [sorted(rng.choice(20, rng.integers(0, 8), replace=False).tolist()) for _ in range(500)]
    found = hit_scores(np.stack([row(places) for places in some]))
    assert found == pytest.approx([plain(places) for places in some], rel=1e-12)


def test_specificity_is_of_the_sum() -> None:
    guide, score = np.array([0, 0, 2]), np.array([0.5, 0.5, 1.0])
    assert specificities(guide, score, 4).tolist() == [50.0, 100.0, 50.0, 100.0]
