"""The genetic algorithm's twin on functions whose lowest point is known."""

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from ligen_py.engine.genetic import reference as twin
from ligen_py.engine.genetic.effort import heuristic
from ligen_py.engine.refinement.reference import Genotype
from ligen_py.records.limits import MAX_TORSIONS
from ligen_py.settings.lga import LgaSettings, LocalSearch

BOX = np.full(3, -5.0), np.full(3, 5.0)
GOAL = np.array([1.0, -2.0, 0.5])
ANGLES = np.array([0.3, -1.2])
SIZE = twin.Size(torsions=2, atoms=10, arm=1.0, first_inverse=lambda _: np.diag([1.0] * 8))


def bowl(genotype: Genotype) -> tuple[float, np.ndarray]:
    """Lowest, -10, at GOAL, without rotation, and with torsions ANGLES."""
    shift = genotype.translation - GOAL
    w, axis = genotype.quaternion[0], genotype.quaternion[1:]
    turn = 2 * np.arctan2(np.linalg.norm(axis), abs(w))
    apart = genotype.torsion - ANGLES
    energy = shift @ shift + turn**2 + 2 * (1 - np.cos(apart)).sum() - 10
    along = np.sign(w) * axis / max(np.linalg.norm(axis), 1e-9)
    return float(energy), np.concatenate([2 * shift, 2 * turn * along, 2 * np.sin(apart)])


def start(individual: int = 3) -> Genotype:
    return twin.first_genotype(twin.generation_key(1, 0, 0), individual, *BOX, 2)


def test_no_two_draws_of_a_step_are_the_same() -> None:
    """Each gene of the longest ligand has a draw for its step and one for whether it changes."""
    assert twin.CHANGED >= 6 + MAX_TORSIONS


def test_random_numbers_differ_by_every_counter() -> None:
    keys = {twin.generation_key(7, run, n) for run in range(20) for n in range(20)}
    assert len(keys) == 400
    draws = {twin.uniform(7, i, p, n) for i in range(10) for p in range(10) for n in range(10)}
    assert len(draws) == 1000
    assert all(0 <= u < 1 for u in draws)


def test_first_genotypes_fill_the_box_with_unit_quaternions() -> None:
    key = twin.generation_key(1, 0, 0)
    found = [twin.first_genotype(key, i, *BOX, 2) for i in range(300)]
    places = np.array([one.translation for one in found])
    assert (places >= -5).all()
    assert (places < 5).all()
    assert np.abs(places.mean(axis=0)).max() < 0.6
    quaternions = np.array([one.quaternion for one in found])
    assert np.linalg.norm(quaternions, axis=1) == pytest.approx(np.ones(300))
    # Uniform rotations: each component's mean square is a quarter.
    assert (quaternions**2).mean(axis=0) == pytest.approx(np.full(4, 0.25), abs=0.05)
    assert np.abs([one.torsion for one in found]).max() <= np.pi


@pytest.mark.parametrize("name", get_args(LocalSearch))
def test_local_searches_go_down(name: str) -> None:
    for individual in range(5):
        begin = start(individual)
        if name == "adadelta":
            found = twin.adadelta(bowl, begin, 300)
        elif name == "bfgs":
            found = twin.bfgs(bowl, begin, 300, SIZE)
        else:
            found = twin.solis_wets(bowl, begin, 300, 5, individual, SIZE)
        before = bowl(begin)[0]
        assert found.energy < before - 0.3 * (before + 10)
        assert bowl(found.genotype)[0] == found.energy
        assert found.evaluations <= 601


def test_adadelta_stops_when_nothing_improves() -> None:
    flat = twin.adadelta(lambda genotype: (1.0, np.zeros(8)), start(), 300)
    # The first is a success; then 7 times 4 failures halve the steps to under a hundredth.
    assert flat.evaluations == 1 + 7 * 4
    assert flat.energy == 1.0


