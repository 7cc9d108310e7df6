// refine: each kept pose becomes the best of a chain of local minima in a field with intramolecular
// terms. One sub-group a pose; lane = atom, or degree of freedom.
//
// A chain: descend from the pose; then, `rounds` times, change the position, the orientation or one
// torsion at random, descend, and go on from there if it is better (or, by Metropolis, not much
// worse). Descents are BFGS with a dense inverse Hessian, counted in evaluations. Random numbers
// are a function of the ligand's content, the pose's restart and the round alone.
//
// Degrees of freedom: translation (3), rotation about the ligand's origin (3, a rotation vector
// from the present orientation), torsions. Atoms are those that the field acts on: heavy atoms, in
// AutoDock4's polar hydrogens too, which stand behind the atom that holds them, so that the far
// side of a torsion is one range. One field a build: FIELD_VINA (Vinardo's too), FIELD_XSCORE or
// FIELD_AD4.
//
// NumPy twin: ligen_py/engine/refinement/reference.py.

#include "geometry.clh"
#include "random.clh"
#ifdef FIELD_AD4
#include "ad4.clh"
#elif defined(FIELD_XSCORE)
#include "xscore_field.clh"
#else
#include "vina.clh"
#endif

#ifndef MAX_ATOMS
#define MAX_ATOMS 64  // the most atoms of a ligand of the batch, rounded up to its class
#endif
#ifndef MAX_FREEDOMS
#define MAX_FREEDOMS 32  // 6 + the most torsions of a ligand of the batch, rounded up
#endif
#ifndef WG_SUB_GROUPS
#define WG_SUB_GROUPS 1  // sub-groups in a work-group
#endif

#define RIGID 6
#define ARMIJO 1e-4f
#define SMALL_DECREASE 1e-3f  // a descent ends when its next step promises less, kcal/mol
#define WALL 10.0f            // energy an atom pays per Angstrom outside the box, kcal/mol

typedef struct {
  int first_atom, atoms, first_torsion, torsions, first_word, words;
  uint key;                  // of the ligand's content
  float radius_of_gyration;  // Angstrom
} ligand_t;

typedef struct {
  float4 origin, last;  // Angstrom: first and last point of the grid
  float inverse_spacing;
  int stride_x, stride_y, stride_map;
} grid_t;

// Position and orientation; the torsions (radians) are an array beside it.
typedef struct {
  float4 translation, quaternion;
} place_t;

// One vector an atom in local memory, component by component: neighbouring lanes read neighbouring
// words, which is what both CPUs and GPUs like best.
typedef struct {
  __local float *x, *y, *z;
} vectors_t;

static inline float4 get(vectors_t v, int i) { return (float4)(v.x[i], v.y[i], v.z[i], 0.0f); }

static inline void set(vectors_t v, int i, float4 value) {
  v.x[i] = value.x;
  v.y[i] = value.y;
  v.z[i] = value.z;
}

// What one sub-group works with. Arrays of atoms are in local memory, one entry an atom.
typedef struct {
  ligand_t ligand;
  grid_t grid;
  __global const float *maps;
  __constant float4 *pair_table;     // of AutoDock4, see ad4.clh
  __constant float4 *type_table;     // likewise
  __global const float4 *conformer;  // w: radius (X-Score: negative if hydrophobic), or charge
  __global const int *kinds;         // map number << 8 | flags (Vina) or type (AutoDock4)
  __global const torsion_t *torsions;
  __global const float *inverse_lengths;
  __global const uint *pairs;
  vectors_t atoms;
  vectors_t force;        // gradient of an atom; later its prefix sums
  vectors_t moment;       // prefix sums of the moments
  __local float2 *turns;  // cosine and sine of each torsion
} problem_t;

// What an atom of a charge feels at a point of its map and the next one along z. AutoDock4's maps 0
// and 1 are those of a charge; `first` is the point in map 0.
static inline float2 values_at(__global const float *point,
                               __global const float *first,
                               int stride,
                               float charge) {
  float2 value = vload2(0, point);
#ifdef FIELD_AD4
  value += charge * vload2(0, first) + fabs(charge) * vload2(0, first + stride);
#endif
  return value;
}

