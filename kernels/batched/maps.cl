// maps: what one ligand atom of each type feels at every point of the pocket's grid, kcal/mol.
//
// One work-item a grid point, for all maps. Points come in cubic blocks of BLOCK points a side; the
// host lists the receptor atoms within reach of each block, in rising order, so that a map does not
// depend on how the work is split.
//
// NumPy twin: `field_energy` in ligen_py/engine/refining_reference.py.

#include "vina.clh"

#ifndef MAPS
#define MAPS 1  // number of maps
#endif
#ifndef BLOCK
#define BLOCK 8
#endif

__kernel void make_maps(
    int4 shape,
    float4 origin,
    float spacing,
    __global const int *map_types,    // a map: Vina type of the ligand atom
    __global const int *first_near,   // a block: its first row of `near`
    __global const int *near,         // receptor atoms near a block
    __global const float4 *receptor,  // Angstrom
    __global const uchar *receptor_type,
    __constant float4 *pair_table,  // row type_i * VINA_TYPES + type_j, see vina.clh
    __global float *maps) {
  const int block = get_group_id(0), item = get_local_id(0);
  const int blocks_y = (shape.y + BLOCK - 1) / BLOCK, blocks_z = (shape.z + BLOCK - 1) / BLOCK;
  for (int local_point = item; local_point < BLOCK * BLOCK * BLOCK;
       local_point += get_local_size(0)) {
    const int i = block / (blocks_y * blocks_z) * BLOCK + local_point / (BLOCK * BLOCK);
    const int j = block / blocks_z % blocks_y * BLOCK + local_point / BLOCK % BLOCK;
    const int k = block % blocks_z * BLOCK + local_point % BLOCK;
    const float x = fma(spacing, (float)i, origin.x), y = fma(spacing, (float)j, origin.y);
    const float z = fma(spacing, (float)k, origin.z);
    float energy[MAPS];
    for (int map = 0; map < MAPS; map++) energy[map] = 0.0f;
    for (int n = first_near[block]; n < first_near[block + 1]; n++) {
      const float4 other = receptor[near[n]];
      const int type = receptor_type[near[n]];
      const float dx = x - other.x, dy = y - other.y, dz = z - other.z;
      const float square = fma(dx, dx, fma(dy, dy, dz * dz));
      if (square < VINA_CUTOFF * VINA_CUTOFF) {
        const float r = sqrt(square);
        for (int map = 0; map < MAPS; map++)
          energy[map] += vina_pair_energy(r, pair_table[map_types[map] * VINA_TYPES + type]);
      }
    }
    if (i >= shape.x || j >= shape.y || k >= shape.z) continue;
    const size_t stride = (size_t)shape.x * shape.y * shape.z;
    for (int map = 0; map < MAPS; map++)
      maps[map * stride + (i * shape.y + j) * shape.z + k] = energy[map];
  }
}
