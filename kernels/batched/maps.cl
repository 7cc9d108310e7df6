// maps: what a ligand atom of each kind feels at every point of the pocket's grid, kcal/mol.
//
// One work-item a grid point, or POSES of them in a vector (real.clh), for all maps. Points come in
// cubic blocks of BLOCK points a side; the host lists the receptor atoms within reach of each
// block, in rising order, so that a map does not depend on how the work is split. The macro FIELD
// names the field's include: see field_input.clh.
//
// NumPy twins: `field_energy` in ligen_py/engine/functions/*/reference.py.

#ifndef FIELD
#error "pass the field: ligen_py.engine.refinement.maps.field_macros"
#endif
#include FIELD

#ifndef BLOCK
#define BLOCK 8
#endif
#define BLOCK_POINTS (BLOCK * BLOCK * BLOCK)

static inline point_t point_of(int4 shape, float4 origin, float spacing, int block, whole item) {
  const int blocks_y = (shape.y + BLOCK - 1) / BLOCK, blocks_z = (shape.z + BLOCK - 1) / BLOCK;
  const whole i = block / (blocks_y * blocks_z) * BLOCK + item / (BLOCK * BLOCK);
  const whole j = block / blocks_z % blocks_y * BLOCK + item / BLOCK % BLOCK;
  const whole k = block % blocks_z * BLOCK + item % BLOCK;
  point_t point;
  point.x = fma((real)(spacing), TO_REAL(i), (real)(origin.x));
  point.y = fma((real)(spacing), TO_REAL(j), (real)(origin.y));
  point.z = fma((real)(spacing), TO_REAL(k), (real)(origin.z));
  point.inside = (i < shape.x) & (j < shape.y) & (k < shape.z);
  point.number = (i * shape.y + j) * shape.z + k;
  return point;
}

__kernel void make_maps(int4 shape,
                        float4 origin,
                        float spacing,
                        __global const float *probes,  // a map: what a ligand atom is in the field
                        __global const int *first_near,   // a block: its first row of `near`
                        __global const int *near,         // receptor atoms near a block
                        __global const float4 *receptor,  // see surroundings_t
                        __global const float4 *axes,
                        __global const float4 *normals,
                        __constant float4 *pair_table,  // see field_tables_t
                        __constant float4 *type_table,
                        int receptor_count,
                        int donors,
                        __global float *maps) {
  const int block = get_group_id(0);
  const surroundings_t around = {
      receptor,       axes,  normals, near, first_near[block], first_near[block + 1],
      receptor_count, donors};
  const field_tables_t tables = {pair_table, type_table};
  const size_t stride = (size_t)shape.x * shape.y * shape.z;
  for (int item = get_local_id(0) * POSES; item < BLOCK_POINTS; item += get_local_size(0) * POSES) {
    const point_t point = point_of(shape, origin, spacing, block, item + NUMBERS);
    if (!ANY(point.inside)) continue;
    real energy[FIELD_FIRST + MAPS];
    field_at(point, around, tables, probes, energy);
    for (int map = 0; map < FIELD_FIRST + MAPS; map++)
      scatter(maps + map * stride, point.number, energy[map], point.inside);
  }
}
