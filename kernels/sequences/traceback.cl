// Best local alignments of one query with some sequences (Smith-Waterman, affine gaps): a matrix of
// moves for each, filled in column by column, and the way back through it.
//
//   work-item   one sequence
//
// Of several alignments with the best score it is the one that ends first in the sequence, then in
// the query. On the way back a pair comes before a gap, and the beginning of a gap before its going
// on. The recurrence is that of inter_sequence.cl.

#ifndef LETTERS
#define LETTERS 24  // of the matrix
#endif

#define STOP 0  // where H came from: nothing, a pair, E or F
#define PAIR 1
#define ACROSS 2
#define DOWN 3
#define SOURCE 3
#define ACROSS_OPENS 4  // the gap of E (of F) that ends here begins here
#define DOWN_OPENS 8

#define NOTHING (-(1 << 30))

__kernel void align_pairs(
    int sequences,
    int rows,
    __global const uchar *query,    // row: letter
    __global const long *first,     // sequence: its first letter
    __global const int *length,     // sequence: letters
    __global const uchar *letters,  // of all sequences
    __global const char *matrix,    // letter of the query, of the sequence
    int gap_first,
    int gap_next,
    __global int2 *column,            // sequence, row: H and E of the last column
    __global uchar *moves,            // sequence, column, row
    __global const long *first_step,  // sequence: its first step
    __global uchar *steps,  // backwards: PAIR, ACROSS (sequence only) or DOWN (query only)
    __global int4 *ends) {  // sequence: score, last row, last column, number of steps
  const int sequence = get_global_id(0);
  if (sequence >= sequences) return;
  letters += first[sequence];
  column += (long)sequence * rows;
  moves += first[sequence] * rows;
  steps += first_step[sequence];

  for (int row = 0; row < rows; row++) column[row] = (int2)(0, NOTHING);
  int best = 0, best_row = 0, best_place = 0;
  for (int place = 0; place < length[sequence]; place++) {
    __global uchar *move = moves + (long)place * rows;
    const int letter = letters[place];
    int corner = 0, above = 0, f = NOTHING, highest = 0, highest_row = 0;
    for (int row = 0; row < rows; row++) {
      const int2 left = column[row];
      const int opens = left.x - gap_first, goes_on = left.y - gap_next;
      const int e = max(opens, goes_on);
      int how = opens >= goes_on ? ACROSS_OPENS : 0;
      if (row > 0) {
        const int begins = above - gap_first, continues = f - gap_next;
        f = max(begins, continues);
        how |= begins >= continues ? DOWN_OPENS : 0;
      }
      const int pair = corner + matrix[query[row] * LETTERS + letter];
      const int h = max(max(pair, 0), max(e, f));
      how |= h == 0 ? STOP : h == pair ? PAIR : h == e ? ACROSS : DOWN;
      move[row] = (uchar)how;
      if (h > highest) {
        highest = h;
        highest_row = row;
      }
      corner = left.x;
      above = h;
      column[row] = (int2)(h, e);
    }
    if (highest > best) {
      best = highest;
      best_row = highest_row;
      best_place = place;
    }
  }

  int row = best_row, place = best_place, count = 0, source = PAIR;
  bool in_gap = false;
  while (best > 0 && row >= 0 && place >= 0) {
    const int how = moves[(long)place * rows + row];
    if (!in_gap) {
      source = how & SOURCE;
      if (source == STOP) break;
    }
    steps[count++] = (uchar)source;
    if (source == PAIR) {
      row--;
      place--;
    } else if (source == ACROSS) {
      in_gap = !(how & ACROSS_OPENS);
      place--;
    } else {
      in_gap = !(how & DOWN_OPENS);
      row--;
    }
  }
  ends[sequence] = (int4)(best, best_row, best_place, count);
}
