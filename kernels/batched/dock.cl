// dock: LiGen's Algorithm 1 (Crisci et al. 2024) for a batch of ligands, one sub-group a ligand.
//
// A sub-group takes one ligand and every SPLITS-th of its restarts. For each restart it places the
// ligand, aligns it as a rigid body, then for every fragment in turn tries N_ANGLES rotations and
// keeps the best that makes no internal bump. Lanes are candidates (angles, or shifts): each lane
// builds its own rigid motion and walks the moved atoms, so one reduction a fragment is enough.
//
//   work-group:  | sub-group 0 | sub-group 1 | ...      sub-group = item
//   item:        ligand = item / SPLITS, restarts item % SPLITS, + SPLITS, + 2 SPLITS, ...
//
// The state of a restart is its genotype: one whole number of angle steps a torsion, and the rigid
// motion (quaternion, shift) of the root piece. Coordinates are in box units (field.clh). At
// the end they are rebuilt from the genotype, so that score and bumps are those of the pose that
// everybody else will rebuild.
//
// A second kernel, keep (dock_batch.clh), leaves the best poses of a ligand only.
//
// NumPy twin: ligen_py/engine/docking/reference.py.

#include "dock_batch.clh"
#include "search.clh"

#ifndef WG_SUB_GROUPS
#define WG_SUB_GROUPS 1  // sub-groups in a work-group
#endif

// Field sum of the whole ligand after a rigid motion.
static inline int sum_of_all(const problem_t ligand,
                             FIELD field,
                             __local const float4 *atoms,
                             affine_t motion) {
  return field_sum(field, atoms, 0, ligand.atoms, motion);
}

// Field sum of one fragment after a rigid motion.
static inline int sum_of_fragment(const problem_t ligand,
                                  FIELD field,
                                  __local const float4 *atoms,
                                  torsion_t torsion,
                                  int near_side,
                                  affine_t motion) {
  if (!near_side) return field_sum(field, atoms, torsion.heavy_first, torsion.heavy_last, motion);
  return field_sum(field, atoms, 0, torsion.heavy_first, motion) +
         field_sum(field, atoms, torsion.heavy_last, ligand.atoms, motion);
}

// Does turning one side of the bond against the other bring any pair of atoms across it too
// near? Lanes share the side with more atoms (the near one if equal), and that side moves:
// rotating one side is rotating the other backwards. Where it has few atoms several lanes share
// one, each with a part of the side that rests.
static inline int bumps_across(sg_t sg,
                               const problem_t ligand,
                               __local const float4 *atoms,
                               torsion_t torsion,
                               int far_moves,
                               affine_t motion) {
  const int first = torsion.heavy_first, last = torsion.heavy_last;
  const int count = far_moves ? last - first : ligand.atoms - (last - first);
  const int width = min(SG_SIZE, count > 16 ? SG_SIZE : count > 8 ? 16 : count > 4 ? 8 : 4);
  const int part = sg.lane / width, step = SG_SIZE / width;
  int found = 0;
  for (int n = sg.lane % width; n < count; n += SG_SIZE) {
    const int j = far_moves ? first + n : n < first ? n : n + last - first;
    const float4 p = transform(motion, atoms[j]);
    if (far_moves) {
      found |= bumps_into(ligand, atoms, j, p, part, first, step);
      found |= bumps_into(ligand, atoms, j, p, last + part, ligand.atoms, step);
    } else {
      found |= bumps_into(ligand, atoms, j, p, first + part, last, step);
    }
  }
  return sg_any(sg, found);
}

