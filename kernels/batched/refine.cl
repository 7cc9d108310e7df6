// refine: each kept pose becomes the best of a chain of local minima in a field with intramolecular
// terms. One sub-group a pose; lane = atom, or degree of freedom.
//
// A chain: descend from the pose; then, `rounds` times, change the position, the orientation or one
// torsion at random, descend, and go on from there if it is better (or, by Metropolis, not much
// worse). Descents are BFGS with a dense inverse Hessian, counted in evaluations. Random numbers
// are a function of the ligand's content, the pose's restart and the round alone.
//
// Energies and gradients, and the macro FIELD that says of which field: energy.clh.
//
// NumPy twin: ligen_py/engine/refinement/reference.py.

#include "energy.clh"
#include "random.clh"

#ifndef MAX_FREEDOMS
#define MAX_FREEDOMS 32  // 6 + the most torsions of a ligand of the batch, rounded up
#endif
#ifndef WG_SUB_GROUPS
#define WG_SUB_GROUPS 1  // sub-groups in a work-group
#endif

#define ARMIJO 1e-4f
#define SMALL_DECREASE 1e-3f  // a descent ends when its next step promises less, kcal/mol

// The orientation after a rotation vector.
static inline float4 turned(float4 q, float x, float y, float z) {
  const float square = fma(x, x, fma(y, y, z * z));
  const float angle = sqrt(square);
  const float s = angle > 1e-6f ? sin(0.5f * angle) / angle : 0.5f;
  const float4 r = quaternion_product((float4)(x * s, y * s, z * s, cos(0.5f * angle)), q);
  const float n = rsqrt(fma(r.x, r.x, fma(r.y, r.y, fma(r.z, r.z, r.w * r.w))));
  return (float4)(r.x * n, r.y * n, r.z * n, r.w * n);
}

// `place` and `angles` moved along a direction in the degrees of freedom.
static inline place_t moved(sg_t sg,
                            int torsions,
                            place_t place,
                            __local const float *angles,
                            __local const float *direction,
                            float step,
                            __local float *result) {
  for (int n = sg.lane; n < torsions; n += SG_SIZE)
    result[n] = fma(step, direction[RIGID + n], angles[n]);
  place.translation.x = fma(step, direction[0], place.translation.x);
  place.translation.y = fma(step, direction[1], place.translation.y);
  place.translation.z = fma(step, direction[2], place.translation.z);
  place.quaternion =
      turned(place.quaternion, step * direction[3], step * direction[4], step * direction[5]);
  sg_sync(sg);
  return place;
}

// Working memory of a descent, in local memory.
typedef struct {
  __local float *gradient, *trial_gradient, *direction, *trial, *change, *hessian;
} descent_t;

// Unit of each degree of freedom: one that moves the ligand's atoms by about an Angstrom.
static inline float squared_scale(const problem_t *p, int d) {
  const float arm = d < 3 ? 1.0f : d < RIGID ? p->ligand.radius_of_gyration : 2.0f;
  return 1.0f / (arm * arm);
}

// Column d of the inverse Hessian belongs to the lane of freedom d alone; no other touches it.
static inline void reset_column(const problem_t *p, const descent_t *w, int d, float factor) {
  for (int k = 0; k < RIGID + p->ligand.torsions; k++)
    w->hessian[k * MAX_FREEDOMS + d] = k == d ? factor * squared_scale(p, d) : 0.0f;
}

static inline float times_hessian(const descent_t *w,
                                  int count,
                                  int d,
                                  __local const float *vector) {
  float sum = 0.0f;
  for (int k = 0; k < count; k++) sum = fma(w->hessian[k * MAX_FREEDOMS + d], vector[k], sum);
  return sum;
}