def test_adadelta_stops_where_it_gains_little() -> None:
    energies = iter(np.arange(1000, 0, -1) * 0.9 * twin.GAIN)
    slow = twin.adadelta(lambda genotype: (next(energies), np.zeros(8)), start(), 300)
    assert slow.evaluations == 1 + 7 * 4
    assert slow.energy == pytest.approx((1000 - 28) * 0.9 * twin.GAIN)  # but it is kept


def test_adadelta_forgets_a_steep_past() -> None:
    """After one huge derivative its steps are as large as after one that is merely large."""
    places = []
    for first in (1e9, 2 * twin.MOST_RISE / twin.UNIT_SHIFT):
        slopes = iter([first, *[1.0] * 20])
        met: list[float] = []

        def slope(
            genotype: Genotype, slopes: Iterator[float] = slopes, met: list[float] = met
        ) -> tuple[float, np.ndarray]:
            met.append(genotype.translation[0])
            return -float(len(met)), np.concatenate([[next(slopes)], np.zeros(7)])

        twin.adadelta(slope, start(), 20)
        places.append(met)
    assert places[0] == places[1]
    assert places[0][0] - places[0][-1] > 1


def test_the_genes_of_an_orientation_are_angles_of_its_axis_and_turn() -> None:
    # A quarter turn about an axis in the plane of x and z, half way between them.
    q = twin.rotation_by(np.array([0, np.pi / 4, np.pi / 2]))
    assert q == pytest.approx([np.sqrt(0.5), 0.5, 0, 0.5])
    for individual in range(50):
        q = start(individual).quaternion
        angles = twin.axis_angles(q)
        assert twin.rotation_by(angles) == pytest.approx(q)
        assert -np.pi <= angles[0] <= np.pi
        assert 0 <= angles[1] <= np.pi
        assert 0 <= angles[2] <= 2 * np.pi


def test_solis_wets_stops_when_nothing_improves() -> None:
    flat = twin.solis_wets(lambda genotype: (1.0, np.zeros(8)), start(), 300, 5, 0, SIZE)
    assert flat.evaluations == 1 + 2 * 7 * 4


def test_bfgs_leaves_a_minimum_at_once() -> None:
    at_goal = twin.Genotype(GOAL, np.array([1.0, 0, 0, 0]), ANGLES)
    found = twin.bfgs(bowl, at_goal, 60, SIZE)
    assert (found.evaluations, found.energy) == (1, -10)
    # Its quadratic part is found within a few steps of a descent from anywhere.
    near = twin.bfgs(bowl, start(), 60, SIZE)
    assert near.energy == pytest.approx(-10, abs=1e-3)
    assert 5 < near.evaluations < 40


def test_solis_and_wets_steps_change_few_genes_and_turn_large_ligands_less() -> None:
    size = replace(SIZE, torsions=10, atoms=25)
    angles = np.array([0.3, 1.2, 2.0])
    begin = twin.Genotype(np.zeros(3), twin.rotation_by(angles), np.zeros(10))
    steps: list[np.ndarray] = []

    def flat(genotype: twin.Genotype) -> tuple[float, np.ndarray]:
        turn = twin.axis_angles(genotype.quaternion) - angles
        turn[np.abs(turn) < 1e-12] = 0
        steps.append(np.concatenate([genotype.translation, turn, genotype.torsion]))
        return 1.0, np.zeros(size.freedoms)

    for individual in range(200):
        twin.solis_wets(flat, begin, 1, 5, individual, size)
    first = np.array(steps[1::3])  # behind the start: the step, and its opposite
    assert first == pytest.approx(-np.array(steps[2::3]))
    assert (first != 0).mean() == pytest.approx(0.25, abs=0.02)  # one to the root of 16
    most = np.abs(first).max(axis=0)
    assert most[:3].max() == pytest.approx(2 * np.sqrt(3), rel=0.1)
    assert most[6:].max() == pytest.approx(np.deg2rad(75 * np.sqrt(3)) / 4, rel=0.05)
    assert most[3:6].max() == pytest.approx(np.deg2rad(75 * np.sqrt(3)) / 5, rel=0.1)


