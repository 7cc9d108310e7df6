// lga: AutoDock's Lamarckian genetic algorithm, many runs of many ligands at once.
//
// A run has a population. Each individual of the next one is a child of two that won their
// tournaments, is mutated, and improved by a local search; what that finds replaces the individual.
// When a population is complete, judge.clh finds its best individual and whether the run goes on.
//
// A sub-group works on one individual, whose pose lies in local memory; a work-group is one
// sub-group. A lane has one degree of freedom (or a few): its gene, its gradient and what the local
// search remembers of it. One launch makes several generations. Sub-groups take tickets:
//
//   ticket      |  0 | 1 | ... | population - 1  |  population | ...  | ...  |  ...
//   generation  |  first                                              | ...  |  second  ...
//   run         |  active run 0                  |  active run 1      | ...  |  active run 0  ...
//
// and wait where one that may be a parent is not complete: two tournaments of two name up to four
// at birth, and few look at the energies of both. All earlier tickets are in the hands of
// sub-groups that run, so somebody always goes on. The last sub-group of a generation judges it. So
// a child waits neither for other runs nor for the longest search of its own, and the device never
// waits for the host. AHEAD generations of a run are in memory.
//
// Random numbers are functions of ligand, run, generation, individual and gene. So no result
// depends on the batch or on who works on what.
//
// NumPy twin: ligen_py/engine/genetic/reference.py.

#include "ad4_pose.clh"
#include "bfgs.clh"
#include "genetic.clh"
#include "judge.clh"

#define PLACE(p, i) (p)->places[i]
#define CENTER(p) (float4)((p)->rigid[0], (p)->rigid[1], (p)->rigid[2], 0.0f)
#include "metric.clh"

#ifndef BFGS
#define BFGS 0  // whether the local search is BFGS; else it is ADADELTA or Solis and Wets'
#endif

// Random numbers that decide about parents and crossover.
#define CHOICES 10

// The individual of a lane's sub-group.
typedef struct {
  genotypes_t trial;  // Solis and Wets' search tries a step and its opposite at once
  float kept[OWN];    // genes of the best genotype
  float4 orientation;
  float first[OWN], second[OWN];  // what the local search remembers of each gene
  float slope[OWN];               // derivatives of the energy
} individual_t;

// Whether a gene is one of the rotation.
static inline int is_turn(int d) { return d >= 3 && d < RIGID; }

// Begin at an orientation: a rotation vector starts anew with each step.
static inline void orient(sg_t sg, individual_t *own, float4 angles) {
  own->trial.orientation[0] = rotation_by(angles);
  for (int k = 0; k < OWN; k++) {
    const int d = k * SG_SIZE + sg.lane;
    const float angle = d == 3 ? angles.x : d == 4 ? angles.y : angles.z;
    if (is_turn(d)) own->trial.value[0][k] = GRADIENT ? 0.0f : angle;
  }
}

// An individual of the first generation: anywhere in the box, any orientation and torsions.
static void first_genotype(
    sg_t sg, const problem_t *p, __local float *shared, uint key, int number, individual_t *own) {
  const grid_t g = p->grid;
  for (int k = 0; k < OWN; k++) {
    const int d = k * SG_SIZE + sg.lane;
    const float u = draw(key, number, START, d);
    const float low = d == 0 ? g.origin.x : d == 1 ? g.origin.y : g.origin.z;
    const float high = d == 0 ? g.last.x : d == 1 ? g.last.y : g.last.z;
    own->trial.value[0][k] = d < 3 ? fma(u, high - low, low) : 3.14159265f * (2.0f * u - 1.0f);
    if (is_turn(d)) shared[d] = u;
  }
  sg_sync(sg);
  const float one = sqrt(1.0f - shared[3]), two = sqrt(shared[3]);
  const float alpha = 6.28318531f * shared[4], beta = 6.28318531f * shared[5];
  orient(sg, own,
         axis_angles((float4)(one * fast_sin(alpha), one * fast_cos(alpha), two * fast_sin(beta),
                              two * fast_cos(beta))));
  sg_sync(sg);
}

// A run's individuals of one generation, as its children see them while others are not complete.
typedef struct {
  volatile __global lga_run_t *run;
  volatile __global const float *genotypes;
  volatile __global const float *energies;  // kcal/mol
  volatile __global const int
      *complete;  // of an individual, the number of its children's generation
} previous_t;

// Whether the run goes on, by lane 0's last look: the same for all lanes.
static int goes_on(sg_t sg, volatile __global lga_run_t *run, __local float *shared) {
  sg_sync(sg);
  if (sg.lane == 0) shared[0] = (float)!run->ended;
  sg_sync(sg);
  return shared[0] != 0.0f;
}

