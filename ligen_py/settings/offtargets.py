"""What the off-target search looks for, and how guides for a gene are chosen."""

from typing import Literal

from pydantic import Field

from ligen_py.settings.section import Section


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


class GuidesSettings(Section):
    """Which guides of a gene are considered, and how they are ranked."""

    pam: str = Field("NGG", description="PAM of the nuclease, IUPAC letters")
    pam_first: bool = Field(False, description="the PAM stands before the guide, as Cas12a's TTTV")
    offtarget_pam: str = Field("NRG", description="PAM of sites that count as off-targets")
    length: int = Field(20, ge=15, le=30, description="bases of a guide")
    mismatches: int = Field(4, ge=0, le=7, description="most mismatches of an off-target")
    dna_bulge: int = Field(0, ge=0, le=2, description="largest DNA bulge of an off-target")
    rna_bulge: int = Field(0, ge=0, le=2, description="largest RNA bulge of an off-target")
    min_gc: float = Field(0.2, ge=0, le=1, description="least share of G and C in a guide")
    max_gc: float = Field(0.8, ge=0, le=1, description="largest share of G and C in a guide")
    max_t: int = Field(
        3, ge=1, le=30, description="most T in a row: more of them end a transcript of U6"
    )
    controls: int = Field(10, ge=0, le=1000, description="non-targeting controls to propose")
    control_mismatches: int = Field(
        3, ge=0, le=7, description="a control has no site with this many mismatches or fewer"
    )
    seed: int = Field(1, ge=0, description="of the controls' random letters")
