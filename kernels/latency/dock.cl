// LiGen's Algorithm 1 (Crisci et al. 2024) for one ligand over the whole device, a launch a stage.
//
// Each restart has a work-group of TEAM sub-groups. Lanes are candidates (angles or shifts), as in
// batched/dock.cl, and each sub-group of a team sums over its part of the atoms. Field sums are
// integers, so the sum of a team in local memory equals that of a single sub-group.
//
//   launch:      initialize_pose  align  optimize  evaluate  score     of one ligand, in order
//   work-group:  one restart      one restart ...
//   sub-group:   all              1/TEAM of the atoms (align, optimize); else the only one
//
// `optimize` rotates all fragments in all iterations, in one launch. The paper's form is included
// too (BY_FRAGMENT): `optimize_1` tries the angles of one fragment, `optimize_2` takes the best one
// without an internal bump. It needs two launches a fragment, and the host is then slower than the
// device (benchmarks/throughput.py --launches fragment).
//
// Between launches, coordinates (box units, field.clh) are in `places`, MAX_ATOMS a restart. The
// poses of a ligand are one block, which is copied to the host (`poses_t`); the ligand itself is
// one block from the host (`problem_of`).
//
// NumPy twin: ligen_py/engine/docking/reference.py.

#ifndef TEAM
#define TEAM 1  // sub-groups of a work-group
#endif

#ifndef BY_FRAGMENT
#define BY_FRAGMENT 0  // 1: optimize_1 and optimize_2 instead of optimize
#endif

#include "search.clh"

#define HEADER 8  // words before a ligand's coordinates

// One ligand as 32-bit words: atoms, torsions, words of a row of pairs, 5 unused;
// conformer, torsions, inverse lengths, order, pairs.
static inline problem_t problem_of(__global const int *words) {
  const int atoms = words[0], torsions = words[1];
  __global const int *torsion = words + HEADER + 4 * atoms;
  __global const int *inverse_length = torsion + 4 * torsions;
  __global const int *order = inverse_length + torsions;
  const problem_t ligand = {atoms,
                            torsions,
                            words[2],
                            (__global const float4 *)(words + HEADER),
                            (__global const torsion_t *)torsion,
                            (__global const float *)inverse_length,
                            (__global const short *)order,
                            (__global const uint *)(order + torsions)};
  return ligand;
}

// All poses of a ligand, one for each restart.
typedef struct {
  __global int4 *results;  // score, internal bumps, pocket bumps, atoms outside
  __global float4 *quaternions, *shifts;
  __global uchar *turns;  // one byte a torsion of the ligand
} poses_t;

static inline poses_t poses_of(__global float4 *block, int num_restart) {
  const poses_t poses = {(__global int4 *)block, block + num_restart, block + 2 * num_restart,
                         (__global uchar *)(block + 3 * num_restart)};
  return poses;
}

static inline void team_sync(sg_t sg) {
#if TEAM > 1
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  sg_sync(sg);
#endif
}

static inline int team_any(sg_t sg, __local int *board, int value) {
  int found = sg_any(sg, value);
#if TEAM > 1
  if (sg.lane == 0) board[sg.index] = found;
  team_sync(sg);
  for (int member = 0; member < TEAM; member++) found |= board[member];
  team_sync(sg);
#endif
  return found;
}

// Every candidate's sum over the team, from the sums over the parts.
static inline void team_sums(sg_t sg, __local int *board, int *sums) {
#if TEAM > 1
  for (int k = 0; k < KEYS; k++) board[(sg.index * KEYS + k) * SG_SIZE + sg.lane] = sums[k];
  team_sync(sg);
  for (int k = 0; k < KEYS; k++) {
    sums[k] = 0;
    for (int member = 0; member < TEAM; member++)
      sums[k] += board[(member * KEYS + k) * SG_SIZE + sg.lane];
  }
  team_sync(sg);
#endif
}

// This sub-group's share of some ranges of atoms, numbered from the first one on.
typedef struct {
  int first, last;
} share_t;

