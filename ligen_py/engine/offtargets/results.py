"""From alignments to the records of a file: rows, counts of each guide, parts joined."""

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ligen_py import granted
from ligen_py.engine.offtargets.alignment import GAP, Alignments, align, canonical, firsts
from ligen_py.engine.offtargets.search import Sites
from ligen_py.errors import InputError
from ligen_py.records.column import Record
from ligen_py.records.offtargets import (
    CLASSES,
    KINDS,
    Chromosomes,
    Guides,
    GuideStatus,
    OffTargets,
    Searched,
)
from ligen_py.sequences.guides import Query
from ligen_py.sequences.planes import Genome

AT_ONCE = 1 << 15
"""Sites whose letters a thread has in memory: few, so that the same memory is used again."""

HELD = 1 << 20
"""Rows that are gathered before those beyond the most of a guide are left out."""

THREADS = 8
"""That turn sites into rows, at most."""


def rows_of(
    genome: Genome,
    query: Query,
    sites: Sites,
    every: bool,
    skip_n: bool,
    nearest: bool = False,
    most: int = 0,
) -> tuple[Alignments, np.ndarray]:
    """The rows of sites in order: every alignment, or the canonical one of a guide and a site.

    `skip_n` leaves out rows with a letter other than A, C, G, T under one of the guide's; `nearest`
    is that of `canonical`. With `most` the first so many rows of each guide are among those that
    come, and not all others: all of them may not fit into the memory. How many there are, of each
    guide, kind and number of mismatches, comes with them: int64 (guides, KINDS, CLASSES).
    """
    window = sites.place << 1 | sites.strand
    order = np.lexsort((window, sites.guide))
    # A guide and its site stay together, for the canonical one is chosen among all their kinds.
    starts = np.flatnonzero(firsts(sites.guide[order], window[order]))
    marks = np.searchsorted(starts, np.arange(AT_ONCE, len(order), AT_ONCE))
    cuts = [0, *sorted(set(starts[marks[marks < len(starts)]].tolist())), len(order)]

    def some(cut: tuple[int, int]) -> tuple[Alignments, tuple[int, np.ndarray]]:
        """The rows of some sites, in no order, and the numbers of all."""
        part = align(genome, query, sites.taken(order[slice(*cut)]))
        # Before the choice: without its alignments with N a site may have others.
        part = part.taken(~unknown(part)) if skip_n else part
        part = part if every else canonical(query, part, nearest)
        return _first_of_guides(part, most), _counted(part)

    width = len(query.pattern) + query.dna_bulge
    counts = np.zeros((len(query.guides), KINDS, CLASSES), np.int64)
    parts: list[Alignments] = []
    held = limit = 0
    with ThreadPoolExecutor(min(THREADS, granted.cores())) as pool:
        for part, (first, count) in pool.map(some, itertools.pairwise(cuts)):
            counts[first : first + len(count)] += count
            parts.append(part)
            held += len(part.guide)
            if most and held > max(limit, HELD):
                parts = [_first_of_guides(Alignments.joined(parts, width), most)]
                held = len(parts[0].guide)
                limit = 2 * held
    rows = Alignments.joined(parts, width)
    return rows.taken(rows.order()), counts


def _first_of_guides(rows: Alignments, most: int) -> Alignments:
    """At most `most` rows of each guide, the first ones; 0: all."""
    if not most or not len(rows.guide) or np.bincount(rows.guide).max() <= most:
        return rows
    rows = rows.taken(rows.order())
    return rows.taken(_among_first(rows.guide, most))


def _counted(rows: Alignments) -> tuple[int, np.ndarray]:
    """The first guide of some rows, and the number of rows from it on, as of `rows_of`."""
    first = int(rows.guide.min()) if len(rows.guide) else 0
    shape = int(rows.guide.max(initial=first)) + 1 - first, KINDS, CLASSES
    kind = np.where(rows.bulge == 2, 2, 0) + rows.size
    place = np.ravel_multi_index((rows.guide - first, kind, rows.mismatches), shape)
    return first, np.bincount(place, minlength=int(np.prod(shape))).reshape(shape)


def _among_first(guide: np.ndarray, most: int) -> np.ndarray:
    """Which rows, in the order of their guides, are among the first so many of their guide."""
    first = np.searchsorted(guide, np.arange(int(guide.max(initial=-1)) + 1))
    return np.arange(len(guide)) - first[guide] < most


def unknown(rows: Alignments) -> np.ndarray:
    """Which rows have a letter other than A, C, G, T under one of the guide's."""
    upper = rows.dna & np.uint8(0xDF)
    base = (upper == 65) | (upper == 67) | (upper == 71) | (upper == 84)
    own = (rows.crrna != 0) & (rows.crrna != GAP) & (rows.crrna != ord("N"))
    counted = own & (rows.dna != GAP)
    return (counted & ~base).any(1)


