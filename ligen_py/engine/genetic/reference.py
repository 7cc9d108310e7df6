"""The NumPy twin of both forms of AutoDock's Lamarckian genetic algorithm, readable.

It is the specification, in float64; energies and gradients are those of
`ligen_py.engine.refinement.reference.Problem` with `WALL` and `STEEPEST`. A whole run is chaotic
(it decides by comparing energies), so a kernel agrees with it to rounding over single generations
and short local searches only. Random numbers are functions of ligand, run, generation, individual
and gene alone.

Sources: G. M. Morris et al., J. Comput. Chem. 19 (1998) 1639-1662 (the algorithm); F. J. Solis,
R. J.-B. Wets, Math. Oper. Res. 6 (1981) 19-30; M. D. Zeiler, arXiv:1212.5701 (ADADELTA);
D. Santos-Martins et al., J. Chem. Theory Comput. 17 (2021) 1060-1073 (its constants).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ligen_py.engine.genetic.effort import LOOKS, looks_every
from ligen_py.engine.random import philox
from ligen_py.engine.refinement.ligand_keys import RIGID
from ligen_py.engine.refinement.reference import Genotype, descend
from ligen_py.settings.lga import LgaSettings

CHOICE, MUTATED, AMOUNT, START, STEP = 0, 1, 2, 3, 4
"""What a random number is for; iteration i of Solis and Wets' search draws by STEP + i."""

SHIFT, TURN = 6.0, np.pi / 2
"""The largest mutation: of the position, Angstrom, and of an angle."""

STEP_SHIFT, STEP_TURN = 2 * np.sqrt(3), np.deg2rad(75 * np.sqrt(3))
"""The largest random step of Solis and Wets' search at its start, Angstrom and radians."""
CHANGED = 128
"""A gene's number plus this is that of the draw that decides whether such a step changes it."""
IN_A_ROW = 4
"""Successes after which the steps grow, and failures after which they shrink, by 2."""
SMALLEST = 0.01
"""A local search ends when its steps have shrunk to this part of the first."""

WALL = 1e6
"""Energy an atom pays per Angstrom outside the box, kcal/mol: more than any clash in it."""
STEEPEST = 8.0
"""The most that gradients have of an atom's force in the maps and of a pair's, kcal/mol/A: so
that the worst clash alone does not decide where to go."""

UNIT_SHIFT, UNIT_TURN, UNIT_TORSION = 0.75, np.deg2rad(4), np.deg2rad(2)
"""Units of ADADELTA: of the position, Angstrom, of the orientation and of torsions, radians."""
MOST_RISE = 8.0
"""What ADADELTA sees of a derivative at most, kcal/mol a unit: it forgets a steep past soon."""
GAIN = 0.01
"""By which an energy must be lower to count as a success of ADADELTA, kcal/mol."""
MEMORY, SMALL = 0.8, 0.01
"""ADADELTA's decay of what was before, and what keeps its first step from being none."""

TENTH = 10
"""It looks at one in so many individuals, the best."""
STILL = 10
"""What the best energy may move in these looks, cal/mol."""
LIMIT = 10_000
"""Energies count as this high or low at most in the automatic stop, kcal/mol."""

Evaluate = Callable[[Genotype], tuple[float, np.ndarray]]
"""Energy of a genotype, kcal/mol, and its gradient (6 + torsions,)."""


