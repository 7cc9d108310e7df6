"""What the report shows."""

import json

from pydantic import Field, field_validator

from ligen_py.settings.section import Name, Section, from_json

MOST_CHARACTERS = 100_000
"""Of groups as JSON; Linux takes 131,071 bytes for a whole command of a rule."""


class ReportSettings(Section):
    """What the report shows, and groups of molecules whose ranks it lists."""

    top: int = Field(10, ge=1, le=1000, description="best ligands per target in the table")
    hits: int = Field(
        100,
        ge=1,
        le=1000,
        description="best ligands per target in the page; at most as many as have a stored pose",
    )
    groups: dict[Name, tuple[str, ...]] = Field(
        default_factory=dict,
        description="groups of molecule names whose ranks are listed",
    )

    _groups = field_validator("groups", mode="before")(from_json)

    @field_validator("groups")
    @classmethod
    def _fits(cls, groups: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        size = len(json.dumps(groups))
        if size > MOST_CHARACTERS:
            raise ValueError(
                f"all names have {size:,} characters, and a command line takes "
                f"{MOST_CHARACTERS:,}; give fewer names"
            )
        return groups


class Report(ReportSettings):
    """The section of a config: the settings, and a file."""

    references: str | None = Field(
        None,
        description="file of known molecules, such as binders; the page names the one that is "
        "most similar to each hit",
    )
