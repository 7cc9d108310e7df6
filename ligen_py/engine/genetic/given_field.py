"""AutoDock4's field from maps that another program made."""

from collections.abc import Mapping

import numpy as np

from ligen_py.engine.functions.ad4.constants import TYPES, definitions, pair_table, type_table
from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.refinement.maps import Grid, Maps
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.records.functions.ad4 import Ad4Type


class GivenField(Ad4Field):
    """Maps as they are given."""

    def __init__(
        self,
        device: Device,
        grid: Grid,
        charge: np.ndarray,
        solvation: np.ndarray,
        types: Mapping[Ad4Type, np.ndarray],
    ) -> None:
        """Upload maps (x, y, z), kcal/mol: of a unit charge, of desolvation, of atom types."""
        self.definitions = definitions()
        self.tables = (pair_table().reshape(-1, 4), type_table())
        self.slot = np.full(TYPES, -1, np.int32)
        self.slot[list(types)] = 2 + np.arange(len(types))
        values = np.stack([charge, solvation, *types.values()]).astype(np.float32)
        self.maps = Maps(grid, len(values), buffers.upload(device, values))
