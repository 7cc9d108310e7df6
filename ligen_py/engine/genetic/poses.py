"""Coordinates and energies apart of what the genetic algorithm found, in NumPy."""

from dataclasses import dataclass, replace

import numpy as np

from ligen_py.engine.functions.ad4.constants import WEIGHTS
from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.genetic.reference import WALL
from ligen_py.engine.refinement.reference import Genotype, Problem
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.records.functions.ad4 import Ad4Ligands

ROUNDING = 1e-4
"""Angstrom; so far outside the box an atom may lie that the device, in float32, had inside."""


def map_values(device: Device, field: Ad4Field) -> np.ndarray:
    """The values of a field's maps (maps, x, y, z)."""
    shape = (field.maps.count, *field.maps.grid.shape)
    return buffers.download(device, field.maps.buffer, shape, np.float32)


@dataclass(frozen=True)
class Terms:
    """Energies of a pose in the maps, kcal/mol."""

    vdw: np.ndarray
    """Of each atom: van der Waals, hydrogen bonds and desolvation."""
    electrostatic: np.ndarray
    """Of each atom."""
    internal: float
    """Of pairs within the ligand."""
    torsional: float
    """Loss of freedom of the torsions."""

    @property
    def intermolecular(self) -> float:
        """Of all atoms in the receptor."""
        return float(self.vdw.sum() + self.electrostatic.sum())

    @property
    def binding(self) -> float:
        """AutoDock's estimate of the free energy of binding.

        The unbound ligand is taken to be as the bound one, so its internal energy cancels.
        """
        return self.intermolecular + self.torsional


class Poser:
    """One ligand in a field: from genotypes to coordinates and energies."""

    def __init__(
        self, field: Ad4Field, values: np.ndarray, ligands: Ad4Ligands, number: int
    ) -> None:
        """Take ligand `number`; `values` (maps, x, y, z) are those of `map_values`."""
        self._problem = replace(Problem.of("ad4", ligands, number, field, values), wall=WALL)
        self._torsions = float(ligands.torsions[number])

    def places(self, genotype: Genotype) -> np.ndarray:
        """Coordinates (typed atoms, 3), Angstrom, in the order of the ligand's atoms."""
        return self._problem.places(genotype)

    def terms(self, genotype: Genotype) -> Terms:
        """Energies of a pose."""
        problem = self._problem
        xyz = problem.places(genotype)
        internal = problem.evaluate(genotype)[0] - float(problem.look_up(xyz)[0].sum())
        grid = problem.grid
        inside = np.clip(xyz, grid.origin, grid.origin + grid.spacing * (np.array(grid.shape) - 1))
        xyz = np.where(np.abs(xyz - inside) < ROUNDING, inside, xyz)
        total = problem.look_up(xyz)[0]
        # The map of a unit charge alone, without the wall around the box.
        charged = replace(problem, shares=problem.shares * np.eye(1, problem.shares.shape[1]))
        neutral = replace(problem, shares=0 * problem.shares)
        electrostatic = charged.look_up(xyz)[0] - neutral.look_up(xyz)[0]
        return Terms(
            total - electrostatic,
            electrostatic,
            internal,
            WEIGHTS["TORSION"] * self._torsions,
        )
