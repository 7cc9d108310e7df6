"""Which guides a gene is searched for, and how they are judged."""

from typing import Literal, Self

from pydantic import Field, model_validator

from ligen_py.records.limits import DNA
from ligen_py.settings.section import IUPAC, Section


class GuidesSettings(Section):
    """Which guides are made of a gene, and what counts as their off-target."""

    pam: str = Field("NGG", pattern=IUPAC, description="PAM of the guides, IUPAC letters")
    pam_side: Literal["behind", "before"] = Field(
        "behind",
        description="side of the guide on which the PAM stands: Cas9 behind, Cas12a before",
    )
    length: int = Field(20, ge=15, le=30, description="bases of a guide")
    offtarget_pam: str | None = Field(
        None,
        pattern=IUPAC,
        description="PAM of off-targets, as long as pam; by default NRG for NGG, else pam",
    )
    mismatches: int = Field(4, ge=0, le=10, description="most mismatches of an off-target")
    dna_bulge: int = Field(
        0, ge=0, le=2, description="most bases that an off-target has more than the guide"
    )
    rna_bulge: int = Field(
        0, ge=0, le=2, description="most bases that an off-target has less than the guide"
    )
    min_gc: float = Field(0.2, ge=0, le=1, description="least share of G and C in a good guide")
    max_gc: float = Field(0.8, ge=0, le=1, description="largest share of G and C in a good guide")
    controls: int = Field(
        10, ge=0, le=1000, description="non-targeting controls: random guides without a near site"
    )
    control_mismatches: int = Field(
        2, ge=0, le=10, description="a control has no site with so many mismatches or fewer"
    )
    seed: int = Field(1, ge=0, le=2**63 - 1, description="seed of the controls")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.offtarget_pam is not None and len(self.offtarget_pam) != len(self.pam):
            raise ValueError("'offtarget_pam' must have as many letters as 'pam'")
        for own, off in zip(self.pam.upper(), self.searched_pam, strict=True):
            if not set(DNA[own]) <= set(DNA[off]):
                raise ValueError(
                    f"'offtarget_pam' {self.searched_pam} has no place for {own} of {self.pam}: "
                    "the guides' own sites would be missed; give letters for both"
                )
        shorter = self.pam.lstrip("Nn") if self.pam_side == "before" else self.pam.rstrip("Nn")
        if shorter != self.pam:
            cure = f"give {shorter}, which admits the same" if shorter else "give letters for it"
            raise ValueError(
                "'pam' must have a letter other than N on the side away from the guide; " + cure
            )
        if self.min_gc > self.max_gc:
            raise ValueError("'min_gc' must not exceed 'max_gc'")
        if self.controls and self.control_mismatches > self.mismatches:
            raise ValueError(
                f"'control_mismatches' {self.control_mismatches} exceeds 'mismatches' "
                f"{self.mismatches}; give at most {self.mismatches}"
            )
        return self

    @property
    def searched_pam(self) -> str:
        """The PAM of off-targets."""
        pam = self.pam.upper()
        return (self.offtarget_pam or ("NRG" if pam == "NGG" else pam)).upper()