@dataclass(frozen=True)
class Size:
    """What of a ligand sets the steps of its local searches."""

    torsions: int
    atoms: int
    arm: float
    """Of a rotation, Angstrom: how far atoms are from the centre, as in the refinement."""
    first_inverse: Callable[[Genotype], np.ndarray]
    """The inverse Hessian (freedoms, freedoms) with which a search by BFGS begins."""

    @property
    def freedoms(self) -> int:
        """Degrees of freedom: translation, rotation vector, torsions."""
        return RIGID + self.torsions

    @property
    def squared_scale(self) -> np.ndarray:
        """Unit of each degree of freedom, squared: one that moves atoms by about an Angstrom."""
        arm = np.concatenate([np.ones(3), np.full(3, self.arm), np.full(self.torsions, 2.0)])
        return 1 / arm**2

    @property
    def reach(self) -> np.ndarray:
        """The largest random step of Solis and Wets' search at its start, by degree of freedom."""
        angles = np.full(self.torsions, STEP_TURN / np.sqrt(self.freedoms))
        rigid = np.repeat([STEP_SHIFT, STEP_TURN / np.sqrt(self.atoms)], 3)
        return np.concatenate([rigid, angles])


def axis_angles(quaternion: np.ndarray) -> np.ndarray:
    """AutoDock's genes of an orientation (w, x, y, z), radians.

    The axis' angle about z and that from z, and that of the turn about it.
    """
    w, x, y, z = quaternion
    flat = np.hypot(x, y)
    return np.array([np.arctan2(y, x), np.arctan2(flat, z), 2 * np.arctan2(np.hypot(flat, z), w)])


def rotation_by(angles: np.ndarray) -> np.ndarray:
    """The quaternion (w, x, y, z) of such genes."""
    around, down, turn = angles
    x, y = np.sin(down) * np.cos(around), np.sin(down) * np.sin(around)
    return np.array([np.cos(turn / 2), *(np.sin(turn / 2) * np.array([x, y, np.cos(down)]))])


def genes_of(genotype: Genotype) -> np.ndarray:
    """Its genes (6 + torsions,): position, the angles of the orientation, torsions."""
    angles = axis_angles(genotype.quaternion)
    return np.concatenate([genotype.translation, angles, genotype.torsion])


def genotype_of(genes: np.ndarray) -> Genotype:
    """The genotype with these genes."""
    return Genotype(genes[:3], rotation_by(genes[3:RIGID]), genes[RIGID:])


def generation_key(key: int, run: int, generation: int) -> int:
    """The key of the random numbers of one generation of one run of a ligand."""
    return int(philox(*(np.array(value) for value in (key, run, generation))))


def uniform(key: int, individual: int, purpose: int, number: int) -> float:
    """Uniform in 0 <= u < 1, 24 bits, from the key of a generation."""
    bits = philox(np.array(key), np.array(individual << 16 | purpose), np.array(number))
    return int(bits >> np.uint32(8)) / 2**24


def first_genotype(
    key: int, individual: int, origin: np.ndarray, last: np.ndarray, torsions: int
) -> Genotype:
    """An individual of the first generation: anywhere in the box, any orientation and torsions."""
    u = np.array([uniform(key, individual, START, n) for n in range(RIGID + torsions)])
    one, two = np.sqrt(1 - u[3]), np.sqrt(u[3])
    alpha, beta = 2 * np.pi * u[4:6]
    return Genotype(
        origin + u[:3] * (last - origin),
        np.array(
            [two * np.cos(beta), one * np.sin(alpha), one * np.cos(alpha), two * np.sin(beta)]
        ),
        np.pi * (2 * u[RIGID:] - 1),
    )


def bred(
    key: int,
    individual: int,
    population: Sequence[Genotype],
    energies: np.ndarray,
    settings: LgaSettings,
) -> Genotype:
    """A child of two parents that won their tournaments, with its mutations."""

    def draw(number: int) -> float:
        """The child's random number of some purpose, from 0 to below 1."""
        return uniform(key, individual, CHOICE, number)

    def parent(first: int) -> Genotype:
        """The winner of two drawn at random: the better one in `tournament` % of the cases.

        Few tournaments look at energies: the others are won by the first drawn, which is the
        better one in half of the cases. `first`, `first` + 1 and `first` + 2 number the draws.
        """
        one, two = (int(draw(first + n) * len(population)) for n in (0, 1))
        compared = draw(first + 2) < settings.tournament / 50 - 1
        return population[two if compared and energies[two] < energies[one] else one]

    mother, father = parent(0), parent(3)
    genes = np.arange(RIGID + len(mother.torsion))
    low, high = sorted(int(draw(n) * (len(genes) - 1)) for n in (7, 8))
    swapped = (genes > low) & ((genes <= high) | (low == high))
    if draw(6) >= settings.crossover / 100:
        swapped[:] = False
    child = np.where(swapped, genes_of(father), genes_of(mother))
    for gene in genes.tolist():
        if uniform(key, individual, MUTATED, gene) < settings.mutation / 100:
            amount = 2 * uniform(key, individual, AMOUNT, gene) - 1
            child[gene] += amount * (SHIFT if gene < 3 else TURN)
    return genotype_of(child)


