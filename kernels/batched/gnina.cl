// gnina: gnina's convolutional networks on poses, in five kernels.
//
// list_atoms  a work-item a pose and plane of pooled voxels: atoms whose density reaches it
// densities   a vector of pooled voxels: sums of atoms' densities, 2 x 2 x 2 voxels pooled
// convolve    a strip of voxels along z, VECTORS vectors of output channels of each (on processors
//             all strips of a plane): a convolution and max(0, x)
// halve       a vector of channels of a voxel: mean or maximum of 2 x 2 x 2 voxels
// finish      a vector of channels of a pose: the linear end
//
//   array       pose, x, y, z, channel; channels lie side by side. Grids of networks have a rim of
//               zeros, a voxel wide, which no kernel writes.
//   vector      the LANES channels or voxels that a work-item computes side by side: 16 on a
//               processor; on a GPU 1, so that 16 work-items do what one does there
//
// No sum depends on LANES, nor on the poses beside it in a launch: each takes its terms in the
// order of taps along x and y, then input channels, then taps along z. Input channels that are zero
// in all that a strip reads are left out of the first convolution: they would add zero.
//
// NumPy twin: ligen_py/engine/functions/gnina/reference.py.

#ifndef LANES
#define LANES 1  // 16 or 1
#endif
#define POSES LANES

#include "real.clh"

#ifndef SIDE
#define SIDE 24  // voxels along a side of the grid
#endif
#ifndef WIDTH
#define WIDTH 3  // taps along each axis, 1 or 3
#endif
#ifndef INPUTS
#define INPUTS 28  // channels that are read
#endif
#ifndef IN_ROOM
#define IN_ROOM INPUTS  // channels of a voxel of the array that is read
#endif
#ifndef OUTPUTS
#define OUTPUTS 32  // channels that are written
#endif
#ifndef OUT_ROOM
#define OUT_ROOM OUTPUTS  // channels of a voxel of the array that is written
#endif
#ifndef OUT_FIRST
#define OUT_FIRST 0  // the first one that is written
#endif
#ifndef STRIP
#define STRIP 12  // voxels of a strip along z
#endif
#ifndef VECTORS
#define VECTORS 2  // vectors of output channels of a work-item
#endif
#ifndef SPARSE
#define SPARSE 0  // whether a mask says which input channels are zero
#endif
#ifndef MAXIMUM
#define MAXIMUM 0  // pools: the largest instead of the mean
#endif

#ifndef MEANS
#define MEANS 1  // whether densities are pooled by their mean
#endif
#ifndef MAXIMA
#define MAXIMA 1  // whether they are pooled by their maximum
#endif

#define POOLED 24         // voxels of densities after the first pool
#define CHANNELS 28       // of densities
#define RECEPTOR 14       // of them are the receptor's
#define SPACING 0.5f      // Angstrom between voxels
#define REACH 1.5f        // radii from an atom to the end of its density
#define TAIL 0.13533528f  // exp(-2)
#define GROUP 16          // pooled voxels of a mask
#define GROUPS (POOLED * POOLED / GROUP)
#define RIM(side) ((side) + 2)

#if LANES == 16
#define LANE 0
#define FIRST_ITEM ((int)get_global_id(0))
#define LOAD(from) vload16(0, from)
#define STORE(value, to) vstore16(value, 0, to)
#define ACROSS (NUMBERS)
// One work-item is a work-group: the compiler takes vectors as they are written.
#define KERNEL __attribute__((reqd_work_group_size(1, 1, 1))) __kernel
#else
#define LANE ((int)get_global_id(0) % GROUP)
#define FIRST_ITEM ((int)get_global_id(0) / GROUP)
#define LOAD(from) (*(from))
#define STORE(value, to) (*(to) = (value))
#define ACROSS (LANE)
#define KERNEL __kernel
#endif

static inline real greater(real a, real b) { return select(a, b, b > a); }

// First element of a voxel of a grid with a rim; -1 and `side` are the rim's.
static inline int voxel(int pose, int side, int x, int y, int z) {
  const int room = RIM(side);
  return ((pose * room + x + 1) * room + y + 1) * room + z + 1;
}

