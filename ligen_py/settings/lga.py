"""How AutoDock's Lamarckian genetic algorithm searches."""

from typing import Literal

from pydantic import Field

from ligen_py.records.limits import MAX_RESTARTS
from ligen_py.settings.section import Section

LocalSearch = Literal["adadelta", "solis_wets", "bfgs"]


class LgaSettings(Section):
    """Independent runs of a genetic algorithm whose individuals are improved by a local search.

    Defaults are AutoDock-GPU's; a run decides by its own population alone when it stops.
    """

    runs: int = Field(
        20, ge=1, le=MAX_RESTARTS, description="independent runs per ligand, a pose each"
    )
    population: int = Field(150, ge=2, le=2048, description="individuals of a run")
    generations: int = Field(42_000, ge=1, le=1_000_000, description="most generations of a run")
    evaluations: int = Field(
        0,
        ge=0,
        le=2_000_000_000,
        description="most energy evaluations of a run; 0: by the ligand's torsions and `runs`",
    )
    local_search: LocalSearch = Field(
        "adadelta",
        description="adadelta: by gradients; solis_wets: by random steps",
    )
    searched: float = Field(
        100.0, ge=0, le=100, description="individuals that are improved, in percent"
    )
    iterations: int = Field(
        300, ge=0, le=10_000, description="most iterations of one local search; 0: none at all"
    )
    tournament: float = Field(
        60.0, ge=50, le=100, description="how often the better of two becomes a parent, in percent"
    )
    crossover: float = Field(
        80.0, ge=0, le=100, description="individuals with genes of two parents, in percent"
    )
    mutation: float = Field(2.0, ge=0, le=100, description="genes that are changed, in percent")
    stop: bool = Field(True, description="end a run whose population no longer improves")
    stop_every: int = Field(
        5, ge=1, le=1000, description="generations between two looks at the population"
    )
    stop_deviation: float = Field(
        0.15,
        gt=0,
        le=10,
        description="a run ends when the mean of its best tenth and its best vary less over four "
        "looks, in kcal/mol",
    )
    spacing: float = Field(
        0.375, ge=0.2, le=1.0, description="spacing of the maps' points, in Angstrom"
    )
    cluster_rmsd: float = Field(
        2.0,
        gt=0,
        le=20,
        description="runs that end nearer than this are one cluster, in Angstrom",
    )
    seed: int = Field(1, ge=0, le=2**31 - 1, description="seed of the random numbers")
