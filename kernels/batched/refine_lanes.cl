// refine where a lane is a pose: the chains of batched/refine.cl, of which a lane computes one
// after the other, alone. Lanes of a work-group have poses of one ligand. They share a control
// flow: one evaluation after the other, whatever chain, round and step a lane is at; what happens
// to some lanes only is a masked update.
//
//   work-group   |  an item: poses first .. last - 1 of one ligand  | ...
//   lane         pose first + lane, then first + lane + all lanes, ...
//
// All that a lane keeps by atom, torsion or degree of freedom is in its scratch memory; the host
// counts it (`scratch_reals` in ligen_py/engine/refinement/packing.py).
//
// NumPy twin: ligen_py/engine/refinement/reference.py.

#include "descent.clh"
#include "heat.clh"
#include "lane_energy.clh"
#include "random.clh"

// The orientation after a rotation vector.
static inline lane_place_t turned(lane_place_t p, vector_t by) {
  const real angle = sqrt(fma(by.x, by.x, fma(by.y, by.y, by.z * by.z)));
  real c;
  const real sine = sincos(0.5f * angle, &c);
  const real s = select((real)(0.5f), sine / angle, angle > 1e-6f);
  const real x = by.x * s, y = by.y * s, z = by.z * s;
  const lane_place_t q = {p.translation, fma(c, p.x, fma(x, p.w, fma(y, p.z, -(z * p.y)))),
                          fma(c, p.y, fma(y, p.w, fma(z, p.x, -(x * p.z)))),
                          fma(c, p.z, fma(z, p.w, fma(x, p.y, -(y * p.x)))),
                          fma(c, p.w, -fma(x, p.x, fma(y, p.y, z * p.z)))};
  const real n = rsqrt(fma(q.x, q.x, fma(q.y, q.y, fma(q.z, q.z, q.w * q.w))));
  return (lane_place_t){q.translation, q.x * n, q.y * n, q.z * n, q.w * n};
}

static inline lane_place_t chosen(lane_place_t otherwise, lane_place_t wanted, whole mask) {
  const vector_t a = otherwise.translation, b = wanted.translation;
  return (lane_place_t){{select(a.x, b.x, mask), select(a.y, b.y, mask), select(a.z, b.z, mask)},
                        select(otherwise.x, wanted.x, mask),
                        select(otherwise.y, wanted.y, mask),
                        select(otherwise.z, wanted.z, mask),
                        select(otherwise.w, wanted.w, mask)};
}

static inline void copy_where(__global real *to, __global const real *from, int count, whole mask) {
  for (int n = 0; n < count; n++) to[AT(n)] = select(to[AT(n)], from[AT(n)], mask);
}

// Arrays of a descent, one number a degree of freedom; `hessian` is the lower triangle of its
// inverse, row by row.
typedef struct {
  int count;
  float arm;  // of a rotation, Angstrom
  __global real *gradient, *trial_gradient, *direction, *next, *change, *hessian;
} descent_t;

