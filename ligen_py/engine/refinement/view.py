"""A ligand in a field as the twin of the refinement sees it; each function has its own `view`."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ligen_py.records.ligands import Ligands

PairEnergy = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Energies and dE/dr of all pairs from their distances, all (atoms, atoms)."""


class View(NamedTuple):
    """The atoms of a ligand that a field acts on, and what they are in it."""

    atoms: np.ndarray
    """Numbers local to the ligand."""
    shares: np.ndarray
    """(atoms, maps): what each map gives to an atom's energy."""
    pair_energy: PairEnergy
    tested: np.ndarray
    """bool (atoms, atoms): pairs that count."""


def heavy_atoms(
    ligands: Ligands, number: int, maps: int, slots: np.ndarray, pair_energy: PairEnergy
) -> View:
    """The view of a field of heavy atoms, by the number of each atom's map."""
    heavy = int(ligands.heavy[number])
    words = slice(ligands.first_pair[number], ligands.first_pair[number + 1])
    mask = ligands.pair_mask[words].reshape(heavy, -1).view("u1")
    tested = np.unpackbits(mask, axis=1, bitorder="little")[:, :heavy].astype(bool)
    return View(np.arange(heavy), np.eye(maps)[slots], pair_energy, tested)
