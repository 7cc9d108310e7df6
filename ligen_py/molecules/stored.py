"""Molecules as they are stored: RDKit's from checked bytes, and bytes from RDKit's.

The bytes (`ligen_py.records.molecule`) have atoms, bonds and stereo. Coordinates stand in columns
of their own, since a molecule has many poses.
"""

from typing import Any

import numpy as np
from rdkit import Chem

from ligen_py.molecules.graph import atoms_of, bonds_of
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

SINGLE, DOUBLE = int(Chem.BondType.SINGLE), int(Chem.BondType.DOUBLE)

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
    atoms, bonds = list(atoms_of(mol)), list(bonds_of(mol))
    element = list(map(Chem.Atom.GetAtomicNum, atoms))
    return joined(Parts(_atoms(atoms, element), *_bonds(bonds, element)))


def _atoms(atoms: list[Chem.Atom], element: list[int]) -> list[Atom]:
    """The rows of atoms. Codes are asked for one by one where they matter: one takes 0.5 us."""
    heavy = [(i, atom) for i, atom in enumerate(atoms) if element[i] > 1]
    chirality = [0] * len(atoms)
    for i, atom in heavy:
        code = int(atom.GetChiralTag())
        chirality[i] = code if code <= CHIRALITIES else 0
    flags = [
        AROMATIC * aromatic + NO_IMPLICIT * no_implicit + HYBRID * int(hybrid)
        for aromatic, no_implicit, hybrid in zip(
            map(Chem.Atom.GetIsAromatic, atoms),
            map(Chem.Atom.GetNoImplicit, atoms),
            map(Chem.Atom.GetHybridization, atoms),
            strict=True,
        )
    ]
    columns = (
        element,
        map(Chem.Atom.GetFormalCharge, atoms),
        map(Chem.Atom.GetIsotope, atoms),
        map(Chem.Atom.GetNumExplicitHs, atoms),
        map(Chem.Atom.GetNumRadicalElectrons, atoms),
        chirality,
        flags,
    )
    return list(map(Atom, *columns))


def _bonds(bonds: list[Chem.Bond], element: list[int]) -> tuple[list[Bond], list[Side]]:
    """The rows of bonds: single to hydrogens, stereo at double bonds, directions beside those."""
    near = list(map(Chem.Bond.GetBeginAtomIdx, bonds))
    far = list(map(Chem.Bond.GetEndAtomIdx, bonds))
    order = [
        int(bond.GetBondType()) if element[i] > 1 and element[j] > 1 else SINGLE
        for bond, i, j in zip(bonds, near, far, strict=True)
    ]
    stereo, direction = [0] * len(bonds), [0] * len(bonds)
    sides, beside = [], set()
    for number in [number for number, code in enumerate(order) if code == DOUBLE]:
        beside |= {near[number], far[number]}
        stereo[number] = int(bonds[number].GetStereo())
        if stereo[number] >= NAMED_STEREO:
            around = list(bonds[number].GetStereoAtoms())
            if len(around) == 2 and stereo[number] <= STEREOS:
                sides.append(Side(*around))
            else:
                stereo[number] = 0
    for number, bond in enumerate(bonds if beside else []):
        if near[number] in beside or far[number] in beside:
            direction[number] = int(bond.GetBondDir())
    flags = [
        CONJUGATED * conjugated + DIRECTION * code
        for conjugated, code in zip(map(Chem.Bond.GetIsConjugated, bonds), direction, strict=True)
    ]
    return list(map(Bond, near, far, order, stereo, flags)), sides


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
