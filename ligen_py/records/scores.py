"""Scores of poses, and checks of them: the file of `score`."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ligen_py.records.column import STRING, Bounds, Kind, Record, column
from ligen_py.records.ledger import Ledger


class Check(IntEnum):
    """Checks of the scores of a chunk."""

    ZERO = 0
    POSITIVE = 1
    SENTINEL = 2
    FROZEN = 3
    OUTSIDE = 4
    TWIN = 5
    DRIFT = 6


@dataclass(frozen=True, slots=True)
class Scores(Record):
    """Best pose and score per ligand; larger is better. The terms are in separate columns."""

    first_pose: np.ndarray = column("i8", "ligand+1", into="pose", doc="offsets of scored poses")
    restart: np.ndarray = column("i4", "pose", doc="restart that made the pose")
    energy: np.ndarray = column(
        "f4",
        "pose",
        units="kcal/mol",
        doc="energy that chooses a ligand's pose, lower is better; not finite where unknown",
    )
    best: np.ndarray = column("i8", "ligand", doc="row of the best pose, -1 where none")
    score: np.ndarray = column(
        "f4", "ligand", doc="score of the best pose; not valid where `best` is -1"
    )

    def bounds(self) -> Bounds:
        """A best pose is one of the ligand's."""
        first, last = self.first_pose[:-1], self.first_pose[1:]
        inside = (self.best >= first) & (self.best < last)
        yield "best", inside | (self.best == -1)


@dataclass(frozen=True, slots=True)
class Checks(Record):
    """Checks whether the scores of a chunk are plausible, one row each."""

    check: np.ndarray = column("u1", "row", enum=Check, doc="kind of check")
    suspect: np.ndarray = column("i8", "row", doc="suspect ligands; 0 for drift")
    seen: np.ndarray = column("i8", "row", doc="ligands checked")
    measure: np.ndarray = column(
        "f4", "row", doc="fraction of suspect ligands; for drift a distance"
    )
    alarm: np.ndarray = column("u1", "row", doc="1 where the measure is above its limit")
    detail: np.ndarray = column(STRING, "row", doc="what was found, in words")


SCORES = Kind("scores", 1, {"ledger": Ledger, "scores": Scores, "checks": Checks})
