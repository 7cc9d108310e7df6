// dock where a lane is a restart: the search of batched/dock.cl, of which each lane does one alone.
// The lanes of a work-item are POSES restarts of one ligand, in vector types (real.clh). Its atoms,
// torsions and fragments are the same numbers for all of them; what happens to some restarts only
// is a masked update. No lane waits for another, and nothing is summed across lanes.
//
//   work-item   POSES restarts of ligand item / splits: the first is POSES * (item % splits)
//
// Most of the time goes into reading the field, a byte at a time for each lane; the code around it
// has no branches by lane.
//
// NumPy twin: ligen_py/engine/docking/reference.py, bit for bit, as for every form.

#include "dock_batch.clh"
#include "real.clh"
#include "search.clh"

typedef struct {
  real x, y, z;
} vector_t;

typedef struct {
  real x, y, z, w;
} turn_t;  // a quaternion

// A rigid motion, rows of the matrix; the shift is beside it.
typedef struct {
  vector_t x, y, z, shift;
} motion_t;

static inline real dot_plus(vector_t row, vector_t p, real start) {
  return fma(row.x, p.x, fma(row.y, p.y, fma(row.z, p.z, start)));
}

static inline vector_t moved(const motion_t *m, vector_t p) {
  return (vector_t){dot_plus(m->x, p, m->shift.x), dot_plus(m->y, p, m->shift.y),
                    dot_plus(m->z, p, m->shift.z)};
}

static inline vector_t everywhere(float x, float y, float z) {
  return (vector_t){(real)(x), (real)(y), (real)(z)};
}

static inline real pivot_shift(vector_t row, vector_t pivot, real own) {
  return own - fma(row.x, pivot.x, fma(row.y, pivot.y, row.z * pivot.z));
}

// As rotation() in geometry.clh.
static inline motion_t turned(vector_t d, real c, real s, vector_t pivot) {
  const real k = 1.0f - c;
  const real kx = k * d.x, ky = k * d.y, kz = k * d.z, sx = s * d.x, sy = s * d.y, sz = s * d.z;
  motion_t m;
  m.x = (vector_t){fma(kx, d.x, c), fma(kx, d.y, -sz), fma(kx, d.z, sy)};
  m.y = (vector_t){fma(ky, d.x, sz), fma(ky, d.y, c), fma(ky, d.z, -sx)};
  m.z = (vector_t){fma(kz, d.x, -sy), fma(kz, d.y, sx), fma(kz, d.z, c)};
  m.shift = (vector_t){pivot_shift(m.x, pivot, pivot.x), pivot_shift(m.y, pivot, pivot.y),
                       pivot_shift(m.z, pivot, pivot.z)};
  return m;
}

// As rigid() there.
static inline motion_t placed(turn_t q, vector_t t) {
  const real x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
  const real xx = q.x * x2, yy = q.y * y2, zz = q.z * z2;
  const real wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
  return (motion_t){{1.0f - (yy + zz), fma(q.x, y2, -wz), fma(q.x, z2, wy)},
                    {fma(q.x, y2, wz), 1.0f - (xx + zz), fma(q.y, z2, -wx)},
                    {fma(q.x, z2, -wy), fma(q.y, z2, wx), 1.0f - (xx + yy)},
                    t};
}

// The orientation q after a turn about the unit vector d by an angle, of whose half c and s are
// cosine and sine.
static inline turn_t turned_on(turn_t q, vector_t d, real c, real s) {
  const real x = d.x * s, y = d.y * s, z = d.z * s;
  return (turn_t){fma(c, q.x, fma(x, q.w, fma(y, q.z, -(z * q.y)))),
                  fma(c, q.y, fma(y, q.w, fma(z, q.x, -(x * q.z)))),
                  fma(c, q.z, fma(z, q.w, fma(x, q.y, -(y * q.x)))),
                  fma(c, q.w, -fma(x, q.x, fma(y, q.y, z * q.z)))};
}

static inline vector_t chosen_vector(vector_t otherwise, vector_t wanted, whole mask) {
  return (vector_t){select(otherwise.x, wanted.x, mask), select(otherwise.y, wanted.y, mask),
                    select(otherwise.z, wanted.z, mask)};
}

