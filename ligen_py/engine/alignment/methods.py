"""The two ways to score a query on a device: kernels, their launches, and where they are right."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ligen_py.engine.alignment.packing import BLOCK
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.opencl import buffers
from ligen_py.opencl.device import SUB_GROUP_SIZE, Device
from ligen_py.opencl.program import build
from ligen_py.opencl.residency import resident
from ligen_py.records.database import Blocks
from ligen_py.sequences.alphabets import PAD

INTER_SEQUENCE = "sequences/inter_sequence.cl"
WAVEFRONT = "sequences/wavefront.cl"


class Resident:
    """Blocks on a device, with room for the scores of two queries in turn."""

    def __init__(self, device: Device, blocks: Blocks) -> None:
        """Copy the blocks to the device."""
        self.device, self.blocks = device, blocks
        self.first = buffers.upload(device, blocks.first)
        self.length = buffers.upload(device, blocks.length)
        self.letters = buffers.upload(device, blocks.letters)
        self.scores: list[Any] = [
            buffers.empty(device, blocks.record.size, np.int32) for _ in range(2)
        ]

    def next_scores(self) -> Any:
        """The buffer that was not used last."""
        self.scores.reverse()
        return self.scores[0]


class InterSequence:
    """Many sequences in the lanes of a vector; for processors."""

    widths = (8, 16, 32)
    letter_bytes = 1
    """Memory of a letter of the database on the device."""

    _LANES: ClassVar = {8: 32, 16: 16, 32: 8}
    """Sequences in a vector: 256 bits are fastest, with AVX-512 too."""

    _MATRIX_ROW = 32

    def __init__(self, device: Device, scoring: Scoring) -> None:
        """Upload the matrix."""
        self._device, self._scoring = device, scoring
        table = np.zeros((PAD + 1, self._MATRIX_ROW), "u1")
        table[:PAD, :PAD] = scoring.matrix.T.astype("i2") + scoring.bias
        self._matrix = buffers.upload(device, table)
        self._items = int(device.handle.max_compute_units)
        self._scratch: Any = None

    def limit(self, bits: int) -> int:
        """Scores from here on may be wrong with so many bits: the next pair may exceed them."""
        return (1 << bits) - int(self._scoring.matrix.max()) - self._scoring.bias

    def launch(self, there: Resident, query: np.ndarray, bits: int, scores: Any) -> list[Any]:
        """Enqueue the kernels that fill `scores` (block, sequence); the events to wait for."""
        device, scoring = self._device, self._scoring
        lanes = self._LANES[bits]
        definitions = {"BITS": bits, "LANES": lanes, "BLOCK": BLOCK, "ROW": self._MATRIX_ROW}
        definitions |= {"SIMULATOR": 1} if device.is_simulator else {}
        program = build(device, INTER_SEQUENCE, definitions)
        room = self._items * 2 * len(query) * lanes * bits // 8
        if self._scratch is None or self._scratch.size < room:
            self._scratch = buffers.empty(device, room, np.uint8)
        with buffers.memory_named(device):
            event = program.kernel("score_blocks")(
                device.queue,
                (self._items,),
                (1,),
                np.int32(len(there.blocks.record)),
                there.first,
                there.length,
                there.letters,
                np.int32(len(query)),
                buffers.upload(device, query),
                self._matrix,
                np.int32(scoring.bias),
                np.int32(scoring.gap_first),
                np.int32(scoring.gap_next),
                self._scratch,
                buffers.exchange(device, np.zeros(1, np.int32)),
                scores,
            )
            device.queue.flush()
        return [event]


class Shape(NamedTuple):
    """How a query lies on a sub-group: lanes of a group, and rows of a lane."""

    lanes: int
    rows: int

    @property
    def height(self) -> int:
        """Rows of the query that one pass takes."""
        return self.lanes * self.rows


SHAPES = {
    Shape(8, 8): 0.75,
    Shape(8, 16): 0.9,
    Shape(8, 24): 0.97,
    Shape(8, 32): 1.0,
    Shape(16, 24): 0.97,
    Shape(16, 32): 1.0,
    Shape(16, 40): 0.97,
    Shape(32, 24): 0.95,
    Shape(32, 32): 0.96,
}
"""Shape -> how fast it is (cells of its whole height a second, beside the fastest on an H200)."""

LONG = 4096
"""A longer sequence is for a whole sub-group, or it would still run when all others are done."""

LOWEST = -128
"""Score of a row behind the query, and of the letter PAD."""


class Wavefront:
    """An anti-diagonal in the lanes of a sub-group; for GPUs."""

    widths = (16, 32)
    letter_bytes = 5
    """Memory of a letter of the database on the device, with H and F between two passes."""

    _SUB_GROUPS = 4
    """Of a work-group, which share a profile."""

    def __init__(
        self, device: Device, scoring: Scoring, shapes: Sequence[Shape] = tuple(SHAPES)
    ) -> None:
        """`shapes` are those to choose from."""
        self._device, self._scoring, self._shapes = device, scoring, shapes
        self._edge: Any = None
        self._before: list[Any] = []

    def limit(self, bits: int) -> int:
        """Scores from here on may be wrong with so many bits: the next pair may exceed them."""
        return (1 << (bits - 1)) - int(self._scoring.matrix.max())

    def launch(self, there: Resident, query: np.ndarray, bits: int, scores: Any) -> list[Any]:
        """Enqueue the kernels that fill `scores` (block, sequence); the events to wait for."""
        shape = self._shape(len(query), self._shapes)
        whole = [known for known in self._shapes if known.lanes == SUB_GROUP_SIZE]
        long = int(np.searchsorted(-there.blocks.length[:, 0], -LONG))
        if shape.lanes == SUB_GROUP_SIZE or not long or not whole:
            long = 0
        queue = self._device.queue
        events = [buffers.zero(self._device, scores)]
        # What waits between two passes is in one place for all queries.
        after = [*events, *self._before] if len(query) > shape.height else list(events)
        if long:
            of_long = self._shape(len(query), whole)
            part = there, query, bits, scores, of_long, 0, long
            events += self._launch(queue, after, *part)
            queue = self._device.second_queue
        part = there, query, bits, scores, shape, long, len(there.blocks.record)
        events += self._launch(queue, after, *part)
        self._before = events
        return events

    @staticmethod
    def _shape(rows: int, shapes: Sequence[Shape]) -> Shape:
        """The shape that takes the least time for a query."""
        return min(
            shapes, key=lambda shape: -(-rows // shape.height) * shape.height / SHAPES[shape]
        )

    def _launch(
        self,
        queue: Any,
        after: list[Any],
        there: Resident,
        query: np.ndarray,
        bits: int,
        scores: Any,
        shape: Shape,
        start: int,
        end: int,
    ) -> list[Any]:
        device, scoring = self._device, self._scoring
        passes = -(-len(query) // shape.height)
        group = 1 if device.back_end == "local" else self._SUB_GROUPS
        major = int(device.handle.compute_capability_major_nv) if device.back_end == "ptx" else 0
        definitions = {
            "BITS": bits,
            "GROUP": shape.lanes,
            "ROWS": shape.rows,
            "BLOCK": BLOCK,
            "WG_SUB_GROUPS": group,
            "SINGLE_PASS": int(passes == 1),
            **({"PACKED_16": 1} if major >= 9 else {}),
        }
        program = build(device, WAVEFRONT, definitions)
        profile = buffers.upload(device, self._profile(query, shape, passes))
        per_value = 32 // bits
        values = BLOCK // per_value
        room = there.blocks.letters.size // per_value if passes > 1 else 1
        events = []
        if self._edge is None or self._edge.size < room * 8:
            self._edge = buffers.empty(device, room, np.dtype("u4,u4"))
        units = (end - start) * values * shape.lanes // SUB_GROUP_SIZE
        groups = -(-min(units, resident(program, "score_pairs", group)) // group)
        size = SUB_GROUP_SIZE * group
        taken = buffers.exchange(device, np.zeros(passes, np.int32))
        with buffers.memory_named(device):
            for number in range(passes):
                event = program.kernel("score_pairs")(
                    queue,
                    (groups * size,),
                    (size,),
                    np.int32(start),
                    np.int32(end),
                    there.first,
                    there.length,
                    there.letters,
                    profile,
                    np.int32(number),
                    np.int32(passes),
                    np.int32(scoring.gap_first),
                    np.int32(scoring.gap_next),
                    taken,
                    self._edge,
                    scores,
                    wait_for=after,
                )
                events.append(event)
            queue.flush()
        return events

    def _profile(self, query: np.ndarray, shape: Shape, passes: int) -> np.ndarray:
        """Scores (passes, letters of the database, bytes) i1 of the query's rows."""
        rows = np.full((PAD + 1, passes * shape.height), LOWEST, "i1")
        rows[:PAD, : len(query)] = self._scoring.matrix[query].T
        by_pass = rows.reshape(PAD + 1, passes, shape.height).swapaxes(0, 1)
        filled = np.zeros((passes, PAD + 1, shape.height + 16), "i1")
        filled[:, :, : shape.height] = by_pass
        return filled


def method_of(device: Device) -> type[InterSequence] | type[Wavefront]:
    """The faster one on a kind of device."""
    return Wavefront if device.kind == "gpu" else InterSequence