// The atoms of a pose are the receptor's and the ligand's, each by rising channel.
__kernel void list_atoms(int pose_count,
                         int receptor_count,
                         int most,                         // atoms of a list
                         __global const float4 *receptor,  // position, radius; Angstrom
                         __global const float4 *ligands,   // likewise, pose by pose
                         __global const int *first_atom,   // a pose: its first ligand atom
                         __global const float4 *origins,   // a pose: voxel 0, 0, 0
                         __global int *lists,              // numbers of atoms, receptor first
                         __global int *lengths)            // of the lists
{
  const int item = get_global_id(0), pose = item / POOLED, plane = item % POOLED;
  if (pose >= pose_count) return;
  const int own = first_atom[pose], atoms = receptor_count + first_atom[pose + 1] - own;
  const float4 low = origins[pose];
  const float x = low.x + SPACING * (2 * plane);
  int count = 0;
  for (int n = 0; n < atoms; n++) {
    const float4 a = n < receptor_count ? receptor[n] : ligands[own + n - receptor_count];
    const float far = REACH * a.w, last = SPACING * (2 * POOLED - 1);
    if (a.x < x - far || a.x > x + SPACING + far || a.y < low.y - far || a.y > low.y + last + far ||
        a.z < low.z - far || a.z > low.z + last + far)
      continue;
    lists[item * most + count++] = n;
  }
  lengths[item] = count;
}

// Density of an atom at a squared distance in units of its radius.
static inline real profile(real squared) {
  const real near = exponential(-2.0f * squared),
             outer = 2.0f * (squared * inverse_root(squared)) - 3.0f;
  const real value = select(TAIL * outer * outer, near, squared <= 1.0f);
  return select((real)(0.0f), value, squared < REACH * REACH);
}

KERNEL void densities(int pose_count,
                      int receptor_count,
                      int most,
                      __global const float4 *receptor,
                      __global const int *receptor_channel,
                      __global const float4 *ligands,
                      __global const int *ligand_channel,
                      __global const int *first_atom,
                      __global const float4 *origins,
                      __global const int *lists,
                      __global const int *lengths,
                      __global float *means,   // a grid with a rim; POOLED along a side
                      __global float *maxima,  // likewise
                      __global uint *masks)    // GROUP pooled voxels: bits of nonzero channels
{
  const int group = FIRST_ITEM, pose = group / (POOLED * GROUPS);
  if (pose >= pose_count) return;
  const int plane = group / GROUPS % POOLED, first = group % GROUPS * GROUP;
  const int list = pose * POOLED + plane, length = lengths[list], own = first_atom[pose];
  const float4 low = origins[pose];
  const whole place = first + ACROSS, row = place / POOLED, column = place % POOLED;
  const real y = low.y + 2.0f * SPACING * TO_REAL(row),
             z = low.z + 2.0f * SPACING * TO_REAL(column);
  const float x = low.x + 2.0f * SPACING * plane;
  const float low_y = low.y + 2.0f * SPACING * (first / POOLED);
  const float high_y = low.y + 2.0f * SPACING * ((first + GROUP - 1) / POOLED) + SPACING;
  // `voxel` of every lane.
  const whole_parts_t start = {
      (((pose * RIM(POOLED) + plane + 1) * RIM(POOLED) + row + 1) * RIM(POOLED) + column + 1) *
      CHANNELS};
  uint mask = 0;
  int next = 0;
  for (int channel = 0; channel < CHANNELS; channel++) {
    real sum[8];
    for (int v = 0; v < 8; v++) sum[v] = (real)(0.0f);
    bool any_atom = false;
    for (; next < length; next++) {
      const int n = lists[list * most + next];
      const bool is_ligand = n >= receptor_count;
      const int at = is_ligand ? own + n - receptor_count : n;
      const int kind = is_ligand ? ligand_channel[at] : receptor_channel[at];
      if (kind != channel) break;
      const float4 a = is_ligand ? ligands[at] : receptor[at];
      const float far = REACH * a.w;
      if (a.y < low_y - far || a.y > high_y + far) continue;
      const float per = 1.0f / (a.w * a.w);
      const float x0 = x - a.x, x1 = x0 + SPACING;
      const real y0 = y - a.y, y1 = y0 + SPACING, z0 = z - a.z, z1 = z0 + SPACING;
      const real yz[4] = {fma(y0, y0, z0 * z0), fma(y0, y0, z1 * z1), fma(y1, y1, z0 * z0),
                          fma(y1, y1, z1 * z1)};
      any_atom = true;
      for (int v = 0; v < 4; v++) {
        const real s0 = per * (yz[v] + x0 * x0), s1 = per * (yz[v] + x1 * x1);
        if (ANY(s0 < REACH * REACH)) sum[v] += profile(s0);
        if (ANY(s1 < REACH * REACH)) sum[v + 4] += profile(s1);
      }
    }
    real total = (real)(0.0f), most_dense = (real)(0.0f);
    if (any_atom) {
      for (int v = 0; v < 8; v++) {
        total += sum[v];
        most_dense = greater(most_dense, sum[v]);
      }
      if (ANY(most_dense > 0.0f)) mask |= 1u << channel;
    }
    const real_parts_t mean = {0.125f * total}, maximum = {most_dense};
    for (int n = 0; n < LANES; n++) {
      const int to = start.one[n] + channel;
#if MEANS
      means[to] = mean.one[n];
#endif
#if MAXIMA
      maxima[to] = maximum.one[n];
#endif
    }
  }
#if LANES == 1
  if (mask) atomic_or(masks + group, mask);
#else
  masks[group] = mask;
#endif
}