@dataclass
class Pace:
    """How large the steps of a local search are: twice after successes, half after failures."""

    size: float = 1.0
    row: int = 0
    """Successes (positive) or failures (negative) in a row."""

    def count(self, success: bool) -> None:
        """Note a success or a failure."""
        self.row = max(self.row, 0) + 1 if success else min(self.row, 0) - 1
        if abs(self.row) == IN_A_ROW:
            self.size *= 2 if success else 0.5
            self.row = 0


@dataclass(frozen=True)
class Improved:
    """Where a local search ended, and what it took."""

    energy: float
    genotype: Genotype
    evaluations: int


def adadelta(evaluate: Evaluate, start: Genotype, iterations: int) -> Improved:
    """Steps against the gradient, each gene's by its own past; the best genotype that was met."""
    place, best, lowest = start, start, np.inf
    freedoms = RIGID + len(start.torsion)
    unit = np.repeat([UNIT_SHIFT, UNIT_TURN, UNIT_TORSION], [3, 3, freedoms - RIGID])
    gradients, steps, pace = np.zeros(freedoms), np.zeros(freedoms), Pace()
    evaluations = 0
    while evaluations < iterations and pace.size > SMALLEST:
        energy, gradient = evaluate(place)
        evaluations += 1
        pace.count(energy < lowest - GAIN)
        if energy < lowest:
            lowest, best = energy, place
        g = np.clip(gradient * unit, -MOST_RISE, MOST_RISE)
        gradients = MEMORY * gradients + (1 - MEMORY) * g**2
        step = -g * np.sqrt((steps + SMALL) / (gradients + SMALL))
        steps = MEMORY * steps + (1 - MEMORY) * step**2
        place = place.moved(step * unit)
    return Improved(lowest, best, evaluations)


def bfgs(evaluate: Evaluate, start: Genotype, iterations: int, size: Size) -> Improved:
    """Steps to the minimum of a parabola that past gradients describe: a descent of `refine`."""
    evaluations = 0

    def counted(genotype: Genotype) -> tuple[float, np.ndarray]:
        nonlocal evaluations
        evaluations += 1
        return evaluate(genotype)

    lowest, place = descend(
        counted, start, iterations, size.squared_scale, size.first_inverse(start)
    )
    return Improved(lowest, place, evaluations)


def solis_wets(
    evaluate: Evaluate, start: Genotype, iterations: int, key: int, individual: int, size: Size
) -> Improved:
    """Random steps, in the opposite direction where they do not help, with a bias from the past.

    A step changes few of many genes: each with a probability of one to the root of their number.
    """
    best, place, lowest, evaluations = start, genes_of(start), evaluate(start)[0], 1
    genes = range(size.freedoms)
    share = 1 / np.sqrt(size.freedoms)
    bias, pace = np.zeros(size.freedoms), Pace()
    for iteration in range(iterations):
        if pace.size <= SMALLEST:
            break
        draws = np.array([uniform(key, individual, STEP + iteration, gene) for gene in genes])
        changed = np.array(
            [uniform(key, individual, STEP + iteration, CHANGED + gene) < share for gene in genes]
        )
        deviate = pace.size * size.reach * (2 * draws - 1) * changed
        success = False
        for sign in (1, -1):
            there = place + sign * (deviate + bias)
            energy = evaluate(genotype_of(there))[0]
            evaluations += 1
            if energy < lowest:
                best, place, lowest, success = genotype_of(there), there, energy, True
                bias = 0.6 * bias + sign * 0.4 * deviate
                break
        else:
            bias = 0.5 * bias
        pace.count(success)
    return Improved(lowest, best, evaluations)


