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
"""Cells of the matrices of one launch, a byte each."""

STEPS = np.array(["", "M", "D", "I"])
"""As the kernel numbers them: a pair, of the target only, of the query only."""


def tracer(device: Device, scoring: Scoring) -> Align:
    """What aligns on a device, as `reference.align` does."""
    matrix = buffers.upload(device, scoring.matrix)
    program = build(device, KERNELS, {"LETTERS": len(AMINO_ACIDS)})
    most = min(MOST, buffers.budget(device) // 2)

    def align(query: np.ndarray, targets: Sequence[np.ndarray]) -> list[Alignment]:
        """An alignment for each target, in order; as many at once as steps fit into `most` bytes.

        A target that is too large alone, or empty, is aligned by the twin.
        """
        found: list[Alignment] = []
        while len(found) < len(targets):
            some = list(targets[len(found) : len(found) + 1])
            cells = len(query) * len(some[0])
            if cells > most or not cells:
                found += reference.align(query, some, scoring)
                continue
            for target in targets[len(found) + 1 :]:
                cells += len(query) * len(target)
                if cells > most:
                    break
                some.append(target)
            found += aligned(query, some)
        return found

    def aligned(query: np.ndarray, targets: list[np.ndarray]) -> list[Alignment]:
        """Alignments of targets whose steps, a byte for each cell, fit into the memory together."""
        length = np.fromiter(map(len, targets), "i4", len(targets))
        first = np.concatenate([[0], np.cumsum(length)]).astype("i8")
        first_step = first + np.arange(len(first)) * len(query)
        steps = buffers.empty(device, int(first_step[-1]), np.uint8)
        ends = buffers.empty(device, len(targets) * 4, np.int32)
        # On a processor a work-group is one sequence, so that the cores share them.
        group = device.sub_group_size if device.kind == "gpu" else 1
        with buffers.memory_named(device):
            event = program.kernel("align_pairs")(
                device.queue,
                (-(-len(targets) // group) * group,),
                (group,),
                np.int32(len(targets)),
                np.int32(len(query)),
                buffers.upload(device, query),
                buffers.upload(device, first),
                buffers.upload(device, length),
                buffers.upload(device, np.concatenate(targets)),
                matrix,
                np.int32(scoring.gap_first),
                np.int32(scoring.gap_next),
                buffers.empty(device, len(targets) * len(query) * 2, np.int32),
                buffers.empty(device, int(first[-1]) * len(query), np.uint8),
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
