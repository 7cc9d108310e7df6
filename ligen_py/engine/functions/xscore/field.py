"""The field of X-Score: maps of the radii of ligand atoms."""

import numpy as np

from ligen_py.engine.functions.xscore.constants import FIELD_CUTOFF, field_definitions, signed_radii
from ligen_py.engine.refinement.chemical_field import HeavyAtomField
from ligen_py.engine.refinement.maps import Grid, Surroundings, make_maps
from ligen_py.opencl.device import Device
from ligen_py.records.functions.xscore import XScoreLigands, XScoreReceptor


class XScoreField(HeavyAtomField):
    """Van der Waals and hydrophobic parts of HPScore (Wang, Lai, Wang 2002), v1.3.

    Hydrogen bonds, which depend on directions and are chosen among all that are possible, have no
    place in a map.
    """

    include = "xscore_field.clh"

    def __init__(
        self, device: Device, receptor: XScoreReceptor, grid: Grid, ligands: XScoreLigands
    ) -> None:
        """Compute the maps of the radii that occur in `ligands`, fat and other ones apart."""
        self.definitions = field_definitions()
        radii = np.unique(signed_radii(ligands))
        self.radii = radii[radii != 0]
        scored = receptor.radius > 0
        atoms = Surroundings.of(receptor.xyz[scored], signed_radii(receptor, scored))
        self.maps = make_maps(device, grid, self, self.radii, atoms, FIELD_CUTOFF)

    def views(self, ligands: XScoreLigands, atoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Radii, negative for hydrophobic atoms; maps."""
        radii = signed_radii(ligands, atoms)
        return radii, np.searchsorted(self.radii, radii).astype(np.int32) << 8


FIELD = XScoreField
