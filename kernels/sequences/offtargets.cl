// Off-target sites of CRISPR guides: `finder` and `comparer`, named as in Cas-OFFinder (Bae, Park,
// Kim, Bioinformatics 30, 1473, 2014), but on bit planes instead of letters.
//
// A genome is three planes of bits, 32 positions a word, the first position in the lowest bit:
//
//   high, low   the base: A 00, C 01, T 10, G 11; the complement turns the high bit over
//   valid       1 for A, C, G, T; 0 for every other letter and between records
//
// `finder` looks for the letters of the pattern that are not N (the PAM) on both strands, 32
// windows at a time, and appends each site with the words of its span: the columns that guides are
// compared with, as they stand on the forward strand. Guides, not sites, are turned round for the
// reverse strand. Sites go to four lists: forward and reverse, and the same again for sites with a
// letter other than A, C, G, T in their span ("odd").
//
// `comparer` turns 32 sites a lane into columns (a word holds one column of 32 sites), and for each
// guide adds up the columns' mismatches with full adders of whole words: a few operations compare
// 32 * LANES sites with a guide, whatever the mismatch limit.
//
//   launch     |  work-group 0                         |  work-group 1 ...
//   work-group |  item 0         |  item 1         | ... WG
//   item          32 * LANES sites: bit b of lane t is site (group * 32 + b) * WG * LANES
//                                                         + item * LANES + t
//
// Bulges. A DNA bulge of s shifts the guide's bases on the far side of the bulge, as seen from the
// PAM, by s further from it; an RNA bulge shifts them by s nearer to it. A bulge stands in the half
// beside the PAM or in the other one. If it is in the far half, the near half is where it would be
// without; if it is in the near half, the whole far half is shifted. In the half of the bulge, each
// base mismatches at least where both its places mismatch. These two sums are the filter: 1 of
// 20,000 random pairs passes it at 20 bases and 4 mismatches (of the plain sum over all bases,
// which costs 40 % fewer operations, 1 of 900). What passes is counted for every place of the
// bulge.

#define LIST_ODD 2  // first of the lists of odd sites

#ifndef FINDER
#define FINDER 1  // 1: build `finder`
#endif
#ifndef COMPARER
#define COMPARER 1  // 1: build `comparer` and `bulges`
#endif
#ifndef WG
#define WG 1  // work-items of a work-group
#endif
#ifndef LANES
#define LANES 1  // words that an item works on at once: 1, 2, 4, 8 or 16
#endif
#ifndef RUN
#define RUN 1  // words that an item of `finder` looks through
#endif
#ifndef PAM
#define PAM 0  // letters of the pattern that are not N
#endif
#ifndef LENGTH
#define LENGTH 20  // bases of a guide, from the first to the last that is not N
#endif
#ifndef DNA
#define DNA 0  // largest DNA bulge
#endif
#ifndef RNA
#define RNA 0  // largest RNA bulge
#endif
#ifndef FAR_LOW
#define FAR_LOW 1  // 1 where the PAM stands behind the span on the forward strand
#endif
#ifndef LETTERS
#define LETTERS 4  // 4: guides of A, C, G, T; 16: guides of any IUPAC letters
#endif
#ifndef VALIDITY
#define VALIDITY 0  // 1 for lists of odd sites; needs LETTERS 16
#endif
#ifndef GROUP
#define GROUP 1  // columns whose mismatches are added up beforehand, for all letters: 1 or 3
#endif

#define SPAN (LENGTH + DNA)
#define BULGES (DNA + RNA > 0)
// With bulges a guide's columns are two halves: `FAR` columns away from the PAM, `NEAR` beside it.
#define FAR (LENGTH / 2 > RNA ? LENGTH / 2 : RNA + 1)
#define NEAR (LENGTH - FAR)
#define WORDS ((SPAN + 31) / 32)
#define FRONT 4  // words of the planes before the first one of the piece

static inline uint funnel(uint first, uint second, uint shift) {
  return (uint)((((ulong)second << 32) | first) >> shift);
}

// 32 bits of a plane from any bit on.
static inline uint bits_at(__global const uint *plane, uint bit) {
  return funnel(plane[bit >> 5], plane[(bit >> 5) + 1], bit & 31u);
}

// Bits of `yes` where the mask is set, else of `no`. PoCL calls a function for bitselect().
#define SELECT(no, yes, mask) ((no) ^ (((no) ^ (yes)) & (mask)))

