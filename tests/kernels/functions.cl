// Functions of the kernels' includes, each called for the rows of a table, so that tests see them
// alone.

#include "ad4_pull.clh"
#include "cells.clh"
#include "descent.clh"
#include "vectors.clh"

__kernel void pulls(__global const float4 *terms,
                    __global const float *squares,
                    __global float2 *found) {
  const int n = get_global_id(0);
  float pull;
  const float energy = ad4_pull(terms[n], squares[n], &pull);
  found[n] = (float2)(energy, pull);
}

// Energy and gradient of atoms in a map.
__kernel void look_ups(grid_t grid,
                       __global const float4 *maps,
                       __global const float4 *places,
                       __global float *energies,
                       __global float4 *gradients) {
  const int n = get_global_id(0);
  const cell_t cell = cell_at(grid, places[n]);
  const float4 low = maps[cell.number], high = maps[cell.number + grid.stride_x];
  float4 gradient;
  energies[n] = in_cell(grid, cell, low, high, &gradient);
  gradients[n] = gradient;
}

__kernel void units(float arm, __global float *found) {
  const int d = get_global_id(0);
  found[d] = squared_unit(arm, d);
}

// Rows: energy found, energy before, slope, length of the step.
__kernel void steps(__global const float4 *rows, __global float2 *found) {
  const int n = get_global_id(0);
  const float4 row = rows[n];
  found[n] =
      (float2)(goes_down(row.x, row.y, row.z, row.w), shorter_step(row.x, row.y, row.z, row.w));
}

__kernel void products(__global const float4 *ones,
                       __global const float4 *others,
                       __global float4 *found) {
  const int n = get_global_id(0);
  const float4 a = ones[n], b = others[n];
  __global float4 *row = found + 6 * n;
  row[0] = (float4)(inner(a, b));
  row[1] = cross3(a, b);
  row[2] = add_scaled(a, 0.25f, b);
  row[3] = plus(a, b);
  row[4] = minus(a, b);
  row[5] = turned(a, b);
}
