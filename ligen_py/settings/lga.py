"""How AutoDock's Lamarckian genetic algorithm searches."""

from typing import Any, Literal

from pydantic import Field, model_validator

from ligen_py.records.limits import MAX_RESTARTS
from ligen_py.settings.section import Section

LocalSearch = Literal["bfgs", "adadelta", "solis_wets"]


AUTODOCK = {"population": 150, "iterations": 300, "crossover": 80.0, "stop_every": 5}
OF_LOCAL_SEARCH: dict[str, dict[str, Any]] = {"adadelta": AUTODOCK, "solis_wets": AUTODOCK}
"""Local search -> what differs from the defaults, which are those of `bfgs`."""


class LgaSettings(Section):
    """Independent runs of a genetic algorithm whose individuals are improved by a local search.

    With `adadelta` and `solis_wets` the defaults are AutoDock-GPU's; a run decides by its own
    population alone when it stops.
    """

    runs: int = Field(
        20, ge=1, le=MAX_RESTARTS, description="independent runs per ligand, a pose each"
    )
    restarts: int = Field(
        0,
        ge=0,
        le=MAX_RESTARTS,
        description="restarts of LiGen's search, whose best poses are refined and scored beside "
        "those of the runs; 0: none",
    )
    population: int = Field(
        50,
        ge=2,
        le=2048,
        description="individuals of a run; with adadelta and solis_wets the default is 150",
    )
    generations: int = Field(42_000, ge=1, le=1_000_000, description="most generations of a run")
    evaluations: int = Field(
        0,
        ge=0,
        le=2_000_000_000,
        description="most energy evaluations of a run; 0: by the ligand's torsions and `runs`",
    )
    heuristic_limit: int = Field(
        12_000_000,
        ge=1,
        le=2_000_000_000,
        description="the most that evaluations by torsions come near to",
    )
    local_search: LocalSearch = Field(
        "bfgs",
        description="bfgs and adadelta: by gradients; solis_wets: by random steps. The last two "
        "have AutoDock-GPU's defaults",
    )
    searched: float = Field(
        100.0, ge=0, le=100, description="individuals that are improved, in percent"
    )
    iterations: int = Field(
        30,
        ge=0,
        le=10_000,
        description="most iterations of one local search, of bfgs its evaluations; 0: none at all. "
        "With adadelta and solis_wets the default is 300",
    )
    tournament: float = Field(
        60.0, ge=50, le=100, description="how often the better of two becomes a parent, in percent"
    )
    crossover: float = Field(
        20.0,
        ge=0,
        le=100,
        description="individuals with genes of two parents, in percent; with adadelta and "
        "solis_wets the default is 80",
    )
    mutation: float = Field(2.0, ge=0, le=100, description="genes that are changed, in percent")
    stop: bool = Field(True, description="end a run whose population no longer improves")
    stop_every: int = Field(
        0,
        ge=0,
        le=1000,
        description="generations between two looks at the population; 0: by the ligand's torsions. "
        "With adadelta and solis_wets the default is 5",
    )
    stop_deviation: float = Field(
        0.15,
        gt=0,
        le=10,
        description="a run ends when over four looks the mean energy of its best tenth deviates "
        "less and its best stays within 0.01, in kcal/mol",
    )
    spacing: float = Field(
        0.375, ge=0.2, le=1.0, description="spacing of the maps' points, in Angstrom"
    )
    seed: int = Field(1, ge=0, le=2**31 - 1, description="seed of the random numbers")

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        search = values.get("local_search")
        return (OF_LOCAL_SEARCH.get(search, {}) if isinstance(search, str) else {}) | values
