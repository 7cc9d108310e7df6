"""How molecules are ranked, and what the campaign file contains."""

from typing import Literal

from pydantic import Field

from ligen_py.settings.section import Section


class AggregateSettings(Section):
    """What the campaign file contains beside all scores."""

    rank_by: Literal["score", "consensus"] = Field(
        "score",
        description="rank by the score, or by the mean of the ranks by all scoring functions",
    )
    top_poses: int = Field(
        1000, ge=1, le=1_000_000, description="ligands per target whose best pose is stored"
    )
    max_drift: float = Field(
        0.9,
        ge=0,
        le=1,
        description="largest Kolmogorov-Smirnov distance between the scores of a chunk and those "
        "of the first chunks; beyond it the campaign fails",
    )
