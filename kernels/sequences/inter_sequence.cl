// Smith-Waterman scores of one query against a protein database: many sequences side by side in
// the lanes of a vector (Rognes, BMC Bioinformatics 2011, 12, 221). For processors.
//
//   H(i,j) = max(0, H(i-1,j-1) + s(i,j), E(i,j), F(i,j))        i: residue of the query
//   E(i,j) = max(H(i,j-1) - GAP_FIRST, E(i,j-1) - GAP_NEXT)     j: residue of the database
//   F(i,j) = max(H(i-1,j) - GAP_FIRST, F(i-1,j) - GAP_NEXT)     score: the largest H
//
//   block       BLOCK sequences of like length, the longest first; their letters interleaved
//   work-item   one block after another, LANES sequences at a time
//   pass        COLUMNS residues of each, against all rows of the query; H and E of the last
//               column wait in `scratch` for the next pass
//
// Values are unsigned with BITS bits, and subtraction stops at 0: that is the zero of the
// recurrence. Scores of pairs have a bias that makes them positive. Where a score of `limit` or
// more comes out, the sequence must be run again with more bits: no sum has wrapped before it.
//
// Launch: any number of work-groups of one work-item; `scratch` has 2 * rows vectors for each.

#ifndef BITS
#define BITS 8  // of a value: 8, 16 or 32
#endif
#ifndef LANES
#define LANES 32  // sequences in a vector
#endif
#ifndef BLOCK
#define BLOCK 32  // sequences of a block
#endif
#ifndef ROW
#define ROW 32  // bytes of a row of the matrix: one letter of the database against every one
#endif

#ifdef SIMULATOR
// Oclgrind does not know the instructions that these lines become.
#pragma clang optimize off
#endif

#define LETTERS 24  // of the query
#define COLUMNS 4   // of a pass

#if BITS == 8
typedef uchar value_t;
#elif BITS == 16
typedef ushort value_t;
#else
typedef uint value_t;
#endif
typedef value_t vector_t __attribute__((ext_vector_type(LANES)));
typedef uchar bytes_t __attribute__((ext_vector_type(LANES)));
typedef uchar halves_t __attribute__((ext_vector_type(32)));

static inline vector_t larger(vector_t a, vector_t b) { return a > b ? a : b; }

// a - b, or 0 where that is less.
static inline vector_t less(vector_t a, vector_t b) { return larger(a, b) - b; }

#if LANES == 32
// Bytes of a and b in turn, from the lower (upper) 8 of each half.
static inline halves_t lower(halves_t a, halves_t b) {
  return __builtin_shufflevector(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16,
                                 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55);
}
static inline halves_t upper(halves_t a, halves_t b) {
  return __builtin_shufflevector(a, b, 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47,
                                 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
}
// Two rows of 16 bytes side by side.
static inline halves_t beside(uchar16 a, uchar16 b) {
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
                                 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
}
static inline uchar16 joined(uchar8 a, uchar8 b) { return (uchar16)(a, b); }
#endif

// Scores of one residue of each lane against every letter of the query: [letter * COLUMNS][lane].
// Rows of the matrix, one a lane, are turned into columns. Interleaving row i with row i + n / 2
// turns the bits of a byte's place (row, column) by one; after as many turns as a row has bits, row
// and column have changed places.
static inline void make_profile(__global const uchar *codes,
                                __global const uchar *matrix,
                                bytes_t *profile) {
#if LANES == 32
  halves_t a[16], b[16];
  for (int i = 0; i < 16; i++) {
    a[i] = beside(vload16(0, matrix + codes[i] * ROW), vload16(0, matrix + codes[i + 16] * ROW));
  }
#pragma unroll
  for (int turn = 0; turn < 2; turn++) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      b[2 * i] = lower(a[i], a[i + 8]);
      b[2 * i + 1] = upper(a[i], a[i + 8]);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
      a[2 * i] = lower(b[i], b[i + 8]);
      a[2 * i + 1] = upper(b[i], b[i + 8]);
    }
  }
