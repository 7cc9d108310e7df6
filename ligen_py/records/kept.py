"""Which poses are refined: the file of `filter`."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ligen_py.records.column import Bounds, Kind, Record, column
from ligen_py.records.ledger import Ledger


class Verdict(IntEnum):
    """Class of a pose by the filter; poses are sorted by it."""

    REPRESENTATIVE = 0
    BUMP_FREE = 1
    BUMPED = 2


@dataclass(frozen=True, slots=True)
class Chosen(Record):
    """Docked poses that are kept, in the filter's order."""

    first_pose: np.ndarray = column("i8", "ligand+1", into="pose", doc="offsets of kept poses")
    number: np.ndarray = column(
        "i4", "pose", doc="place of the pose among those of its ligand in the poses file"
    )

    def bounds(self) -> Bounds:
        """Places."""
        yield "number", self.number >= 0

    def rows(self, first_pose: np.ndarray) -> np.ndarray:
        """The rows (kept,) in a poses file with these offsets, in the filter's order."""
        return np.repeat(first_pose[:-1], np.diff(self.first_pose)) + self.number


@dataclass(frozen=True, slots=True)
class Verdicts(Record):
    """The verdict on each kept pose, in the same order as the kept poses."""

    verdict: np.ndarray = column("u1", "pose", enum=Verdict, doc="class of the pose")
    cluster: np.ndarray = column("i4", "pose", doc="cluster within the ligand, -1 for bumped poses")


KEPT = Kind("kept", 2, {"ledger": Ledger, "chosen": Chosen, "verdicts": Verdicts})