static inline uint lowest_bit(uint word) { return 31u - clz(word & -word); }

#if FINDER
// Windows of one word of the piece that have the pattern's letters: `letters` holds, for each of
// them, its place in the window and a word of ones for each base that it allows (A, C, T, G).
static inline uint pattern_matches(__global const uint *high,
                                   __global const uint *low,
                                   __global const uint *valid,
                                   uint word,
                                   __constant const uint *letters) {
  uint found = ~0u;
  for (uint i = 0; i < PAM; i++) {
    __constant const uint *letter = letters + 5 * i;
    const uint bit = 32u * (word + FRONT) + letter[0];
    const uint h = bits_at(high, bit), l = bits_at(low, bit);
    found &= bits_at(valid, bit) &
             SELECT(SELECT(letter[1], letter[2], l), SELECT(letter[3], letter[4], l), h);
  }
  return found;
}

// Windows of one word that have an invalid letter in their span; those with more than `most` of
// them leave `found`.
static inline uint odd_windows(__global const uint *valid, uint first, uint most, uint *found) {
  uint odd = 0, all = ~0u;
  for (uint i = 0; i <= WORDS + 1; i++) all &= valid[(first >> 5) + i];
  if (all == ~0u) return 0;
  for (uint column = 0; column < SPAN; column++) odd |= ~bits_at(valid, first + column);
  for (uint rest = odd & *found; rest; rest &= rest - 1) {
    const uint bit = lowest_bit(rest);
    uint count = 0;
    for (uint i = 0; i < WORDS; i++) {
      const uint columns = min(32u, SPAN - 32u * i);
      count += popcount(~bits_at(valid, first + bit + 32u * i) & (~0u >> (32u - columns)));
    }
    if (count > most) *found &= ~(1u << bit);
  }
  return odd & *found;
}

__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void finder(
    __global const uint *high,       // planes of the piece, FRONT words before it and more behind
    __global const uint *low,        //
    __global const uint *valid,      //
    const uint words,                // of the piece
    __constant const uint *letters,  // of the pattern: PAM rows of 5, forward; the same, reverse
    const int first_forward,         // first column of the span in a window, forward
    const int first_reverse,         // the same, reverse
    const uint most_invalid,         // letters other than A, C, G, T that a span may have
    const uint capacity,             // sites of a list
    const uint odd_capacity,         // sites of a list of odd ones
    __global uint *counts,           // sites found, for each list
    __global uint *position,         // of each site: first place of its window in the piece
    __global uint *site_high,        // WORDS words of each site, one list of words after another
    __global uint *site_low,         //
    __global uint *site_valid) {     // of odd sites only
  __local uint in_group[4], group_start[4];
  const uint lid = get_local_id(0), base = get_group_id(0) * WG * RUN;
  uint clean_found[RUN][2], odd_found[RUN][2], count[4] = {0, 0, 0, 0};
  for (uint list = lid; list < 4; list += WG) in_group[list] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint run = 0; run < RUN; run++) {
    const uint word = base + run * WG + lid;
    for (uint strand = 0; strand < 2; strand++) {
      uint found = 0, odd = 0;
      if (word < words) {
        const uint first = 32u * (word + FRONT) + (strand ? first_reverse : first_forward);
        found = pattern_matches(high, low, valid, word, letters + 5 * PAM * strand);
        if (found) odd = odd_windows(valid, first, most_invalid, &found);
      }
      clean_found[run][strand] = found & ~odd;
      odd_found[run][strand] = odd;
      count[strand] += popcount(found & ~odd);
      count[LIST_ODD + strand] += popcount(odd);
    }
  }
  uint next[4];
  for (uint list = 0; list < 4; list++) next[list] = atomic_add(&in_group[list], count[list]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0)
    for (uint list = 0; list < 4; list++) {
      // Most groups of most genomes have no odd site.
      const uint all = in_group[list];
      group_start[list] = all ? atomic_add(&counts[list], all) : 0;
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint total = 2 * capacity + 2 * odd_capacity;
  for (uint strand = 0; strand < 2; strand++) {
    for (uint odd = 0; odd < 2; odd++) {
      const uint list = strand + LIST_ODD * odd;
      if (!count[list]) continue;
      const uint start = odd ? 2 * capacity + strand * odd_capacity : strand * capacity;
      const uint most = odd ? odd_capacity : capacity;
      uint place = group_start[list] + next[list];
      for (uint run = 0; run < RUN; run++) {
        const uint word = base + run * WG + lid;
        const uint first = 32u * (word + FRONT) + (strand ? first_reverse : first_forward);
        uint rest = odd ? odd_found[run][strand] : clean_found[run][strand];
        for (; rest; rest &= rest - 1, place++) {
          if (place >= most) continue;  // the host sees it in the count, and comes again
          const uint bit = lowest_bit(rest), to = start + place;
          position[to] = 32u * word + bit;
          for (uint i = 0; i < WORDS; i++) {
            site_high[to + i * total] = bits_at(high, first + bit + 32u * i);
            site_low[to + i * total] = bits_at(low, first + bit + 32u * i);
            if (odd)
              site_valid[to - 2 * capacity + i * 2 * odd_capacity] =
                  bits_at(valid, first + bit + 32u * i);
          }
        }
      }
    }
  }
}
#endif

