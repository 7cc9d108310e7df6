"""The atoms and bonds of a molecule as lists, fetched from RDKit in one call.

A call for one value of an atom or a bond takes 0.2 to 0.7 microseconds, and a molecule has hundreds
of values. So RDKit's bytes of the molecule are cut into those of each atom and bond. Equal bytes
mean equal atoms, and what RDKit says of an atom is remembered by its bytes: of their layout only
the lengths matter here. Where the layout is another one, or an atom or bond has more than the usual
(map numbers, queries, residues), every atom and bond is asked.
"""

from functools import cache, cached_property
from typing import Any, NamedTuple

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
_MOST = 255
"""Most atoms of a molecule whose bonds have a byte for an atom."""
_CONTENT = int(Chem.PropertyPickleOptions.NoConformers)

KNOWN = 20_000
"""Kinds of atoms, and of bonds, that are remembered, about 300 bytes each; a library has 200."""


class AtomKind(NamedTuple):
    """What RDKit says of an atom, apart from its bonds."""

    element: int
    charge: int
    aromatic: bool
    hydrogens: int
    """Those that are no atoms of the molecule."""
    valence: int
    row: bytes
    """The atom in `ligen_py.records.molecule`."""


class BondKind(NamedTuple):
    """What RDKit says of a bond, apart from its ends."""

    type: int
    order: float
    code: int
    """1, 2, 3; 4 is aromatic, 0 a bond without order; unusual orders count as single."""
    conjugated: bool
    stereo: int
    direction: int
    row: bytes
    """Type, no stereo, and whether it is conjugated, as in `ligen_py.records.molecule`."""


class Lists:
    """Atoms and bonds of a sanitised molecule, which must not change."""

    def __init__(self, mol: Chem.Mol) -> None:
        self.mol = mol
        atoms, self.near, self.far, self.bonds = _from_bytes(mol) or _asked(mol)
        columns = [list(column) for column in zip(*atoms, strict=True)] or [[] for _ in range(6)]
        self.element: list[int] = columns[0]
        self.charge: list[int] = columns[1]
        self.aromatic: list[bool] = columns[2]
        self.hydrogens: list[int] = columns[3]
        self.valence: list[int] = columns[4]
        self.rows: list[bytes] = columns[5]
        self.rings: tuple[tuple[int, ...], ...] = mol.GetRingInfo().AtomRings()
        """Atoms of each ring, in turn."""

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
    def ranks(self) -> list[int]:
        """Equal for atoms that symmetry makes equal."""
        return list(Chem.CanonicalRankAtoms(self.mol, breakTies=False))

    @cached_property
    def doubles(self) -> list[tuple[int, int]]:
        """Both ends of each double bond, and these in turn."""
        found = [
            (self.near[number], self.far[number])
            for number, bond in enumerate(self.bonds)
            if bond.type == DOUBLE
        ]
        return [pair for first, second in found for pair in ((first, second), (second, first))]


_Listed = tuple[list[AtomKind], list[int], list[int], list[BondKind]]
_atoms: dict[bytes, AtomKind] = {}
_bonds: dict[bytes, BondKind] = {}


def _from_bytes(mol: Chem.Mol) -> _Listed | None:
    """Atoms, both ends of the bonds, and the bonds; None where the layout is not the usual one."""
    data = mol.ToBinary(_CONTENT)
    count = mol.GetNumAtoms()
    if not data.startswith(HEAD) or count > _MOST:
        return None
    for known in (_atoms, _bonds):
        if len(known) > KNOWN:
            known.clear()
    atoms, bonds, near, far = [], [], [], []
    place = _ATOMS
    for number in range(count):
        size = _atom_size(data[place + 1 : place + 6])
        if not size:
            return None
        key = data[place : place + size]
        atom = _atoms.get(key)
        if atom is None:
            atom = _atoms[key] = _atom(mol.GetAtomWithIdx(number))
        atoms.append(atom)
        place += size
    if data[place] != _BONDS:
        return None
    place += 1
    for number in range(mol.GetNumBonds()):
        flags = data[place + 2]
        size = _BOND_SIZES[flags]
        if not size:
            return None
        near.append(data[place])
        far.append(data[place + 1])
        key = data[place + 2 : place + size]
        place += size
        if flags & _HAS_STEREO:
            place += 1 + data[place]
        bond = _bonds.get(key)
        if bond is None:
            bond = _bonds[key] = _bond(mol.GetBondWithIdx(number))
        bonds.append(bond)
    return atoms, near, far, bonds


@cache
def _atom_size(head: bytes) -> int:
    """Bytes of an atom from its second to sixth byte, its flags; 0 for what is not usual."""
    flags, values = head[0], int.from_bytes(head[1:], "little")
    isotope = values >> 8
    if flags & ~_USUAL_ATOM or values & 1 or isotope > 1:
        return 0
    return 1 + len(head) + (values & 255).bit_count() + 4 * isotope


_USUAL_ATOM = 0x60
"""Flags of an atom: aromatic, without implicit hydrogens."""
_HAS_STEREO = 2
_USUAL_BOND = 0x60 | 8 | 4 | _HAS_STEREO
"""Flags of a bond: aromatic, conjugated; has a type other than single, a direction, stereo."""
_BOND_SIZES = [
    0 if flags & ~_USUAL_BOND else 3 + (flags & ~0x60).bit_count() for flags in range(256)
]
"""Bytes of a bond by its flags, up to the number of atoms that its stereo refers to."""


def _asked(mol: Chem.Mol) -> _Listed:
    """The same from each atom and bond."""
    bonds = [mol.GetBondWithIdx(i) for i in range(mol.GetNumBonds())]
    return (
        [_atom(mol.GetAtomWithIdx(i)) for i in range(mol.GetNumAtoms())],
        [bond.GetBeginAtomIdx() for bond in bonds],
        [bond.GetEndAtomIdx() for bond in bonds],
        [_bond(bond) for bond in bonds],
    )


def _atom(atom: Any) -> AtomKind:
    element, isotope = atom.GetAtomicNum(), atom.GetIsotope()
    charge, chirality = atom.GetFormalCharge(), int(atom.GetChiralTag())
    flags = (
        AROMATIC * atom.GetIsAromatic()
        + NO_IMPLICIT * atom.GetNoImplicit()
        + HYBRID * int(atom.GetHybridization())
    )
    row = ATOM.pack(
        element,
        charge,
        isotope,
        atom.GetNumExplicitHs(),
        atom.GetNumRadicalElectrons(),
        chirality if element > 1 and chirality <= CHIRALITIES else 0,
        flags,
    )
    hydrogens, valence = atom.GetTotalNumHs(), atom.GetTotalValence()
    return AtomKind(element, charge, atom.GetIsAromatic(), hydrogens, valence, row)


def _bond(bond: Any) -> BondKind:
    kind, conjugated = int(bond.GetBondType()), bond.GetIsConjugated()
    order = bond.GetBondTypeAsDouble()
    return BondKind(
        kind,
        order,
        _CODES.get(order, 1),
        conjugated,
        int(bond.GetStereo()),
        int(bond.GetBondDir()),
        bytes((kind, 0, CONJUGATED * conjugated)),
    )
