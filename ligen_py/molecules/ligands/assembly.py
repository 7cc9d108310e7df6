"""Conformers put together from rigid pieces, whose shapes are made once (`shapes`).

The docking search turns every rotatable bond itself. What it needs of a conformer is bond lengths,
angles, the shapes of rings and stereochemistry, and these belong to the pieces between the bonds.

Atoms stand in docking order (`rotatable_bonds`): heavy ones first, and of heavy atoms and hydrogens
alike those of each piece together, pieces depth first from the root.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from rdkit import Chem

from ligen_py.molecules.graph import atoms_of
from ligen_py.molecules.ligands.conformers import EXCLUDED, NoConformerError
from ligen_py.molecules.ligands.shapes import ShapeCache
from ligen_py.molecules.lists import Lists
from ligen_py.records.molecule import CHIRALITIES

TORSIONS = {
    0: (180, 60, 300, 120, 240, 90, 270, 30, 150, 210, 330, 0),
    1: (90, 270, 60, 120, 240, 300, 30, 150, 210, 330, 0, 180),
    2: (180, 0, 150, 210, 30, 330, 120, 240, 60, 300, 90, 270),
}
"""Flat ends of a bond -> torsions to try, in degrees, the usual ones first."""
TURNS = {ends: np.deg2rad(degrees) for ends, degrees in TORSIONS.items()}
EVERY = np.deg2rad(np.arange(0, 360, 15))
"""Turns of a bond that are tried where atoms clash."""
NEAR = 3.2
"""Angstrom; heavy atoms of two pieces nearer than this repel each other."""
TOO_NEAR = 2.2
"""Angstrom; a conformer with atoms of two pieces nearer than this is not used."""
SWEEPS = 4
"""Most passes over all torsions to remove clashes."""
BLOCKS = 4
"""Times `limit` combinations of shapes that are tried where atoms clash."""
FARTHEST_BOND = 3
"""Atoms up to this many bonds apart do not repel each other."""

SP3 = int(Chem.HybridizationType.SP3)
FLAT = (int(Chem.HybridizationType.SP2), int(Chem.HybridizationType.SP))


@dataclass(frozen=True)
class Torsions:
    """A molecule's rotatable bonds in docking order, as columns of `Ligands`."""

    axes: np.ndarray
    """(torsions, 2): atoms of the bond, the root's side first."""
    far_sides: np.ndarray
    """(torsions, 4): ranges of the heavy atoms and hydrogens that turn."""


@dataclass(frozen=True)
class Piece:
    """A rigid piece of a molecule and its shapes."""

    first: int
    """Its first heavy atom."""
    heavy: int
    """How many heavy atoms it has."""
    own: slice
    """Its atoms among `points`: heavy ones, then hydrogens."""
    beyond: dict[int, int]
    """Atom beyond one of its rotatable bonds -> row of `points`."""
    points: np.ndarray
    """f8 (shapes, atoms and those beyond, 3) in Angstrom."""
    strain: np.ndarray
    """f8 (shapes,): energy above the first shape's, kcal/mol."""
    energy: float
    """Of the first shape, kcal/mol."""

    def row(self, atom: int) -> int:
        """The row of `points` of a heavy atom of the piece, or beyond it."""
        inside = 0 <= atom - self.first < self.heavy
        return atom - self.first if inside else self.beyond[atom]


