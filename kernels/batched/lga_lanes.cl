// lga_lanes: the generations of lga.cl on processors, where a lane is an individual.
//
//   launch      |  active run 0                     |  active run 1                     | ...
//   sub-group   |  0  | 1 | ... | splits - 1        |  splits | ...                             |
//   lane           takes individuals of the run one after another, until none is left
//
// A lane owns its individual: it needs no other lane, so there is no barrier. In each turn of the
// loop in `generation` every lane does one evaluation of whatever search it is in. Random numbers
// are functions of ligand, run, generation, individual and gene; sums across lanes are integers. So
// no result depends on which lane worked on what, or on the batch.
//
// NumPy twin: ligen_py/engine/genetic/reference.py.

#include "axis_angles.clh"
#include "bfgs.clh"
#include "genetic.clh"
#include "individual.clh"
#include "vectors.clh"

#ifndef WG_SUB_GROUPS
#define WG_SUB_GROUPS 1  // sub-groups in a work-group
#endif
// Of a lane without an individual.
#define NONE -1

// Lanes that go on until each has finished: together where that keeps the loop's other branches
// uniform, each by itself where a question to all lanes would be a barrier.
#if defined(SG_LOCAL)
#define GOING(sg, lane) (lane)
#else
#define GOING(sg, lane) sg_any(sg, lane)
#endif

static inline void put_quaternion(slots_t s, float4 q) {
  AT(TRIAL + ORIENTATION) = q.x;
  AT(TRIAL + ORIENTATION + 1) = q.y;
  AT(TRIAL + ORIENTATION + 2) = q.z;
  AT(TRIAL + ORIENTATION + 3) = q.w;
}

// The orientation after a rotation vector.
static inline float4 turned_by(float4 q, float x, float y, float z) {
  const float square = fma(x, x, fma(y, y, z * z));
  const float angle = sqrt(square);
  const float f = angle > 1e-6f ? sin(0.5f * angle) / angle : 0.5f;
  const float4 r = quaternion_product((float4)(x * f, y * f, z * f, cos(0.5f * angle)), q);
  const float n = rsqrt(fma(r.x, r.x, fma(r.y, r.y, fma(r.z, r.z, r.w * r.w))));
  return (float4)(r.x * n, r.y * n, r.z * n, r.w * n);
}

static inline void turn_trial(slots_t s, float x, float y, float z) {
  const int o = TRIAL + ORIENTATION;
  put_quaternion(s, turned_by((float4)(AT(o), AT(o + 1), AT(o + 2), AT(o + 3)), x, y, z));
}

// An individual of the first generation: anywhere in the box, any orientation and torsions.
static void first_genotype(const problem_t *p, slots_t s, uint key, int individual) {
  float u[RIGID];
  for (int n = 0; n < RIGID; n++) u[n] = draw(key, individual, START, n);
  const grid_t g = p->grid;
  AT(TRIAL) = fma(u[0], g.last.x - g.origin.x, g.origin.x);
  AT(TRIAL + 1) = fma(u[1], g.last.y - g.origin.y, g.origin.y);
  AT(TRIAL + 2) = fma(u[2], g.last.z - g.origin.z, g.origin.z);
  const float one = sqrt(1.0f - u[3]), two = sqrt(u[3]);
  const float alpha = 6.28318531f * u[4], beta = 6.28318531f * u[5];
  put_quaternion(s, (float4)(one * sin(alpha), one * cos(alpha), two * sin(beta), two * cos(beta)));
  for (int n = 0; n < p->ligand.torsions; n++) {
    const float v = draw(key, individual, START, RIGID + n);
    AT(TRIAL + TORSION + n) = 3.14159265f * (2.0f * v - 1.0f);
  }
}