// The direction of descent; returns its slope. Where it is none, forget the inverse Hessian.
static float choose_direction(sg_t sg, const problem_t *p, const descent_t *w) {
  const int count = RIGID + p->ligand.torsions;
  float slope = 0.0f, steepest = 0.0f;
  for (int d = sg.lane; d < count; d += SG_SIZE) {
    const float g = w->gradient[d];
    const float along = -times_hessian(w, count, d, w->gradient);
    w->direction[d] = along;
    slope = fma(along, g, slope);
    steepest = fma(-squared_scale(p, d) * g, g, steepest);
  }
  slope = sg_sum_float(sg, slope);
  steepest = sg_sum_float(sg, steepest);
  const int forget = !(slope < 0.0f);
  for (int d = sg.lane; d < count; d += SG_SIZE) {
    if (forget) {
      reset_column(p, w, d, 1.0f);
      w->direction[d] = -squared_scale(p, d) * w->gradient[d];
    }
  }
  sg_sync(sg);
  return forget ? steepest : slope;
}

// Longest step at which no degree of freedom moves atoms by more than about an Angstrom.
static inline float longest_step(sg_t sg, const problem_t *p, const descent_t *w) {
  float largest = 1e-6f;
  for (int d = sg.lane; d < RIGID + p->ligand.torsions; d += SG_SIZE)
    largest = fmax(largest, w->direction[d] * w->direction[d] / squared_scale(p, d));
  return rsqrt(as_float(sg_max(sg, as_int(largest))));
}

// BFGS update of the inverse Hessian after a step of length `step` along the direction: `gradient`
// becomes the new one. A step that was not accepted, or along which the slope does not rise,
// changes nothing. The first one also sets the size of the inverse Hessian.
static void update_hessian(
    sg_t sg, const problem_t *p, const descent_t *w, float step, int accepted, int first) {
  const int count = RIGID + p->ligand.torsions;
  float sy = 0.0f, yhy = 0.0f;
  for (int d = sg.lane; d < count; d += SG_SIZE) {
    const float g = w->trial_gradient[d];
    const float y = accepted ? g - w->gradient[d] : 0.0f;
    if (accepted) w->gradient[d] = g;
    w->trial_gradient[d] = y;
    w->direction[d] *= step;
    sy = fma(w->direction[d], y, sy);
    yhy = fma(y * y, squared_scale(p, d), yhy);
  }
  sy = sg_sum_float(sg, sy);
  yhy = sg_sum_float(sg, yhy);
  sg_sync(sg);
  const int rises = sy > 1e-6f;
  const float size = sy / yhy;
  yhy = 0.0f;
  for (int d = sg.lane; d < count; d += SG_SIZE) {
    if (rises && first) reset_column(p, w, d, size);
    const float hy = times_hessian(w, count, d, w->trial_gradient);
    w->change[d] = hy;
    yhy = fma(hy, w->trial_gradient[d], yhy);
  }
  yhy = sg_sum_float(sg, yhy);
  sg_sync(sg);
  const float inverse = rises ? 1.0f / sy : 0.0f, factor = fma(yhy, inverse, 1.0f) * inverse;
  for (int d = sg.lane; d < count; d += SG_SIZE) {
    const float s = w->direction[d], hy = w->change[d];
    const float a = fma(factor, s, -(inverse * hy)), b = -(inverse * s);
    for (int k = 0; k < count; k++) {
      __local float *h = w->hessian + k * MAX_FREEDOMS + d;
      *h = fma(a, w->direction[k], fma(b, w->change[k], *h));
    }
  }
  sg_sync(sg);
}

static inline void copy(sg_t sg, __local float *to, __local const float *from, int count) {
  for (int n = sg.lane; n < count; n += SG_SIZE) to[n] = from[n];
  sg_sync(sg);
}

