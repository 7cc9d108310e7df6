// refine: each kept pose becomes the best of a chain of local minima in a field with intramolecular
// terms. One sub-group a pose; lane = some of its atoms and degrees of freedom.
//
// A chain: descend from the pose; then, `rounds` times, change the position, the orientation or one
// torsion at random, descend, and go on from there if it is better (or, by Metropolis, not much
// worse). Descents are BFGS with a dense inverse Hessian, counted in evaluations. Random numbers
// are a function of the ligand's content, the pose's restart and the round alone.
//
//   work-group   |  an item: poses first .. last - 1 of one ligand  | ...
//   sub-group    pose first + its number, then SG_TOGETHER further, ...
//
// Sub-groups that go together, as parts of an NVIDIA warp, have poses of one ligand and share a
// control flow: one evaluation after the other, whatever chain, round and step each is at. What
// happens to some only is a masked update. So few lanes are idle where a ligand is small.
//
// Energies and gradients, and the macro FIELD that says of which field: energy.clh.
//
// NumPy twin: ligen_py/engine/refinement/reference.py.

#include "descent.clh"
#include "energy.clh"
#include "heat.clh"
#include "random.clh"

// Columns of the inverse Hessian belong to the lanes of their degrees of freedom. They are in
// registers where there are few, else in local memory, of which a GPU may have no more than 48 KB:
// so lanes without a degree of freedom share a column, of zeros.
#ifndef HESSIAN_IN_REGISTERS
#define HESSIAN_IN_REGISTERS (OWN * MAX_FREEDOMS <= 16)
#endif
#define HESSIAN_ROWS ROUNDED(MAX_FREEDOMS)
#if HESSIAN_IN_REGISTERS
#define HESSIAN_NUMBERS 0
#define H(w, k, row) (w)->hessian[k][row]
#else
#define HESSIAN_COLUMNS (MAX_FREEDOMS < FREEDOMS ? MAX_FREEDOMS + 1 : FREEDOMS)
#define HESSIAN_NUMBERS ROUNDED(HESSIAN_ROWS *HESSIAN_COLUMNS)
#define H(w, k, row) \
  (w)->hessian[(row) * HESSIAN_COLUMNS + ((k) < OWN - 1 ? (k) * SG_SIZE : (w)->last)]
#endif

// Local memory of a pose: that of its energy; three vectors of a descent; the pose that the chain
// has reached, its orientation behind; the inverse Hessian. A sub-group's memory begins in the bank
// behind the last one that its neighbour reads with it.
#define AT_DESCENT ENERGY_NUMBERS
#define AT_PRESENT (AT_DESCENT + 3 * FREEDOMS)
#define AT_HESSIAN (AT_PRESENT + FREEDOMS + 4)
#define ALL_NUMBERS (AT_HESSIAN + HESSIAN_NUMBERS)
#define NUMBERS_APART \
  (SG_TOGETHER > 1 ? (ALL_NUMBERS - SG_SIZE + 31) / 32 * 32 + SG_SIZE : ALL_NUMBERS)

// A descent. A lane has its degrees of freedom; other numbers are the same for all lanes.
typedef struct {
  float scale[OWN];  // squared unit of a degree of freedom: it moves atoms by about an Angstrom
  float gradient[OWN], direction[OWN];
  float energy, slope, step;
#if HESSIAN_IN_REGISTERS
  float hessian[OWN][HESSIAN_ROWS];
#else
  __local float *hessian;  // from the lane's first column on
  int last;                // how far behind it the last one is
#endif
} descent_t;

#define PLACE(p, i) three((p)->room, RING, i)
#define CENTER(p) three((p)->room + AT_VECTORS, 1, 0)
#include "metric.clh"

// What update() is told about an evaluation.
typedef struct {
  int start;  // a descent begins: the step was the random change before it
  int first;  // it is the first step of the descent that may be accepted
} stage_t;

