"""What is known of a hit: its alignment in numbers, and how likely chance gives its score."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ligen_py.engine.alignment.reference import Alignment
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.engine.alignment.tracing import Align
from ligen_py.sequences.statistics import Statistics


class Counts(NamedTuple):
    """Columns of an alignment by what they hold."""

    aligned: int
    identities: int
    positives: int
    gap_openings: int
    gaps: int
    site_identities: int


def count(
    query: np.ndarray,
    target: np.ndarray,
    alignment: Alignment,
    scoring: Scoring,
    site: Sequence[int] = (),
) -> Counts:
    """Count the columns of an alignment; `site` are residues of the query (from 0).

    Equal letters are identities whatever they score, X with X too, as BLAST counts them.
    """
    row, column = alignment.query_start, alignment.target_start
    aligned = identities = positives = openings = gaps = site_identities = 0
    where = np.zeros(len(query), bool)
    where[list(site)] = True
    for run, step in re.findall(r"(\d+)([MID])", alignment.cigar):
        length = int(run)
        aligned += length
        if step == "M":
            a, b = query[row : row + length], target[column : column + length]
            identities += int((a == b).sum())
            site_identities += int(((a == b) & where[row : row + length]).sum())
            positives += int((scoring.matrix[a, b] > 0).sum())
        else:
            openings, gaps = openings + 1, gaps + length
        row += length * (step != "D")
        column += length * (step != "I")
    return Counts(aligned, identities, positives, openings, gaps, site_identities)


def significance(
    statistics: Statistics | None, score: np.ndarray, query: int, residues: int, sequences: int
) -> tuple[np.ndarray, np.ndarray]:
    """Bit scores and E-values (f8) of scores of a query in a database; NaN where not known."""
    if statistics is None:
        return np.full(len(score), np.nan), np.full(len(score), np.nan)
    space = statistics.space(query, residues, sequences)
    return statistics.bits(score), statistics.e_values(score, space)


def columns(
    query: np.ndarray,
    targets: Sequence[np.ndarray],
    scoring: Scoring,
    align: Align,
    site: Sequence[int] = (),
) -> dict[str, np.ndarray]:
    """Alignments of a query with its targets, as the columns of `records.homologs.Hits`."""
    alignments = align(query, targets)
    pairs = zip(targets, alignments, strict=True)
    counts = [count(query, target, found, scoring, site) for target, found in pairs]
    rows = {
        "score": [found.score for found in alignments],
        "query_start": [found.query_start + 1 for found in alignments],
        "query_end": [found.query_end for found in alignments],
        "target_start": [found.target_start + 1 for found in alignments],
        "target_end": [found.target_end for found in alignments],
        "site_residues": [len(site)] * len(targets),
        **{name: [getattr(one, name) for one in counts] for name in Counts._fields},
    }
    cigars = np.array([found.cigar for found in alignments], object)
    return {name: np.array(row, "i4") for name, row in rows.items()} | {"cigar": cigars}
