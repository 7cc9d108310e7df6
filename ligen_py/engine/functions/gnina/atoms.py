"""Atoms as the networks' densities are made of them."""

from dataclasses import dataclass

import numpy as np

from ligen_py.engine.functions.gnina.constants import radii
from ligen_py.engine.pose_arrays import places
from ligen_py.records.functions.gnina import GninaLigands
from ligen_py.records.poses import Poses


@dataclass(frozen=True)
class Atoms:
    """Atoms with a channel, of a receptor or of a ligand in a pose."""

    xyz: np.ndarray
    """float32 (atoms, 3), Angstrom."""
    channel: np.ndarray
    """int32 (atoms,), rising."""
    radius: np.ndarray
    """float32 (atoms,), Angstrom."""

    @classmethod
    def of(cls, xyz: np.ndarray, channel: np.ndarray, radius: np.ndarray) -> "Atoms":
        """Those of some atoms that have a channel, by rising channel."""
        order = np.argsort(channel, kind="stable")
        order = order[channel[order] >= 0]
        return cls(xyz[order].astype(np.float32), channel[order].astype(np.int32), radius[order])

    def rows(self) -> np.ndarray:
        """Position and radius (atoms, 4), float32, as kernels read them."""
        return np.concatenate([self.xyz, self.radius[:, None]], axis=1).astype(np.float32)

    def center(self) -> np.ndarray:
        """Mean position (3,), around which the grid lies; float64."""
        mean: np.ndarray = self.xyz.mean(axis=0, dtype=np.float64)
        return mean


def posed(ligands: GninaLigands, poses: Poses, number: int, rows: slice) -> list[Atoms]:
    """The atoms of ligand `number` in some of its poses."""
    start, heavy = int(ligands.first_atom[number]), int(ligands.heavy[number])
    own = slice(start, start + heavy)
    channel, radius = ligands.channel[own], radii(ligands.element[own])
    return [Atoms.of(xyz[:heavy], channel, radius) for xyz in places(ligands, poses, number, rows)]