// Put the inverse Hessian with which a descent begins, of the coordinates in `p`, for the lanes of
// a mask. With w and r the sums of v and of x times v over the atoms that a degree of freedom
// moves, v its motion of an atom at x, an element of the matrix is the product of (r, w) of the
// inner degree and the turn and shift of the outer one.
static void begin(const lane_problem_t *p, vector_t center, const descent_t *w, whole start) {
  const int torsions = p->ligand.torsions, atoms = p->ligand.atoms, count = w->count;
  const float share = 1.0f / (float)atoms;
  for (int d = 3; d < count; d++) {  // a turn, a shift, r and w; of the rotations in the root's row
    int first = 0, last = atoms;
    vector_t turn = {(real)(d == 3), (real)(d == 4), (real)(d == 5)};
    vector_t shift = {(real)(0.0f), (real)(0.0f), (real)(0.0f)};
    if (d >= RIGID) {
      const torsion_t t = p->torsions[d - RIGID];
      const float f = p->inverse_lengths[d - RIGID];
      const vector_t near = get(p->atoms, t.near), along = minus(get(p->atoms, t.far), near);
      first = t.heavy_first;
      last = t.heavy_last;
      turn = (vector_t){along.x * f, along.y * f, along.z * f};
      shift = cross_product(minus(near, center), turn);
    }
    vector_t sum = {(real)(0.0f), (real)(0.0f), (real)(0.0f)}, moment = sum;
    for (int i = first; i < last; i++) {
      const vector_t x = minus(get(p->atoms, i), center), c = cross_product(turn, x);
      const vector_t v = {c.x + shift.x, c.y + shift.y, c.z + shift.z};
      const vector_t m = cross_product(x, v);
      sum = (vector_t){sum.x + v.x, sum.y + v.y, sum.z + v.z};
      moment = (vector_t){moment.x + m.x, moment.y + m.y, moment.z + m.z};
    }
    const vector_t r = {moment.x * share, moment.y * share, moment.z * share};
    const vector_t s = {sum.x * share, sum.y * share, sum.z * share};
    __global real *row = w->hessian + AT(d * (d + 1) / 2);
    const real rigid[6] = {s.x, s.y, s.z, r.x, r.y, r.z};
    for (int n = 0; n < RIGID && n <= d; n++) row[AT(n)] = select(row[AT(n)], rigid[n], start);
    if (d < RIGID) continue;
    const int own = d - RIGID;
    set(p->motions, 2 * own, turn);
    set(p->motions, 2 * own + 1, shift);
    for (int n = 0; n <= own; n++) {
      const int inner = first >= p->torsions[n].heavy_first && last <= p->torsions[n].heavy_last;
      const vector_t a = get(p->motions, 2 * n), b = get(p->motions, 2 * n + 1);
      const real turns = fma(a.x, r.x, fma(a.y, r.y, a.z * r.z));
      const real value = inner ? fma(b.x, s.x, fma(b.y, s.y, fma(b.z, s.z, turns))) : (real)(0.0f);
      row[AT(RIGID + n)] = select(row[AT(RIGID + n)], value, start);
    }
  }
  for (int i = 0, h = 0; i < count; h += ++i) {
    __global real *row = w->hessian + AT(h);
    for (int j = 0; i < 3 && j <= i; j++) row[AT(j)] = select(row[AT(j)], (real)(i == j), start);
    row[AT(i)] = select(row[AT(i)], fma(row[AT(i)], (real)(STIFFER), (real)(STIFF)), start);
  }
  // Each sweep inverts one degree of freedom more; after all the triangle is that of minus the
  // inverse.
  for (int n = 0; n < count; n++) {
    for (int i = 0; i < count; i++) {
      const int low = min(i, n), high = max(i, n);
      w->change[AT(i)] = w->hessian[AT(high * (high + 1) / 2 + low)];
    }
    const real inverse = 1.0f / w->change[AT(n)];
    __global real *h = w->hessian;
    for (int i = 0; i < count; i++) {
      const real of_row = w->change[AT(i)] * inverse;
      for (int j = 0; j <= i; j++, h += AT(1)) {
        const real other = w->change[AT(j)];
        const real value = i == n ? (j == n ? -inverse : other * inverse)
                                  : (j == n ? of_row : fma(-of_row, other, *h));
        *h = select(*h, value, start);
      }
    }
  }
  for (int h = 0; h < count * (count + 1) / 2; h++)
    w->hessian[AT(h)] = select(w->hessian[AT(h)], -w->hessian[AT(h)], start);
}

