"""Conformers put together from rigid pieces, whose shapes are made once (`shapes`).

The docking search turns every rotatable bond itself. What it needs of a conformer is bond lengths,
angles, the shapes of rings and stereochemistry, and these belong to the pieces between the bonds.

Atoms stand in docking order (`rotatable_bonds`): heavy ones first, and of heavy atoms and hydrogens
alike those of each piece together, pieces depth first from the root.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from rdkit import Chem

from ligen_py.molecules.graph import atoms_of, bonds_of
from ligen_py.molecules.ligands.conformers import NoConformerError
from ligen_py.molecules.ligands.shapes import ShapeCache

TORSIONS = {
    0: (180, 60, 300, 120, 240, 90, 270, 30, 150, 210, 330, 0),
    1: (90, 270, 60, 120, 240, 300, 30, 150, 210, 330, 0, 180),
    2: (180, 0, 150, 210, 30, 330, 120, 240, 60, 300, 90, 270),
}
"""Flat ends of a bond -> torsions to try, in degrees, the usual ones first."""
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

FLAT = (Chem.HybridizationType.SP2, Chem.HybridizationType.SP)


@dataclass(frozen=True)
class Torsions:
    """A molecule's rotatable bonds in docking order, as columns of `records.Ligands`."""

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

    def row(self, atom: int) -> int:
        """The row of `points` of a heavy atom of the piece, or beyond it."""
        inside = 0 <= atom - self.first < self.heavy
        return atom - self.first if inside else self.beyond[atom]


def assemble(
    bare: Chem.Mol, near: list[list[int]], torsions: Torsions, cache: ShapeCache, limit: int
) -> np.ndarray | None:
    """Conformers of a molecule in docking order.

    Args:
        bare: its heavy atoms, hydrogens implicit.
        near: bonded atoms of each atom, hydrogens included.
        torsions: its rotatable bonds.
        cache: shapes of pieces.
        limit: most conformers; they differ in the shapes of rings.

    Returns:
        f8 (conformers, atoms, 3) in Angstrom, the first with every ring in its first shape. A
        combination of shapes whose atoms clash is left out, and the next one takes its place. None
        where a piece has no shape, or pieces cannot be joined without a clash.

    Raises:
        NoConformerError: a piece has stereocentres that exclude each other.
    """
    pieces = _pieces(bare, near, torsions, cache)
    if pieces is None:
        return None
    chosen = combinations([len(piece.points) for piece in pieces], BLOCKS * limit)
    flat = [atom.GetHybridization() in FLAT for atom in atoms_of(bare)]
    distant = Chem.GetDistanceMatrix(bare) > FARTHEST_BOND
    found = np.empty((0, len(near), 3))
    for start in range(0, len(chosen), limit):
        xyz = _joined(pieces, chosen[start : start + limit], near, torsions, flat, distant)
        found = np.concatenate([found, xyz[_repaired(xyz, torsions, distant)]])[:limit]
        if len(found) == limit:
            break
    return found if len(found) else None


def can_exist(bare: Chem.Mol, near: list[list[int]], torsions: Torsions, cache: ShapeCache) -> bool:
    """Whether no rigid piece of a molecule has stereocentres that exclude each other."""
    try:
        _pieces(bare, near, torsions, cache)
    except NoConformerError:
        return False
    return True


def combinations(sizes: list[int], limit: int) -> np.ndarray:
    """Numbers of the pieces' shapes in up to `limit` conformers, the lowest sums of them first."""
    best: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for size in sizes:  # what is not among the best here cannot be in the end
        every = ((total + n, (*ranks, n)) for total, ranks in best for n in range(size))
        best = sorted(every)[:limit]
    return np.array([ranks for _, ranks in best])


