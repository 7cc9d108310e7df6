// heats: which poses of a ligand go on from one heat of the refinement to the next.
//
//   work-item   a place of a ligand in the heat that has ended; the ligand
//
// A pose goes on if few enough of its ligand's poses have lower energies: of equal ones the first
// counts as lower, and what is no number as higher than all. Its place in the next heat is the
// number of lower ones. So all heats of a batch can wait in one queue, without the host.
//
// NumPy twin: `lowest` in ligen_py/engine/refinement/reference.py, which lists the same poses by
// row.

#pragma OPENCL FP_CONTRACT OFF

static inline int is_lower(float one, float other) {
  return one < other || (isnan(other) && !isnan(one));
}

__kernel void keep_lowest(
    __global const int4 *ligands,     // first place and number of poses: of this heat, of the next
    __global const int *in_heat,      // a place: its pose
    __global const float2 *energies,  // a pose: before and after
    __global int *next)               // the same as `in_heat`
{
  const int place = get_global_id(0);
  const int4 l = ligands[get_global_id(1)];
  if (place >= l.y || l.w == 0) return;
  const int pose = in_heat[l.x + place];
  const float own = energies[pose].y;
  int lower = 0;
  for (int n = 0; n < l.y; n++) {
    const float other = energies[in_heat[l.x + n]].y;
    lower += n < place ? !is_lower(own, other) : is_lower(other, own);
  }
  if (lower < l.w) next[l.z + lower] = pose;
}