// A child of two parents with its mutations.
static void breed(const problem_t *p,
                  slots_t s,
                  uint key,
                  int individual,
                  lga_settings_t o,
                  __global const float *genotypes,
                  __global const float *energies) {
  const int length = TORSION + p->ligand.torsions, genes = RIGID + p->ligand.torsions;
  __global const float *mother =
      genotypes + (size_t)parent(key, individual, 0, o.population, energies, o.tournament) * length;
  __global const float *father =
      genotypes + (size_t)parent(key, individual, 3, o.population, energies, o.tournament) * length;
  const int one = (int)(draw(key, individual, CHOICE, 7) * (float)(genes - 1));
  const int two = (int)(draw(key, individual, CHOICE, 8) * (float)(genes - 1));
  const int mixed = draw(key, individual, CHOICE, 6) < o.crossover;
  const int low = mixed ? min(one, two) : genes, high = mixed ? max(one, two) : 0;
  const float4 hers = axis_angles((float4)(mother[3], mother[4], mother[5], mother[6]));
  const float4 his = axis_angles((float4)(father[3], father[4], father[5], father[6]));
  // The slots of the orientation get what is below.
  for (int n = 0; n < genes; n++) {
    const int place = n < 3 ? n : n + 1;
    const float gene = swapped(n, low, high) ? father[place] : mother[place];
    AT(TRIAL + place) = gene + mutation(key, individual, n, o.mutation);
  }
  const float4 angles =
      (float4)(swapped(3, low, high) ? his.x : hers.x, swapped(4, low, high) ? his.y : hers.y,
               swapped(5, low, high) ? his.z : hers.z, 0.0f);
  const float4 steps =
      (float4)(mutation(key, individual, 3, o.mutation), mutation(key, individual, 4, o.mutation),
               mutation(key, individual, 5, o.mutation), 0.0f);
  put_quaternion(s, rotation_by(angles + steps));
}

static inline void copy_slots(slots_t s, int to, int from, int count) {
  for (int n = 0; n < count; n++) AT(to + n) = AT(from + n);
}

#if BFGS

// How a degree of freedom moves atoms: by a turn about the ligand's origin and a shift; which ones.
typedef struct {
  float4 turn, shift;
  int first, last;
} freedom_t;

static inline freedom_t freedom_of(const problem_t *p, slots_t s, int d) {
  const float4 none = (float4)(0.0f);
  freedom_t m = {(float4)(d == 3, d == 4, d == 5, 0.0f), none, 0, p->ligand.atoms};
  if (d >= RIGID) {
    const torsion_t t = p->torsions[d - RIGID];
    const float4 near = place_of(s, t.near);
    const float4 center = (float4)(AT(TRIAL), AT(TRIAL + 1), AT(TRIAL + 2), 0.0f);
    m.turn = direction(near, place_of(s, t.far));
    m.shift = cross3(minus(near, center), m.turn);
    m.first = t.heavy_first;
    m.last = t.heavy_last;
  }
  return m;
}

// Put the inverse Hessian with which a search begins; coordinates are those of the last evaluate().
// The same as first_inverse() of metric.clh, in half the matrix.
static void begin_search(const problem_t *p, slots_t s) {
  const int count = RIGID + p->ligand.torsions;
  const float share = 1.0f / (float)p->ligand.atoms;
  const float4 center = (float4)(AT(TRIAL), AT(TRIAL + 1), AT(TRIAL + 2), 0.0f);
  for (int d = 0, h = HESSIAN; d < count; h += ++d) {
    const freedom_t own = freedom_of(p, s, d);
    float4 sum = (float4)(0.0f), moment = sum;
    for (int i = own.first; i < own.last; i++) {
      const float4 x = minus(place_of(s, i), center);
      const float4 v = plus(cross3(own.turn, x), own.shift);
      sum = plus(sum, v);
      moment = plus(moment, cross3(x, v));
    }
    const float rigid[RIGID] = {sum.x, sum.y, sum.z, moment.x, moment.y, moment.z};
    for (int n = 0; n <= d; n++) {
      float value = d < 3 ? (float)(n == d) : 0.0f;
      if (d >= 3 && n < RIGID) {
        value = rigid[n] * share;
      } else if (d >= 3) {
        const freedom_t outer = freedom_of(p, s, n);
        if (own.first >= outer.first && own.last <= outer.last)
          value = (inner(outer.turn, moment) + inner(outer.shift, sum)) * share;
      }
      AT(h + n) = n == d ? fma(value, STIFFER, STIFF) : value;
    }
  }
  // Each sweep inverts one degree of freedom more; after all the triangle is that of minus the
  // inverse.
  for (int n = 0; n < count; n++) {
    for (int i = 0; i < count; i++)
      AT(CHANGE + i) = AT(HESSIAN + max(i, n) * (max(i, n) + 1) / 2 + min(i, n));
    const float inverse = 1.0f / AT(CHANGE + n);
    for (int i = 0, h = HESSIAN; i < count; i++) {
      const float of_row = AT(CHANGE + i) * inverse;
      for (int j = 0; j <= i; j++, h++) {
        const float other = AT(CHANGE + j);
        AT(h) = i == n   ? (j == n ? -inverse : other * inverse)
                : j == n ? of_row
                         : fma(-of_row, other, AT(h));
      }
    }
  }
  for (int h = HESSIAN; h < HESSIAN + count * (count + 1) / 2; h++) AT(h) = -AT(h);
}

