// lga: AutoDock's Lamarckian genetic algorithm, many runs of many ligands at once.
//
// A run has a population. `generation` makes the next one: each individual is a child of two that
// won their tournaments, is mutated, and improved by a local search; what that finds replaces the
// individual. `judge` then finds the best individual of each run and whether the run goes on. The
// host calls both in turn.
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

#include "individual.clh"
#include "random.clh"

#ifndef WG_SUB_GROUPS
#define WG_SUB_GROUPS 1  // sub-groups in a work-group
#endif
#ifndef LOOKS
#define LOOKS 4  // looks at the population that the automatic stop compares
#endif

// What a random number is for; iteration i of Solis and Wets' search draws by STEP + i.
#define CHOICE 0
#define MUTATED 1
#define AMOUNT 2
#define START 3
#define STEP 4

#define SHIFT 6.0f               // largest mutation of the position, Angstrom
#define TURN 1.57079633f         // of an angle, radians
#define STEP_SHIFT 3.46410162f   // largest first step of Solis and Wets, Angstrom
#define STEP_TURN 2.26724921f    // and radians
#define IN_A_ROW 4               // successes or failures after which steps change
#define SMALLEST 0.01f           // part of the first steps at which a local search ends
#define UNIT_SHIFT 0.375f        // units of ADADELTA: Angstrom
#define UNIT_TURN 0.0174532925f  // and radians
#define MEMORY 0.8f
#define SMALL 0.01f
#define LIMIT 10000.0f  // energies count as this high at most in the stop, kcal/mol

// Of a lane without an individual.
#define NONE -1

// Lanes that go on until each has finished: together where that keeps the loop's other branches
// uniform, each by itself where a question to all lanes would be a barrier.
#if defined(SG_LOCAL)
#define GOING(sg, lane) (lane)
#else
#define GOING(sg, lane) sg_any(sg, lane)
#endif

static inline float draw(uint key, int individual, int purpose, int number) {
  const uint bits = philox(key, (uint)individual << 16 | (uint)purpose, (uint)number);
  return (float)(bits >> 8) * (1.0f / 16777216.0f);
}

static inline void put_quaternion(slots_t s, float4 q) {
  AT(TRIAL + ORIENTATION) = q.x;
  AT(TRIAL + ORIENTATION + 1) = q.y;
  AT(TRIAL + ORIENTATION + 2) = q.z;
  AT(TRIAL + ORIENTATION + 3) = q.w;
}

// The orientation after a rotation vector.
static inline float4 turned(float4 q, float x, float y, float z) {
  const float square = fma(x, x, fma(y, y, z * z));
  const float angle = sqrt(square);
  const float f = angle > 1e-6f ? sin(0.5f * angle) / angle : 0.5f;
  const float4 r = quaternion_product((float4)(x * f, y * f, z * f, cos(0.5f * angle)), q);
  const float n = rsqrt(fma(r.x, r.x, fma(r.y, r.y, fma(r.z, r.z, r.w * r.w))));
  return (float4)(r.x * n, r.y * n, r.z * n, r.w * n);
}