static inline share_t share_of(sg_t sg, int count) {
  const share_t share = {count * sg.index / TEAM, count * (sg.index + 1) / TEAM};
  return share;
}

// The part of the next range, first <= i < last, that belongs to this share.
static inline share_t next_range(share_t *share, int first, int last) {
#if TEAM == 1
  const share_t all = {first, last};
  return all;
#else
  const int size = last - first;
  const share_t part = {first + clamp(share->first, 0, size), first + clamp(share->last, 0, size)};
  share->first -= size;
  share->last -= size;
  return part;
#endif
}

static inline int share_sum(FIELD field,
                            __local const float4 *atoms,
                            int first,
                            int last,
                            affine_t motion,
                            share_t *share) {
  const share_t part = next_range(share, first, last);
  return field_sum(field, atoms, part.first, part.last, motion);
}

// Field sum of this sub-group's share of the whole ligand after a rigid motion.
static inline int sum_of_all(
    sg_t sg, const problem_t ligand, FIELD field, __local const float4 *atoms, affine_t motion) {
  share_t share = share_of(sg, ligand.atoms);
  return share_sum(field, atoms, 0, ligand.atoms, motion, &share);
}

// Best of `count` candidates, as its key in every lane.
static inline int best_of(sg_t sg, const int *sums, int count) {
  int key = NO_KEY;
  for (int k = 0; k < KEYS; k++) {
    const int candidate = k * SG_SIZE + sg.lane;
    if (candidate < count) key = max(key, key_of(sums[k], candidate));
  }
  return sg_max(sg, key);
}

static inline void team_move(sg_t sg,
                             __local float4 *atoms,
                             const problem_t ligand,
                             affine_t motion) {
  for (int i = sg.index * SG_SIZE + sg.lane; i < ligand.atoms; i += TEAM * SG_SIZE)
    atoms[i] = transform(motion, atoms[i]);
  team_sync(sg);
}

// One of the 27 shifts of the alignment; candidate 0 is none.
static inline affine_t shift_of(int candidate, float step) {
  const int m = (candidate + 13) % 27;
  return rigid((float4)(0.0f, 0.0f, 0.0f, 1.0f),
               (float4)(step * (float)(m / 9 - 1), step * (float)(m / 3 % 3 - 1),
                        step * (float)(m % 3 - 1), 0.0f));
}

// One side of a rotatable bond, and the axis of its rotation.
typedef struct {
  torsion_t torsion;
  int number, near_side;
  float4 pivot, direction;
} fragment_t;

// Filled in place, because Oclgrind cannot run code that returns a struct inside a loop.
static inline void set_fragment(const problem_t ligand,
                                __local const float4 *atoms,
                                int f,
                                fragment_t *fragment) {
  const int code = ligand.order[f];
  fragment->number = code >> 1;
  fragment->near_side = code & 1;
  fragment->torsion = ligand.torsion[code >> 1];
  fragment->pivot = atoms[fragment->torsion.near];
  fragment->direction = bond_direction(atoms, fragment->torsion, ligand.inverse_length[code >> 1]);
}

static inline affine_t turn_of(const fragment_t fragment, float4 angle) {
  return rotation(fragment.direction, angle.x, angle.y, fragment.pivot);
}

// The paper's optimize_1: the field sums of a fragment at all angles.
static inline void scan(sg_t sg,
                        __local int *board,
                        const problem_t ligand,
                        FIELD field,
                        __local const float4 *atoms,
                        __global const float4 *angles,
                        const fragment_t fragment,
                        int *sums) {
  const torsion_t t = fragment.torsion;
  const int far = t.heavy_last - t.heavy_first;
  for (int k = 0; k < KEYS; k++) {
    const int a = k * SG_SIZE + sg.lane;
    sums[k] = 0;
    if (a >= N_ANGLES) continue;
    const affine_t motion = turn_of(fragment, angles[a]);
    share_t share = share_of(sg, fragment.near_side ? ligand.atoms - far : far);
    if (fragment.near_side) {
      sums[k] += share_sum(field, atoms, 0, t.heavy_first, motion, &share);
      sums[k] += share_sum(field, atoms, t.heavy_last, ligand.atoms, motion, &share);
    } else {
      sums[k] += share_sum(field, atoms, t.heavy_first, t.heavy_last, motion, &share);
    }
  }
  team_sums(sg, board, sums);
}