// The inverse Hessian after a step of length `step` along the direction, and the next direction;
// the gradient where the step ended is in the slots from SLOPE. At the start of a descent there is
// no step. Returns the slope along the direction. The same as next_direction() of bfgs.clh, in half
// the matrix.
static float next_of_lane(slots_t s, int count, float step, int start, int first) {
  float sy = 0.0f;
  for (int d = 0; d < count; d++) {
    const float g = AT(SLOPE + d);
    const float y = start ? 0.0f : g - AT(FIRST_VECTOR + d);
    const float by = start ? 0.0f : AT(SECOND_VECTOR + d) * step;
    AT(FIRST_VECTOR + d) = g;
    AT(SLOPE + d) = y;
    AT(SECOND_VECTOR + d) = by;
    AT(CHANGE + d) = AT(NEXT + d) = 0.0f;
    sy = fma(by, y, sy);
  }
  for (int i = 0, h = HESSIAN; i < count; i++) {
    const float y = AT(SLOPE + i);
    float sum = 0.0f;
    for (int j = 0; j <= i; j++, h++) {
      sum = fma(AT(h), AT(SLOPE + j), sum);
      if (j < i) AT(CHANGE + j) = fma(AT(h), y, AT(CHANGE + j));
    }
    AT(CHANGE + i) += sum;
  }
  float yhy = 0.0f;
  for (int d = 0; d < count; d++) yhy = fma(AT(CHANGE + d), AT(SLOPE + d), yhy);
  const int rises = sy > 1e-6f;
  const float size = rises && first ? sy / yhy : 1.0f;
  const float inverse = rises ? 1.0f / sy : 0.0f, factor = fma(size * yhy, inverse, 1.0f) * inverse;
  for (int i = 0, h = HESSIAN; i < count; i++) {
    const float by = AT(SECOND_VECTOR + i), g = AT(FIRST_VECTOR + i);
    const float a = fma(factor, by, -(inverse * size * AT(CHANGE + i))), b = -(inverse * size * by);
    float sum = 0.0f;
    for (int j = 0; j <= i; j++, h++) {
      const float value = fma(a, AT(SECOND_VECTOR + j), fma(b, AT(CHANGE + j), size * AT(h)));
      AT(h) = value;
      sum = fma(-value, AT(FIRST_VECTOR + j), sum);
      if (j < i) AT(NEXT + j) = fma(-value, g, AT(NEXT + j));
    }
    AT(NEXT + i) += sum;
  }
  float slope = 0.0f;
  for (int d = 0; d < count; d++) {
    const float along = AT(NEXT + d);
    AT(SECOND_VECTOR + d) = along;
    slope = fma(along, AT(FIRST_VECTOR + d), slope);
  }
  return slope;
}

// After an evaluation: to the minimum of the parabola that past gradients describe, or less far
// where that was no help. Returns whether the search goes on.
static int step_on(
    const problem_t *p, slots_t s, progress_t *b, float energy, int iterations, uint key, int who) {
  const int freedoms = RIGID + p->ligand.torsions, start = b->evaluations == 1;
  const float arm = p->ligand.arm;
  const int accepted = start || goes_down(energy, b->lowest, b->slope, b->size);
  if (accepted) {
    b->lowest = energy;
    copy_slots(s, KEPT, TRIAL, freedoms + 1);
  }
  if (b->evaluations >= iterations) return 0;
  if (accepted) {
    if (start) begin_search(p, s);
    b->slope = next_of_lane(s, freedoms, b->size, start, b->row == 1);
    b->row++;
    float most = 1e-6f;
    for (int d = 0; d < freedoms; d++) {
      const float along = AT(SECOND_VECTOR + d);
      most = fmax(most, along * along / squared_unit(arm, d));
    }
    b->size = fmin(1.0f, rsqrt(most));
  } else {
    b->size = shorter_step(energy, b->lowest, b->slope, b->size);
  }
  if (!(-b->slope * (accepted ? 1.0f : b->size) >= SMALL_DECREASE)) return 0;
  float turn[3];
  for (int n = 0; n < freedoms; n++) {
    const float by = b->size * AT(SECOND_VECTOR + n);
    if (n < 3) {
      AT(TRIAL + n) = AT(KEPT + n) + by;
    } else if (n < RIGID) {
      turn[n - 3] = by;
    } else {
      AT(TRIAL + 1 + n) = AT(KEPT + 1 + n) + by;
    }
  }
  copy_slots(s, TRIAL + ORIENTATION, KEPT + ORIENTATION, 4);
  turn_trial(s, turn[0], turn[1], turn[2]);
  return 1;
}

