// Contacts of poses, one sub-group a pose.

#include "pose.clh"
#include FIELD

KERNEL void linear_contacts(int pose_count,
                            int row_length,
                            int receptor_count,
                            __global const float4 *receptor,
                            __global const int *order,
                            __global const linear_contacts_ligand_t *ligands,
                            __global const float4 *conformers,  // w: weight
                            __global const torsion_t *torsions,
                            __global const float *inverse_lengths,
                            __global const int *owner,
                            __global const int *first_turn,
                            __global const float4 *quaternions,
                            __global const float *translations,
                            __global const float2 *angles,
                            __global float *results) {
  SG_SETUP(sg);
  __local float4 all_atoms[WG_SUB_GROUPS * MAX_ATOMS];
  __local float4 *atoms = all_atoms + sg.index * MAX_ATOMS;
  if (sg.item >= pose_count) return;
  const int pose = order[sg.item];
  const body_t body = BODY(ligands[owner[pose]]);
  const int finite = build_pose(sg, body, atoms, conformers, torsions, inverse_lengths,
                                angles + first_turn[pose], motion_of(quaternions, translations, pose));
  float energy = 0.0f;
  for (int i = sg.lane; i < body.atoms; i += SG_SIZE) {
    for (int j = 0; j < receptor_count; j++) {
      const float4 d = atoms[i] - receptor[j];
      const float r = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
      energy += contact_energy_slope(r, atoms[i].w).energy;
    }
  }
  energy = sg_sum_float(sg, energy);
  if (sg.lane == 0) results[pose] = finite ? -energy : NAN;
}
