"""Rotations against textbook values, and single rounding against exact arithmetic."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ligen_py.engine import geometry
from ligen_py.engine.random_input import make_ligands, make_poses

F4 = np.float32
finite = st.floats(-1e6, 1e6, width=32)


def nearest(value: Fraction) -> np.float32:
    """The float32 nearest to a rational number, ties to even."""
    guess = F4(float(value))
    near = [guess, np.nextafter(guess, F4(np.inf)), np.nextafter(guess, F4(-np.inf))]
    return min(near, key=lambda f: (abs(Fraction(float(f)) - value), f.view(np.int32) & 1))


@given(finite, finite, finite)
def test_fma_rounds_once(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact != 0 and abs(exact) < 1e-30:
        return  # below the normal range of float32 the guess above is too coarse
    assert geometry.fma32(F4(a), F4(b), F4(c)) == nearest(exact)


def test_fma_where_float64_alone_errs() -> None:
    # c + a * b lies 2**-54 below the middle of c and the next float32. float64 rounds it to the
    # middle, from where ties-to-even would go up; the nearest float32 is c.
    a, b, c = F4(1 + 2**-15), F4(2**-24 * (1 - 2**-15)), F4(1 + 2**-23)
    assert F4(float(a) * float(b) + float(c)) == F4(1 + 2**-22)
    assert geometry.fma32(a, b, c) == c
    # The same on the other side: 2**-54 above the middle of 1 and c, which is nearest.
    assert F4(float(a) * -float(b) + float(c)) == 1
    assert geometry.fma32(a, -b, c) == c
    assert geometry.fma32(-a, b, -c) == -geometry.fma32(a, b, c)
    assert geometry.fma32(a, b, -c) == -c


def test_quarter_turn() -> None:
    matrix = geometry.rotation(np.array([0, 0, 1], F4), F4(0), F4(1))
    shift = geometry.about(matrix, np.array([1, 0, 0], F4))
    assert np.array_equal(geometry.transform(matrix, shift, np.array([2, 0, 5], F4)), [1, 1, 5])


def test_zero_angle_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    xyz = rng.standard_normal((20, 3)).astype(F4)
    direction = np.array([0.6, 0, 0.8], F4)
    matrix = geometry.rotation(direction, F4(1), F4(0))
    assert np.array_equal(geometry.transform(matrix, geometry.about(matrix, xyz[3]), xyz), xyz)


@pytest.mark.parametrize("strange", [None, -0.0, 360.0, 11.251, -90.0, 1e9, np.nan, np.inf])
def test_steps_of_a_turn_have_the_cosines_that_are_computed(strange: float | None) -> None:
    degrees = np.random.default_rng(0).integers(0, 32, 1000).astype(F4) * F4(11.25)
    degrees[-1] = degrees[-1] if strange is None else strange
    with np.errstate(invalid="ignore"):
        found = geometry.cosines_and_sines(degrees)
        radians = np.deg2rad(degrees.astype(float))
        for got, expected in zip(found, (np.cos(radians), np.sin(radians)), strict=True):
            assert got.tobytes() == expected.astype(F4).tobytes()


@pytest.mark.parametrize("largest", [360, 1000])
def test_cosines_are_numpys_rounded_once(largest: float) -> None:
    """Near multiples of 45 degrees, too, where a rounded angle decides about many digits."""
    rng = np.random.default_rng(1)
    near = rng.integers(-8, 9, 100_000) * 45 + rng.normal(size=100_000) * 10.0 ** rng.integers(
        -12, 1, 100_000
    )
    degrees = np.concatenate([rng.uniform(-largest, largest, 100_000), near]).astype(F4)
    radians = np.deg2rad(degrees.astype(float))
    found = geometry.cosines_and_sines(degrees)
    for got, expected in zip(found, (np.cos(radians), np.sin(radians)), strict=True):
        assert got.tobytes() == expected.astype(F4).tobytes()


def test_steps_are_whole() -> None:
    degrees = np.arange(256).astype(F4) * F4(360 / 256)
    steps = geometry.steps_of(degrees)
    assert steps is not None
    assert np.array_equal(steps, np.arange(256))
    assert geometry.steps_of(degrees.astype(float)) is None
    assert geometry.steps_of(np.array([1.40625, 1.5], F4)) is None
    cosines, sines = geometry.STEP_ANGLES[steps].T
    assert all(map(np.array_equal, geometry.cosines_and_sines(degrees), (cosines, sines)))


def test_quaternion_and_rodrigues_agree() -> None:
    direction = np.array([2, -1, 2], F4) / F4(3)
    angle = np.array([100.0])
    cosine, sine = geometry.cosines_and_sines(angle)
    half_cosine, half_sine = geometry.cosines_and_sines(angle / 2)
    quaternion = np.concatenate([half_cosine, direction * half_sine])
    expected = geometry.rotation(direction, cosine[0], sine[0])
    assert np.allclose(geometry.quaternion_matrix(quaternion), expected, atol=2e-7)
    product = geometry.quaternion_product(quaternion, quaternion)
    assert np.allclose(geometry.quaternion_matrix(product), expected @ expected, atol=5e-7)


def test_normalisation_is_quadratic() -> None:
    off = np.array([0.5, 0.5, 0.5, 0.5], F4) * F4(1.001)
    assert abs(np.linalg.norm(geometry.quaternion_normalised(off)) - 1) < 3e-6


def test_rebuild_keeps_rigid_pieces() -> None:
    xyz = np.array([[0, 0, 0], [1.5, 0, 0], [2, 1.4, 0], [3.5, 1.4, 0.2], [4, 2, 1]], F4)
    axis, ranges = np.array([[1, 2]]), np.array([[2, 4, 4, 5]])
    pose = geometry.rebuild(
        xyz,
        axis,
        ranges,
        np.array([[90.0]]),
        np.array([[1, 0, 0, 0]], F4),
        np.array([[10, 0, 0]], F4),
    )[0]
    assert np.allclose(pose[:2], xyz[:2] + np.array([10, 0, 0]))

    def within(points: np.ndarray) -> np.ndarray:
        return np.linalg.norm(points[:, None] - points, axis=-1)

    assert np.allclose(within(pose[1:3]), within(xyz[1:3]), atol=1e-6)
    assert np.allclose(within(pose[2:]), within(xyz[2:]), atol=1e-6)
    assert not np.allclose(pose[3:], xyz[3:] + np.array([10, 0, 0]), atol=0.1)


def test_rounding_does_not_grow_along_a_branch() -> None:
    """A zigzag chain in which each of 64 bonds turns all that follows."""
    rng, torsions = np.random.default_rng(0), 64
    step = np.arange(torsions + 3)
    chain = np.column_stack([1.3 * step, 0.4 * (step % 2), 0 * step]).astype(F4)
    axis = np.column_stack([step[:torsions], step[:torsions] + 1])
    ranges = np.array([[far + 1, len(chain), 0, 0] for _, far in axis])
    degrees = rng.uniform(0, 360, (20, torsions)).astype(F4)
    still = np.tile(np.array([1, 0, 0, 0], F4), (20, 1))
    found = geometry.rebuild(chain, axis, ranges, degrees, still, np.zeros((20, 3), F4))
    for angles, pose in zip(degrees, found, strict=True):
        exact = chain.astype(float)
        for (near, far), angle in zip(axis, np.deg2rad(angles.astype(float)), strict=True):
            x, y, z = (exact[far] - exact[near]) / np.linalg.norm(exact[far] - exact[near])
            cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            turn = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
            exact[far + 1 :] = (exact[far + 1 :] - exact[near]) @ turn.T + exact[near]
        assert np.abs(pose - exact).max() < 5e-3


@pytest.mark.parametrize("sizes", [[], [(9, 2)], [(5, 0), (33, 6), (9, 2), (20, 6)]])
def test_ligands_rebuilt_together_have_the_same_bits(sizes: list[tuple[int, int]]) -> None:
    arguments = []
    if sizes:
        ligands = make_ligands(sizes)
        poses = [make_poses(ligands, count, seed=count) for count in (1, 7)]
        for number, some in product(range(len(sizes)), poses):
            atoms = slice(*ligands.first_atom[number : number + 2])
            torsions = slice(*ligands.first_torsion[number : number + 2])
            rows = slice(*some.first_pose[number : number + 2])
            turns = slice(*some.first_torsion[[rows.start, rows.stop]])
            arguments.append(
                (
                    ligands.xyz[atoms],
                    ligands.torsion_axis[torsions],
                    ligands.torsion_range[torsions],
                    some.torsion[turns].reshape(rows.stop - rows.start, -1) * F4(0.9),
                    some.quaternion[rows],
                    some.translation[rows],
                )
            )
    found = geometry.rebuild_each(arguments)
    assert len(found) == len(arguments)
    for one, own in zip(found, arguments, strict=True):
        expected = geometry.rebuild(*own)
        assert one.dtype == expected.dtype
        assert one.tobytes() == expected.tobytes()
