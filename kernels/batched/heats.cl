// heats: which poses go on from one heat of the refinement to the next.
//
//   work-item   a place of a ligand in the heat that has ended; the ligand
//
// A pose goes on if few enough of the poses that it competes with have lower energies: those of its
// ligand, or of all conformers of the same state. Of equal ones the first counts as lower, and what
// is no number as higher than all. Its place in the next heat is the number of lower ones of its
// own ligand; places that nobody takes stay EMPTY. So all heats of a batch can wait in one queue,
// without the host.
//
// NumPy twin: `lowest` in ligen_py/engine/refinement/reference.py, which lists the same poses by
// row.

#pragma OPENCL FP_CONTRACT OFF

#include "heat.clh"

static inline int is_lower(float one, float other) {
  return one < other || (isnan(other) && !isnan(one));
}

__kernel void keep_lowest(
    __global const int4 *ligands,     // first place and number of places: of this heat, of the next
    __global const int4 *rivals,      // a ligand: first place of those that compete, one past the
                                      // last, how many of these go on
    __global const int *in_heat,      // a place: its pose, or EMPTY
    __global const float2 *energies,  // a pose: before and after
    __global int *next)               // the same as `in_heat`, EMPTY before
{
  const int4 l = ligands[get_global_id(1)], all = rivals[get_global_id(1)];
  const int place = l.x + get_global_id(0), last = l.x + l.y;
  if (place >= last || l.w == 0 || in_heat[place] == EMPTY) return;
  const int pose = in_heat[place];
  const float own = energies[pose].y;
  int lower = 0, lower_of_ligand = 0;
  for (int n = all.x; n < all.y; n++) {
    if (in_heat[n] == EMPTY) continue;
    const float other = energies[in_heat[n]].y;
    const int is_before = n < place ? !is_lower(own, other) : is_lower(other, own);
    lower += is_before;
    lower_of_ligand += is_before && n >= l.x && n < last;
  }
  if (lower < all.z) next[l.z + lower_of_ligand] = pose;
}
