// Smith-Waterman scores of one query against a protein database: the anti-diagonal of a matrix
// moves through the lanes of a group (wavefront). For GPUs.
//
//   H(i,j) = max(0, H(i-1,j-1) + s(i,j), E(i,j), F(i,j))        i: residue of the query
//   E(i,j) = max(H(i,j-1) - GAP_FIRST, E(i,j-1) - GAP_NEXT)     j: residue of the database
//   F(i,j) = max(H(i-1,j) - GAP_FIRST, F(i-1,j) - GAP_NEXT)     score: the largest H
//
//   sub-group    SG_SIZE / GROUP groups of lanes; takes one unit after another until none is left
//   unit         neighbours of one block of the database, a value for each group
//   value        a pair of sequences in the halves of a word (one sequence with BITS 32)
//   lane         ROWS rows of the query, two columns a step, one step behind the lane before
//
//   step         t            t + 1        t + 2
//   lane 0       j, j + 1     j + 2, ..    j + 4, ..     rows 0 .. ROWS - 1
//   lane 1                    j, j + 1     j + 2, ..     rows ROWS .. 2 ROWS - 1: H and F of lane 0
//   lane 2                                 j, j + 1      handed on: last row, unit, best score
//
// Lane 0 begins with the next unit while the others end the last, so no lane waits between them.
//
// Where a score of `limit` or more comes out, the sequence must be run again with 32 bits: no sum
// has overflown before it. H needs no floor but 0, so E and F begin at 0 as well: neither that nor
// the letter PAD behind a sequence, nor the rows behind the query, which score least with every
// letter, change a maximum.
//
// A query with more than GROUP * ROWS rows takes several launches, one `pass` after another. H and
// F of the last row wait in `edge`, where the next pass reads them just ahead of writing its own.

#ifndef BITS
#define BITS 16  // of a value: 16 (packed pairs) or 32
#endif
#ifndef GROUP
#define GROUP 8  // lanes that share a query: 4, 8, 16 or 32
#endif
#ifndef ROWS
#define ROWS 32  // rows of a lane
#endif
#ifndef LANE_BYTES
#define LANE_BYTES 32  // of a lane's scores with one letter: a multiple of 8, not less than ROWS
#endif
#ifndef BLOCK
#define BLOCK 32  // sequences of a block
#endif
#ifndef SINGLE_PASS
#define SINGLE_PASS 0  // 1: the query has no more than GROUP * ROWS rows
#endif
#ifndef WG_SUB_GROUPS
#define WG_SUB_GROUPS 1
#endif

#define LETTERS 25  // of the database, PAD included
#define PAD 24
#define STRIDE (GROUP * LANE_BYTES + 16)  // bytes from letter to letter: other banks
#define PER_VALUE (32 / BITS)             // sequences in a value
#define VALUES (BLOCK / PER_VALUE)        // of a block
#define GROUPS (SG_SIZE / GROUP)          // of a sub-group
#define UNITS (VALUES / GROUPS)           // of a block
#define NO_UNIT (-1)

#include "subgroup.clh"