// Energy and gradient of an atom in the maps: trilinear inside the box, a wall outside.
static inline float4 look_up(const problem_t *p, int atom) {
  const grid_t g = p->grid;
  const float4 at = get(p->atoms, atom);
  const float x = clamp(at.x, g.origin.x, g.last.x), y = clamp(at.y, g.origin.y, g.last.y);
  const float z = clamp(at.z, g.origin.z, g.last.z);
  const float u = (x - g.origin.x) * g.inverse_spacing, v = (y - g.origin.y) * g.inverse_spacing;
  const float w = (z - g.origin.z) * g.inverse_spacing;
  // The last point belongs to the last cell, which ends there.
  const int i = min((int)u, (int)((g.last.x - g.origin.x) * g.inverse_spacing + 0.5f) - 1);
  const int j = min((int)v, g.stride_x / g.stride_y - 2), k = min((int)w, g.stride_y - 2);
  const float a = u - (float)i, b = v - (float)j, c = w - (float)k;
  __global const float *first = p->maps + i * g.stride_x + j * g.stride_y + k;
  __global const float *cell = first + (size_t)(p->kinds[atom] >> 8) * g.stride_map;
  const int sx = g.stride_x, sy = g.stride_y, map = g.stride_map;
  const float charge = p->conformer[atom].w;
  const float2 f00 = values_at(cell, first, map, charge);
  const float2 f01 = values_at(cell + sy, first + sy, map, charge);
  const float2 f10 = values_at(cell + sx, first + sx, map, charge);
  const float2 f11 = values_at(cell + sx + sy, first + sx + sy, map, charge);
  // Along x, then y, then z.
  const float d00x = f10.x - f00.x, d00y = f10.y - f00.y, d10x = f11.x - f01.x,
              d10y = f11.y - f01.y;
  const float e00 = fma(a, d00x, f00.x), e01 = fma(a, d00y, f00.y);
  const float e10 = fma(a, d10x, f01.x), e11 = fma(a, d10y, f01.y);
  const float h0 = fma(b, e10 - e00, e00), h1 = fma(b, e11 - e01, e01);
  const float gx0 = fma(b, d10x - d00x, d00x), gx1 = fma(b, d10y - d00y, d00y);
  const float gy = fma(c, (e11 - e01) - (e10 - e00), e10 - e00);
  const float inside = g.inverse_spacing;
  const float ox = at.x - x, oy = at.y - y, oz = at.z - z;  // how far outside
  float4 r;
  r.w = fma(c, h1 - h0, h0) + WALL * (fabs(ox) + fabs(oy) + fabs(oz));
  r.x = ox == 0.0f ? fma(c, gx1 - gx0, gx0) * inside : copysign(WALL, ox);
  r.y = oy == 0.0f ? gy * inside : copysign(WALL, oy);
  r.z = oz == 0.0f ? (h1 - h0) * inside : copysign(WALL, oz);
  return r;
}

// Unit vector along a rotatable bond.
static inline float4 axis_of(const problem_t *p, int n) {
  const torsion_t t = p->torsions[n];
  const float4 d = get(p->atoms, t.far) - get(p->atoms, t.near);
  return d * p->inverse_lengths[n];
}

// Coordinates of all atoms. Every lane moves its own atoms only.
static inline void place_atoms(sg_t sg,
                               const problem_t *p,
                               place_t place,
                               __local const float *angles) {
  const ligand_t l = p->ligand;
  for (int base = 0; base < l.torsions; base += SG_SIZE) {
    const int n = base + sg.lane;
    if (n < l.torsions) {
      float c;
      const float s = sincos(angles[n], &c);
      p->turns[n] = (float2)(c, s);
    }
  }
  for (int base = 0; base < l.atoms; base += SG_SIZE) {
    const int i = base + sg.lane;
    if (i < l.atoms) set(p->atoms, i, p->conformer[i]);
  }
  for (int n = 0; n < l.torsions; n++) {
    sg_sync(sg);
    const torsion_t t = p->torsions[n];
    const affine_t a = rotation(axis_of(p, n), p->turns[n].x, p->turns[n].y, get(p->atoms, t.near));
    sg_sync(sg);
    for (int base = t.heavy_first & ~(SG_SIZE - 1); base < t.heavy_last; base += SG_SIZE) {
      const int i = base + sg.lane;
      if (i >= t.heavy_first && i < t.heavy_last) set(p->atoms, i, transform(a, get(p->atoms, i)));
    }
  }
  const affine_t a = rigid(place.quaternion, place.translation);
  for (int base = 0; base < l.atoms; base += SG_SIZE) {
    const int i = base + sg.lane;
    if (i < l.atoms) set(p->atoms, i, transform(a, get(p->atoms, i)));
  }
  sg_sync(sg);
}

