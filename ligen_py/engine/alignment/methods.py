"""The two ways to score a query on a device: kernels, their launches, and where they are right."""

from collections.abc import Sequence
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


class Resident:
    """Blocks on a device, with room for the scores of two queries in turn."""

    def __init__(self, device: Device, blocks: Blocks) -> None:
        """Copy the blocks to the device."""
        self.device, self.blocks = device, blocks
        self.first = buffers.upload(device, blocks.first)
        self.length = buffers.upload(device, blocks.length)
        self.letters = buffers.Reserve(device).upload(blocks.letters)
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
    Shape(8, 16): 0.92,
    Shape(8, 24): 0.95,
    Shape(8, 32): 0.99,
    Shape(8, 40): 0.98,
    Shape(16, 8): 0.74,
    Shape(16, 16): 0.94,
    Shape(16, 24): 0.95,
    Shape(16, 28): 0.97,
    Shape(16, 32): 1.0,
    Shape(16, 36): 0.99,
    Shape(16, 40): 0.99,
    Shape(32, 8): 0.73,
    Shape(32, 16): 0.94,
    Shape(32, 24): 0.95,
    Shape(32, 28): 0.97,
    Shape(32, 32): 0.99,
    Shape(32, 40): 0.99,
}
"""Shape -> cells of its whole height a second on an H200, beside the fastest (5.55e12)."""

SEVERAL = 1.05
"""What a pass of several takes longer than the one pass of a shorter query."""

REGISTERS = 132 * 65_536 // 32
"""Registers of a lane that an H200's sub-groups share; one of them takes 22 and 3.2 a row."""

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

    def __init__(
        self, device: Device, scoring: Scoring, shapes: Sequence[Shape] = tuple(SHAPES)
    ) -> None:
        """`shapes` are those to choose from."""
        self._device, self._scoring, self._shapes = device, scoring, shapes
        self._edge: Any = None

    def limit(self, bits: int) -> int:
        """Scores from here on may be wrong with so many bits: the next pair may exceed them."""
        return (1 << (bits - 1)) - int(self._scoring.matrix.max())

    def launch(self, there: Resident, query: np.ndarray, bits: int, scores: Any) -> list[Any]:
        """Enqueue the kernels that fill `scores` (block, sequence); the events to wait for."""
        device, scoring = self._device, self._scoring
        shape = self._shape(len(query), there.blocks)
        passes = -(-len(query) // shape.height)
        group = 1 if device.back_end == "local" else self._SUB_GROUPS
        program = build(device, WAVEFRONT, self._definitions(shape, bits, group, passes))
        values = BLOCK * bits // 32
        room = there.blocks.letters.size * bits // 32 if passes > 1 else 1
        if self._edge is None or self._edge.size < room * 8:
            self._edge = buffers.empty(device, room, np.dtype("u4,u4"))
        units = len(there.blocks.record) * values * shape.lanes // device.sub_group_size
        most = int(device.handle.max_compute_units) * SUB_GROUPS_A_UNIT
        size = device.sub_group_size * group
        profile = buffers.upload(device, self._profile(query, shape, passes))
        taken = buffers.exchange(device, np.zeros(passes, np.int32))
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

    def _shape(self, rows: int, blocks: Blocks) -> Shape:
        """The shape that takes the least time for a query of so many rows."""
        residues, longest = int(blocks.length.sum(dtype="i8")), int(blocks.length.max(initial=0))

        def cost(shape: Shape) -> float:
            """Time, no unit: of all cells at the shape's speed, or of the longest sequence."""
            passes = -(-rows // shape.height)
            whole = residues * shape.height / SHAPES[shape] * (SEVERAL if passes > 1 else 1)
            # The sub-group with the longest sequence has its share of the device: 64 cells for a
            # column and row, because its lanes have pairs, beside as many others as there is room.
            beside = REGISTERS / (22 + 3.2 * shape.rows)
            alone = beside * 64 * longest * shape.rows
            return passes * max(whole, alone)

        return min(self._shapes, key=cost)

    def _definitions(self, shape: Shape, bits: int, group: int, passes: int) -> dict[str, object]:
        device = self._device
        packed = device.back_end == "ptx" and int(device.handle.compute_capability_major_nv) >= 9
        return {
            "BITS": bits,
            "GROUP": shape.lanes,
            "ROWS": shape.rows,
            "BLOCK": BLOCK,
            "WG_SUB_GROUPS": group,
            "SINGLE_PASS": int(passes == 1),
            **({"PACKED_16": 1} if packed else {}),
        }

    def _profile(self, query: np.ndarray, shape: Shape, passes: int) -> np.ndarray:
        """Scores (passes, letters of the database, bytes) i1 of the query's rows."""
        rows = np.full((PAD + 1, passes * shape.height), LOWEST, "i1")
        rows[:PAD, : len(query)] = self._scoring.matrix[query].T
        of_lane = -(-shape.rows // 8) * 8  # LANE_BYTES of the kernel
        filled = np.zeros((passes, PAD + 1, shape.lanes * of_lane + 16), "i1")
        lanes = filled[:, :, : shape.lanes * of_lane].reshape(passes, PAD + 1, shape.lanes, of_lane)
        by_letter = rows.reshape(PAD + 1, passes, shape.lanes, shape.rows)
        lanes[..., : shape.rows] = by_letter.swapaxes(0, 1)
        return filled


def method_of(device: Device) -> type[InterSequence] | type[Wavefront]:
    """The faster one on a kind of device."""
    return Wavefront if device.kind == "gpu" else InterSequence