def improved(
    evaluate: Evaluate,
    start: Genotype,
    settings: LgaSettings,
    key: int,
    individual: int,
    size: Size,
) -> Improved:
    """An individual after its local search, or its own energy where it has none."""
    chance = uniform(key, individual, CHOICE, 9)
    if not settings.iterations or chance >= settings.searched / 100:
        return Improved(evaluate(start)[0], start, 1)
    if settings.local_search == "adadelta":
        return adadelta(evaluate, start, settings.iterations)
    if settings.local_search == "bfgs":
        return bfgs(evaluate, start, settings.iterations, size)
    return solis_wets(evaluate, start, settings.iterations, key, individual, size)


@dataclass
class Stop:
    """Whether a run goes on, by the best tenth of its population in the last few looks."""

    settings: LgaSettings
    sums: list[int] = field(default_factory=list)
    lowest: list[int] = field(default_factory=list)

    def look(self, energies: np.ndarray) -> bool:
        """Whether the run has ended: neither the best tenth nor the best improves."""
        known = np.where(np.isnan(energies), LIMIT, energies)
        milli = np.rint(np.clip(known, -LIMIT, LIMIT) * 1000).astype(int)
        tenth = max(1, len(energies) // TENTH)
        ordered = milli[np.argsort(milli, kind="stable")]
        self.sums = [*self.sums, int(ordered[:tenth].sum())][-LOOKS:]
        self.lowest = [*self.lowest, int(ordered[0])][-LOOKS:]
        limit = self.settings.stop_deviation * 1000
        quiet = np.std(self.sums) < limit * tenth and np.ptp(self.lowest) <= STILL
        return bool(len(self.sums) == LOOKS and quiet)


@dataclass(frozen=True)
class Run:
    """The best individual of a run."""

    energy: float
    genotype: Genotype
    evaluations: int
    generations: int


def search(
    evaluate: Evaluate,
    box: tuple[np.ndarray, np.ndarray],
    size: Size,
    key: int,
    run: int,
    settings: LgaSettings,
    evaluations: int,
) -> Run:
    """A whole run.

    Args:
        evaluate: energies of the ligand.
        box: first and last corner, Angstrom.
        size: of the ligand.
        key: of the ligand's random numbers.
        run: its number.
        settings: of the stage.
        evaluations: after so many it ends.
    """
    population: list[Genotype] = []
    energies = np.zeros(0)
    stop, used = Stop(settings), 0
    for generation in range(settings.generations):
        own = generation_key(key, run, generation)
        found = []
        for individual in range(settings.population):
            if generation and not individual:  # the best survives as it is
                best = lowest(energies)
                found.append(Improved(energies[best], population[best], 0))
                continue
            if generation:
                start = bred(own, individual, population, energies, settings)
            else:
                start = first_genotype(own, individual, *box, size.torsions)
            found.append(improved(evaluate, start, settings, own, individual, size))
        population = [one.genotype for one in found]
        energies = np.array([one.energy for one in found])
        used += sum(one.evaluations for one in found)
        due = settings.stop and (generation + 1) % looks_every(settings, size.torsions) == 0
        if (due and stop.look(energies)) or used >= evaluations:
            break
    best = lowest(energies)
    return Run(float(energies[best]), population[best], used, generation + 1)


def lowest(energies: np.ndarray) -> int:
    """The number of the lowest energy, the first of equals; what is no number comes last."""
    return int(np.where(np.isnan(energies), np.inf, energies).argmin())
