"""Chairs of six-membered rings, which distance geometry makes too seldom.

Of heavy atoms alone it makes mostly boats of a saturated ring, and a minimisation leaves them so.
With bounds on the three distances across the ring a conformer begins as a chair.
"""

from collections.abc import Sequence

import numpy as np
from rdkit import Chem, DistanceGeometry
from rdkit.Chem import rdDistGeom

LEAST_SP3 = 4
"""sp3 atoms of a ring that is a chair; a carbonyl group or two amides flatten it a little."""
TORSIONS = np.deg2rad([70.0, 84.0])
"""More than those of a chair, which are near 55 degrees: the distances of a twisted boat, whose
torsions are 31 and 64, are hardly shorter than a chair's. The minimisation brings them back."""


def chair_rings(mol: Chem.Mol) -> list[tuple[int, ...]]:
    """Six-membered rings, atoms in their order, that can be chairs; none of a bridged system."""
    info = mol.GetRingInfo()
    both = zip(info.AtomRings(), info.BondRings(), strict=True)
    rings = [(tuple(ring), bonds) for ring, bonds in both]
    return [
        ring
        for ring, bonds in rings
        if len(ring) == 6
        and all(mol.GetBondWithIdx(bond).GetBondType() == Chem.BondType.SINGLE for bond in bonds)
        and _saturated(mol, ring) >= LEAST_SP3
        and all(len(set(ring) & set(other)) < 3 for other, _ in rings if other != ring)
    ]


def _saturated(mol: Chem.Mol, ring: Sequence[int]) -> int:
    sp3 = Chem.HybridizationType.SP3
    return sum(mol.GetAtomWithIdx(atom).GetHybridization() == sp3 for atom in ring)


def chair_bounds(mol: Chem.Mol, rings: Sequence[Sequence[int]]) -> np.ndarray:
    """Bounds of the distances of all atoms, as RDKit has them, by which some rings become chairs.

    Returns:
        f8 (atoms, atoms), Angstrom: upper bounds above the diagonal, lower ones below it.
    """
    bounds = rdDistGeom.GetMoleculeBoundsMatrix(mol)
    mean = (bounds + bounds.T) / 2
    for ring in rings:
        for start in range(3):
            ways = [[ring[(i + step) % 6] for step in range(4)] for i in (start, start + 3)]
            across = np.array([_across(mean, way) for way in ways])
            low, high = sorted((ring[start], ring[start + 3]))
            bounds[high, low], bounds[low, high] = across[:, 0].min(), across[:, 1].max()
    DistanceGeometry.DoTriangleSmoothing(bounds)
    return np.asarray(bounds)


def _across(mean: np.ndarray, chain: Sequence[int]) -> np.ndarray:
    """The distances (2,) of the ends of four atoms, their middle bond turned by TORSIONS.

    The first and the last atom lie (x, y) and (u, v) from the second one, along the middle bond and
    beside it.
    """
    a, b, c, d = chain
    middle = mean[b, c]
    x = (mean[a, b] ** 2 - mean[a, c] ** 2 + middle**2) / (2 * middle)
    u = (mean[b, d] ** 2 - mean[c, d] ** 2 + middle**2) / (2 * middle)
    y, v = np.sqrt(mean[a, b] ** 2 - x**2), np.sqrt(mean[b, d] ** 2 - u**2)
    return np.asarray(np.sqrt((x - u) ** 2 + y**2 + v**2 - 2 * y * v * np.cos(TORSIONS)))
