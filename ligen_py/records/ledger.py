"""The ledger: status and reason of every input record."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ligen_py.records.column import STRING, Record, column


class Status(IntEnum):
    """Status of an input record. At the end of a campaign none is READY."""

    READY = 0
    SCORED = 1
    REJECTED = 2
    FAILED = 3
    DUPLICATE = 4


class Reason(IntEnum):
    """Why a record is not scored; each reason belongs to one stage (`REASON_STAGE`)."""

    NONE = 0
    UNPARSABLE = 1
    NO_ATOMS = 2
    TOO_MANY_ATOMS = 3
    TOO_MANY_TORSIONS = 4
    UNSUPPORTED_ELEMENT = 5
    EMBEDDING_FAILED = 6
    TIMED_OUT = 7
    DUPLICATE_OF = 8
    LARGER_THAN_BOX = 9
    NO_FINITE_SCORE = 10
    NO_STRUCTURE = 20
    RECORD_TOO_LARGE = 21
    NO_COORDINATES = 30
    OUT_OF_MEMORY = 31
    MIXTURE = 32
    PROPERTY_OUT_OF_RANGE = 33
    STRUCTURAL_ALERT = 34
    EXCLUDED_PATTERN = 35
    NO_RESIDUES = 40
    UNKNOWN_LETTER = 41


REASON_STAGE = {
    Reason.UNPARSABLE: "parse",
    Reason.NO_ATOMS: "parse",
    Reason.TOO_MANY_ATOMS: "parse",
    Reason.TOO_MANY_TORSIONS: "parse",
    Reason.UNSUPPORTED_ELEMENT: "parse",
    Reason.EMBEDDING_FAILED: "parse",
    Reason.TIMED_OUT: "parse",
    Reason.DUPLICATE_OF: "parse",
    Reason.LARGER_THAN_BOX: "dock",
    Reason.NO_FINITE_SCORE: "score",
    Reason.NO_STRUCTURE: "parse",
    Reason.RECORD_TOO_LARGE: "parse",
    Reason.NO_COORDINATES: "parse",
    Reason.OUT_OF_MEMORY: "parse",
    Reason.MIXTURE: "parse",
    Reason.PROPERTY_OUT_OF_RANGE: "parse",
    Reason.STRUCTURAL_ALERT: "parse",
    Reason.EXCLUDED_PATTERN: "parse",
    Reason.NO_RESIDUES: "database",
    Reason.UNKNOWN_LETTER: "database",
}


@dataclass(frozen=True, slots=True)
class Ledger(Record):
    """One row per input record: its status, and why it is not scored. In every stage file."""

    status: np.ndarray = column("u1", "entry", enum=Status, doc="status of the record")
    reason: np.ndarray = column("u1", "entry", enum=Reason, doc="why it is not scored")
    detail: np.ndarray = column(STRING, "entry", doc="the reason in words, with the values")

    def marked(
        self, entries: np.ndarray, status: Status, reason: Reason, details: Sequence[str]
    ) -> "Ledger":
        """A new ledger in which some entries have another status, reason and detail."""
        columns = [array.copy() for array in (self.status, self.reason, self.detail)]
        for array, value in zip(columns, (status, reason, details), strict=True):
            array[entries] = value
        return Ledger(*columns)
