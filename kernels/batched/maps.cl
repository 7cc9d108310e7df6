// maps: what a ligand atom of each kind feels at every point of the pocket's grid, kcal/mol.
//
// One work-item a grid point, for all maps. Points come in cubic blocks of BLOCK points a side; the
// host lists the receptor atoms within reach of each block, in rising order, so that a map does not
// depend on how the work is split. One field a build: FIELD_VINA (Vinardo's too), FIELD_XSCORE or
// FIELD_AD4.
//
// NumPy twins: `field_energy` in ligen_py/engine/functions/vina/reference.py, xscore_reference.py and
// ad4_reference.py.

#ifdef FIELD_AD4
#include "ad4.clh"
#elif defined(FIELD_XSCORE)
#include "xscore_field.clh"
#else
#include "vina.clh"
#endif

#ifndef MAPS
#define MAPS 1  // kinds of ligand atoms
#endif
#ifndef BLOCK
#define BLOCK 8
#endif
#define BLOCK_POINTS (BLOCK * BLOCK * BLOCK)

typedef struct {
  float x, y, z;  // Angstrom
  int inside;     // of the grid: its last blocks reach beyond
  int number;     // in a map
} point_t;

static inline point_t point_of(int4 shape, float4 origin, float spacing, int block, int item) {
  const int blocks_y = (shape.y + BLOCK - 1) / BLOCK, blocks_z = (shape.z + BLOCK - 1) / BLOCK;
  const int i = block / (blocks_y * blocks_z) * BLOCK + item / (BLOCK * BLOCK);
  const int j = block / blocks_z % blocks_y * BLOCK + item / BLOCK % BLOCK;
  const int k = block % blocks_z * BLOCK + item % BLOCK;
  point_t point;
  point.x = fma(spacing, (float)i, origin.x);
  point.y = fma(spacing, (float)j, origin.y);
  point.z = fma(spacing, (float)k, origin.z);
  point.inside = i < shape.x && j < shape.y && k < shape.z;
  point.number = (i * shape.y + j) * shape.z + k;
  return point;
}

static inline float squared_distance(point_t point, float4 other) {
  const float dx = point.x - other.x, dy = point.y - other.y, dz = point.z - other.z;
  return fma(dx, dx, fma(dy, dy, dz * dz));
}

#ifdef FIELD_AD4