#if COMPARER
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if LANES == 1
typedef uint word_t;
#define LOAD(offset, pointer) (pointer)[offset]
#define STORE(value, pointer) (pointer)[0] = value
#else
typedef JOIN(uint, LANES) word_t;
#define LOAD(offset, pointer) ((__global const word_t *)(pointer))[offset]
#define STORE(value, pointer) JOIN(vstore, LANES)(value, 0, pointer)
#endif

static inline int is_any(word_t word) {
#if LANES == 16
  const uint8 a = word.lo | word.hi;
  const uint4 b = a.lo | a.hi;
  const uint2 c = b.lo | b.hi;
  return (c.x | c.y) != 0;
#elif LANES == 8
  const uint4 b = word.lo | word.hi;
  const uint2 c = b.lo | b.hi;
  return (c.x | c.y) != 0;
#elif LANES == 4
  const uint2 c = word.lo | word.hi;
  return (c.x | c.y) != 0;
#elif LANES == 2
  return (word.x | word.y) != 0;
#else
  return word != 0;
#endif
}

// Turn 32 words of 32 bits by their diagonal: bit i of word j becomes bit j of word i.
#define EXCHANGE(distance, mask)                                                    \
  for (int k = 0; k < 32; k++)                                                      \
    if (!(k & distance)) {                                                          \
      const word_t t = ((a[k] >> (uint)distance) ^ a[k + distance]) & (word_t)mask; \
      a[k] ^= t << (uint)distance;                                                  \
      a[k + distance] ^= t;                                                         \
    }
static inline void transpose(word_t *a) {
#pragma unroll
  EXCHANGE(16, 0x0000ffffu)
#pragma unroll
  EXCHANGE(8, 0x00ff00ffu)
#pragma unroll
  EXCHANGE(4, 0x0f0f0f0fu)
#pragma unroll
  EXCHANGE(2, 0x33333333u)
#pragma unroll
  EXCHANGE(1, 0x55555555u)
}

// Add three words bit by bit: the sum replaces `sum`, the carry is returned.
static inline word_t add(word_t *sum, word_t b, word_t c) {
#if LANES == 16 && defined(__AVX512F__)
  // One instruction each, which LLVM 14 does not find by itself. (Only PoCL defines the macro.)
  word_t carry = *sum;
  __asm__("vpternlogd $0xe8, %2, %1, %0" : "+v"(carry) : "v"(b), "v"(c));
  __asm__("vpternlogd $0x96, %2, %1, %0" : "+v"(*sum) : "v"(b), "v"(c));
  return carry;
#else
  const word_t differ = *sum ^ b;
  const word_t carry = SELECT(*sum, c, differ);
  *sum = differ ^ c;
  return carry;
#endif
}

#define LAST(n) ((n) > 0 ? (n) - 1 : 0)

// Add up `count` words of one weight; the carries go to `carry`, count / 2 of them.
#define REDUCE(sum, word, count, carry)                                    \
  sum = word[0];                                                           \
  _Pragma("unroll") for (int j = 0; j < ((count) - 1) / 2; j++) carry[j] = \
      add(&sum, word[2 * j + 1], word[2 * j + 2]);                         \
  if ((count) % 2 == 0) {                                                  \
    carry[LAST((count) / 2)] = sum & word[LAST(count)];                    \
    sum ^= word[LAST(count)];                                              \
  }

#define AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)