// A child of two parents with its mutations; 0 if the run ends before its parents are complete.
static int breed(sg_t sg,
                 const problem_t *p,
                 __local float *shared,
                 uint key,
                 int generation,
                 int number,
                 lga_settings_t o,
                 previous_t previous,
                 individual_t *own) {
  const int length = TORSION + p->ligand.torsions, genes = RIGID + p->ligand.torsions;
  volatile __global const float *genotypes = previous.genotypes, *energies = previous.energies;
  // A tournament needs three numbers and the crossover three more; each lane draws one.
  for (int n = sg.lane; n < CHOICES; n += SG_SIZE) shared[n + 1] = draw(key, number, CHOICE, n);
  sg_sync(sg);
  const int mixed = shared[7] < o.crossover;
  // Two lanes a tournament; one without crossover and those that compare nothing need fewer.
  const int tournament = sg.lane / 2, second = sg.lane % 2;
  if (tournament <= mixed && (!second || compared(shared[3 * tournament + 3], o.tournament))) {
    const int of = (int)(shared[3 * tournament + second + 1] * (float)o.population);
    while (previous.complete[of] != generation && !previous.run->ended) rest();
  }
  if (!goes_on(sg, previous.run, shared)) return 0;
  device_fence();
  shared += 1;
  int parents[2];
  for (int n = 0; n <= mixed; n++) {
    const int one = (int)(shared[3 * n] * (float)o.population);
    const int two = (int)(shared[3 * n + 1] * (float)o.population);
    const int second_wins =
        compared(shared[3 * n + 2], o.tournament) && energies[two] < energies[one];
    parents[n] = second_wins ? two : one;
  }
  if (!mixed) parents[1] = parents[0];
  volatile __global const float *mother = genotypes + (size_t)parents[0] * length;
  volatile __global const float *father = genotypes + (size_t)parents[1] * length;
  const float points = (float)(genes - 1);
  const int one = (int)(shared[7] * points), two = (int)(shared[8] * points);
  const int low = mixed ? min(one, two) : genes, high = mixed ? max(one, two) : 0;
  __local float *angles = shared + CHOICES;
  const float4 hers = axis_angles((float4)(mother[3], mother[4], mother[5], mother[6]));
  const float4 his = axis_angles((float4)(father[3], father[4], father[5], father[6]));
  for (int k = 0; k < OWN; k++) {
    const int d = k * SG_SIZE + sg.lane;
    own->trial.value[0][k] = 0.0f;
    if (d >= genes) continue;
    const int other = swapped(d, low, high), place = d < 3 ? d : d + 1;
    const float step = mutation(key, number, d, o.mutation);
    const float4 from = other ? his : hers;
    if (is_turn(d))
      angles[d - 3] = (d == 3 ? from.x : d == 4 ? from.y : from.z) + step;
    else
      own->trial.value[0][k] = (other ? father[place] : mother[place]) + step;
  }
  sg_sync(sg);
  orient(sg, own, (float4)(angles[0], angles[1], angles[2], 0.0f));
  sg_sync(sg);
  return 1;
}

static inline void keep(individual_t *own, int s) {
  for (int k = 0; k < OWN; k++) own->kept[k] = own->trial.value[s][k];
  own->orientation = own->trial.orientation[s];
}

// After an evaluation: keep what is best and step on. Returns whether the search goes on.
#if BFGS

// To the minimum of the parabola that past gradients describe, or less far where that is no help.
static int step_on(sg_t sg,
                   const problem_t *p,
                   individual_t *own,
                   progress_t *b,
                   const float *energy,
                   int iterations,
                   const descent_t *w,
                   uint key,
                   int number) {
  const float found = energy[0];
  const int start = b->evaluations == 0;
  const int accepted = start || goes_down(found, b->lowest, b->slope, b->size);
  b->evaluations++;
  if (accepted) {
    b->lowest = found;
    keep(own, 0);
  }
  if (b->evaluations >= iterations) return 0;
  if (accepted) {
    if (start) {
      descent_t begun = *w;
      first_inverse(sg, p, w->count, &begun, p->forces, (__local float4 *)w->gradient, 1);
      b->slope = first_direction(sg, w, own->slope, &b->size);
    } else {
      b->slope = next_direction(sg, w, own->slope, b->size, b->row == 1, &b->size);
    }
    b->row++;
  } else {
    b->size = shorter_step(found, b->lowest, b->slope, b->size);
  }
  if (!(-b->slope * (accepted ? 1.0f : b->size) >= SMALL_DECREASE)) return 0;
  for (int k = 0; k < OWN; k++) {
    const int d = k * SG_SIZE + sg.lane;
    if (d < w->count)
      own->trial.value[0][k] = fma(b->size, w->direction[d], is_turn(d) ? 0.0f : own->kept[k]);
  }
  own->trial.orientation[0] = own->orientation;
  return 1;
}