// Component `part` of an angle of each lane's own: cosine, sine, and those of the half.
static inline real of_angle(__global const float4 *angles, whole angle, int part) {
  return gather((__global const float *)angles, 4 * angle + part);
}

static inline vector_t bond_of(const vector_t *atoms, torsion_t torsion, float inverse_length) {
  const vector_t far = atoms[torsion.far], near = atoms[torsion.near];
  const real x = (far.x - near.x) * inverse_length, y = (far.y - near.y) * inverse_length;
  const real z = (far.z - near.z) * inverse_length;
  const real f = fma((real)(-0.5f), fma(x, x, fma(y, y, z * z)), (real)(1.5f));
  return (vector_t){x * f, y * f, z * f};
}

static inline void move_range(vector_t *atoms, int first, int last, const motion_t *m) {
  for (int i = first; i < last; i++) atoms[i] = moved(m, atoms[i]);
}

static inline bits biased_points(real x) {
  return TO_BITS(fma(clamp(x, 0.0f, 1.0f), (real)(GRID_SIDE - 1), (real)(8388608.0f)));
}

// The value of the field at a place.
static inline whole field_here(__global const char *field, vector_t p) {
  const uint bias = BIAS_2_23 * (GRID_SIDE * GRID_SIDE + GRID_SIDE + 1u);
  const bits x = biased_points(p.x), y = biased_points(p.y), z = biased_points(p.z);
  return gather_bytes(field, (x * GRID_SIDE + y) * GRID_SIDE + z - bias);
}

// Ranges of atoms that move together.
typedef struct {
  int first[2], last[2];
} moving_t;

// What moves with one side of a bond.
static inline moving_t side_of(const problem_t *ligand, torsion_t t, int near_side) {
  if (near_side) return (moving_t){{0, t.heavy_last}, {t.heavy_first, ligand->atoms}};
  return (moving_t){{t.heavy_first, 0}, {t.heavy_last, 0}};
}

// Field sum of some atoms after a rigid motion.
static inline whole sum_of(__global const char *field,
                           const vector_t *atoms,
                           const moving_t *moving,
                           const motion_t *m) {
  whole sum = (whole)(0);
#pragma unroll 1
  for (int range = 0; range < 2; range++)
#pragma unroll 1
    for (int i = moving->first[range]; i < moving->last[range]; i++)
      sum += field_here(field, moved(m, atoms[i]));
  return sum;
}

// As key_of() and candidate_of() in search.clh.
static inline whole key_of_all(whole sum, int candidate) {
  return (sum + BIAS) << 8 | (255 - candidate);
}
static inline whole candidate_of_all(whole key) { return 255 - (key & 255); }

static inline whole is_near(vector_t a, vector_t b, float reach) {
  const real x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return fma(x, x, fma(y, y, z * z)) < reach * reach;
}

// Bits first <= i < last of word `word` of a row of atoms.
static inline uint bits_between(int first, int last, int word) {
  const int low = clamp(first - 32 * word, 0, 32), high = clamp(last - 32 * word, 0, 32);
  const uint below_high = high == 32 ? ~0u : (1u << high) - 1u;
  return low == 32 ? 0u : below_high & (~0u << low);
}

// Number of the lowest bit that is set.
static inline int lowest(uint word) { return 31 - (int)clz(word & (0u - word)); }

// Number of bumped pairs of the whole ligand.
APART whole bumps_within(const problem_t *ligand, const vector_t *atoms) {
  whole found = (whole)(0);
  for (int i = 0; i < ligand->atoms; i++)
    for (int word = i / 32; word < ligand->words; word++) {
      uint others = ligand->pairs[i * ligand->words + word];
      others &= bits_between(i + 1, ligand->atoms, word);
      for (; others; others &= others - 1u) {
        const int j = 32 * word + lowest(others);
        const float reach = ligand->conformer[i].w + ligand->conformer[j].w;
        found += select((whole)(0), (whole)(1), is_near(atoms[i], atoms[j], reach));
      }
    }
  return found;
}

