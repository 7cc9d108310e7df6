"""Which ligands of a campaign are docked into anti-targets."""

from pydantic import Field

from ligen_py.settings.section import Section


class BestSettings(Section):
    """Which ligands are docked into anti-targets."""

    best: int = Field(
        100, ge=1, le=100_000, description="best ligands of the target, docked into anti-targets"
    )