// BFGS update of the inverse Hessian after a step of length `step` along the direction, and the
// next direction, -H g; `gradient` becomes that of the trial where it is accepted. At the start of
// a descent there is no step yet. Where the slope does not rise along a step H stays as it is; the
// `first` step of a descent also sets H's size. Returns the slope along the direction.
static real update_direction(
    const descent_t *w, real step, whole accepted, whole start, whole first) {
  const real none = (real)(0.0f);
  real sy = none;
  for (int d = 0; d < w->count; d++) {
    const real g = w->trial_gradient[AT(d)], old = w->gradient[AT(d)];
    const real y = select(none, g - old, accepted & NOT(start));
    const real s = select(none, w->direction[AT(d)] * step, NOT(start));
    w->gradient[AT(d)] = select(old, g, accepted);
    w->trial_gradient[AT(d)] = y;
    w->direction[AT(d)] = s;
    w->change[AT(d)] = w->next[AT(d)] = none;
    sy = fma(s, y, sy);
  }
  __global real *h = w->hessian;
  for (int i = 0; i < w->count; i++) {
    const real y = w->trial_gradient[AT(i)];
    real sum = none;
    for (int j = 0; j < i; j++, h += AT(1)) {
      sum = fma(*h, w->trial_gradient[AT(j)], sum);
      w->change[AT(j)] = fma(*h, y, w->change[AT(j)]);
    }
    w->change[AT(i)] = fma(*h, y, sum);
    h += AT(1);
  }
  real yhy = none;
  for (int d = 0; d < w->count; d++) yhy = fma(w->change[AT(d)], w->trial_gradient[AT(d)], yhy);
  const whole rises = sy > 1e-6f;
  const real size = select((real)(1.0f), sy / yhy, rises & first);
  const real inverse = select(none, 1.0f / sy, rises),
             factor = fma(size * yhy, inverse, 1.0f) * inverse;
  for (int d = 0; d < w->count; d++) w->change[AT(d)] *= size;
  h = w->hessian;
  for (int i = 0; i < w->count; i++) {
    const real s = w->direction[AT(i)], g = w->gradient[AT(i)];
    const real a = fma(factor, s, -(inverse * w->change[AT(i)])), b = -(inverse * s);
    real sum = none;
    for (int j = 0; j <= i; j++, h += AT(1)) {
      const real value = fma(a, w->direction[AT(j)], fma(b, w->change[AT(j)], size * *h));
      *h = value;
      sum = fma(-value, w->gradient[AT(j)], sum);
      if (j < i) w->next[AT(j)] = fma(-value, g, w->next[AT(j)]);
    }
    w->next[AT(i)] += sum;
  }
  real slope = none;
  for (int d = 0; d < w->count; d++) {
    const real along = w->next[AT(d)];
    w->direction[AT(d)] = along;
    slope = fma(along, w->gradient[AT(d)], slope);
  }
  return slope;
}

// Longest step at which no degree of freedom moves atoms by more than about an Angstrom.
static inline real longest_step(const descent_t *w) {
  real largest = (real)(1e-6f);
  for (int d = 0; d < w->count; d++) {
    const real along = w->direction[AT(d)];
    largest = fmax(largest, along * along / squared_unit(w->arm, d));
  }
  return fmin(rsqrt(largest), 1.0f);
}

// A random change of position, orientation or one torsion, each as likely as any other, as a
// direction for the lanes of a mask; returns how far to go along it, nothing in round 0.
static real change_at_random(const descent_t *w,
                             uint key,
                             whole restart,
                             whole round,
                             int first_round,
                             float amplitude,
                             whole mask) {
  const bits pose = TO_BITS(restart), turn = TO_BITS(first_round + round);
  const whole choice = TO_WHOLE(uniform(key, pose, turn, 0) * (float)(w->count - RIGID + 2));
  const ball_t ball = in_ball(key, pose, turn);
  const real turning = 2.0f * uniform(key, pose, turn, 4) - 1.0f, none = (real)(0.0f);
  for (int d = 0; d < w->count; d++) {
    const real of_ball = d % 3 == 0 ? ball.x : d % 3 == 1 ? ball.y : ball.z;
    const real along = d < RIGID ? select(none, of_ball, choice == d / 3)
                                 : select(none, turning, choice == d - RIGID + 2);
    w->direction[AT(d)] = select(w->direction[AT(d)], along, mask);
  }
  const real reach = select(select((real)(3.14159265f), (real)(amplitude / w->arm), choice == 1),
                            (real)(amplitude), choice == 0);
  return select(reach, none, round == 0);
}