// After an evaluation: accept the step or not, update the inverse Hessian by it (BFGS; the first
// step also sets its size), and choose the next direction, -H g, and step. `part` is the lane's
// part of the energy, `slope` the gradient at the end of the step. Returns whether it is accepted.
//
// H y is H g - H g_before, and the second product is the direction: so there is one product, and
// all sums that follow, the next slope too, are made of sums at its end.
static int update(sg_t sg,
                  int count,
                  descent_t *w,
                  __local float *room,
                  stage_t stage,
                  float part,
                  const float *slope,
                  float *found) {
  __local float *new_gradient = room, *steps = room + FREEDOMS, *changes = room + 2 * FREEDOMS;
#pragma unroll
  for (int k = 0; k < OWN; k++) new_gradient[k * SG_SIZE + sg.lane] = slope[k];
  sg_sync(sg);
  float along[OWN];  // H g
#pragma unroll
  for (int k = 0; k < OWN; k++) along[k] = 0.0f;
#pragma unroll
  for (int row = 0; row < HESSIAN_ROWS; row += 4) {
    if (row < count) {
      const float4 g = *(__local const float4 *)(new_gradient + row);
#pragma unroll
      for (int k = 0; k < OWN; k++)
        along[k] = fma(H(w, k, row), g.x,
                       fma(H(w, k, row + 1), g.y,
                           fma(H(w, k, row + 2), g.z, fma(H(w, k, row + 3), g.w, along[k]))));
    }
  }
  // Energy; s y, y H y, s g, y H g, g H g.
  float sums[6] = {part, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
  for (int k = 0; k < OWN; k++) {
    const float g = slope[k], y = g - w->gradient[k], s = w->step * w->direction[k];
    const float hy = along[k] + w->direction[k];
    sums[1] = fma(s, y, sums[1]);
    sums[2] = fma(hy, y, sums[2]);
    sums[3] = fma(s, g, sums[3]);
    sums[4] = fma(hy, g, sums[4]);
    sums[5] = fma(along[k], g, sums[5]);
  }
  sg_sum_floats(sg, sums, 6);

  const float reached = *found = sums[0];
  const int accepted = stage.start || goes_down(reached, w->energy, w->slope, w->step);
  const int learns = accepted && !stage.start && sums[1] > 1e-6f;
  const float size = learns && stage.first ? sums[1] / sums[2] : 1.0f;
  const float rise = sums[3], hyg = size * sums[4], ghg = size * sums[5];
  const float inverse = learns ? 1.0f / sums[1] : 0.0f;
  const float factor = learns ? fma(size * sums[2], inverse, 1.0f) * inverse : 0.0f;
  // The next direction is -(H g + s times `of_step` - H y times `of_change`).
  const float of_step = learns ? fma(factor, rise, -(inverse * hyg)) : 0.0f;
  const float of_change = learns ? inverse * rise : 0.0f;
  const float next = learns ? -(ghg + fma(of_step, rise, -(of_change * hyg))) : -ghg;
  float longest = 1e-6f;
  float a[OWN], b[OWN];
#pragma unroll
  for (int k = 0; k < OWN; k++) {
    const float s = learns ? w->step * w->direction[k] : 0.0f;
    const float hy = learns ? size * (along[k] + w->direction[k]) : 0.0f;
    const float direction = fma(of_change, hy, -fma(of_step, s, size * along[k]));
    w->direction[k] = accepted ? direction : w->direction[k];
    w->gradient[k] = accepted ? slope[k] : w->gradient[k];
    longest = fmax(longest, w->direction[k] * w->direction[k] / w->scale[k]);
    steps[k * SG_SIZE + sg.lane] = s;
    changes[k * SG_SIZE + sg.lane] = hy;
    a[k] = fma(factor, s, -(inverse * hy));
    b[k] = -(inverse * s);
  }
  sg_sync(sg);
#pragma unroll
  for (int row = 0; row < HESSIAN_ROWS; row += 4) {
    if (row < count) {
      const float4 s = *(__local const float4 *)(steps + row);
      const float4 hy = *(__local const float4 *)(changes + row);
#pragma unroll
      for (int n = 0; n < 4; n++) {
#pragma unroll
        for (int k = 0; k < OWN; k++)
          H(w, k, row + n) = fma(a[k], PART(s, n), fma(b[k], PART(hy, n), size * H(w, k, row + n)));
      }
    }
  }
  // Longest step at which no degree of freedom moves atoms by more than about an Angstrom; or a
  // shorter one than that which was not accepted.
  const float shorter = shorter_step(reached, w->energy, w->slope, w->step);
  const float limit = fmin(1.0f, rsqrt(sg_max_float(sg, longest)));
  w->step = accepted ? limit : shorter;
  w->energy = accepted ? reached : w->energy;
  w->slope = accepted ? next : w->slope;
  return accepted;
}

// Random numbers of a round, one a lane.
#define CHOICE 0
#define TURNING 4
#define CHANCE 5
#define DRAWN 6

// A random change of position, orientation or one torsion, each as likely as any other, as a
// direction; returns how far to go along it, nothing in round 0.
static float change_at_random(sg_t sg,
                              const problem_t *p,
                              __local const float *drawn,
                              int round,
                              float amplitude,
                              float *direction) {
  const int choice = (int)(drawn[CHOICE] * (float)(p->ligand.torsions + 2));
  const ball_t ball = ball_of(drawn[1], drawn[2], drawn[3]);
#pragma unroll
  for (int k = 0; k < OWN; k++) {
    const int d = k * SG_SIZE + sg.lane;
    const float of_ball = d % 3 == 0 ? ball.x : d % 3 == 1 ? ball.y : ball.z;
    direction[k] = 0.0f;
    if (d < RIGID && choice == d / 3) direction[k] = of_ball;
    if (d >= RIGID && choice == d - RIGID + 2) direction[k] = 2.0f * drawn[TURNING] - 1.0f;
  }
  return round == 0    ? 0.0f
         : choice == 0 ? amplitude
         : choice == 1 ? amplitude / p->ligand.radius_of_gyration
                       : 3.14159265f;
}

// Whether atom i of a ligand meets atom i + k in row k.
static inline int meets(field_ligand_t l, __global const uint *pairs, int i, int k) {
  const int j = i + k < l.atoms ? i + k : i + k - l.atoms;
  const int last_row_twice = 2 * k == l.atoms && j < i;
  return !last_row_twice && (pairs[i * l.words + j / 32] >> (j % 32) & 1u);
}

// Rows of each ligand in which any atoms meet, as how far these are apart.
__kernel void find_rows(int ligand_count,
                        __global const field_ligand_t *ligands,
                        __global const uint *pairs,
                        __global int *steps,
                        __global int *rows) {
  const int ligand = get_global_id(0);
  if (ligand >= ligand_count) return;
  const field_ligand_t l = ligands[ligand];
  int found = 0;
  for (int k = 1; 2 * k <= l.atoms; k++) {
    int any = 0;
    for (int i = 0; i < l.atoms && !any; i++) any = meets(l, pairs + l.first_word, i, k);
    if (any) steps[l.first_row + found++] = k;
  }
  rows[ligand] = found;
}

// Terms of the pairs: work-items are spots of a row, rows of a ligand, ligands.
__kernel void find_terms(__constant float4 *pair_table,
                         __constant float4 *type_table,
                         __global const field_ligand_t *ligands,
                         __global const float4 *conformers,
                         __global const int *kinds,
                         __global const uint *pairs,
                         __global const int *steps,
                         __global const int *rows,
                         __global float4 *terms) {
  const int i = get_global_id(0), row = get_global_id(1), ligand = get_global_id(2);
  if (row >= rows[ligand]) return;
  const field_ligand_t l = ligands[ligand];
  const field_tables_t tables = {pair_table, type_table};
  const size_t place = l.first_row + row;
  const int k = steps[place];
  float4 found = FIELD_NONE;
  if (i < l.atoms && meets(l, pairs + l.first_word, i, k)) {
    const int one = l.first_atom + i, two = i + k < l.atoms ? one + k : one + k - l.atoms;
    found = field_terms(tables, conformers[one].w, kinds[one], conformers[two].w, kinds[two]);
  }
  terms[place * SPOTS + i] = found;
}

KERNEL void refine(
    __global const field_ligand_t *ligands,
    __global const int4 *items,   // ligand, its first place of the item, one past the last
    __global const int *in_heat,  // a place: the pose that is there in this heat, or EMPTY
    int evaluations,
    float temperature,
    float amplitude,
    grid_t grid,
    __global const int *restarts,     // a pose
    __global const int *first_angle,  // a pose: row of its first torsion angle
    __global float4 *quaternions,     // a pose: w, x, y, z; these three are changed in place
    __global float *translations,     // a pose: 3, Angstrom
    __global float *angles,           // radians
    __global float *gradients,        // a pose: MAX_FREEDOMS numbers; without rounds only
    __global float2 *energies,        // a pose: before and after, kcal/mol
    __global int *counts,             // a pose: evaluations
    __global const float4 *maps,      // of gather_cells()
    __constant float4 *pair_table,
    __constant float4 *type_table,
    __global const float4 *conformers,  // Angstrom; w, kinds: see problem_t
    __global const int *kinds,
    __global const torsion_t *torsions,  // the far side is in its first range
    __global const float *inverse_lengths,
    __global const int *steps,  // of find_rows() and find_terms()
    __global const int *rows,
    __global const float4 *terms) {
  SG_SETUP(sg);
  __local float4 all_room[SG_TOGETHER * NUMBERS_APART / 4], hinges[2 * PIECES];
  const int4 item = items[sg.item / SG_TOGETHER];
  if (in_heat[item.y] == EMPTY) return;
  const field_ligand_t l = ligands[item.x];
  __local float *room = (__local float *)all_room + sg.index * NUMBERS_APART;
  const int count = RIGID + l.torsions, most = l.rounds > 0 ? evaluations : 1;
  const problem_t p = {l,
                       grid,
                       maps,
                       {pair_table, type_table},
                       conformers + l.first_atom,
                       kinds + l.first_atom,
                       torsions + l.first_torsion,
                       inverse_lengths + l.first_torsion,
                       terms + (size_t)l.first_row * SPOTS,
                       steps + l.first_row,
                       rows[item.x],
                       room,
                       hinges};
  __local float *present = room + AT_PRESENT;  // degrees of freedom, then the orientation
  int pieces[ATOMS];
  find_pieces(sg, &p, pieces);
  descent_t w;
#pragma unroll
  for (int k = 0; k < OWN; k++) {
    w.scale[k] = squared_unit(l.radius_of_gyration, k * SG_SIZE + sg.lane);
    w.gradient[k] = w.direction[k] = 0.0f;
  }
  w.energy = w.slope = w.step = 0.0f;
#if HESSIAN_IN_REGISTERS
#pragma unroll
  for (int k = 0; k < OWN; k++) {
#pragma unroll
    for (int row = 0; row < HESSIAN_ROWS; row++) w.hessian[k][row] = 0.0f;
  }
#else
  w.hessian = room + AT_HESSIAN + sg.lane;
  w.last = min((OWN - 1) * SG_SIZE, MAX_FREEDOMS - sg.lane);
  for (int n = 0; n < HESSIAN_ROWS; n++) {
    for (int k = 0; k < OWN; k++) H(&w, k, n) = 0.0f;
  }
#endif

  __local float4 *orientation = (__local float4 *)(room + AT_ORIENTATIONS);
  float value[OWN];  // of the lane's degrees of freedom; of the rotation vector 0
  int pose = item.y + sg.index - SG_TOGETHER, active = 1, finished = 1, ended = 1;
  int round = 0, evaluation = 0, accepted_steps = 0, of_pose = 0, row = 0;
  float earlier = 0.0f, before = 0.0f, lowest = 0.0f, present_energy = 0.0f, chance = 0.0f;
  for (;;) {
    if (sg_any_together(sg, ended)) {
      if (sg_any_together(sg, finished)) {
        // The next pose of the sub-group.
        pose = finished ? pose + SG_TOGETHER : pose;
        active = pose < item.z && in_heat[min(pose, item.z - 1)] != EMPTY;
        if (!sg_any_together(sg, active)) break;
        if (finished) {
          // A part of a warp without a pose of its own looks at the first one, and writes nothing.
          row = in_heat[active ? pose : item.y];
          earlier = l.first_round > 0 ? energies[row].y : INFINITY;
          for (int k = 0; k < OWN; k++) {
            const int d = k * SG_SIZE + sg.lane;
            float given = 0.0f;
            if (d < 3) given = translations[3 * row + d];
            if (d >= RIGID && d < count) given = angles[first_angle[row] + d - RIGID];
            present[d] = given;
          }
          if (sg.lane == 0) *(__local float4 *)(present + FREEDOMS) = quaternions[row].yzwx;
          round = of_pose = 0;
        }
      }
      // The next descent, from a random change of where the chain is.
      __local float *drawn = room + AT_DESCENT;
      if (ended && sg.lane < DRAWN)
        drawn[sg.lane] =
            uniform(l.key, (uint)restarts[row], (uint)(l.first_round + round), sg.lane);
      sg_sync(sg);
      if (ended) {
#pragma unroll
        for (int k = 0; k < OWN; k++) value[k] = present[k * SG_SIZE + sg.lane];
        if (sg.lane == 0) orientation[0] = *(__local const float4 *)(present + FREEDOMS);
        w.step = change_at_random(sg, &p, drawn, round, amplitude, w.direction);
        chance = drawn[CHANCE];
        evaluation = accepted_steps = 0;
      }
      sg_sync(sg);
    }

    float trial[OWN], slope[OWN], found;
#pragma unroll
    for (int k = 0; k < OWN; k++) trial[k] = fma(w.step, w.direction[k], value[k]);
    const float part = evaluate(sg, &p, pieces, trial, slope);
    const stage_t stage = {evaluation == 0, accepted_steps == 1};
    if (l.rounds > 0 && sg_any_together(sg, stage.start)) {
      __local float4 *motions = (__local float4 *)(room + AT_FORCES);
      __local float4 *lines = (__local float4 *)(room + AT_DESCENT);
      first_inverse(sg, &p, count, &w, motions, lines, stage.start);
    }
    const int accepted = update(sg, count, &w, room + AT_DESCENT, stage, part, slope, &found);
    if (accepted) {
#pragma unroll
      for (int k = 0; k < OWN; k++) {
        const int d = k * SG_SIZE + sg.lane;
        value[k] = d >= 3 && d < RIGID ? 0.0f : trial[k];
      }
      if (sg.lane == 0) orientation[0] = orientation[1];
      accepted_steps++;
    }
    before = stage.start && round == 0 ? found : before;
    const int going = -w.slope * (accepted ? 1.0f : w.step) >= SMALL_DECREASE;
    evaluation++;
    of_pose++;
    ended = !going || evaluation >= most;
    finished = 0;

    if (ended) {
      const int taken = round == 0 || w.energy < present_energy ||
                        exp((present_energy - w.energy) / temperature) > chance;
      // Round 0 begins at the pose itself, which stays the best unless the descent lowers it, and
      // which an earlier heat may have found a rounding error lower.
      const float to_beat = round > 0 ? lowest : earlier < before ? earlier : before;
      const int lower = w.energy < to_beat;
      lowest = lower ? w.energy : to_beat;
      present_energy = taken ? w.energy : present_energy;
      for (int k = 0; k < OWN; k++) {
        const int d = k * SG_SIZE + sg.lane;
        if (taken) present[d] = value[k];
        if (lower && active && d < 3) translations[3 * row + d] = value[k];
        if (lower && active && d >= RIGID && d < count)
          angles[first_angle[row] + d - RIGID] = value[k];
        if (l.rounds == 0 && active && d < count)
          gradients[(size_t)row * MAX_FREEDOMS + d] = w.gradient[k];
      }
      if (sg.lane == 0) {
        if (taken) *(__local float4 *)(present + FREEDOMS) = orientation[0];
        if (lower && active) quaternions[row] = orientation[0].wxyz;
      }
      round++;
      finished = round >= l.rounds;
      if (finished && active && sg.lane == 0) {
        energies[row] = (float2)(l.first_round > 0 ? energies[row].x : before, lowest);
        counts[row] += of_pose;
      }
    }
  }
}
