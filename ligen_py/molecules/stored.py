"""Molecules as they are stored: RDKit's from checked bytes, and bytes from RDKit's.

The bytes (`ligen_py.records.molecule`) have atoms, bonds and stereo. Coordinates stand in columns
of their own, since a molecule has many poses.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rdkit import Chem

from ligen_py.molecules.arrays import Arrays
from ligen_py.molecules.lists import DOUBLE, SINGLE, Lists
from ligen_py.records.molecule import (
    AROMATIC,
    ATOM,
    BOND,
    CONJUGATED,
    DIRECTION,
    HEAD,
    HYBRID,
    NAMED_STEREO,
    NO_IMPLICIT,
    SIDE,
    STEREOS,
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
    (octets,) = stored_arrays(Arrays([Lists(mol)]), np.arange(mol.GetNumAtoms()))
    return octets


def stored_arrays(arrays: Arrays, order: np.ndarray) -> list[np.ndarray]:
    """The bytes, u1, of molecules with atoms in another order (old number of each new atom).

    Bonds keep their order, so the handedness of centres stays as it is.
    """
    new = np.argsort(order) - arrays.first[arrays.owner]
    atoms = arrays.atoms["row"][order].tobytes()
    bonds = np.empty(len(arrays.bonds), _BOND_ROW)
    bonds["near"], bonds["far"] = new[arrays.near], new[arrays.far]
    bonds["rest"] = arrays.bonds["row"]
    sides: list[list[bytes]] = [[] for _ in arrays.lists]
    for molecule in np.unique(arrays.bond_owner[_unusual(arrays)]).tolist():
        first, last = arrays.first[molecule : molecule + 2]
        own = bonds[slice(*arrays.first_bond[molecule : molecule + 2])]
        sides[molecule] = _mark(own["rest"], arrays.lists[molecule], new[first:last].tolist())
    rows, result = bonds.tobytes(), []
    for molecule, own_sides in enumerate(sides):
        (first, last), (start, end) = (
            ends[molecule : molecule + 2].tolist() for ends in (arrays.first, arrays.first_bond)
        )
        parts = (
            HEAD.pack(last - first, end - start, len(own_sides)),
            atoms[first * ATOM.size : last * ATOM.size],
            rows[start * BOND.size : end * BOND.size],
            *own_sides,
        )
        result.append(np.frombuffer(b"".join(parts), "u1"))
    return result


_BOND_ROW = np.dtype([("near", "<u2"), ("far", "<u2"), ("rest", "V3")])
"""A row of Bond; the rest is order, stereo and flags."""


def _unusual(arrays: Arrays) -> np.ndarray:
    """Bonds with stereo or a direction, and bonds to hydrogens that are no single ones; bool."""
    is_light = arrays.element < 2
    to_light = is_light[arrays.near] | is_light[arrays.far]
    result: np.ndarray = arrays.bonds["marked"] | (to_light & (arrays.bonds["type"] != SINGLE))
    return result


def _mark(rests: np.ndarray, lists: Lists, new: Sequence[int]) -> list[bytes]:
    """Bonds to hydrogens become single ones; double bonds get stereo, bonds beside them directions.

    `new` is the new number of each atom. Returns the rows of the sides of double bonds.
    """
    element = lists.element
    single = {
        number
        for number, (near, far, bond) in enumerate(
            zip(lists.near, lists.far, lists.bonds, strict=True)
        )
        if bond.type != SINGLE and (element[near] < 2 or element[far] < 2)
    }
    marked = {number for number, bond in enumerate(lists.bonds) if bond.stereo or bond.direction}
    doubles = {i for i, bond in enumerate(lists.bonds) if bond.type == DOUBLE} - single
    beside = {atom for number in doubles for atom in (lists.near[number], lists.far[number])}
    sides = []
    for number in sorted(single | marked):
        bond, stereo, direction = lists.bonds[number], 0, 0
        if number in doubles:
            stereo = bond.stereo
            if stereo >= NAMED_STEREO:
                around = lists.mol.GetBondWithIdx(number).GetStereoAtoms()
                if len(around) == 2 and stereo <= STEREOS:
                    sides.append(SIDE.pack(*[new[i] for i in around]))
                else:
                    stereo = 0
        if lists.near[number] in beside or lists.far[number] in beside:
            direction = bond.direction
        order = SINGLE if number in single else bond.type
        flags = CONJUGATED * bond.conjugated + DIRECTION * direction
        rests[number] = bytes((order, stereo, flags))
    return sides


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