// Map 0 is the energy of a unit charge, map 1 what a unit of absolute charge adds to desolvation;
// the others are those of a neutral atom of each type. A type's hydrogen bonds as in ad4.cl.
__kernel void make_maps(int4 shape,
                        float4 origin,
                        float spacing,
                        __global const float *probes,     // a map: type of the ligand atom
                        __global const int *first_near,   // a block: its first row of `near`
                        __global const int *near,         // receptor atoms near a block
                        __global const float4 *receptor,  // Angstrom; w: charge; donors come first
                        __global const float4 *axes,      // w: type
                        __global const float4 *normals,   // w: power of a donor's angle
                        __constant float4 *pair_table,    // see ad4.clh
                        __constant float4 *type_table,
                        int receptor_count,
                        int donors,
                        __global float *maps) {
  const int block = get_group_id(0), first = first_near[block], last = first_near[block + 1];
  const size_t stride = (size_t)shape.x * shape.y * shape.z;
  for (int item = get_local_id(0); item < BLOCK_POINTS; item += get_local_size(0)) {
    const point_t point = point_of(shape, origin, spacing, block, item);
    if (!point.inside) continue;
    float charge = 0.0f, solvation = 0.0f;
    for (int j = 0; j < receptor_count; j++)
      charge += receptor[j].w * ad4_electrostatics(sqrt(squared_distance(point, receptor[j])));
    int nearest = 0;
    float least = INFINITY;
    for (int n = first; n < last && near[n] < donors; n++) {
      const float square = squared_distance(point, receptor[near[n]]);
      if (square < least) {
        least = square;
        nearest = near[n];
      }
    }
    float sum[MAPS], bonds[MAPS], best[MAPS], worst[MAPS];
    for (int map = 0; map < MAPS; map++) {
      sum[map] = bonds[map] = 0.0f;
      best[map] = INFINITY;
      worst[map] = -INFINITY;
    }
    for (int n = first; n < last; n++) {
      const int j = near[n];
      const ad4_site_t site = {receptor[j], axes[j], normals[j]};
      const float r = sqrt(squared_distance(point, site.place));
      if (r > AD4_CUTOFF) continue;
      const int type = (int)site.axis.w;
      const float4 theirs = type_table[type];
      const float scale = 1.0f / fmax(r, 1e-6f);
      const float4 toward =
          (float4)((site.place.x - point.x) * scale, (site.place.y - point.y) * scale,
                   (site.place.z - point.z) * scale, 0.0f);
      const float cosine = -ad4_inner(toward, site.axis);
      const float angular = ad4_angular(site, theirs.z, toward, cosine);
      const int ramped = theirs.z == AD4_DONOR && j != nearest;
      const float ramp = ramped ? ad4_ramp(site.axis, axes[nearest], cosine) : 1.0f;
      solvation += ad4_desolvation(r, (float4)(0.0f), 1.0f, theirs, 0.0f);
      for (int map = 0; map < MAPS; map++) {
        const int kind = (int)probes[map];
        const float4 pair = pair_table[kind * AD4_TYPES + type];
        const float energy = ad4_dispersion(r, pair);
        sum[map] += ad4_desolvation(r, type_table[kind], 0.0f, theirs, site.place.w);
        if (ad4_is_bond(pair)) {
          const float bond = ad4_bond(energy, angular);
          best[map] = fmin(best[map], bond);
          worst[map] = fmax(worst[map], bond);
          bonds[map] += bond * ramp;
        } else {
          sum[map] += energy;
        }
      }
    }
    maps[point.number] = charge;
    maps[stride + point.number] = solvation;
    for (int map = 0; map < MAPS; map++) {
      const float extremes = isfinite(best[map]) ? best[map] + worst[map] : 0.0f;
      const int adds_up = type_table[(int)probes[map]].z == AD4_ACCEPTOR;
      maps[(2 + map) * stride + point.number] = sum[map] + (adds_up ? bonds[map] : extremes);
    }
  }
}

#else

#ifdef FIELD_XSCORE
#define CUTOFF XSCORE_CUTOFF
#else
#define CUTOFF VINA_CUTOFF
#endif

__kernel void make_maps(
    int4 shape,
    float4 origin,
    float spacing,
    __global const float *probes,     // a map: Vina type of the ligand atom, or X-Score's radius
    __global const int *first_near,   // a block: its first row of `near`
    __global const int *near,         // receptor atoms near a block
    __global const float4 *receptor,  // Angstrom; w: as a probe
#ifndef FIELD_XSCORE
    __constant float4 *pair_table,  // row type_i * VINA_TYPES + type_j, see vina.clh
#endif
    __global float *maps) {
  const int block = get_group_id(0), first = first_near[block], last = first_near[block + 1];
  const size_t stride = (size_t)shape.x * shape.y * shape.z;
  for (int item = get_local_id(0); item < BLOCK_POINTS; item += get_local_size(0)) {
    const point_t point = point_of(shape, origin, spacing, block, item);
    if (!point.inside) continue;
    float energy[MAPS];
    for (int map = 0; map < MAPS; map++) energy[map] = 0.0f;
    for (int n = first; n < last; n++) {
      const float4 other = receptor[near[n]];
      const float square = squared_distance(point, other);
      if (square < CUTOFF * CUTOFF) {
        const float r = sqrt(square);
        for (int map = 0; map < MAPS; map++) {
#ifdef FIELD_XSCORE
          energy[map] += xscore_pair_energy_slope(r, probes[map], other.w).x;
#else
          const int row = (int)probes[map] * VINA_TYPES + (int)other.w;
          energy[map] += vina_pair_energy(r, pair_table[row]);
#endif
        }
      }
    }
    for (int map = 0; map < MAPS; map++) maps[map * stride + point.number] = energy[map];
  }
}

#endif