#if SPARSE
// Channels that are not zero in the voxels z - 1 to z + STRIP of a row.
static inline uint channels_of(__global const uint *masks, int pose, int x, int y, int z) {
  uint found = 0;
  if (min(x, y) < 0 || max(x, y) >= POOLED) return found;
  const int row = y * POOLED, end = row + min(z + STRIP, POOLED - 1);
  for (int g = (row + max(z - 1, 0)) / GROUP; g <= end / GROUP; g++)
    found |= masks[(pose * POOLED + x) * GROUPS + g];
  return found;
}
#endif

#define BLOCK (GROUP * VECTORS)   // output channels of a work-item
#define STRIPS (SIDE / STRIP)     // of a row
#define BLOCKS (OUTPUTS / BLOCK)  // of a voxel
#define EDGE(at) ((at) == 0 ? 0 : (at) == SIDE - 1 ? 2 : 1)

static inline void convolve_strip(int pose,
                                  int x,
                                  int y,
                                  int z,
                                  int block,
                                  __global const float *in,
                                  __global const uint *masks,
                                  __global const float *weights,
                                  __global const float *biases,
                                  __global float *out) {
  real sum[STRIP][VECTORS];
  const int first = block * BLOCK + LANE;
#pragma unroll
  for (int i = 0; i < STRIP; i++)
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
      const int kind = (EDGE(x) * 3 + EDGE(y)) * 3 + EDGE(z + i);
      sum[i][v] = LOAD(biases + kind * OUTPUTS + first + v * GROUP);
    }
  for (int dx = 0; dx < WIDTH; dx++)
    for (int dy = 0; dy < WIDTH; dy++) {
      const int tx = x + dx - WIDTH / 2, ty = y + dy - WIDTH / 2;
      __global const float *row = in + voxel(pose, SIDE, tx, ty, z - WIDTH / 2) * IN_ROOM;
      __global const float *tap = weights + (dx * WIDTH + dy) * INPUTS * WIDTH * OUTPUTS + first;
#if SPARSE
      for (uint rest = channels_of(masks, pose, tx, ty, z); rest; rest &= rest - 1) {
        const int c = 31 - clz(rest & -rest);
#else
      for (int c = 0; c < INPUTS; c++) {
#endif
        real weight[WIDTH][VECTORS];
#pragma unroll
        for (int dz = 0; dz < WIDTH; dz++)
#pragma unroll
          for (int v = 0; v < VECTORS; v++)
            weight[dz][v] = LOAD(tap + (c * WIDTH + dz) * OUTPUTS + v * GROUP);
      // Each number is read once, for all voxels that it is a neighbour of.
#pragma unroll
        for (int n = 0; n < STRIP + WIDTH - 1; n++) {
          const real value = (real)(row[n * IN_ROOM + c]);
#pragma unroll
          for (int dz = 0; dz < WIDTH; dz++)
            if (n >= dz && n - dz < STRIP)
#pragma unroll
              for (int v = 0; v < VECTORS; v++)
                sum[n - dz][v] = fma(value, weight[dz][v], sum[n - dz][v]);
        }
      }
    }
  __global float *to = out + voxel(pose, SIDE, x, y, z) * OUT_ROOM + OUT_FIRST + first;
#pragma unroll
  for (int i = 0; i < STRIP; i++)
#pragma unroll
    for (int v = 0; v < VECTORS; v++) STORE(larger(sum[i][v], 0.0f), to + i * OUT_ROOM + v * GROUP);
}

