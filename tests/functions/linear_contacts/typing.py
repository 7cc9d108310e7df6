"""Fills the group of linear_contacts in a ligands file."""

import numpy as np

from ligen_py.molecules.typing.input import LigandAtoms


def ligand_columns(atoms: LigandAtoms) -> dict[str, np.ndarray]:
    return {"weight": (atoms.graph.element > 1).astype("f4")}
