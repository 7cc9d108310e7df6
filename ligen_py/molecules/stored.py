"""Molecules as they are stored: RDKit's from checked bytes, and bytes from RDKit's.

The bytes (`ligen_py.records.molecule`) have atoms, bonds and stereo. Coordinates stand in columns
of their own, since a molecule has many poses.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rdkit import Chem

from ligen_py.molecules.graph import DATIVE, Lists, holds
from ligen_py.records.molecule import (
    AROMATIC,
    ATOM,
    BOND,
    CHIRALITIES,
    CONJUGATED,
    DIRECTION,
    HEAD,
    HYBRID,
    NAMED_STEREO,
    NO_IMPLICIT,
    SIDE,
    STEREOS,
    Side,
    parts_of,
)

SINGLE, DOUBLE = int(Chem.BondType.SINGLE), int(Chem.BondType.DOUBLE)
_USUAL = {
    1.0: SINGLE,
    1.5: int(Chem.BondType.AROMATIC),
    2.0: DOUBLE,
    3.0: int(Chem.BondType.TRIPLE),
}
"""Code of a bond by its order as a number, which takes a fifth of the time."""

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
    return stored_lists(Lists(mol), range(mol.GetNumAtoms()))


def stored_lists(lists: Lists, order: Sequence[int]) -> np.ndarray:
    """The bytes, u1, of a molecule with its atoms in another order (old number of each new atom).

    Bonds keep their order, so the handedness of centres stays as it is.
    """
    new = sorted(range(len(order)), key=order.__getitem__)
    bonds, sides = _bonds(lists, new)
    count = len(lists.atoms), len(lists.bonds), len(sides)
    data = HEAD.pack(*count) + _atoms(lists, order) + bonds
    return np.frombuffer(data + b"".join([SIDE.pack(*side) for side in sides]), "u1")


def _atoms(lists: Lists, order: Sequence[int]) -> bytes:
    """The rows of atoms, column by column.

    Codes of chirality, which take 0.5 us each, are asked for where they matter.
    """
    atoms = [lists.atoms[i] for i in order]
    element = bytes([lists.element[i] for i in order])
    chirality = bytearray(len(atoms))
    for i, (number, atom) in enumerate(zip(element, atoms, strict=True)):
        if number > 1:
            code = int(atom.GetChiralTag())
            chirality[i] = code if code <= CHIRALITIES else 0
    flags = [
        AROMATIC * lists.aromatic[i] + NO_IMPLICIT * no_implicit + HYBRID * int(hybrid)
        for i, no_implicit, hybrid in zip(
            order,
            map(Chem.Atom.GetNoImplicit, atoms),
            map(Chem.Atom.GetHybridization, atoms),
            strict=True,
        )
    ]
    isotope = list(map(Chem.Atom.GetIsotope, atoms))
    rows = bytearray(ATOM.size * len(atoms))
    for place, column in enumerate(
        (
            element,
            bytes([lists.charge[i] & 255 for i in order]),
            bytes([number & 255 for number in isotope]),
            bytes([number >> 8 for number in isotope]),
            bytes(map(Chem.Atom.GetNumExplicitHs, atoms)),
            bytes(map(Chem.Atom.GetNumRadicalElectrons, atoms)),
            chirality,
            bytes(flags),
        )
    ):
        rows[place :: ATOM.size] = column
    return bytes(rows)


def _bonds(lists: Lists, new: Sequence[int]) -> tuple[bytes, list[Side]]:
    """The rows of bonds: single to hydrogens, stereo at double bonds, directions beside those.

    `new` is the new number of each atom.
    """
    bonds, element = lists.bonds, lists.element
    near = list(map(Chem.Bond.GetBeginAtomIdx, bonds))
    far = list(map(Chem.Bond.GetEndAtomIdx, bonds))
    codes = _USUAL if not holds(lists.mol, DATIVE) else {}
    order = [
        SINGLE if element[i] < 2 or element[j] < 2 else codes.get(number, 0)
        for i, j, number in zip(near, far, map(Chem.Bond.GetBondTypeAsDouble, bonds), strict=True)
    ]
    for number in [number for number, code in enumerate(order) if not code]:
        order[number] = int(bonds[number].GetBondType())
    stereo, direction = bytearray(len(bonds)), [0] * len(bonds)
    sides, beside = [], set()
    for number in [number for number, code in enumerate(order) if code == DOUBLE]:
        beside |= {near[number], far[number]}
        code = int(bonds[number].GetStereo())
        if code >= NAMED_STEREO:
            around = [new[i] for i in bonds[number].GetStereoAtoms()]
            if len(around) == 2 and code <= STEREOS:
                sides.append(Side(*around))
            else:
                code = 0
        stereo[number] = code
    for number, bond in enumerate(bonds if beside else []):
        if near[number] in beside or far[number] in beside:
            direction[number] = int(bond.GetBondDir())
    flags = [
        CONJUGATED * conjugated + DIRECTION * code
        for conjugated, code in zip(map(Chem.Bond.GetIsConjugated, bonds), direction, strict=True)
    ]
    near, far = [new[i] for i in near], [new[i] for i in far]
    rows = bytearray(BOND.size * len(bonds))
    for place, column in enumerate(
        (
            bytes([i & 255 for i in near]),
            bytes([i >> 8 for i in near]),
            bytes([i & 255 for i in far]),
            bytes([i >> 8 for i in far]),
            bytes(order),
            stereo,
            bytes(flags),
        )
    ):
        rows[place :: BOND.size] = column
    return bytes(rows), sides


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
