"""Homologs as people and other programs read them: the screen's list, and tables."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from ligen_py.records.homologs import Hits, Queries
from ligen_py.store.files.text import harmless, write_texts

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

BLAST_COLUMNS = (
    "qseqid",
    "sseqid",
    "pident",
    "length",
    "mismatch",
    "gapopen",
    "qstart",
    "qend",
    "sstart",
    "send",
    "evalue",
    "bitscore",
)
"""Of BLAST's -outfmt 6; its files have no header, and neither has ours."""


class Found(Protocol):
    """Records by falling score."""

    record: np.ndarray
    score: np.ndarray


def listing(
    headers: Sequence[str],
    ranked: Sequence[Found],
    names: Callable[[np.ndarray], Mapping[str, np.ndarray]],
) -> Iterator[str]:
    """The list of each query, as the program of 2017 printed it: rank, header, score."""
    for header, best in zip(headers, ranked, strict=True):
        yield f"Query: {header}"
        found = names(best.record)["header"]
        for rank, (text, score) in enumerate(zip(found, best.score, strict=True)):
            yield f"{rank:>3}. {text[:WIDTH]:<{WIDTH}} SCORE: {score}"
        if not len(found):
            yield "     no alignment has a score above 0"


def write_tables(folder: Path, queries: Queries, hits: Hits) -> None:
    """Write hits.tsv and hits.blast.tsv into a folder."""
    texts = {"hits.tsv": hits_table(queries, hits), "hits.blast.tsv": blast_table(queries, hits)}
    write_texts(folder, texts)


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
                _share(hits.site_identities[row], site) if site else "",
            )
        )


def blast_table(queries: Queries, hits: Hits) -> Iterator[str]:
    """Lines of BLAST's -outfmt 6; where no E-value is known, that and the bit score are NA."""
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


def _rows(queries: Queries) -> Iterator[tuple[int, int, int]]:
    """Query, rank from 1, and row of each hit."""
    for query in range(len(queries.name)):
        first, last = queries.first_hit[query : query + 2]
        for row in range(first, last):
            yield query, row - int(first) + 1, row


def _line(cells: Iterable[object]) -> str:
    return "\t".join(harmless(" ".join(str(cell).split())) for cell in cells) + "\n"


def _description(header: str) -> str:
    return (header.split(maxsplit=1) + ["", ""])[1]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.4f}" if whole else ""


def _number(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)
