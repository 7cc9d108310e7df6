"""Of how many molecules gnina's networks judge the poses, and what they have to say."""

from pydantic import Field

from ligen_py.settings.section import Section


class NetworksSettings(Section):
    """How many of the best molecules gnina's networks look at, and how they choose poses."""

    best: int = Field(
        0,
        ge=0,
        le=100_000,
        description="best molecules of each target whose kept poses gnina's networks judge; 0: "
        "none",
    )
    weight: float = Field(
        2.0,
        ge=0,
        le=100,
        description="kcal/mol that a unit of the networks' logit takes off a pose's energy when "
        "they choose; 0: they choose nothing",
    )
