"""What a campaign docks into what: parts of its libraries, pockets of its targets."""

from pathlib import Path
from typing import Any, NamedTuple

from ligen_py.chain import FILES, STAGES
from ligen_py.settings.campaign import Target
from ligen_py.settings.pocket import Site
from ligen_py.settings.searches import AntiTarget

PATHS = {stage.kind: stage.path for stage in STAGES.values() if stage.kind in FILES}
"""Kind -> file of a part, below the folder of results."""


class Docked(NamedTuple):
    """A pocket to dock into: one site of a target, in one of its conformations."""

    target: str
    """Name under which it is ranked: that of the target, with the site's where it has several."""
    conformation: str
    """Empty where the target has one."""
    receptor: str
    settings: Target | AntiTarget
    site: Site

    @property
    def name(self) -> str:
        """Name of the pocket."""
        return f"{self.target}.{self.conformation}" if self.conformation else self.target


class Part(NamedTuple):
    """One chunk of one library against one pocket."""

    target: str
    """Name of the pocket."""
    library: str
    chunk: str

    def paths(self, results: str) -> dict[str, Any]:
        """Its files by kind, below a folder."""
        named = self._asdict()
        return {kind: Path(f"{results}/{path.format(**named)}") for kind, path in PATHS.items()}
