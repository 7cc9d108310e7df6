"""The grid of interaction maps, and the receptor atoms listed near its blocks, by hand."""

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import numpy as np
import pytest

from ligen_py.engine.refinement.maps import (
    BLOCK,
    GRID,
    Grid,
    Maps,
    Surroundings,
    cells_of,
    make_maps,
    near_atoms,
)
from ligen_py.errors import InputError
from ligen_py.opencl import buffers
from ligen_py.records.pocket import GeometricField


def field(spacing: float, *shape: int) -> GeometricField:
    """A pocket's field of some points along each side, from (1, 2, 3) on."""
    return GeometricField(
        origin=np.array([1.0, 2, 3]),
        spacing=np.array([spacing]),
        value=np.zeros(shape, np.int8),
        anchor=np.zeros((1, 3), "f4"),
    )


def test_a_grid_covers_the_pockets_box_and_has_its_centre() -> None:
    box = field(0.5, 5, 9, 6)  # edges of 2, 4 and 2.5 A
    for spacing, shape in ((1.0, (3, 5, 4)), (0.375, (7, 12, 8)), (0.5, (5, 9, 6))):
        grid = Grid.over(box, spacing)
        assert grid.shape == shape
        assert grid.origin + spacing * (np.array(shape) - 1) / 2 == pytest.approx([2, 4, 4.25])


def test_points_are_in_the_order_of_maps() -> None:
    grid = Grid(np.array([1, 2, 3], "f4"), 0.5, (2, 3, 4))
    points = grid.points.reshape(2, 3, 4, 3)
    assert points[1, 2, 3] == pytest.approx([1.5, 3, 4.5])
    assert points[0, 1, 0] == pytest.approx([1, 2.5, 3])
    assert len(grid.points) == 24


def test_kernels_are_told_the_grid() -> None:
    row = Grid(np.array([1, 2, 3], "f4"), 0.5, (2, 3, 4)).row()
    assert GRID.itemsize == 64  # grid_t of kernels/include/cells.clh
    assert row["origin"].tolist() == [1, 2, 3, 0]
    assert row["last"].tolist() == [1.5, 3, 4.5, 0]
    assert row["inverse_spacing"] == 2
    assert [row[name] for name in ("stride_x", "stride_y", "stride_map")] == [12, 4, 24]
    assert [row[f"cells_{axis}"] for axis in "xyz"] == [1, 2, 3]


def test_no_receptor_atom_within_reach_of_a_block_is_missing_nor_any_beyond_it_listed() -> None:
    grid, reach = Grid(np.array([1, -2, 3], "f4"), 0.5, (10, 20, 28)), 2.0
    xyz = np.random.default_rng(3).uniform([-3, -5, 0], [10, 12, 21], (500, 3))
    first, near = near_atoms(grid, xyz, reach)
    blocks = np.stack(np.meshgrid(range(2), range(3), range(4), indexing="ij"), -1).reshape(-1, 3)
    assert len(first) == len(blocks) + 1
    for number, block in enumerate(blocks):
        low = grid.origin + BLOCK * grid.spacing * block
        outside = np.maximum(0, np.maximum(low - xyz, xyz - (low + (BLOCK - 1) * grid.spacing)))
        distance = np.linalg.norm(outside, axis=1)
        listed = set(near[first[number] : first[number + 1]].tolist())
        assert set(np.flatnonzero(distance < reach).tolist()) <= listed
        assert listed <= set(np.flatnonzero(distance < reach + 1e-3).tolist())
        assert 0 < len(listed) < len(xyz)


def test_surroundings_are_places_and_kinds() -> None:
    atoms = Surroundings.of(np.array([[1.0, 2, 3], [4, 5, 6]]), np.array([7, 8]))
    assert atoms.places.tolist() == [[1, 2, 3, 7], [4, 5, 6, 8]]
    assert atoms.donors == 0


def test_maps_have_no_more_points_than_kernels_can_number() -> None:
    """One map for the form that reads maps, all of them for that which reads cells."""
    large = Grid(np.zeros(3, "f4"), 0.375, (1291, 1291, 1291))
    mapped: Any = SimpleNamespace(first=0)
    nothing: Any = None
    with pytest.raises(InputError, match="1 maps of 1291 x 1291 x 1291 points have more than"):
        make_maps(nothing, large, mapped, np.zeros(1), nothing, 8.0)
    with pytest.raises(
        InputError, match=r"3 maps of .*give a larger spacing \(refine.spacing or lga"
    ):
        cells_of(nothing, Maps(Grid(large.origin, 0.375, (1000, 1000, 1000)), 3, None), nothing)


def test_without_room_for_maps_the_settings_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the maps, and for the cells that are made of them."""
    grid, nothing = Grid(np.zeros(3, "f4"), 0.375, (30, 20, 10)), cast(Any, None)
    full = buffers.OutOfMemoryError("card is out of memory; free it, or use another device")
    monkeypatch.setattr(buffers, "empty", Mock(side_effect=full))
    words = (
        r"^3 maps of 30 x 20 x 10 points do not fit: card is out of memory; free it, or use another"
        r" device, or give a larger spacing \(refine.spacing or lga.spacing\), or a smaller box$"
    )
    with pytest.raises(buffers.OutOfMemoryError, match=words):
        make_maps(nothing, grid, cast(Any, SimpleNamespace(first=1)), np.zeros(2), nothing, 8.0)
    with pytest.raises(buffers.OutOfMemoryError, match=words):
        cells_of(nothing, Maps(grid, 3, None), nothing)
