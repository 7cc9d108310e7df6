"""The atoms and bonds of a molecule as lists, fetched from RDKit in one call.

A call for one value of an atom or a bond takes 0.2 to 0.7 microseconds, and a molecule has hundreds
of values. So RDKit's bytes of the molecule are cut into those of each atom and bond. Equal bytes
mean equal atoms, and what RDKit says of an atom is remembered by its bytes: of their layout only
the lengths matter here. Where the layout is another one, or an atom or bond has more than the usual
(map numbers, queries, residues), every atom and bond is asked.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from rdkit import Chem

from ligen_py.records.molecule import AROMATIC, ATOM, CHIRALITIES, CONJUGATED, HYBRID, NO_IMPLICIT

SINGLE, DOUBLE = int(Chem.BondType.SINGLE), int(Chem.BondType.DOUBLE)
USUAL = {SINGLE, DOUBLE, int(Chem.BondType.TRIPLE), int(Chem.BondType.AROMATIC)}
"""RDKit's types of bonds."""

_CODES = {0.0: 0, 1.5: 4, 2.0: 2, 3.0: 3}

HEAD = bytes.fromhex("efbeadde 00000000 10000000 04000000 00000000")
"""How the bytes begin whose layout is known: a mark, and version 16.4.0 of RDKit's pickles."""
_ATOMS = len(HEAD) + 10
"""First byte of the atoms, behind two counts and two marks."""
_BONDS = 11
"""What stands between atoms and bonds."""
_RINGS = 0x42
"""What stands between bonds and the smallest rings, those that symmetry makes equal included."""
_MOST = 255
"""Most atoms, and most bonds, of a molecule whose bonds have a byte for an atom."""
_CONTENT = int(Chem.PropertyPickleOptions.NoConformers)

KNOWN = 20_000
"""Kinds of atoms, and of bonds, that are remembered, about 300 bytes each; a library has 200."""

ATOM_TYPE = np.dtype(
    [
        *(("element", "u1"), ("charge", "i1"), ("aromatic", "?"), ("hydrogens", "u1")),
        *(("valence", "u1"), ("hybridisation", "u1"), ("row", f"V{ATOM.size}")),
    ]
)
"""An atom in an array: its kind, and as it is stored (`ligen_py.records.molecule`)."""
BOND_TYPE = np.dtype(
    [("type", "u1"), ("code", "u1"), ("conjugated", "?"), ("marked", "?"), ("row", "V3")]
)
"""A bond in an array: its kind, whether it has stereo or a direction, and as it is stored without
these and behind its atoms."""


class AtomKind(NamedTuple):
    """What RDKit says of an atom, apart from its bonds."""

    element: int
    charge: int
    aromatic: bool
    hydrogens: int
    """Those that are no atoms of the molecule."""
    valence: int
    hybridisation: int
    """RDKit's code."""
    isotope: int
    """0: the natural mixture."""
    packed: bytes
    """As `ATOM_TYPE`."""


class BondKind(NamedTuple):
    """What RDKit says of a bond, apart from its ends."""

    type: int
    order: float
    code: int
    """1, 2, 3; 4 is aromatic, 0 a bond without order; unusual orders count as single."""
    conjugated: bool
    stereo: int
    direction: int
    packed: bytes
    """As `BOND_TYPE`."""


