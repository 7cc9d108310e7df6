"""What refinement needs of the field of a scoring function; each is in its function's package.

A ligand's own atoms meet by the pair function that the maps are made of.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ligen_py.engine.geometry import inverse_bond_lengths
from ligen_py.engine.pose_arrays import kernel_torsions, ranges
from ligen_py.engine.refinement.maps import NO_ROWS, Grid, Maps
from ligen_py.functions import load
from ligen_py.opencl.device import Device
from ligen_py.records.column import Record
from ligen_py.records.ligands import Ligands


@dataclass(frozen=True)
class Particles:
    """The atoms of some ligands that a field acts on, ligand after ligand."""

    rows: np.ndarray
    """Atoms, as rows of the ligands' (atoms,)."""
    counts: np.ndarray
    """Atoms of each ligand."""
    values: np.ndarray
    """float32 (atoms,): what kernels read beside coordinates, such as a radius or a charge."""
    kinds: np.ndarray
    """int32 (atoms,): map number << 8 | what the field makes of an atom."""
    torsion_axis: np.ndarray
    """(torsions, 2), numbers of these atoms local to the ligand."""
    torsion_range: np.ndarray
    """(torsions, 2): first and one past the last atom of the far side."""
    pairs: np.ndarray
    """uint32 words: bit j % 32 of word i * ceil(count / 32) + j // 32: i and j interact."""


def shapes_of(
    ligands: Ligands, rows: np.ndarray, atoms: Particles
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Start conformers of the ligands `rows`, whose particles in a field are `atoms`.

    Returns float32 (atoms, 4), Angstrom and the value of each; rows of `torsion_t`; inverse lengths
    of their axes; and the radius of gyration of each ligand, Angstrom, 1 at least.
    """
    xyz, first = ligands.xyz[atoms.rows], np.cumsum(atoms.counts) - atoms.counts
    squares = (xyz.astype(np.float64) ** 2).sum(axis=1)
    mean = np.add.reduceat(squares, first) / atoms.counts if len(rows) else np.zeros(0)
    limits = np.pad(atoms.torsion_range, ((0, 0), (0, 2)))  # no second range
    starts = np.repeat(first, np.diff(ligands.first_torsion)[rows])[:, None]
    return (
        np.concatenate([xyz, atoms.values[:, None]], axis=1).astype(np.float32),
        kernel_torsions(atoms.torsion_axis, limits),
        inverse_bond_lengths(xyz, atoms.torsion_axis + starts),
        np.sqrt(np.maximum(1.0, mean)),
    )


class ChemicalField(ABC):
    """A field over a pocket, with maps for what occurs in some ligands."""

    include: str
    """The field on a device: a file in kernels/include, or one by its full path."""
    definitions: Mapping[str, str] = MappingProxyType({})
    """Macros that the include takes."""
    tables: tuple[np.ndarray, np.ndarray] = (NO_ROWS, NO_ROWS)
    """float32 (rows, 4): `pair_table` and `type_table` of field_input.clh."""
    first: int = 0
    """How many maps come first that are no probe's (FIELD_FIRST in the include)."""
    many_points: bool = True
    """Whether field_at() of the include computes several points at once (POSES in real.clh)."""
    maps: Maps

    @abstractmethod
    def sizes(self, ligands: Any) -> np.ndarray:
        """Atoms of each ligand that the field acts on (ligands,)."""

    @abstractmethod
    def particles(self, ligands: Any, rows: np.ndarray) -> Particles:
        """The atoms of the ligands `rows` that the field acts on."""


class HeavyAtomField(ChemicalField):
    """A field of heavy atoms: their numbers, torsions and pairs are those of the ligands."""

    def sizes(self, ligands: Ligands) -> np.ndarray:
        """Heavy atoms of each ligand."""
        return ligands.heavy

    def particles(self, ligands: Ligands, rows: np.ndarray) -> Particles:
        """The heavy atoms of the ligands `rows`."""
        heavy = ligands.heavy[rows].astype(np.int64)
        atoms = ranges(ligands.first_atom[rows], heavy)
        torsions = ranges(ligands.first_torsion[rows], np.diff(ligands.first_torsion)[rows])
        words = ranges(ligands.first_pair[rows], np.diff(ligands.first_pair)[rows])
        return Particles(
            atoms,
            heavy,
            *self.views(ligands, atoms),
            ligands.torsion_axis[torsions],
            ligands.torsion_range[torsions, :2],
            ligands.pair_mask[words],
        )

    @abstractmethod
    def views(self, ligands: Any, atoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and kinds of some atoms, see `Particles`."""


def field_over(
    name: str, device: Device, receptor: Record, grid: Grid, ligands: Ligands
) -> ChemicalField:
    """The field of a scoring function on a grid, with maps for what occurs in some ligands.

    `receptor` and `ligands` are those that the function sees.
    """
    found: ChemicalField = load(name, "field").FIELD(device, receptor, grid, ligands)
    return found