def _pieces(
    bare: Chem.Mol, near: list[list[int]], torsions: Torsions, cache: ShapeCache
) -> list[Piece] | None:
    """The pieces with their shapes; None where one has none."""
    kekule = Chem.Mol(bare)
    Chem.Kekulize(kekule, clearAromaticFlags=True)
    heavy = bare.GetNumAtoms()
    surroundings = _Surroundings.of(kekule, near)
    stereo = {atom.GetIdx() for atom in atoms_of(bare) if atom.GetChiralTag()}
    stereo |= {bond.GetBeginAtomIdx() for bond in bonds_of(bare) if bond.GetStereo()}
    rank = list(Chem.CanonicalRankAtoms(bare)) if stereo else []
    starts = [0, *torsions.far_sides[:, 0].tolist(), heavy]
    pieces = []
    for first, last in pairwise(starts):
        own = range(first, last)
        beyond = {o for a in own for o in near[a] if o < heavy and not first <= o < last}
        shell = surroundings.shell(own, beyond)
        marked = sorted(beyond, key=rank.__getitem__) if not stereo.isdisjoint(own) else []
        smiles, order = _written(kekule, surroundings, {*own, *shell}, shell, marked)
        shapes = cache.shapes(smiles)
        if shapes is None or len(shapes.first) != len(order) + 1:
            return None
        if not len(shapes.xyz):
            raise NoConformerError("its stereocentres exclude each other")
        place = {atom: row for row, atom in enumerate(order)}
        rows = [place[atom] for atom in own]
        hydrogens = [h for row in rows for h in range(shapes.first[row], shapes.first[row + 1])]
        if len(hydrogens) != sum(o >= heavy for a in own for o in near[a]):
            return None
        others = sorted(beyond)
        end = len(rows) + len(hydrogens)
        pieces.append(
            Piece(
                first,
                last - first,
                slice(0, end),
                {atom: row for row, atom in enumerate(others, start=end)},
                shapes.xyz[:, [*rows, *hydrogens, *(place[atom] for atom in others)]],
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
            # Both ends have a heavy neighbour besides each other, which stands before hydrogens.
            behind = next(atom for atom in near[here] if atom != there)
            ahead = next(atom for atom in near[there] if atom != here)
            before = placed[parent][:, [pieces[parent].row(a) for a in (behind, here, there)]]
            rows = [piece.row(atom) for atom in (here, there, ahead)]
            points, angle, ends = _aligned(before, points, rows)
            turns = np.deg2rad(TORSIONS[flat[here] + flat[there]]) - angle[:, None]
            counted = distant[piece.first : piece.first + piece.heavy, : piece.first]
            points = _turned_best(points, piece.heavy, ends, turns, xyz[:, : piece.first], counted)
        placed.append(points)
        own = points[:, piece.own]
        xyz[:, piece.first : piece.first + piece.heavy] = own[:, : piece.heavy]
        xyz[:, hydrogens[number] : hydrogens[number + 1]] = own[:, piece.heavy :]
    return xyz


@dataclass(frozen=True)
class _Surroundings:
    """What belongs to a piece's fragment besides its own atoms."""

    heavy: list[list[int]]
    """Heavy neighbours of each atom."""
    orders: dict[tuple[int, int], int]
    """Order of each bond, both ways."""
    ends: set[int]
    """Atoms behind which hydrogens give the same lengths and angles as what is there."""
    whole: set[int]
    """Atoms that would be other ones without some of their neighbours."""

    @classmethod
    def of(cls, kekule: Chem.Mol, near: list[list[int]]) -> "_Surroundings":
        """Of a molecule with Kekule's bonds; `near` lists the neighbours of each atom."""
        orders = {}
        for bond in bonds_of(kekule):
            a, b, order = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), bond.GetBondTypeAsDouble()
            orders[a, b] = orders[b, a] = int(order)
        count = kekule.GetNumAtoms()
        ends, whole = set(), set()
        for number, atom in enumerate(atoms_of(kekule)):
            element = atom.GetAtomicNum()
            if atom.GetFormalCharge() or (
                element in (15, 16) and atom.GetTotalValence() > 18 - element
            ):
                whole.add(number)
            elif element in (6, 8) and atom.GetHybridization() == Chem.HybridizationType.SP3:
                ends.add(number)
        return cls([[b for b in near[a] if b < count] for a in range(count)], orders, ends, whole)

    def shell(self, own: range, beyond: set[int]) -> set[int]:
        """The atoms `beyond` a piece's bonds, and their neighbours, as far as they shape it."""
        shell = beyond | {b for a in beyond - self.ends for b in self.heavy[a] if b not in own}
        waiting = list(shell & self.whole)
        while waiting:
            for other in self.heavy[waiting.pop()]:
                if other not in shell and other not in own:
                    shell.add(other)
                    if other in self.whole:
                        waiting.append(other)
        return shell


def _written(
    kekule: Chem.Mol,
    surroundings: _Surroundings,
    inside: set[int],
    shell: set[int],
    marked: list[int],
) -> tuple[str, list[int]]:
    """A fragment's SMILES, and its atoms in the order in which they stand there.

    Hydrogens stand where the molecule goes on. Isotopes make the atoms in `marked` different, which
    stereochemistry needs where they differ by atoms that are not in the fragment alone.
    """
    part = Chem.RWMol(kekule)
    for number in shell:
        atom = part.GetAtomWithIdx(number)
        outside = [other for other in surroundings.heavy[number] if other not in inside]
        if outside:
            free = sum(surroundings.orders[number, other] for other in outside)
            atom.SetNumExplicitHs(atom.GetTotalNumHs() + free)
            atom.SetNoImplicit(True)
        atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
    for isotope, number in enumerate(marked, start=1):
        part.GetAtomWithIdx(number).SetIsotope(isotope)
    part.BeginBatchEdit()
    for number in range(part.GetNumAtoms()):
        if number not in inside:
            part.RemoveAtom(number)
    part.CommitBatchEdit()
    smiles = Chem.MolToSmiles(part)
    kept = sorted(inside)
    order = part.GetProp("_smilesAtomOutputOrder").strip("[],").split(",")
    return smiles, [kept[int(number)] for number in order]


def _aligned(
    before: np.ndarray, points: np.ndarray, rows: list[int]
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Place a piece at the end of a bond.

    Args:
        before: (n, 3, 3): an atom before the bond and the bond's ends, where the piece before the
            bond has them.
        points: (n, atoms, 3) of the piece behind the bond.
        rows: among them the bond's ends and an atom behind it.

    Returns:
        The points; the torsion that they have, in radian; the bond's end and direction.
    """
    behind, here, there = before[:, 0], before[:, 1], before[:, 2]
    back, end, ahead = rows
    towards, away = there - here, points[:, back] - points[:, end]
    length, other = _length(towards), _length(away)
    axis = towards / length
    far = here + axis * (length + other) / 2
    turned = np.einsum("nmi,nij->nmj", points - points[:, end, None], _between(-away / other, axis))
    one, two = _cross(axis, behind - here), _cross(axis, turned[:, ahead])
    angle = np.arctan2(_dot(_cross(one, two), axis), _dot(one, two))
    return turned + far[:, None], angle, (far, axis)


def _turned_best(
    points: np.ndarray,
    heavy: int,
    ends: tuple[np.ndarray, np.ndarray],
    turns: np.ndarray,
    others: np.ndarray,
    counted: np.ndarray,
) -> np.ndarray:
    """Points (n, atoms, 3) turned by the first of some angles at which they repel others least.

    Args:
        points: the first of them are `heavy` heavy atoms.
        heavy: their number.
        ends: a point (n, 3) and the direction (n, 3) of the axis.
        turns: (n, angles), radian.
        others: (n, others, 3): heavy atoms that stay where they are.
        counted: bool (heavy, others): which of them repel each other.
    """
    end, axis = ends
    rest = points - end[:, None]
    at_rest = others - end[:, None]
    first = _turned(rest, axis, turns[:, :1])
    if not _repulsion(first[:, :, :heavy], at_rest, counted).any():
        return first[:, 0] + end[:, None]
    cost = _repulsion(_turned(rest[:, :heavy], axis, turns), at_rest, counted)
    best = np.take_along_axis(turns, cost.argmin(axis=1)[:, None], axis=1)
    return _turned(rest, axis, best)[:, 0] + end[:, None]


def _repulsion(points: np.ndarray, others: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Repulsion (n, angles), rounded, of points (n, angles, heavy, 3) and others (n, others, 3)."""
    gap = points[:, :, :, None] - others[:, None, None]
    overlap = np.maximum(NEAR**2 - np.einsum("...i,...i->...", gap, gap), 0)
    return np.round(np.einsum("nahj,nahj,hj->na", overlap, overlap, counted.astype("f8")), 3)


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
            axis = some[:, there] - some[:, here]
            some[:, turning] = _turned_best(
                some[:, turning],
                last - first,
                (some[:, there], axis / _length(axis)),
                turns,
                some[:, resting],
                distant[first:last][:, resting],
            )
        xyz[clash] = some
        clash = _clashes(xyz, distant)
    return ~clash


def _clashes(xyz: np.ndarray, distant: np.ndarray) -> np.ndarray:
    """Which conformers have heavy atoms that are too near to each other."""
    heavy = len(distant)
    gap = xyz[:, :heavy, None] - xyz[:, None, :heavy]
    square = np.einsum("...i,...i->...", gap, gap)
    return ((square < TOO_NEAR**2) & distant).any(axis=(1, 2))


def _length(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(_dot(vectors, vectors))[:, None]


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i->...", one, other)


def _cross(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Cross product of (..., 3); `numpy.cross` takes four times as long for a few vectors."""
    after, before = [1, 2, 0], [2, 0, 1]
    return one[..., after] * other[..., before] - one[..., before] * other[..., after]


def _between(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Rotations (n, 3, 3) of unit vectors onto others: half turns about their bisectors."""
    middle = one + other
    square = _dot(middle, middle)
    opposite = square < 1e-8
    if opposite.any():
        middle[opposite] = _cross(one, np.eye(3)[np.abs(one).argmin(axis=1)])[opposite]
        square = _dot(middle, middle)
    return 2 * middle[:, :, None] * middle[:, None] / square[:, None, None] - np.eye(3)


def _turned(points: np.ndarray, axis: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Points (n, m, 3) turned about axes (n, 3) by angles (n, k): (n, k, m, 3)."""
    along = np.einsum("nmi,ni->nm", points, axis)[:, :, None] * axis[:, None]
    across = points - along
    beside = _cross(axis[:, None], points)
    cosine, sine = np.cos(angles)[:, :, None, None], np.sin(angles)[:, :, None, None]
    return along[:, None] + cosine * across[:, None] + sine * beside[:, None]