// Sites with at most `most` mismatches, from words that count one (`ones`) and two (`twos`) each.
#define AT_MOST(name, ONES, TWOS)                                                   \
  static inline word_t name(const word_t *one, const word_t *two, uint most) {      \
    enum {                                                                          \
      N1 = (ONES) / 2 + (TWOS),                                                     \
      N2 = N1 / 2,                                                                  \
      N3 = N2 / 2,                                                                  \
      N4 = N3 / 2,                                                                  \
      N5 = N4 / 2,                                                                  \
      N6 = N5 / 2                                                                   \
    };                                                                              \
    word_t w1[AT_LEAST_ONE(N1)], w2[AT_LEAST_ONE(N2)], w3[AT_LEAST_ONE(N3)];        \
    word_t w4[AT_LEAST_ONE(N4)], w5[AT_LEAST_ONE(N5)], w6[AT_LEAST_ONE(N6)];        \
    word_t unused[1], sum, most_bit, result = (word_t)(~0u);                        \
    _Pragma("unroll") for (int j = 0; j < (TWOS); j++) w1[(ONES) / 2 + j] = two[j]; \
    REDUCE(sum, one, ONES, w1)                                                      \
    NOT_ABOVE(0)                                                                    \
    if (N1 > 0) {                                                                   \
      REDUCE(sum, w1, N1, w2)                                                       \
      NOT_ABOVE(1)                                                                  \
    }                                                                               \
    if (N2 > 0) {                                                                   \
      REDUCE(sum, w2, N2, w3)                                                       \
      NOT_ABOVE(2)                                                                  \
    }                                                                               \
    if (N3 > 0) {                                                                   \
      REDUCE(sum, w3, N3, w4)                                                       \
      NOT_ABOVE(3)                                                                  \
    }                                                                               \
    if (N4 > 0) {                                                                   \
      REDUCE(sum, w4, N4, w5)                                                       \
      NOT_ABOVE(4)                                                                  \
    }                                                                               \
    if (N5 > 0) {                                                                   \
      REDUCE(sum, w5, N5, w6)                                                       \
      NOT_ABOVE(5)                                                                  \
    }                                                                               \
    if (N6 > 0) {                                                                   \
      REDUCE(sum, w6, 1, unused)                                                    \
      NOT_ABOVE(6)                                                                  \
    }                                                                               \
    return result;                                                                  \
  }

// One more bit of "count <= most", from the lowest on: where the bits differ, they decide. (Written
// with bit 1 of `sum ^ most_bit` choosing, LLVM 14 made wrong code of it for AVX-512.)
#define NOT_ABOVE(bit)                      \
  most_bit = (word_t)(-(most >> bit & 1u)); \
  result = (result & ~sum) | (most_bit & (result | ~sum));

// The number of ones of each site in `COUNT` words, bit by bit.
#define COUNT_BITS 6
#define COUNTED(name, COUNT)                                                       \
  static inline void name(const word_t *one, word_t *bit) {                        \
    enum { N1 = (COUNT) / 2, N2 = N1 / 2, N3 = N2 / 2, N4 = N3 / 2, N5 = N4 / 2 }; \
    word_t w1[AT_LEAST_ONE(N1)], w2[AT_LEAST_ONE(N2)], w3[AT_LEAST_ONE(N3)];       \
    word_t w4[AT_LEAST_ONE(N4)], w5[AT_LEAST_ONE(N5)], unused[1];                  \
    for (int j = 1; j < COUNT_BITS; j++) bit[j] = (word_t)(0u);                    \
    REDUCE(bit[0], one, COUNT, w1)                                                 \
    if (N1 > 0) {                                                                  \
      REDUCE(bit[1], w1, N1, w2)                                                   \
    }                                                                              \
    if (N2 > 0) {                                                                  \
      REDUCE(bit[2], w2, N2, w3)                                                   \
    }                                                                              \
    if (N3 > 0) {                                                                  \
      REDUCE(bit[3], w3, N3, w4)                                                   \
    }                                                                              \
    if (N4 > 0) {                                                                  \
      REDUCE(bit[4], w4, N4, w5)                                                   \
    }                                                                              \
    if (N5 > 0) {                                                                  \
      REDUCE(bit[5], w5, 1, unused)                                                \
    }                                                                              \
  }

