// Best local alignments of one query with some sequences (Smith-Waterman, affine gaps): a matrix of
// moves for each, and the way back through it.
//
//   work-group   one sequence
//   work-item    a row of a strip of ITEMS rows, one column behind the item of the row above
//
//   step         t            t + 1        t + 2
//   item 0       column t     t + 1        t + 2       row r
//   item 1                    column t     t + 1       row r + 1: H and F of item 0
//   item 2                                 column t    handed on: H, F and the column's letter
//
// H and F of a strip's last row wait in `edge` for the next strip.
//
// Of several alignments with the best score it is the one that ends first in the sequence, then in
// the query. On the way back a pair comes before a gap, and the beginning of a gap before its going
// on. The recurrence is that of inter_sequence.cl.

#ifndef LETTERS
#define LETTERS 24  // of the matrix
#endif
#ifndef ITEMS
#define ITEMS 1  // of a work-group
#endif

#define STOP 0  // where H came from: nothing, a pair, E or F
#define PAIR 1
#define ACROSS 2
#define DOWN 3
#define SOURCE 3
#define ACROSS_OPENS 4  // the gap of E (of F) that ends here begins here
#define DOWN_OPENS 8

#define NOTHING (-(1 << 30))

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void align_pairs(
    int rows,
    __global const uchar *query,    // row: letter
    __global const long *first,     // sequence: its first letter
    __global const int *length,     // sequence: letters
    __global const uchar *letters,  // of all sequences
    __global const char *matrix,    // letter of the query, of the sequence
    int gap_first,
    int gap_next,
    __global int2 *edge,              // letter: H and F of the last row of a strip
    __global const long *first_move,  // sequence: its first move
    __global uchar *moves,            // sequence, strip, step, item
    __global const long *first_step,  // sequence: its first step on the way back
    __global uchar *steps,  // backwards: PAIR, ACROSS (sequence only) or DOWN (query only)
    __global int4 *ends) {  // sequence: score, last row, last column, number of steps
  __local char table[LETTERS * LETTERS];
  __local int2 entering[2][ITEMS];   // H and F above the strip: of ITEMS columns, and of the next
  __local uchar arriving[2][ITEMS];  // letters of these columns
  __local int2 above[2][ITEMS];      // H and F of an item's last step: of even and of odd steps
  __local uchar passing[2][ITEMS];   // its letter
  __local int4 found[ITEMS];
  const int sequence = get_group_id(0);
  const int item = get_local_id(0);
  const int columns = length[sequence];
  const int strips = (rows + ITEMS - 1) / ITEMS, strip_steps = columns + ITEMS - 1;
  letters += first[sequence];
  edge += first[sequence];
  moves += first_move[sequence];
  steps += first_step[sequence];
  for (int cell = item; cell < LETTERS * LETTERS; cell += ITEMS) table[cell] = matrix[cell];

  int best = 0, best_row = 0, best_place = 0;
  for (int strip = 0; strip < strips; strip++) {
    const int row = strip * ITEMS + item;
    const int of_row = row < rows ? query[row] * LETTERS : 0;
    __global uchar *move = moves + (long)strip * strip_steps * ITEMS + item;
    int left = 0, e = NOTHING, corner = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // `edge` is written
    for (int step = -ITEMS; step < strip_steps; step = step < 0 ? 0 : step + 1) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const int coming = step + ITEMS + item;
      if (step % ITEMS == 0 && coming < columns) {
        const int ahead = (step / ITEMS + 1) % 2;
        entering[ahead][item] = strip > 0 ? edge[coming] : (int2)(0, NOTHING);
        arriving[ahead][item] = letters[coming];
      }
      const int place = step - item;
      if (place >= 0 && place < columns && row < rows) {
        int2 over;
        int letter;
        if (item == 0) {
          over = entering[step / ITEMS % 2][step % ITEMS];
          letter = arriving[step / ITEMS % 2][step % ITEMS];
        } else {
          over = above[step % 2][item - 1];
          letter = passing[step % 2][item - 1];
        }
        const int opens = left - gap_first, goes_on = e - gap_next;
        e = max(opens, goes_on);
        const int begins = over.x - gap_first, continues = over.y - gap_next;
        const int f = row > 0 ? max(begins, continues) : NOTHING;
        const int pair = corner + table[of_row + letter];
        const int h = max(max(pair, 0), max(e, f));
        int how = h == 0 ? STOP : h == pair ? PAIR : h == e ? ACROSS : DOWN;
        how |= opens >= goes_on ? ACROSS_OPENS : 0;
        how |= begins >= continues ? DOWN_OPENS : 0;
        move[(long)step * ITEMS] = (uchar)how;
        if (h > best || (h == best && place < best_place)) {
          best = h;
          best_row = row;
          best_place = place;
        }
        corner = over.x;
        left = h;
        above[(step + 1) % 2][item] = (int2)(h, f);
        passing[(step + 1) % 2][item] = (uchar)letter;
        if (item == ITEMS - 1) edge[place] = (int2)(h, f);
      }
    }
  }
  found[item] = (int4)(best, best_row, best_place, 0);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (item > 0) return;

  for (int other = 1; other < ITEMS; other++) {
    const int4 one = found[other];
    const bool before = one.z < best_place || (one.z == best_place && one.y < best_row);
    if (one.x > best || (one.x == best && before)) {
      best = one.x;
      best_row = one.y;
      best_place = one.z;
    }
  }
  int row = best_row, place = best_place, count = 0, source = PAIR;
  bool in_gap = false;
  while (best > 0 && row >= 0 && place >= 0) {
    const long step = (long)(row / ITEMS) * strip_steps + place + row % ITEMS;
    const int how = moves[step * ITEMS + row % ITEMS];
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
