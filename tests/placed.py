"""Stored molecules with their coordinates, as RDKit has them."""

from collections.abc import Mapping

import numpy as np
from rdkit import Chem

from ligen_py.molecules.export import posed


def placed(octets: np.ndarray, xyz: np.ndarray) -> Chem.Mol:
    """A stored molecule with one conformer (atoms, 3)."""
    return posed(octets, xyz, {})


def started(shape: Mapping[str, np.ndarray]) -> Chem.Mol:
    """A prepared state in its start conformer."""
    return placed(shape["molecule"], shape["xyz"])
