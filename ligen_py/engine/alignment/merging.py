"""Parts of one search as the whole."""

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from ligen_py.engine.alignment.ranking import best
from ligen_py.records.homologs import Hits, Queries, Results, SearchSpace
from ligen_py.records.ledger import Ledger, Status


def merge(parts: Sequence[Results], top: int) -> Results:
    """The records of a search from those of its parts, in any order.

    Raises ValueError where they are not all the parts of one search.
    """
    spaces = [part.space for part in parts]
    shares = sorted(tuple(space.part.tolist()) for space in spaces)
    count = shares[0][1]
    if shares != [(index, count) for index in range(1, count + 1)]:
        found = ", ".join(f"{index}-of-{count}" for index, count in shares)
        raise ValueError(f"the parts are {found}, not each of {count} once")
    first = parts[0].queries
    hits = [part.hits for part in parts]
    chosen, ends = [], [0]
    entry, score = (np.concatenate([getattr(h, name) for h in hits]) for name in ("entry", "score"))
    starts = np.cumsum([0, *(len(h.entry) for h in hits)])
    for query in range(len(first.name)):
        rows = np.concatenate(
            [
                np.arange(*part.queries.first_hit[query : query + 2]) + start
                for part, start in zip(parts, starts, strict=False)
            ]
        )
        kept = best(entry[rows], score[rows], top)
        by_entry = dict(zip(entry[rows].tolist(), rows.tolist(), strict=True))
        chosen += [by_entry[number] for number in kept.record.tolist()]
        ends.append(len(chosen))
    columns = {
        spec.name: np.concatenate([getattr(h, spec.name) for h in hits])[chosen]
        for spec in fields(Hits)
    }
    queries = Queries(first.name, first.header, first.residues, np.array(ends, "i8"))
    space = SearchSpace(spaces[0].sequences, spaces[0].residues, np.array([1, 1], "i4"))
    return Results(_ledger([part.ledger for part in parts]), queries, Hits(**columns), space)


def _ledger(parts: Sequence[Ledger]) -> Ledger:
    """What became of each record in one of the parts."""
    whole = parts[0]
    for part in parts[1:]:
        rows = np.flatnonzero((whole.status == Status.READY) & (part.status != Status.READY))
        columns = [array.copy() for array in (whole.status, whole.reason, whole.detail)]
        for array, other in zip(columns, (part.status, part.reason, part.detail), strict=True):
            array[rows] = other[rows]
        whole = Ledger(*columns)
    left = int((whole.status == Status.READY).sum())
    if left:
        raise ValueError(f"{left} records of the database were not searched")
    return whole
