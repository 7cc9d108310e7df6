"""The fields that poses are refined in: their maps, and what a ligand's atoms are in each.

Vina's and Vinardo's, AutoDock4's with electrostatics and desolvation, and the van der Waals and
hydrophobic parts of X-Score's HPScore. A ligand's own atoms meet by the same pair function.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ligen_py.engine.functions.ad4 import constants as ad4
from ligen_py.engine.functions.vina.constants import (
    ACCEPTORS,
    CUTOFF,
    DONORS,
    FORMS,
    HYDROPHOBIC,
    TYPES,
)
from ligen_py.engine.functions.xscore.constants import FIELD_CUTOFF, field_definitions, signed_radii
from ligen_py.engine.pose_arrays import ranges
from ligen_py.engine.refinement.maps import Grid, Maps, make_maps
from ligen_py.opencl.device import Device
from ligen_py.records.atom_types import Ad4Type, VinaType
from ligen_py.records.ligands import Ligands
from ligen_py.records.pocket import ChargedReceptor, Receptor
from ligen_py.records.rows import rows_below, subset


@dataclass(frozen=True)
class Particles:
    """The atoms of some ligands that a field acts on, ligand after ligand."""

    rows: np.ndarray
    """Atoms, as rows of the ligands' (atoms,)."""
    counts: np.ndarray
    """Atoms of each ligand."""
    values: np.ndarray
    """float32 (atoms,): what kernels read beside coordinates, a radius or a charge."""
    kinds: np.ndarray
    """int32 (atoms,): map number << 8 | what `pair_energy_slope` in refine.cl makes of an atom."""
    torsion_axis: np.ndarray
    """(torsions, 2), numbers of these atoms local to the ligand."""
    torsion_range: np.ndarray
    """(torsions, 2): first and one past the last atom of the far side."""
    pairs: np.ndarray
    """uint32 words: bit j % 32 of word i * ceil(count / 32) + j // 32: i and j interact."""


class ChemicalField(Protocol):
    """What refinement needs of a field over a pocket."""

    maps: Maps
    definitions: dict[str, str]
    """Macros of refine.cl."""
    tables: tuple[np.ndarray, np.ndarray]
    """float32 (rows, 4): `pair_table` and `type_table` of refine.cl, one row where not used."""

    def sizes(self, ligands: Ligands) -> np.ndarray:
        """Atoms of each ligand that the field acts on (ligands,)."""

    def particles(self, ligands: Ligands, rows: np.ndarray) -> Particles:
        """The atoms of the ligands `rows` that the field acts on."""