// Does a rotation bring any pair of atoms across the bond too near? Lanes share the moving
// side; if it is small, several lanes of every sub-group share one atom, each with a part of the
// resting side.
static inline int bumps_across(sg_t sg,
                               __local int *board,
                               const problem_t ligand,
                               __local const float4 *atoms,
                               torsion_t torsion,
                               int far_moves,
                               affine_t motion) {
  const int first = torsion.heavy_first, last = torsion.heavy_last;
  const int count = far_moves ? last - first : ligand.atoms - (last - first);
  const int width = min(SG_SIZE, count > 16 ? SG_SIZE : count > 8 ? 16 : count > 4 ? 8 : 4);
  const int part = sg.lane / width * TEAM + sg.index, step = SG_SIZE / width * TEAM;
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
  return team_any(sg, board, found);
}

// Is the ligand free of internal bumps?
static inline int is_clean(sg_t sg,
                           __local int *board,
                           const problem_t ligand,
                           __local const float4 *atoms) {
  int found = 0;
  for (int j = sg.lane; j < ligand.atoms; j += SG_SIZE)
    found |= bumps_into(ligand, atoms, j, atoms[j], sg.index, ligand.atoms, TEAM);
  return !team_any(sg, board, found);
}

// The paper's optimize_2: of the BUMP_TESTS best angles the first without a bump, else 0. The side
// with more atoms moves: rotating one side is rotating the other backwards.
static inline int choose(sg_t sg,
                         __local int *board,
                         const problem_t ligand,
                         __local const float4 *atoms,
                         __global const float4 *angles,
                         const fragment_t fragment,
                         const int *sums,
                         int clean) {
  const torsion_t torsion = fragment.torsion;
  const int far_moves = 2 * (torsion.heavy_last - torsion.heavy_first) > ligand.atoms;
  int bound = INT_MAX;
  for (int tests = 0; tests < BUMP_TESTS; tests++) {
    int key = NO_KEY;
    for (int k = 0; k < KEYS; k++) {
      const int a = k * SG_SIZE + sg.lane;
      const int mine = key_of(sums[k], a);
      if (a < N_ANGLES && mine < bound) key = max(key, mine);
    }
    bound = sg_max(sg, key);
    if (bound == NO_KEY) break;
    const int a = candidate_of(bound);
    if (a == 0 && clean) break;
    const affine_t motion =
        turn_of(fragment, angles[far_moves == fragment.near_side ? (N_ANGLES - a) % N_ANGLES : a]);
    if (!bumps_across(sg, board, ligand, atoms, torsion, far_moves, motion)) return a;
  }
  return 0;
}

// Rotate a fragment to angle `chosen`: its atoms, its torsion, and the rigid motion if it contains
// the root.
static inline void turn(sg_t sg,
                        const problem_t ligand,
                        __local float4 *atoms,
                        __local uchar *turns,
                        __global const float4 *angles,
                        const fragment_t fragment,
                        int chosen,
                        float4 *q,
                        float4 *t) {
  if (chosen == 0) return;
  const float4 angle = angles[chosen], d = fragment.direction;
  const affine_t motion = turn_of(fragment, angle);
  const int me = sg.index * SG_SIZE + sg.lane, n = fragment.number;
  team_sync(sg);
  for (int i = me; i < ligand.atoms; i += TEAM * SG_SIZE)
    if (is_far(fragment.torsion, i) != fragment.near_side) atoms[i] = transform(motion, atoms[i]);
  if (me == 0)
    turns[n] = (uchar)((turns[n] + (fragment.near_side ? N_ANGLES - chosen : chosen)) % N_ANGLES);
  team_sync(sg);
  if (fragment.near_side) {
    *q = quaternion_product((float4)(d.x * angle.w, d.y * angle.w, d.z * angle.w, angle.z), *q);
    *t = transform(motion, *t);
  }
}

