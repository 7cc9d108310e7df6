// What a device can do at most, one resource at a time (benchmarks/roofline.py).
//
// `look_up` is the dock kernel's innermost work and nothing else: lane = angle of one ligand,
// nearest cell, atoms in turn, the same ligands about the same bonds of the same poses.

#include "search.clh"

#ifndef WG_SUB_GROUPS
#define WG_SUB_GROUPS 1
#endif
#define CHAINS 16  // independent, so that latency is hidden

// x -> a x + b, `steps` times, in CHAINS chains; exact for a = -1.
__kernel void fused(float a, float b, int steps, __global float *out) {
  float x[CHAINS];
#pragma unroll
  for (int k = 0; k < CHAINS; k++) x[k] = (float)(get_local_id(0) + k);
  for (int n = 0; n < steps; n++) {
#pragma unroll
    for (int k = 0; k < CHAINS; k++) x[k] = fma(x[k], a, b);
  }
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < CHAINS; k++) sum += x[k];
  out[get_global_id(0)] = sum;
}

// The same in whole numbers that wrap around.
__kernel void whole(uint a, uint b, int steps, __global uint *out) {
  uint x[CHAINS];
#pragma unroll
  for (int k = 0; k < CHAINS; k++) x[k] = (uint)get_local_id(0) + k;
  for (int n = 0; n < steps; n++) {
#pragma unroll
    for (int k = 0; k < CHAINS; k++) x[k] = x[k] * a + b;
  }
  uint sum = 0;
#pragma unroll
  for (int k = 0; k < CHAINS; k++) sum += x[k];
  out[get_global_id(0)] = sum;
}

// One read and one write of 16 bytes an item.
__kernel void copy(__global const float4 *from, __global float4 *to) {
  to[get_global_id(0)] = from[get_global_id(0)];
}

// One ligand, one restart a sub-group: sums of all atoms at all angles about each rotatable bond in
// turn, `passes` times.
KERNEL void look_up(int atom_count,
                    int torsion_count,
                    int num_restart,
                    int passes,
                    FIELD field,
                    __global const float4 *angles,
                    __global const float4 *start_rotation,
                    __global const float4 *start_position,
                    __global const uchar *start_turns,
                    __global const float4 *conformer,
                    __global const torsion_t *torsions,
                    __global const float *inverse_lengths,
                    __global int *sums)  // a sub-group: SG_SIZE
{
  SG_SETUP(sg);
  __local float4 all_atoms[WG_SUB_GROUPS * MAX_ATOMS];
  __local uchar all_turns[WG_SUB_GROUPS * MAX_TORSIONS];
  __local float4 *atoms = all_atoms + sg.index * MAX_ATOMS;
  __local uchar *turns = all_turns + sg.index * MAX_TORSIONS;
  const problem_t ligand = {atom_count, torsion_count,   0, conformer,
                            torsions,   inverse_lengths, 0, 0};
  const int restart = sg.item % num_restart;
  for (int n = sg.lane; n < torsion_count; n += SG_SIZE)
    turns[n] = start_turns[restart * MAX_TORSIONS + n];
  sg_sync(sg);
  build_pose(sg, ligand, atoms, turns, angles, start_rotation[restart], start_position[restart]);
  int sum = 0;
  for (int pass = 0; pass < passes; pass++) {
    const int n = pass % torsion_count;
    const float4 d = bond_direction(atoms, torsions[n], inverse_lengths[n]);
    for (int k = 0; k < KEYS; k++) {
      const int a = k * SG_SIZE + sg.lane;
      if (a < N_ANGLES) {
        const affine_t motion = rotation(d, angles[a].x, angles[a].y, atoms[torsions[n].near]);
        sum += field_sum(field, atoms, 0, atom_count, motion);
      }
    }
  }
  sums[sg.item * SG_SIZE + sg.lane] = sum;
}
