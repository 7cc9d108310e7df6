"""Alignments of hits on a device: the scores are known, now where and how."""

from collections.abc import Callable, Sequence

import numpy as np

from ligen_py.engine.alignment import reference
from ligen_py.engine.alignment.reference import Alignment
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import build
from ligen_py.sequences.alphabets import AMINO_ACIDS

KERNELS = "sequences/traceback.cl"

Align = Callable[[np.ndarray, Sequence[np.ndarray]], list[Alignment]]
"""Best alignments of a query with targets."""

MOST = 1 << 28
"""Bytes of the moves of one launch: one for each cell of the matrices, and some between."""

ITEMS = {"gpu": 256}
"""Rows of a matrix that a work-group fills at a time, by kind of device; else 16."""

STEPS = np.array(["", "M", "D", "I"])
"""As the kernel numbers them: a pair, of the target only, of the query only."""


def tracer(device: Device, scoring: Scoring, items: int = 0) -> Align:
    """What aligns on a device, as `reference.align` does; `items` rows at a time, if not 0."""
    items = items or min(ITEMS.get(device.kind, 16), int(device.handle.max_work_group_size))
    matrix = buffers.upload(device, scoring.matrix)
    program = build(device, KERNELS, {"LETTERS": len(AMINO_ACIDS), "ITEMS": items})
    most = min(MOST, buffers.budget(device) // 2)

    def moves_of(query: np.ndarray, target: np.ndarray) -> int:
        """Bytes of a matrix's moves: strips of rows, in which one item starts after another."""
        return -(-len(query) // items) * items * (len(target) + items - 1)

    def align(query: np.ndarray, targets: Sequence[np.ndarray]) -> list[Alignment]:
        """An alignment for each target, in order; as many at once as moves fit into `most` bytes.

        A target that is too large alone, or empty, is aligned by the twin.
        """
        found: list[Alignment] = []
        while len(found) < len(targets):
            some = list(targets[len(found) : len(found) + 1])
            moves = moves_of(query, some[0])
            if moves > most or not len(query) or not len(some[0]):
                found += reference.align(query, some, scoring)
                continue
            for target in targets[len(found) + 1 :]:
                moves += moves_of(query, target)
                if moves > most:
                    break
                some.append(target)
            found += aligned(query, some)
        return found

    def aligned(query: np.ndarray, targets: list[np.ndarray]) -> list[Alignment]:
        """Alignments of targets whose moves fit into the memory together."""
        length = np.fromiter(map(len, targets), "i4", len(targets))
        first = np.concatenate([[0], np.cumsum(length)]).astype("i8")
        first_move = np.cumsum([0, *(moves_of(query, target) for target in targets)], dtype="i8")
        first_step = first + np.arange(len(first)) * len(query)
        steps = buffers.empty(device, int(first_step[-1]), np.uint8)
        ends = buffers.empty(device, len(targets) * 4, np.int32)
        with buffers.memory_named(device):
            event = program.kernel("align_pairs")(
                device.queue,
                (len(targets) * items,),
                (items,),
                np.int32(len(query)),
                buffers.upload(device, query),
                buffers.upload(device, first),
                buffers.upload(device, length),
                buffers.upload(device, np.concatenate(targets)),
                matrix,
                np.int32(scoring.gap_first),
                np.int32(scoring.gap_next),
                buffers.empty(device, int(first[-1]) * 2, np.int32),
                buffers.upload(device, first_move),
                buffers.empty(device, int(first_move[-1]), np.uint8),
                buffers.upload(device, first_step),
                steps,
                ends,
            )
            device.queue.flush()
        told = buffers.download(device, ends, (len(targets), 4), np.int32, event)
        path = buffers.download(device, steps, int(first_step[-1]), np.uint8, event)
        starts = first_step[:-1]
        return [
            _alignment(score, row, place, path[start : start + count][::-1])
            for (score, row, place, count), start in zip(told.tolist(), starts, strict=True)
        ]

    return align


def _alignment(score: int, row: int, place: int, path: np.ndarray) -> Alignment:
    if not score:
        return Alignment(0, 0, 0, 0, 0, "")
    changes = np.flatnonzero(np.diff(path)) + 1
    cuts = np.concatenate([[0], changes, [len(path)]])
    runs = zip(np.diff(cuts).tolist(), STEPS[path[cuts[:-1]]].tolist(), strict=True)
    rows, places = int((path != 2).sum()), int((path != 3).sum())
    cigar = "".join(f"{run}{step}" for run, step in runs)
    return Alignment(score, row + 1 - rows, row + 1, place + 1 - places, place + 1, cigar)
