"""What is exported."""

from pydantic import Field

from ligen_py.settings.section import Section


class ExportSettings(Section):
    """What is exported for people and other programs."""

    count: int = Field(100, ge=1, le=1_000_000, description="best ligands per target to write")
