"""A chunk of a library against one target, as `aggregate` has it read by a process of its own."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ligen_py.engine.scoring.ranking import hash_keys
from ligen_py.store.campaign.lineage import Origin
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.campaign.part import Part, read_best
from ligen_py.store.files.read import files_kept_open


class Chunk(NamedTuple):
    """What is known of a chunk without those before it."""

    part: Part
    ligands: np.ndarray
    """The part's `scored()`."""
    hashes: np.ndarray
    """Of the records' keys (`HASH`)."""
    origins: list[Origin]
    """One a conformation."""

    @classmethod
    def of(cls, members: Sequence[PartFiles]) -> "Chunk":
        """Read and check one."""
        with files_kept_open():
            part = read_best(members)
            origins = [Origin.of(files) for files in members]
        return cls(part, part.scored(), hash_keys(part.key), origins)