__attribute__((reqd_work_group_size(LANES, 1, 1))) __kernel void refine_lanes(
    __global const field_ligand_t *ligands,
    __global const int4 *items,   // ligand, its first place of the item, one past the last
    __global const int *in_heat,  // a place: the pose that is there in this heat, or EMPTY
    int evaluations,
    float temperature,
    float amplitude,
    grid_t grid,
    __global const int *restarts,     // a pose
    __global const int *first_angle,  // a pose: row of its first torsion angle
    __global float *quaternions,      // a pose: w, x, y, z; these three are changed in place
    __global float *translations,     // a pose: 3, Angstrom
    __global float *angles,           // radians
    __global float *gradients,        // a pose: gradient_width numbers; without rounds only
    __global float *energies,         // a pose: before and after, kcal/mol
    __global int *counts,             // a pose: evaluations
    __global const float *maps,
    __constant float4 *pair_table,
    __constant float4 *type_table,
    __global const float4 *conformers,  // Angstrom; w, kinds: see lane_problem_t
    __global const int *kinds,
    __global const torsion_t *torsions,  // the far side is in its first range
    __global const float *inverse_lengths,
    __global const uint *pairs,
    int gradient_width,
    int scratch_reals,  // of a lane: what its largest ligand needs
    __global real *scratch) {
  const int4 item = items[get_group_id(0)];
  if (in_heat[item.y] == EMPTY) return;
  const field_ligand_t l = ligands[item.x];
  const int lane = get_local_id(0), count = RIGID + l.torsions, rounds = l.rounds;
  uchar piece[MAX_ATOMS];
  __global real *own = scratch + (size_t)get_group_id(0) * LANES * scratch_reals + lane;
  const lane_problem_t p = {l,
                            grid,
                            maps,
                            {pair_table, type_table},
                            conformers + l.first_atom,
                            kinds + l.first_atom,
                            torsions + l.first_torsion,
                            inverse_lengths + l.first_torsion,
                            pairs + l.first_word,
                            piece,
                            own,
                            own + AT(3 * l.atoms),
                            own + AT(6 * l.atoms),
                            own + AT(6 * l.atoms + 12 * (l.torsions + 1))};
  own += AT(ATOM_REALS * l.atoms + PIECE_REALS * (l.torsions + 1));
  const descent_t w = {count,
                       l.radius_of_gyration,
                       own,
                       own + AT(count),
                       own + AT(2 * count),
                       own + AT(3 * count),
                       own + AT(4 * count),
                       own + AT(5 * count)};
  own += AT(5 * count + count * (count + 1) / 2);
  __global real *turns = own, *trial_turns = own + AT(l.torsions);
  __global real *present_turns = own + AT(2 * l.torsions);
  __global real *best_turns = own + AT(3 * l.torsions);
  find_pieces(l, p.torsions, piece);
  for (int n = 0; n < count * (count + 1) / 2; n++) w.hessian[AT(n)] = (real)(0.0f);
  for (int n = 0; n < count; n++) w.direction[AT(n)] = w.gradient[AT(n)] = (real)(0.0f);

  const real none = (real)(0.0f);
  whole pose = item.y + lane * POSES + NUMBERS - LANES * POSES;
  whole ended = (whole)(0) == 0, finished = ended, active = ended;
  whole round = (whole)(0), evaluation = (whole)(0), steps = (whole)(0), restart = (whole)(0);
  whole count_of_pose = (whole)(0), row = (whole)(0);
  lane_place_t place, present, best;
  real energy = none, slope = none, step = none;
  real earlier = (real)(INFINITY), before = none, lowest = none, present_energy = none;
  for (;;) {
    if (ANY(ended)) {
      if (ANY(finished)) {
        // The next pose of the lane.
        pose = select(pose, pose + LANES * POSES, finished);
        active = pose < item.z;
        row = gather_whole(in_heat, select((whole)(item.y), pose, active));
        active &= row != EMPTY;
        if (!ANY(active)) break;
        row = select((whole)(in_heat[item.y]), row, active);
        if (l.first_round > 0) earlier = gather(energies, 2 * row + 1);
        const whole first = gather_whole(first_angle, row);
        const lane_place_t given = {
            {gather(translations, 3 * row), gather(translations, 3 * row + 1),
             gather(translations, 3 * row + 2)},
            gather(quaternions, 4 * row + 1),
            gather(quaternions, 4 * row + 2),
            gather(quaternions, 4 * row + 3),
            gather(quaternions, 4 * row)};
        present = chosen(present, given, finished);
        best = chosen(best, given, finished);
        for (int n = 0; n < l.torsions; n++) {
          const real angle = gather(angles, first + n);
          present_turns[AT(n)] = select(present_turns[AT(n)], angle, finished);
          best_turns[AT(n)] = select(best_turns[AT(n)], angle, finished);
        }
        restart = gather_whole(restarts, row);
        round = select(round, (whole)(0), finished);
        count_of_pose = select(count_of_pose, (whole)(0), finished);
      }
      // The next descent, from a random change of where the chain is.
      place = chosen(place, present, ended);
      copy_where(turns, present_turns, l.torsions, ended);
      const real reach =
          change_at_random(&w, l.key, restart, round, l.first_round, amplitude, ended);
      step = select(step, reach, ended);
      evaluation = select(evaluation, (whole)(0), ended);
      steps = select(steps, (whole)(0), ended);
    }

    lane_place_t trial = place;
    trial.translation.x = fma(step, w.direction[AT(0)], place.translation.x);
    trial.translation.y = fma(step, w.direction[AT(1)], place.translation.y);
    trial.translation.z = fma(step, w.direction[AT(2)], place.translation.z);
    trial = turned(trial, (vector_t){step * w.direction[AT(3)], step * w.direction[AT(4)],
                                     step * w.direction[AT(5)]});
    for (int n = 0; n < l.torsions; n++)
      trial_turns[AT(n)] = fma(step, w.direction[AT(RIGID + n)], turns[AT(n)]);
    const real found = evaluate(&p, trial, trial_turns, w.trial_gradient);

    const whole start = evaluation == 0;
    const whole accepted = start | (found <= fma(ARMIJO * step, slope, energy));
    // The minimum of the parabola through both energies and the slope, within limits.
    const real lowest_at = -0.5f * slope * step * step / (found - energy - slope * step);
    const real shorter = clamp(lowest_at, 0.1f * step, 0.5f * step);
    place = chosen(place, trial, accepted);
    copy_where(turns, trial_turns, l.torsions, accepted);
    energy = select(energy, found, accepted);
    const whole begins = start & (round == 0);
    before = select(before, found, begins);
    if (rounds > 0 && ANY(start)) begin(&p, trial.translation, &w, start);
    slope = update_direction(&w, step, accepted, start, steps == 1);
    steps += select((whole)(0), (whole)(1), accepted);
    step = select(shorter, longest_step(&w), accepted);
    const whole going = -slope * select(step, (real)(1.0f), accepted) >= SMALL_DECREASE;
    evaluation += 1;
    count_of_pose += 1;
    ended = NOT(going) | (evaluation >= (rounds > 0 ? evaluations : 1));

    if (ANY(ended)) {
      const real chance = uniform(l.key, TO_BITS(restart), TO_BITS(l.first_round + round), 5);
      const whole taken = ended & ((round == 0) | (energy < present_energy) |
                                   (exp((present_energy - energy) / temperature) > chance));
      // Round 0 begins at the pose itself, which stays the best unless the descent lowers it, and
      // which an earlier heat may have found a rounding error lower.
      const real to_beat = select(lowest, select(before, earlier, earlier < before), round == 0);
      const whole lower = ended & (energy < to_beat);
      lowest = select(lowest, select(to_beat, energy, lower), ended);
      present_energy = select(present_energy, energy, taken);
      present = chosen(present, place, taken);
      best = chosen(best, place, lower);
      copy_where(present_turns, turns, l.torsions, taken);
      copy_where(best_turns, turns, l.torsions, lower);
      round += select((whole)(0), (whole)(1), ended);
      finished = ended & (round >= rounds);
      const whole done = finished & active;
      if (ANY(done)) {
        const whole first = gather_whole(first_angle, row);
        for (int n = 0; n < l.torsions; n++) scatter(angles, first + n, best_turns[AT(n)], done);
        scatter(translations, 3 * row, best.translation.x, done);
        scatter(translations, 3 * row + 1, best.translation.y, done);
        scatter(translations, 3 * row + 2, best.translation.z, done);
        scatter(quaternions, 4 * row, best.w, done);
        scatter(quaternions, 4 * row + 1, best.x, done);
        scatter(quaternions, 4 * row + 2, best.y, done);
        scatter(quaternions, 4 * row + 3, best.z, done);
        if (l.first_round == 0) scatter(energies, 2 * row, before, done);
        scatter(energies, 2 * row + 1, lowest, done);
        scatter_whole(counts, row, gather_whole(counts, row) + count_of_pose, done);
        if (rounds == 0)
          for (int d = 0; d < count; d++)
            scatter(gradients, gradient_width * row + d, w.gradient[AT(d)], done);
      }
    }
  }
}
