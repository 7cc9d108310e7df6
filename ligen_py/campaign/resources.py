"""Memory and time that a campaign's jobs request, by the records that they read."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ligen_py.formats import records_of
from ligen_py.settings.dock import DockSettings

if TYPE_CHECKING:
    from ligen_py.campaign.workplan import Workplan

PARSED_BYTES = 9000
"""Bytes of a parsed record in its file, about."""

PARSE_MB = 0.025
"""Megabytes of a parsed record while the file of its chunk is written."""

KNOWN_MB = 0.0001
"""Megabytes of a molecule of an earlier part, by which duplicates in the campaign are found."""

SCREEN_MB = 0.1
"""Megabytes of a record in a chunk's job: 2.5 ligands with the poses that `standard` docks."""

REPORT_MB = 0.0002
"""Megabytes of a molecule of one target while the report compares all with each other."""

AGGREGATE_MINUTES = 1e-6
"""Minutes of a record of one target while parts are merged: four times what one process took."""


@dataclass(frozen=True)
class Resources:
    """What the jobs of a campaign request."""

    plan: "Workplan"

    def parse_memory(self, library: str, chunk: str, threads: int) -> int:
        """Megabytes that parsing a chunk with so many processes needs."""
        known = 0.0
        if self.plan.settings.duplicates == "campaign":
            before = self.plan.before(library, chunk)
            known = KNOWN_MB * sum(self._records(*part) for part in before)
        return round(2000 + 125 * threads + PARSE_MB * self._records(library, chunk) + known)

    def screen_memory(self, library: str, chunk: str) -> int:
        """Megabytes that the screening of a chunk needs, by the poses that the search keeps."""
        settings, usual = self.plan.settings, DockSettings().max_num_poses
        dock, lga = settings.dock, settings.lga
        if settings.search == "lga":
            poses = lga.runs + min(lga.restarts, usual)  # these are docked by `dock`'s defaults
        else:
            poses = min(dock.max_num_poses or dock.num_restart, dock.num_restart)
        share = max(1.0, poses / usual)
        return max(8000, round(2000 + share * SCREEN_MB * self._records(library, chunk)))

    def report_memory(self) -> int:
        """Megabytes that the report needs."""
        return round(4000 + REPORT_MB * self._ranked_records)

    def aggregate_minutes(self) -> int:
        """Minutes that merging the parts may take."""
        return max(240, round(AGGREGATE_MINUTES * self._ranked_records))

    @cached_property
    def _ranked_records(self) -> float:
        """About how many records of libraries there are, those of each target for themselves."""
        records = (
            self._records(library, chunk)
            for library in self.plan.settings.libraries
            for chunk in self.plan.chunks(library)
        )
        return sum(records) * len(self.plan.ranked)

    def _records(self, library: str, chunk: str) -> float:
        """About how many records a chunk has; 0 where nothing is known of its file."""
        file = self.plan.chunk_files.get(library, {}).get(chunk)
        if file and file.path.suffix == ".h5":
            return file.path.stat().st_size / PARSED_BYTES
        return records_of(file) / int(chunk.rpartition("-")[2]) if file and file.size else 0.0
