"""Gasteiger charges (J. Gasteiger, M. Marsili, Tetrahedron 36 (1980) 3219-3228), by RDKit."""

import numpy as np
from rdkit import Chem
from rdkit.Chem import rdPartialCharges

from ligen_py.molecules.graph import atoms_of

PROPERTY = "_GasteigerCharge"


def gasteiger(mol: Chem.Mol) -> np.ndarray:
    """Gasteiger charges f8 (atoms,), which the atoms get as a property too.

    Where an atom has no parameters, all charges are the formal ones.
    """
    rdPartialCharges.ComputeGasteigerCharges(mol, throwOnParamFailure=False)
    Chem.CreateAtomDoublePropertyList(mol, PROPERTY)  # one call, and no digit is lost
    charges = np.array([float(word) for word in mol.GetProp(f"atom.dprop.{PROPERTY}").split()])
    if np.isfinite(charges).all():
        return charges
    return np.array([atom.GetFormalCharge() for atom in atoms_of(mol)], "f8")
