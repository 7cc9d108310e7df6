// keep: what the choice of refined poses needs beside the kernels of filter.cl, on the device.
//
// scores  work-item a pose: its energy as the score by which filter.cl sorts
// turns   work-item a torsion of a pose: cosine and sine of its angle
// gather  work-item a kept pose of a ligand: its place, energies and angles, one pose after another
//
// So all refined poses stay on the device, and the few that are kept come back.
//
// NumPy twin: `keep_best` in ligen_py/engine/refinement/reference.py.

#pragma OPENCL FP_CONTRACT OFF

// Energies above are equal, kcal/mol.
#define WORST (1e6f)
// Scores a kcal/mol. Energies with equal scores are equal, and the first pose is kept.
#define FINEST (1000.0f)

__kernel void scores(int count,
                     __global const float2 *energies,  // a pose: before and after, kcal/mol
                     __global int *score)              // larger is better
{
  const int pose = get_global_id(0);
  if (pose >= count) return;
  const float energy = energies[pose].y;
  score[pose] = isnan(energy) ? INT_MIN : -convert_int_rte(clamp(energy, -WORST, WORST) * FINEST);
}

__kernel void turns(int count,
                    __global const float *radians,
                    __global float2 *angles)  // cosine and sine
{
  const int turn = get_global_id(0);
  if (turn >= count) return;
  angles[turn] = (float2)(cos(radians[turn]), sin(radians[turn]));
}

__kernel void gather(int max_num_poses,  // of a ligand that are kept
                     int most,           // torsions of a ligand, the room that each kept pose has
                     __global const filter_ligand_t *ligands,
                     __global const ushort *kept,  // a kept pose: its number in its ligand
                     __global const float4 *quaternions,
                     __global const float *translations,
                     __global const float *angles,  // radians
                     __global const float2 *energies,
                     __global float4 *kept_quaternions,
                     __global float *kept_translations,
                     __global float *kept_angles,
                     __global float2 *kept_energies) {
  const int number = get_global_id(0), ligand = get_global_id(1);
  const filter_ligand_t l = ligands[ligand];
  if (number >= min(l.poses, max_num_poses)) return;
  const int slot = l.first_kept + number, own = kept[slot], pose = l.first_pose + own;
  kept_quaternions[slot] = quaternions[pose];
  kept_energies[slot] = energies[pose];
  for (int d = 0; d < 3; d++) kept_translations[3 * slot + d] = translations[3 * pose + d];
  for (int n = 0; n < l.torsions; n++)
    kept_angles[(size_t)slot * most + n] = angles[l.first_turn + own * l.torsions + n];
}
