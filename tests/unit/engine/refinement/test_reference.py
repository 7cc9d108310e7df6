"""The refinement's twin in maps whose slopes are known."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.engine.refinement.maps import Grid
from ligen_py.engine.refinement.reference import WALL, Genotype, Problem

SLOPE, PULL = 20.0, 30.0
"""Of the map along x and of the pair, kcal/mol/A."""


def problem(**given: float) -> Problem:
    """Two atoms 2 A apart along y, in a map of 5 points that rises along x."""
    grid = Grid(np.zeros(3, "f4"), 1.0, (5, 5, 5))
    values = np.broadcast_to(SLOPE * np.arange(5.0)[:, None, None], (1, 5, 5, 5))
    return Problem(
        xyz=np.array([[0, -1.0, 0], [0, 1.0, 0]]),
        axis=np.zeros((0, 2), int),
        far=np.zeros((0, 2), bool),
        shares=np.ones((2, 1)),
        pair_energy=lambda r: (PULL * r, np.full_like(r, PULL)),
        tested=~np.eye(2, dtype=bool),
        maps=values,
        grid=grid,
        **given,
    )


def at(x: float) -> Genotype:
    return Genotype(np.array([x, 2.0, 2.0]), np.array([1.0, 0, 0, 0]), np.zeros(0))


def test_gradients_are_limited_and_energies_are_not() -> None:
    free, limited = problem(), problem(steepest=8.0)
    energy, gradient = free.evaluate(at(1.5))
    assert energy == pytest.approx(2 * SLOPE * 1.5 + PULL * 2)
    assert gradient == pytest.approx([2 * SLOPE, 0, 0, 0, 0, 0])  # the pair pulls both ways
    assert limited.evaluate(at(1.5))[0] == energy
    assert limited.evaluate(at(1.5))[1] == pytest.approx([16, 0, 0, 0, 0, 0])


def test_the_force_of_a_pair_is_limited_by_itself() -> None:
    """Of the last two atoms, of which one turns about the bond of the first two."""
    turning = replace(
        problem(),
        xyz=np.array([[0, -1.0, 0], [1.0, -1.0, 0], [1.0, 1.0, 0], [0, 1.0, 0]]),
        axis=np.array([[0, 1]]),
        far=np.array([[False, False, False, True]]),
        shares=np.zeros((4, 1)),
        tested=np.eye(4, dtype=bool)[[0, 1, 3, 2]] & ~np.eye(4, dtype=bool),
    )
    bent = replace(at(1.5), torsion=np.array([1.0]))
    free, limited = (replace(turning, steepest=most).evaluate(bent) for most in (np.inf, 8.0))
    assert limited[0] == free[0]
    assert limited[1][6] == pytest.approx(free[1][6] * 8 / PULL)
    assert abs(free[1][6]) > 1


@pytest.mark.parametrize("wall", [WALL, 1e6])
def test_atoms_outside_the_box_pay_for_each_angstrom(wall: float) -> None:
    energy, gradient = problem(wall=wall, steepest=8.0).evaluate(at(4.5))
    assert energy == pytest.approx(2 * (SLOPE * 4 + 0.5 * wall) + PULL * 2)
    assert gradient[0] == 2 * wall  # the limit is for what is inside
