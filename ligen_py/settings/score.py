"""Which scoring functions are evaluated, and how they choose poses and rank molecules."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from ligen_py.functions import FUNCTIONS
from ligen_py.settings.function import FunctionName
from ligen_py.settings.section import Section, from_json

Weight = Annotated[float, Field(ge=0, le=100)]


class ScoreSettings(Section):
    """Which scoring functions are evaluated, and how they choose poses and rank molecules."""

    functions: tuple[FunctionName, ...] = Field(
        ("vina", "ad4", "xscore"),
        min_length=1,
        description="scoring functions, one column a term",
    )
    rank_by: Literal["energy", "networks", "first"] = Field(
        "energy",
        description="a molecule's score: minus the energy that chooses its pose, less the free "
        "ligand's, divided by a function of torsions and size; networks: that, and "
        "0.3 times the logit of gnina's networks; or the first function's value",
    )
    state_cost: bool = Field(
        True,
        description="add the cost of a ligand's protonation state and tautomer to the energy by "
        "which states and molecules compete",
    )
    strain_cost: float = Field(
        0.5,
        ge=0,
        le=10,
        description="share of the strain of a conformer's rings that is added to that energy",
    )
    row_cost: float = Field(
        0.4,
        ge=0,
        le=10,
        description="kcal/mol that are added to that energy, times the natural logarithm of the "
        "number of stereoisomers that a state is docked in, and of conformers of unknown strain; "
        "0: the best of many wins by chance",
    )
    check_every: int = Field(
        1000,
        ge=0,
        le=1_000_000_000,
        description="one best pose in this many, at least 20 a chunk, is scored again by the NumPy "
        "twin; 0: none",
    )
    max_suspect: float = Field(
        0.5,
        ge=0,
        le=1,
        description="a chunk with a larger fraction of implausible scores fails",
    )
    pose_weights: dict[FunctionName, Weight] = Field(
        {"vina": 1.0, "ad4": 0.5, "gnina": 2.0},
        description="weights of the functions' energies in the choice of a ligand's pose, and in "
        "its score; of gnina's logit in the choice alone, in kcal/mol",
    )

    _weights = field_validator("pose_weights", mode="before")(from_json)

    @model_validator(mode="after")
    def _something_ranks(self) -> Self:
        if self.rank_by == "networks" and "gnina" not in self.functions:
            raise ValueError(
                "'rank_by' is networks, but 'functions' has none; add gnina, or set 'rank_by' to "
                "energy"
            )
        if self.rank_by != "first" and not any(
            FUNCTIONS[name].is_energy for name in self.functions
        ):
            raise ValueError(
                "'functions' has no energy, by which molecules rank; add one, such as vina, or set "
                "'rank_by' to first"
            )
        return self
