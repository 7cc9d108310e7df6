"""Chosen poses: the file of `filter`."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ligen_py.records.column import Kind, Record, column
from ligen_py.records.ledger import Ledger
from ligen_py.records.poses import Poses


class Verdict(IntEnum):
    """Class of a pose by the filter; poses are sorted by it."""

    REPRESENTATIVE = 0
    BUMP_FREE = 1
    BUMPED = 2


@dataclass(frozen=True, slots=True)
class Verdicts(Record):
    """The filter's verdict on each kept pose, in the same order as the kept poses."""

    verdict: np.ndarray = column("u1", "pose", enum=Verdict, doc="class of the pose")
    cluster: np.ndarray = column("i4", "pose", doc="cluster within the ligand, -1 for bumped poses")


KEPT = Kind("kept", 1, {"ledger": Ledger, "poses": Poses, "verdicts": Verdicts})
