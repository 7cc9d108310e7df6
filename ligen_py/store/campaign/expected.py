"""The speed that `plan` measured, kept in the campaign's folder for the run."""

import json
from dataclasses import dataclass
from pathlib import Path

from ligen_py.store.files.text import write_texts

KEPT = Path(".snakemake", "ligen_expected.json")
"""Where a campaign's folder has it; it may be deleted at any time."""


@dataclass(frozen=True)
class Expected:
    """What a run may expect before its first part is finished."""

    seconds: float
    """For one record of a library in one pocket, on the device that `plan` timed."""

    def write(self, folder: Path) -> None:
        """Write it for the run; InputError or OSError where that fails."""
        path = folder / KEPT
        write_texts(path.parent, {path.name: json.dumps({"seconds": self.seconds})})

    @classmethod
    def read(cls, folder: Path) -> "Expected | None":
        """What an earlier `plan` left; None where there is nothing that can be read."""
        try:
            seconds = json.loads((folder / KEPT).read_text(encoding="utf-8"))["seconds"]
            return cls(float(seconds)) if 0 < float(seconds) < float("inf") else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
