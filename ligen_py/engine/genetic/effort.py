"""How many energy evaluations a run may take, and how patient it is, by the ligand's torsions."""

from ligen_py.settings.lga import LgaSettings, LocalSearch

FEWEST = 500_000
"""Evaluations of a run of the simplest ligand, by the heuristic, with `FULL_RUNS` runs."""
FULL_RUNS = 50
LOOKS_EVERY = 5
"""Generations between two looks of the automatic stop, AutoDock-GPU's."""
LOOKS = 4
"""Looks at the population that the automatic stop compares."""
FLEXIBLE, DOUBLING = 10, 1.25
"""With more torsions there are more generations; so many torsions double them."""
MOST_BETWEEN = 1000


def heuristic(torsions: int, runs: int, local_search: LocalSearch, limit: int = 12_000_000) -> int:
    """Evaluations of a run, as AutoDock-GPU 1.5 estimates them; BFGS has ADADELTA's.

    They come near `limit`, however many torsions there are.

    Source: D. Santos-Martins et al., J. Chem. Theory Comput. 17 (2021) 1060-1073, and its code.

    >>> heuristic(0, 20, "adadelta"), heuristic(15, 20, "adadelta")
    (1132075, 5969780)
    >>> heuristic(5, 20, "solis_wets")
    2781278
    """
    if local_search == "solis_wets":
        wanted = 1000 * 2 ** (1.3 * torsions + 4)
    else:
        wanted = 64_000 * 2 ** ((0.5 - 0.2 * torsions / (20 + torsions)) * torsions)
    wanted = max(wanted, FEWEST) * FULL_RUNS / runs
    return round(wanted * limit / (wanted + limit))


def most_evaluations(settings: LgaSettings, torsions: int) -> int:
    """Evaluations after which a run of a ligand ends."""
    if settings.evaluations:
        return settings.evaluations
    return heuristic(torsions, settings.runs, settings.local_search, settings.heuristic_limit)


def looks_every(settings: LgaSettings, torsions: int) -> int:
    """Generations between two looks of the automatic stop.

    >>> [looks_every(LgaSettings(), torsions) for torsions in (0, 10, 11, 12, 15, 18, 32)]
    [5, 5, 9, 15, 80, 422, 1000]
    """
    if settings.stop_every:
        return settings.stop_every
    more = 2 ** (max(torsions - FLEXIBLE, 0) / DOUBLING)
    return min(round(LOOKS_EVERY * more), MOST_BETWEEN)


def least_evaluations(settings: LgaSettings, torsions: int) -> int:
    """Evaluations of a run of a ligand, about, before the automatic stop can end it.

    Those after which it ends where they are fewer.

    >>> [least_evaluations(LgaSettings(), torsions) for torsions in (3, 15, 41)]
    [31000, 496000, 6200000]
    """
    generations = settings.generations
    if settings.stop:
        generations = min(generations, LOOKS * looks_every(settings, torsions))
    of_one = 1 + settings.iterations * settings.searched / 100
    wanted = round(generations * settings.population * of_one)
    return min(wanted, most_evaluations(settings, torsions))