// Rigid alignment: per round the best rotation about x, y and z, then the best of 27 shifts.
static inline void align(sg_t sg,
                         const problem_t ligand,
                         FIELD field,
                         __local float4 *atoms,
                         __global const float4 *angles,
                         float2 steps,
                         float4 *q,
                         float4 *t) {
  for (int round = 0; round < 2; round++) {
    for (int axis = 0; axis < 3; axis++) {
      const float4 d = (float4)(axis == 0, axis == 1, axis == 2, 0.0f);
      int key = NO_KEY;
      for (int a = sg.lane; a < N_ANGLES; a += SG_SIZE) {
        const affine_t motion = rotation(d, angles[a].x, angles[a].y, *t);
        key = max(key, key_of(sum_of_all(ligand, field, atoms, motion), a));
      }
      const float4 angle = angles[candidate_of(sg_max(sg, key))];
      move_all(sg, atoms, ligand.atoms, rotation(d, angle.x, angle.y, *t));
      *q = quaternion_product((float4)(d.x * angle.w, d.y * angle.w, d.z * angle.w, angle.z), *q);
    }
    const float step = round == 0 ? steps.x : steps.y;
    affine_t motion = rigid((float4)(0.0f, 0.0f, 0.0f, 1.0f), (float4)(0.0f));
    int key = NO_KEY;
    for (int c = sg.lane; c < 27; c += SG_SIZE) {
      const int m = (c + 13) % 27;  // candidate 0 is no shift
      motion.x.w = step * (float)(m / 9 - 1);
      motion.y.w = step * (float)(m / 3 % 3 - 1);
      motion.z.w = step * (float)(m % 3 - 1);
      key = max(key, key_of(sum_of_all(ligand, field, atoms, motion), c));
    }
    const int m = (candidate_of(sg_max(sg, key)) + 13) % 27;
    motion.x.w = step * (float)(m / 9 - 1);
    motion.y.w = step * (float)(m / 3 % 3 - 1);
    motion.z.w = step * (float)(m % 3 - 1);
    move_all(sg, atoms, ligand.atoms, motion);
    t->x += motion.x.w;
    t->y += motion.y.w;
    t->z += motion.z.w;
  }
}

// Turn one fragment to its best angle without an internal bump; returns nothing but moves atoms,
// `turns`, and, when the fragment is the near side (it holds the root), the rigid motion. Of the
// BUMP_TESTS best angles the first without a bump wins; if all bump, the fragment stays.
static inline void optimize(sg_t sg,
                            const problem_t ligand,
                            FIELD field,
                            __local float4 *atoms,
                            __local uchar *turns,
                            __global const float4 *angles,
                            int fragment,
                            int clean,
                            float4 *q,
                            float4 *t) {
  const int n = fragment >> 1;
  const int near_side = fragment & 1;
  const torsion_t torsion = ligand.torsion[n];
  const float4 pivot = atoms[torsion.near];
  const float4 d = bond_direction(atoms, torsion, ligand.inverse_length[n]);

  int keys[KEYS];
  for (int k = 0; k < KEYS; k++) {
    const int a = k * SG_SIZE + sg.lane;
    keys[k] = NO_KEY;
    if (a < N_ANGLES) {
      const affine_t motion = rotation(d, angles[a].x, angles[a].y, pivot);
      keys[k] = key_of(sum_of_fragment(ligand, field, atoms, torsion, near_side, motion), a);
    }
  }

  const int far_moves = 2 * (torsion.heavy_last - torsion.heavy_first) > ligand.atoms;
  int chosen = 0;
  for (int tests = 0; tests < BUMP_TESTS; tests++) {
    int mine = NO_KEY;
    for (int k = 0; k < KEYS; k++) mine = max(mine, keys[k]);
    const int best = sg_max(sg, mine);
    if (best == NO_KEY) break;
    const int a = candidate_of(best);
    if (a == 0 && clean) break;
    const float4 angle = angles[far_moves == near_side ? (N_ANGLES - a) % N_ANGLES : a];
    const affine_t motion = rotation(d, angle.x, angle.y, pivot);
    if (!bumps_across(sg, ligand, atoms, torsion, far_moves, motion)) {
      chosen = a;
      break;
    }
    for (int k = 0; k < KEYS; k++)
      if (keys[k] == best) keys[k] = NO_KEY;
  }
  if (chosen == 0) return;

  const float4 angle = angles[chosen];
  const affine_t motion = rotation(d, angle.x, angle.y, pivot);
  sg_sync(sg);
  for (int i = sg.lane; i < ligand.atoms; i += SG_SIZE)
    if (is_far(torsion, i) != near_side) atoms[i] = transform(motion, atoms[i]);
  if (sg.lane == 0)
    turns[n] = (uchar)((turns[n] + (near_side ? N_ANGLES - chosen : chosen)) % N_ANGLES);
  sg_sync(sg);
  if (near_side) {
    *q = quaternion_product((float4)(d.x * angle.w, d.y * angle.w, d.z * angle.w, angle.z), *q);
    *t = transform(motion, *t);
  }
}

