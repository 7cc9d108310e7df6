"""What an image costs as the place of the query profile, beside a buffer, on one device.

    python benchmarks/profile_image.py [--device SELECTOR] [--residues MILLIONS]

The kernel works as that of the OpenCL search of 2017: a work-item aligns a query with one
sequence, and takes the scores of four rows of the query at a time from the profile (row, letter).
It runs with the profile as an image of four signed bytes a texel, and as a buffer of the same
bytes, in turn; the table has cells a second of processor time, and of wall-clock time.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pyopencl as cl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.homologs import Letters, database
from benchmarks.leaving import in_words
from ligen_py.engine.alignment import reference
from ligen_py.engine.alignment.packing import BLOCK, some
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.opencl.device import Device, select
from ligen_py.records.database import Blocks
from ligen_py.sequences.alphabets import PAD
from ligen_py.sequences.substitution import read_matrix

ROWS = 256
SOURCE = """
#define ROWS 256
#if IMAGE
#define PROFILE __read_only image2d_t
#define FOUR(row, letter) read_imagei(profile, nearest, (int2)(row, letter))
__constant sampler_t nearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#else
#define PROFILE __global const char4 *
#define FOUR(row, letter) convert_int4(profile[(letter) * (ROWS / 4) + (row)])
#endif

__kernel void align(__global const long *first, __global const int *length,
                    __global const uchar *letters, PROFILE profile, __global int *scores) {
  const int item = get_global_id(0), block = item / 32, lane = item % 32;
  short h[ROWS], e[ROWS];
  int best = 0;
  for (int row = 0; row < ROWS; row++) h[row] = 0, e[row] = -100;
  for (int column = 0; column < length[item]; column++) {
    const int letter = letters[(first[block] + column) * 32 + lane];
    int diagonal = 0, f = -100;
    for (int four = 0; four < ROWS / 4; four++) {
      const int4 score = FOUR(four, letter);
      const int part[4] = {score.x, score.y, score.z, score.w};
      for (int i = 0; i < 4; i++) {
        const int row = 4 * four + i;
        const int cell = max(max(diagonal + part[i], max((int)e[row], f)), 0);
        diagonal = h[row];
        h[row] = cell;
        e[row] = max(cell - 10, e[row] - 2);
        f = max(cell - 10, f - 2);
        best = max(best, cell);
      }
    }
  }
  scores[item] = best;
}
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", help="OpenCL device, by words of its name")
    parser.add_argument("--residues", type=float, default=0.5, help="millions of the database")
    options = parser.parse_args()
    device = select(options.device)
    print(device.label)
    blocks = database(int(options.residues * 1e6))
    query, scoring = Letters(ROWS).some(ROWS), Scoring(read_matrix("BLOSUM62"))
    profile = np.full((PAD + 1, ROWS), -30, "i1")
    profile[:PAD] = scoring.matrix[query].T
    expected = reference.scores(query, _sequences(some(blocks, 0, 1)), scoring)
    cells = int(blocks.length.sum(dtype="i8")) * ROWS
    for place in ("buffer", "image") * 3:
        scores, wall, spent = _run(device, blocks, profile, place)
        if scores[: len(expected)].tolist() != expected.tolist():
            raise SystemExit(f"{place}: other scores than the twin's")
        print(f"{place}: {cells / spent / 1e9:.3f} GCUPS a core-second, {cells / wall / 1e9:.3f}")


def _sequences(blocks: Blocks) -> list[np.ndarray]:
    return [blocks.letters[: blocks.length[0, lane], lane] for lane in range(BLOCK)]


def _run(
    device: Device, blocks: Blocks, profile: np.ndarray, place: str
) -> tuple[np.ndarray, float, float]:
    context, queue = device.context, device.queue
    read = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    first, length, letters = (
        cl.Buffer(context, read, hostbuf=np.ascontiguousarray(array))
        for array in (blocks.first, blocks.length, blocks.letters)
    )
    if place == "image":
        form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.SIGNED_INT8)
        texels = np.ascontiguousarray(profile).reshape(len(profile), ROWS // 4, 4)
        held: cl.MemoryObject = cl.Image(
            context, read, form, (ROWS // 4, len(profile)), hostbuf=texels
        )
    else:
        held = cl.Buffer(context, read, hostbuf=np.ascontiguousarray(profile))
    scores = np.empty(blocks.length.size, np.int32)
    there = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, scores.nbytes)
    program = cl.Program(context, SOURCE).build([f"-DIMAGE={int(place == 'image')}"])
    kernel = cl.Kernel(program, "align")
    for _ in range(2):  # the first one compiles
        wall, spent = time.perf_counter(), time.process_time()
        kernel(queue, (blocks.length.size,), (32,), first, length, letters, held, there)
        queue.finish()
        wall, spent = time.perf_counter() - wall, time.process_time() - spent
    cl.enqueue_copy(queue, scores, there)
    return scores, wall, max(spent, 1e-9)


if __name__ == "__main__":
    with in_words():
        main()
