"""Gasteiger charges (J. Gasteiger, M. Marsili, Tetrahedron 36 (1980) 3219-3228), by RDKit."""

import numpy as np
from rdkit import Chem
from rdkit.Chem import rdPartialCharges


def gasteiger(mol: Chem.Mol) -> np.ndarray:
    """Gasteiger charges f8 (atoms,), which the atoms get as a property too.

    Where an atom has no parameters, all charges are the formal ones.
    """
    rdPartialCharges.ComputeGasteigerCharges(mol, throwOnParamFailure=False)
    atoms = [mol.GetAtomWithIdx(i) for i in range(mol.GetNumAtoms())]
    charges = np.array([atom.GetDoubleProp("_GasteigerCharge") for atom in atoms])
    if np.isfinite(charges).all():
        return charges
    return np.array([atom.GetFormalCharge() for atom in atoms], "f8")