// Energy (x) and its derivative (y) of two atoms of the ligand at distance r. `one` and `two` are
// what stands beside their coordinates: radii or charges.
//
// Flags of Vina's atoms: 1 hydrophobic, 2 donor, 4 acceptor; the same for a partner with donor and
// acceptor exchanged in bits 3 to 5. So f & (g >> 3) holds what they share.
static inline float2 pair_energy_slope(
    const problem_t *p, float r, float one, int kind, float two, int other) {
#ifdef FIELD_AD4
  const int i = kind & 255, j = other & 255;
  return ad4_pair_energy_slope(r, p->pair_table[i * AD4_TYPES + j], p->type_table[i], one,
                               p->type_table[j], two);
#elif defined(FIELD_XSCORE)
  return xscore_pair_energy_slope(r, one, two);
#else
  const int shared = kind & (other >> 3);
  const float4 pair = (float4)(one + two, (float)(shared & 1), shared & 6 ? 1.0f : 0.0f, 1.0f);
  return vina_pair_energy_slope(r, pair);
#endif
}

// Energy of the ligand's own pairs, each met once: in step k atom i meets atom i + k, counted round
// the ligand, and adds to that atom's gradient in local memory. No two lanes meet one atom at once.
static inline float add_pairs(sg_t sg, const problem_t *p) {
  const ligand_t l = p->ligand;
  float energy = 0.0f;
  for (int base = 0; base < l.atoms; base += SG_SIZE) {
    const int i = base + sg.lane, own = min(i, l.atoms - 1);
    const float4 a = get(p->atoms, own);
    const float mine = p->conformer[own].w;
    const int kind = p->kinds[own];
    __global const uint *row = p->pairs + own * l.words;
    float4 sum = (float4)(0.0f);
    int j = own;
    for (int k = 1; 2 * k <= l.atoms; k++) {
      j = j + 1 == l.atoms ? 0 : j + 1;
      const int last_step_twice = 2 * k == l.atoms && j < own;
      if (i < l.atoms && !last_step_twice && (row[j / 32] >> (j % 32) & 1u)) {
        const float4 b = get(p->atoms, j);
        const float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
        const float square = fmax(fma(dx, dx, fma(dy, dy, dz * dz)), 1e-6f);
        const float inverse = rsqrt(square);
        const float2 e =
            pair_energy_slope(p, square * inverse, mine, kind, p->conformer[j].w, p->kinds[j]);
        const float f = e.y * inverse;
        energy += e.x;
        sum.x = fma(f, dx, sum.x);
        sum.y = fma(f, dy, sum.y);
        sum.z = fma(f, dz, sum.z);
        p->force.x[j] = fma(-f, dx, p->force.x[j]);
        p->force.y[j] = fma(-f, dy, p->force.y[j]);
        p->force.z[j] = fma(-f, dz, p->force.z[j]);
      }
      sg_sync(sg);
    }
    if (i < l.atoms) {
      p->force.x[i] += sum.x;
      p->force.y[i] += sum.y;
      p->force.z[i] += sum.z;
    }
    sg_sync(sg);
  }
  return energy;
}

// Replace each atom's gradient by the sum over it and all atoms before it, likewise its moment
// about the ligand's origin.
static inline void sum_up(sg_t sg, const problem_t *p, float4 center) {
  float4 force_before = (float4)(0.0f), moment_before = (float4)(0.0f);
  for (int base = 0; base < p->ligand.atoms; base += SG_SIZE) {
    const int i = base + sg.lane;
    const int here = i < p->ligand.atoms;
    const float4 f = here ? get(p->force, i) : (float4)(0.0f);
    const float4 at = here ? get(p->atoms, i) : center;
    const float x = at.x - center.x, y = at.y - center.y, z = at.z - center.z;
    float4 force, moment;
    force.x = force_before.x + sg_scan_float(sg, f.x);
    force.y = force_before.y + sg_scan_float(sg, f.y);
    force.z = force_before.z + sg_scan_float(sg, f.z);
    moment.x = moment_before.x + sg_scan_float(sg, fma(y, f.z, -(z * f.y)));
    moment.y = moment_before.y + sg_scan_float(sg, fma(z, f.x, -(x * f.z)));
    moment.z = moment_before.z + sg_scan_float(sg, fma(x, f.y, -(y * f.x)));
    force.w = moment.w = 0.0f;
    if (here) {
      set(p->force, i, force);
      set(p->moment, i, moment);
    }
    sg_sync(sg);
    const int last = min(base + SG_SIZE, p->ligand.atoms) - 1;
    force_before = get(p->force, last);
    moment_before = get(p->moment, last);
  }
}

