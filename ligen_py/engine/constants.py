"""Radii and field values that host code and kernels share."""

import numpy as np

from ligen_py.records.limits import MAX_ATOMS

BONDI_RADII = {
    1: 1.10, 6: 1.70, 7: 1.55, 8: 1.52, 9: 1.47, 14: 2.10,
    15: 1.80, 16: 1.80, 17: 1.75, 35: 1.85, 53: 1.98,
}  # fmt: skip
"""Van der Waals radii in Angstrom by atomic number (Bondi 1964; H from Rowland and Taylor 1996)."""

ATOM_CLASSES = (32, 64, 96, 128, 192, MAX_ATOMS)
"""Kernels are compiled for ligands up to these sizes; a ligand runs in the smallest that fits.

Docking counts heavy atoms, other stages what they look at."""

CORE = -12
"""Field value inside the receptor: a heavy atom there is a pocket bump (CORE in field.clh)."""

OUTSIDE = -4
"""Field value of everything outside the box."""


def bondi_radii(element: np.ndarray) -> np.ndarray:
    """Van der Waals radii (atoms,), Angstrom, of atomic numbers; KeyError where unknown.

    >>> bondi_radii(np.array([6, 8])).tolist()
    [1.7, 1.52]
    """
    table = np.full(256, np.nan)
    for number, radius in BONDI_RADII.items():
        table[number] = radius
    radii = table[element]
    if np.isnan(radii).any():
        unknown = int(element[np.isnan(radii)][0])
        raise KeyError(f"no van der Waals radius for atomic number {unknown}")
    return radii


LOCAL_BYTES = 40_000
"""Of local memory for a pose that a sub-group shares, at most. Devices with less (some have 32 KiB)
take a kernel in which each lane has a pose."""
