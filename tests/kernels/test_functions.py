"""Functions that kernels include, each by itself against its twin, on both sides of its limits."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ligen_py.engine.functions.ad4 import reference as ad4
from ligen_py.engine.functions.ad4.constants import (
    CHARGE_SOLVATION,
    COULOMB,
    CUTOFF,
    FARTHEST,
    NEAREST_CHARGE,
    SMOOTHING,
    WEIGHTS,
    definitions,
    pair_table,
    type_table,
)
from ligen_py.engine.refinement.maps import Grid, Maps, cells_of
from ligen_py.engine.refinement.reference import ARMIJO, WALL, Problem
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import Program, build
from ligen_py.records.functions.ad4 import Ad4Type


@pytest.fixture(scope="module")
def program(device: Device) -> Program:
    return build(device, str(Path(__file__).with_name("functions.cl")), definitions())


def called(program: Program, name: str, rows: int, *given: Any, width: int) -> np.ndarray:
    """What a kernel of functions.cl finds: float32 (rows, width)."""
    device = program.device
    found = buffers.empty(device, rows * width, np.float32)
    given = tuple(
        buffers.upload(device, one.astype(np.float32))
        if isinstance(one, np.ndarray) and one.ndim
        else one
        for one in given
    )
    program.kernel(name)(device.queue, (rows,), None, *given, found)
    return buffers.download(device, found, (rows, width), np.float32)


@pytest.mark.parametrize(
    ("one", "two", "charges"),
    [
        (Ad4Type.C, Ad4Type.A, (0.1, -0.2)),
        (Ad4Type.HD, Ad4Type.OA, (0.2, -0.4)),
        (Ad4Type.N, Ad4Type.CL, (-0.3, -0.1)),
    ],
)
def test_two_atoms_of_a_ligand_in_ad4(
    program: Program, one: Ad4Type, two: Ad4Type, charges: tuple[float, float]
) -> None:
    repulsion, _, best, power = pair_table()[one, two].astype(float)
    solvation, volume = type_table().astype(float)[[one, two], :2].T
    solvation = solvation + CHARGE_SOLVATION * np.abs(charges)
    terms = (
        charges[0] * charges[1] * COULOMB * WEIGHTS["ESTAT"],
        -best if power == 10 else best,
        repulsion / best**12,
        (solvation @ volume[::-1]) * WEIGHTS["DESOLV"],
    )
    limits = (CUTOFF, FARTHEST, NEAREST_CHARGE, best - SMOOTHING, best + SMOOTHING)
    r = np.concatenate(
        [np.arange(0.3, 22, 0.0737), *([limit - 1e-3, limit + 1e-3] for limit in limits)]
    ).astype("f4")
    found = called(program, "pulls", len(r), np.tile(terms, (len(r), 1)), r**2, width=2)
    twins = [
        ad4.pair_energy_slope(np.full((2, 2), each), np.array([one, two]), np.array(charges))
        for each in r.astype(float)
    ]
    energy, slope = np.array([(e[0, 1], s[0, 1]) for e, s in twins]).T
    assert found[:, 0] == pytest.approx(energy, rel=1e-4, abs=2e-6)
    assert found[:, 1] * r == pytest.approx(slope, rel=2e-4, abs=2e-5)
    assert not found[r > FARTHEST].any()


def test_an_atom_in_a_map(device: Device, program: Program) -> None:
    """Inside, outside of each face, at the last point: between points each map is linear."""
    grid, rng = Grid(np.array([1, -2, 3], "f4"), 0.5, (4, 6, 5)), np.random.default_rng(1)
    values = rng.uniform(-1, 1, (1, *grid.shape)).astype("f4")
    cells = cells_of(device, Maps(grid, 1, buffers.upload(device, values)), program)
    inside = rng.uniform(0, 1, (60, 3)) * (np.array(grid.shape) - 1) * grid.spacing
    outside = rng.uniform(-1, 4, (60, 3))
    corners = [[0, 0, 0], (np.array(grid.shape) - 1) * grid.spacing]
    places = (grid.origin + np.concatenate([inside, outside, corners])).astype("f4")
    rows = np.column_stack([places, np.zeros(len(places))])
    energies = buffers.empty(device, len(places), np.float32)
    atoms = buffers.upload(device, rows.astype("f4"))
    given = grid.row(), cells, atoms, energies
    gradients = called(program, "look_ups", len(places), *given, width=4)
    shares = np.ones((len(places), 1))
    limits = {"wall": WALL, "steepest": np.inf}
    problem: Any = SimpleNamespace(grid=grid, maps=values, shares=shares, **limits)
    energy, gradient = Problem.look_up(problem, places.astype(float))
    found = buffers.download(device, energies, (len(places),), np.float32)
    assert found == pytest.approx(energy, abs=2e-5)
    # At a point of the grid either side's slope is right.
    apart = np.abs((places - grid.origin) / grid.spacing % 1 - 0.5) < 0.499
    apart |= np.abs(gradient) == WALL
    assert apart.mean() > 0.9
    assert gradients[:, :3][apart] == pytest.approx(gradient[apart], abs=1e-4)
    assert not gradients[:, 3].any()


def test_units_of_the_degrees_of_freedom(program: Program) -> None:
    found = called(program, "units", 9, np.float32(4.0), width=1)[:, 0]
    assert found == pytest.approx([1, 1, 1, 1 / 16, 1 / 16, 1 / 16, 0.25, 0.25, 0.25])


def test_which_steps_go_down_and_how_long_the_next_one_is(program: Program) -> None:
    """A parabola from energy 2 with slope -8 at a step of 0.5; limits of 0.05 and 0.25."""
    limit = 2 - ARMIJO * 8 * 0.5
    found = np.array([limit - 1e-4, limit, limit + 1e-4, 1.0, 6.0, 100.0])
    rows = np.column_stack([found, *(np.full(len(found), one) for one in (2.0, -8.0, 0.5))])
    down, step = called(program, "steps", len(rows), rows, width=2).T
    assert down[[0, 2, 3, 4, 5]].tolist() == [1, 0, 1, 0, 0]
    assert step[3:] == pytest.approx([0.25, 0.125, 0.05])
    # Without a slope a step that finds the same energy is accepted.
    even = called(program, "steps", 1, np.array([[2.0, 2, 0, 0.5]]), width=2)
    assert even[0, 0] == 1


def test_vectors_by_hand(program: Program) -> None:
    ones, others = np.array([[1, 2, 3, 0.5]]), np.array([[-4, 5, 6, 0.25]])
    found = called(program, "products", 1, ones, others, width=24).reshape(6, 4)
    assert found[0].tolist() == [24] * 4
    assert found[1].tolist() == [-3, -18, 13, 0]
    assert found[2].tolist() == [0, 3.25, 4.5, 0.5]
    assert found[3].tolist() == [-3, 7, 9, 0.5]
    assert found[4].tolist() == [5, -3, -3, 0.5]
    # Quarters of a turn about x, y and z.
    half = np.sqrt(0.5)
    for axis, expected in enumerate(([-4, -6, 5, 0], [6, 5, 4, 0], [-5, -4, 6, 0])):
        quarter = np.append(half * np.eye(3)[axis], half)[None]
        turned = called(program, "products", 1, quarter, others, width=24)[0, 20:]
        assert turned == pytest.approx(expected, abs=1e-5)