// Descend from a genotype, with at most `evaluations`; place and angles become where it ends. The
// first evaluation is that of the start, a step of no length. No barrier depends on a decision: a
// rejected step goes through the same motions and changes nothing but its length.
static float descend(sg_t sg,
                     const problem_t *p,
                     const descent_t *w,
                     place_t *place,
                     __local float *angles,
                     int evaluations,
                     float *at_start,
                     int *count) {
  const int torsions = p->ligand.torsions;
  float energy = INFINITY, slope = 0.0f, step = 0.0f;
  int steps = 0, going = 1;
  for (int d = sg.lane; d < RIGID + torsions; d += SG_SIZE) {
    reset_column(p, w, d, 1.0f);
    w->direction[d] = w->gradient[d] = 0.0f;
  }
  sg_sync(sg);
  for (int n = 0; n < evaluations && going; n++) {
    const place_t to = moved(sg, torsions, *place, angles, w->direction, step, w->trial);
    const float found = evaluate(sg, p, to, w->trial, w->trial_gradient);
    const int accepted = n == 0 || found <= fma(ARMIJO * step, slope, energy);
    if (n == 0) *at_start = found;
    *count += 1;
    // The minimum of the parabola through both energies and the slope, within limits.
    const float best = -0.5f * slope * step * step / (found - energy - slope * step);
    const float shorter = clamp(best, 0.1f * step, 0.5f * step);
    update_hessian(sg, p, w, step, accepted, steps == 1);
    copy(sg, angles, w->trial, accepted ? torsions : 0);
    energy = accepted ? found : energy;
    if (accepted) *place = to;
    steps += accepted;
    slope = choose_direction(sg, p, w);
    const float longest = fmin(1.0f, longest_step(sg, p, w));
    step = accepted ? longest : shorter;
    going = -slope * (accepted ? 1.0f : step) >= SMALL_DECREASE;
  }
  return energy;
}

// Change position, orientation or one torsion, each as likely as any other; nothing in round 0.
static place_t perturbed(sg_t sg,
                         const problem_t *p,
                         const descent_t *w,
                         place_t place,
                         __local float *angles,
                         uint restart,
                         uint round,
                         float amplitude) {
  const int torsions = p->ligand.torsions;
  const uint key = p->ligand.key;
  const int choice = (int)(uniform(key, restart, round, 0) * (float)(torsions + 2));
  const ball_t in = in_ball(key, restart, round);
  const float4 ball = (float4)(in.x, in.y, in.z, 0.0f);
  const float reach = round == 0    ? 0.0f
                      : choice == 0 ? amplitude
                      : choice == 1 ? amplitude / p->ligand.radius_of_gyration
                                    : 3.14159265f;
  for (int d = sg.lane; d < RIGID + torsions; d += SG_SIZE) {
    float along = 0.0f;
    if (choice == 0 && d < 3) along = component(ball, d);
    if (choice == 1 && d >= 3 && d < RIGID) along = component(ball, d - 3);
    if (choice >= 2 && d == RIGID + choice - 2)
      along = 2.0f * uniform(key, restart, round, 4) - 1.0f;
    w->direction[d] = along;
  }
  sg_sync(sg);
  return moved(sg, torsions, place, angles, w->direction, reach, angles);
}

