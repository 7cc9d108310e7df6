"""The records of a search: hits with their alignments, and what became of each record."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ligen_py.engine.alignment.hits import columns, significance
from ligen_py.engine.alignment.packing import NO_SEQUENCE
from ligen_py.engine.alignment.ranking import Ranked
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.engine.alignment.tracing import Align
from ligen_py.records.homologs import Hits, Queries, Results, SearchSpace
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.sequences.proteins import Proteins
from ligen_py.sequences.statistics import Statistics


class Database(Protocol):
    """What is asked of a database file."""

    @property
    def length(self) -> np.ndarray:
        """Residues of each sequence (blocks, 32)."""

    @property
    def record(self) -> np.ndarray:
        """Which record of the database each sequence is (blocks, 32); NO_SEQUENCE for none."""

    @property
    def sequences(self) -> int:
        """Sequences of the whole database."""

    @property
    def residues(self) -> int:
        """Their residues."""

    def letters(self, place: int) -> np.ndarray:
        """One sequence, by its place (flat) in the index."""

    def names(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Name and header of some records."""

    def ledger(self) -> Ledger:
        """What became of each record before."""


class Part(Protocol):
    """A part of a database."""

    @property
    def index(self) -> int:
        """From 1."""

    @property
    def count(self) -> int:
        """Of all parts."""


def results(
    queries: Proteins,
    ranked: Sequence[Ranked],
    database: Database,
    scoring: Scoring,
    align: Align,
    statistics: Statistics | None,
    blocks: tuple[int, int],
    part: Part,
    sites: Sequence[Sequence[int]],
) -> Results:
    """The records of a homologs file.

    `blocks` is the range of those that were searched, `sites` are residues of each query (from 0)
    over which identity is counted, too.
    """
    record, length = (array.reshape(-1) for array in (database.record, database.length))
    there = np.flatnonzero(record != NO_SEQUENCE)
    place_of = np.zeros(int(record.max(initial=-1)) + 1, "i8")
    place_of[record[there]] = there
    found: list[dict[str, np.ndarray]] = []
    for query, best, site in zip(queries.letters, ranked, sites, strict=True):
        places = place_of[best.record]
        targets = [database.letters(int(place)) for place in places]
        mine = columns(query, targets, scoring, align, site)
        if not np.array_equal(mine["score"], best.score):
            raise ValueError("an alignment has another score than the device found")
        size = len(query), database.residues, database.sequences
        bits, evalue = significance(statistics, best.score, *size)
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
    searched = database.record[slice(*blocks)].reshape(-1)
    searched = searched[searched != NO_SEQUENCE]
    ledger = database.ledger().marked(searched, Status.SCORED, Reason.NONE, [""] * len(searched))
    space = SearchSpace(
        np.array([database.sequences], "i8"),
        np.array([database.residues], "i8"),
        np.array([part.index, part.count], "i4"),
    )
    return Results(ledger, of_query, hits, space)
