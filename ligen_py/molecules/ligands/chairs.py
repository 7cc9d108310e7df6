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
GAUCHE_ANTI = np.deg2rad([80.0, 165.0])
"""From an axial group to the ring's atoms three bonds away torsions are smaller than the first one,
near 65 degrees; from an equatorial one larger than the second, near 175."""
FUSED, ONE_ATOM_BRIDGE = 2, 3
"""Atoms that a ring shares with another one, fused to it or bridged by one atom."""
PLACED = (6, 7, 14, 15, 16)
"""Elements of a ring whose groups are asked for as equatorial or axial."""
SLACK = 0.01
"""Angstrom that are left at least between two bounds of a distance."""


def chair_rings(mol: Chem.Mol, shared: int = FUSED) -> list[tuple[int, ...]]:
    """Six-membered rings, atoms in their order, that can be chairs.

    None that shares more than so many atoms with another ring: bridges of two atoms make boats.
    """
    info = mol.GetRingInfo()
    both = zip(info.AtomRings(), info.BondRings(), strict=True)
    rings = [(tuple(ring), bonds) for ring, bonds in both]
    return [
        ring
        for ring, bonds in rings
        if len(ring) == 6
        and all(mol.GetBondWithIdx(bond).GetBondType() == Chem.BondType.SINGLE for bond in bonds)
        and _saturated(mol, ring) >= LEAST_SP3
        and all(len(set(ring) & set(other)) <= shared for other, _ in rings if other != ring)
    ]


def _saturated(mol: Chem.Mol, ring: Sequence[int]) -> int:
    sp3 = Chem.HybridizationType.SP3
    return sum(mol.GetAtomWithIdx(atom).GetHybridization() == sp3 for atom in ring)


def kinds_of_chairs(mol: Chem.Mol, rings: Sequence[Sequence[int]]) -> list[bool | None]:
    """The chairs to ask for, as `chair_bounds` takes them: both where their groups differ."""
    centres = [centre for ring in rings for _, _, centre in _ends(mol, ring)]
    if any(centres):
        return [True, False, None]
    return [True, None] if centres else [None]


def chair_bounds(
    mol: Chem.Mol, rings: Sequence[Sequence[int]], equatorial: bool | None = None
) -> np.ndarray:
    """Bounds of the distances of all atoms, as RDKit has them, by which some rings become chairs.

    Args:
        mol: the molecule, without hydrogens.
        rings: of `chair_rings`.
        equatorial: whether the group at the first stereocentre of a ring, the first of two groups
            at one atom, or that at a sulfur, phosphorus or silicon is equatorial, whichever comes
            first; single groups at its other carbons and nitrogens are.
            None: groups are where the generator places them, mostly axial: six times out of seven.

    Returns:
        f8 (atoms, atoms), Angstrom: upper bounds above the diagonal, lower ones below it.
    """
    bounds = rdDistGeom.GetMoleculeBoundsMatrix(mol)
    mean = (bounds + bounds.T) / 2
    for ring in rings:
        for start in range(3):
            ways = [[ring[(i + step) % 6] for step in range(4)] for i in (start, start + 3)]
            across = np.array([_across(mean, way, TORSIONS) for way in ways])
            low, high = sorted((ring[start], ring[start + 3]))
            bounds[high, low], bounds[low, high] = across[:, 0].min(), across[:, 1].max()
        if equatorial is not None:
            _place_ends(mol, ring, equatorial, mean, bounds)
    DistanceGeometry.DoTriangleSmoothing(bounds)
    return np.asarray(bounds)


def _place_ends(
    mol: Chem.Mol, ring: Sequence[int], equatorial: bool, mean: np.ndarray, bounds: np.ndarray
) -> None:
    """Bound the distances of groups to the ring's atoms three bonds away, in place."""
    ends = _ends(mol, ring)
    first = next((place for place, _, is_centre in ends if is_centre), None)
    for place, end, is_centre in ends:
        if is_centre and place != first:
            continue  # where it is follows from the first one
        for step in (1, -1):
            chain = [end, *(ring[(place + step * i) % 6] for i in range(3))]
            near, far = _across(mean, chain, GAUCHE_ANTI)
            low, high = sorted((end, chain[-1]))
            if equatorial or not is_centre:
                bounds[high, low] = max(bounds[high, low], min(far, bounds[low, high] - SLACK))
            else:
                bounds[low, high] = min(bounds[low, high], max(near, bounds[high, low] + SLACK))


def _ends(mol: Chem.Mol, ring: Sequence[int]) -> list[tuple[int, int, bool]]:
    """Groups at a ring's atoms that are in no ring fused to it; of two groups the first.

    Returns:
        For each one its place in the ring, its atom, and whether both chairs may be low in energy:
        at a marked stereocentre, beside a second group, and at sulfur, phosphorus and silicon.
    """
    fused = [other for other in mol.GetRingInfo().AtomRings() if len({*ring} & {*other}) == 2]
    found = []
    for place, number in enumerate(ring):
        atom = mol.GetAtomWithIdx(number)
        if atom.GetAtomicNum() not in PLACED or any(number in other for other in fused):
            continue
        others = [other.GetIdx() for other in atom.GetNeighbors() if other.GetAtomicNum() > 1]
        ends = [other for other in others if other not in ring]
        if ends and atom.GetHybridization() == Chem.HybridizationType.SP3:
            is_marked = atom.GetChiralTag() != Chem.ChiralType.CHI_UNSPECIFIED
            is_second_row = atom.GetAtomicNum() > 7
            found.append((place, ends[0], is_marked or is_second_row or len(ends) > 1))
    return found


def _across(mean: np.ndarray, chain: Sequence[int], torsions: np.ndarray) -> np.ndarray:
    """The distances of the ends of four atoms, their middle bond turned by these angles.

    The first and the last atom lie (x, y) and (u, v) from the second one, along the middle bond and
    beside it.
    """
    a, b, c, d = chain
    middle = mean[b, c]
    x = (mean[a, b] ** 2 - mean[a, c] ** 2 + middle**2) / (2 * middle)
    u = (mean[b, d] ** 2 - mean[c, d] ** 2 + middle**2) / (2 * middle)
    y, v = np.sqrt(mean[a, b] ** 2 - x**2), np.sqrt(mean[b, d] ** 2 - u**2)
    return np.asarray(np.sqrt((x - u) ** 2 + y**2 + v**2 - 2 * y * v * np.cos(torsions)))
