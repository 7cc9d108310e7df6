"""Scores of queries against a database on a device, exact for any length; the best of them.

On a processor many sequences run side by side in the lanes of a vector, first with 8 bits, where
that is too few again with 16 and 32. On a GPU an anti-diagonal moves through the lanes of a
sub-group, with 16 bits, where that is too few again with 32. Which one runs changes no score, and
neither does how much of the database is on the device at a time.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ligen_py.engine.alignment.methods import InterSequence, Resident, Wavefront, method_of
from ligen_py.engine.alignment.packing import NO_SEQUENCE, chosen, pieces, some
from ligen_py.engine.alignment.ranking import Ranked, best, merged
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.records.database import Blocks


class _Running(NamedTuple):
    """A query that the device is at work on."""

    query: np.ndarray
    scores: Any
    events: list[Any]


class Searcher:
    """Scores on one device; `kernel_seconds` adds up its own time in the kernels."""

    def __init__(
        self, device: Device, scoring: Scoring, method: InterSequence | Wavefront | None = None
    ) -> None:
        """By default the method is that of the kind of device."""
        self.device = device
        self.kernel_seconds = 0.0
        self._method = method or method_of(device)(device, scoring)

    def search(
        self,
        queries: Sequence[np.ndarray],
        blocks: Blocks,
        count: int,
        most: int = 0,
        done: Callable[[int], object] = lambda _: None,
    ) -> list[Ranked]:
        """The `count` best records of a database for each query.

        `most` bytes of letters are on the device at a time, by default as many as it has room for;
        `done` is called with the number of cells of the matrices each time that some are done.
        """
        room = most or buffers.budget(self.device) // self._method.letter_bytes
        found: list[list[Ranked]] = [[] for _ in queries]
        for start, end in pieces(blocks.first, 0, len(blocks.record), room):
            piece = some(blocks, start, end)
            record = piece.record.reshape(-1)  # a place without one scores 0
            residues = int(piece.length.sum(dtype="i8"))
            for number, scores in enumerate(self.scores(queries, piece)):
                found[number].append(best(record, scores, count))
                done(residues * len(queries[number]))
        return [merged(parts, count) for parts in found]

    def scores(self, queries: Sequence[np.ndarray], blocks: Blocks) -> Iterator[np.ndarray]:
        """Scores (i4) of every place of some blocks (flat), for one query after another.

        While one is fetched, the device works on the next.
        """
        there = Resident(self.device, blocks)
        running: _Running | None = None
        for query in queries:
            following = self._launch(there, query)
            if running:
                yield self._fetch(there, running)
            running = following
        if running:
            yield self._fetch(there, running)

    def _launch(self, there: Resident, query: np.ndarray, width: int = 0) -> _Running:
        scores = there.next_scores()
        events: list[Any] = []
        if len(query) and len(there.blocks.record):
            bits = self._method.widths[width]
            events = self._method.launch(there, query, bits, scores)
        return _Running(query, scores, events)

    def _fetch(self, there: Resident, running: _Running, width: int = 0) -> np.ndarray:
        """Scores of a query; those that need more bits are found again."""
        size = there.blocks.record.size
        if not running.events:
            return np.zeros(size, "i4")
        self.kernel_seconds += buffers.span(running.events)
        last = running.events[-1]
        scores = buffers.download(self.device, running.scores, size, np.int32, last)
        places = np.flatnonzero(scores >= self._method.limit(self._method.widths[width]))
        if len(places):
            again = Resident(self.device, chosen(there.blocks, places))
            launched = self._launch(again, running.query, width + 1)
            found = self._fetch(again, launched, width + 1)
            record = again.blocks.record.reshape(-1)
            scores[record[record != NO_SEQUENCE]] = found[record != NO_SEQUENCE]
        return scores