#if LETTERS == 4
#if GROUP == 3
#define TABLES ((LENGTH + 2) / 3)
AT_MOST(plain_at_most, TABLES, TABLES)
#else
AT_MOST(plain_at_most, LENGTH, 0)
#endif
#if BULGES
COUNTED(near_count, NEAR)
COUNTED(far_count_0, FAR)
#if RNA > 0
COUNTED(far_count_1, FAR - 1)
#endif
#if RNA > 1
COUNTED(far_count_2, FAR - 2)
#endif

// Sites whose two counts together are at most `most`.
static inline word_t together_at_most(const word_t *one, const word_t *two, uint most) {
  word_t carry = (word_t)(0u), sum, most_bit, result = (word_t)(~0u);
#pragma unroll
  for (int bit = 0; bit < COUNT_BITS; bit++) {
    sum = one[bit];
    carry = add(&sum, two[bit], carry);
    NOT_ABOVE(bit)
  }
  sum = carry;
  NOT_ABOVE(COUNT_BITS)
  return result;
}
#endif
#endif

// Columns of the planes in local memory: notA, notC, notT, notG for LETTERS 4, else high, low, and
// valid for lists of odd sites; a word_t for each item of the group.
#if GROUP == 3
#define PLANES (TABLES * 128)
#elif LETTERS == 4
#define PLANES (SPAN * 4)
#else
#define PLANES (SPAN * 3)
#endif

#define PLANE(n) planes[(n) * WG + lid]

#if FAR_LOW
#define CORE DNA  // column of a guide's first base in the span
#define AWAY -1   // direction of the far side of a bulge
#define FAR_COLUMN(j) (j)
#define NEAR_COLUMN(j) (FAR + (j))
#else
#define CORE 0
#define AWAY 1
#define FAR_COLUMN(j) (NEAR + (j))
#define NEAR_COLUMN(j) (j)
#endif

// Sites that differ in one column from a letter: 0 to 3, or a set of bases for LETTERS 16.
static inline word_t differs(__local const word_t *planes, uint lid, uint column, uint letter) {
#if LETTERS == 4
  return PLANE(column * 4 + letter);
#else
  if (letter == 15u) return (word_t)(0u);
  const word_t h = PLANE(column * 3), l = PLANE(column * 3 + 1);
  const word_t a = (word_t)(-(letter & 1u)), c = (word_t)(-(letter >> 1 & 1u));
  const word_t t = (word_t)(-(letter >> 2 & 1u)), g = (word_t)(-(letter >> 3 & 1u));
  word_t same = SELECT(SELECT(a, c, l), SELECT(t, g, l), h);
#if VALIDITY
  same &= PLANE(column * 3 + 2);
#endif
  return ~same;
#endif
}

// Sites whose base is another than a letter.
static inline word_t other_than(word_t high, word_t low, int letter) {
  return (letter & 2 ? ~high : high) | (letter & 1 ? ~low : low);
}

// The columns of an item's sites, 32 * WORDS of them; `stride` is from one word of a site to the
// next.
static inline void columns_of(__global const uint *words, uint stride, uint lid, word_t *column) {
#pragma unroll
  for (int i = 0; i < WORDS; i++) {
#pragma unroll
    for (int b = 0; b < 32; b++) column[32 * i + b] = LOAD(b * WG + lid, words + i * stride);
    transpose(column + 32 * i);
  }
}

#if LETTERS == 16
#define RIPPLE(sum)                  \
  {                                  \
    const word_t both = sum & carry; \
    sum ^= carry;                    \
    carry = both;                    \
  }

// Sites with at most `most` mismatches in columns from `first` on, up to `end`; with a bulge a
// column counts if it mismatches here and also `columns` further on with the letter `letters`
// further on. One column at a time: guides with other letters than A, C, G, T are few, and so are
// odd sites.
static word_t general_at_most(__local const word_t *planes,
                              uint lid,
                              __constant const uchar *letter,
                              int first,
                              int end,
                              int columns,
                              int letters,
                              uint most) {
  word_t s0 = (word_t)(0u), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, sum, most_bit;
  word_t result = (word_t)(~0u);
  for (int column = first; column < end; column++) {
    word_t carry = differs(planes, lid, CORE + column, letter[column]);
    if (columns || letters)
      carry &= differs(planes, lid, CORE + column + columns, letter[column + letters]);
    RIPPLE(s0) RIPPLE(s1) RIPPLE(s2) RIPPLE(s3) RIPPLE(s4) s5 ^= carry;
  }
  sum = s0;
  NOT_ABOVE(0)
  sum = s1;
  NOT_ABOVE(1)
  sum = s2;
  NOT_ABOVE(2)
  sum = s3;
  NOT_ABOVE(3)
  sum = s4;
  NOT_ABOVE(4)
  sum = s5;
  NOT_ABOVE(5)
  return result;
}
#endif

