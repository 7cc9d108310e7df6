"""What atoms are typed by: all that a scoring function may ask about ligands and receptors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ligen_py.molecules.graph import Graph
from ligen_py.molecules.typing.xscore_residues import ReceptorType
from ligen_py.records.functions.ad4 import Ad4Receptor
from ligen_py.records.functions.xscore import Interaction
from ligen_py.records.pocket import Receptor


@dataclass(frozen=True)
class LigandAtoms:
    """The atoms of some ligands, side by side, in docking order."""

    graph: Graph
    partial: np.ndarray
    """f8 (atoms,): Gasteiger charges, e."""
    owner: np.ndarray
    """Number of each atom's ligand (atoms,)."""
    count: int
    """Ligands."""

    def sums(self, ligand: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        """Sums f4 (ligands,) of values by their ligands' numbers; without values their counts."""
        return np.bincount(ligand, values, self.count).astype("f4")


@dataclass(frozen=True)
class ReceptorAtoms:
    """The heavy atoms of a receptor that are scored, one value an atom."""

    common: Receptor
    role: Sequence[Interaction]
    """X-Score's classes; waters, which X-Score leaves out, give and take hydrogen bonds."""
    bonded: Sequence[np.ndarray]
    """Atomic numbers of each atom's heavy neighbours."""
    types: Sequence[ReceptorType]
    """X-Score's types, from which roles come."""
    root: np.ndarray
    """f8 (atoms, 3): mean position of heavy, non-metal neighbours, Angstrom."""
    rooted: np.ndarray
    """bool (atoms,): whether there are any."""
    charged: Ad4Receptor
    """The same atoms and their polar hydrogens, with charges."""
