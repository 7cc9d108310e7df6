"""From sites that a device found to rows: every alignment of a site, or its best one.

A site is the window of the pattern without bulges, on one strand. An alignment with a bulge has the
same PAM; its window is longer or shorter at the other end.
"""

from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np

from ligen_py.sequences.guides import Query, spacer
from ligen_py.sequences.iupac import ANY, SETS, reverse_complement
from ligen_py.sequences.planes import Genome

GAP = ord("-")


class Bulge(IntEnum):
    """Kinds of bulges; the order decides between equals."""

    X = 0
    DNA = 1
    RNA = 2


@dataclass(frozen=True)
class Sites:
    """Pairs of a site and a guide that are close enough without a bulge, or with one of a kind."""

    guide: np.ndarray
    """int64: number of the guide."""
    place: np.ndarray
    """int64: first place of the window in the genome (see `planes`)."""
    strand: np.ndarray
    """uint8: 0 forward, 1 reverse."""
    kind: np.ndarray
    """uint8: 0 no bulge; 1, 2 a DNA bulge of that size; 3, 4 an RNA bulge of 1 or 2."""

    def taken(self, rows: np.ndarray) -> "Sites":
        """Some pairs, by number or mask."""
        return Sites(*(getattr(self, spec.name)[rows] for spec in fields(self)))


@dataclass(frozen=True)
class Alignments:
    """Rows: alignments of guides with sites."""

    guide: np.ndarray
    """int64."""
    site: np.ndarray
    """int64: first place of the site's window without a bulge, in the genome."""
    strand: np.ndarray
    """uint8: 0 forward, 1 reverse."""
    record: np.ndarray
    """int64: number of the record."""
    position: np.ndarray
    """int64: leftmost base of the row's own window on the forward strand, from 0, in its record."""
    bulge: np.ndarray
    """uint8 (`Bulge`)."""
    size: np.ndarray
    """uint8: bases of the bulge."""
    at: np.ndarray
    """int16: column of the rows' letters where the bulge begins, -1 without."""
    mismatches: np.ndarray
    """uint8."""
    crrna: np.ndarray
    """uint8 (rows, columns): the guide's letters, '-' in a DNA bulge; 0 behind the end."""
    dna: np.ndarray
    """uint8 (rows, columns): the site's letters in the guide's direction, mismatches in lower case,
    '-' in an RNA bulge; 0 behind the end."""

    def taken(self, rows: np.ndarray) -> "Alignments":
        """Some rows, by number or mask."""
        return Alignments(*(getattr(self, spec.name)[rows] for spec in fields(self)))

    def order(self) -> np.ndarray:
        """Numbers of the rows by guide, record, position, strand and bulge."""
        # Joined to one key: each takes as long to sort by as the other three.
        large, less = self.strand.astype(np.uint16), self.size << 2 | self.bulge
        small = large << 12 | less.astype(np.uint16) << 8 | (self.at + 1).astype(np.uint16)
        return np.lexsort((small, self.position, self.record, self.guide))

    @classmethod
    def joined(cls, parts: "list[Alignments]", width: int) -> "Alignments":
        """Rows of several parts one after another, with letters of one width."""
        columns = []
        for spec in fields(cls):
            values = [getattr(part, spec.name) for part in parts]
            if spec.name in ("crrna", "dna"):
                values = [np.pad(v, ((0, 0), (0, width - v.shape[1]))) for v in values]
            columns.append(np.concatenate(values))
        return cls(*columns)


def align(genome: Genome, query: Query, sites: Sites) -> Alignments:
    """Every alignment of the sites within their guides' limits, in no order.

    Windows that leave their record fall out.
    """
    width = len(query.pattern) + query.dna_bulge
    kinds = [0, *range(1, query.dna_bulge + 1), *range(3, query.rna_bulge + 3)]
    return Alignments.joined([_of_kind(genome, query, sites, kind, width) for kind in kinds], width)


