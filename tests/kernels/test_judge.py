"""Who is the best of a population, and whether a run goes on: the kernel against its NumPy twin."""

import numpy as np
import pytest

from ligen_py.engine.genetic import batched
from ligen_py.engine.genetic.effort import LOOKS
from ligen_py.engine.genetic.reference import Stop
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import build
from ligen_py.settings.lga import LgaSettings

TORSIONS, RUNS, MOST = 3, 2, 10
"""Torsions of each ligand, its runs, and generations."""
LENGTH = batched.TORSION + TORSIONS
EVERY = (0, 1, 2)
"""Generations between two looks at each ligand; 0: there is no automatic stop."""


class Judged:
    """Runs of some ligands that a device judges, generation after generation."""

    def __init__(self, device: Device, population: int, deviation: float) -> None:
        self.device, self.population = device, population
        macros = {"MAX_GENES": LENGTH, "LOOKS": LOOKS, "WG_SUB_GROUPS": 1}
        self.program = build(device, batched.JUDGE, macros, 0, batched.STRUCTS)
        ligands = np.zeros(len(EVERY), batched.LIGAND)
        ligands["torsions"], ligands["stop_every"] = TORSIONS, EVERY
        ligands["evaluations"] = 1000
        ligands["first_gene"] = np.arange(len(EVERY)) * RUNS * population * LENGTH
        runs = np.zeros(len(EVERY) * RUNS, batched.RUN)
        runs["ligand"], runs["number"] = np.divmod(np.arange(len(runs)), RUNS)
        # Work-groups take the runs in an order of their own.
        self.order = np.arange(len(runs), dtype=np.int32)[::-1].copy()
        settings = np.zeros((), batched.SETTINGS)
        settings["population"], settings["generations"] = population, MOST
        settings["stop_deviation"] = deviation
        self.settings = settings
        self.tables = [buffers.upload(device, one) for one in (ligands, self.order)]
        self.runs = buffers.exchange(device, runs)
        self.champions = buffers.exchange(device, np.zeros(len(runs) * LENGTH, np.float32))

    def look(self, energies: np.ndarray, genes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The runs (`RUN`) and their champions' genes after one more generation."""
        lanes, count = self.device.sub_group_size, len(self.order)
        given = [buffers.upload(self.device, one.astype(np.float32)) for one in (genes, energies)]
        arguments = (self.settings[()], *self.tables, self.runs, *given, self.champions)
        self.program.kernel("judge")(self.device.queue, (count * lanes,), (lanes,), *arguments)
        runs = buffers.download(self.device, self.runs, count, batched.RUN)
        shape = count, LENGTH
        return runs, buffers.download(self.device, self.champions, shape, np.float32)


@pytest.mark.lanes_64("Oclgrind")
@pytest.mark.parametrize("population", [1, 9, 20, 33, 70, 150])
def test_the_best_and_the_stop_are_those_of_the_twin(device: Device, population: int) -> None:
    """Energies fall less and less; of equal ones the first counts, and errors do not."""
    if device.is_simulator and population not in (20, 33 if device.sub_group_size == 32 else 70):
        pytest.skip("the simulator runs one population smaller than its lanes, and one larger")
    settings = LgaSettings(population=max(2, population), stop_deviation=0.15)
    judged = Judged(device, population, settings.stop_deviation)
    rng, count = np.random.default_rng(population), len(EVERY) * RUNS
    lowest = int(rng.integers(population))
    stops, ended = [Stop(settings) for _ in range(count)], [0] * count
    for generation in range(MOST):
        energies = np.round(rng.normal(-8, 0.3 / (1 + generation**2), (count, population)), 2)
        energies[:, rng.integers(population, size=population // 3)] = 3e38
        energies[:, lowest] = -20
        energies[:, -1] = energies[:, 0]
        energies = energies.astype(np.float32)
        genes = rng.normal(size=(count, population, LENGTH)).astype(np.float32)
        runs, champions = judged.look(energies, genes)
        for row in np.flatnonzero(np.array(ended) == 0):
            best, every = int(energies[row].argmin()), EVERY[row // RUNS]
            assert runs["best"][row] == best
            assert runs["energy"][row] == energies[row, best]
            assert np.array_equal(champions[row], genes[row, best])
            assert runs["generations"][row] == generation + 1
            quiet = False
            if every and (generation + 1) % every == 0:
                quiet = stops[row].look(energies[row])
                looks = int(runs["looks"][row])
                assert looks == (generation + 1) // every
                assert runs["sums"][row][(looks - 1) % LOOKS] == stops[row].sums[-1]
                assert runs["lowest"][row][(looks - 1) % LOOKS] == stops[row].lowest[-1]
            last = generation + 1 == MOST
            assert runs["ended"][row] == (quiet or last)
            ended[row] = generation + 1 if quiet or last else 0
    assert ended[:RUNS] == [MOST, MOST]
    assert max(ended[RUNS : 2 * RUNS]) < MOST


def quiet_after(judged: Judged, looks: list[np.ndarray]) -> np.ndarray:
    """Which runs have ended after some generations of these energies (population,)."""
    count = len(judged.order)
    genes = np.zeros((count, judged.population, LENGTH), np.float32)
    for energies in looks:
        runs, _ = judged.look(np.tile(energies.astype(np.float32), (count, 1)), genes)
    ended: np.ndarray = runs["ended"]
    return ended


@pytest.mark.parametrize(("moved", "ended"), [(0.010, 1), (0.011, 0)])
@pytest.mark.parametrize("look", range(LOOKS))
def test_the_best_energy_may_move_a_hundredth(
    device: Device, look: int, moved: float, ended: int
) -> None:
    looks = [np.full(20, -5.0) for _ in range(LOOKS)]
    looks[look][7] -= moved
    twin = Stop(LgaSettings(stop_deviation=1.0))
    assert [twin.look(one) for one in looks] == [False, False, False, bool(ended)]
    assert quiet_after(Judged(device, 20, 1.0), looks)[RUNS] == ended


@pytest.mark.parametrize(("deviation", "ended"), [(0.0867, 1), (0.0865, 0)])
def test_the_best_tenth_may_deviate_so_much(device: Device, deviation: float, ended: int) -> None:
    """The lowest stays; the second of 20 moves by 0.2 kcal/mol between looks, half of the time."""
    looks = [np.linspace(-5.0, 5.0, 20) for _ in range(LOOKS)]
    looks[0][1] -= 0.4
    apart = np.std([one[:2].sum() for one in looks]) / 2
    assert apart == pytest.approx(0.0866, abs=1e-4)
    twin = Stop(LgaSettings(stop_deviation=deviation))
    assert [twin.look(one) for one in looks][-1] == bool(ended)
    assert quiet_after(Judged(device, 20, deviation), looks)[RUNS] == ended


def test_the_limit_of_evaluations_ends_a_run(device: Device) -> None:
    for used, ended in ((999, 0), (1000, 1)):
        judged = Judged(device, 9, 0.0)
        runs = np.zeros(len(judged.order), batched.RUN)
        runs["ligand"], runs["number"] = np.divmod(np.arange(len(runs)), RUNS)
        runs["evaluations"] = used
        judged.runs = buffers.exchange(device, runs)
        assert (quiet_after(judged, [np.zeros(9)]) == ended).all()


def test_a_run_that_has_ended_is_left_alone(device: Device) -> None:
    judged = Judged(device, 9, 0.0)
    runs = np.zeros(len(judged.order), batched.RUN)
    runs["ended"], runs["best"] = 1, 5
    judged.runs = buffers.exchange(device, runs)
    after, champions = judged.look(np.zeros((len(runs), 9)), np.ones((len(runs), 9, LENGTH)))
    assert np.array_equal(after, runs)
    assert not champions.any()
