"""The atoms and bonds of some molecules side by side, as arrays.

What is asked of every atom, such as whether it accepts a hydrogen bond, takes the same few calls of
numpy for a batch of molecules as for one.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

import numpy as np

from ligen_py.molecules.lists import ATOM_TYPE, BOND_TYPE, DOUBLE, Lists


class Arrays:
    """Some molecules, at least one; atoms are numbered through all of them."""

    def __init__(self, lists: Sequence[Lists]) -> None:
        self.lists = lists
        counts = [len(one.atoms) for one in lists]
        self.first = np.cumsum([0, *counts])
        """First atom of each molecule, and the number of atoms: (molecules + 1,)."""
        self.first_bond = np.cumsum([0, *(len(one.bonds) for one in lists)])
        """First bond of each molecule, and the number of bonds: (molecules + 1,)."""
        self.owner = np.repeat(np.arange(len(lists)), counts)
        """Molecule of each atom."""
        self.atoms = np.frombuffer(
            b"".join([atom.packed for one in lists for atom in one.atoms]), ATOM_TYPE
        )
        self.bonds = np.frombuffer(
            b"".join([bond.packed for one in lists for bond in one.bonds]), BOND_TYPE
        )
        self.element = self.atoms["element"].astype("i8")
        self.aromatic = self.atoms["aromatic"]
        self.charge = self.atoms["charge"]
        self.valence = self.atoms["valence"]
        self.bond_owner = np.repeat(np.arange(len(lists)), np.diff(self.first_bond))
        """Molecule of each bond."""
        shift = self.first[self.bond_owner]
        self.near = _numbers([one.near for one in lists]) + shift
        """One atom of each bond."""
        self.far = _numbers([one.far for one in lists]) + shift
        """The other one."""
        self.ends = np.concatenate([self.near, self.far])
        """One end of each bond, then the other."""
        self.others = np.concatenate([self.far, self.near])
        """What is bonded there."""

    @cached_property
    def degree(self) -> np.ndarray:
        """Bonds of each atom, those to hydrogens that are no atoms included."""
        return np.bincount(self.ends, minlength=len(self.atoms)) + self.atoms["hydrogens"]

    @cached_property
    def doubles(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of each double bond, and these in turn."""
        double = np.flatnonzero(self.bonds["type"] == DOUBLE)
        near, far = self.near[double], self.far[double]
        return np.concatenate([near, far]), np.concatenate([far, near])

    @cached_property
    def ring_size(self) -> np.ndarray:
        """Atoms of each ring."""
        return np.array([len(ring) for one in self.lists for ring in one.rings], "i8")

    @cached_property
    def first_ring(self) -> np.ndarray:
        """First ring of each molecule, and the number of rings: (molecules + 1,)."""
        return np.cumsum([0, *(len(one.rings) for one in self.lists)])

    @cached_property
    def ring(self) -> np.ndarray:
        """Atoms of each ring in turn, of one ring after another."""
        rings = np.repeat(self.first[:-1], np.diff(self.first_ring))
        atoms = _numbers([ring for one in self.lists for ring in one.rings])
        return atoms + np.repeat(rings, self.ring_size)

    @cached_property
    def cyclic(self) -> np.ndarray:
        """Whether each bond is one of a ring."""
        keys = pair_keys(self.near, self.far, len(self.atoms))
        rows = np.argsort(keys)
        result = np.zeros(len(keys), bool)
        result[rows[ring_bonds(keys[rows], self.ring, self.ring_size, len(self.atoms))]] = True
        return result

    def count(self, chosen: np.ndarray) -> np.ndarray:
        """How many bonded atoms of each atom are chosen: (atoms,) from bool (atoms,)."""
        return np.bincount(self.ends[chosen[self.others]], minlength=len(self.atoms))


def _numbers(parts: Sequence[Sequence[int]]) -> np.ndarray:
    """Numbers of several lists, one after another."""
    return np.array(list(chain.from_iterable(parts)), "i8")


def pair_keys(first: np.ndarray, second: np.ndarray, count: int) -> np.ndarray:
    """A number for each pair out of `count` atoms, in whatever order they stand."""
    return np.minimum(first, second) * count + np.maximum(first, second)


def ring_bonds(keys: np.ndarray, ring: np.ndarray, sizes: np.ndarray, count: int) -> np.ndarray:
    """Rows of the bonds from each atom of a ring to the next.

    `keys` are the bonds' (`pair_keys`), ascending; `ring` and `sizes` the atoms of one ring after
    another, and how many each has.
    """
    end = np.cumsum(sizes)
    following = np.arange(1, len(ring) + 1)
    following[end - 1] = end - sizes
    return np.searchsorted(keys, pair_keys(ring, ring[following], count))