KERNEL void convolve(
    int pose_count,
    __global const float *in,
    __global const uint *masks,     // of `in`, where SPARSE
    __global const float *weights,  // tap along x, y; input; tap along z; output
    __global const float *biases,   // first, inner, last plane along x, y, z; output
    __global float *out)            // another array than `in`, or other channels
{
  const int item = FIRST_ITEM;
#if LANES == 16
  const int pose = item / SIDE, x = item % SIDE;
  if (pose >= pose_count) return;
  for (int block = 0; block < BLOCKS; block++)
    for (int y = 0; y < SIDE; y++)
      for (int z = 0; z < SIDE; z += STRIP)
        convolve_strip(pose, x, y, z, block, in, masks, weights, biases, out);
#else
  const int block = item % BLOCKS, z = item / BLOCKS % STRIPS * STRIP;
  const int y = item / (BLOCKS * STRIPS) % SIDE, x = item / (BLOCKS * STRIPS * SIDE) % SIDE;
  const int pose = item / (BLOCKS * STRIPS * SIDE * SIDE);
  if (pose >= pose_count) return;
  convolve_strip(pose, x, y, z, block, in, masks, weights, biases, out);
#endif
}

// SIDE is that of the larger grid; INPUTS channels are pooled.
KERNEL void halve(int pose_count, __global const float *in, __global float *out) {
  const int half_side = SIDE / 2, parts = INPUTS / GROUP;
  const int item = FIRST_ITEM, first = item % parts * GROUP + LANE, place = item / parts;
  const int z = place % half_side, y = place / half_side % half_side;
  const int x = place / (half_side * half_side) % half_side;
  const int pose = place / (half_side * half_side * half_side);
  if (pose >= pose_count) return;
  real found = (real)(0.0f);  // no value is less
  for (int v = 0; v < 8; v++) {
    const int at = voxel(pose, SIDE, 2 * x + v / 4, 2 * y + v / 2 % 2, 2 * z + v % 2);
    const real value = LOAD(in + at * IN_ROOM + first);
#if MAXIMUM
    found = greater(found, value);
#else
    found += value;
#endif
  }
#if !MAXIMUM
  found *= 0.125f;
#endif
  STORE(found, out + voxel(pose, half_side, x, y, z) * OUT_ROOM + first);
}

// The three outputs as GROUP partial sums each, over channels n, n + GROUP, ...
KERNEL void finish(int pose_count,
                   __global const float *in,
                   __global const float *weights,  // output; x, y, z, or none of MAXIMUM; channel
                   __global float *out)            // pose, output, GROUP
{
  const int pose = FIRST_ITEM, voxels = SIDE * SIDE * SIDE;
  if (pose >= pose_count) return;
  real sum[3];
  for (int n = 0; n < 3; n++) sum[n] = (real)(0.0f);
  for (int first = 0; first < INPUTS; first += GROUP) {
    real highest = (real)(0.0f);  // no value is less
    for (int v = 0; v < voxels; v++) {
      const int at = voxel(pose, SIDE, v / (SIDE * SIDE), v / SIDE % SIDE, v % SIDE);
      const real value = LOAD(in + at * IN_ROOM + first + LANE);
#if MAXIMUM
      highest = greater(highest, value);
    }
    for (int n = 0; n < 3; n++)
      sum[n] = fma(highest, LOAD(weights + n * INPUTS + first + LANE), sum[n]);
#else
      for (int n = 0; n < 3; n++)
        sum[n] = fma(value, LOAD(weights + (n * voxels + v) * INPUTS + first + LANE), sum[n]);
    }
#endif
  }
  for (int n = 0; n < 3; n++) STORE(sum[n], out + (pose * 3 + n) * GROUP + LANE);
}
