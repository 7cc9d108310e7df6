"""X-Score's columns of ligands and receptors."""

from dataclasses import fields

import numpy as np

from ligen_py.molecules.typing.input import LigandAtoms, ReceptorAtoms
from ligen_py.molecules.typing.xscore_ligands import ligand_types


def ligand_columns(atoms: LigandAtoms) -> dict[str, np.ndarray]:
    """The columns that `XScoreLigands` adds to ligands."""
    types = ligand_types(atoms.graph)
    columns = {spec.name: getattr(types, spec.name) for spec in fields(types)}
    return {**columns, "rotors": atoms.sums(atoms.owner, columns["rotors"])}


def receptor_columns(atoms: ReceptorAtoms) -> dict[str, np.ndarray]:
    """The columns that `XScoreReceptor` adds to the receptor."""
    return {
        "radius": np.array([kind.radius for kind in atoms.types], "f4"),
        "interaction": np.array([kind.interaction for kind in atoms.types], "u1"),
        "logp": np.array([kind.logp for kind in atoms.types], "f4"),
        "donor": np.array([kind.donor for kind in atoms.types], "u1"),
        "acceptor": np.array([kind.acceptor for kind in atoms.types], "u1"),
        "root": atoms.root.astype("f4"),
        "rooted": atoms.rooted.astype("u1"),
    }
