"""The geometric field against small systems worked by hand and against the definition itself."""

from functools import cache
from itertools import product

import gemmi
import numpy as np
import pytest

from ligen_py.engine.constants import CORE, OUTSIDE
from ligen_py.engine.pocket import geometric_field as field
from ligen_py.engine.pocket.geometric_field import Box, anchor_points, field_values, make_field
from ligen_py.errors import InputError

CARBON, ZINC = 6, 30
FACES = [d for d in field.DIRECTIONS if sum(map(abs, d)) == 1]
CORNERS = [d for d in field.DIRECTIONS if sum(map(abs, d)) == 3]


def carbons(xyz: object) -> tuple[np.ndarray, np.ndarray]:
    positions = np.array(xyz, np.float64).reshape(-1, 3)
    return positions, np.full(len(positions), CARBON, np.uint8)


def at_center(value: np.ndarray) -> int:
    middle = len(value) // 2
    return int(value[middle, middle, middle])


def random_cloud(seed: int, atoms: int, extent: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    xyz = rng.uniform(-extent, extent, (atoms, 3))
    return xyz, rng.choice([6, 7, 8, 16, 30], atoms).astype(np.uint8)


def test_box_has_41_points_a_side_at_the_defaults() -> None:
    box = Box((1.0, 2.0, 3.0), 10.0, 0.5)
    assert box.points == 41
    assert box.origin.tolist() == [-9.0, -8.0, -7.0]
    assert Box((0.0, 0.0, 0.0), 4.0, 0.3).points == 27


def test_one_carbon_makes_shells_at_the_stated_distances() -> None:
    box = Box((0.0, 0.0, 0.0), 8.0, 0.5)
    value = field_values(box, *carbons([0, 0, 0]))
    x, y, z = np.meshgrid(*[np.arange(33) * 0.5 - 8.0] * 3, indexing="ij")
    distance = np.sqrt(x**2 + y**2 + z**2)
    expected = np.where(distance > 6, OUTSIDE, 0)
    expected[distance < 1.7 + 1.4] = field.TIGHT
    expected[distance < 1.7 + 1.0] = CORE
    assert np.array_equal(value, expected)


@pytest.mark.parametrize("spacing", [0.25, 0.5, 0.7, 1.0])
@pytest.mark.parametrize(("walls", "burial"), [(14, 14), (11, 11), (8, 8), (4, 0)])
def test_a_cage_buries_its_centre_by_its_number_of_walls(
    walls: int, burial: int, spacing: float
) -> None:
    half_side = 4 * spacing
    cage = 3.5 * np.array((FACES + CORNERS)[:walls])
    value = field_values(Box((0.0, 0.0, 0.0), half_side, spacing), *carbons(cage))
    assert at_center(value) == burial


def test_a_point_6_angstrom_from_every_atom_is_bulk_however_buried() -> None:
    box = Box((0.0, 0.0, 0.0), 4.0, 0.5)
    corners = 3.5 * np.array(CORNERS)
    assert np.linalg.norm(corners[0]) > 6
    assert at_center(field_values(box, *carbons(corners))) == OUTSIDE
    nearer = 3.4 * np.array(CORNERS)
    assert np.linalg.norm(nearer[0]) < 6
    assert at_center(field_values(box, *carbons(nearer))) == 8


def test_directions_are_counted_once_each_between_the_steps() -> None:
    mask = np.zeros((9, 9, 9), bool)
    for direction, step in zip(field.DIRECTIONS[:9], [1, 2, 3] * 3, strict=True):
        mask[tuple(4 + step * np.array(direction))] = True
    mask[tuple(4 + 2 * np.array(field.DIRECTIONS[0]))] = True
    mask[8, 4, 4] = True  # four steps away: beyond the last one
    assert field.count_directions(mask, range(1, 4))[1, 1, 1] == 9


def test_an_atom_bound_to_a_metal_is_not_inside_it() -> None:
    box = Box((0.0, 0.0, 0.0), 4.0, 0.25)
    value = field_values(box, np.zeros((1, 3)), np.array([ZINC], np.uint8))
    bound = 16 + 8  # 2.0 Angstrom from the metal
    assert value[bound, 16, 16] == 0
    assert value[16 + 4, 16, 16] == CORE


def by_definition(box: Box, xyz: np.ndarray, element: np.ndarray) -> np.ndarray:
    """The field point by point, from the words of its definition."""
    radius, h = field.radii(element), box.spacing

    def distances(point: tuple[int, ...]) -> np.ndarray:
        return np.linalg.norm(box.origin + h * np.array(point) - xyz, axis=1)

    @cache
    def clearance(point: tuple[int, ...]) -> float:
        return float((distances(point) - radius).min())

    @cache
    def solvent(point: tuple[int, ...]) -> bool:
        return clearance(point) >= 1.0 and float(distances(point).min()) <= 6.0

    def along(point: tuple[int, ...], low: float, high: float) -> list[list[tuple[int, ...]]]:
        steps = [s for s in range(1, 99) if low - 1e-9 <= s * h <= high + 1e-9]
        return [
            [tuple(p + s * w for p, w in zip(point, way, strict=True)) for s in steps]
            for way in field.DIRECTIONS
        ]

    @cache
    def burial(point: tuple[int, ...]) -> int:
        if not solvent(point):
            return 0
        return sum(any(clearance(p) < 1.0 for p in ray) for ray in along(point, 3.0, 4.0))

    def value(point: tuple[int, ...]) -> int:
        if clearance(point) < 1.4:
            return CORE if clearance(point) < 1.0 else field.TIGHT
        if not solvent(point):
            return OUTSIDE
        if burial(point) >= 8:
            return burial(point)
        enclosed = sum(any(burial(p) >= 8 for p in ray) for ray in along(point, 1.0, 3.0))
        return 8 if enclosed >= 8 else 0

    return np.array([value(p) for p in product(range(box.points), repeat=3)]).reshape(
        (box.points,) * 3
    )


@pytest.mark.parametrize(("spacing", "half_side", "seed"), [(1.0, 4.0, 1), (0.6, 1.8, 2)])
def test_the_field_is_its_definition(spacing: float, half_side: float, seed: int) -> None:
    shell, element = random_cloud(seed, 500, 11.0)
    away = np.linalg.norm(shell, axis=1) > 5.0
    box = Box((0.3, -0.2, 0.1), half_side, spacing)
    expected = by_definition(box, shell[away], element[away])
    assert np.array_equal(field_values(box, shell[away], element[away]), expected)
    assert len(np.unique(expected[expected > 0])) > 2


def test_points_enclosed_by_cavity_points_join_the_cavity() -> None:
    # Seven walls bury the centre seven times, but on eight sides of it lie cavity points.
    cage = carbons(3.5 * np.array((FACES + CORNERS)[:7]))
    box = Box((0.0, 0.0, 0.0), 2.0, 0.5)
    value = field_values(box, *cage)
    assert at_center(value) == 8
    assert np.array_equal(value, by_definition(box, *cage))


def test_the_field_does_not_depend_on_the_order_of_the_atoms() -> None:
    xyz, element = random_cloud(3, 300, 9.0)
    order = np.random.default_rng(0).permutation(len(xyz))
    box = Box((0.1, 0.2, 0.3), 5.0, 0.5)
    first = make_field(box, xyz, element, 4.0, 16)
    second = make_field(box, xyz[order], element[order], 4.0, 16)
    assert first.value.tobytes() == second.value.tobytes()
    assert first.anchor.tobytes() == second.anchor.tobytes()


def test_the_field_does_not_depend_on_where_the_box_ends() -> None:
    xyz, element = random_cloud(4, 400, 14.0)
    small = field_values(Box((0.0, 0.0, 0.0), 4.0, 0.5), xyz, element)
    large = field_values(Box((0.0, 0.0, 0.0), 6.0, 0.5), xyz, element)
    assert np.array_equal(large[4:-4, 4:-4, 4:-4], small)


@pytest.mark.parametrize("x", [-6.5, -5.5, -4.5, 2.0, 8.5, 9.5, 10.5])
def test_an_atom_beside_the_grid_is_seen_by_the_points_within_its_reach(x: float) -> None:
    """Of five points an Angstrom apart along each axis, of which the outermost plane may be all."""
    radius = np.array([1.7])
    _, bulk = field.clearances(np.zeros(3), 1.0, 5, np.array([[x, 2.0, 2.0]]), radius)
    points = np.stack(np.meshgrid(*[np.arange(5.0)] * 3, indexing="ij"), axis=-1)
    distance = np.linalg.norm(points - [x, 2.0, 2.0], axis=-1)
    assert np.array_equal(bulk, distance > field.BULK_DISTANCE)


def test_box_sums_add_what_the_grid_has() -> None:
    values = np.random.default_rng(6).integers(0, 15, (6, 7, 8))
    padded = np.pad(values, 2)
    cubes = np.lib.stride_tricks.sliding_window_view(padded, (5, 5, 5))
    assert np.array_equal(field._box_sum(values, 2), cubes.sum(axis=(3, 4, 5)))


def test_anchors_are_the_best_points_apart_with_ties_to_the_lowest_index() -> None:
    value = np.zeros((30, 30, 30), np.int8)
    value[5:10, 5:10, 5:10] = 10
    value[20:25, 5:10, 5:10] = 10
    value[5:10, 20:25, 5:10] = 14
    value[20:25, 20:25, 20:25] = -12
    anchors = anchor_points(value, 0.5, 7.0, 16)
    assert anchors[:3].tolist() == [[7, 22, 7], [7, 7, 7], [22, 7, 7]]
    assert all(value[tuple(anchor)] > 0 for anchor in anchors)
    gaps = np.linalg.norm(0.5 * (anchors[:, None] - anchors), axis=2)
    assert (gaps[~np.eye(len(anchors), dtype=bool)] >= 7.0).all()
    assert anchor_points(value, 0.5, 7.0, 2).tolist() == anchors[:2].tolist()


def test_a_separation_of_one_step_is_kept_exactly() -> None:
    value = np.full((2, 1, 1), 9, np.int8)
    assert len(anchor_points(value, 0.3, 0.3, 16)) == 2
    assert len(anchor_points(value, 0.3, 0.31, 16)) == 1
    assert len(anchor_points(value, 0.3, 0.0, 16)) == 2


def test_a_box_without_a_cavity_is_refused() -> None:
    box = Box((0.0, 0.0, 0.0), 4.0, 0.5)
    with pytest.raises(InputError, match=r"no cavity in the box around \(0.00, 0.00, 0.00\)"):
        make_field(box, *carbons([0, 0, 0]), 4.0, 16)


def test_volume_counts_positive_points() -> None:
    cage = 3.5 * np.array(field.DIRECTIONS)
    made = make_field(Box((0.0, 0.0, 0.0), 4.0, 0.5), *carbons(cage), 4.0, 16)
    assert field.cavity_volume(made) == np.count_nonzero(made.value > 0) / 8
    assert np.linalg.norm(made.anchor[0]) < 1


NON_METALS = (5, 6, 7, 8, 9, 14, 15, 16, 17, 33, 34, 35, 52, 53)


def test_every_element_that_is_no_metal_has_a_radius() -> None:
    assert set(field.NON_METAL_RADII) == {1, *NON_METALS}


@pytest.mark.parametrize("number", NON_METALS)
def test_van_der_waals_radii_are_those_of_gemmi(number: int) -> None:
    # Hydrogen's is that of Rowland and Taylor, 1.10; gemmi has Bondi's own.
    assert field.NON_METAL_RADII[number] == pytest.approx(gemmi.Element(number).vdw_r)
