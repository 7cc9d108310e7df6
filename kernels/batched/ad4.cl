// AutoDock4's terms of poses, pair by pair, one sub-group a pose.
//
// Lanes are the ligand's atoms (heavy atoms and polar hydrogens); every lane walks the receptor
// alone, first its donors for the nearest one, then all. Sums as in vina.cl: term t over the atoms
// in their order by lane t; pairs within the ligand are dealt to the lanes in turn.
//
//   item:  order[item] = pose        owner[pose] = ligand
//
// NumPy twin: ligen_py/engine/functions/ad4/reference.py.

#include "pose.clh"
#include "ad4.clh"

#ifndef MAX_ATOMS
#define MAX_ATOMS 64  // the largest ligand of the launch, rounded up to its class
#endif
#ifndef WG_SUB_GROUPS
#define WG_SUB_GROUPS 1  // sub-groups in a work-group
#endif

#define TERMS 4  // vdw, hbond, estat, desolv

typedef struct {
  int count, donors;               // donors come first
  __global const float4 *places;   // x, y, z; charge
  __global const float4 *axes;     // x, y, z; type
  __global const float4 *normals;  // x, y, z; power of a donor's angle
  __constant float4 *pair_table;
  __constant float4 *type_table;
} receptor_t;

static inline float distance_of(float4 a, float4 b) {
  const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return sqrt(fma(x, x, fma(y, y, z * z)));
}

static inline int nearest_donor(float4 atom, receptor_t receptor) {
  int nearest = 0;
  float least = INFINITY;
  for (int j = 0; j < receptor.donors; j++) {
    const float r = distance_of(atom, receptor.places[j]);
    if (r < least) {
      least = r;
      nearest = j;
    }
  }
  return nearest;
}

// Terms of one ligand atom: vdw, hbond, estat, desolv. The fourth component of an atom is its type.
// Bonds that an oxygen or sulfur takes add up; a hydrogen, or a nitrogen that takes, has its best
// and its worst bond alone. Every lane calls this.
static inline float4 contacts(sg_t sg, float4 atom, float charge, receptor_t receptor) {
  const int type = (int)atom.w;
  const float4 mine = receptor.type_table[type];
  const int nearest = nearest_donor(atom, receptor);
  float vdw = 0.0f, sum = 0.0f, estat = 0.0f, desolv = 0.0f;
  float best = INFINITY, worst = -INFINITY;
  for (int j = 0; j < receptor.count; j++) {
    const ad4_site_t site = {receptor.places[j], receptor.axes[j], receptor.normals[j]};
    const float r = distance_of(atom, site.place);
    estat += site.place.w * ad4_electrostatics(r);
    const int near = r <= AD4_CUTOFF;
    if (!sg_wanted(sg, near)) continue;
    const int other = (int)site.axis.w;
    const float4 theirs = receptor.type_table[other];
    const float4 pair = receptor.pair_table[type * AD4_TYPES + other];
    const float energy = ad4_dispersion(r, pair);
    const int bonds = near && ad4_is_bond(pair);
    if (near) desolv += ad4_desolvation(r, mine, charge, theirs, site.place.w);
    if (near && !bonds) vdw += energy;
    if (!sg_wanted(sg, bonds)) continue;
    if (!bonds) continue;
    const float scale = 1.0f / fmax(r, 1e-6f);
    const float4 toward = (float4)((site.place.x - atom.x) * scale, (site.place.y - atom.y) * scale,
                                   (site.place.z - atom.z) * scale, 0.0f);
    const float cosine = -ad4_inner(toward, site.axis);
    const float angular = ad4_angular(site, theirs.z, toward, cosine);
    const float bond = ad4_bond(energy, angular);
    best = fmin(best, bond);
    worst = fmax(worst, bond);
    const int ramped = theirs.z == AD4_DONOR && j != nearest;
    sum += bond * (ramped ? ad4_ramp(site.axis, receptor.axes[nearest], cosine) : 1.0f);
  }
  const float extremes = isfinite(best) ? best + worst : 0.0f;
  return (float4)(vdw, mine.z == AD4_ACCEPTOR ? sum : extremes, charge * estat, desolv);
}