KERNEL void refine(
    int pose_count,
    int evaluations,
    float temperature,
    float amplitude,
    grid_t grid,
    __global const float *maps,
    __constant float4 *pair_table,
    __constant float4 *type_table,
    __global const field_ligand_t *ligands,
    __global const float4 *conformers,  // Angstrom; w, kinds: see problem_t
    __global const int *kinds,
    __global const torsion_t *torsions,  // the far side is in its first range
    __global const float *inverse_lengths,
    __global const uint *pairs,
    __global const int *owner,            // a pose: its ligand
    __global const int *restarts,         // a pose
    __global const int *first_angle,      // a pose: row of its first torsion angle
    __global const float4 *quaternions,   // a pose, x, y, z, w
    __global const float4 *translations,  // a pose, Angstrom
    __global float *angles,               // radians; in and out, each by one lane alone
    __global float4 *best_quaternions,
    __global float4 *best_translations,
    __global float *gradients,  // a pose: MAX_FREEDOMS numbers, at the first descent's end
    __global float2 *energies,  // a pose: before and after, kcal/mol
    __global int *counts)       // a pose: evaluations
{
  SG_SETUP(sg);
  __local float all_atoms[WG_SUB_GROUPS * MAX_ATOMS * 9];
  __local float2 all_turns[WG_SUB_GROUPS * MAX_FREEDOMS];
  __local float all_vectors[WG_SUB_GROUPS * MAX_FREEDOMS * (8 + MAX_FREEDOMS)];
  const int pose = sg.item;
  if (pose >= pose_count) return;
  __local float *vectors = all_vectors + sg.index * MAX_FREEDOMS * (8 + MAX_FREEDOMS);
  __local float *atoms = all_atoms + sg.index * MAX_ATOMS * 9;
  const field_ligand_t l = ligands[owner[pose]];
  const int rounds = l.rounds;
  const problem_t p = {l,
                       grid,
                       maps,
                       {pair_table, type_table},
                       conformers + l.first_atom,
                       kinds + l.first_atom,
                       torsions + l.first_torsion,
                       inverse_lengths + l.first_torsion,
                       pairs + l.first_word,
                       {atoms, atoms + MAX_ATOMS, atoms + 2 * MAX_ATOMS},
                       {atoms + 3 * MAX_ATOMS, atoms + 4 * MAX_ATOMS, atoms + 5 * MAX_ATOMS},
                       {atoms + 6 * MAX_ATOMS, atoms + 7 * MAX_ATOMS, atoms + 8 * MAX_ATOMS},
                       all_turns + sg.index * MAX_FREEDOMS};
  const descent_t w = {vectors,
                       vectors + MAX_FREEDOMS,
                       vectors + 2 * MAX_FREEDOMS,
                       vectors + 3 * MAX_FREEDOMS,
                       vectors + 4 * MAX_FREEDOMS,
                       vectors + 8 * MAX_FREEDOMS};
  __local float *trying = vectors + 5 * MAX_FREEDOMS, *present = vectors + 6 * MAX_FREEDOMS;
  __local float *best = vectors + 7 * MAX_FREEDOMS;
  const uint restart = (uint)restarts[pose];
  __global float *turns = angles + first_angle[pose];

  place_t place = {translations[pose], quaternions[pose]};
  for (int n = sg.lane; n < l.torsions; n += SG_SIZE) present[n] = turns[n];
  sg_sync(sg);
  place_t best_place = place;
  copy(sg, best, present, l.torsions);
  float before = 0.0f, lowest = 0.0f, energy = 0.0f;
  int count = 0;
  for (int round = 0; round < max(rounds, 1); round++) {
    place_t to = place;
    copy(sg, trying, present, l.torsions);
    to = perturbed(sg, &p, &w, to, trying, restart, (uint)round, amplitude);
    float start;
    const float found =
        descend(sg, &p, &w, &to, trying, rounds > 0 ? evaluations : 1, &start, &count);
    if (round == 0) {
      before = lowest = start;
      for (int d = sg.lane; d < RIGID + l.torsions; d += SG_SIZE)
        gradients[(size_t)pose * MAX_FREEDOMS + d] = w.gradient[d];
    }
    const float chance = uniform(l.key, restart, (uint)round, 5);
    const int taken = round == 0 || found < energy || exp((energy - found) / temperature) > chance;
    const int lower = found < lowest;
    energy = taken ? found : energy;
    lowest = lower ? found : lowest;
    if (taken) place = to;
    if (lower) best_place = to;
    copy(sg, present, trying, taken ? l.torsions : 0);
    copy(sg, best, trying, lower ? l.torsions : 0);
  }
  for (int n = sg.lane; n < l.torsions; n += SG_SIZE) turns[n] = best[n];
  if (sg.lane == 0) {
    best_quaternions[pose] = best_place.quaternion;
    best_translations[pose] = best_place.translation;
    energies[pose] = (float2)(before, lowest);
    counts[pose] = count;
  }
}
