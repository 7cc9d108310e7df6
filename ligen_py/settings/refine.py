"""How poses are refined."""

from pydantic import Field

from ligen_py.records.limits import MAX_RESTARTS
from ligen_py.settings.function import EnergyName
from ligen_py.settings.section import Section


class RefineSettings(Section):
    """How kept poses are refined in a chemical field, and which results are kept."""

    rounds: int = Field(
        1,
        ge=0,
        le=10_000,
        description="local minima visited from each pose; from 2 on a ligand with more than 6 "
        "rotatable bonds gets more, in proportion to the square of their number, at most 5 times "
        "as many; 0: poses are not changed",
    )
    evaluations: int = Field(
        15, ge=1, le=1000, description="most energy evaluations of one descent to a minimum"
    )
    temperature: float = Field(
        1.2,
        gt=0,
        le=100,
        description="a minimum this much higher is accepted with probability 1/e, in kcal/mol",
    )
    amplitude: float = Field(
        2.0, gt=0, le=10, description="largest random change between two minima, in Angstrom"
    )
    finalists: int = Field(
        4,
        ge=0,
        le=MAX_RESTARTS,
        description="poses refined to the end: again and again the quarter of lowest energy goes "
        "on with four times the rounds, until so many are left; 0: none goes on",
    )
    conformers_compete: bool = Field(
        False,
        description="of all conformers of a state together go on as many poses as of one, those of "
        "lowest energy; false: so many of each",
    )
    field: EnergyName = Field("vina", description="scoring function of the field")
    spacing: float = Field(
        0.375, ge=0.2, le=1.0, description="the field's grid spacing, in Angstrom"
    )
    max_num_poses: int = Field(
        30, ge=1, le=MAX_RESTARTS, description="refined poses kept per ligand"
    )
    cluster_rmsd: float = Field(
        1.0,
        ge=0,
        le=20,
        description="of poses within this heavy-atom RMSD only the best is kept, in Angstrom",
    )
    seed: int = Field(1, ge=0, le=2**31 - 1, description="seed of the random changes")