#elif GRADIENT

// Against the gradient, each gene by its own past.
static int step_on(sg_t sg,
                   const problem_t *p,
                   individual_t *own,
                   progress_t *b,
                   const float *energy,
                   int iterations,
                   const descent_t *w,
                   uint key,
                   int number) {
  const int freedoms = RIGID + p->ligand.torsions;
  const int lower = energy[0] < b->lowest, success = energy[0] < b->lowest - GAIN;
  b->evaluations++;
  b->lowest = lower ? energy[0] : b->lowest;
  if (lower || b->evaluations == 1) keep(own, 0);
  count_success(b, success);
  if (b->evaluations >= iterations || b->size <= SMALLEST) return 0;
  for (int k = 0; k < OWN; k++) {
    const int d = k * SG_SIZE + sg.lane;
    if (d >= freedoms) continue;
    const float unit = unit_of(d);
    const float g = fmin(fmax(own->slope[k] * unit, -MOST_RISE), MOST_RISE);
    const float gradients = fma(1.0f - MEMORY, g * g, MEMORY * own->first[k]);
    const float before = own->second[k];
    const float step = -g * fast_sqrt((before + SMALL) * fast_recip(gradients + SMALL));
    own->first[k] = gradients;
    own->second[k] = fma(1.0f - MEMORY, step * step, MEMORY * before);
    own->trial.value[0][k] = fma(step, unit, is_turn(d) ? 0.0f : own->trial.value[0][k]);
  }
  return 1;
}

#else

// A random step from the best genotype with the bias of the past, and the opposite one, which
// counts where the step does not help.
static int step_on(sg_t sg,
                   const problem_t *p,
                   individual_t *own,
                   progress_t *b,
                   const float *energy,
                   int iterations,
                   const descent_t *w,
                   uint key,
                   int number) {
  const int freedoms = RIGID + p->ligand.torsions;
  if (b->evaluations == 0) {
    b->evaluations = 1;
    b->lowest = energy[0];
    keep(own, 0);
  } else {
    const int ahead = energy[0] < b->lowest, back = !ahead && energy[1] < b->lowest;
    b->evaluations += ahead ? 1 : 2;
    b->iteration++;
    if (ahead) {
      b->lowest = energy[0];
      keep(own, 0);
    } else if (back) {
      b->lowest = energy[1];
      keep(own, 1);
    }
    for (int k = 0; k < OWN; k++) {
      const float along = (ahead ? 0.4f : -0.4f) * own->second[k];
      own->first[k] = ahead || back ? 0.6f * own->first[k] + along : 0.5f * own->first[k];
    }
    count_success(b, ahead || back);
  }
  if (b->iteration >= iterations || b->size <= SMALLEST) return 0;
  for (int k = 0; k < OWN; k++) {
    const int d = k * SG_SIZE + sg.lane;
    if (d >= freedoms) continue;
    own->second[k] = random_part(key, number, b->iteration, d, b->size, p->ligand.atoms, freedoms);
    const float along = own->second[k] + own->first[k];
    for (int s = 0; s < TRIALS; s++) own->trial.value[s][k] = own->kept[k] + (s ? -along : along);
  }
  return 1;
}

#endif

// Wait until so many generations of a run are complete. Whether it goes on after these.
static int wait_for(volatile __global lga_run_t *run, int generations) {
  while (run->generations < generations && !run->ended) rest();
  return !run->ended;
}

