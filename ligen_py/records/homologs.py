"""The best local alignments of queries with a database: the file of `homologs`."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ligen_py.records.column import STRING, Bounds, Kind, Record, column
from ligen_py.records.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Queries(Record):
    """The queries, in the order of their file."""

    name: np.ndarray = column(STRING, "query", doc="first word of the header")
    header: np.ndarray = column(STRING, "query", doc="the whole header, without >")
    residues: np.ndarray = column("i4", "query", doc="length of the sequence")
    first_hit: np.ndarray = column("i8", "query+1", into="hit", doc="first hit of each query")


@dataclass(frozen=True, slots=True)
class Hits(Record):
    """The records of the database with the best scores, best first, ties in its order."""

    target: np.ndarray = column(STRING, "hit", doc="first word of the record's header")
    header: np.ndarray = column(STRING, "hit", doc="the whole header, without >")
    entry: np.ndarray = column("i8", "hit", doc="the record's place in the database, from 0")
    residues: np.ndarray = column("i4", "hit", doc="length of the record's sequence")
    score: np.ndarray = column("i4", "hit", doc="Smith-Waterman score")
    bits: np.ndarray = column("f8", "hit", units="bit", doc="bit score; NaN where it is not known")
    evalue: np.ndarray = column(
        "f8", "hit", doc="alignments of such a score by chance; NaN where it is not known"
    )
    query_start: np.ndarray = column("i4", "hit", doc="first aligned residue of the query, from 1")
    query_end: np.ndarray = column("i4", "hit", doc="last aligned residue of the query")
    target_start: np.ndarray = column(
        "i4", "hit", doc="first aligned residue of the target, from 1"
    )
    target_end: np.ndarray = column("i4", "hit", doc="last aligned residue of the target")
    aligned: np.ndarray = column("i4", "hit", doc="columns of the alignment, gaps included")
    identities: np.ndarray = column("i4", "hit", doc="columns with two equal residues")
    positives: np.ndarray = column("i4", "hit", doc="columns with a pair that scores above 0")
    gap_openings: np.ndarray = column("i4", "hit", doc="gaps")
    gaps: np.ndarray = column("i4", "hit", doc="columns with a gap")
    site_residues: np.ndarray = column("i4", "hit", doc="residues of the query's binding site")
    site_identities: np.ndarray = column("i4", "hit", doc="of these, aligned with an equal residue")
    cigar: np.ndarray = column(
        STRING, "hit", doc="runs of M (a pair), I (query only) and D (target only)"
    )

    def bounds(self) -> Bounds:
        """Alignments within their sequences."""
        yield "score", self.score > 0
        yield "target_end", self.target_end <= self.residues
        yield "identities", self.identities <= self.aligned


@dataclass(frozen=True, slots=True)
class SearchSpace(Record):
    """What E-values are counted over, and how much of it was searched for this file."""

    sequences: np.ndarray = column("i8", 1, doc="sequences of the whole database")
    residues: np.ndarray = column("i8", 1, doc="their residues")
    part: np.ndarray = column("i4", 2, doc="part k of n that was searched; 1, 1: the whole")


HOMOLOGS = Kind(
    "homologs",
    1,
    {"ledger": Ledger, "queries": Queries, "hits": Hits, "space": SearchSpace},
)


class Results(NamedTuple):
    """The records of a homologs file, by the names of their groups."""

    ledger: Ledger
    queries: Queries
    hits: Hits
    space: SearchSpace