def test_children_have_genes_of_their_parents() -> None:
    population = [start(i) for i in range(20)]
    energies = np.arange(20.0)
    settings = LgaSettings(population=20, mutation=0, tournament=100)
    for individual in range(50):
        child = twin.bred(9, individual, population, energies, settings)
        assert all(any(x == p.translation[i] for p in population) for i, x in
                   enumerate(child.translation))  # fmt: skip
        angles = np.array([twin.axis_angles(p.quaternion) for p in population])
        genes = twin.axis_angles(child.quaternion)
        assert all(np.isclose(angles[:, n], genes[n]).any() for n in range(3))
        assert all(any(x == p.torsion[i] for p in population) for i, x in enumerate(child.torsion))


def test_tournaments_prefer_the_better() -> None:
    population = [start(i) for i in range(20)]
    ranks = {}
    for wins in (50, 60, 100):
        settings = LgaSettings(population=20, mutation=0, crossover=0, tournament=wins)
        chosen = [
            twin.bred(9, i, population, np.arange(20.0), settings).translation[0]
            for i in range(1000)
        ]
        places = [p.translation[0] for p in population]
        ranks[wins] = np.mean([places.index(x) for x in chosen])
    lower = 19 * 39 / (6 * 20)  # mean rank of the lower of two of n: (n - 1)(2n - 1) / 6n
    assert ranks[50] == pytest.approx(9.5, abs=0.5)
    assert ranks[60] == pytest.approx(0.8 * 9.5 + 0.2 * lower, abs=0.5)  # 60 % wins, 40 % losses
    assert ranks[100] == pytest.approx(lower, abs=0.5)


def test_mutations_change_as_many_genes_as_asked() -> None:
    settings = LgaSettings(population=2, mutation=25, crossover=0)
    one = start(0)
    children = [twin.bred(9, i, [one, one], np.zeros(2), settings) for i in range(300)]
    moved = np.array([child.translation != one.translation for child in children])
    turned = np.array([child.torsion != one.torsion for child in children])
    assert moved.mean() == pytest.approx(0.25, abs=0.05)
    assert turned.mean() == pytest.approx(0.25, abs=0.06)
    shifts = np.array([child.translation - one.translation for child in children])
    assert np.abs(shifts).max() <= twin.SHIFT


@pytest.mark.parametrize("local_search", get_args(LocalSearch))
def test_a_run_finds_the_lowest_point(local_search: str) -> None:
    settings = LgaSettings(population=10, generations=20, iterations=60, local_search=local_search)
    found = twin.search(bowl, BOX, SIZE, 11, 0, settings, 100_000)
    assert found.energy < -9.8
    assert found.genotype.translation == pytest.approx(GOAL, abs=0.3)
    again = twin.search(bowl, BOX, SIZE, 11, 0, settings, 100_000)
    assert (again.energy, again.evaluations) == (found.energy, found.evaluations)


def test_the_stop_needs_a_still_population() -> None:
    stop = twin.Stop(LgaSettings(population=20))
    rng = np.random.default_rng(0)
    still = -8 + rng.random(20)
    assert [stop.look(still) for _ in range(4)] == [False, False, False, True]
    assert not stop.look(still - 1)
    assert [stop.look(still - 1) for _ in range(3)] == [False, False, True]


def test_the_stop_waits_while_the_best_improves() -> None:
    stop = twin.Stop(LgaSettings(population=100))
    energies = np.full(100, -8.0)
    for _ in range(10):  # by 0.02, which hardly moves the mean of the best tenth
        energies[0] -= 0.02
        assert not stop.look(energies)
    assert [stop.look(energies - 0.01) for _ in range(3)] == [False, False, True]


def test_the_heuristic_grows_with_torsions_and_has_a_limit() -> None:
    for kind in get_args(LocalSearch):
        values = [heuristic(n, 20, kind) for n in range(33)]
        assert values == sorted(values)
        assert 11_000_000 < max(values) <= 12_000_000
    assert heuristic(5, 50, "adadelta") < heuristic(5, 20, "adadelta")
    assert heuristic(32, 20, "adadelta", 100_000) < 100_000