class _HeavyAtoms(ABC):
    """A field of heavy atoms: their numbers, torsions and pairs are those of the ligands."""

    maps: Maps
    tables = (np.zeros((1, 4), np.float32), np.zeros((1, 4), np.float32))

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
    def views(self, ligands: Ligands, atoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and kinds of some atoms, see `Particles`."""


class VinaField(_HeavyAtoms):
    """Vina's or Vinardo's terms, by their types."""

    def __init__(
        self, device: Device, receptor: Receptor, grid: Grid, ligands: Ligands, name: str
    ) -> None:
        """Compute the maps of the types that occur in `ligands`."""
        self.form = FORMS[name]
        types = np.unique(ligands.vina_type)
        types = types[types != VinaType.NONE]
        self.definitions = {"FIELD_VINA": "1", **self.form.weights.definitions()}
        self.slot = np.full(TYPES, -1, np.int32)
        self.slot[types] = np.arange(len(types))
        self.maps = make_maps(
            device, grid, types, receptor.xyz, receptor.vina_type, self.definitions, CUTOFF,
            [self.form.pair_table()],
        )  # fmt: skip

    def views(self, ligands: Ligands, atoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Radii; maps, and whether an atom is hydrophobic, gives and takes hydrogen bonds."""
        types = ligands.vina_type[atoms]
        flags = np.zeros(TYPES, np.int32)
        for kind in VinaType:
            fat, gives, takes = kind in HYDROPHOBIC, kind in DONORS, kind in ACCEPTORS
            flags[kind] = fat | gives << 1 | takes << 2 | fat << 3 | takes << 4 | gives << 5
        return self.form.radii[types].astype(np.float32), (self.slot[types] << 8) | flags[types]


class XScoreField(_HeavyAtoms):
    """Van der Waals and hydrophobic parts of HPScore (Wang, Lai, Wang 2002), v1.3.

    Hydrogen bonds, which depend on directions and are chosen among all that are possible, have no
    place in a map.
    """

    def __init__(self, device: Device, receptor: Receptor, grid: Grid, ligands: Ligands) -> None:
        """Compute the maps of the radii that occur in `ligands`, fat and other ones apart."""
        self.definitions = {"FIELD_XSCORE": "1", **field_definitions()}
        radii = np.unique(signed_radii(ligands))
        self.radii = radii[radii != 0]
        scored = receptor.radius > 0
        self.maps = make_maps(
            device, grid, self.radii, receptor.xyz[scored], signed_radii(receptor, scored),
            self.definitions, FIELD_CUTOFF,
        )  # fmt: skip

    def views(self, ligands: Ligands, atoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Radii, negative for hydrophobic atoms; maps."""
        radii = signed_radii(ligands, atoms)
        return radii, np.searchsorted(self.radii, radii).astype(np.int32) << 8


class Ad4Field:
    """AutoDock4's van der Waals, hydrogen bonds, electrostatics and desolvation.

    Polar hydrogens count among the atoms, each behind the one that holds it.
    """

    def __init__(
        self, device: Device, receptor: ChargedReceptor, grid: Grid, ligands: Ligands
    ) -> None:
        """Compute the maps of charges, and of the types that occur in `ligands`."""
        types = np.unique(ligands.ad4_type)
        types = types[types != Ad4Type.NONE]
        self.definitions = {"FIELD_AD4": "1", **ad4.definitions()}
        self.tables = (ad4.pair_table().reshape(-1, 4), ad4.type_table())
        self.slot = np.full(ad4.TYPES, -1, np.int32)
        self.slot[types] = 2 + np.arange(len(types))
        donors, (sites, axes, normals) = ad4.receptor_arrays(receptor)
        self.maps = make_maps(
            device, grid, types, sites[:, :3], sites[:, 3], self.definitions, ad4.CUTOFF,
            [axes, normals, *self.tables], (np.int32(len(sites)), np.int32(donors)), before=2,
        )  # fmt: skip

    def sizes(self, ligands: Ligands) -> np.ndarray:
        """Heavy atoms and polar hydrogens of each ligand."""
        before = np.concatenate([[0], np.cumsum(ligands.ad4_type != Ad4Type.NONE)])
        return np.diff(before[ligands.first_atom])

    def particles(self, ligands: Ligands, rows: np.ndarray) -> Particles:
        """The atoms of the ligands `rows` that have a type."""
        chosen = rows_below(ligands, "ligand", rows)
        some = subset(ligands, chosen)
        first, count = some.first_atom[:-1], len(rows)
        active = some.ad4_type != Ad4Type.NONE
        owner = np.repeat(np.arange(count), np.diff(some.first_atom))
        # Heavy atoms keep their order; a hydrogen follows its parent.
        one, two = (some.bond + np.repeat(first, np.diff(some.first_bond))[:, None]).T
        parent = np.arange(len(owner))
        for child, other in ((one, two), (two, one)):
            bonded = (some.element[child] == 1) & (some.element[other] > 1)
            parent[child[bonded]] = other[bonded]
        order = np.lexsort((np.arange(len(owner)), parent))
        order = order[active[order]]
        counts = np.bincount(owner[order], minlength=count)
        before = np.concatenate([[0], np.cumsum(np.bincount(parent[active], minlength=len(owner)))])
        start = np.cumsum(counts) - counts
        number = np.full(len(owner), -1)
        number[order] = np.arange(len(order)) - start[owner[order]]

        of_torsion = np.repeat(np.arange(count), np.diff(some.first_torsion))
        far = before[some.torsion_range[:, :2] + first[of_torsion, None]]
        types = some.ad4_type[order]
        return Particles(
            chosen["atom"][order],
            counts,
            some.ad4_charge[order],
            (self.slot[types] << 8) | types,
            number[some.torsion_axis + first[of_torsion, None]],
            far - start[of_torsion, None],
            _pair_words(some, number, counts),
        )


def _pair_words(ligands: Ligands, number: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """`Particles.pairs` of AutoDock4's pairs, by the numbers that atoms have among the active."""
    pairs, found = ad4.ad4_pairs(ligands, 0, len(counts))
    owner = np.repeat(np.arange(len(counts)), found)
    one, two = number[pairs + ligands.first_atom[owner, None]].T
    width = (counts + 31) // 32
    first = np.cumsum(counts * width) - counts * width
    words = np.zeros(int((counts * width).sum()), np.uint32)
    for i, j in ((one, two), (two, one)):
        word = first[owner] + i * width[owner] + j // 32
        np.bitwise_or.at(words, word, np.uint32(1) << (j % 32).astype(np.uint32))
    return words


def field_over(
    name: str,
    device: Device,
    receptor: Receptor,
    charged: ChargedReceptor,
    grid: Grid,
    ligands: Ligands,
) -> ChemicalField:
    """A field by its name in settings, on a grid, with maps for what occurs in some ligands."""
    if name == "ad4":
        return Ad4Field(device, charged, grid, ligands)
    if name == "xscore":
        return XScoreField(device, receptor, grid, ligands)
    return VinaField(device, receptor, grid, ligands, name)