static inline float component(float4 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

// Derivative by one torsion: the moment of its far side about its axis.
static inline float torsion_gradient(const problem_t *p, int n, float4 center) {
  const torsion_t t = p->torsions[n];
  const float4 none = (float4)(0.0f);
  const int first = t.heavy_first - 1, last = t.heavy_last - 1;
  const float4 f0 = first < 0 ? none : get(p->force, first);
  const float4 m0 = first < 0 ? none : get(p->moment, first);
  const float4 f1 = get(p->force, last), m1 = get(p->moment, last);
  const float4 f = f1 - f0, m = m1 - m0;
  const float4 near = get(p->atoms, t.near) - center;
  const float4 d = axis_of(p, n);
  return d.x * (m.x - fma(near.y, f.z, -(near.z * f.y))) +
         d.y * (m.y - fma(near.z, f.x, -(near.x * f.z))) +
         d.z * (m.z - fma(near.x, f.y, -(near.y * f.x)));
}

// Energy of a genotype, and its gradient by every degree of freedom.
static float evaluate(sg_t sg,
                      const problem_t *p,
                      place_t place,
                      __local const float *angles,
                      __local float *gradient) {
  const ligand_t l = p->ligand;
  place_atoms(sg, p, place, angles);
  float energy = 0.0f;
  for (int base = 0; base < l.atoms; base += SG_SIZE) {
    const int i = base + sg.lane;
    if (i < l.atoms) {
      const float4 value = look_up(p, i);
      energy += value.w;
      set(p->force, i, value);
    }
  }
  sg_sync(sg);
  energy = sg_sum_float(sg, energy + add_pairs(sg, p));
  sum_up(sg, p, place.translation);
  for (int d = sg.lane; d < RIGID + l.torsions; d += SG_SIZE) {
    float g;
    if (d < 3)
      g = component(get(p->force, l.atoms - 1), d);
    else if (d < RIGID)
      g = component(get(p->moment, l.atoms - 1), d - 3);
    else
      g = torsion_gradient(p, d - RIGID, place.translation);
    gradient[d] = g;
  }
  sg_sync(sg);
  return energy;
}

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
                     float *at_start) {
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
  const float4 ball = in_ball(key, restart, round);
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
    int rounds,
    int evaluations,
    float temperature,
    float amplitude,
    grid_t grid,
    __global const float *maps,
    __constant float4 *pair_table,
    __constant float4 *type_table,
    __global const ligand_t *ligands,
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
    __global float2 *energies)  // a pose: before and after, kcal/mol
{
  SG_SETUP(sg);
  __local float all_atoms[WG_SUB_GROUPS * MAX_ATOMS * 9];
  __local float2 all_turns[WG_SUB_GROUPS * MAX_FREEDOMS];
  __local float all_vectors[WG_SUB_GROUPS * MAX_FREEDOMS * (8 + MAX_FREEDOMS)];
  const int pose = sg.item;
  if (pose >= pose_count) return;
  __local float *vectors = all_vectors + sg.index * MAX_FREEDOMS * (8 + MAX_FREEDOMS);
  __local float *atoms = all_atoms + sg.index * MAX_ATOMS * 9;
  const ligand_t l = ligands[owner[pose]];
  const problem_t p = {l,
                       grid,
                       maps,
                       pair_table,
                       type_table,
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
  for (int round = 0; round < max(rounds, 1); round++) {
    place_t to = place;
    copy(sg, trying, present, l.torsions);
    to = perturbed(sg, &p, &w, to, trying, restart, (uint)round, amplitude);
    float start;
    const float found = descend(sg, &p, &w, &to, trying, rounds > 0 ? evaluations : 1, &start);
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
  }
}
