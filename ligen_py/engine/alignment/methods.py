"""The two ways to score a query on a device: kernels, their launches, and where they are right."""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from ligen_py.engine.alignment.packing import BLOCK
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import build
from ligen_py.records.database import Blocks
from ligen_py.sequences.alphabets import PAD

INTER_SEQUENCE = "sequences/inter_sequence.cl"
WAVEFRONT = "sequences/wavefront.cl"


TABLES = 1 << 20
"""Bytes for each table that a query's kernels read; few queries need more."""


class Resident:
    """Blocks on a device, with room for the tables and scores of two queries in turn."""

    def __init__(self, device: Device, blocks: Blocks) -> None:
        """Copy the blocks to the device."""
        self.device, self.blocks = device, blocks
        self.first = buffers.upload(device, blocks.first)
        self.length = buffers.upload(device, blocks.length)
        self.letters = buffers.Reserve(device).upload(blocks.letters)
        self.scores: list[Any] = [
            buffers.empty(device, blocks.record.size, np.int32) for _ in range(2)
        ]
        self._tables = [buffers.Reserve(device) for _ in range(2)]
        for tables in self._tables:
            for _ in range(2):
                tables.empty(TABLES, np.uint8)

    def next_scores(self) -> Any:
        """The buffer that was not used last."""
        self.scores.reverse()
        return self.scores[0]

    def next_tables(self) -> buffers.Reserve:
        """Buffers for the next query, while the device is at work on the one before.

        To make new ones NVIDIA's driver would wait until that is done.
        """
        self._tables.reverse()
        self._tables[0].restart()
        return self._tables[0]


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
    registers: int = 0
    """Cap on the registers of a lane where the compiler takes one; 0: none. With a cap it often
    orders the same instructions better, even where they need no more registers than that."""

    @property
    def height(self) -> int:
        """Rows of the query that one pass takes."""
        return self.lanes * self.rows

    @property
    def lane_bytes(self) -> int:
        """Bytes of a lane's scores with one letter: 16 at a time, where that is faster than 8."""
        step = 16 if 8 < self.rows <= 32 else 8
        return -(-self.rows // step) * step


def _shapes(lanes: int, table: dict[int, tuple[int, int]]) -> dict[Shape, int]:
    """The speeds of shapes; `table`: rows -> cap on the registers, speed."""
    return {Shape(lanes, rows, cap): speed for rows, (cap, speed) in table.items()}


_FEW_LANES = {
    8: (0, 4580), 9: (0, 4537), 10: (0, 4863), 11: (0, 5102), 12: (0, 5104), 13: (0, 5374),
    14: (0, 5414), 15: (0, 5238), 16: (0, 5446), 17: (0, 5354), 18: (0, 5301), 20: (0, 5618),
    21: (0, 5744), 22: (0, 5615), 24: (0, 5653), 26: (96, 5739), 27: (0, 5553), 28: (96, 5494),
    29: (0, 5544), 30: (96, 5623), 32: (0, 5813), 33: (0, 5651), 34: (0, 5672), 35: (0, 5546),
    38: (128, 5851), 39: (0, 5691), 41: (128, 5889), 44: (128, 5855), 45: (128, 5624),
    48: (128, 5580),
}  # fmt: skip
_ALL_LANES = {
    8: (0, 3631), 16: (0, 5319), 23: (0, 5598), 26: (0, 5738), 27: (0, 5567), 28: (96, 5680),
    29: (96, 5538), 30: (96, 5539), 31: (96, 5615), 32: (0, 5580), 33: (0, 5494), 34: (0, 5508),
    35: (0, 5498), 38: (128, 5792), 40: (128, 5744),
}  # fmt: skip

ONE_PASS = _shapes(8, _FEW_LANES) | _shapes(16, _FEW_LANES) | _shapes(32, _ALL_LANES)
"""Shape -> cells of its whole height on an H200, 1e9 a second. Rows that are left out take no less
time than the next that are here. A shape is compiled when a query needs it."""

SEVERAL_PASSES = _shapes(32, {
    20: (0, 5372), 21: (0, 5348), 22: (0, 5341), 23: (0, 5465), 24: (96, 5448), 25: (96, 5451),
    26: (96, 5487), 27: (96, 5575), 30: (96, 5414), 32: (0, 5434), 39: (128, 5438),
})  # fmt: skip
"""The same of queries that take more than one pass."""

FASTEST = 5889
"""Of these speeds."""

REGISTERS = 132 * 65_536 // 32
"""Registers of a lane that an H200's sub-groups share; one of them takes 22 and 3.2 a row, at most
128."""

ALONE = 4
"""How much faster the longest sequence goes on when the others are done."""

SUB_GROUPS_A_UNIT = 64
"""Sub-groups that are launched for each compute unit of a GPU: more than it can run at a time."""

LOWEST = -128
"""Score of a row behind the query, and of the letter PAD."""


class Wavefront:
    """An anti-diagonal in the lanes of a sub-group; for GPUs."""

    widths = (16, 32)
    letter_bytes = 5
    """Memory of a letter of the database on the device, with H and F between two passes."""

    _SUB_GROUPS = 4
    """Of a work-group, which share a profile."""

    def __init__(self, device: Device, scoring: Scoring, shape: Shape | None = None) -> None:
        """By default each query has the shape that is fastest for it."""
        self._device, self._scoring, self._shape = device, scoring, shape
        self._edge: Any = None

    def limit(self, bits: int) -> int:
        """Scores from here on may be wrong with so many bits: the next pair may exceed them."""
        return (1 << (bits - 1)) - int(self._scoring.matrix.max())

    def launch(self, there: Resident, query: np.ndarray, bits: int, scores: Any) -> list[Any]:
        """Enqueue the kernels that fill `scores` (block, sequence); the events to wait for."""
        device, scoring = self._device, self._scoring
        shape = self._shape or fastest(len(query), there.blocks.length)
        passes = -(-len(query) // shape.height)
        group = 1 if device.back_end == "local" else self._SUB_GROUPS
        definitions = self._definitions(shape, bits, group, passes)
        program = build(device, WAVEFRONT, definitions, shape.registers)
        values = BLOCK * bits // 32
        room = there.blocks.letters.size * bits // 32 if passes > 1 else 1
        if self._edge is None or self._edge.size < room * 8:
            self._edge = buffers.empty(device, room, np.dtype("u4,u4"))
        units = len(there.blocks.record) * values * shape.lanes // device.sub_group_size
        most = int(device.handle.max_compute_units) * SUB_GROUPS_A_UNIT
        size = device.sub_group_size * group
        tables = there.next_tables()
        profile = tables.upload(self._profile(query, shape, passes))
        taken = tables.upload(np.zeros(passes, np.int32))
        events = [buffers.zero(device, scores)]
        with buffers.memory_named(device):
            for number in range(passes):
                event = program.kernel("score_pairs")(
                    device.queue,
                    (-(-min(units, most) // group) * size,),
                    (size,),
                    np.int32(len(there.blocks.record)),
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
                )
                events.append(event)
            device.queue.flush()
        return events

    def _definitions(self, shape: Shape, bits: int, group: int, passes: int) -> dict[str, object]:
        device = self._device
        packed = device.back_end == "ptx" and int(device.handle.compute_capability_major_nv) >= 9
        return {
            "BITS": bits,
            "GROUP": shape.lanes,
            "ROWS": shape.rows,
            "LANE_BYTES": shape.lane_bytes,
            "BLOCK": BLOCK,
            "WG_SUB_GROUPS": group,
            "SINGLE_PASS": int(passes == 1),
            **({"PACKED_16": 1} if packed else {}),
        }

    def _profile(self, query: np.ndarray, shape: Shape, passes: int) -> np.ndarray:
        """Scores (passes, letters of the database, bytes) i1 of the query's rows."""
        rows = np.full((PAD + 1, passes * shape.height), LOWEST, "i1")
        rows[:PAD, : len(query)] = self._scoring.matrix[query].T
        of_lane = shape.lane_bytes
        filled = np.zeros((passes, PAD + 1, shape.lanes * of_lane + 16), "i1")
        lanes = filled[:, :, : shape.lanes * of_lane].reshape(passes, PAD + 1, shape.lanes, of_lane)
        by_letter = rows.reshape(PAD + 1, passes, shape.lanes, shape.rows)
        lanes[..., : shape.rows] = by_letter.swapaxes(0, 1)
        return filled


def fastest(rows: int, length: np.ndarray) -> Shape:
    """The shape that takes the least time for a query of so many rows, with sequences' lengths."""
    residues, longest = int(length.sum(dtype="i8")), int(length.max(initial=0))
    speeds = {shape: speed for shape, speed in ONE_PASS.items() if shape.height >= rows}
    speeds = speeds or SEVERAL_PASSES

    def cost(shape: Shape) -> float:
        """Nanoseconds for all cells, and for the longest sequence beyond these."""
        whole = residues * shape.height / speeds[shape]
        # The sub-group with the longest sequence has its share of the device: 64 cells for a
        # column and row, because its lanes have pairs, beside as many others as there is room.
        beside = REGISTERS / min(128, 22 + 3.2 * shape.rows)
        alone = beside * 64 * longest * shape.rows / FASTEST
        return -(-rows // shape.height) * (whole + max(0.0, alone - whole) / ALONE)

    return min(speeds, key=cost)


def method_of(device: Device) -> type[InterSequence] | type[Wavefront]:
    """The faster one on a kind of device."""
    return Wavefront if device.kind == "gpu" else InterSequence
