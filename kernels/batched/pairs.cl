// pairs: atoms within a ligand whose distance a torsion changes, four or more bonds apart.
//
//   work-group   a ligand; its work-items have an atom each, in turn
//
// An atom belongs to the rigid piece that holds it, and an atom on an axis to both pieces that the
// bond joins. Two atoms of one piece keep their distance. Atoms up to three bonds away are found in
// three rounds, in each of which an atom takes over what its neighbours have reached.
//
// NumPy twin: ligen_py/engine/internal_pairs.py.

#include "geometry.clh"

#ifndef MAX_ATOMS
#define MAX_ATOMS 64  // the largest ligand of the launch, rounded up to its class
#endif

#ifndef PIECE_WORDS
#define PIECE_WORDS 3  // of a set of pieces: the root and one of each torsion
#endif

#define BONDS 3                 // pairs up to so many bonds apart do not count
#define WORDS (MAX_ATOMS / 32)  // of a set of atoms
#define BIT(number) (1u << ((number) & 31))

// The innermost far side around an atom; ranges are depth-first, so inner ones come later.
static inline int piece_of(__global const torsion_t *torsions, int count, int atom) {
  int piece = 0;
  for (int n = 0; n < count; n++) piece = is_far(torsions[n], atom) ? n + 1 : piece;
  return piece;
}

static inline int is_pair(__local const uint *pieces, __local const uint *reached, int i, int j) {
  uint fixed = reached[i * WORDS + j / 32] & BIT(j);
  for (int n = 0; n < PIECE_WORDS; n++)
    fixed |= pieces[i * PIECE_WORDS + n] & pieces[j * PIECE_WORDS + n];
  return !fixed;
}

__kernel void find_pairs(
    __global const pairs_ligand_t *ligands,
    __global const uchar *chosen,  // an atom: 1 where its pairs count
    __global const uchar2 *bonds,  // atoms, local to the ligand
    __global const torsion_t *torsions,
    __global short2 *pairs,  // a ligand: room for all pairs of its chosen atoms
    __global int *counts)    // a ligand: its pairs
{
  __local uint all_reached[2 * MAX_ATOMS * WORDS], pieces[PIECE_WORDS * MAX_ATOMS];
  __local int first[MAX_ATOMS];
  const pairs_ligand_t l = ligands[get_group_id(0)];
  const int item = get_local_id(0), items = get_local_size(0);
  __local uint *reached = all_reached, *next = all_reached + MAX_ATOMS * WORDS;
  torsions += l.first_torsion;

  for (int i = item; i < l.atoms; i += items) {
    for (int n = 0; n < WORDS; n++) reached[i * WORDS + n] = n == i / 32 ? BIT(i) : 0;
    __local uint *own = pieces + i * PIECE_WORDS;
    const int piece = piece_of(torsions, l.torsions, i);
    // What is not chosen shares a piece with all.
    for (int n = 0; n < PIECE_WORDS; n++)
      own[n] = !chosen[l.first_atom + i] ? ~0u : n == piece / 32 ? BIT(piece) : 0;
    for (int n = 0; n < l.torsions; n++) {
      const int near = torsions[n].near;
      const int other = i == near              ? n + 1
                        : i == torsions[n].far ? piece_of(torsions, l.torsions, near)
                                               : piece;
      own[other / 32] |= BIT(other);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  for (int round = 0; round < BONDS; round++) {
    for (int i = item; i < l.atoms; i += items) {
      for (int n = 0; n < WORDS; n++) next[i * WORDS + n] = reached[i * WORDS + n];
      for (int b = l.first_bond; b < l.first_bond + l.bonds; b++) {
        const int one = bonds[b].x, two = bonds[b].y, other = i == one ? two : one;
        if ((i != one && i != two) || !chosen[l.first_atom + i] || !chosen[l.first_atom + other])
          continue;
        for (int n = 0; n < WORDS; n++) next[i * WORDS + n] |= reached[other * WORDS + n];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __local uint *before = reached;
    reached = next;
    next = before;
  }

  for (int i = item; i < l.atoms; i += items) {
    first[i] = 0;
    for (int j = i + 1; j < l.atoms; j++) first[i] += is_pair(pieces, reached, i, j);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    int sum = 0;
    for (int i = 0; i < l.atoms; i++) {
      const int own = first[i];
      first[i] = sum;
      sum += own;
    }
    counts[get_group_id(0)] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = item; i < l.atoms; i += items) {
    int place = l.first_pair + first[i];
    for (int j = i + 1; j < l.atoms; j++) {
      if (is_pair(pieces, reached, i, j)) pairs[place++] = (short2)((short)i, (short)j);
    }
  }
}
