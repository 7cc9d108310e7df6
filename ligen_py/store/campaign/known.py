"""The files of parts that a campaign file was made from, known by their content."""

from collections.abc import Sequence
from pathlib import Path

from ligen_py.errors import InputError
from ligen_py.provenance import Input
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.campaign.part import RECORDED
from ligen_py.store.campaign.reader import CampaignReader


class KnownFiles:
    """SHA-256 of each file that `aggregate` read."""

    def __init__(self, campaign: CampaignReader) -> None:
        made = campaign.parts()
        rows = zip(made.target, made.library, made.chunk, made.sha256, strict=True)
        self.digests = {
            (*map(str, row[:3]), RECORDED[number % len(RECORDED)]): str(row[3])
            for number, row in enumerate(rows)
        }
        """By target, library, chunk and kind."""
        self._seen: set[Path] = set()

    def require(self, files: PartFiles, kinds: Sequence[str] = RECORDED) -> None:
        """Raise InputError where a file of a part, of some kinds, is gone or has other content now.

        Each file is read for it once: the molecules of a ranking come from any part, in turn.
        """
        where = files.place, files.library, files.ligands.stem
        for kind in kinds:
            path: Path = getattr(files, kind)
            if path in self._seen:
                continue
            if not path.is_file():
                raise InputError(f"{path}: does not exist; 'ligen run CONFIG' makes it again")
            if Input.of(path).sha256 != self.digests.get((*where, kind)):
                raise InputError(
                    f"{path}: is not the file that the campaign was made from; "
                    "run 'ligen run CONFIG' again"
                )
            self._seen.add(path)
