"""The off-target search in plain NumPy, letter by letter: the specification of the kernels.

It shares nothing with them but the letters' sets: no bit planes, no filter, no limit on lengths.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ligen_py.sequences.guides import Query, spacer
from ligen_py.sequences.iupac import SETS, reverse_complement


class Row(NamedTuple):
    """One alignment; positions are of the leftmost base on the forward strand, from 0."""

    guide: int
    record: int
    position: int
    strand: str
    size: int
    bulge: str
    at: int
    mismatches: int
    crrna: str
    dna: str


def search(records: list[bytes], query: Query) -> list[Row]:
    """Every alignment of every guide in the letters of records, sorted."""
    rows: list[Row] = []
    for number, record in enumerate(records):
        letters = np.frombuffer(record.upper().replace(b"U", b"T"), np.uint8)
        for strand in "+-":
            oriented = letters if strand == "+" else reverse_complement(letters)
            for row in _strand(oriented, query):
                length = len(row.dna.replace("-", ""))
                start = row.position if strand == "+" else len(letters) - row.position - length
                rows.append(row._replace(record=number, position=start, strand=strand))
    kinds = ["X", "DNA", "RNA"]
    return sorted(rows, key=lambda row: (*row[:3], row.strand, row.size, kinds.index(row.bulge),
                                         row.at))  # fmt: skip


def _strand(letters: np.ndarray, query: Query) -> Iterator[Row]:
    """Alignments on one strand; positions are along that strand."""
    for number, guide in enumerate(query.guides):
        first, last = spacer(guide)
        for bulge, size, at in _forms(query, first, last):
            crrna, pattern, gaps = guide.sequence, query.pattern, ""
            if bulge == "DNA":
                crrna = crrna[:at] + "-" * size + crrna[at:]
                # The pattern grows where the PAM is not.
                pattern = pattern + "N" * size if query.pam_first else "N" * size + pattern
            elif bulge == "RNA":
                gaps = "-" * size
                pattern = pattern[:-size] if query.pam_first else pattern[size:]
            compared = crrna.replace("-", "N") if not gaps else crrna[:at] + crrna[at + size :]
            yield from _windows(letters, Row(
                number, 0, 0, "+", size, bulge, at, 0, crrna, gaps
            ), pattern, compared, guide.limit)  # fmt: skip


def _forms(query: Query, first: int, last: int) -> Iterator[tuple[str, int, int]]:
    """Kind, size and column of each bulge that a guide may have."""
    yield "X", 0, -1
    behind = 0 if query.pam_first else 1
    for size in range(1, query.dna_bulge + 1):
        for at in range(first + behind, last + behind + 1):
            yield "DNA", size, at
    for size in range(1, query.rna_bulge + 1):
        for at in range(first, last + 2 - size):
            yield "RNA", size, at


def _windows(
    letters: np.ndarray, form: Row, pattern: str, compared: str, limit: int
) -> Iterator[Row]:
    if len(letters) < len(pattern):
        return
    windows = np.lib.stride_tricks.sliding_window_view(letters, len(pattern))
    base = np.isin(windows, np.frombuffer(b"ACGT", np.uint8))

    def matches(text: str) -> np.ndarray:
        """Which letters of the windows (windows, pattern) a text takes; its N takes all."""
        sets = SETS[np.frombuffer(text.encode(), np.uint8)]
        return (base & ((SETS[windows] & sets) > 0)) | (sets == 15)

    wrong = ~matches(compared)
    count = wrong.sum(1)
    for place in np.flatnonzero(matches(pattern).all(1) & (count <= limit)):
        text = "".join(
            chr(letter).lower() if bad else chr(letter)
            for letter, bad in zip(windows[place], wrong[place], strict=True)
        )
        gaps = form.dna
        dna = text[: form.at] + gaps + text[form.at :] if gaps else text
        yield form._replace(position=int(place), mismatches=int(count[place]), dna=dna)