// The barrier also separates a team's reads of its pose from its later writes.
static inline void load(sg_t sg,
                        const problem_t ligand,
                        __global const float4 *places,
                        __local float4 *atoms) {
  for (int i = sg.index * SG_SIZE + sg.lane; i < ligand.atoms; i += TEAM * SG_SIZE)
    atoms[i] = places[i];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

static inline void store(sg_t sg,
                         const problem_t ligand,
                         __local const float4 *atoms,
                         __global float4 *places) {
  for (int i = sg.index * SG_SIZE + sg.lane; i < ligand.atoms; i += TEAM * SG_SIZE)
    places[i] = atoms[i];
}

// Starting poses.
KERNEL void initialize_pose(
    int num_restart,
    __global const float4 *angles,          // N_ANGLES: cos, sin, cos of half, sin of half
    __global const float4 *start_rotation,  // a restart: quaternion x, y, z, w
    __global const float4 *start_position,  // a restart: anchor
    __global const uchar *start_turns,      // a restart: MAX_TORSIONS angle steps
    __global const int *words,              // the ligand
    __global float4 *places,                // a restart: MAX_ATOMS coordinates
    __global float4 *block)                 // its poses
{
  SG_SETUP(sg);
  __local float4 atoms[MAX_ATOMS];
  __local uchar turns[MAX_TORSIONS];
  const int restart = get_group_id(0);
  const problem_t ligand = problem_of(words);
  const poses_t poses = poses_of(block, num_restart);

  for (int n = sg.lane; n < ligand.torsions; n += SG_SIZE) {
    turns[n] = start_turns[restart * MAX_TORSIONS + n];
    poses.turns[restart * ligand.torsions + n] = turns[n];
  }
  sg_sync(sg);
  const float4 q = start_rotation[restart], t = start_position[restart];
  build_pose(sg, ligand, atoms, turns, angles, q, t);
  for (int i = sg.lane; i < ligand.atoms; i += SG_SIZE) places[restart * MAX_ATOMS + i] = atoms[i];
  if (sg.lane == 0) {
    poses.quaternions[restart] = q;
    poses.shifts[restart] = t;
  }
}

// Rigid alignment: per round the best rotation about x, y and z, then the best of 27 shifts.
KERNEL void align(int num_restart,
                  float2 steps,  // of the shifts, a round each
                  FIELD field,
                  __global const float4 *angles,
                  __global const int *words,
                  __global float4 *places,
                  __global float4 *block) {
  SG_SETUP(sg);
  __local float4 atoms[MAX_ATOMS];
  __local int board[TEAM * KEYS * SG_SIZE];
  const int restart = get_group_id(0);
  const problem_t ligand = problem_of(words);
  const poses_t poses = poses_of(block, num_restart);
  float4 q = poses.quaternions[restart], t = poses.shifts[restart];
  load(sg, ligand, places + restart * MAX_ATOMS, atoms);

  for (int round = 0; round < 2; round++) {
    int sums[KEYS];
    for (int axis = 0; axis < 3; axis++) {
      const float4 d = (float4)(axis == 0, axis == 1, axis == 2, 0.0f);
      for (int k = 0; k < KEYS; k++) {
        const float4 angle = angles[min(k * SG_SIZE + sg.lane, N_ANGLES - 1)];
        sums[k] = sum_of_all(sg, ligand, field, atoms, rotation(d, angle.x, angle.y, t));
      }
      team_sums(sg, board, sums);
      const float4 angle = angles[candidate_of(best_of(sg, sums, N_ANGLES))];
      team_move(sg, atoms, ligand, rotation(d, angle.x, angle.y, t));
      q = quaternion_product((float4)(d.x * angle.w, d.y * angle.w, d.z * angle.w, angle.z), q);
    }
    const float step = round == 0 ? steps.x : steps.y;
    for (int k = 0; k < KEYS; k++)
      sums[k] =
          sum_of_all(sg, ligand, field, atoms, shift_of(min(k * SG_SIZE + sg.lane, 26), step));
    team_sums(sg, board, sums);
    const affine_t motion = shift_of(candidate_of(best_of(sg, sums, 27)), step);
    team_move(sg, atoms, ligand, motion);
    t.x += motion.x.w;
    t.y += motion.y.w;
    t.z += motion.z.w;
  }

  store(sg, ligand, atoms, places + restart * MAX_ATOMS);
  if (sg.index == 0 && sg.lane == 0) {
    poses.quaternions[restart] = q;
    poses.shifts[restart] = t;
  }
}

#if !BY_FRAGMENT

// Every fragment in turn, `num_iterations` times: `scan` and `choose`.
KERNEL void optimize(int num_restart,
                     int num_iterations,
                     FIELD field,
                     __global const float4 *angles,
                     __global const int *words,
                     __global const float4 *places,
                     __global float4 *block) {
  SG_SETUP(sg);
  __local float4 atoms[MAX_ATOMS];
  __local uchar turns[MAX_TORSIONS];
  __local int board[TEAM * KEYS * SG_SIZE];
  const int restart = get_group_id(0), me = sg.index * SG_SIZE + sg.lane;
  const problem_t ligand = problem_of(words);
  const poses_t poses = poses_of(block, num_restart);
  for (int n = me; n < ligand.torsions; n += TEAM * SG_SIZE)
    turns[n] = poses.turns[restart * ligand.torsions + n];
  float4 q = poses.quaternions[restart], t = poses.shifts[restart];
  load(sg, ligand, places + restart * MAX_ATOMS, atoms);

  int clean = 0;
  for (int iteration = 0; iteration < num_iterations; iteration++) {
    // A pose without bumps stays without, because only angles without bumps are chosen.
    if (!clean) clean = is_clean(sg, board, ligand, atoms);
    for (int f = 0; f < 2 * ligand.torsions; f++) {
      fragment_t fragment;
      set_fragment(ligand, atoms, f, &fragment);
      int sums[KEYS];
      scan(sg, board, ligand, field, atoms, angles, fragment, sums);
      const int chosen = choose(sg, board, ligand, atoms, angles, fragment, sums, clean);
      turn(sg, ligand, atoms, turns, angles, fragment, chosen, &q, &t);
    }
  }

  for (int n = me; n < ligand.torsions; n += TEAM * SG_SIZE)
    poses.turns[restart * ligand.torsions + n] = turns[n];
  if (me == 0) {
    poses.quaternions[restart] = q;
    poses.shifts[restart] = t;
  }
}

#else

// One fragment, first half: its field sums at all angles.
KERNEL void optimize_1(int step,  // iteration * fragments + fragment
                       FIELD field,
                       __global const float4 *angles,
                       __global const int *words,
                       __global const float4 *places,
                       __global int *sums)  // a restart: N_ANGLES
{
  SG_SETUP(sg);
  __local float4 atoms[MAX_ATOMS];
  __local int board[TEAM * KEYS * SG_SIZE];
  const int restart = get_group_id(0);
  const problem_t ligand = problem_of(words);
  load(sg, ligand, places + restart * MAX_ATOMS, atoms);

  int mine[KEYS];
  fragment_t fragment;
  set_fragment(ligand, atoms, step % (2 * ligand.torsions), &fragment);
  scan(sg, board, ligand, field, atoms, angles, fragment, mine);
  for (int k = 0; k < KEYS; k++) {
    const int a = k * SG_SIZE + sg.lane;
    if (sg.index == 0 && a < N_ANGLES) sums[restart * N_ANGLES + a] = mine[k];
  }
}

// One fragment, second half: the best angle without an internal bump.
KERNEL void optimize_2(int step,
                       int num_restart,
                       __global const float4 *angles,
                       __global const int *words,
                       __global const int *sums,
                       __global int *clean,  // a restart: no internal bump when the sweep began
                       __global float4 *places,
                       __global float4 *block) {
  SG_SETUP(sg);
  __local float4 atoms[MAX_ATOMS];
  __local uchar turns[MAX_TORSIONS];
  __local int board[TEAM * KEYS * SG_SIZE];
  const int restart = get_group_id(0), me = sg.index * SG_SIZE + sg.lane;
  const problem_t ligand = problem_of(words);
  const poses_t poses = poses_of(block, num_restart);
  for (int n = me; n < ligand.torsions; n += TEAM * SG_SIZE)
    turns[n] = poses.turns[restart * ligand.torsions + n];
  float4 q = poses.quaternions[restart], t = poses.shifts[restart];
  const int f = step % (2 * ligand.torsions);
  int clear = step > 0 && clean[restart];
  load(sg, ligand, places + restart * MAX_ATOMS, atoms);
  if (f == 0 && !clear) clear = is_clean(sg, board, ligand, atoms);

  int mine[KEYS];
  for (int k = 0; k < KEYS; k++)
    mine[k] = sums[restart * N_ANGLES + min(k * SG_SIZE + sg.lane, N_ANGLES - 1)];
  fragment_t fragment;
  set_fragment(ligand, atoms, f, &fragment);
  const int chosen = choose(sg, board, ligand, atoms, angles, fragment, mine, clear);
  turn(sg, ligand, atoms, turns, angles, fragment, chosen, &q, &t);

  store(sg, ligand, atoms, places + restart * MAX_ATOMS);
  for (int n = me; n < ligand.torsions; n += TEAM * SG_SIZE)
    poses.turns[restart * ligand.torsions + n] = turns[n];
  team_sync(sg);
  if (me == 0) {
    clean[restart] = clear;
    poses.quaternions[restart] = q;
    poses.shifts[restart] = t;
  }
}

#endif

// The part that does not depend on the pocket: unit quaternions, coordinates, internal bumps.
KERNEL void evaluate(int num_restart,
                     __global const float4 *angles,
                     __global const int *words,
                     __global float4 *places,
                     __global float4 *block) {
  SG_SETUP(sg);
  __local float4 atoms[MAX_ATOMS];
  __local uchar turns[MAX_TORSIONS];
  const int restart = get_group_id(0);
  const problem_t ligand = problem_of(words);
  const poses_t poses = poses_of(block, num_restart);
  for (int n = sg.lane; n < ligand.torsions; n += SG_SIZE)
    turns[n] = poses.turns[restart * ligand.torsions + n];
  const float4 q = quaternion_normalised(poses.quaternions[restart]);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

  build_pose(sg, ligand, atoms, turns, angles, q, poses.shifts[restart]);
  const int bumps = count_bumps(sg, ligand, atoms);
  for (int i = sg.lane; i < ligand.atoms; i += SG_SIZE) places[restart * MAX_ATOMS + i] = atoms[i];
  if (sg.lane == 0) {
    poses.quaternions[restart] = q;
    poses.results[restart].y = bumps;
  }
}

// The pose in the pocket's field: score, pocket bumps, atoms outside.
KERNEL void score(int num_restart,
                  int4 box,  // last point inside the box along x, y, z
                  FIELD field,
                  __global const int *words,
                  __global const float4 *places,
                  __global float4 *block) {
  SG_SETUP(sg);
  __local float4 atoms[MAX_ATOMS];
  const int restart = get_group_id(0);
  const problem_t ligand = problem_of(words);
  const poses_t poses = poses_of(block, num_restart);
  for (int i = sg.lane; i < ligand.atoms; i += SG_SIZE) atoms[i] = places[restart * MAX_ATOMS + i];
  sg_sync(sg);
  int4 result = in_field(sg, ligand, field, box, atoms);
  if (sg.lane == 0) {
    result.y = poses.results[restart].y;
    poses.results[restart] = result;
  }
}
