"""Lists of receptor atoms near a place, read as kernels/include/neighbours.clh reads them."""

from typing import Any

import numpy as np
import pytest

from ligen_py.engine import neighbours as module
from ligen_py.engine.neighbours import MOST_BLOCKS, near_blocks, neighbours

NO_DEVICE: Any = None


@pytest.fixture(autouse=True)
def _on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.buffers, "upload", lambda _, array: array)


def listed(given: tuple[Any, ...], place: np.ndarray) -> list[int]:
    corner, blocks, first, near = given
    number = (place.astype("f4") - corner[:3]) * corner[3]
    if not ((number >= 0) & (number < blocks[:3])).all():
        return []
    x, y, z = number.astype(int)
    block = (x * blocks[1] + y) * blocks[2] + z
    found: list[int] = near[first[block] : first[block + 1]].tolist()
    return found


@pytest.mark.parametrize(("size", "away"), [(30.0, 0.0), (300.0, 1000.0)])
def test_all_atoms_within_reach_of_a_place_are_listed_in_their_order(
    size: float, away: float
) -> None:
    """Places in and around small receptors, and large ones far from the origin."""
    rng, reach = np.random.default_rng(5), 8.0
    xyz = (rng.uniform(0, size, (800, 3)) + away).astype("f4")
    given = neighbours(NO_DEVICE, xyz, reach)
    seen = 0
    for place in rng.uniform(-2 * reach, size + 2 * reach, (2000, 3)) + away:
        found = listed(given, place)
        assert found == sorted(set(found))
        within = np.flatnonzero(np.linalg.norm(xyz - place, axis=1) <= reach)
        assert set(within.tolist()) <= set(found)
        seen += len(within)
    assert seen > 50
    assert len(given[3]) < len(xyz) * np.prod(given[1][:3]) / 3


def test_large_receptors_have_no_more_blocks_but_larger_ones() -> None:
    corner, blocks, first, _ = neighbours(NO_DEVICE, np.array([[0.0, 0, 0], [2000, 10, 10]]), 8.0)
    assert blocks[0] in (MOST_BLOCKS, MOST_BLOCKS + 1)
    assert len(first) == np.prod(blocks[:3]) + 1
    assert 1 / corner[3] == pytest.approx(2016 / MOST_BLOCKS, rel=1e-3)


def test_nothing_is_near_where_there_are_no_atoms() -> None:
    given = neighbours(NO_DEVICE, np.zeros((0, 3)), 8.0)
    assert listed(given, np.zeros(3)) == listed(given, np.full(3, 50.0)) == []


def test_a_coordinate_that_is_no_number_has_no_neighbours() -> None:
    given = neighbours(NO_DEVICE, np.zeros((1, 3)), 8.0)
    assert listed(given, np.zeros(3)) == [0]
    assert listed(given, np.array([np.nan, 0, 0])) == []


def test_blocks_along_z_follow_one_another() -> None:
    centers = [np.array([0.0]), np.array([0.0, 10]), np.array([0.0, 10])]
    first, near = near_blocks(centers, 1.0, np.array([[0.0, 10, 0], [0, 0, 10]]), 2.0)
    assert first.tolist() == [0, 0, 1, 2, 2]
    assert near.tolist() == [1, 0]