class Lists:
    """Atoms and bonds of a sanitised molecule, which must not change."""

    def __init__(self, mol: Chem.Mol) -> None:
        self.mol = mol
        self.atoms, self.near, self.far, self.bonds, self.rings = _from_bytes(mol) or _asked(mol)

    @cached_property
    def element(self) -> list[int]:
        """Atomic number of each atom."""
        return [atom.element for atom in self.atoms]

    @cached_property
    def charge(self) -> list[int]:
        """Formal charge of each atom."""
        return [atom.charge for atom in self.atoms]

    @cached_property
    def aromatic(self) -> list[bool]:
        """Whether each atom is aromatic."""
        return [atom.aromatic for atom in self.atoms]

    @cached_property
    def hydrogens(self) -> list[int]:
        """Hydrogens of each atom that are no atoms of the molecule."""
        return [atom.hydrogens for atom in self.atoms]

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """Bonded atoms of each atom."""
        result: list[list[int]] = [[] for _ in self.element]
        for first, second in zip(self.near, self.far, strict=True):
            result[first].append(second)
            result[second].append(first)
        return result

    @cached_property
    def degree(self) -> list[int]:
        """Bonds of each atom, those to hydrogens that are no atoms included."""
        return [
            len(others) + count
            for others, count in zip(self.neighbours, self.hydrogens, strict=True)
        ]

    @cached_property
    def numbers(self) -> dict[tuple[int, int], int]:
        """Number of the bond from one atom to another, in both directions."""
        ends = zip(self.near, self.far, strict=True), zip(self.far, self.near, strict=True)
        return {pair: number for pairs in ends for number, pair in enumerate(pairs)}

    @cached_property
    def cyclic(self) -> set[tuple[int, int]]:
        """Bonds of rings as pairs of atoms, in both directions."""
        result: set[tuple[int, int]] = set()
        for ring in self.rings:
            following = (*ring[1:], ring[0])
            result.update(zip(ring, following, strict=True), zip(following, ring, strict=True))
        return result

    @cached_property
    def ranks(self) -> Sequence[int]:
        """Equal for atoms that symmetry makes equal; RDKit's vector, slow to be made a list."""
        ranks: Sequence[int] = Chem.CanonicalRankAtoms(self.mol, breakTies=False)
        return ranks

    @cached_property
    def doubles(self) -> list[tuple[int, int]]:
        """Both ends of each double bond, and these in turn."""
        found = [
            (self.near[number], self.far[number])
            for number, bond in enumerate(self.bonds)
            if bond.type == DOUBLE
        ]
        return [pair for first, second in found for pair in ((first, second), (second, first))]


_Rings = tuple[tuple[int, ...], ...]
"""Atoms of each ring, in turn."""
_Listed = tuple[list[AtomKind], list[int], list[int], list[BondKind], _Rings]
_atoms: dict[bytes, AtomKind] = {}
_bonds: dict[bytes, BondKind] = {}


def _from_bytes(mol: Chem.Mol) -> _Listed | None:
    """Atoms, ends of the bonds, bonds and rings; None where the layout is not the usual one."""
    data = mol.ToBinary(_CONTENT)
    count, bonds = mol.GetNumAtoms(), mol.GetNumBonds()
    if not data.startswith(HEAD) or max(count, bonds) > _MOST:
        return None
    for known in (_atoms, _bonds):
        if len(known) > KNOWN:
            known.clear()
    keys = _ATOM.findall(data, _ATOMS)[:count]
    whole = b"".join(keys)
    place = _ATOMS + len(whole)
    if len(keys) < count or not data.startswith(whole, _ATOMS) or data[place] != _BONDS:
        return None
    atoms = _kinds(_atoms, keys, _atom, mol.GetAtomWithIdx)
    if not bonds:
        return atoms, [], [], [], ()
    found = _BOND.findall(data, place + 1)[:bonds]
    if len(found) < bonds:
        return None
    wholes, near, far, kinds, _ = zip(*found, strict=True)
    whole = b"".join(wholes)
    if not data.startswith(whole, place + 1):
        return None
    ends = list(b"".join(near)), list(b"".join(far))
    rings = _rings(data, place + 1 + len(whole))
    if rings is None:  # there are none, or those of another search
        rings = mol.GetRingInfo().AtomRings()
    return atoms, *ends, _kinds(_bonds, kinds, _bond, mol.GetBondWithIdx), rings


def _rings(data: bytes, place: int) -> _Rings | None:
    """The rings that follow the bonds: a mark, their number, and size and atoms of each."""
    if data[place] != _RINGS:
        return None
    result = []
    count, place = int.from_bytes(data[place + 1 : place + 5], "little"), place + 5
    for _ in range(count):
        end = place + 1 + data[place]
        result.append(tuple(data[place + 1 : end]))
        place = end
    return tuple(result)


