"""Steps of pairs: every pair once, and lanes that do not meet at a partner."""

import numpy as np
import pytest

from ligen_py.engine.genetic import pair_steps


def some_pairs(atoms: int, count: int) -> np.ndarray:
    every = np.column_stack(np.triu_indices(atoms, 1))
    rng = np.random.default_rng(atoms)
    return every[np.sort(rng.choice(len(every), count, replace=False))]


CASES = [(8, 0, 32), (9, 1, 8), (18, 67, 32), (43, 737, 16), (43, 737, 32), (100, 3000, 32)]


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize(("atoms", "count", "lanes"), CASES)
def test_every_pair_is_met_once(atoms: int, count: int, lanes: int, *, apart: bool) -> None:
    pairs = some_pairs(atoms, count)
    table = pair_steps.steps(pairs, atoms, lanes, apart=apart)
    assert len(table) % 2 == 0
    own, partner, row = table.reshape(-1, 3).T
    some = row != pair_steps.NONE
    order = np.argsort(row[some])
    assert np.array_equal(row[some][order], np.arange(count))
    ends = np.sort(np.column_stack([own, partner])[some][order], axis=1)
    assert np.array_equal(ends, pairs)
    # What fills a step meets the spot behind the atoms.
    assert (own <= atoms).all()
    assert (partner[~some] == atoms).all()


@pytest.mark.parametrize(("atoms", "count", "lanes"), CASES)
def test_lanes_of_a_half_have_atoms_and_partners_of_their_own(
    atoms: int, count: int, lanes: int
) -> None:
    table = pair_steps.steps(some_pairs(atoms, count), atoms, lanes, apart=True)
    for half in table.reshape(-1, lanes // 2, 3):
        for role in (0, 1):
            here = half[half[:, role] < atoms, role].tolist()
            assert len(set(here)) == len(here)


def test_lanes_own_others_in_an_even_number_of_steps() -> None:
    own = pair_steps.steps(some_pairs(70, 1000), 70, 32, apart=True)[:, :, 0]
    assert np.array_equal(own[::2], own[1::2])
    blocks = np.unique(own // 32, axis=0)
    assert len(np.unique(own, axis=0)) == len(blocks) == 3


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize(
    ("atoms", "count", "lanes", "most"),
    [
        *((18, 67, 32, 4), (37, 471, 32, 18), (43, 737, 32, 26), (64, 1500, 32, 50)),
        *((43, 737, 8, 100), (43, 700, 32, 24), (40, 600, 32, 20)),
    ],
)
def test_few_lanes_are_idle(atoms: int, count: int, lanes: int, most: int, *, apart: bool) -> None:
    """No more steps than a tenth above full ones, but for even numbers; the last two cases need
    pairs of the first block in idle lanes of the second."""
    assert len(pair_steps.steps(some_pairs(atoms, count), atoms, lanes, apart=apart)) <= most


def test_lanes_that_read_together_mostly_read_from_different_banks() -> None:
    table = pair_steps.steps(some_pairs(28, 200), 28, 32, apart=True)
    times = []
    for lanes in table[:, :, 1].reshape(-1, pair_steps.BANKS):
        banks = np.array(sorted(set(lanes.tolist()))) % pair_steps.BANKS
        times.append(np.bincount(banks).max())
    # Eight lanes whose atoms are drawn at random take 2.6 cycles on average.
    assert np.mean(times) < 2.0