#if defined(SG_PTX) && BITS == 16 && defined(PACKED_16)
// Packed instructions of compute capability 9.0; the compiler joins two of a row to one.
static inline uint plus(uint a, uint b) {
  uint result;
  __asm__("add.s16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
static inline uint larger(uint a, uint b) {
  uint result;
  __asm__("max.s16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
static inline uint positive(uint a, uint b) {
  uint result;
  __asm__("max.s16x2.relu %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
#elif BITS == 16
static inline uint plus(uint a, uint b) { return as_uint(as_short2(a) + as_short2(b)); }
static inline uint larger(uint a, uint b) { return as_uint(max(as_short2(a), as_short2(b))); }
static inline uint positive(uint a, uint b) {
  return as_uint(max(max(as_short2(a), as_short2(b)), (short2)0));
}
#else
static inline uint plus(uint a, uint b) { return a + b; }
static inline uint larger(uint a, uint b) { return as_uint(max(as_int(a), as_int(b))); }
static inline uint positive(uint a, uint b) { return as_uint(max(max(as_int(a), as_int(b)), 0)); }
#endif

// The score of row `byte` of four: signed bytes of one word for each sequence of a value.
static inline uint score_of(uint a, uint b, int byte) {
#if BITS == 32
  return as_uint((int)as_char4(a)[byte]);
#elif defined(SG_PTX)
  uint result;
  // Each byte, and a byte of its sign.
  const uint selector = 0xc480u + 0x1111u * (uint)byte;
  __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
  return result;
#else
  return as_uint((short2)(as_char4(a)[byte], as_char4(b)[byte]));
#endif
}

// A number for every sequence of a value.
static inline uint each(int value) {
  return BITS == 16 ? (uint)(value & 0xffff) * 0x10001u : (uint)value;
}

// Scores of a lane's rows with one letter.
static inline void read_scores(__local const uchar *rows, uint *scores) {
#if LANE_BYTES % 16 == 0
#pragma unroll
  for (int i = 0; i < LANE_BYTES / 16; i++) {
    const uint4 four = ((__local const uint4 *)rows)[i];
    scores[4 * i] = four.x;
    scores[4 * i + 1] = four.y;
    scores[4 * i + 2] = four.z;
    scores[4 * i + 3] = four.w;
  }
#else
#pragma unroll
  for (int i = 0; i < LANE_BYTES / 8; i++) {
    const uint2 two = ((__local const uint2 *)rows)[i];
    scores[2 * i] = two.x;
    scores[2 * i + 1] = two.y;
  }
#endif
}

// The value of the lane before; lane 0 of a sub-group gets anything.
#if defined(SG_PTX)
static inline uint of_lane_before(sg_t sg, uint value) {
  uint result;
  __asm__ volatile("shfl.sync.up.b32 %0, %1, 1, 0, 0xffffffff;" : "=r"(result) : "r"(value));
  return result;
}
#elif defined(SG_KHR)
static inline uint of_lane_before(sg_t sg, uint value) {
  return intel_sub_group_shuffle_up(value, value, 1u);
}
#else
static inline uint of_lane_before(sg_t sg, uint value) {
  sg.scratch[sg.lane] = as_int(value);
  barrier(CLK_LOCAL_MEM_FENCE);
  value = as_uint(sg.scratch[max(sg.lane - 1, 0)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  return value;
}
#endif

KERNEL void score_pairs(
    int blocks,
    __global const long *first,     // block: its first column
    __global const int *length,     // block, sequence: residues, falling over all blocks
    __global const uchar *letters,  // column, sequence
    __global const uint *profile,   // pass, letter, lane, row: signed bytes, STRIDE a letter
    int pass,
    int passes,
    int gap_first,
    int gap_next,
    volatile __global int *next,  // pass: units taken, at first 0
    __global uint2 *edge,         // column, value: H and F of the last row, for the next pass
    __global int *scores) {       // block, sequence: the best of all passes until now, at first 0
  SG_SETUP(sg);
  __local uint table[LETTERS * STRIDE / 4] __attribute__((aligned(16)));
  for (int word = get_local_id(0); word < LETTERS * STRIDE / 4; word += get_local_size(0)) {
    table[word] = profile[pass * (LETTERS * STRIDE / 4) + word];
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const int lane = sg.lane % GROUP;
  const int group = sg.lane / GROUP;
  __local const uchar *rows = (__local const uchar *)table + lane * LANE_BYTES;
  const uint open = each(-gap_first), extend = each(-gap_next);

  // As lane 0 has them: the unit, and its columns that are left.
  int taken = 0, left = 0;
  // As this lane has them.
  int unit = NO_UNIT, sequence = 0;
  __global const uchar *mine = letters;
  __global uint2 *my_edge = edge;
  uint h[ROWS], e[ROWS];
#pragma unroll
  for (int row = 0; row < ROWS; row++) h[row] = e[row] = 0;
  uint best = 0, corner = 0;
  // From the lane before.
  int unit_before = NO_UNIT;
  uint best_before = 0, above1 = 0, above2 = 0, f1 = 0, f2 = 0;

  for (;;) {
    if (left <= 0) {
      if (taken == NO_UNIT) break;
      taken = sg_max(sg, sg.lane == 0 ? atomic_inc(next + pass) : 0);
      // The first sequence of a unit is its longest. After one without residues come only such.
      if (taken < blocks * UNITS) left = length[taken * (GROUPS * PER_VALUE)];
      if (left <= 0) {
        taken = NO_UNIT;
        left = 2 * GROUP;  // until the last lane has ended
      }
    }
    left -= 2;
    if (lane == 0) unit_before = taken;
    if (unit_before != unit) {
      if (lane > 0) best = larger(best, best_before);
      best_before = best;
      if (lane == GROUP - 1 && unit != NO_UNIT) {
        const int low = BITS == 16 ? (int)(short)(best & 0xffff) : (int)best;
        scores[sequence] = max(low, scores[sequence]);
        if (BITS == 16) scores[sequence + 1] = max((int)best >> 16, scores[sequence + 1]);
      }
      unit = unit_before;
      if (unit != NO_UNIT) {
        const int block = unit / UNITS;
        const int value = unit % UNITS * GROUPS + group;
        sequence = block * BLOCK + value * PER_VALUE;
        mine = letters + first[block] * BLOCK + value * PER_VALUE;
        my_edge = edge + first[block] * VALUES + value;
      }
#pragma unroll
      for (int row = 0; row < ROWS; row++) h[row] = e[row] = 0;
      best = corner = 0;
    }
    uint a1 = PAD, b1 = PAD, a2 = PAD, b2 = PAD;
    if (unit != NO_UNIT) {
#if BITS == 16
      const ushort two1 = *(__global const ushort *)mine;
      const ushort two2 = *(__global const ushort *)(mine + BLOCK);
      a1 = two1 & 0xff;
      b1 = two1 >> 8;
      a2 = two2 & 0xff;
      b2 = two2 >> 8;
#else
      a1 = mine[0];
      a2 = mine[BLOCK];
#endif
      mine += 2 * BLOCK;
    }
    if (lane == 0) {
      above1 = f1 = above2 = f2 = 0;
      if (!SINGLE_PASS && pass > 0 && unit != NO_UNIT) {
        above1 = my_edge[0].x;
        f1 = my_edge[0].y;
        above2 = my_edge[VALUES].x;
        f2 = my_edge[VALUES].y;
      }
    }
    uint for_a1[LANE_BYTES / 4], for_b1[LANE_BYTES / 4];
    uint for_a2[LANE_BYTES / 4], for_b2[LANE_BYTES / 4];
    read_scores(rows + a1 * STRIDE, for_a1);
    read_scores(rows + a2 * STRIDE, for_a2);
#if BITS == 16
    read_scores(rows + b1 * STRIDE, for_b1);
    read_scores(rows + b2 * STRIDE, for_b2);
#endif
#define SCORE(column, row) score_of(for_a##column[(row) / 4], for_b##column[(row) / 4], (row) % 4)
    uint diagonal1 = plus(corner, SCORE(1, 0));
    uint diagonal2 = plus(above1, SCORE(2, 0));
    corner = above2;
    uint last1 = 0, last2 = 0;
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
      // What the row below needs of H is taken before H is written over.
      const int below = (row + 1) % ROWS;
      const uint next1 = plus(h[row], SCORE(1, below));
      // In this order the compiler makes one maximum of three; the other way it joins the first
      // with the sum before, and needs two.
      last1 = positive(larger(e[row], f1), diagonal1);
      const uint opened1 = plus(last1, open);
      const uint e1 = larger(plus(e[row], extend), opened1);
      f1 = larger(plus(f1, extend), opened1);
      const uint next2 = plus(last1, SCORE(2, below));
      last2 = positive(larger(e1, f2), diagonal2);
      const uint opened2 = plus(last2, open);
      e[row] = larger(plus(e1, extend), opened2);
      f2 = larger(plus(f2, extend), opened2);
      best = larger(larger(best, last1), last2);
      h[row] = last2;
      diagonal1 = next1;
      diagonal2 = next2;
    }
    if (!SINGLE_PASS && unit != NO_UNIT) {
      if (pass + 1 < passes && lane == GROUP - 1) {
        my_edge[0] = (uint2)(last1, f1);
        my_edge[VALUES] = (uint2)(last2, f2);
      }
      my_edge += 2 * VALUES;
    }
    above1 = of_lane_before(sg, last1);
    f1 = of_lane_before(sg, f1);
    above2 = of_lane_before(sg, last2);
    f2 = of_lane_before(sg, f2);
    best_before = of_lane_before(sg, best_before);
    unit_before = as_int(of_lane_before(sg, as_uint(unit)));
  }
}