def _kinds(
    known: dict[bytes, Any],
    keys: Sequence[bytes],
    learn: Callable[[Any], Any],
    one: Callable[[int], Any],
) -> list[Any]:
    """The kinds of atoms or bonds by their bytes; RDKit is asked about those not met before."""
    try:
        return [known[key] for key in keys]
    except KeyError:
        for number, key in enumerate(keys):
            if key not in known:
                known[key] = learn(one(number))
        return [known[key] for key in keys]


_FREE = (0, 0x20, 0x40, 0x60)
"""Flags that have no byte of their own: an atom is aromatic, without implicit hydrogens; a bond is
aromatic, conjugated."""
_TYPES, _STEREO = ((0,), (4, 8), (12,)), 2
"""Flags of a bond that have one: a direction, a type other than single, by their number; stereo."""


def _one_of(values: Iterable[int]) -> bytes:
    """A regular expression of one byte."""
    return b"[%s]" % b"".join([rb"\x%02x" % value for value in values])


def _of_an_atom() -> bytes:
    """A regular expression of a usual atom: element, flags, and what the next four bytes announce.

    The first of these a byte for each bit that it has set, the second an isotope, four bytes.
    """
    announced = [
        _one_of(i for i in range(0, 256, 2) if i.bit_count() == count)
        + rb"(?:\x00\x00\x00.{%d}|\x01\x00\x00.{%d})" % (count, count + 4)
        for count in range(8)
    ]
    return b"(?s)." + _one_of(_FREE) + b"(?:%s)" % b"|".join(announced)


def _of_a_bond() -> bytes:
    """A regular expression of a usual bond: both atoms, flags and their bytes, atoms of stereo."""
    plain, stereo = (
        b"|".join(
            _one_of(own + more + free for own in types for free in _FREE) + b".{%d}" % size
            for size, types in enumerate(_TYPES, start=bool(more))
        )
        for more in (0, _STEREO)
    )
    return rb"(?s)((.)(.)(%s|(%s))(?(5)(?:\x00|\x01.|\x02..)))" % (plain, stereo)


_ATOM, _BOND = re.compile(_of_an_atom()), re.compile(_of_a_bond())


def _asked(mol: Chem.Mol) -> _Listed:
    """The same from each atom and bond."""
    bonds = [mol.GetBondWithIdx(i) for i in range(mol.GetNumBonds())]
    return (
        [_atom(mol.GetAtomWithIdx(i)) for i in range(mol.GetNumAtoms())],
        [bond.GetBeginAtomIdx() for bond in bonds],
        [bond.GetEndAtomIdx() for bond in bonds],
        [_bond(bond) for bond in bonds],
        mol.GetRingInfo().AtomRings(),
    )


def _atom(atom: Any) -> AtomKind:
    element, isotope = atom.GetAtomicNum(), atom.GetIsotope()
    charge, chirality = atom.GetFormalCharge(), int(atom.GetChiralTag())
    hybrid = int(atom.GetHybridization())
    flags = AROMATIC * atom.GetIsAromatic() + NO_IMPLICIT * atom.GetNoImplicit() + HYBRID * hybrid
    row = ATOM.pack(
        element,
        charge,
        isotope,
        atom.GetNumExplicitHs(),
        atom.GetNumRadicalElectrons(),
        chirality if element > 1 and chirality <= CHIRALITIES else 0,
        flags,
    )
    said = (
        *(element, charge, atom.GetIsAromatic()),
        *(atom.GetTotalNumHs(), atom.GetTotalValence(), hybrid),
    )
    return AtomKind(*said, isotope, np.array((*said, row), ATOM_TYPE).tobytes())


def _bond(bond: Any) -> BondKind:
    kind, conjugated = int(bond.GetBondType()), bond.GetIsConjugated()
    order, stereo, direction = (
        bond.GetBondTypeAsDouble(),
        int(bond.GetStereo()),
        int(bond.GetBondDir()),
    )
    code = _CODES.get(order, 1)
    said = kind, code, conjugated, bool(stereo or direction)
    packed = np.array((*said, bytes((kind, 0, CONJUGATED * conjugated))), BOND_TYPE).tobytes()
    return BondKind(kind, order, code, conjugated, stereo, direction, packed)
