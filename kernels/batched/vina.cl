// Vina's and Vinardo's terms of poses, pair by pair, one sub-group a pose.
//
// Lanes are the ligand's heavy atoms; every lane walks the receptor atoms near its own. The atoms'
// parts then lie in local memory, where lane t adds up term t in the order of the atoms; pairs
// within the ligand are dealt to the lanes in turn, whose parts are added in the order of the
// lanes. So the bits are the same whatever the batch or the work-group.
//
//   item:  order[item] = pose        owner[pose] = ligand
//
// NumPy twin: ligen_py/engine/functions/vina/reference.py.

#include "neighbours.clh"
#include "pose.clh"
#include "vina.clh"

#ifndef MAX_ATOMS
#define MAX_ATOMS 64  // the largest ligand of the launch, rounded up to its class
#endif
#ifndef WG_SUB_GROUPS
#define WG_SUB_GROUPS 1  // sub-groups in a work-group
#endif

#define TERMS 5  // gauss1, gauss2, repulsion, hydrophobic, hbond

static inline float square_of(float4 a, float4 b) {
  const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return fma(x, x, fma(y, y, z * z));
}

// Vina's cap: a positive energy never reaches VINA_CAP, a negative one stays as it is.
static inline float capped(float energy) {
  return energy > 0.0f ? energy * (VINA_CAP / (VINA_CAP + energy)) : energy;
}

// The fourth component of an atom is its type, an integer.
static inline float4 pair_of(__constant float4 *pair_table, float4 a, float4 b) {
  return pair_table[(int)a.w * VINA_TYPES + (int)b.w];
}

static inline vina_terms_t contacts(float4 atom,
                                    __global const float4 *receptor,
                                    neighbours_t neighbours,
                                    __constant float4 *pair_table) {
  vina_terms_t sum = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  const int2 rows = rows_near(neighbours, atom);
  for (int row = rows.x; row < rows.y; row++) {
    const float4 other = receptor[neighbours.atoms[row]];
    const float square = square_of(atom, other);
    if (square < VINA_CUTOFF * VINA_CUTOFF) {
      const vina_terms_t terms = vina_terms(sqrt(square), pair_of(pair_table, atom, other));
      sum.gauss1 += terms.gauss1;
      sum.gauss2 += terms.gauss2;
      sum.repulsion += terms.repulsion;
      sum.hydrophobic += terms.hydrophobic;
      sum.hbond += terms.hbond;
    }
  }
  return sum;
}

KERNEL void vina(
    int pose_count,
    int row_length,
    float4 corner,  // these four: see neighbours_t
    int4 blocks,
    __global const int *first_near,
    __global const int *near,
    __global const float4 *receptor,  // x, y, z; type
    __constant float4 *pair_table,    // VINA_TYPES * VINA_TYPES rows, see vina.clh
    __global const int *order,        // the poses of this launch
    __global const vina_ligand_t *ligands,
    __global const float *rotors,       // a ligand: N_rot
    __global const float4 *conformers,  // x, y, z; type
    __global const torsion_t *torsions,
    __global const float *inverse_lengths,
    __global const short2 *pairs,        // heavy atoms that interact within the ligand
    __global const int *pair_counts,     // a ligand
    __global const int *owner,           // a pose: its ligand
    __global const int *first_turn,      // a pose: its first torsion
    __global const float4 *quaternions,  // a pose: w, x, y, z
    __global const float *translations,  // a pose: 3, Angstrom
    __global const float2 *angles,       // cosine and sine, a torsion of a pose
    __global float *results)  // nine rows, see TERMS in ligen_py/engine/functions/vina/constants.py
{
  SG_SETUP(sg);
  __local float4 all_atoms[WG_SUB_GROUPS * MAX_ATOMS];
  __local float all_parts[WG_SUB_GROUPS * (TERMS + 1) * MAX_ATOMS];
  __local float all_internal[WG_SUB_GROUPS * SG_SIZE];
  __local float4 *atoms = all_atoms + sg.index * MAX_ATOMS;
  __local float *parts = all_parts + sg.index * (TERMS + 1) * MAX_ATOMS;
  __local float *internal = all_internal + sg.index * SG_SIZE;

  if (sg.item >= pose_count) return;
  const int pose = order[sg.item];
  const vina_ligand_t ligand = ligands[owner[pose]];
  const neighbours_t neighbours = {corner, blocks, first_near, near};
  const int finite =
      build_pose(sg, BODY(ligand), atoms, conformers, torsions, inverse_lengths,
                 angles + first_turn[pose], motion_of(quaternions, translations, pose));

  for (int h = sg.lane; h < ligand.heavy; h += SG_SIZE) {
    const vina_terms_t sum = contacts(atoms[h], receptor, neighbours, pair_table);
    parts[h] = sum.gauss1;
    parts[MAX_ATOMS + h] = sum.gauss2;
    parts[2 * MAX_ATOMS + h] = sum.repulsion;
    parts[3 * MAX_ATOMS + h] = sum.hydrophobic;
    parts[4 * MAX_ATOMS + h] = sum.hbond;
    parts[5 * MAX_ATOMS + h] =
        capped(sum.gauss1 + sum.gauss2 + sum.repulsion + sum.hydrophobic + sum.hbond);
  }
  float within = 0.0f;
  for (int p = sg.lane; p < pair_counts[owner[pose]]; p += SG_SIZE) {
    const short2 pair = pairs[ligand.first_pair + p];
    const float4 a = atoms[pair.x], b = atoms[pair.y];
    const float square = square_of(a, b);
    if (square < VINA_CUTOFF * VINA_CUTOFF)
      within += capped(vina_pair_energy(sqrt(square), pair_of(pair_table, a, b)));
  }
  internal[sg.lane] = within;
  sg_sync(sg);
  for (int term = sg.lane; term <= TERMS; term += SG_SIZE) {
    float sum = 0.0f;
    for (int h = 0; h < ligand.heavy; h++) sum += parts[term * MAX_ATOMS + h];
    parts[term * MAX_ATOMS] = finite ? sum : NAN;
  }
  sg_sync(sg);
  if (sg.lane == 0) {
    float sum = 0.0f;
    for (int lane = 0; lane < SG_SIZE; lane++) sum += internal[lane];
    const float n_rot = rotors[owner[pose]];
    const float affinity = parts[TERMS * MAX_ATOMS] / fma(VINA_ROTOR_WEIGHT, n_rot, 1.0f);
    for (int term = 0; term < TERMS; term++)
      results[term * row_length + pose] = parts[term * MAX_ATOMS];
    results[5 * row_length + pose] = finite ? sum : NAN;
    results[6 * row_length + pose] = n_rot;
    results[7 * row_length + pose] = affinity;
    results[8 * row_length + pose] = -affinity;
  }
}