KERNEL void dock(
    int ligand_count,
    int num_restart,
    int num_iterations,
    int splits,
    float2 steps,
    int4 box,  // last point inside the box along x, y, z
    FIELD field,
    __global const float4 *angles,          // N_ANGLES: cos, sin, cos of half, sin of half
    __global const float4 *start_rotation,  // a restart: quaternion x, y, z, w
    __global const float4 *start_position,  // a restart: anchor
    __global const uchar *start_turns,      // a restart: MAX_TORSIONS angle steps
    __global const dock_ligand_t *ligands,
    __global const float4 *conformers,
    __global const torsion_t *torsions,
    __global const float *inverse_lengths,
    __global const short *orders,
    __global const uint *pairs,
    __global int4 *results,        // a pose: score, internal bumps, pocket bumps, atoms outside
    __global float4 *quaternions,  // a pose
    __global float4 *shifts,       // a pose
    __global uchar *all_turns)     // a pose: one byte a torsion of its ligand
{
  SG_SETUP(sg);
  __local float4 all_atoms[WG_SUB_GROUPS * MAX_ATOMS];
  __local uchar all_working_turns[WG_SUB_GROUPS * MAX_TORSIONS];
  __local float4 *atoms = all_atoms + sg.index * MAX_ATOMS;
  __local uchar *turns = all_working_turns + sg.index * MAX_TORSIONS;

  const int number = sg.item / splits;
  if (number >= ligand_count) return;
  const dock_ligand_t l = ligands[number];
  const problem_t ligand = problem_of(l, conformers, torsions, inverse_lengths, orders, pairs);

  for (int restart = sg.item % splits; restart < num_restart; restart += splits) {
    float4 q = start_rotation[restart];
    float4 t = start_position[restart];
    for (int n = sg.lane; n < ligand.torsions; n += SG_SIZE)
      turns[n] = start_turns[restart * MAX_TORSIONS + n];
    sg_sync(sg);
    build_pose(sg, ligand, atoms, turns, angles, q, t);
    align(sg, ligand, field, atoms, angles, steps, &q, &t);

    int clean = 0;
    for (int iteration = 0; iteration < num_iterations; iteration++) {
      // A pose without bumps keeps none, because only unbumped angles are taken.
      if (!clean) clean = count_bumps(sg, ligand, atoms) == 0;
      for (int f = 0; f < 2 * ligand.torsions; f++)
        optimize(sg, ligand, field, atoms, turns, angles, ligand.order[f], clean, &q, &t);
    }

    q = quaternion_normalised(q);
    build_pose(sg, ligand, atoms, turns, angles, q, t);
    int4 result = in_field(sg, ligand, field, box, atoms);
    result.y = count_bumps(sg, ligand, atoms);
    const int pose = number * num_restart + restart;
    if (sg.lane == 0) {
      results[pose] = result;
      quaternions[pose] = q;
      shifts[pose] = t;
    }
    for (int n = sg.lane; n < ligand.torsions; n += SG_SIZE)
      all_turns[l.first_torsion * num_restart + restart * ligand.torsions + n] = turns[n];
    sg_sync(sg);
  }
}
