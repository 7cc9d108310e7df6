"""Channels of atoms in gnina's networks: 14 of the receptor, then 14 of the ligand.

After libmolgrid's default typing (Sunseri, Koes, J. Chem. Inf. Model. 2020, 60, 1079). An
atom's element decides, of carbon also aromaticity and neighbours, of nitrogen and oxygen whether
they have a hydrogen. Hydrogens have no channel.
"""

import numpy as np

from ligen_py.molecules.graph import Graph
from ligen_py.molecules.typing.input import LigandAtoms, ReceptorAtoms
from ligen_py.molecules.typing.vina import HETERO_FREE
from ligen_py.records.functions.ad4 import Ad4Type

TO_HYDROGEN = 1.3
"""Angstrom; a hydrogen nearer than this is bonded."""

SAME_PLACE = 0.01
"""Angstrom; two atoms nearer than this are one."""

SIDES = 14
"""Channels of the receptor, and as many of the ligand."""
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


def ligand_columns(atoms: LigandAtoms) -> dict[str, np.ndarray]:
    """The columns that `GninaLigands` adds to ligands."""
    return {"channel": ligand_channels(atoms.graph)}


def receptor_columns(atoms: ReceptorAtoms) -> dict[str, np.ndarray]:
    """The columns that `GninaReceptor` adds to the receptor.

    Aromatic atoms and hydrogens are those of the receptor with charges.
    """
    common, charged = atoms.common, atoms.charged
    rings = charged.xyz[charged.type == Ad4Type.A]
    hydrogens = charged.xyz[charged.type == Ad4Type.HD]
    polar = np.array([not HETERO_FREE.issuperset(near.tolist()) for near in atoms.bonded], bool)
    return {
        "channel": channels(
            common.element,
            near_any(common.xyz, rings, SAME_PLACE),
            polar,
            near_any(common.xyz, hydrogens, TO_HYDROGEN),
            False,
        )
    }


def ligand_channels(graph: Graph) -> np.ndarray:
    """Channel (atoms,) of a molecule with explicit hydrogens, or of several side by side."""
    polar = graph.count(~np.isin(graph.element, list(HETERO_FREE))) > 0
    return channels(graph.element, graph.aromatic, polar, graph.hydrogens > 0, True)


def near_any(xyz: np.ndarray, others: np.ndarray, reach: float) -> np.ndarray:
    """Whether one of some other atoms lies within reach, Angstrom: bool (atoms,)."""
    if not len(others):
        return np.zeros(len(xyz), bool)
    return np.array([((others - place) ** 2).sum(axis=1).min() < reach**2 for place in xyz], bool)


def channels(
    element: np.ndarray,
    aromatic: np.ndarray,
    polar: np.ndarray,
    has_hydrogen: np.ndarray,
    is_ligand: bool,
) -> np.ndarray:
    """Channel (atoms,) of each atom, int8; NONE of hydrogens.

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
    return np.where(found == NONE, NONE, found + SIDES * is_ligand).astype("i1")
