"""The shape in which a query lies on a GPU."""

import numpy as np
import pytest

from ligen_py.engine.alignment.methods import ONE_PASS, SEVERAL_PASSES, fastest

MANY = np.full((10_000, 32), 400)
"""Lengths of 128 million residues."""

GOAL = 5300


def test_every_query_of_256_to_1000_residues_has_a_fast_shape() -> None:
    """As much of its rows is used, times the shape's own speed, as the goal asks for."""
    for rows in range(256, 1001):
        shape = fastest(rows, MANY)
        assert shape.height >= rows
        assert ONE_PASS[shape] * rows / shape.height >= GOAL, (rows, shape)


@pytest.mark.parametrize("rows", [1, 64, 255, 1165, 1280, 1281, 2005, 5478, 35_213])
def test_a_shape_takes_the_whole_query(rows: int) -> None:
    """In one pass where one is high enough; less than a seventh of the rows is left empty."""
    shape = fastest(rows, MANY)
    table = ONE_PASS if rows <= 1280 else SEVERAL_PASSES
    passes = -(-rows // shape.height)
    assert shape in table
    assert passes == 1 or table is SEVERAL_PASSES
    assert rows < 64 or rows > passes * shape.height * 6 / 7


def test_where_one_sequence_takes_most_of_the_time_more_lanes_share_it() -> None:
    of_many = fastest(256, MANY)
    of_one = fastest(256, np.array([35_000, *[40] * 31]))
    assert of_one.rows < of_many.rows
    assert of_one.lanes > of_many.lanes
