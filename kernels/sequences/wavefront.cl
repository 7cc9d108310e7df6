// Smith-Waterman scores of one query against a protein database: the anti-diagonal of a matrix
// moves through the lanes of a group (wavefront). For GPUs.
//
//   H(i,j) = max(0, H(i-1,j-1) + s(i,j), E(i,j), F(i,j))        i: residue of the query
//   E(i,j) = max(H(i,j-1) - GAP_FIRST, E(i,j-1) - GAP_NEXT)     j: residue of the database
//   F(i,j) = max(H(i-1,j) - GAP_FIRST, F(i-1,j) - GAP_NEXT)     score: the largest H
//
//   work-group   WG_SUB_GROUPS sub-groups
//   sub-group    SG_SIZE / GROUP groups of lanes
//   group        GROUP lanes: one pair of sequences (one sequence with BITS 32)
//   lane         ROWS rows of the query; in step t its column is t - lane
//
//   step         t      t + 1    t + 2
//   lane 0       j      j + 1    j + 2       rows 0 .. ROWS - 1; below it
//   lane 1       j - 1  j        j + 1       rows ROWS .. 2 ROWS - 1, which need H and F of lane 0
//
// A value of BITS 16 has the two sequences of a pair in its halves. Where a score of `limit` or
// more comes out, the sequence must be run again with 32 bits: no sum has overflown before it.
// H needs no floor but 0, so E and F begin at 0 as well: neither that nor the letters PAD around a
// sequence, nor the rows behind the query, which score LOWEST with every letter, change a maximum.
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
#define ROWS 32  // rows of a lane: a multiple of 8
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
#define STRIDE (GROUP * ROWS + 16)  // bytes from letter to letter of a profile: other banks
#define PER_VALUE (32 / BITS)       // sequences in a value
#define GROUPS (SG_SIZE / GROUP)    // of a sub-group

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
#if ROWS % 16 == 0
#pragma unroll
  for (int i = 0; i < ROWS / 16; i++) {
    const uint4 four = ((__local const uint4 *)rows)[i];
    scores[4 * i] = four.x;
    scores[4 * i + 1] = four.y;
    scores[4 * i + 2] = four.z;
    scores[4 * i + 3] = four.w;
  }
#else
#pragma unroll
  for (int i = 0; i < ROWS / 8; i++) {
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
    int start, int pairs,           // the first pair (sequence with BITS 32), and how many
    __global const long *first,     // block: its first column
    __global const int *length,     // block, sequence: residues, falling within a block
    __global const uchar *letters,  // column, sequence
    __global const uint *profile,   // pass, letter, row: signed bytes, STRIDE of them a letter
    int pass, int passes, int gap_first, int gap_next,
    __global uint2 *edge,  // column of a block, pair: H and F of the last row; of several passes
    __global int *scores) {  // block, sequence: the best of all passes until now
  SG_SETUP(sg);
  __local uint table[LETTERS * STRIDE / 4] __attribute__((aligned(16)));
  for (int word = get_local_id(0); word < LETTERS * STRIDE / 4; word += get_local_size(0)) {
    table[word] = profile[pass * (LETTERS * STRIDE / 4) + word];
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const int lane = sg.lane % GROUP;
  const int pair = sg.item * GROUPS + sg.lane / GROUP;
  const bool there = pair < pairs;
  const int sequence = (start + (there ? pair : 0)) * PER_VALUE;
  const int block = sequence / BLOCK;
  const int columns = there ? length[sequence] : 0;
  // The first pair of a sub-group is its longest, because all lie in one block.
  const int longest = length[(start + min(sg.item * GROUPS, pairs - 1)) * PER_VALUE];
  __global const uchar *mine = letters + first[block] * BLOCK + sequence % BLOCK;
  edge += (first[block] * BLOCK + sequence % BLOCK) / PER_VALUE;
  __local const uchar *rows = (__local const uchar *)table + lane * ROWS;

  const uint open = each(-gap_first), extend = each(-gap_next);
  uint h[ROWS], e[ROWS];
#pragma unroll
  for (int row = 0; row < ROWS; row++) h[row] = e[row] = 0;
  uint best = 0, corner = 0, above = 0, f = 0;
  for (int step = 0; step < longest + GROUP - 1; step++) {
    const int column = step - lane;
    const bool inside = (uint)column < (uint)columns;
    uint a = PAD, b = PAD;
    if (inside) {
#if BITS == 16
      const ushort two = *(__global const ushort *)(mine + (long)column * BLOCK);
      a = two & 0xff;
      b = two >> 8;
#else
      a = mine[(long)column * BLOCK];
#endif
    }
    if (lane == 0) {
      above = f = 0;
      if (!SINGLE_PASS && pass > 0 && inside) {
        const uint2 waiting = edge[column * (BLOCK / PER_VALUE)];
        above = waiting.x;
        f = waiting.y;
      }
    }
    uint for_a[ROWS / 4], for_b[ROWS / 4];
    read_scores(rows + a * STRIDE, for_a);
    if (BITS == 16) read_scores(rows + b * STRIDE, for_b);
    uint diagonal = plus(corner, score_of(for_a[0], for_b[0], 0));
    uint last = 0;
    corner = above;
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
      // The sum of the row below comes before H is written over.
      const int below = (row + 1) % ROWS;
      const uint next = plus(h[row], score_of(for_a[below / 4], for_b[below / 4], below % 4));
      const uint here = positive(larger(diagonal, e[row]), f);
      const uint opened = plus(here, open);
      e[row] = larger(plus(e[row], extend), opened);
      f = larger(plus(f, extend), opened);
      if (row % 2 == 1) best = larger(larger(best, last), here);
      h[row] = last = here;
      diagonal = next;
    }
    if (!SINGLE_PASS && pass + 1 < passes && lane == GROUP - 1 && inside) {
      edge[column * (BLOCK / PER_VALUE)] = (uint2)(last, f);
    }
    above = of_lane_before(sg, last);
    f = of_lane_before(sg, f);
  }
  // The best of all lanes of the group.
  int low = BITS == 16 ? (int)(short)(best & 0xffff) : (int)best;
  int high = (int)best >> 16;
#pragma unroll
  for (int lanes = 1; lanes < GROUP; lanes *= 2) {
    uint one = (uint)low, other = (uint)high;
    for (int k = 0; k < lanes; k++) {
      one = of_lane_before(sg, one);
      other = of_lane_before(sg, other);
    }
    if (lane >= lanes) {
      low = max(low, (int)one);
      high = max(high, (int)other);
    }
  }
  if (there && lane == GROUP - 1) {
    scores[sequence] = max(low, pass ? scores[sequence] : 0);
    if (BITS == 16) scores[sequence + 1] = max(high, pass ? scores[sequence + 1] : 0);
  }
}
