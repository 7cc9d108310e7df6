// filter: which poses of a ligand are worth a chemical score, the sort and clip of LiGen's
// Algorithm 1 (Crisci et al. 2024), in two kernels.
//
// place         one sub-group a pose: coordinates from the genotype
// select_poses  one sub-group a ligand: sort by geometric score, cluster, order, clip
//
// All atoms here are heavy ones. `select_poses` sorts indexes only and never moves coordinates.
// Work is in local memory, one entry a pose; the final order is cluster representatives, other
// bump-free poses, bumped poses, each by falling score, equal scores by rising index.
//
// NumPy twin: ligen_py/engine/filtering/reference.py.

#include "geometry.clh"

#ifndef MAX_ATOMS
#define MAX_ATOMS 64  // the largest ligand of the batch, rounded up to its class
#endif
#ifndef MAX_POSES
#define MAX_POSES 256  // the most poses of one ligand, rounded up
#endif
#ifndef WG_SUB_GROUPS
#define WG_SUB_GROUPS 1  // sub-groups in a work-group
#endif

#define REPRESENTATIVE 0
#define BUMP_FREE 1
#define BUMPED 2
#define NO_CLUSTER (-1)
#define NEVER_IN_ONE (-32768)  // the cluster of a bumped pose, in local memory

// Of the entry of a pose in `cluster`: representatives have -2 less their number there.
static int verdict_of(int cluster) {
  return cluster == NEVER_IN_ONE ? BUMPED : cluster < NO_CLUSTER ? REPRESENTATIVE : BUMP_FREE;
}

KERNEL void place(int first_pose,
                  int last_pose,  // of the launch; the last one is not placed
                  __global const filter_ligand_t *ligands,
                  __global const int *owner,          // a pose: its ligand
                  __global const float4 *conformers,  // Angstrom
                  __global const torsion_t *torsions,
                  __global const float *inverse_lengths,
                  int stepped,                         // whether `steps` is given
                  __global const uchar *steps,         // a torsion of a pose
                  __global const float2 *angles,       // cosine and sine of each, or of each step
                  __global const float4 *quaternions,  // a pose: w, x, y, z
                  __global const float *translations,  // a pose: 3, Angstrom
                  __global float4 *places)             // a ligand: atom by atom, all poses
{
  SG_SETUP(sg);
  __local float4 all_atoms[WG_SUB_GROUPS * MAX_ATOMS];
  __local float4 *atoms = all_atoms + sg.index * MAX_ATOMS;
  const int pose = first_pose + sg.item;
  if (pose >= last_pose) return;
  const filter_ligand_t l = ligands[owner[pose]];
  const int number = pose - l.first_pose;

  for (int i = sg.lane; i < l.atoms; i += SG_SIZE) atoms[i] = conformers[l.first_atom + i];
  sg_sync(sg);
  for (int n = 0; n < l.torsions; n++) {
    const int turn = l.first_turn + number * l.torsions + n;
    const float2 angle = angles[stepped ? steps[turn] : turn];
    turn_far_side(sg, atoms, torsions[l.first_torsion + n], inverse_lengths[l.first_torsion + n],
                  angle.x, angle.y);
  }
  const affine_t motion = motion_of(quaternions, translations, pose);
  for (int i = sg.lane; i < l.atoms; i += SG_SIZE)
    places[l.first_place + i * l.poses + number] = transform(motion, atoms[i]);
}

KERNEL void select_poses(
    int first_ligand,  // of the launch
    int last_ligand,
    int max_num_poses,
    float squared_rmsd,
    __global const filter_ligand_t *ligands,
    __global const int *scores,    // a pose
    __global const uchar *bumped,  // a pose: 1 where anything bumps or sticks out
    __global const float4 *places,
    __global const ushort *ways,  // to map a ligand's atoms onto themselves; of some ligands
    __global ushort *kept_pose,   // a ligand: up to max_num_poses pose numbers in final order
    __global uchar *kept_verdict,
    __global short *kept_cluster) {
  SG_SETUP(sg);
  __local ushort all_order[WG_SUB_GROUPS * MAX_POSES];
  __local short all_cluster[WG_SUB_GROUPS * MAX_POSES];
  __local ushort *order = all_order + sg.index * MAX_POSES;
  __local short *cluster = all_cluster + sg.index * MAX_POSES;
  const int number = first_ligand + sg.item;
  if (number >= last_ligand) return;
  const filter_ligand_t l = ligands[number];
  __global const int *score = scores + l.first_pose;

  // Sort: a pose's rank is the number of poses before it.
  for (int p = sg.lane; p < l.poses; p += SG_SIZE) {
    const int mine = score[p];
    int rank = 0;
    for (int other = 0; other < l.poses; other++) {
      const int theirs = score[other];
      rank += theirs > mine || (theirs == mine && other < p);
    }
    order[rank] = (ushort)p;
    cluster[p] = (short)(bumped[l.first_pose + p] ? NEVER_IN_ONE : NO_CLUSTER);
  }
  sg_sync(sg);

  // Leader clustering: the best pose without a cluster founds one and takes in all poses near it.
  // It ends early when as many representatives are found as poses are kept. Without a radius each
  // pose is a cluster.
  const float limit = squared_rmsd * (float)l.atoms;
  int clusters = 0;
  for (int rank = 0; rank < l.poses && clusters < max_num_poses; rank++) {
    const int leader = order[rank];
    if (cluster[leader] != NO_CLUSTER) continue;
    for (int r = rank + 1 + sg.lane; r < l.poses && limit > 0.0f; r += SG_SIZE) {
      const int p = order[r];
      if (cluster[p] != NO_CLUSTER) continue;
      int near = 0;
      for (int way = 0; way < max(1, l.ways) && !near; way++) {
        float sum = 0.0f;
        for (int i = 0; i < l.atoms; i++) {
          const int like = l.ways ? ways[l.first_way + way * l.atoms + i] : i;
          const float4 a = places[l.first_place + like * l.poses + leader];
          const float4 b = places[l.first_place + i * l.poses + p];
          const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
          sum = fma(x, x, fma(y, y, fma(z, z, sum)));
        }
        near = sum <= limit;
      }
      if (near) cluster[p] = (short)clusters;
    }
    sg_sync(sg);
    // The leader's own mark comes last: it tells representatives from members.
    if (sg.lane == 0) cluster[leader] = (short)(-2 - clusters);
    clusters++;
    sg_sync(sg);
  }

  // By one lane: where each lane placed its own poses, PoCL 3 on AMD's Zen 3 lost one of them.
  if (sg.lane != 0) return;
  int kept = 0;
  for (int verdict = REPRESENTATIVE; verdict <= BUMPED; verdict++) {
    for (int rank = 0; rank < l.poses && kept < max_num_poses; rank++) {
      const int p = order[rank], own = cluster[p];
      if (verdict_of(own) != verdict) continue;
      const int slot = l.first_kept + kept++;
      kept_pose[slot] = (ushort)p;
      kept_verdict[slot] = (uchar)verdict;
      kept_cluster[slot] = (short)(verdict == REPRESENTATIVE ? -2 - own
                                   : verdict == BUMPED       ? NO_CLUSTER
                                                             : own);
    }
  }
}