def records_of(
    genome: Genome,
    query: Query,
    rows: Alignments,
    count: np.ndarray,
    most: int,
    part: tuple[int, int] = (1, 1),
) -> dict[str, Record]:
    """The records of an offtargets file, of `rows_of`; at most `most` rows of a guide (0: all)."""
    guides = Guides(
        np.array([item.name or str(n) for n, item in enumerate(query.guides)], object),
        np.array([item.sequence for item in query.guides], object),
        np.array([item.limit for item in query.guides], np.uint8),
        np.zeros(len(query.guides), np.uint8),
        np.array([""] * len(query.guides), object),
        count,
    )
    chromosomes = Chromosomes(
        np.array(genome.names, object), np.array(genome.headers, object), genome.lengths
    )
    kept = OffTargets(
        rows.guide.astype(np.int32),
        rows.record.astype(np.int32),
        rows.position,
        rows.strand,
        rows.bulge,
        rows.size,
        rows.at,
        rows.mismatches,
        rows.crrna,
        rows.dna,
    )
    searched = Searched(np.array(part, np.int32))
    records = {"guides": guides, "chromosomes": chromosomes, "rows": kept, "searched": searched}
    return truncated(records, most)


def truncated(records: dict[str, Record], most: int) -> dict[str, Record]:
    """At most `most` rows of a guide, the first ones; its status says so. 0: all."""
    guides, rows = records["guides"], records["rows"]
    assert isinstance(guides, Guides)
    assert isinstance(rows, OffTargets)
    total = guides.count.sum((1, 2))
    if not most or not (total > most).any():
        return records
    keep = _among_first(rows.guide, most)
    status, detail = guides.status.copy(), guides.detail.copy()
    for number in np.flatnonzero(total > most):
        status[number] = GuideStatus.TRUNCATED
        detail[number] = f"{most} of {total[number]} rows are kept"
    guides = Guides(guides.name, guides.sequence, guides.limit, status, detail, guides.count)
    return {**records, "guides": guides, "rows": taken(rows, keep)}


def taken(rows: OffTargets, which: np.ndarray) -> OffTargets:
    """Some rows, by number or mask."""
    return OffTargets(*(getattr(rows, name)[which] for name in OffTargets.__dataclass_fields__))


def join(parts: Sequence[dict[str, Record]], most: int) -> dict[str, Record]:
    """The records of all parts of a genome as if it had been searched at once.

    InputError where the parts are not of one search, or not all.
    """
    _require_all(parts)
    guides = [part["guides"] for part in parts]
    chromosomes = [part["chromosomes"] for part in parts]
    rows = [part["rows"] for part in parts]
    for other, where in zip(guides, chromosomes, strict=True):
        same = (
            (getattr(other, name) == getattr(guides[0], name)).all()
            if len(getattr(other, name)) == len(getattr(guides[0], name))
            else False
            for name in ("name", "sequence", "limit")
        )
        if not all(same) or list(where.name) != list(chromosomes[0].name):  # type: ignore[attr-defined]
            raise InputError("the parts are not of one search: other guides or another genome")
    columns = {
        name: np.concatenate([getattr(part, name) for part in rows])
        for name in OffTargets.__dataclass_fields__
    }
    order = np.lexsort(
        tuple(
            columns[name]
            for name in (
                "bulge_at", "bulge", "bulge_size", "strand", "position", "chromosome", "guide"
            )
        )
    )  # fmt: skip
    first = guides[0]
    assert isinstance(first, Guides)
    whole = Guides(
        first.name,
        first.sequence,
        first.limit,
        np.zeros(len(first.name), np.uint8),
        np.array([""] * len(first.name), object),
        sum((part.count for part in guides), np.zeros_like(first.count)),  # type: ignore[attr-defined]
    )
    merged = OffTargets(**{name: values[order] for name, values in columns.items()})
    records = {"guides": whole, "chromosomes": chromosomes[0], "rows": merged}
    return truncated(records | {"searched": Searched(np.ones(2, np.int32))}, most)


def _require_all(parts: Sequence[dict[str, Record]]) -> None:
    """InputError where a part of the genome is missing or there twice."""
    found = sorted(tuple(part["searched"].part.tolist()) for part in parts)  # type: ignore[attr-defined]
    count = found[0][1]
    for number in range(1, count + 1):
        if found.count((number, count)) != 1:
            fault = "is there twice" if (number, count) in found else "is missing"
            raise InputError(f"part {number}-of-{count} {fault}; give each part of one search once")
    if len(found) != count:
        raise InputError("the parts are not of one search: they were cut differently")
