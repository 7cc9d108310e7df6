"""How much energy a pose loses where nothing holds it: its local strain."""

import math

from rdkit import Chem
from rdkit.Chem import rdForceFieldHelpers

HELD = 0.3
"""Atoms move freely this far (Angstrom) while bonds and angles of the pose settle."""
FORCE = 100.0
"""Force constant beyond that, kcal/mol/Angstrom^2."""
STEPS = 5000
"""Of a minimisation at most. Hits need up to 500; with 200 some were 4 kcal/mol off."""


def strain(mol: Chem.Mol) -> float:
    """Energy of a pose above the nearest minimum of the free molecule, kcal/mol; NaN without types.

    The pose first settles with its heavy atoms held, since bond lengths of a start conformer are no
    strain, then without. Energies are MMFF94's without charges: those would fold a free ion.

    Args:
        mol: molecule with hydrogens and one conformer, the pose.
    """
    known = rdForceFieldHelpers.MMFFGetMoleculeProperties(mol)
    if known is None:
        return math.nan
    known.SetMMFFEleTerm(False)
    held = rdForceFieldHelpers.MMFFGetMoleculeForceField(mol, known)
    if held is None:
        return math.nan
    held.Initialize()
    for atom in mol.GetAtoms():
        if atom.GetAtomicNum() > 1:
            held.MMFFAddPositionConstraint(atom.GetIdx(), HELD, FORCE)
    held.Minimize(maxIts=STEPS)
    free = rdForceFieldHelpers.MMFFGetMoleculeForceField(mol, known)
    free.Initialize()
    before = free.CalcEnergy()
    free.Minimize(maxIts=STEPS)
    return float(max(before - free.CalcEnergy(), 0.0))
