"""Off-target sites of guides: the file of `offtargets`."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ligen_py.records.column import STRING, Bounds, Kind, Record, column

KINDS = 5
"""Of alignments: no bulge, a DNA bulge of 1 or 2, an RNA bulge of 1 or 2."""

CLASSES = 64
"""Numbers of mismatches that are counted apart: 0 to the longest pattern."""


class GuideStatus(IntEnum):
    """What became of a guide."""

    SEARCHED = 0
    TRUNCATED = 1


class Strand(IntEnum):
    """Strand of the genome that reads as the guide does."""

    FORWARD = 0
    REVERSE = 1


class BulgeType(IntEnum):
    """Kind of a bulge, as Cas-OFFinder names it."""

    X = 0
    DNA = 1
    RNA = 2


@dataclass(frozen=True, slots=True)
class Guides(Record):
    """The ledger: every guide of the input, in its order."""

    name: np.ndarray = column(
        STRING, "guide", doc="id; the guide's number from 0 where it has none"
    )
    sequence: np.ndarray = column(STRING, "guide", doc="letters compared, N for those that are not")
    limit: np.ndarray = column("u1", "guide", doc="most mismatches of a site")
    status: np.ndarray = column(
        "u1", "guide", enum=GuideStatus, doc="searched, or searched with rows left out"
    )
    detail: np.ndarray = column(STRING, "guide", doc="the status in words, with numbers")
    count: np.ndarray = column(
        "i8",
        "guide",
        KINDS,
        CLASSES,
        doc="sites by kind (no bulge, DNA 1, DNA 2, RNA 1, RNA 2) and number of mismatches",
    )


@dataclass(frozen=True, slots=True)
class Chromosomes(Record):
    """The records of the genome, in its order."""

    name: np.ndarray = column(STRING, "chromosome", doc="first word of the header")
    header: np.ndarray = column(STRING, "chromosome", doc="the whole header, without >")
    length: np.ndarray = column("i8", "chromosome", units="base", doc="letters")


@dataclass(frozen=True, slots=True)
class OffTargets(Record):
    """Alignments, in the order of guide, chromosome, position, strand and bulge."""

    guide: np.ndarray = column("i4", "row", doc="row of the guide")
    chromosome: np.ndarray = column("i4", "row", doc="row of the chromosome")
    position: np.ndarray = column(
        "i8", "row", units="base", doc="leftmost base on the forward strand, from 0"
    )
    strand: np.ndarray = column("u1", "row", enum=Strand, doc="strand that reads as the guide")
    bulge: np.ndarray = column("u1", "row", enum=BulgeType, doc="kind of the bulge, X for none")
    bulge_size: np.ndarray = column("u1", "row", units="base", doc="bases of the bulge")
    bulge_at: np.ndarray = column("i2", "row", doc="first column of the bulge, -1 without")
    mismatches: np.ndarray = column("u1", "row", doc="mismatches")
    crrna: np.ndarray = column(
        "u1", "row", "column", doc="guide, ASCII, - in a DNA bulge, 0 behind"
    )
    dna: np.ndarray = column(
        "u1", "row", "column", doc="site, ASCII, mismatches in lower case, - in an RNA bulge"
    )

    def bounds(self) -> Bounds:
        """Letters are ASCII, enumerations are theirs."""
        yield "strand", self.strand < len(Strand)
        yield "bulge", self.bulge < len(BulgeType)
        yield "guide", self.guide >= 0
        yield "chromosome", self.chromosome >= 0
        yield "crrna", self.crrna < 128
        yield "dna", self.dna < 128


@dataclass(frozen=True, slots=True)
class Searched(Record):
    """How much of the genome was searched for this file."""

    part: np.ndarray = column("i4", 2, doc="part k of n that was searched; 1, 1: the whole")


OFFTARGETS = Kind(
    "offtargets",
    1,
    {"guides": Guides, "chromosomes": Chromosomes, "rows": OffTargets, "searched": Searched},
)
