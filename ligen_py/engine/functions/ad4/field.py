"""The field of AutoDock4: maps of charges and of the types of ligand atoms."""

import numpy as np

from ligen_py.engine.functions.ad4.constants import (
    CUTOFF,
    TYPES,
    ad4_pairs,
    definitions,
    pair_table,
    receptor_arrays,
    type_table,
)
from ligen_py.engine.refinement.chemical_field import ChemicalField, Particles
from ligen_py.engine.refinement.maps import Grid, Surroundings, make_maps
from ligen_py.opencl.device import Device
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Receptor, Ad4Type
from ligen_py.records.rows import rows_below, subset


class Ad4Field(ChemicalField):
    """AutoDock4's van der Waals, hydrogen bonds, electrostatics and desolvation.

    Polar hydrogens count among the atoms, each behind the one that holds it.
    """

    include = "ad4_field.clh"
    first = 2
    many_points = False

    def __init__(
        self, device: Device, receptor: Ad4Receptor, grid: Grid, ligands: Ad4Ligands
    ) -> None:
        """Compute the maps of charges, and of the types that occur in `ligands`."""
        types = np.unique(ligands.type)
        types = types[types != Ad4Type.NONE]
        self.definitions = definitions()
        self.tables = (pair_table().reshape(-1, 4), type_table())
        self.slot = np.full(TYPES, -1, np.int32)
        self.slot[types] = 2 + np.arange(len(types))
        donors, (places, axes, normals) = receptor_arrays(receptor)
        atoms = Surroundings(places, axes, normals, donors)
        self.maps = make_maps(device, grid, self, types, atoms, CUTOFF)

    def sizes(self, ligands: Ad4Ligands) -> np.ndarray:
        """Heavy atoms and polar hydrogens of each ligand."""
        before = np.concatenate([[0], np.cumsum(ligands.type != Ad4Type.NONE)])
        return np.diff(before[ligands.first_atom])

    def particles(self, ligands: Ad4Ligands, rows: np.ndarray) -> Particles:
        """The atoms of the ligands `rows` that have a type."""
        chosen = rows_below(ligands, "ligand", rows)
        some = subset(ligands, chosen)
        first, count = some.first_atom[:-1], len(rows)
        active = some.type != Ad4Type.NONE
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
        types = some.type[order]
        return Particles(
            chosen["atom"][order],
            counts,
            some.partial_charge[order],
            (self.slot[types] << 8) | types,
            number[some.torsion_axis + first[of_torsion, None]],
            far - start[of_torsion, None],
            _pair_words(some, number, counts),
        )


def _pair_words(ligands: Ad4Ligands, number: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """`Particles.pairs` of AutoDock4's pairs, by the numbers that atoms have among the active."""
    pairs, found = ad4_pairs(ligands, 0, len(counts))
    owner = np.repeat(np.arange(len(counts)), found)
    one, two = number[pairs + ligands.first_atom[owner, None]].T
    width = (counts + 31) // 32
    first = np.cumsum(counts * width) - counts * width
    words = np.zeros(int((counts * width).sum()), np.uint32)
    for i, j in ((one, two), (two, one)):
        word = first[owner] + i * width[owner] + j // 32
        np.bitwise_or.at(words, word, np.uint32(1) << (j % 32).astype(np.uint32))
    return words


FIELD = Ad4Field
