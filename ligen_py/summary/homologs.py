"""Homologs as people and other programs read them: the screen's list, and tables."""

import logging
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from ligen_py.records.homologs import Hits, Queries
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.store.files.text import harmless, write_texts

log = logging.getLogger("ligen_py")

WIDTH = 60
"""Characters of a header on the screen."""

COLUMNS = (
    "query",
    "rank",
    "target",
    "description",
    "score",
    "bits",
    "evalue",
    "target_length",
    "identity",
    "positives",
    "aln_length",
    "gaps",
    "qstart",
    "qend",
    "tstart",
    "tend",
    "cigar",
    "site_identity",
)
"""Of hits.tsv."""

PANEL_COLUMNS = (
    "query",
    "accession",
    "name",
    "identity",
    "site_identity",
    "coverage",
    "evalue",
    "score",
    "target_length",
)
"""Of panel.tsv; coverage: share of the query's residues between the alignment's ends."""

LEAST_COVERAGE = 0.5
"""Of an anti-target without an E-value: an alignment by chance is shorter."""


def listing(header: str, targets: np.ndarray, scores: np.ndarray) -> Iterator[str]:
    """The list of one query, as the program of 2017 printed it: rank, header, score."""
    yield f"Query: {header}\n"
    for rank, (text, score) in enumerate(zip(targets, scores, strict=True)):
        yield f"{rank:>3}. {text[:WIDTH]:<{WIDTH}} SCORE: {score}\n"
    if not len(targets):
        yield "     no alignment has a score above 0\n"


def write_tables(
    folder: Path, queries: Queries, hits: Hits, panel: tuple[float, float] | None = None
) -> int:
    """Write hits.txt, .tsv and .blast.tsv into a folder, and panel.tsv by limits; its lines.

    The limits are the least identity and the largest E-value of an anti-target.
    """
    texts = {
        "hits.txt": hits_list(queries, hits),
        "hits.tsv": hits_table(queries, hits),
        "hits.blast.tsv": blast_table(queries, hits),
    }
    lines = list(panel_table(queries, hits, *panel)) if panel else []
    write_texts(folder, texts | ({"panel.tsv": lines} if panel else {}))
    return max(len(lines) - 1, 0)


def warn_of_rejected(ledger: Ledger, name: Callable[[int], str]) -> None:
    """Say how many records of a database are not searched, and why the first of them is not."""
    rejected = np.flatnonzero(ledger.status == Status.REJECTED)
    if len(rejected):
        row = int(rejected[0])
        empty = ledger.reason[row] == Reason.NO_RESIDUES
        why = f"{name(row)}, which has no residues" if empty else ledger.detail[row]
        log.warning("records that are not searched: %d, such as %s", len(rejected), why)


def hits_list(queries: Queries, hits: Hits) -> Iterator[str]:
    """The lists of all queries."""
    shown = np.where(hits.header == "", hits.target, hits.header)
    for query, header in enumerate(queries.header):
        rows = slice(*queries.first_hit[query : query + 2])
        yield from listing(header or queries.name[query], shown[rows], hits.score[rows])


def hits_table(queries: Queries, hits: Hits) -> Iterator[str]:
    """Tab-separated lines with a header; shares are of the alignment's columns."""
    yield _line(COLUMNS)
    for query, rank, row in _rows(queries):
        site = int(hits.site_residues[row])
        yield _line(
            (
                queries.name[query],
                rank,
                hits.target[row],
                _description(hits.header[row]),
                hits.score[row],
                _number(hits.bits[row], ".1f"),
                _number(hits.evalue[row], ".2e"),
                hits.residues[row],
                _share(hits.identities[row], hits.aligned[row]),
                _share(hits.positives[row], hits.aligned[row]),
                hits.aligned[row],
                hits.gaps[row],
                hits.query_start[row],
                hits.query_end[row],
                hits.target_start[row],
                hits.target_end[row],
                hits.cigar[row],
                _share(hits.site_identities[row], site),
            )
        )


def blast_table(queries: Queries, hits: Hits) -> Iterator[str]:
    """Lines of BLAST's -outfmt 6, which has no header.

    qseqid sseqid pident length mismatch gapopen qstart qend sstart send evalue bitscore; the last
    two are NA where they are not known.
    """
    for query, _, row in _rows(queries):
        aligned, same, gaps = hits.aligned[row], hits.identities[row], hits.gaps[row]
        yield _line(
            (
                queries.name[query],
                hits.target[row],
                f"{100 * same / aligned:.3f}",
                aligned,
                aligned - same - gaps,
                hits.gap_openings[row],
                hits.query_start[row],
                hits.query_end[row],
                hits.target_start[row],
                hits.target_end[row],
                _number(hits.evalue[row], ".2e") or "NA",
                _number(hits.bits[row], ".1f") or "NA",
            )
        )


def panel_table(
    queries: Queries, hits: Hits, min_identity: float, max_evalue: float
) -> Iterator[str]:
    """The anti-targets with a header."""
    yield _line(PANEL_COLUMNS)
    chosen = set(antitargets(queries, hits, min_identity, max_evalue))
    for query, _, row in _rows(queries):
        if row not in chosen:
            continue
        length = int(queries.residues[query])
        same, aligned = int(hits.identities[row]), int(hits.aligned[row])
        site = int(hits.site_residues[row])
        yield _line(
            (
                queries.name[query],
                _accession(hits.target[row]),
                _description(hits.header[row]) or hits.target[row],
                _share(same, aligned),
                _share(hits.site_identities[row], site),
                _share(_covered(hits, row), length),
                _number(hits.evalue[row], ".2e"),
                hits.score[row],
                hits.residues[row],
            )
        )


def antitargets(
    queries: Queries, hits: Hits, min_identity: float, max_evalue: float
) -> Iterator[int]:
    """Rows of hits that are like a query, but for the query itself.

    Itself is a target with all residues of the query; a structure often shows only a part of a
    database's record. Where no E-value is known, the alignment must cover `LEAST_COVERAGE`.
    """
    for query, _, row in _rows(queries):
        same, aligned = int(hits.identities[row]), int(hits.aligned[row])
        length = int(queries.residues[query])
        if math.isnan(hits.evalue[row]):
            is_by_chance = _covered(hits, row) < LEAST_COVERAGE * length
        else:
            is_by_chance = bool(hits.evalue[row] > max_evalue)
        if not (same == length or same / aligned < min_identity or is_by_chance):
            yield row


def _covered(hits: Hits, row: int) -> int:
    """Residues of the query between the alignment's ends."""
    return int(hits.query_end[row]) - int(hits.query_start[row]) + 1


def _accession(name: str) -> str:
    """UniProt's accession of sp|P00533|EGFR_HUMAN; any other name as it is."""
    parts = name.split("|")
    return parts[1] if len(parts) == 3 and parts[0] in ("sp", "tr") else name


def _rows(queries: Queries) -> Iterator[tuple[int, int, int]]:
    """Query, rank from 1, and row of each hit."""
    for query in range(len(queries.name)):
        first, last = queries.first_hit[query : query + 2]
        for row in range(first, last):
            yield query, row - int(first) + 1, row


def _line(cells: Iterable[object]) -> str:
    return "\t".join(harmless(" ".join(str(cell).split())) for cell in cells) + "\n"


def _description(header: str) -> str:
    return [*header.split(maxsplit=1), "", ""][1]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.4f}" if whole else ""


def _number(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)