// Energy of two atoms of the ligand.
static inline float within(float4 a, float charge, float4 b, float other, receptor_t receptor) {
  const float r = distance_of(a, b);
  if (r >= AD4_FARTHEST) return 0.0f;
  const int one = (int)a.w, two = (int)b.w;
  const float4 pair = receptor.pair_table[one * AD4_TYPES + two];
  const float contact = r < AD4_CUTOFF ? ad4_dispersion(r, pair) : 0.0f;
  return contact + charge * other * ad4_electrostatics(r) +
         ad4_desolvation(r, receptor.type_table[one], charge, receptor.type_table[two], other);
}

KERNEL void ad4(
    int pose_count,
    int row_length,
    int receptor_count,
    int donor_count,
    __global const float4 *places,
    __global const float4 *axes,
    __global const float4 *normals,
    __constant float4 *pair_table,
    __constant float4 *type_table,  // see ad4.clh
    __global const int *order,      // the poses of this launch
    __global const ad4_ligand_t *ligands,
    __global const float *rotors,       // a ligand: its active torsions
    __global const float4 *conformers,  // x, y, z; type
    __global const torsion_t *torsions,
    __global const float *inverse_lengths,
    __global const float *charges,       // an atom
    __global const short *active,        // atoms that have a type
    __global const short2 *pairs,        // atoms that interact within the ligand
    __global const int *pair_counts,     // a ligand
    __global const int *owner,           // a pose: its ligand
    __global const int *first_turn,      // a pose: its first torsion
    __global const float4 *quaternions,  // a pose: w, x, y, z
    __global const float *translations,  // a pose: 3, Angstrom
    __global const float2 *angles,       // cosine and sine, a torsion of a pose
    __global float *results)  // eight rows, see TERMS in ligen_py/engine/functions/ad4/constants.py
{
  SG_SETUP(sg);
  __local float4 all_atoms[WG_SUB_GROUPS * MAX_ATOMS];
  __local float all_parts[WG_SUB_GROUPS * TERMS * MAX_ATOMS];
  __local float all_internal[WG_SUB_GROUPS * SG_SIZE];
  __local float4 *atoms = all_atoms + sg.index * MAX_ATOMS;
  __local float *parts = all_parts + sg.index * TERMS * MAX_ATOMS;
  __local float *internal = all_internal + sg.index * SG_SIZE;

  if (sg.item >= pose_count) return;
  const int pose = order[sg.item];
  const ad4_ligand_t ligand = ligands[owner[pose]];
  const receptor_t receptor = {receptor_count, donor_count, places,    axes,
                               normals,        pair_table,  type_table};
  __global const float *charge = charges + ligand.first_atom;
  const int finite =
      build_pose(sg, BODY(ligand), atoms, conformers, torsions, inverse_lengths,
                 angles + first_turn[pose], motion_of(quaternions, translations, pose));

  for (int base = 0; base < ligand.active; base += SG_SIZE) {
    const int n = base + sg.lane;
    const int i = active[ligand.first_active + min(n, ligand.active - 1)];
    const float4 part = contacts(sg, atoms[i], charge[i], receptor);
    if (n >= ligand.active) continue;
    parts[n] = part.x;
    parts[MAX_ATOMS + n] = part.y;
    parts[2 * MAX_ATOMS + n] = part.z;
    parts[3 * MAX_ATOMS + n] = part.w;
  }
  float sum = 0.0f;
  for (int p = sg.lane; p < pair_counts[owner[pose]]; p += SG_SIZE) {
    const short2 pair = pairs[ligand.first_pair + p];
    sum += within(atoms[pair.x], charge[pair.x], atoms[pair.y], charge[pair.y], receptor);
  }
  internal[sg.lane] = sum;
  sg_sync(sg);
  for (int term = sg.lane; term < TERMS; term += SG_SIZE) {
    float total = 0.0f;
    for (int n = 0; n < ligand.active; n++) total += parts[term * MAX_ATOMS + n];
    parts[term * MAX_ATOMS] = finite ? total : NAN;
  }
  sg_sync(sg);
  if (sg.lane == 0) {
    float intra = 0.0f;
    for (int lane = 0; lane < SG_SIZE; lane++) intra += internal[lane];
    const float torsional = AD4_TORSION * rotors[owner[pose]];
    float affinity = torsional;
    for (int term = 0; term < TERMS; term++) {
      affinity += parts[term * MAX_ATOMS];
      results[term * row_length + pose] = parts[term * MAX_ATOMS];
    }
    results[4 * row_length + pose] = finite ? intra : NAN;
    results[5 * row_length + pose] = torsional;
    results[6 * row_length + pose] = affinity;
    results[7 * row_length + pose] = -affinity;
  }
}
