"""A protein database as devices read it: the file of `database`."""

from dataclasses import dataclass

import numpy as np

from ligen_py.records.column import STRING, Bounds, Kind, Record, column
from ligen_py.records.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Proteins(Record):
    """The records of a FASTA file, in its order."""

    name: np.ndarray = column(STRING, "entry", doc="first word of the header")
    header: np.ndarray = column(STRING, "entry", doc="the whole header, without >")
    residues: np.ndarray = column("i4", "entry", doc="length of the sequence")


@dataclass(frozen=True, slots=True)
class Blocks(Record):
    """Sequences by falling length, 32 a block, their letters beside one another."""

    first: np.ndarray = column("i8", "block+1", into="column", doc="first column of each block")
    length: np.ndarray = column("i4", "block", 32, doc="residues of a sequence; 0 where none is")
    record: np.ndarray = column("i8", "block", 32, doc="its entry in proteins; -1 where none is")
    letters: np.ndarray = column(
        "u1", "column", 32, doc="place in ARNDCQEGHILKMFPSTWYVBZX*; 24 behind a sequence's end"
    )

    def bounds(self) -> Bounds:
        """Letters that have scores, and sequences within their blocks, the longest first."""
        yield "letters", self.letters.max(initial=0) <= 24
        yield "record", self.record >= -1
        yield "length", self.length >= 0
        yield "length", np.diff(self.length.reshape(-1)) <= 0
        yield "length", self.length[:, :1] <= np.diff(self.first)[:, None]


DATABASE = Kind("database", 1, {"ledger": Ledger, "proteins": Proteins, "blocks": Blocks})
