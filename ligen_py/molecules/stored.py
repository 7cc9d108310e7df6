"""Molecules as they are stored: RDKit's from checked bytes, and bytes from RDKit's.

The bytes (`ligen_py.records.molecule`) have atoms, bonds and stereo. Coordinates stand in columns
of their own, since a molecule has many poses.
"""

from typing import Any

import numpy as np
from rdkit import Chem

from ligen_py.molecules.graph import atoms_of
from ligen_py.records.molecule import (
    AROMATIC,
    CHIRALITIES,
    CONJUGATED,
    DIRECTION,
    HYBRID,
    NAMED_STEREO,
    NO_IMPLICIT,
    STEREOS,
    Atom,
    Bond,
    Parts,
    Side,
    joined,
    parts_of,
)

_ORDER: dict[int, Any] = Chem.BondType.values
_STEREO: dict[int, Any] = Chem.BondStereo.values
_DIRECTION: dict[int, Any] = Chem.BondDir.values
_CHIRALITY: dict[int, Any] = Chem.ChiralType.values
_HYBRID: dict[int, Any] = Chem.HybridizationType.values


def stored(mol: Chem.Mol) -> np.ndarray:
    """The bytes of a molecule, u1.

    Stereo beyond tetrahedral centres and double bonds (square planes, hindered single bonds) is
    left out.
    """
    parts = Parts([_atom(atom) for atom in atoms_of(mol)], [], [])
    for bond in map(mol.GetBondWithIdx, range(mol.GetNumBonds())):
        stereo = int(bond.GetStereo())
        if stereo >= NAMED_STEREO:
            around = list(bond.GetStereoAtoms())
            if len(around) == 2 and stereo <= STEREOS:
                parts.sides.append(Side(*around))
            else:
                stereo = 0
        flags = CONJUGATED * bond.GetIsConjugated() + DIRECTION * int(bond.GetBondDir())
        ends = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        parts.bonds.append(Bond(*ends, int(bond.GetBondType()), stereo, flags))
    return joined(parts)


def _atom(atom: Chem.Atom) -> Atom:
    chirality = int(atom.GetChiralTag())
    flags = AROMATIC * atom.GetIsAromatic() + NO_IMPLICIT * atom.GetNoImplicit()
    return Atom(
        element=atom.GetAtomicNum(),
        charge=atom.GetFormalCharge(),
        isotope=atom.GetIsotope(),
        hydrogens=atom.GetNumExplicitHs(),
        radicals=atom.GetNumRadicalElectrons(),
        chirality=chirality if chirality <= CHIRALITIES else 0,
        flags=flags + HYBRID * int(atom.GetHybridization()),
    )


def molecule_of(octets: np.ndarray) -> Chem.Mol:
    """The molecule of some bytes, u1, without conformers; ValueError where they describe none."""
    parts = parts_of(octets)
    mol = Chem.RWMol()
    for number, charge, isotope, hydrogens, radicals, chirality, flags in parts.atoms:
        atom = Chem.Atom(number)
        atom.SetHybridization(_HYBRID[flags // HYBRID])
        atom.SetNoImplicit(bool(flags & NO_IMPLICIT))
        if flags & AROMATIC:
            atom.SetIsAromatic(True)
        if charge:
            atom.SetFormalCharge(charge)
        if isotope:
            atom.SetIsotope(isotope)
        if hydrogens:
            atom.SetNumExplicitHs(hydrogens)
        if radicals:
            atom.SetNumRadicalElectrons(radicals)
        if chirality:
            atom.SetChiralTag(_CHIRALITY[chirality])
        mol.AddAtom(atom)
    for number, (near, far, order, _, flags) in enumerate(parts.bonds):
        mol.AddBond(near, far, _ORDER[order])
        bond = mol.GetBondWithIdx(number)
        if _ORDER[order] == Chem.BondType.AROMATIC:
            bond.SetIsAromatic(True)
        if flags & CONJUGATED:
            bond.SetIsConjugated(True)
        if flags >= DIRECTION:
            bond.SetBondDir(_DIRECTION[flags // DIRECTION])
    sides = iter(parts.sides)
    for number, stereo in [(i, bond.stereo) for i, bond in enumerate(parts.bonds) if bond.stereo]:
        bond = mol.GetBondWithIdx(number)
        if stereo >= NAMED_STEREO:
            bond.SetStereoAtoms(*next(sides))
        bond.SetStereo(_STEREO[stereo])
    mol.UpdatePropertyCache(strict=False)
    Chem.GetSymmSSSR(mol)
    return mol.GetMol()