// As bumps_across() in dock.cl, for the lanes of a mask; each lane's side moves by its own motion.
static inline whole bumps_of(const problem_t *ligand,
                             const vector_t *atoms,
                             torsion_t t,
                             int far_moves,
                             const motion_t *m,
                             whole mask) {
  whole found = (whole)(0);
  for (int j = 0; j < ligand->atoms; j++) {
    const int is_beyond = j >= t.heavy_first && j < t.heavy_last;
    if (is_beyond != far_moves) continue;
    const vector_t p = moved(m, atoms[j]);
    for (int word = 0; word < ligand->words; word++) {
      const uint far = bits_between(t.heavy_first, t.heavy_last, word);
      uint others = ligand->pairs[j * ligand->words + word] & (far_moves ? ~far : far);
      others &= bits_between(0, ligand->atoms, word);
      for (; others; others &= others - 1u) {
        const int i = 32 * word + lowest(others);
        found |= is_near(p, atoms[i], ligand->conformer[j].w + ligand->conformer[i].w);
      }
    }
    if (!ANY(mask & NOT(found))) break;
  }
  return found;
}

// Coordinates from the genotype.
APART void build_poses(const problem_t *ligand,
                       vector_t *atoms,
                       const whole *turns,
                       __global const float4 *angles,
                       turn_t q,
                       vector_t t) {
  for (int i = 0; i < ligand->atoms; i++) {
    const float4 at = ligand->conformer[i];
    atoms[i] = everywhere(at.x, at.y, at.z);
  }
  for (int n = 0; n < ligand->torsions; n++) {
    const torsion_t torsion = ligand->torsion[n];
    const vector_t d = bond_of(atoms, torsion, ligand->inverse_length[n]);
    const motion_t m = turned(d, of_angle(angles, turns[n], 0), of_angle(angles, turns[n], 1),
                              atoms[torsion.near]);
    move_range(atoms, torsion.heavy_first, torsion.heavy_last, &m);
  }
  const motion_t m = placed(q, t);
  move_range(atoms, 0, ligand->atoms, &m);
}

// Rigid alignment: as align() in dock.cl.
APART void align_all(const problem_t *ligand,
                     __global const char *field,
                     vector_t *atoms,
                     __global const float4 *angles,
                     float2 steps,
                     turn_t *q,
                     vector_t *t) {
  const moving_t all = {{0, 0}, {ligand->atoms, 0}};
#pragma unroll 1
  for (int round = 0; round < 2; round++) {
#pragma unroll 1
    for (int axis = 0; axis < 3; axis++) {
      const vector_t d = everywhere(axis == 0, axis == 1, axis == 2);
      whole key = (whole)(NO_KEY);
#pragma unroll 1
      for (int a = 0; a < N_ANGLES; a++) {
        const motion_t m = turned(d, (real)(angles[a].x), (real)(angles[a].y), *t);
        key = max(key, key_of_all(sum_of(field, atoms, &all, &m), a));
      }
      const whole a = candidate_of_all(key);
      const motion_t m = turned(d, of_angle(angles, a, 0), of_angle(angles, a, 1), *t);
      move_range(atoms, 0, ligand->atoms, &m);
      *q = turned_on(*q, d, of_angle(angles, a, 2), of_angle(angles, a, 3));
    }
    const float step = round == 0 ? steps.x : steps.y;
    whole key = (whole)(NO_KEY);
#pragma unroll 1
    for (int c = 0; c < 27; c++) {
      const int m = (c + 13) % 27;  // candidate 0 is no shift
      const float x = step * (float)(m / 9 - 1), y = step * (float)(m / 3 % 3 - 1);
      const float z = step * (float)(m % 3 - 1);
      whole sum = (whole)(0);
#pragma unroll 1
      for (int i = 0; i < ligand->atoms; i++)
        sum += field_here(field, (vector_t){atoms[i].x + x, atoms[i].y + y, atoms[i].z + z});
      key = max(key, key_of_all(sum, c));
    }
    const whole m = (candidate_of_all(key) + 13) % 27;
    const real x = step * TO_REAL(m / 9 - 1), y = step * TO_REAL(m / 3 % 3 - 1);
    const real z = step * TO_REAL(m % 3 - 1);
    for (int i = 0; i < ligand->atoms; i++)
      atoms[i] = (vector_t){atoms[i].x + x, atoms[i].y + y, atoms[i].z + z};
    *t = (vector_t){t->x + x, t->y + y, t->z + z};
  }
}

