"""Interaction maps on a device: energy of a probe of each kind at every point of a grid."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ligen_py.engine.neighbours import near_blocks
from ligen_py.errors import InputError
from ligen_py.opencl import buffers
from ligen_py.opencl.buffers import OutOfMemoryError
from ligen_py.opencl.device import VECTORS, Device
from ligen_py.opencl.program import Program, build
from ligen_py.records.pocket import GeometricField

GRID = np.dtype(
    [("origin", "f4", 4), ("last", "f4", 4), ("inverse_spacing", "f4")]
    + [(name, "i4") for name in ("stride_x", "stride_y", "stride_map")]
    + [(name, "i4") for name in ("cells_x", "cells_y", "cells_z", "unused")]
)
"""The grid of all maps, as `grid_t` in chemical_grid.clh."""


@dataclass(frozen=True)
class Grid:
    """Points at origin + spacing * (i, j, k), Angstrom; the box is what they span."""

    origin: np.ndarray
    spacing: float
    shape: tuple[int, int, int]

    @classmethod
    def over(cls, field: GeometricField, spacing: float) -> "Grid":
        """The grid of a given spacing over the box of a pocket, at most one cell larger."""
        edges = (np.array(field.value.shape) - 1) * float(field.spacing[0])
        cells = np.ceil(edges / spacing - 1e-6).astype(int)
        origin = field.origin - (cells * spacing - edges) / 2
        return cls(origin.astype(np.float32), spacing, tuple(int(n) + 1 for n in cells))  # type: ignore[arg-type]

    @property
    def points(self) -> np.ndarray:
        """Positions (points, 3), Angstrom, float64, z fastest."""
        index = np.indices(self.shape).reshape(3, -1).T
        return self.origin.astype(np.float64) + self.spacing * index

    def row(self) -> np.ndarray:
        """This grid as `grid_t`."""
        row = np.zeros((), GRID)
        last = self.origin + np.float32(self.spacing) * (np.array(self.shape, np.float32) - 1)
        row["origin"][:3], row["last"][:3] = self.origin, last
        row["inverse_spacing"] = 1 / self.spacing
        row["stride_x"], row["stride_y"] = self.shape[1] * self.shape[2], self.shape[2]
        row["stride_map"] = np.prod(self.shape)
        for name, points in zip("xyz", self.shape, strict=True):
            row[f"cells_{name}"] = points - 1
        return row


@dataclass(frozen=True)
class Maps:
    """Some maps over a grid, on a device: float32 (count, *grid.shape)."""

    grid: Grid
    count: int
    buffer: Any


BLOCK = 8
"""Points along each side of the blocks for which near receptor atoms are listed."""


def near_atoms(grid: Grid, xyz: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Receptor atoms within reach (Angstrom) of each block: offsets (blocks + 1,), atoms; int32."""
    half = (BLOCK - 1) / 2 * grid.spacing
    centers = [
        start + BLOCK * grid.spacing * np.arange(-(-points // BLOCK)) + half
        for start, points in zip(grid.origin, grid.shape, strict=True)
    ]
    return near_blocks(centers, half, xyz, reach)


NO_ROWS = np.zeros((1, 4), np.float32)
"""A table that a field does without."""


@dataclass(frozen=True)
class Surroundings:
    """Receptor atoms as the maps of a field read them, each float32 (atoms, 4)."""

    places: np.ndarray
    """Angstrom; and what the atom is in the field."""
    axes: np.ndarray
    """More of each atom, as the field's include says, likewise `normals`; else `NO_ROWS`."""
    normals: np.ndarray
    donors: int
    """How many donors there are; they come first. 0 where the field does not ask."""

    @classmethod
    def of(cls, xyz: np.ndarray, kinds: np.ndarray) -> "Surroundings":
        """Atoms at xyz (atoms, 3), each one number in the field (atoms,)."""
        return cls(np.column_stack([xyz, kinds]).astype(np.float32), NO_ROWS, NO_ROWS, 0)


class Mapped(Protocol):
    """What maps need of a field, see `ChemicalField`."""

    include: str
    definitions: Mapping[str, str]
    tables: tuple[np.ndarray, np.ndarray]
    first: int
    many_points: bool


def field_macros(mapped: Mapped) -> dict[str, str]:
    """Macros that compile a kernel for a field: FIELD, its include, and what that takes."""
    return {"FIELD": f"<{mapped.include}>", **mapped.definitions}


def make_maps(
    device: Device,
    grid: Grid,
    mapped: Mapped,
    probes: np.ndarray,
    receptor: Surroundings,
    reach: float,
) -> Maps:
    """Compute a map for each probe, behind the field's `first` maps.

    Args:
        device: where to.
        grid: the points.
        mapped: the field.
        probes: what a ligand atom is in the field (maps,).
        receptor: its atoms.
        reach: receptor atoms farther off, Angstrom, are not listed as near.
    """
    count = mapped.first + len(probes)
    _require_numbered(grid, 1)
    maps = _room_for(device, grid, count, 1)
    if not len(probes):
        return Maps(grid, count, maps)
    first_near, near = near_atoms(grid, receptor.places[:, :3], reach)
    macros = {**field_macros(mapped), "MAPS": str(len(probes)), "BLOCK": str(BLOCK)}
    tables = receptor.places, receptor.axes, receptor.normals, *mapped.tables
    inputs = (probes.astype(np.float32), first_near, near, *tables)
    vector = VECTORS.get(device.kind, 1) if mapped.many_points else 1
    macros["POSES"] = str(vector)
    local = 64 if vector == 1 else 1
    build(device, "batched/maps.cl", macros).kernel("make_maps")(
        device.queue,
        ((len(first_near) - 1) * local,),
        (local,),
        np.array([*grid.shape, 0], np.int32),
        np.append(grid.origin, 0).astype(np.float32),
        np.float32(grid.spacing),
        *(buffers.upload(device, array) for array in inputs),
        np.int32(len(receptor.places)),
        np.int32(receptor.donors),
        maps,
    )
    return Maps(grid, count, maps)


COARSER = "a larger spacing (refine.spacing or lga.spacing), or a smaller box"


def _room_for(device: Device, grid: Grid, maps: int, values: int) -> Any:
    """A buffer for so many float32 values at each point of some maps.

    OutOfMemoryError names the settings that it depends on.
    """
    try:
        count = values * max(1, maps) * int(np.prod(grid.shape))
        return buffers.empty(device, count, np.float32)
    except OutOfMemoryError as error:
        shape = " x ".join(map(str, grid.shape))
        raise OutOfMemoryError(
            f"{maps} maps of {shape} points do not fit: {error}, or give {COARSER}"
        ) from error


def _require_numbered(grid: Grid, maps: int) -> None:
    """InputError where some maps have more points than kernels can number by an int."""
    if maps * int(np.prod(grid.shape, dtype=np.int64)) > MOST_POINTS:
        raise InputError(
            f"{maps} maps of {' x '.join(map(str, grid.shape))} points have more than the "
            f"{MOST_POINTS} that a kernel can number; give {COARSER}"
        )


MOST_POINTS = 2**31 - 1

GROUP = 64
"""Work-items of a group that gathers cells."""


def cells_of(device: Device, maps: Maps, program: Program) -> Any:
    """Maps on the device as cells: at each point four values (kernels/include/cells.clh).

    `program` includes that file.
    """
    _require_numbered(maps.grid, maps.count)
    points = maps.count * int(np.prod(maps.grid.shape))
    cells = _room_for(device, maps.grid, maps.count, 4)
    gathered = program.kernel("gather_cells")(
        device.queue, (-(-max(1, points) // GROUP) * GROUP,), (GROUP,),
        np.int32(points), np.int32(maps.grid.shape[2]), maps.buffer, cells,
    )  # fmt: skip
    buffers.wait_in_turn([gathered])
    return cells
