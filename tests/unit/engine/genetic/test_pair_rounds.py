"""Rounds of pairs: every pair once, and lanes that do not meet at an atom."""

import numpy as np
import pytest

from ligen_py.engine.genetic import pair_rounds


def some_pairs(atoms: int, count: int) -> np.ndarray:
    every = np.column_stack(np.triu_indices(atoms, 1))
    rng = np.random.default_rng(atoms)
    return every[np.sort(rng.choice(len(every), count, replace=False))]


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize(
    ("atoms", "count", "lanes"), [(8, 0, 32), (9, 1, 8), (18, 67, 32), (43, 737, 16), (43, 737, 32)]
)
def test_every_pair_is_met_once(atoms: int, count: int, lanes: int, *, apart: bool) -> None:
    pairs = some_pairs(atoms, count)
    table = pair_rounds.rounds(pairs, atoms, lanes, apart=apart)
    met = [
        (row, *sorted((center, other)))
        for center, one, two, first, second in table.reshape(-1, 5).tolist()
        for other, row in ((one, first), (two, second))
        if row != pair_rounds.NONE
    ]
    assert sorted(met) == [(row, i, j) for row, (i, j) in enumerate(pairs.tolist())]
    # What fills a round is the spot behind the atoms.
    assert (table[:, :, :3] <= atoms).all()
    assert (table[:, :, 1:3][table[:, :, 3:] == pair_rounds.NONE] == atoms).all()


@pytest.mark.parametrize("lanes", [8, 32])
def test_no_two_lanes_of_a_half_have_an_atom_in_the_same_role(lanes: int) -> None:
    table = pair_rounds.rounds(some_pairs(37, 471), 37, lanes, apart=True)
    for half in table.reshape(-1, lanes // 2, 5):
        for role in range(3):
            atoms = half[half[:, role] < 37, role]
            assert len(set(atoms.tolist())) == len(atoms)


def test_rounds_are_nearly_full_where_lanes_may_meet() -> None:
    table = pair_rounds.rounds(some_pairs(43, 737), 43, 32, apart=False)
    assert len(table) == -(-737 // 64)


@pytest.mark.parametrize(("atoms", "count", "most"), [(43, 737, 1.15), (60, 1500, 1.07)])
def test_few_lanes_are_idle_for_a_large_ligand(atoms: int, count: int, most: float) -> None:
    table = pair_rounds.rounds(some_pairs(atoms, count), atoms, 32, apart=True)
    assert len(table) <= most * count / 64