def canonical(query: Query, rows: Alignments, nearest: bool = False) -> Alignments:
    """One row for each guide and site, in no order.

    The smallest bulge counts first, then the fewest mismatches, then the kind (X, DNA, RNA), then
    the bulge nearest to the PAM. With `nearest` the bases of a bulge and mismatches together count
    before all of these.
    """
    if not (query.dna_bulge or query.rna_bulge):
        return rows  # one for each as it is
    near = rows.at if query.pam_first else -rows.at
    both = (rows.size + rows.mismatches) * nearest
    order = np.lexsort(
        (near, rows.bulge, rows.mismatches, rows.size, both, rows.strand, rows.site, rows.guide)
    )
    return rows.taken(order[firsts(rows.guide[order], rows.site[order], rows.strand[order])])


def firsts(*keys: np.ndarray) -> np.ndarray:
    """Which of some sorted rows differ from the row before in one of their keys."""
    found = np.ones(len(keys[0]), bool)
    found[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return found


def _of_kind(genome: Genome, query: Query, sites: Sites, kind: int, width: int) -> Alignments:
    """Rows of the sites of one kind, for each place of the bulge."""
    mine = np.flatnonzero(sites.kind == kind)
    bulge = Bulge.X if kind == 0 else Bulge.DNA if kind <= 2 else Bulge.RNA
    size = kind if kind <= 2 else kind - 2
    change = {Bulge.X: 0, Bulge.DNA: size, Bulge.RNA: -size}[bulge]
    length = len(query.pattern) + change
    guide, place, strand = sites.guide[mine], sites.place[mine], sites.strand[mine]

    # The PAM is at the high end of a window for one strand, and there its low end moves.
    pam_high = (strand == 1) == query.pam_first
    start = np.where(pam_high, place - change, place)
    anchor = np.where(pam_high, place + len(query.pattern) - 1, place)
    record = genome.record_of(anchor)
    inside = (start >= genome.starts[record]) & (
        start + length <= genome.starts[record] + genome.lengths[record]
    )
    guide, place, strand, start, record = (
        values[inside] for values in (guide, place, strand, start, record)
    )
    letters = genome.letters(start, length)
    letters[strand == 1] = reverse_complement(letters[strand == 1])

    flat = "".join(item.sequence for item in query.guides).encode()
    text = np.frombuffer(flat, np.uint8).reshape(-1, len(query.pattern))
    limit = np.array([item.limit for item in query.guides])[guide]
    parts = []

    def add(allowed: np.ndarray, at: int, row_letters: np.ndarray, row_text: np.ndarray) -> None:
        """Append the rows within their limits among those that are allowed."""
        wrong = differs(row_letters, row_text)
        count = wrong.sum(1)
        row = np.flatnonzero(allowed & (count <= limit))
        parts.append(
            Alignments(
                guide[row],
                place[row],
                strand[row],
                record[row],
                (start - genome.starts[record])[row],
                np.full(len(row), bulge, np.uint8),
                np.full(len(row), size, np.uint8),
                np.full(len(row), at, np.int16),
                count[row].astype(np.uint8),
                row_text[row],
                row_letters[row] | wrong[row] * np.uint8(32),
            )
        )

    if bulge == Bulge.X:
        add(np.ones(len(guide), bool), -1, letters, text[guide])
    else:
        spans = np.array([spacer(item) for item in query.guides])[guide].reshape(-1, 2)
        for column in range(int(spans[:, 1].max(initial=0)) + 2):
            row_text, row_letters = text[guide], letters
            gap = np.full((len(guide), size), GAP, np.uint8)
            if bulge == Bulge.DNA:
                row_text = np.hstack([row_text[:, :column], gap, row_text[:, column:]])
                # Before the first base on the far side it would be no bulge.
                allowed = (spans[:, 0] + (not query.pam_first) <= column) & (
                    column <= spans[:, 1] + (not query.pam_first)
                )
            else:
                row_letters = np.hstack([letters[:, :column], gap, letters[:, column:]])
                allowed = (spans[:, 0] <= column) & (column + size <= spans[:, 1] + 1)
            add(allowed, column, row_letters, row_text)
    return Alignments.joined(parts, width)


def differs(letters: np.ndarray, guide: np.ndarray) -> np.ndarray:
    """Which letters of sites are mismatches: not in the guide's set, or none of A, C, G, T.

    N in the guide and bulges ('-') never are.
    """
    sets = SETS[guide]
    single = (letters == 65) | (letters == 67) | (letters == 71) | (letters == 84)
    same = single & ((SETS[letters] & sets) > 0)
    return ~same & (sets != ANY) & (guide != GAP) & (letters != GAP)