// Turn one fragment of every restart to its best angle without an internal bump: as optimize() in
// dock.cl.
APART void optimize_all(const problem_t *ligand,
                        __global const char *field,
                        vector_t *atoms,
                        whole *turns,
                        __global const float4 *angles,
                        int fragment,
                        whole clean,
                        turn_t *q,
                        vector_t *t) {
  const int n = fragment >> 1, near_side = fragment & 1;
  const torsion_t torsion = ligand->torsion[n];
  const vector_t pivot = atoms[torsion.near];
  const vector_t d = bond_of(atoms, torsion, ligand->inverse_length[n]);
  const moving_t moving = side_of(ligand, torsion, near_side);
  whole keys[N_ANGLES];
#pragma unroll 1
  for (int a = 0; a < N_ANGLES; a++) {
    const motion_t m = turned(d, (real)(angles[a].x), (real)(angles[a].y), pivot);
    keys[a] = key_of_all(sum_of(field, atoms, &moving, &m), a);
  }

  const int far_moves = 2 * (torsion.heavy_last - torsion.heavy_first) > ligand->atoms;
  whole chosen = (whole)(0), searching = chosen == 0, bound = (whole)(INT_MAX);
#pragma unroll 1
  for (int tests = 0; tests < BUMP_TESTS; tests++) {
    whole best = (whole)(NO_KEY);
#pragma unroll 1
    for (int a = 0; a < N_ANGLES; a++)
      best = max(best, select((whole)(NO_KEY), keys[a], keys[a] < bound));
    bound = best;
    const whole a = candidate_of_all(best);
    searching &= NOT((a == 0) & clean);
    if (!ANY(searching)) break;
    const whole turn = far_moves == near_side ? (N_ANGLES - a) % N_ANGLES : a;
    const motion_t m = turned(d, of_angle(angles, turn, 0), of_angle(angles, turn, 1), pivot);
    const whole free = searching & NOT(bumps_of(ligand, atoms, torsion, far_moves, &m, searching));
    chosen = select(chosen, a, free);
    searching &= NOT(free);
    if (!ANY(searching)) break;
  }
  const whole changed = NOT(chosen == 0);
  if (!ANY(changed)) return;

  // Where none is chosen, the first angle, which is 0, moves nothing.
  const motion_t m = turned(d, of_angle(angles, chosen, 0), of_angle(angles, chosen, 1), pivot);
  for (int i = 0; i < ligand->atoms; i++)
    if (is_far(torsion, i) != near_side)
      atoms[i] = chosen_vector(atoms[i], moved(&m, atoms[i]), changed);
  turns[n] = (turns[n] + (near_side ? N_ANGLES - chosen : chosen)) % N_ANGLES;
  if (near_side) {
    const turn_t there = turned_on(*q, d, of_angle(angles, chosen, 2), of_angle(angles, chosen, 3));
    *q = (turn_t){select(q->x, there.x, changed), select(q->y, there.y, changed),
                  select(q->z, there.z, changed), select(q->w, there.w, changed)};
    *t = chosen_vector(*t, moved(&m, *t), changed);
  }
}

static inline whole outside_of(real x, int last) {
  const bits point = biased_points(x) - BIAS_2_23;
  return (point == 0) | (point > (uint)last);
}

