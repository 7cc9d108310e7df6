"""The tables of a search: starting poses, angle steps, packing."""

import numpy as np
import pytest

from ligen_py.engine.constants import OUTSIDE, bondi_radii
from ligen_py.engine.docking.search import Plan, pack, start_turns, super_fibonacci
from ligen_py.engine.random_input import make_field, make_ligands
from ligen_py.records.limits import MAX_TORSIONS
from ligen_py.settings.dock import DockSettings


def make_plan(restarts: int = 10) -> Plan:
    return Plan.of(make_field(), DockSettings(num_restart=restarts, max_num_poses=0))


def test_super_fibonacci_is_spread_evenly() -> None:
    rotations = super_fibonacci(64).astype(float)
    assert np.allclose(np.linalg.norm(rotations, axis=1), 1, atol=1e-6)
    cosine = np.abs(rotations @ rotations.T) - np.eye(64)
    angle = np.degrees(2 * np.arccos(np.clip(cosine.max(axis=1), -1, 1)))
    assert angle.min() > 35  # of 64 random rotations the closest two are about 10 degrees apart


def test_start_turns_alternate() -> None:
    turns = start_turns(np.arange(6), 32)
    assert turns.shape == (6, MAX_TORSIONS)
    assert (turns[::2] == 0).all()
    # k = 1, prime 2: frac(2 * 1.41421) = 0.82843, times 32 = 26.5; prime 3: frac(3.4641) -> 14
    assert turns[1, 0] == 26
    assert turns[1, 1] == 14
    assert turns.max() < 32


def test_restarts_cycle_over_anchors() -> None:
    field, plan = make_field(), make_plan(7)
    expected = ((field.anchor[np.arange(7) % 3] - field.origin) / 0.5 + 1) / 63
    assert np.allclose(plan.start_position, expected, atol=1e-6)
    assert np.array_equal(plan.start_rotation[0], plan.start_rotation[2])
    assert not np.array_equal(plan.start_rotation[0], plan.start_rotation[3])


def test_box_units_return_to_angstrom() -> None:
    plan = make_plan()
    xyz = plan.to_angstrom(plan.start_position[:3])
    assert np.allclose(xyz, make_field().anchor, atol=1e-5)


def test_field_has_a_border() -> None:
    field, plan = make_field(), make_plan()
    x, y, z = field.value.shape
    assert np.array_equal(plan.field[1 : x + 1, 1 : y + 1, 1 : z + 1], field.value)
    assert (plan.field[0] == OUTSIDE).all()
    assert (plan.field[..., z + 1 :] == OUTSIDE).all()


def test_best_restarts_in_the_filters_order() -> None:
    """Free of bumps first, then the score, then the restart; extremes of the score are in order."""
    rows = [
        (90, 1, 0, 0),  # bumped: the best of them
        (-5, 0, 1, 0),  # one atom in the core is free
        (-32512, 0, 0, 0),  # 256 atoms of the worst value
        (80, 0, 2, 0),
        (-5, 0, 0, 0),
        (70, 0, 0, 3),
        (-5, 0, 0, 0),
        (32768, 1, 1, 0),
    ]
    results = np.array([rows, rows[::-1]], "i4")
    expected = {
        1: [[1], [1]],
        2: [[1, 4], [1, 3]],
        4: [[1, 2, 4, 6], [1, 3, 5, 6]],
        5: [[1, 2, 4, 6, 7], [0, 1, 3, 5, 6]],
    }
    for kept, restarts in expected.items():
        plan = Plan.of(make_field(), DockSettings(num_restart=len(rows), max_num_poses=kept))
        assert plan.best(results).tolist() == restarts
    for every in (0, 8, 9):
        plan = Plan.of(make_field(), DockSettings(num_restart=len(rows), max_num_poses=every))
        assert plan.best(results).tolist() == [list(range(8))] * 2


def test_pack_takes_any_ligands_in_any_order() -> None:
    ligands, plan = make_ligands([(20, 4), (7, 0), (33, 6)]), make_plan()
    both = pack(ligands, np.array([2, 0]), plan)
    for place, number in enumerate((2, 0)):
        alone = pack(ligands, np.array([number]), plan)
        row = both.ligands[place]
        atoms = slice(row["first_atom"], row["first_atom"] + row["atoms"])
        torsions = slice(row["first_torsion"], row["first_torsion"] + row["torsions"])
        orders = slice(2 * torsions.start, 2 * torsions.stop)
        words = slice(row["first_word"], row["first_word"] + row["atoms"] * row["words"])
        assert np.array_equal(both.conformers[atoms], alone.conformers)
        assert np.array_equal(both.torsions[torsions], alone.torsions)
        assert np.array_equal(both.inverse_lengths[torsions], alone.inverse_lengths)
        assert np.array_equal(both.orders[orders], alone.orders)
        assert np.array_equal(both.pairs[words], alone.pairs)


def test_hydrogens_are_left_out() -> None:
    ligands, plan = make_ligands([(20, 4), (33, 6)]), make_plan()
    batch = pack(ligands, np.arange(2), plan)
    assert batch.ligands["atoms"].tolist() == ligands.heavy.tolist()
    assert (np.diff(ligands.first_atom) > ligands.heavy).all()
    places = [
        ligands.xyz[first : first + n] for first, n in zip([0, 20], ligands.heavy, strict=True)
    ]
    assert np.allclose(batch.conformers[:, :3] * plan.unit, np.concatenate(places), atol=1e-5)
    assert (batch.torsions[:, 2:4] == ligands.torsion_range[:, :2]).all()
    assert (batch.torsions[:, 4:] == 0).all()


def test_fragments_move_fewer_and_fewer_atoms() -> None:
    ligands = make_ligands([(40, 8)])
    batch = pack(ligands, np.array([0]), make_plan())
    far = np.diff(ligands.torsion_range)[:, ::2].sum(axis=1)  # hydrogens counted
    moved = [far[f // 2] if f % 2 == 0 else 40 - far[f // 2] for f in batch.orders]
    assert sorted(batch.orders) == list(range(16))
    assert (np.diff(moved) <= 0).all()


def test_unknown_element_has_no_radius() -> None:
    with pytest.raises(KeyError, match="atomic number 92"):
        bondi_radii(np.array([6, 92], "u1"))
