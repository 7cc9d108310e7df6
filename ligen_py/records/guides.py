"""Guides of a gene, ranked, with controls: the file of `guides`."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ligen_py.records.column import STRING, Bounds, Kind, Record, column
from ligen_py.records.offtargets import CLASSES, KINDS, Chromosomes, Strand


class GuideVerdict(IntEnum):
    """What speaks against a guide; of several the first."""

    GOOD = 0
    NO_SITE = 1
    REPEATED = 2
    POLY_T = 3
    GC = 4


class GuideRole(IntEnum):
    """What a guide is for."""

    GENE = 0
    CONTROL = 1


@dataclass(frozen=True, slots=True)
class RankedGuides(Record):
    """Every guide of the genes, best first, and behind them the non-targeting controls."""

    name: np.ndarray = column(STRING, "guide", doc="gene and number along it, or control")
    role: np.ndarray = column("u1", "guide", enum=GuideRole, doc="guide of a gene, or control")
    verdict: np.ndarray = column("u1", "guide", enum=GuideVerdict, doc="what speaks against it")
    gene: np.ndarray = column(STRING, "guide", doc="gene; empty for a control")
    exon: np.ndarray = column("i4", "guide", doc="coding exon, from 1; 0 where it is not known")
    coding_place: np.ndarray = column(
        "i8", "guide", units="base", doc="coding bases in front of the cut; -1 for a control"
    )
    spacer: np.ndarray = column(STRING, "guide", doc="the guide's bases")
    pam: np.ndarray = column(STRING, "guide", doc="PAM of its own site; empty for a control")
    chromosome: np.ndarray = column(
        "i4", "guide", doc="row of the chromosome of its own site; -1 without one"
    )
    position: np.ndarray = column(
        "i8", "guide", units="base", doc="leftmost base of its own site, from 0; -1 without one"
    )
    strand: np.ndarray = column(
        "u1", "guide", enum=Strand, doc="of its own site; where it has none, of the gene's sequence"
    )
    cut: np.ndarray = column(
        "i8", "guide", units="base", doc="first base behind the cut, from 0; -1 without a site"
    )
    gc: np.ndarray = column("f8", "guide", doc="share of G and C")
    longest_t: np.ndarray = column("i4", "guide", units="base", doc="longest run of T")
    count: np.ndarray = column(
        "i8",
        "guide",
        KINDS,
        CLASSES,
        doc="off-targets by kind (no bulge, DNA 1, DNA 2, RNA 1, RNA 2) and number of mismatches, "
        "without its own site",
    )
    coding: np.ndarray = column(
        "i8", "guide", doc="off-targets cut within coding sequence; -1 without an annotation"
    )
    specificity: np.ndarray = column(
        "f8",
        "guide",
        doc="MIT specificity, 0 to 100; NaN for other guides than 20 bases with a PAM behind",
    )

    def bounds(self) -> Bounds:
        """Enumerations are theirs."""
        yield "role", self.role < len(GuideRole)
        yield "verdict", self.verdict < len(GuideVerdict)
        yield "strand", self.strand < len(Strand)


GUIDES = Kind("guides", 1, {"guides": RankedGuides, "chromosomes": Chromosomes})
