"""The best molecules of a campaign, by where they come from."""

from collections.abc import Sequence
from typing import NamedTuple

from ligen_py.store.campaign.reader import CampaignReader


class Origin(NamedTuple):
    """Where a molecule stands in the input."""

    library: str
    file: str
    """Its file within the library."""
    line: int


def best_molecules(campaign: CampaignReader, targets: Sequence[str], count: int) -> list[Origin]:
    """The best `count` molecules of each target, those of the first target first, each once."""
    found: dict[Origin, None] = {}
    for target in targets:
        found |= dict.fromkeys(origins(campaign, target, count))
    return list(found)


def origins(campaign: CampaignReader, target: str, count: int) -> list[Origin]:
    """The best `count` molecules of a target, best first."""
    reader = campaign.target(target)
    rows = reader.order()[:count]
    columns = (reader.column(name, rows) for name in ("library", "file", "line"))
    return [
        Origin(campaign.libraries[library], campaign.files[file], int(line))
        for library, file, line in zip(*columns, strict=True)
    ]
