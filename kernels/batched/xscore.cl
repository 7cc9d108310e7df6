// Scores of poses, one sub-group a pose; one kernel a scoring function.
//
// A sub-group rebuilds the coordinates of its pose from the genotype, as everybody does
// (geometry.clh). Lanes are ligand atoms; every lane walks the receptor atoms near its own. The
// atoms' parts then lie in local memory, where lane t adds up term t in the order of the atoms: the
// same bits whatever the batch, the work-group or the sub-group size.
//
//   item:  order[item] = pose        owner[pose] = ligand
//
// NumPy twin: ligen_py/engine/functions/xscore/reference.py.

#include "pose.clh"
#include "xscore.clh"

#ifndef MAX_ATOMS
#define MAX_ATOMS 64  // the largest ligand of the launch, rounded up to its class
#endif
#ifndef WG_SUB_GROUPS
#define WG_SUB_GROUPS 1  // sub-groups in a work-group
#endif

#define PAIR_SUMS 4  // pair terms: van der Waals, hydrogen bonds, hydrophobic pairs and match

// One of X-Score's functions, whose coefficients are macros that begin with its name.
#define PKD(NAME, vdw, hb, hydrophobic, rt) \
  fma(NAME##_RT, rt,                        \
      fma(NAME##_HYDROPHOBIC, hydrophobic,  \
          fma(NAME##_HB, hb, fma(NAME##_VDW, vdw, NAME##_CONSTANT))))

// A polar ligand atom: s0 atom, s1 donor, s2 acceptor, s3 and s4 the most bonds it gives and
// takes, s5 to s7 its heavy neighbours, -1 for none.
static inline site_t ligand_site(__local const float4 *atoms, short8 polar) {
  const float4 p = atoms[polar.s0];
  float4 sum = (float4)(0.0f);
  float count = 0.0f;
  if (polar.s5 >= 0) {
    sum += atoms[polar.s5];
    count += 1.0f;
  }
  if (polar.s6 >= 0) {
    sum += atoms[polar.s6];
    count += 1.0f;
  }
  if (polar.s7 >= 0) {
    sum += atoms[polar.s7];
    count += 1.0f;
  }
  const site_t site = {(float4)(p.x, p.y, p.z, fabs(p.w)), sum / fmax(count, 1.0f), polar.s1,
                       polar.s2, count > 0.0f};
  return site;
}

KERNEL void xscore(
    int pose_count,
    int row_length,
    float4 corner,  // these four: see neighbours_t
    int4 blocks,
    __global const int *first_near,
    __global const int *near,
    int site_count,
    __global const float4 *receptor,        // x, y, z; radius, negative for hydrophobic atoms
    __global const float *receptor_logp,    // a receptor atom
    __global const float4 *site_positions,  // polar receptor atoms: x, y, z, radius
    __global const float4 *site_roots,      // x, y, z; donor + 4 * acceptor + 16 * rooted
    __global const int *order,              // the poses of this launch
    __global const xscore_ligand_t *ligands,
    __global const float *rotors,       // a ligand
    __global const float4 *conformers,  // x, y, z; radius, negative for hydrophobic atoms
    __global const torsion_t *torsions,
    __global const float *inverse_lengths,
    __global const short *heavy,         // atoms that are not hydrogens
    __global const float *logp,          // a heavy atom
    __global const short8 *polar,        // atoms that may bond
    __global const int *owner,           // a pose: its ligand
    __global const int *first_turn,      // a pose: its first torsion
    __global const float4 *quaternions,  // a pose: w, x, y, z
    __global const float *translations,  // a pose: 3, Angstrom
    __global const float2 *angles,       // cosine and sine, a torsion of a pose
    __global float
        *results)  // eight rows, see TERMS in ligen_py/engine/functions/xscore/constants.py
{
  SG_SETUP(sg);
  __local float4 all_atoms[WG_SUB_GROUPS * MAX_ATOMS];
  __local float all_parts[WG_SUB_GROUPS * PAIR_SUMS * MAX_ATOMS];
  __local float4 *atoms = all_atoms + sg.index * MAX_ATOMS;
  __local float *parts = all_parts + sg.index * PAIR_SUMS * MAX_ATOMS;

  if (sg.item >= pose_count) return;
  const int pose = order[sg.item];
  const xscore_ligand_t ligand = ligands[owner[pose]];
  const neighbours_t neighbours = {corner, blocks, first_near, near};
  const int finite =
      build_pose(sg, BODY(ligand), atoms, conformers, torsions, inverse_lengths,
                 angles + first_turn[pose], motion_of(quaternions, translations, pose));

  for (int h = sg.lane; h < ligand.heavy; h += SG_SIZE) {
    const int row = ligand.first_heavy + h;
    const float3 part = contacts(atoms[heavy[row]], logp[row], receptor, receptor_logp, neighbours);
    parts[h] = part.x;
    parts[2 * MAX_ATOMS + h] = part.y;
    parts[3 * MAX_ATOMS + h] = part.z;
  }
  for (int p = sg.lane; p < ligand.polar; p += SG_SIZE) {
    const short8 row = polar[ligand.first_polar + p];
    parts[MAX_ATOMS + p] = hydrogen_bonds(ligand_site(atoms, row), (int2)(row.s3, row.s4),
                                          site_positions, site_roots, site_count);
  }
  sg_sync(sg);
  for (int term = sg.lane; term < PAIR_SUMS; term += SG_SIZE) {
    const int count = term == 1 ? ligand.polar : ligand.heavy;
    float sum = 0.0f;
    for (int i = 0; i < count; i++) sum += parts[term * MAX_ATOMS + i];
    parts[term * MAX_ATOMS] = finite ? sum : NAN;
  }
  sg_sync(sg);
  if (sg.lane == 0) {
    const float vdw = parts[0], hb = parts[MAX_ATOMS];
    const float hp = parts[2 * MAX_ATOMS], hm = parts[3 * MAX_ATOMS];
    const float rt = rotors[owner[pose]];
    const float hpscore = PKD(HPSCORE, vdw, hb, hp, rt), hmscore = PKD(HMSCORE, vdw, hb, hm, rt);
    results[pose] = vdw;
    results[row_length + pose] = hb;
    results[2 * row_length + pose] = hp;
    results[3 * row_length + pose] = hm;
    results[4 * row_length + pose] = rt;
    results[5 * row_length + pose] = hpscore;
    results[6 * row_length + pose] = hmscore;
    results[7 * row_length + pose] = 0.5f * (hpscore + hmscore);
  }
}