// A guide's bases as sets, LENGTH bits each: A, C, T, G, all in the order of the forward strand.
typedef struct {
  ulong base[4];
} sets_t;

// Bases of a guide that differ from a site whose words are moved by `by` columns.
static inline ulong differences(
    __global const sets_t *guide, ulong high, ulong low, ulong valid, int by) {
  high = by < 0 ? high << -by : high >> by;
  low = by < 0 ? low << -by : low >> by;
  valid = by < 0 ? valid << -by : valid >> by;
  const ulong same = (~high & ((~low & guide->base[0]) | (low & guide->base[1]))) |
                     (high & ((~low & guide->base[2]) | (low & guide->base[3])));
  const ulong any = guide->base[0] & guide->base[1] & guide->base[2] & guide->base[3];
  return ~((same & valid) | any);
}

static inline uint bit_from_far(ulong word, uint i) {
  return (uint)(word >> (FAR_LOW ? i : LENGTH - 1 - i)) & 1u;
}

// The fewest mismatches of a guide with one bulge of a size, over all places of the bulge: the
// bases before it (from the far side) in their moved places, those behind it in their own.
static inline uint fewest(ulong own, ulong moved, uint skipped, uint first_place) {
  uint before = 0, best = 255;
  for (uint i = 0; i + skipped < LENGTH; i++) {
    if (i >= first_place) best = min(best, before);
    best += bit_from_far(own, i + skipped);
    before += bit_from_far(moved, i);
  }
  return min(best, before);
}

static inline uint code_of(uint kind) { return kind <= DNA ? kind : kind - DNA + 2; }

// A count that runs past `MOST_HITS` stays there, so that it never begins again at 0.
#define MOST_HITS (1u << 31)
static inline void append(__global uint2 *hits,
                          __global volatile uint *hit_count,
                          uint hit_capacity,
                          uint site,
                          uint guide) {
  const uint place = atomic_inc(hit_count);
  if (place >= MOST_HITS) atomic_min(hit_count, MOST_HITS);
  if (place < hit_capacity) hits[place] = (uint2)(site, guide);
}

#define KINDS (1 + DNA + RNA)
#ifndef TOGETHER
#define TOGETHER 1  // guides after which an item looks whether any site is close
#endif
#define GUIDE_BITS 28  // above them stands the kind: 0 no bulge, 1 and 2 DNA, 3 and 4 RNA

