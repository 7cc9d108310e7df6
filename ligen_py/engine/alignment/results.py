"""The records of a search: hits with their alignments, and what became of each record."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ligen_py.engine.alignment.hits import columns, significance
from ligen_py.engine.alignment.packing import NO_SEQUENCE
from ligen_py.engine.alignment.ranking import Ranked
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.records.column import Record
from ligen_py.records.homologs import Hits, Queries, SearchSpace
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.sequences.proteins import Proteins
from ligen_py.sequences.statistics import Statistics


class Index(Protocol):
    """Where sequences lie; see `records.database.Blocks`."""

    length: np.ndarray
    record: np.ndarray


class Database(Protocol):
    """What is asked of a database file."""

    index: Index
    sequences: int
    residues: int

    def letters(self, place: int) -> np.ndarray:
        """One sequence, by its place (flat) in the index."""

    def names(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Name and header of some records."""

    def ledger(self) -> Ledger:
        """What became of each record before."""


class Part(Protocol):
    """Part `index` of `count`, from 1."""

    index: int
    count: int


def results(
    queries: Proteins,
    ranked: Sequence[Ranked],
    database: Database,
    scoring: Scoring,
    statistics: Statistics | None,
    blocks: tuple[int, int],
    part: Part,
    site: Sequence[int] = (),
) -> dict[str, Record]:
    """The records of a homologs file.

    `blocks` is the range of those that were searched, `site` are residues of the queries (from 0).
    """
    record, length = (array.reshape(-1) for array in (database.index.record, database.index.length))
    there = np.flatnonzero(record != NO_SEQUENCE)
    order = there[np.argsort(record[there])]  # places by record, of those that have one
    found: list[dict[str, np.ndarray]] = []
    for query, best in zip(queries.letters, ranked, strict=True):
        places = order[np.searchsorted(record[order], best.record)]
        targets = [database.letters(int(place)) for place in places]
        mine = columns(query, targets, scoring, site)
        if not np.array_equal(mine["score"], best.score):
            raise ValueError("an alignment has another score than the device found")
        space = len(query), database.residues, database.sequences
        bits, evalue = significance(statistics, best.score, *space)
        mine |= {"entry": best.record, "residues": length[places], "bits": bits, "evalue": evalue}
        found.append(mine)
    joined = {name: np.concatenate([mine[name] for mine in found]) for name in found[0]}
    names = database.names(joined["entry"])
    hits = Hits(target=names["name"], header=names["header"], **joined)
    ends = np.cumsum([0, *(len(best.record) for best in ranked)])
    of_query = Queries(
        np.array(queries.name, object),
        np.array(queries.header, object),
        np.fromiter(map(len, queries.letters), "i4", len(queries)),
        ends.astype("i8"),
    )
    searched = database.index.record[slice(*blocks)].reshape(-1)
    searched = searched[searched != NO_SEQUENCE]
    ledger = database.ledger().marked(
        searched, Status.SCORED, Reason.NONE, np.full(len(searched), "", object)
    )
    space = SearchSpace(
        np.array([database.sequences], "i8"),
        np.array([database.residues], "i8"),
        np.array([part.index, part.count], "i4"),
    )
    return {"ledger": ledger, "queries": of_query, "hits": hits, "space": space}
