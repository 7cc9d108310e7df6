"""What parts of a molecule can have several shapes, and which of them its conformers have."""

from collections import Counter
from collections.abc import Sequence

from rdkit import Chem
from rdkit.Chem import rdMolAlign

from ligen_py.molecules.graph import atoms_of
from ligen_py.molecules.ligands.unmarked_stereo import Axis, Hand, RingAxis, axes, hands, ring_axes

SAME_SHAPE = 0.3
"""Ring systems nearer than this (RMSD with the atoms bonded to them, symmetry minded) have one
shape, Angstrom. A chair and a twisted boat of cyclohexane differ by 0.5."""

MACROCYCLE = 8
"""Atoms of the smallest ring that counts as a macrocycle."""

FLEXIBLE = 3
"""A ring with as many sp3 atoms has more than one shape."""

MOST_MATCHES = 1000
"""Symmetric mappings of a ring system that are tried."""

System = frozenset[int] | Axis | Hand | RingAxis
"""What can have several shapes: the atoms of a ring system, an axis, or an atom."""


def macrocycle(rings: Sequence[Sequence[int]]) -> int:
    """Atoms of the largest ring of a molecule that is a macrocycle; 0 without one."""
    largest = max(map(len, rings), default=0)
    return largest if largest >= MACROCYCLE else 0


def flexible_rings(mol: Chem.Mol) -> list[frozenset[int]]:
    """Atoms of each system of fused, spiro or bridged rings that has a ring with several shapes."""
    systems: list[tuple[set[int], bool]] = []
    for ring in Chem.GetSymmSSSR(mol):
        atoms = set(ring)
        kinds = [mol.GetAtomWithIdx(i).GetHybridization() for i in atoms]
        flexible = kinds.count(Chem.HybridizationType.SP3) >= FLEXIBLE and len(atoms) > FLEXIBLE
        for other in [system for system in systems if system[0] & atoms]:
            systems.remove(other)
            atoms, flexible = atoms | other[0], flexible or other[1]
        systems.append((atoms, flexible))
    return sorted((frozenset(atoms) for atoms, flexible in systems if flexible), key=min)


def systems_of(mol: Chem.Mol) -> list[System]:
    """What can have several shapes: rings, axes whose isomers differ, and hands."""
    open_axes = [axis for axis in axes(mol) if axis.is_open]
    return [*flexible_rings(mol), *open_axes, *hands(mol), *ring_axes(mol)]


def distinct(
    mol: Chem.Mol, systems: Sequence[System], limit: int, same: float = SAME_SHAPE
) -> list[int]:
    """Conformers, by id, of different ring shapes: the first, then by how often a shape was met."""
    shapes = shapes_of_all(mol, systems, same)
    first = first_of_each(shapes)
    others = [shape for shape, _ in Counter(shapes).most_common() if shape != shapes[0]]
    return [first[shape] for shape in [shapes[0], *others[: limit - 1]]]


def first_of_each(shapes: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], int]:
    """The first conformer, by id, of each shape."""
    first: dict[tuple[int, ...], int] = {}
    for number, shape in enumerate(shapes):
        first.setdefault(shape, number)
    return first


def shapes_of_all(
    mol: Chem.Mol, systems: Sequence[System], same: float = SAME_SHAPE
) -> list[tuple[int, ...]]:
    """The numbers of the shapes that the systems have in each conformer."""
    return list(zip(*(_shapes(mol, system, same) for system in systems), strict=True))


def _shapes(mol: Chem.Mol, system: System, same: float) -> list[int]:
    """The number of the shape that a ring system, an axis or a hand has in each conformer."""
    if not isinstance(system, frozenset):
        return [system.is_positive(conformer) for conformer in mol.GetConformers()]
    heavy = {
        neighbour.GetIdx()
        for atom in system
        for neighbour in mol.GetAtomWithIdx(atom).GetNeighbors()
        if neighbour.GetAtomicNum() > 1
    }
    part = Chem.RWMol(mol)
    for atom, label in zip(part.GetAtoms(), _labels(mol), strict=True):
        atom.SetIsotope(label)
    part.BeginBatchEdit()
    for atom in mol.GetAtoms():
        if atom.GetIdx() not in heavy | system:
            part.RemoveAtom(atom.GetIdx())
    part.CommitBatchEdit()
    leaders: list[int] = []
    shapes = []
    for conformer in mol.GetConformers():
        number = conformer.GetId()
        near = (
            i
            for i, leader in enumerate(leaders)
            if rdMolAlign.GetBestRMS(part, part, number, leader, maxMatches=MOST_MATCHES) < same
        )
        shape = next(near, len(leaders))
        if shape == len(leaders):
            leaders.append(number)
        shapes.append(shape)
    return shapes


def _labels(mol: Chem.Mol) -> list[int]:
    """Of each atom a label; atoms that are alike in the whole molecule share one.

    So do the oxygens at one phosphorus, though one is drawn with the charge.
    """
    labels = [rank + 1 for rank in Chem.CanonicalRankAtoms(mol, breakTies=False)]
    for atom in atoms_of(mol):
        if atom.GetAtomicNum() in (8, 16) and atom.GetDegree() == 1:
            inner = labels[atom.GetNeighbors()[0].GetIdx()]
            labels[atom.GetIdx()] = mol.GetNumAtoms() + inner
    return labels
