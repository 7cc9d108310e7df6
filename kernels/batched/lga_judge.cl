// lga_judge: what judge.clh says of the runs whose next population lga_lanes.cl made. One sub-group
// a run.

#include "judge.clh"

KERNEL void judge(lga_settings_t settings,
                  __global const lga_ligand_t *ligands,
                  __global const int *active,
                  __global lga_run_t *runs,
                  __global const float *genotypes,
                  __global const float *energies,
                  __global float *champions) {
  SG_SETUP(sg);
  __local int others[SG_SIZE];
  const int row = active[sg.item];
  const lga_run_t run = runs[row];
  if (run.ended) return;
  const lga_ligand_t l = ligands[run.ligand];
  const size_t first = first_gene(l, run.number, settings.population);
  judge_run(sg, l, settings, row, runs + row, genotypes + first,
            energies + (size_t)row * settings.population, others, champions);
}
