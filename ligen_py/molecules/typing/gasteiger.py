"""Gasteiger charges (J. Gasteiger, M. Marsili, Tetrahedron 36 (1980) 3219-3228), by RDKit."""

from collections.abc import Sequence

import numpy as np
from rdkit import Chem
from rdkit.Chem import rdPartialCharges

from ligen_py.molecules.graph import atoms_of


def gasteiger(mol: Chem.Mol, atoms: Sequence[Chem.Atom] | None = None) -> np.ndarray:
    """Gasteiger charges f8 (atoms,), which the atoms get as a property too.

    Where an atom has no parameters, all charges are the formal ones. `atoms` are all atoms of the
    molecule, where its caller has them.
    """
    rdPartialCharges.ComputeGasteigerCharges(mol, throwOnParamFailure=False)
    if atoms is None:
        atoms = list(atoms_of(mol))
    charges = np.array([atom.GetDoubleProp("_GasteigerCharge") for atom in atoms])
    if np.isfinite(charges).all():
        return charges
    return np.array([atom.GetFormalCharge() for atom in atoms], "f8")
