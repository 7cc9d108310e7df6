"""What the off-target search looks for."""

from typing import Literal

from pydantic import Field

from ligen_py.settings.section import Section

IN_INPUT = ("pattern", "mismatches", "dna_bulge", "rna_bulge")
"""Settings that an input file of Cas-OFFinder has."""


class OfftargetsSettings(Section):
    """Which sites of a genome count as off-targets of a guide."""

    pattern: str = Field(
        "NNNNNNNNNNNNNNNNNNNNNRG",
        description="guide and PAM as in Cas-OFFinder: N for the guide's bases, IUPAC letters for "
        "the PAM on either side",
    )
    mismatches: int = Field(
        4, ge=0, le=62, description="most mismatches of a guide that has no limit of its own"
    )
    dna_bulge: int = Field(
        0, ge=0, le=2, description="most bases that a site has more than the guide, in one place"
    )
    rna_bulge: int = Field(
        0, ge=0, le=2, description="most bases that a site has less than the guide, in one place"
    )
    rows: Literal["canonical", "all"] = Field(
        "canonical", description="the best alignment of a guide with a site, or every one"
    )
    skip_n: bool = Field(
        False, description="leave out sites with another letter than A, C, G, T under the guide"
    )
    max_rows_per_guide: int = Field(
        0,
        ge=0,
        description="rows kept of a guide, the first ones; its counts stay whole and its ledger "
        "says so; 0: all",
    )
