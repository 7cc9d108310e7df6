"""Controls: known binders and decoys that are docked first, and what they must show."""

from typing import Literal, Self

from pydantic import Field, model_validator

from ligen_py.settings.section import Section


class ControlsSettings(Section):
    """What the controls of a target must show."""

    max_rmsd: float = Field(
        2.0,
        gt=0,
        le=20,
        description="largest RMSD of the redocked reference ligand to its crystal pose, in "
        "Angstrom, of the best-scored pose",
    )
    min_auc: float = Field(
        0.6,
        ge=0,
        le=1,
        description="smallest ROC AUC of the actives among the decoys, by the ranking score",
    )


class DecoysSettings(Section):
    """How decoys are drawn from a library."""

    per_active: int = Field(
        30, ge=1, le=200, description="decoys drawn for each active, where none are given"
    )
    max_similarity: float = Field(
        0.35,
        gt=0,
        le=1,
        description="largest Tanimoto similarity (ECFP4) of a drawn decoy to any active",
    )


class AcceptSettings(Section):
    """What happens where the controls show less."""

    below: Literal["warn", "stop"] = Field(
        "warn", description="what a campaign does where a control fails: go on, or stop"
    )


class Control(ControlsSettings, DecoysSettings, AcceptSettings):
    """The controls of one target."""

    actives: str | None = Field(None, description="file of known binders of the target")
    decoys: str | None = Field(
        None,
        description="file of molecules that do not bind; left out, decoys are drawn from the "
        "libraries",
    )
    waters: tuple[Literal["none", "all", "near"], ...] = Field(
        (), description="ways to treat waters, as pocket.waters, that are compared on the controls"
    )

    @model_validator(mode="after")
    def _decoys_need_actives(self) -> Self:
        if self.decoys is not None and self.actives is None:
            raise ValueError("'decoys' needs 'actives'")
        return self
