"""Channels of atoms in gnina's networks: 14 of the receptor, then 14 of the ligand.

After libmolgrid's default typing (Sunseri, Koes, J. Chem. Inf. Model. 2020, 60, 1079). Atoms are
told apart by element, for carbon also by aromaticity and by neighbours, for nitrogen and oxygen by
whether they have a hydrogen. Hydrogens have no channel.
"""

import numpy as np

SIDES = 14
"""Channels of the receptor, and as many of the ligand."""
CHANNELS = 2 * SIDES
NONE = -1

CARBON = 0
"""First of four: aliphatic, hydrophobic or not; aromatic, hydrophobic or not."""

RECEPTOR = {
    35: 4, 53: 4, 17: 4, 9: 4, 7: 5, 8: 7, 16: 9, 34: 9, 15: 10, 20: 11, 30: 12,
}  # fmt: skip
LIGAND = {
    35: 4, 53: 4, 17: 5, 9: 6, 7: 7, 8: 9, 16: 11, 34: 11, 15: 12,
}  # fmt: skip
"""Channel by atomic number; of nitrogen and oxygen without a hydrogen, and the next one with."""
OTHER = 13
"""Metals, boron and all that has no channel of its own."""

RADIUS = {
    6: 1.9, 7: 1.8, 8: 1.7, 16: 2.0, 34: 2.0, 15: 2.1, 9: 1.5, 17: 1.8, 35: 2.0, 53: 2.2, 5: 1.92,
}  # fmt: skip
OTHER_RADIUS = 1.2
"""Angstrom; X-Score's radii, as gnina has them."""


def channels(
    element: np.ndarray,
    aromatic: np.ndarray,
    polar: np.ndarray,
    has_hydrogen: np.ndarray,
    is_ligand: bool,
) -> np.ndarray:
    """Channel (atoms,) of each atom, int32; NONE of hydrogens.

    Args:
        element: atomic numbers.
        aromatic: whether a carbon is.
        polar: whether a carbon has a neighbour other than carbon and hydrogen.
        has_hydrogen: whether a nitrogen or oxygen has one.
        is_ligand: the ligand's channels, or the receptor's.
    """
    table = np.full(256, OTHER, np.int32)
    own = LIGAND if is_ligand else RECEPTOR
    table[list(own)] = list(own.values())
    table[1] = NONE
    found = table[element]
    carbon, donates = element == 6, np.isin(element, (7, 8)) & (has_hydrogen > 0)
    found[carbon] = (CARBON + 2 * (aromatic > 0) + (polar > 0))[carbon]
    found[donates] += 1
    return np.where(found == NONE, NONE, found + SIDES * is_ligand).astype(np.int32)


def radii(element: np.ndarray) -> np.ndarray:
    """Radius (atoms,) of each atom in Angstrom, float32."""
    table = np.full(256, OTHER_RADIUS, np.float32)
    table[list(RADIUS)] = list(RADIUS.values())
    return table[element]