// The individual `number` of a generation of a run, from its birth to the end of its local search.
// Genotypes are those of the run. Returns 0 if the run ends before its parents are complete.
static int make_individual(sg_t sg,
                           const problem_t *p,
                           __local float *shared,
                           __local float4 *descent,
                           lga_settings_t settings,
                           uint key,
                           int generation,
                           int number,
                           previous_t previous,
                           __global float *children,
                           __global float *energies) {
  const int length = TORSION + p->ligand.torsions, freedoms = RIGID + p->ligand.torsions;
  volatile __global lga_run_t *run = previous.run;
  __global float *gene = children + (size_t)number * length;
  if (generation > 0 && number == 0) {  // the best survives as it is
    if (sg.lane == 0) wait_for(run, generation);
    if (!goes_on(sg, run, shared)) return 0;
    device_fence();
    const int best = run->best;
    for (int n = sg.lane; n < length; n += SG_SIZE)
      gene[n] = previous.genotypes[(size_t)best * length + n];
    if (sg.lane == 0) energies[0] = previous.energies[best];
    return 1;
  }
  share_t share;
  find_share(sg, p, &share);
  individual_t own;
  for (int k = 0; k < OWN; k++) own.first[k] = own.second[k] = own.slope[k] = 0.0f;
  if (generation == 0)
    first_genotype(sg, p, shared, key, number, &own);
  else if (!breed(sg, p, shared, key, generation, number, settings, previous, &own))
    return 0;
  for (int s = 1; s < TRIALS; s++) {
    for (int k = 0; k < OWN; k++) own.trial.value[s][k] = own.trial.value[0][k];
    own.trial.orientation[s] = own.trial.orientation[0];
  }
  progress_t b = NEW_PROGRESS;
  const descent_t w = descent_in((__local float *)descent, freedoms, p->ligand.arm);
  const int searched = draw(key, number, CHOICE, 9) < settings.searched;
  const int iterations = searched ? settings.iterations : 0;
  float energy[TRIALS];
  do {
    evaluate(sg, p, &share, &own.trial, energy, own.slope);
  } while (step_on(sg, p, &own, &b, energy, iterations, &w, key, number));
  for (int k = 0; k < OWN; k++) {
    const int d = k * SG_SIZE + sg.lane;
    if (d < freedoms && !is_turn(d)) gene[d < 3 ? d : d + 1] = own.kept[k];
  }
  if (sg.lane > 0) return 1;
  const float4 q = own.orientation;
  gene[ORIENTATION] = q.x;
  gene[ORIENTATION + 1] = q.y;
  gene[ORIENTATION + 2] = q.z;
  gene[ORIENTATION + 3] = q.w;
  energies[number] = b.lowest;
  atomic_add(&run->used[generation % AHEAD], b.evaluations);
  return 1;
}

KERNEL void generations(int from,           // number of the first generation
                        int many,           // generations
                        int count,          // of active runs
                        uint first_ticket,  // what the counter of tickets is before
                        lga_settings_t settings,
                        grid_t grid,
                        __global const float4 *maps,  // of gather_cells()
                        __global const lga_ligand_t *ligands,
                        __global const float4 *conformers,  // Angstrom; w: charge
                        __global const int *kinds,          // rigid piece << 16 | map of an atom
                        __global const torsion_t *torsions,
                        __global const float *inverse_lengths,
                        __global const float4 *pairs,
                        __global const int *active,  // runs that go on
                        volatile __global lga_run_t *runs,
                        long genes,                 // of a generation of all runs
                        long individuals,           // likewise
                        __global float *genotypes,  // of AHEAD generations
                        __global float *all_energies,
                        volatile __global int *complete,
                        volatile __global uint *tickets,
                        __global float *champions) {
  SG_SETUP(sg);
  __local float4 places[TRIALS * SPOTS], forces[TRIALS * FORCES];
  __local float shared[16];
  __local float4 descent[BFGS ? (DESCENT + 3) / 4 : 1];
  __local int others[SG_SIZE];
  __local uint told[3];  // by lane 0: a ticket, whether its run takes it, whether it was the last
  const int size = settings.population;
  for (;;) {
    if (sg.lane == 0) told[0] = atomic_inc(tickets) - first_ticket;
    sg_sync(sg);
    const uint ticket = told[0];
    if (ticket >= (uint)(count * size) * many) return;
    const int generation = from + (int)(ticket / (count * size));
    const int row = active[ticket % (count * size) / size], number = (int)(ticket % size);
    volatile __global lga_run_t *run = runs + row;
    // The place that this generation takes in memory belonged to one whose children are all born.
    if (sg.lane == 0) told[1] = wait_for(run, generation - AHEAD + 2);
    sg_sync(sg);
    if (told[1]) {
      const lga_ligand_t l = ligands[run->ligand];
      const problem_t p = {l,
                           grid,
                           maps,
                           conformers + l.first_atom,
                           kinds + l.first_atom,
                           torsions + l.first_torsion,
                           inverse_lengths + l.first_torsion,
                           pairs + (size_t)l.first_step * SG_SIZE,
                           shared,
                           places,
                           forces};
      const size_t first = first_gene(l, run->number, size), energy = (size_t)row * size;
      const uint key = philox(l.key, (uint)run->number, (uint)generation);
      const int before = (generation + AHEAD - 1) % AHEAD, slot = generation % AHEAD;
      const previous_t previous = {run, genotypes + before * genes + first,
                                   all_energies + before * individuals + energy,
                                   complete + before * individuals + energy};
      __global float *children = genotypes + slot * genes + first;
      __global float *energies = all_energies + slot * individuals + energy;
      if (make_individual(sg, &p, shared, descent, settings, key, generation, number, previous,
                          children, energies)) {
        device_fence();
        sg_sync(sg);
        if (sg.lane == 0) {
          complete[slot * individuals + energy + number] = generation + 1;
          told[2] = atomic_inc(&run->next[slot]) + 1 == size;
        }
        sg_sync(sg);
        if (told[2]) {
          device_fence();
          judge_run(sg, l, settings, row, run, children, energies, others, champions);
        }
      }
    }
    sg_sync(sg);
  }
}