__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void comparer(
    const uint list,                    // 0 forward, 1 reverse, 2 and 3 the same of odd sites
    __global const uint *counts,        // sites of each list
    const uint capacity,                // sites that a list has room for
    const uint odd_capacity,            // the same of a list of odd sites
    __global const uint *position,      // lists of `finder`
    __global const uint *site_high,     //
    __global const uint *site_low,      //
    __global const uint *site_valid,    //
    const uint guides,                  // of this launch
    const uint first_guide,             // number of the first one
    __constant const uchar *letters,    // LENGTH of each guide, in the order of the forward strand
    __constant const ushort *entries,   // GROUP 3: the same, three letters each, as tables' places
    __constant const uchar *limits,     // largest number of mismatches of each guide
    __global uint2 *hits,               // site: position * 2 + strand; guide and kind
    __global volatile uint *hit_count,  // hits found, more than fit if the host must come again
    const uint hit_capacity,            //
    __global uint2 *candidates,         // for `bulges`: number of the site; guide and kind
    __global volatile uint *candidate_count,  //
    const uint candidate_capacity) {          //
  __local word_t planes[PLANES * WG];
  const uint lid = get_local_id(0);
  const uint start = get_group_id(0) * (32u * LANES * WG);
  const uint odd = list / LIST_ODD, strand = list % LIST_ODD;
  const uint room = odd ? odd_capacity : capacity;
  const uint count = min(counts[list], room);
  if (start >= count) return;
  const uint total = 2 * capacity + 2 * odd_capacity;
  const uint base = (odd ? 2 * capacity + strand * odd_capacity : strand * capacity) + start;

  word_t high[32 * WORDS], low[32 * WORDS];
  columns_of(site_high + base, total, lid, high);
  columns_of(site_low + base, total, lid, low);
#if GROUP == 3
  for (int table = 0; table < TABLES; table++) {
    word_t other[3][4];
    for (int i = 0; i < 3; i++) {
      const int column = CORE + 3 * table + i;
      const int is_base = 3 * table + i < LENGTH;
      const word_t h = high[column % (32 * WORDS)], l = low[column % (32 * WORDS)];
      for (int letter = 0; letter < 4; letter++)
        other[i][letter] = is_base ? other_than(h, l, letter) : (word_t)(0u);
    }
    for (int entry = 0; entry < 64; entry++) {
      word_t sum = other[1][entry >> 2 & 3];
      const word_t carry = add(&sum, other[2][entry >> 4], other[0][entry & 3]);
      PLANE(table * 128 + 2 * entry) = sum;
      PLANE(table * 128 + 2 * entry + 1) = carry;
    }
  }
#else
#if VALIDITY
  word_t valid[32 * WORDS];
  columns_of(site_valid + base - 2 * capacity, 2 * odd_capacity, lid, valid);
#endif
#pragma unroll
  for (int column = 0; column < SPAN; column++) {
#if LETTERS == 4
#pragma unroll
    for (int letter = 0; letter < 4; letter++)
      PLANE(column * 4 + letter) = other_than(high[column], low[column], letter);
#else
    PLANE(column * 3) = high[column];
    PLANE(column * 3 + 1) = low[column];
#if VALIDITY
    PLANE(column * 3 + 2) = valid[column];
#endif
#endif
  }
#endif

  for (uint first = 0; first < guides; first += TOGETHER) {
    word_t close[TOGETHER][KINDS], any = (word_t)(0u);
#pragma unroll
    for (uint i = 0; i < TOGETHER; i++) {
      const uint guide = min(first + i, guides - 1);
      const uint most = limits[guide];
      __constant const uchar *letter = letters + guide * LENGTH;
#if LETTERS == 16
#pragma unroll 1
      for (int kind = 0; kind < KINDS; kind++) {
        const int is_rna = kind > DNA, size = is_rna ? kind - DNA : kind;
        const int first_column = is_rna && FAR_LOW ? size : 0;
        const int columns = is_rna ? 0 : size * AWAY, other = is_rna ? size * AWAY : 0;
        const int end = first_column + LENGTH - (is_rna ? size : 0);
        close[i][kind] =
            general_at_most(planes, lid, letter, first_column, end, columns, other, most);
      }
#else
#if BULGES
      word_t near[NEAR], far[FAR], moved[FAR], near_own[COUNT_BITS];
      word_t count[COUNT_BITS], other[COUNT_BITS];
#pragma unroll
      for (int j = 0; j < NEAR; j++)
        near[j] = differs(planes, lid, CORE + NEAR_COLUMN(j), letter[NEAR_COLUMN(j)]);
#pragma unroll
      for (int j = 0; j < FAR; j++)
        far[j] = differs(planes, lid, CORE + FAR_COLUMN(j), letter[FAR_COLUMN(j)]);
      near_count(near, near_own);
      far_count_0(far, count);
      close[i][0] = together_at_most(near_own, count, most);
#pragma unroll
      for (int size = 1; size <= DNA; size++) {
        word_t both[NEAR > FAR ? NEAR : FAR];
#pragma unroll
        for (int j = 0; j < FAR; j++) {
          const int column = FAR_COLUMN(j);
          moved[j] = differs(planes, lid, CORE + column + size * AWAY, letter[column]);
          both[j] = far[j] & moved[j];
        }
        far_count_0(both, count);
        close[i][size] = together_at_most(near_own, count, most);
        far_count_0(moved, other);
#pragma unroll
        for (int j = 0; j < NEAR; j++) {
          const int column = NEAR_COLUMN(j);
          both[j] = near[j] & differs(planes, lid, CORE + column + size * AWAY, letter[column]);
        }
        near_count(both, count);
        close[i][size] |= together_at_most(other, count, most);
      }
#pragma unroll
      for (int size = 1; size <= RNA; size++) {
        word_t both[NEAR > FAR ? NEAR : FAR];
#pragma unroll
        for (int j = 0; j < FAR - size; j++) {
          const int from = FAR_LOW ? j + size : j, column = FAR_COLUMN(from);
          moved[j] = differs(planes, lid, CORE + column, letter[column + size * AWAY]);
          both[j] = far[from] & moved[j];
        }
#if RNA == 2
        if (size == 2) {
          far_count_2(both, count);
          far_count_2(moved, other);
        }
#endif
#if RNA > 0
        if (size == 1) {
          far_count_1(both, count);
          far_count_1(moved, other);
        }
#endif
        close[i][DNA + size] = together_at_most(near_own, count, most);
#pragma unroll
        for (int j = 0; j < NEAR; j++) {
          const int column = NEAR_COLUMN(j);
          both[j] = near[j] & differs(planes, lid, CORE + column, letter[column + size * AWAY]);
        }
        near_count(both, count);
        close[i][DNA + size] |= together_at_most(other, count, most);
      }
#else
      word_t one[LENGTH], two[LENGTH];
#if GROUP == 3
#pragma unroll
      for (int table = 0; table < TABLES; table++) {
        const uint entry = entries[guide * TABLES + table];
        one[table] = PLANE(entry);
        two[table] = PLANE(entry + 1);
      }
#else
#pragma unroll
      for (int column = 0; column < LENGTH; column++)
        one[column] = differs(planes, lid, CORE + column, letter[column]);
#endif
      close[i][0] = plain_at_most(one, two, most);
#endif
#endif
#pragma unroll
      for (int kind = 0; kind < KINDS; kind++) any |= close[i][kind];
    }
    if (!is_any(any)) continue;
    for (uint i = 0; i < TOGETHER && first + i < guides; i++) {
      for (uint kind = 0; kind < KINDS; kind++) {
        uint lanes[LANES];
        STORE(close[i][kind], lanes);
        for (uint lane = 0; lane < LANES; lane++) {
          for (uint rest = lanes[lane]; rest; rest &= rest - 1) {
            const uint site = (lowest_bit(rest) * WG + lid) * LANES + lane;
            if (start + site >= count) continue;
            const uint numbered = first + i;
            if (kind == 0)
              append(hits, hit_count, hit_capacity, position[base + site] * 2 + strand,
                     first_guide + numbered);
            else
              append(candidates, candidate_count, candidate_capacity, base + site,
                     numbered | kind << GUIDE_BITS);
          }
        }
      }
    }
  }
}