#elif GRADIENT

// After an evaluation: keep the genotype if it is the best, and step on, each gene by its own past.
// Returns whether the search goes on.
static int step_on(
    const problem_t *p, slots_t s, progress_t *b, float energy, int iterations, uint key, int who) {
  const int freedoms = RIGID + p->ligand.torsions;
  const int lower = energy < b->lowest, success = energy < b->lowest - GAIN;
  b->lowest = lower ? energy : b->lowest;
  if (lower || b->evaluations == 1) copy_slots(s, KEPT, TRIAL, freedoms + 1);
  count_success(b, success);
  if (b->evaluations >= iterations || b->size <= SMALLEST) return 0;
  float turn[3];
  for (int n = 0; n < freedoms; n++) {
    const float unit = unit_of(n);
    const float g = fmin(fmax(AT(SLOPE + n) * unit, -MOST_RISE), MOST_RISE);
    const float gradients = fma(1.0f - MEMORY, g * g, MEMORY * AT(FIRST_VECTOR + n));
    const float before = AT(SECOND_VECTOR + n);
    const float step = -g * sqrt((before + SMALL) / (gradients + SMALL));
    AT(FIRST_VECTOR + n) = gradients;
    AT(SECOND_VECTOR + n) = fma(1.0f - MEMORY, step * step, MEMORY * before);
    if (n < 3) {
      AT(TRIAL + n) = fma(step, unit, AT(TRIAL + n));
    } else if (n < RIGID) {
      turn[n - 3] = step * unit;
    } else {
      AT(TRIAL + 1 + n) = fma(step, unit, AT(TRIAL + 1 + n));
    }
  }
  turn_trial(s, turn[0], turn[1], turn[2]);
  return 1;
}

#else

// A random step from the kept genotype with the bias of the past, or the opposite of the last one.
static void random_step(const problem_t *p, slots_t s, progress_t b, uint key, int who) {
  const float sign = b.opposite ? -1.0f : 1.0f;
  const int freedoms = RIGID + p->ligand.torsions;
  copy_slots(s, TRIAL, KEPT, freedoms + 1);
  float turn[3];
  for (int n = 0; n < freedoms; n++) {
    if (!b.opposite)
      AT(SECOND_VECTOR + n) =
          random_part(key, who, b.iteration, n, b.size, p->ligand.atoms, freedoms);
    const float step = sign * (AT(SECOND_VECTOR + n) + AT(FIRST_VECTOR + n));
    if (n < 3) {
      AT(TRIAL + n) += step;
    } else if (n < RIGID) {
      turn[n - 3] = step;
    } else {
      AT(TRIAL + 1 + n) += step;
    }
  }
  put_quaternion(s, rotation_by(b.angles + (float4)(turn[0], turn[1], turn[2], 0.0f)));
}

// After an evaluation: keep the genotype if it is better, else try the opposite step, else another.
static int step_on(
    const problem_t *p, slots_t s, progress_t *b, float energy, int iterations, uint key, int who) {
  const int freedoms = RIGID + p->ligand.torsions;
  const int success = energy < b->lowest, start = b->evaluations == 1;
  b->lowest = success ? energy : b->lowest;
  if (success || start) copy_slots(s, KEPT, TRIAL, freedoms + 1);
  if (start) {
    const int q = KEPT + ORIENTATION;
    b->angles = axis_angles((float4)(AT(q), AT(q + 1), AT(q + 2), AT(q + 3)));
  } else {
    if (success) {
      const float sign = b->opposite ? -1.0f : 1.0f;
      b->angles += sign * (float4)(AT(FIRST_VECTOR + 3) + AT(SECOND_VECTOR + 3),
                                   AT(FIRST_VECTOR + 4) + AT(SECOND_VECTOR + 4),
                                   AT(FIRST_VECTOR + 5) + AT(SECOND_VECTOR + 5), 0.0f);
    }
    if (!success && !b->opposite) {
      b->opposite = 1;
      random_step(p, s, *b, key, who);
      return 1;
    }
    for (int n = 0; n < freedoms; n++) {
      const float along = (b->opposite ? -0.4f : 0.4f) * AT(SECOND_VECTOR + n);
      AT(FIRST_VECTOR + n) =
          success ? 0.6f * AT(FIRST_VECTOR + n) + along : 0.5f * AT(FIRST_VECTOR + n);
    }
    count_success(b, success);
    b->iteration++;
    b->opposite = 0;
  }
  if (b->iteration >= iterations || b->size <= SMALLEST) return 0;
  random_step(p, s, *b, key, who);
  return 1;
}