def assemble(
    bare: Chem.Mol,
    near: list[list[int]],
    torsions: Torsions,
    cache: ShapeCache,
    limit: int,
    most_strain: float = np.inf,
    makes: bool = True,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Conformers of a molecule in docking order, and their strain.

    Args:
        bare: its heavy atoms, hydrogens implicit.
        near: bonded atoms of each atom, hydrogens included.
        torsions: its rotatable bonds.
        cache: shapes of pieces.
        limit: most conformers; they differ in the shapes of rings.
        most_strain: kcal/mol; more strained ones are made only where all others clash.
        makes: whether shapes that are not known are made.

    Returns:
        f8 (conformers, atoms, 3) in Angstrom, the first with every ring in its first shape, and
        their strain (conformers,) in kcal/mol: how much higher the energies of their pieces' shapes
        are than the lowest. A combination of shapes whose atoms clash is left out, and the next one
        takes its place. None where a piece has no shape, or pieces can only be joined with a clash.

    Raises:
        NoConformerError: a piece has stereocentres that exclude each other.
        UnknownShapeError: a piece's shapes are not known, and not to be made.
    """
    fragments = _Fragments(bare)
    pieces = _pieces(fragments, near, torsions, cache, makes)
    if pieces is None:
        return None
    chosen = combinations([len(piece.points) for piece in pieces], BLOCKS * limit)
    distant = Chem.GetDistanceMatrix(bare) > FARTHEST_BOND
    strain = sum(piece.strain[chosen[:, number]] for number, piece in enumerate(pieces))
    for rows in (np.flatnonzero(strain <= most_strain), np.flatnonzero(strain > most_strain)):
        found, strains = np.empty((0, len(near), 3)), np.empty(0)
        for start in range(0, len(rows), limit):
            some = rows[start : start + limit]
            xyz = _joined(pieces, chosen[some], near, torsions, fragments.flat, distant)
            fine = _repaired(xyz, torsions, distant)
            found = np.concatenate([found, xyz[fine]])[:limit]
            strains = np.concatenate([strains, strain[some][fine]])[:limit]
            if len(found) == limit:
                break
        if len(found):
            return found, strains
    return None


def can_exist(bare: Chem.Mol, near: list[list[int]], torsions: Torsions, cache: ShapeCache) -> bool:
    """Whether no rigid piece of a molecule has stereocentres that exclude each other."""
    return lowest_energy(bare, near, torsions, cache) != np.inf


def lowest_energy(
    bare: Chem.Mol, near: list[list[int]], torsions: Torsions, cache: ShapeCache
) -> float | None:
    """Energy of a molecule's rigid pieces in their lowest shapes, kcal/mol.

    It is for comparing stereoisomers. Infinite where a piece has stereocentres that exclude each
    other; None where one has no shape for another reason.
    """
    try:
        pieces = _pieces(_Fragments(bare), near, torsions, cache, makes=True)
    except NoConformerError:
        return np.inf
    return None if pieces is None else sum(piece.energy for piece in pieces)


def combinations(sizes: list[int], limit: int) -> np.ndarray:
    """Numbers of the pieces' shapes in up to `limit` conformers, the lowest sums of them first."""
    best: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for size in sizes:  # what is not among the best here cannot be in the end
        every = ((total + n, (*ranks, n)) for total, ranks in best for n in range(size))
        best = sorted(every)[:limit]
    return np.array([ranks for _, ranks in best])


def _pieces(
    fragments: "_Fragments",
    near: list[list[int]],
    torsions: Torsions,
    cache: ShapeCache,
    makes: bool,
) -> list[Piece] | None:
    """The pieces with their shapes; None where one has none."""
    heavy = len(fragments.lists.atoms)
    rank = list(Chem.CanonicalRankAtoms(fragments.bare)) if fragments.stereo else []
    starts = [0, *torsions.far_sides[:, 0].tolist(), heavy]
    pieces = []
    for first, last in pairwise(starts):
        own = range(first, last)
        beyond = {o for a in own for o in near[a] if o < heavy and not first <= o < last}
        is_centre = not fragments.stereo.isdisjoint(own)
        unlike = fragments.unlike(own, beyond)
        marked = sorted(beyond, key=rank.__getitem__) if is_centre else unlike
        smiles, order, is_mirrored = fragments.written(own, fragments.shell(own, beyond), marked)
        shapes = cache.shapes(smiles, makes)
        if shapes is None or len(shapes.first) != len(order) + 1:
            return None
        if not len(shapes.xyz):
            raise NoConformerError(EXCLUDED)
        place = {atom: row for row, atom in enumerate(order)}
        rows = [place[atom] for atom in own]
        hydrogens = [h for row in rows for h in range(shapes.first[row], shapes.first[row + 1])]
        if len(hydrogens) != sum(o >= heavy for a in own for o in near[a]):
            return None
        others = sorted(beyond)
        end = len(rows) + len(hydrogens)
        points = shapes.xyz[:, [*rows, *hydrogens, *(place[atom] for atom in others)]]
        pieces.append(
            Piece(
                first,
                last - first,
                slice(0, end),
                {atom: row for row, atom in enumerate(others, start=end)},
                points * MIRROR if is_mirrored else points,
                shapes.strain,
                shapes.energy,
            )
        )
    return pieces


def _joined(
    pieces: list[Piece],
    chosen: np.ndarray,
    near: list[list[int]],
    torsions: Torsions,
    flat: list[bool],
    distant: np.ndarray,
) -> np.ndarray:
    """Conformers (n, atoms, 3) of pieces in chosen shapes (n, pieces), joined one by one.

    Args:
        pieces: depth first.
        chosen: number of each piece's shape in each conformer.
        near: bonded atoms of each atom.
        torsions: the bonds between the pieces.
        flat: heavy atoms with a flat neighbourhood.
        distant: bool (heavy, heavy): which atoms repel each other.
    """
    heavy = len(distant)
    xyz = np.empty((len(chosen), len(near), 3))
    placed: list[np.ndarray] = []
    owner = np.repeat(np.arange(len(pieces)), [piece.heavy for piece in pieces])
    hydrogens = [heavy, *torsions.far_sides[:, 2].tolist(), len(near)]
    bonds = [(-1, -1), *torsions.axes.tolist()]
    for number, (piece, (here, there)) in enumerate(zip(pieces, bonds, strict=True)):
        points = piece.points[chosen[:, number]]
        if number:
            parent = int(owner[here])
            behind, ahead = _largest(near, here, there), _largest(near, there, here)
            before = placed[parent][:, [pieces[parent].row(a) for a in (behind, here, there)]]
            rows = [piece.row(atom) for atom in (here, there, ahead)]
            points, angle, end, axis = _aligned(before, points, rows)
            turns = TURNS[flat[here] + flat[there]] - angle[:, None]
            counted = distant[piece.first : piece.first + piece.heavy, : piece.first]
            others = xyz[:, : piece.first] - end
            points = _turned_best(points, piece.heavy, axis, turns, others, counted) + end
        placed.append(points)
        own = points[:, piece.own]
        xyz[:, piece.first : piece.first + piece.heavy] = own[:, : piece.heavy]
        xyz[:, hydrogens[number] : hydrogens[number + 1]] = own[:, piece.heavy :]
    return xyz


def _largest(near: list[list[int]], end: int, other: int) -> int:
    """The neighbour of a bond's end with most neighbours of its own: torsions are counted from it.

    So an ester does not begin with the carbonyl group's oxygen across. Both ends have a heavy
    neighbour, and of equals the first one is taken, so it is never a hydrogen.
    """
    return max((atom for atom in near[end] if atom != other), key=lambda atom: len(near[atom]))


MOST_KNOWN = 20_000
"""Fragments whose SMILES are remembered, about 1 kB each."""
_known: dict[tuple[Any, ...], tuple[str, list[int], bool]] = {}

MIRROR = np.array([1.0, 1.0, -1.0])


class _Fragments:
    """The fragments of a molecule that stand for its pieces, with what shapes a piece from beyond.

    Of a molecule of heavy atoms in docking order.
    """

    def __init__(self, bare: Chem.Mol) -> None:
        self.bare = bare
        self.kekule = Chem.Mol(bare)
        Chem.Kekulize(self.kekule, clearAromaticFlags=True)
        chirality = []
        for atom in atoms_of(self.kekule):
            atom.SetAtomMapNum(0)  # a label, which a SMILES would have
            chirality.append(int(atom.GetChiralTag()))
        self.lists = lists = Lists(self.kekule)
        self.bonds = list(zip(lists.near, lists.far, lists.bonds, strict=True))
        self.stereo = {atom for atom, tag in enumerate(chirality) if tag}
        self.stereo |= {one for one, _, bond in self.bonds if bond.stereo}
        self.special = {atom for atom, tag in enumerate(chirality) if tag > CHIRALITIES}
        """Centres that are no tetrahedra; one more property belongs to them."""
        self.flat = [kind.hybridisation in FLAT for kind in lists.atoms]
        """Of each atom, whether its neighbours lie in a plane."""
        self.ends: set[int] = set()
        """Atoms behind which hydrogens give the same lengths and angles as what is there."""
        self.whole: set[int] = set()
        """Atoms that would be other ones without some of their neighbours."""
        for atom, kind in enumerate(lists.atoms):
            if kind.charge or (kind.element in (15, 16) and kind.valence > 18 - kind.element):
                self.whole.add(atom)
            elif kind.element in (6, 8) and kind.hybridisation == SP3:
                self.ends.add(atom)

    def unlike(self, own: range, beyond: set[int]) -> list[int]:
        """The groups `beyond` a piece that share an atom of a ring with a group that differs.

        One or the other is axial, also where they begin alike, as both do in gabapentin.
        """
        found = set[int]()
        for atom in own:
            near = self.lists.neighbours[atom]
            if len(near) == 4 and not beyond.isdisjoint(near) and self.in_ring[atom]:
                groups = [end for end in near if end in beyond or not self.in_ring[end]]
                if len({self.classes[end] for end in groups}) == 2:
                    found |= beyond.intersection(groups)
        return sorted(found, key=lambda atom: (self.classes[atom], atom))

    @cached_property
    def in_ring(self) -> list[bool]:
        """Of each atom, whether it is in a ring."""
        mol = Chem.Mol(self.bare)
        Chem.FastFindRings(mol)
        return [atom.IsInRing() for atom in atoms_of(mol)]

    @cached_property
    def classes(self) -> list[int]:
        """Of each atom a number that atoms which are alike share."""
        return list(Chem.CanonicalRankAtoms(self.bare, breakTies=False))

    def shell(self, own: range, beyond: set[int]) -> set[int]:
        """The atoms `beyond` a piece's bonds, and their neighbours, as far as they shape it."""
        near = self.lists.neighbours
        shell = beyond | {b for a in beyond - self.ends for b in near[a] if b not in own}
        waiting = list(shell & self.whole)
        while waiting:
            for other in near[waiting.pop()]:
                if other not in shell and other not in own:
                    shell.add(other)
                    if other in self.whole:
                        waiting.append(other)
        return shell

    def written(
        self, own: range, shell: set[int], marked: list[int]
    ) -> tuple[str, list[int], bool]:
        """A fragment's SMILES, its atoms in the order in which they stand there, and a mirror.

        The SMILES is that of the fragment or of its mirror image, whichever comes first in the
        alphabet; the truth value says whether it is the mirror image's. So the two share shapes.
        Hydrogens stand where the molecule goes on. Isotopes make the atoms in `marked` different,
        which stereochemistry and chairs need where they differ by atoms that are not in the
        fragment alone.
        A fragment written before is known by its atoms and bonds in their order.
        """
        inside = sorted({*own, *shell})
        place = {atom: number for number, atom in enumerate(inside)}
        cut = dict.fromkeys(sorted(shell), 0)
        # Where nothing is cut off, RDKit's notes on stereochemistry stay and count as well.
        is_usual = len(inside) < len(self.lists.atoms) and self.special.isdisjoint(inside)
        bonds = []
        for one, other, bond in self.bonds:
            if one in place and other in place:
                bonds.append((place[one], place[other], bond.packed))
                is_usual = is_usual and not (bond.stereo or bond.direction)
            elif one in cut and other not in place:
                cut[one] += int(bond.order)
            elif other in cut and one not in place:
                cut[other] += int(bond.order)
        key = (
            tuple([self.lists.atoms[atom].packed for atom in inside]),
            tuple(bonds),
            tuple([(place[atom], orders) for atom, orders in cut.items()]),
            tuple([place[atom] for atom in marked]),
        )
        found = _known.get(key) if is_usual else None
        if found is None:
            found = self._write(inside, cut, marked)
            if is_usual:
                if len(_known) >= MOST_KNOWN:
                    _known.clear()
                _known[key] = found
        smiles, order, is_mirrored = found
        return smiles, [inside[number] for number in order], is_mirrored

    def _write(
        self, inside: list[int], cut: dict[int, int], marked: list[int]
    ) -> tuple[str, list[int], bool]:
        """The SMILES, the order of the atoms, and whether it is that of the mirror image.

        `cut`: of each atom beyond the piece, the orders of its bonds that are not in the fragment.
        """
        part = Chem.RWMol(self.kekule)
        for number, orders in cut.items():
            atom = part.GetAtomWithIdx(number)
            if orders:
                atom.SetNumExplicitHs(atom.GetTotalNumHs() + orders)
                atom.SetNoImplicit(True)
            atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
        for isotope, number in enumerate(marked, start=1):
            part.GetAtomWithIdx(number).SetIsotope(isotope)
        part.BeginBatchEdit()
        for number in {*range(part.GetNumAtoms())}.difference(inside):
            part.RemoveAtom(number)
        part.CommitBatchEdit()
        smiles, order = _ordered(part)
        centres = [atom for atom in atoms_of(part) if int(atom.GetChiralTag())]
        if not centres or not self.special.isdisjoint(inside):
            return smiles, order, False
        for atom in centres:
            atom.InvertChirality()
        other = _ordered(part)
        return min((smiles, order, False), (*other, True))


def _ordered(mol: Chem.Mol) -> tuple[str, list[int]]:
    """A molecule's SMILES, and its atoms in the order in which they stand there."""
    smiles = Chem.MolToSmiles(mol)
    order = mol.GetProp("_smilesAtomOutputOrder").strip("[],").split(",")
    return smiles, [int(number) for number in order]


def _aligned(
    before: np.ndarray, points: np.ndarray, rows: list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Place a piece at the end of a bond.

    Args:
        before: (n, 3, 3): an atom before the bond and the bond's ends, where the piece before the
            bond has them.
        points: (n, atoms, 3) of the piece behind the bond.
        rows: among them the bond's ends and an atom behind it.

    Returns:
        The points, from the bond's end; the torsion that they have (n,), in radian; the bond's end
        (n, 1, 3); its direction (n, 3).
    """
    behind, here, there = before[:, 0], before[:, 1], before[:, 2]
    back, end, ahead = rows
    towards, away = there - here, points[:, back] - points[:, end]
    length, other = _length(towards), _length(away)
    axis = towards / length
    far = here + axis * (length + other) / 2
    turned = (points - points[:, end, None]) @ _between(-away / other, axis)
    one, two = behind - here, turned[:, ahead]
    beside = (one[:, None] @ _crossing(axis))[:, 0]
    across = np.vecdot(one, two) - np.vecdot(axis, one) * np.vecdot(axis, two)
    return turned, np.arctan2(np.vecdot(beside, two), across), far[:, None], axis


def _turned_best(
    points: np.ndarray,
    heavy: int,
    axis: np.ndarray,
    turns: np.ndarray,
    others: np.ndarray,
    counted: np.ndarray,
) -> np.ndarray:
    """Points (n, atoms, 3) turned by the first of some angles at which they repel others least.

    Args:
        points: from a point on the axis; the first of them are `heavy` heavy atoms.
        heavy: their number.
        axis: its direction (n, 3).
        turns: (n, angles), radian.
        others: (n, others, 3), from the same point: heavy atoms that stay where they are.
        counted: bool (heavy, others): which of them repel each other.
    """
    every = _rotations(axis, turns)
    first = points[:, None] @ every[:, :1]
    if not _repulsion(first[:, :, :heavy], others, counted).any():
        return first[:, 0]
    cost = _repulsion(points[:, None, :heavy] @ every, others, counted)
    result: np.ndarray = points @ every[np.arange(len(every)), cost.argmin(axis=1)]
    return result


def _repulsion(points: np.ndarray, others: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Repulsion (n, angles), rounded, of points (n, angles, heavy, 3) and others (n, others, 3)."""
    overlap = np.maximum(NEAR**2 - _squares(points, others[:, None]), 0) * counted
    return np.round(np.vecdot(overlap, overlap).sum(axis=-1), 3)


def _squares(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Squared distances (..., m, k) of points (..., m, 3) and others (..., k, 3)."""
    own, theirs = np.vecdot(points, points), np.vecdot(others, others)
    products = points @ others.swapaxes(-1, -2)
    result: np.ndarray = own[..., None] + theirs[..., None, :] - 2 * products
    return result


def _repaired(xyz: np.ndarray, torsions: Torsions, distant: np.ndarray) -> np.ndarray:
    """Turn bonds until no atoms clash; in which conformers (bool) none does."""
    heavy = len(distant)
    clash = _clashes(xyz, distant)
    for _ in range(SWEEPS):
        if not clash.any():
            break
        some = xyz[clash]
        turns = np.tile(EVERY, (len(some), 1))
        for (here, there), (first, last, start, end) in zip(
            torsions.axes.tolist(), torsions.far_sides.tolist(), strict=True
        ):
            turning = [*range(first, last), *range(start, end)]
            resting = [*range(first), *range(last, heavy)]
            end, axis = some[:, there, None], some[:, there] - some[:, here]
            turned = _turned_best(
                some[:, turning] - end,
                last - first,
                axis / _length(axis),
                turns,
                some[:, resting] - end,
                distant[first:last][:, resting],
            )
            some[:, turning] = turned + end
        xyz[clash] = some
        clash = _clashes(xyz, distant)
    return ~clash


def _clashes(xyz: np.ndarray, distant: np.ndarray) -> np.ndarray:
    """Which conformers have heavy atoms that are too near to each other."""
    points = xyz[:, : len(distant)]
    return ((_squares(points, points) < TOO_NEAR**2) & distant).any(axis=(1, 2))


def _length(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(np.vecdot(vectors, vectors))[:, None]


UNIT = np.eye(3)
CROSSING = np.cross(UNIT[:, None], UNIT[None]).reshape(3, 9)


def _crossing(vectors: np.ndarray) -> np.ndarray:
    """Matrices (n, 3, 3) of vectors (n, 3): a point times one is the vector's cross product."""
    return (vectors @ CROSSING).reshape(-1, 3, 3)


def _between(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Rotations (n, 3, 3) of unit vectors onto others: half turns about their bisectors."""
    middle = one + other
    square = np.vecdot(middle, middle)
    opposite = square < 1e-8
    if opposite.any():
        aside = np.cross(one, UNIT[np.abs(one).argmin(axis=1)])
        middle[opposite] = aside[opposite]
        square = np.vecdot(middle, middle)
    return 2 * middle[:, :, None] * middle[:, None] / square[:, None, None] - UNIT


def _rotations(axis: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Matrices (n, k, 3, 3) that turn points, which stand before them, about axes (n, 3)."""
    along = (axis[:, :, None] * axis[:, None])[:, None]
    beside = _crossing(axis)[:, None]
    angles = angles[:, :, None, None]
    return along + np.cos(angles) * (UNIT - along) + np.sin(angles) * beside
