"""What is exported."""

from pydantic import Field

from ligen_py.settings.section import Section


class ExportSettings(Section):
    """What is exported for people and other programs."""

    count: int = Field(100, ge=1, le=1_000_000, description="best ligands per target to write")
    poses: int = Field(
        1,
        ge=1,
        le=1000,
        description="poses of each ligand in the SDF: those of its best state, lowest energy first",
    )
    pdbqt: bool = Field(
        False, description="also write the receptor and every pose as PDBQT, for Vina and Meeko"
    )

    def count_of(self, stored: int) -> int:
        """Ligands of a target that stores so many poses: unless they were asked for, so many."""
        asked = "count" in self.model_fields_set
        return self.count if asked else min(self.count, max(1, stored))