// Arguments as of dock() in dock.cl; `splits` work-items share the restarts of a ligand.
__kernel void dock(int ligand_count,
                   int num_restart,
                   int num_iterations,
                   int splits,
                   float2 steps,
                   int4 box,
                   __global const char *field,
                   __global const float4 *angles,
                   __global const float4 *start_rotation,
                   __global const float4 *start_position,
                   __global const uchar *start_turns,
                   __global const dock_ligand_t *ligands,
                   __global const float4 *conformers,
                   __global const torsion_t *torsions,
                   __global const float *inverse_lengths,
                   __global const short *orders,
                   __global const uint *pairs,
                   __global int *results,
                   __global float *quaternions,
                   __global float *shifts,
                   __global uchar *all_turns) {
  vector_t atoms[MAX_ATOMS];
  whole turns[MAX_TORSIONS];
  const int item = get_global_id(0), number = item / splits;
  if (number >= ligand_count) return;
  const dock_ligand_t l = ligands[number];
  const problem_t ligand = problem_of(l, conformers, torsions, inverse_lengths, orders, pairs);

  for (int first = POSES * (item % splits); first < num_restart; first += POSES * splits) {
    // Lanes beyond the last restart do it again, and store nothing.
    const whole wanted = first + (whole)(NUMBERS), mine = wanted < num_restart;
    const whole restart = min(wanted, (whole)(num_restart - 1));
    __global const float *rotation = (__global const float *)start_rotation;
    __global const float *position = (__global const float *)start_position;
    turn_t q = {gather(rotation, 4 * restart), gather(rotation, 4 * restart + 1),
                gather(rotation, 4 * restart + 2), gather(rotation, 4 * restart + 3)};
    vector_t t = {gather(position, 4 * restart), gather(position, 4 * restart + 1),
                  gather(position, 4 * restart + 2)};
    for (int n = 0; n < ligand.torsions; n++)
      turns[n] =
          gather_bytes((__global const char *)start_turns, TO_BITS(restart * MAX_TORSIONS + n)) &
          255;
    build_poses(&ligand, atoms, turns, angles, q, t);
    align_all(&ligand, field, atoms, angles, steps, &q, &t);

    whole clean = (whole)(0);
    for (int iteration = 0; iteration < num_iterations; iteration++) {
      // A pose without bumps keeps none, because only unbumped angles are taken.
      if (ANY(NOT(clean))) clean |= bumps_within(&ligand, atoms) == 0;
      for (int f = 0; f < 2 * ligand.torsions; f++)
        optimize_all(&ligand, field, atoms, turns, angles, ligand.order[f], clean, &q, &t);
    }

    const real norm = fma(q.x, q.x, fma(q.y, q.y, fma(q.z, q.z, q.w * q.w)));
    const real scale = fma((real)(-0.5f), norm, (real)(1.5f));
    q = (turn_t){q.x * scale, q.y * scale, q.z * scale, q.w * scale};
    build_poses(&ligand, atoms, turns, angles, q, t);
    whole sum = (whole)(0), core = (whole)(0), outside = (whole)(0);
    for (int i = 0; i < ligand.atoms; i++) {
      const vector_t at = atoms[i];
      const whole value = field_here(field, at);
      const whole beyond =
          outside_of(at.x, box.x) | outside_of(at.y, box.y) | outside_of(at.z, box.z);
      sum += value;
      core += select((whole)(0), (whole)(1), value == CORE);
      outside += select((whole)(0), (whole)(1), beyond);
    }
    const whole row = number * num_restart + restart, place = 4 * row;
    scatter_whole(results, place, sum, mine);
    scatter_whole(results, place + 1, bumps_within(&ligand, atoms), mine);
    scatter_whole(results, place + 2, core, mine);
    scatter_whole(results, place + 3, outside, mine);
    scatter(quaternions, place, q.x, mine);
    scatter(quaternions, place + 1, q.y, mine);
    scatter(quaternions, place + 2, q.z, mine);
    scatter(quaternions, place + 3, q.w, mine);
    scatter(shifts, place, t.x, mine);
    scatter(shifts, place + 1, t.y, mine);
    scatter(shifts, place + 2, t.z, mine);
    scatter(shifts, place + 3, (real)(0.0f), mine);
    const whole_parts_t rows = {restart}, stored = {mine};
    for (int n = 0; n < ligand.torsions; n++) {
      const whole_parts_t turn = {turns[n]};
      for (int k = 0; k < POSES; k++)
        if (stored.one[k])
          all_turns[l.first_torsion * num_restart + rows.one[k] * ligand.torsions + n] =
              (uchar)turn.one[k];
    }
  }
}
