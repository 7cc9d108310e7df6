"""AutoDock4's maps, as devices make them, against AutoGrid 4.2's own files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.random_input import make_ligands
from ligen_py.engine.refinement.maps import Grid
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.records.functions.ad4 import Ad4Type
from tests.unit.engine.functions.ad4.test_parity import read_map, receptor_of
from tests.xscore_input import with_types

FILES = ("e", "d", "HD", "C", "A", "NA", "OA")
"""In the order of the field's maps: types by number."""
SIDE = 14
"""Points along each side of the part that is compared."""


def test_maps_are_those_of_autogrid(device: Device, shared_data: Path) -> None:
    if device.is_simulator:
        pytest.skip("a whole receptor is too much for a simulator")
    folder = shared_data / "reference" / "vina_1iep"
    files = [read_map(folder / f"1iep_receptor.{kind}.map.gz") for kind in FILES]
    places = files[0][0]
    spacing = float(np.diff(np.unique(places[:, 0].round(4))).min())
    centre = (places.min(axis=0) + places.max(axis=0)) / 2
    origin = places[np.abs(places - (centre - spacing * SIDE / 2)).sum(axis=1).argmin()]
    grid = Grid(origin.astype(np.float32), spacing, (SIDE, SIDE, SIDE))
    number = np.rint((places - origin) / spacing).astype(int)
    inside = np.flatnonzero(((number >= 0) & (number < SIDE)).all(axis=1))
    i, j, k = number[inside].T

    types = np.array([Ad4Type[kind] for kind in FILES[2:]])
    assert (np.diff(types) > 0).all()
    ligands = replace(with_types(make_ligands([(5, 0)]))["ad4"], type=types.astype("u1"))
    field = Ad4Field(device, receptor_of(folder / "1iep_receptor.pdbqt"), grid, ligands)
    shape = (field.maps.count, *grid.shape)
    found = buffers.download(device, field.maps.buffer, shape, np.float32)[:, i, j, k]

    for name, values, (_, energy) in zip(FILES, found, files, strict=True):
        # On the steep walls of a type AutoGrid's table of 0.01 A shows.
        calm = (energy[inside] < 0.5) | (name in ("e", "d"))
        apart = np.abs(values - energy[inside])[calm]
        assert calm.sum() > 300, name
        assert np.median(apart) < 0.005, name
        assert np.quantile(apart, 0.9) < 0.02, name