#pragma unroll
  for (int i = 0; i < 16; i++) profile[i * COLUMNS] = a[i];
  // The other 8 letters: the rows of two neighbouring lanes side by side.
#pragma unroll
  for (int i = 0; i < 8; i++) {
    __global const uchar *row = matrix + 16;
    a[i] = beside(
        joined(vload8(0, row + codes[2 * i] * ROW), vload8(0, row + codes[2 * i + 1] * ROW)),
        joined(vload8(0, row + codes[2 * i + 16] * ROW), vload8(0, row + codes[2 * i + 17] * ROW)));
  }
#pragma unroll
  for (int turn = 0; turn < 2; turn++) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      b[2 * i] = lower(a[i], a[i + 4]);
      b[2 * i + 1] = upper(a[i], a[i + 4]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      a[2 * i] = lower(b[i], b[i + 4]);
      a[2 * i + 1] = upper(b[i], b[i + 4]);
    }
  }
#pragma unroll
  for (int i = 0; i < 8; i++) profile[(16 + i) * COLUMNS] = a[i];
#else
  for (int letter = 0; letter < LETTERS; letter++) {
    for (int lane = 0; lane < LANES; lane++) {
      profile[letter * COLUMNS][lane] = matrix[codes[lane] * ROW + letter];
    }
  }
#endif
}

static inline vector_t widened(bytes_t scores) {
#if BITS == 8
  return scores;
#else
  return __builtin_convertvector(scores, vector_t);
#endif
}

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void score_blocks(
    int blocks,
    __global const long *first,     // block: its first column; one more at the end
    __global const int *length,     // block, sequence: residues, falling within a block
    __global const uchar *letters,  // column, sequence; columns of a block: a multiple of COLUMNS
    int rows,
    __global const uchar *query,   // row: letter
    __global const uchar *matrix,  // letter of the database, of the query: score + bias
    int bias,
    int gap_first,
    int gap_next,
    __global vector_t *scratch,   // work-item, row: H and E of the last column
    volatile __global int *next,  // the next block to be taken, at first 0
    __global int *scores) {       // block, sequence
  const vector_t biases = (vector_t)(value_t)bias;
  const vector_t firsts = (vector_t)(value_t)gap_first;
  const vector_t nexts = (vector_t)(value_t)gap_next;
  const vector_t zero = (vector_t)(value_t)0;
  bytes_t profile[LETTERS * COLUMNS];
  scratch += 2 * rows * get_global_id(0);
  for (int block = atomic_inc(next); block < blocks; block = atomic_inc(next)) {
    for (int part = 0; part < BLOCK; part += LANES) {
      const int sequence = block * BLOCK + part;
      __global const uchar *codes = letters + first[block] * BLOCK + part;
      for (int row = 0; row < 2 * rows; row++) scratch[row] = zero;
      vector_t best = zero;
      for (int column = 0; column < length[sequence]; column += COLUMNS) {
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
          make_profile(codes + (column + c) * BLOCK, matrix, profile + c);
        }
        vector_t f[COLUMNS], above[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) f[c] = above[c] = zero;
        vector_t corner = zero;
        for (int row = 0; row < rows; row++) {
          const bytes_t *score = profile + query[row] * COLUMNS;
          const vector_t left = scratch[2 * row];
          vector_t e = scratch[2 * row + 1];
          vector_t diagonal = corner;
          corner = left;
#pragma unroll
          for (int c = 0; c < COLUMNS; c++) {
            vector_t h = less(diagonal + widened(score[c]), biases);
            h = larger(larger(h, e), f[c]);
            best = larger(best, h);
            diagonal = above[c];
            above[c] = h;
            const vector_t opened = less(h, firsts);
            e = larger(less(e, nexts), opened);
            f[c] = larger(less(f[c], nexts), opened);
          }
          scratch[2 * row] = above[COLUMNS - 1];
          scratch[2 * row + 1] = e;
        }
      }
      for (int lane = 0; lane < LANES; lane++) scores[sequence + lane] = (int)best[lane];
    }
  }
}