static inline void turn_trial(slots_t s, float x, float y, float z) {
  const int o = TRIAL + ORIENTATION;
  put_quaternion(s, turned((float4)(AT(o), AT(o + 1), AT(o + 2), AT(o + 3)), x, y, z));
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

// The winner of a tournament of two.
static inline int parent(uint key,
                         int individual,
                         int first,
                         int population,
                         __global const float *energies,
                         float wins) {
  const int one = (int)(draw(key, individual, CHOICE, first) * (float)population);
  const int two = (int)(draw(key, individual, CHOICE, first + 1) * (float)population);
  const int ordered = energies[one] <= energies[two];
  const int better = ordered ? one : two, worse = ordered ? two : one;
  return draw(key, individual, CHOICE, first + 2) < wins ? better : worse;
}

// Whether a gene comes from the second parent; genes are position by component, the orientation as
// a whole, torsions.
static inline int swapped(int gene, int low, int high) {
  return gene > low && (gene <= high || low == high);
}

// A child of two parents with its mutations.
static void breed(const problem_t *p,
                  slots_t s,
                  uint key,
                  int individual,
                  lga_settings_t o,
                  __global const float *genotypes,
                  __global const float *energies) {
  const int torsions = p->ligand.torsions, length = TORSION + torsions, genes = 4 + torsions;
  __global const float *mother =
      genotypes + (size_t)parent(key, individual, 0, o.population, energies, o.tournament) * length;
  __global const float *father =
      genotypes + (size_t)parent(key, individual, 3, o.population, energies, o.tournament) * length;
  const int one = (int)(draw(key, individual, CHOICE, 7) * (float)genes);
  const int two = (int)(draw(key, individual, CHOICE, 8) * (float)genes);
  const int mixed = draw(key, individual, CHOICE, 6) < o.crossover;
  const int low = mixed ? min(one, two) : genes, high = mixed ? max(one, two) : 0;
  for (int n = 0; n < length; n++) {
    const int gene = n < ORIENTATION ? n : n < TORSION ? ORIENTATION : n - 3;
    AT(TRIAL + n) = swapped(gene, low, high) ? father[n] : mother[n];
  }
  float step[3] = {0.0f, 0.0f, 0.0f};
  for (int n = 0; n < RIGID + torsions; n++) {
    if (draw(key, individual, MUTATED, n) < o.mutation) {
      const float amount = 2.0f * draw(key, individual, AMOUNT, n) - 1.0f;
      if (n < 3) {
        AT(TRIAL + n) += amount * SHIFT;
      } else if (n < RIGID) {
        step[n - 3] = amount * TURN;
      } else {
        AT(TRIAL + 1 + n) += amount * TURN;
      }
    }
  }
  turn_trial(s, step[0], step[1], step[2]);
}

static inline void copy_slots(slots_t s, int to, int from, int count) {
  for (int n = 0; n < count; n++) AT(to + n) = AT(from + n);
}

// A local search: how far it is.
typedef struct {
  float lowest, size;
  int row;          // successes (positive) or failures (negative) in a row
  int evaluations;  // so far
  int iteration;    // of Solis and Wets' search; the opposite step is the same one
  int opposite;     // whether the step was the opposite one
} progress_t;

static inline void count_success(progress_t *b, int success) {
  b->row = success ? max(b->row, 0) + 1 : min(b->row, 0) - 1;
  const int full = b->row == IN_A_ROW || b->row == -IN_A_ROW;
  b->size *= full ? (success ? 2.0f : 0.5f) : 1.0f;
  b->row = full ? 0 : b->row;
}

#if GRADIENT

// After an evaluation: keep the genotype if it is the best, and step on, each gene by its own past.
// Returns whether the search goes on.
static int step_on(
    const problem_t *p, slots_t s, progress_t *b, float energy, int iterations, uint key, int who) {
  const int freedoms = RIGID + p->ligand.torsions;
  const int success = energy < b->lowest;
  b->lowest = success ? energy : b->lowest;
  if (success || b->evaluations == 1) copy_slots(s, KEPT, TRIAL, freedoms + 1);
  count_success(b, success);
  if (b->evaluations >= iterations || b->size <= SMALLEST) return 0;
  float turn[3];
  for (int n = 0; n < freedoms; n++) {
    const float unit = n < 3 ? UNIT_SHIFT : UNIT_TURN;
    const float g = AT(SLOPE + n) * unit;
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
    if (!b.opposite) {
      const float reach = b.size * (n < 3 ? STEP_SHIFT : STEP_TURN);
      AT(SECOND_VECTOR + n) = reach * (2.0f * draw(key, who, STEP + b.iteration, n) - 1.0f);
    }
    const float step = sign * (AT(SECOND_VECTOR + n) + AT(FIRST_VECTOR + n));
    if (n < 3) {
      AT(TRIAL + n) += step;
    } else if (n < RIGID) {
      turn[n - 3] = step;
    } else {
      AT(TRIAL + 1 + n) += step;
    }
  }
  turn_trial(s, turn[0], turn[1], turn[2]);
}

// After an evaluation: keep the genotype if it is better, else try the opposite step, else another.
static int step_on(
    const problem_t *p, slots_t s, progress_t *b, float energy, int iterations, uint key, int who) {
  const int freedoms = RIGID + p->ligand.torsions;
  const int success = energy < b->lowest, start = b->evaluations == 1;
  b->lowest = success ? energy : b->lowest;
  if (success || start) copy_slots(s, KEPT, TRIAL, freedoms + 1);
  if (!start) {
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
                                   __global const float *inverse_lengths,
                                   __global const lga_pair_t *pairs) {
  const problem_t p = {l,
                       grid,
                       maps,
                       conformers + l.first_atom,
                       kinds + l.first_atom,
                       torsions + l.first_torsion,
                       inverse_lengths + l.first_torsion,
                       pairs + l.first_pair};
  return p;
}

static inline size_t first_gene(lga_ligand_t l, lga_run_t run, int population) {
  return (size_t)l.first_gene + (size_t)run.number * population * (TORSION + l.torsions);
}

KERNEL void generation(int sub_groups,  // of all active runs together
                       int splits,      // of one run
                       int number,      // of the generation, from 0
                       lga_settings_t settings,
                       grid_t grid,
                       __global const float *maps,
                       __global const lga_ligand_t *ligands,
                       __global const float4 *conformers,  // Angstrom; w: charge
                       __global const int *kinds,          // map of an atom
                       __global const torsion_t *torsions,
                       __global const float *inverse_lengths,
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
  const lga_run_t run = runs[row];
  const problem_t p = problem_of(ligands[run.ligand], grid, maps, conformers, kinds, torsions,
                                 inverse_lengths, pairs);
  const int length = TORSION + p.ligand.torsions, size = settings.population;
  const size_t first = first_gene(p.ligand, run, size);
  const uint key = philox(p.ligand.key, (uint)run.number, (uint)number);
  __global const float *old_energies = before + (size_t)row * size;

  if (number > 0 && sg.item % splits == 0) {  // the best survives as it is
    for (int n = sg.lane; n < length; n += SG_SIZE)
      children[first + n] = parents[first + (size_t)run.best * length + n];
    if (sg.lane == 0) energies[(size_t)row * size] = old_energies[run.best];
  }
  // A lane without an individual evaluates what its slots have; that must be a pose.
  for (int n = 0; n < length; n++) AT(TRIAL + n) = n == 6 ? 1.0f : 0.0f;
  progress_t b;
  int who = NONE, left = 1, iterations = 0;
  do {
    if (who == NONE && left) {
      const int found = atomic_inc(&runs[row].next) + (number > 0);
      left = found < size;
      if (left) {
        who = found;
        if (number > 0)
          breed(&p, s, key, who, settings, parents + first, old_energies);
        else
          first_genotype(&p, s, key, who);
        for (int n = 0; n < length - 1; n++) AT(FIRST_VECTOR + n) = AT(SECOND_VECTOR + n) = 0.0f;
        const progress_t fresh = {INFINITY, 1.0f, 0, 0, 0, 0};
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
        atomic_add(&runs[row].evaluations, b.evaluations);
        who = NONE;
      }
    }
  } while (GOING(sg, left));
}

// The place of an energy in an order of integers.
static inline int ordered(float energy) {
  const int bits = as_int(energy);
  return bits < 0 ? bits ^ 0x7FFFFFFF : bits;
}

static inline int milli(float energy) {
  return convert_int_rte(1000.0f * fmin(fmax(energy, -LIMIT), LIMIT));
}

KERNEL void judge(int count,   // of active runs
                  int number,  // of the generation, from 0
                  lga_settings_t settings,
                  __global const lga_ligand_t *ligands,
                  __global const int *active,
                  __global lga_run_t *runs,
                  __global const float *genotypes,
                  __global const float *energies,
                  __global float *champions)  // the best genotype of each run, MAX_GENES numbers
{
  SG_SETUP(sg);
  const int here = sg.item < count;
  const int row = active[here ? sg.item : 0], size = settings.population;
  __global const float *mine = energies + (size_t)row * size;
  int lowest = INT_MAX;
  for (int i = sg.lane; i < size; i += SG_SIZE) lowest = min(lowest, ordered(mine[i]));
  lowest = -sg_max(sg, -lowest);
  int best = INT_MAX;
  for (int i = sg.lane; i < size; i += SG_SIZE)
    best = ordered(mine[i]) == lowest ? min(best, i) : best;
  best = -sg_max(sg, -best);
  // The best tenth, ties to the lower index.
  const int due = settings.stop_every > 0 && (number + 1) % settings.stop_every == 0;
  const int tenth = max(1, size / 10);
  int sum = 0;
  for (int i = sg.lane; due && i < size; i += SG_SIZE) {
    const int own = milli(mine[i]);
    int rank = 0;
    for (int j = 0; j < size; j++) {
      const int other = milli(mine[j]);
      rank += other < own || (other == own && j < i);
    }
    sum += rank < tenth ? own : 0;
  }
  sum = sg_sum(sg, sum);
  if (!here) return;
  const lga_ligand_t l = ligands[runs[row].ligand];
  const int length = TORSION + l.torsions;
  const size_t first = first_gene(l, runs[row], size) + (size_t)best * length;
  for (int n = sg.lane; n < length; n += SG_SIZE)
    champions[(size_t)row * MAX_GENES + n] = genotypes[first + n];
  if (sg.lane > 0) return;
  __global lga_run_t *run = runs + row;
  run->best = best;
  run->next = 0;
  run->generations = number + 1;
  run->energy = mine[best];
  int ended = (uint)run->evaluations >= l.evaluations || number + 1 >= settings.generations;
  if (due) {
    const int place = run->looks % LOOKS;
    run->sums[place] = sum;
    run->lowest[place] = milli(mine[best]);
    run->looks++;
    float total = 0.0f, squares = 0.0f;
    int most = INT_MIN, least = INT_MAX;
    for (int n = 0; n < LOOKS; n++) {
      const float apart = (float)run->sums[n] - (float)run->sums[0];
      total += apart;
      squares = fma(apart, apart, squares);
      most = max(most, run->lowest[n]);
      least = min(least, run->lowest[n]);
    }
    const float mean = total / (float)LOOKS, limit = settings.stop_deviation * 1000.0f;
    ended |= run->looks >= LOOKS && (float)(most - least) < limit &&
             squares / (float)LOOKS - mean * mean < limit * limit * tenth * tenth;
  }
  run->ended = ended;
}
