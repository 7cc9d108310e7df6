"""A molecule as bytes: atoms, bonds and stereo, checked before anything is built from them.

RDKit's own bytes cannot be checked: it trusts the numbers in them, and damaged ones end the process
with a segmentation fault. These have a layout of their own, little-endian and without gaps::

    atoms u2, bonds u2, sides u2       how many rows follow of each
    rows of Atom, Bond and Side        a side for each double bond whose stereo is named
"""

from struct import Struct
from typing import NamedTuple

import numpy as np

AROMATIC, NO_IMPLICIT, HYBRID = 1, 2, 4
CONJUGATED, DIRECTION = 1, 2
"""Flags of atoms and bonds, and the factors of what stands above them."""

NAMED_STEREO = 2
"""The first code of a stereo that refers to neighbours."""

ELEMENTS, CHIRALITIES, HYBRIDS, ORDERS, STEREOS, DIRECTIONS = 118, 2, 8, 21, 5, 6
"""The largest code of each."""

NEIGHBOURS, HYDROGENS = 16, 8
"""Most of an atom: no coordination number is larger than 16."""


class Atom(NamedTuple):
    """An atom; codes are RDKit's."""

    element: int
    """u1, atomic number."""
    charge: int
    """i1, formal."""
    isotope: int
    """u2; 0: the natural mixture."""
    hydrogens: int
    """u1, those that are no atoms of the molecule."""
    radicals: int
    """u1, unpaired electrons."""
    chirality: int
    """u1, of the bonds in their order: 1 clockwise, 2 counter-clockwise."""
    flags: int
    """u1: 1 aromatic, 2 without implicit hydrogens, and 4 times the hybridisation (2 sp, 3 sp2,
    4 sp3)."""


class Bond(NamedTuple):
    """A bond; codes are RDKit's."""

    near: int
    """u2, an atom."""
    far: int
    """u2, the other atom."""
    order: int
    """u1: 1, 2, 3, 12 aromatic, 17 dative; others are rare."""
    stereo: int
    """u1: 0 none, 1 any, 2 Z, 3 E, 4 cis, 5 trans."""
    flags: int
    """u1: 1 conjugated, and 2 times the direction beside a double bond (3 down, 4 up)."""


class Side(NamedTuple):
    """The neighbours of a double bond's atoms to which Z, E, cis and trans refer."""

    near: int
    """u2, beside the near atom."""
    far: int
    """u2, beside the far atom."""


HEAD, ATOM, BOND, SIDE = Struct("<HHH"), Struct("<BbHBBBB"), Struct("<HHBBB"), Struct("<HH")
ROWS = ATOM, BOND, SIDE


class Parts(NamedTuple):
    """The rows of one molecule."""

    atoms: list[Atom]
    bonds: list[Bond]
    sides: list[Side]


def joined(parts: Parts) -> np.ndarray:
    """The bytes of a molecule, u1."""
    head = HEAD.pack(len(parts.atoms), len(parts.bonds), len(parts.sides))
    atoms = [ATOM.pack(*atom) for atom in parts.atoms]
    bonds = [BOND.pack(*bond) for bond in parts.bonds]
    sides = [SIDE.pack(*side) for side in parts.sides]
    return np.frombuffer(b"".join([head, *atoms, *bonds, *sides]), "u1")


def parts_of(octets: np.ndarray) -> Parts:
    """The rows of a molecule, u1 (bytes,); ValueError where they describe none."""
    data = octets.tobytes()
    _require(len(data) >= HEAD.size, "a head")
    counts = HEAD.unpack_from(data)
    sizes = [count * row.size for count, row in zip(counts, ROWS, strict=True)]
    _require(len(data) == HEAD.size + sum(sizes), "as many bytes as its rows")
    bonds = HEAD.size + sizes[0]
    sides = bonds + sizes[1]
    found = Parts(
        [Atom._make(row) for row in ATOM.iter_unpack(data[HEAD.size : bonds])],
        [Bond._make(row) for row in BOND.iter_unpack(data[bonds:sides])],
        [Side._make(row) for row in SIDE.iter_unpack(data[sides:])],
    )
    _require(bool(found.atoms), "atoms")
    _check_atoms(found.atoms)
    _check_bonds(found)
    return found


def checked(octets: np.ndarray, atoms: int) -> np.ndarray:
    """The same bytes; ValueError where they describe no molecule of so many atoms."""
    _require(len(parts_of(octets).atoms) == atoms, f"the {atoms} atoms of its pose")
    return octets


def _check_atoms(atoms: list[Atom]) -> None:
    element, _, _, hydrogens, radicals, chirality, flags = zip(*atoms, strict=True)
    _require(min(element) >= 1 and max(element) <= ELEMENTS, "known elements")
    _require(max(chirality) <= CHIRALITIES, "known chirality")
    _require(max(hydrogens) <= HYDROGENS, "a possible number of hydrogens")
    _require(max(radicals) <= HYDROGENS, "a possible number of radicals")
    _require(max(flags) // HYBRID <= HYBRIDS, "known hybridisation")


def _check_bonds(parts: Parts) -> None:
    count, sides = len(parts.atoms), iter(parts.sides)
    around: list[set[int]] = [set() for _ in range(count)]
    for near, far, *_ in parts.bonds:
        _require(near < count and far < count and near != far, "bonds between its atoms")
        around[near].add(far)
        around[far].add(near)
    if parts.bonds:
        _, _, order, stereo, flags = zip(*parts.bonds, strict=True)
        _require(max(order) <= ORDERS and max(stereo) <= STEREOS, "known kinds of bonds")
        _require(max(flags) // DIRECTION <= DIRECTIONS, "known directions of bonds")
    _require(sum(map(len, around)) == 2 * len(parts.bonds), "one bond between two atoms")
    _require(max(map(len, around)) <= NEIGHBOURS, f"at most {NEIGHBOURS} bonds of an atom")
    named = [bond for bond in parts.bonds if bond.stereo >= NAMED_STEREO]
    _require(len(named) == len(parts.sides), "sides of its double bonds")
    for bond, side in zip(named, sides, strict=True):
        beside = side.near in around[bond.near] and side.far in around[bond.far]
        _require(beside and side.near != bond.far and side.far != bond.near, "bonded sides")


def _require(fits: bool, what: str) -> None:
    if not fits:
        raise ValueError(f"a molecule without {what}")


def agree(
    octets: np.ndarray, first_byte: np.ndarray, first_atom: np.ndarray, element: np.ndarray
) -> bool:
    """Whether some molecules in a row have as many bytes and the elements that are said.

    Args:
        octets: their bytes, u1.
        first_byte: offsets of the bytes of each, i8 (molecules + 1,).
        first_atom: offsets of their atoms, i8 (molecules + 1,).
        element: atomic numbers, u1 (atoms,).
    """
    sizes, starts, atoms = np.diff(first_byte), first_byte[:-1], np.diff(first_atom)
    if (sizes < HEAD.size).any():
        return False
    heads = octets[starts[:, None] + np.arange(HEAD.size)].copy().view("<u2").astype("i8")
    stated = HEAD.size + heads @ [row.size for row in ROWS]
    if (heads[:, 0] != atoms).any() or (stated != sizes).any():
        return False
    number = np.arange(len(element)) - np.repeat(first_atom[:-1], atoms)
    places = np.repeat(starts + HEAD.size, atoms) + number * ATOM.size
    return bool((octets[places] == element).all())