#endif

// The problem of a ligand, and where its runs lie in the arrays of all genotypes.
static inline problem_t problem_of(lga_ligand_t l,
                                   grid_t grid,
                                   __global const float *maps,
                                   __global const float4 *conformers,
                                   __global const int *kinds,
                                   __global const torsion_t *torsions,
                                   __global const lga_pair_t *pairs) {
  const problem_t p = {l,
                       grid,
                       maps,
                       conformers + l.first_atom,
                       kinds + l.first_atom,
                       torsions + l.first_torsion,
                       pairs + l.first_pair};
  return p;
}

KERNEL void generation(int sub_groups,  // of all active runs together
                       int splits,      // of one run
                       lga_settings_t settings,
                       grid_t grid,
                       __global const float *maps,
                       __global const lga_ligand_t *ligands,
                       __global const float4 *conformers,  // Angstrom; w: charge
                       __global const int *kinds,          // map of an atom
                       __global const torsion_t *torsions,
                       __global const lga_pair_t *pairs,
                       __global const int *active,  // runs that go on
                       __global lga_run_t *runs,
                       __global const float *parents,  // genotypes of the generation before
                       __global const float *before,   // their energies, kcal/mol
                       __global float *children,
                       __global float *energies
#if KEEP_GLOBAL
                       ,
                       __global float *slots  // SLOTS * SG_SIZE numbers a sub-group
#endif
) {
  SG_SETUP(sg);
#if KEEP_GLOBAL
  slots_t s = OWN_SLOTS(sg, slots + (size_t)sg.item * SLOTS * SG_SIZE);
#else
  __local float slots[WG_SUB_GROUPS * SLOTS * SG_SIZE];
  slots_t s = OWN_SLOTS(sg, slots + sg.index * SLOTS * SG_SIZE);
#endif
  if (sg.item >= sub_groups) return;
  const int row = active[sg.item / splits];
  __global const lga_run_t *run = runs + row;  // others count in some of its members meanwhile
  if (run->ended) return;
  const int number = run->generations;
  const problem_t p =
      problem_of(ligands[run->ligand], grid, maps, conformers, kinds, torsions, pairs);
  const int length = TORSION + p.ligand.torsions, size = settings.population;
  const size_t first = first_gene(p.ligand, run->number, size);
  const uint key = philox(p.ligand.key, (uint)run->number, (uint)number);
  __global const float *old_energies = before + (size_t)row * size;

  if (number > 0 && sg.item % splits == 0) {  // the best survives as it is
    for (int n = sg.lane; n < length; n += SG_SIZE)
      children[first + n] = parents[first + (size_t)run->best * length + n];
    if (sg.lane == 0) energies[(size_t)row * size] = old_energies[run->best];
  }
  // A lane without an individual evaluates what its slots have; that must be a pose.
  for (int n = 0; n < length; n++) AT(TRIAL + n) = n == 6 ? 1.0f : 0.0f;
  progress_t b;
  int who = NONE, left = 1, iterations = 0;
  do {
    if (who == NONE && left) {
      const int found = atomic_inc(&runs[row].next[number % AHEAD]) + (number > 0);
      left = found < size;
      if (left) {
        who = found;
        if (number > 0)
          breed(&p, s, key, who, settings, parents + first, old_energies);
        else
          first_genotype(&p, s, key, who);
        for (int n = 0; n < length - 1; n++) AT(FIRST_VECTOR + n) = AT(SECOND_VECTOR + n) = 0.0f;
        const progress_t fresh = NEW_PROGRESS;
        b = fresh;
        iterations = draw(key, who, CHOICE, 9) < settings.searched ? settings.iterations : 0;
      }
    }
    const float energy = evaluate(&p, s);
    if (who != NONE) {
      b.evaluations++;
      if (!step_on(&p, s, &b, energy, iterations, key, who)) {
        for (int n = 0; n < length; n++) children[first + (size_t)who * length + n] = AT(KEPT + n);
        energies[(size_t)row * size + who] = b.lowest;
        atomic_add(&runs[row].used[number % AHEAD], b.evaluations);
        who = NONE;
      }
    }
  } while (GOING(sg, left));
}
