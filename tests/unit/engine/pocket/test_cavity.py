"""The cavity search, on boxes of atoms with known holes."""

import itertools
import time

import numpy as np
import pytest

from ligen_py.engine.pocket.cavity import components, find_cavities, members
from ligen_py.engine.pocket.geometric_field import Box, burial


def test_components_share_faces() -> None:
    mask = np.zeros((6, 6, 6), bool)
    mask[0, 0, :] = mask[0, :, 5] = True  # an L
    mask[1, 1, 0] = True  # touches it by an edge only
    mask[5, 5, 5] = True
    label = components(mask)
    assert label[0, 0, 0] == label[0, 5, 5] != 0
    assert len({int(label[0, 0, 0]), int(label[1, 1, 0]), int(label[5, 5, 5]), 0}) == 4
    assert ((label > 0) == mask).all()
    assert not components(np.zeros((3, 3, 3), bool)).any()


def block(holes: list[tuple[tuple[float, float, float], float]]) -> np.ndarray:
    """Carbons on a lattice of 2 Angstrom, but for spheres around some points."""
    lattice = np.array(list(itertools.product(np.arange(-18.0, 18.1, 2.0), repeat=3)))
    for center, radius in holes:
        lattice = lattice[np.linalg.norm(lattice - np.array(center), axis=1) > radius]
    return lattice


def test_members_are_the_points_of_each_component() -> None:
    label = components(np.random.default_rng(1).random((12, 9, 7)) > 0.7)
    found = members(label)
    assert len(found) == label.max() > 20
    for number, points in enumerate(found, start=1):
        assert (points == np.argwhere(label == number)).all()
    assert members(np.zeros((2, 2, 2), np.int64)) == []


def test_ten_thousand_components_take_one_pass() -> None:
    mask = np.zeros((160, 160, 160), bool)
    mask[::7, ::7, ::7] = True
    label = components(mask)
    start = time.process_time()
    assert len(members(label)) == 23**3
    assert time.process_time() - start < 5  # one pass for each took a minute


def test_the_larger_hole_ranks_first_and_a_full_block_has_none() -> None:
    small, large = (9.0, 0.0, 0.0), (-7.0, 1.0, 0.0)
    xyz = block([(small, 5.0), (large, 6.0)])
    first, second = find_cavities(xyz, np.full(len(xyz), 6))
    assert first.center == pytest.approx(large, abs=0.7)
    assert second.center == pytest.approx(small, abs=0.7)
    assert (first.rank, second.rank) == (1, 2)
    assert first.score > second.score
    full = block([])
    assert not find_cavities(full, np.full(len(full), 6))


def test_a_cavity_is_its_points_buried_in_eleven_directions_or_more() -> None:
    xyz = block([((-7.0, 1.0, 0.0), 6.0), ((9.0, 0.0, 0.0), 3.2)])
    element = np.full(len(xyz), 6)
    found = find_cavities(xyz, element)
    value = burial(Box((0.0, 0.0, 0.0), 18.0, 1.0), xyz, element).astype(int)
    label = components(value >= 11)
    sizes = np.bincount(label.ravel())[1:]
    depths = [value[label == number + 1].mean() for number in range(len(sizes))]
    expected = {
        f"{size:.0f} cubic A, burial {mean:.1f}": size * (mean - 8)
        for size, mean in zip(sizes, depths, strict=True)
        if size >= 40
    }
    assert expected
    assert {one.facts: one.score for one in found} == pytest.approx(expected)