// The candidates of one launch of `comparer`: those with a bulge and few enough mismatches are
// hits.
__kernel void bulges(__global const uint2 *candidates,      // of `comparer`
                     __global const uint *candidate_count,  //
                     const uint candidate_capacity,         //
                     const uint strand,                     // of the list
                     const uint first_guide,                // number of the first guide
                     const uint capacity,                   // sites that a list has room for
                     const uint odd_capacity,               // the same of a list of odd sites
                     __global const uint *position,         // lists of `finder`
                     __global const uint *site_high,        //
                     __global const uint *site_low,         //
                     __global const uint *site_valid,       //
                     __constant const uchar *limits,        // of each guide
                     __global const sets_t *sets,           // of each guide
                     __global uint2 *hits,                  // as in `comparer`
                     __global volatile uint *hit_count,     //
                     const uint hit_capacity) {             //
  const uint item = get_global_id(0);
  if (item >= min(*candidate_count, candidate_capacity)) return;
  const uint site = candidates[item].x;
  const uint number = candidates[item].y & ((1u << GUIDE_BITS) - 1);
  const uint kind = candidates[item].y >> GUIDE_BITS;
  const uint total = 2 * capacity + 2 * odd_capacity;
  ulong high = 0, low = 0, valid = VALIDITY ? 0 : ~0ul;
  for (uint i = 0; i < WORDS; i++) {
    high |= (ulong)site_high[site + i * total] << (32 * i);
    low |= (ulong)site_low[site + i * total] << (32 * i);
    if (VALIDITY)
      valid |= (ulong)site_valid[site - 2 * capacity + i * 2 * odd_capacity] << (32 * i);
  }
  const ulong own = differences(sets + number, high, low, valid, CORE);
  const int is_dna = kind <= DNA, size = is_dna ? kind : kind - DNA;
  const int by = CORE + (is_dna ? size : -size) * AWAY;
  const ulong moved = differences(sets + number, high, low, valid, by);
  if (fewest(own, moved, is_dna ? 0 : size, is_dna ? 1 : 0) <= limits[number])
    append(hits, hit_count, hit_capacity, position[site] * 2 + strand,
           (first_guide + number) | code_of(kind) << GUIDE_BITS);
}
#endif
