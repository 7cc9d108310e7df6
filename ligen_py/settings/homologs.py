"""How proteins are compared, and which of those found are anti-targets."""

from typing import Self

from pydantic import Field, model_validator

from ligen_py.settings.section import Section


class HomologsSettings(Section):
    """How queries are aligned with a database (Smith-Waterman, affine gaps)."""

    matrix: str = Field(
        "BLOSUM62",
        description="BLOSUM45, 50, 62, 80, 90, PAM30, 70, 250, or a file in NCBI's format",
    )
    gap_first: int = Field(
        10,
        ge=1,
        le=100,
        description="cost of a gap's first residue (BLAST's existence + extension)",
    )
    gap_next: int = Field(2, ge=0, le=100, description="cost of each further residue of a gap")
    top: int = Field(
        20, ge=1, le=1_000_000, description="hits of a query; of equal scores the first count"
    )

    @model_validator(mode="after")
    def _first_costs_most(self) -> Self:
        if self.gap_next > self.gap_first:
            raise ValueError("'gap_next' must not exceed 'gap_first'")
        return self


class PanelSettings(Section):
    """Which hits are anti-targets."""

    min_identity: float = Field(
        0.35, ge=0, le=1, description="least share of equal residues in the alignment"
    )
    max_evalue: float = Field(
        1e-5,
        ge=0,
        description="largest E-value; without E-values half of the query must be aligned instead",
    )
