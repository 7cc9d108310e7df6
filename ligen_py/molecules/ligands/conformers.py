"""Start conformers: the search turns rotatable bonds, so rings must come in the shapes they have.

A conformer follows from the molecule's SMILES and the seed alone, so a molecule has the same ones
wherever it stands in a library and however the library is cut.
"""

import hashlib
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from rdkit import Chem, rdBase
from rdkit.Chem import rdDistGeom, rdForceFieldHelpers, rdMolTransforms
from rdkit.ForceField import rdForceField

from ligen_py.molecules.arrays import Arrays
from ligen_py.molecules.graph import atoms_of
from ligen_py.molecules.ligands.chairs import (
    ONE_ATOM_BRIDGE,
    chair_bounds,
    chair_rings,
    kinds_of_chairs,
)
from ligen_py.molecules.ligands.ring_shapes import (
    System,
    distinct,
    first_of_each,
    macrocycle,
    shapes_of_all,
    systems_of,
)
from ligen_py.molecules.ligands.unmarked_stereo import Axis, axes, is_positive
from ligen_py.molecules.surroundings import surroundings

BOND_LENGTHS = (0.5, 3.5)
"""Angstrom; coordinates with a bond outside these are no conformer."""
HYDROGEN_LENGTHS = (0.5, 2.0)
"""Angstrom; a hydrogen with a bond outside these stands elsewhere than at its atom."""
FLAT = 0.01
"""Angstrom; coordinates whose z vary less are a drawing."""

ATTEMPTS = 20
"""Attempts of the conformer generator, from distances and again from random coordinates. What
succeeds at all takes a few; stereocentres that exclude each other would go on until the time limit.
"""
PIECE_ATTEMPTS = 10
"""The same for a rigid piece. Of 5,800 pieces of drugs and of ZINC's molecules none needed random
coordinates."""
LAST_ATTEMPTS = 20
"""The same before a piece's stereocentres are said to exclude each other. With 10, one of 646 cages
that can be built failed with one of three seeds; with 20 none."""
TRIES = 2
"""Conformers made for each one that may stay, and shapes of a piece that are minimised."""
CHAIRS, OTHERS = 1.5, 0.5
"""Conformers of a piece that can have chairs, for each one that may stay: with chairs, and as the
generator makes them."""
PULL = 50.0
"""How strong the bounds of chairs are, against flat groups: with 1 some come out as boats."""
SAME_START = 0.2
"""The same of rigid pieces before their minimisation, which can take starts 0.3 A apart to a chair
and to a boat."""
EXCLUDED = "its stereocentres exclude each other"
STEPS = 200
"""Most steps of the minimisation of a conformer; after 50 as many crystal poses are found."""
FIRST_STEPS = 50
"""Of them, those after which the shapes of rings are compared."""
PIECE_STEPS = 100
"""The same for a rigid piece: bonds are then within 0.001 A of the minimum, angles within 0.01
degrees (medians). After 60 equal shapes are still taken for different ones: 6 % more ligands."""
BROKEN = 30.0
"""kcal/mol above the lowest shape of a piece; shapes above it are left out. Some of macrocycles are
strained or knotted, up to thousands of kcal/mol, with bonds of 1.8 A."""
AXIS_TRIES = 32
"""Conformers made at least of a piece with an axis or a hand: both of its isomers are among them,
and chairs of both where it can have them."""
BRIDGED_TRIES, BRIDGED_CHAIRS = 16, 4
"""The same of a piece with a bridged ring, and conformers of it whose rings are asked to be chairs.
With 8 alone the lowest shape of 10 in 74 small pieces was missed by 0.5 kcal/mol or more, with 24
that of 5, with 16 and 4 that of 1."""
AXIS_STEPS = 1000
"""Most steps of the minimisation of a conformer with an axis, whose ends turn far."""
RIGHT_ANGLE = 90.0
"""Degrees; a double bond whose groups are nearer to each other is cis."""
OCTAHEDRAL_BOND = 1.80, 1.58
"""Angstrom: S-C and S-F of a pentafluorosulfanyl group (J. Fluorine Chem. 2006, 127, 1231)."""
TWIST = 100.0
"""What holds the groups at both ends of such bonds in their planes, kcal/(mol rad^2)."""


class NoConformerError(Exception):
    """The generator found no conformer; the message says what was in the way."""


def have_conformers(mols: Sequence[Chem.Mol]) -> list[bool]:
    """Whether molecules have 3-D coordinates, no flat drawings, with bonds of possible lengths."""
    result = [bool(mol.GetNumConformers() and mol.GetConformer().Is3D()) for mol in mols]
    placed = [number for number, is_placed in enumerate(result) if is_placed]
    if not placed:
        return result
    arrays = Arrays([surroundings(mols[number]).lists for number in placed])
    xyz = np.concatenate([mols[number].GetConformer().GetPositions() for number in placed])
    start, owner, z = arrays.first[:-1], arrays.owner, xyz[:, 2]
    height = np.maximum.reduceat(z, start) - np.minimum.reduceat(z, start)
    spoilt = (height < FLAT) & (np.diff(arrays.first) > 1)
    along = xyz[arrays.near] - xyz[arrays.far]
    spoilt[owner[arrays.near[~_are_within(along, BOND_LENGTHS)]]] = True
    spoilt[owner[~np.isfinite(xyz).all(axis=1)]] = True
    for number, is_spoilt in zip(placed, spoilt.tolist(), strict=True):
        result[number] = not is_spoilt
    return result


def has_impossible_bonds(mol: Chem.Mol) -> bool:
    """Whether there are 3-D coordinates whose bonds no molecule has."""
    if not (mol.GetNumConformers() and mol.GetConformer().Is3D()):
        return False
    xyz, (near, far) = mol.GetConformer().GetPositions(), np.nonzero(Chem.GetAdjacencyMatrix(mol))
    return not _are_within(xyz[near] - xyz[far], BOND_LENGTHS).all()


def are_in_one_point(mol: Chem.Mol) -> bool:
    """Whether several atoms have one position, as where a file has no coordinates."""
    several = mol.GetNumConformers() and mol.GetNumAtoms() > 1
    return bool(several and not np.ptp(mol.GetConformer().GetPositions(), axis=0).any())


def is_flat(mol: Chem.Mol) -> bool:
    """Whether all atoms have nearly the same z."""
    return bool(np.ptp(mol.GetConformer().GetPositions()[:, 2]) < FLAT)


def has_misplaced_hydrogens(mol: Chem.Mol) -> bool:
    """Whether hydrogens with 3-D coordinates stand elsewhere than at their atoms.

    RDKit's `AddHs` puts them all in one point, unless it is asked for coordinates.
    """
    if not (mol.GetNumConformers() and mol.GetConformer().Is3D()):
        return False
    hydrogens = [atom.GetIdx() for atom in mol.GetAtoms() if atom.GetAtomicNum() == 1]
    near, far = np.nonzero(Chem.GetAdjacencyMatrix(mol)[hydrogens])
    xyz = mol.GetConformer().GetPositions()
    return not _are_within(xyz[hydrogens][near] - xyz[far], HYDROGEN_LENGTHS).all()


def _are_within(along: np.ndarray, lengths: tuple[float, float]) -> np.ndarray:
    """Which vectors (n, 3) are as long as that: bool (n,)."""
    shortest, longest = lengths
    squares = np.einsum("ij,ij->i", along, along)
    return (squares > shortest**2) & (squares < longest**2)


def without_hydrogens(mol: Chem.Mol) -> Chem.Mol:
    """A molecule in 3-D without its hydrogens, its stereo as the other atoms have it."""
    mol = Chem.RemoveHs(mol)
    Chem.AssignStereochemistryFrom3D(mol)
    return mol


def embed(mol: Chem.Mol, seed: int, key: str, limit: int) -> None:
    """Give a molecule with hydrogens up to `limit` ETKDGv3 conformers that differ in their rings.

    All are minimised (see `relax`), in two goes, so that the first is the same whatever `limit` is.
    The first is the generator's first; the others are the shapes that were met most often.
    Conformers are numbered from 0. Raises NoConformerError.
    """
    systems = systems_of(mol) if limit > 1 else []
    for random in (False, True):
        parameters = _parameters(rdDistGeom.ETKDGv3(), seed, key, ATTEMPTS, random)
        if rdDistGeom.EmbedMolecule(mol, parameters) == 0:
            if systems:
                # The first comes out again.
                rdDistGeom.EmbedMultipleConfs(mol, TRIES * limit, parameters)
            sides = _sides(mol)
            relax(mol, FIRST_STEPS)
            if systems:
                chosen = distinct(mol, systems, limit)
                _keep(mol, chosen)
                sides = [sides[number] for number in chosen]
            relax(mol)
            same = _unchanged(mol, sides)
            if same:
                _keep(mol, same)
                return
    counts = list(parameters.GetFailureCounts())
    cause = rdDistGeom.EmbedFailureCauses.values[counts.index(max(counts))]
    raise NoConformerError(
        f"no conformer in 2 x {ATTEMPTS} attempts, most often for {cause.name.lower()}"
    )


def embed_piece(
    bare: Chem.Mol, seed: int, key: str, limit: int
) -> tuple[Chem.Mol, list[float]] | None:
    """A rigid piece with hydrogens in up to `limit` conformers that differ in their rings.

    The generator sees heavy atoms alone, in cages with the hydrogens of ring fusions; hydrogens are
    added to what it makes. That takes a seventh of the time. The shapes met most often are
    minimised, and those of lowest energy stay, with their energies in kcal/mol and in that order;
    one that turned into another isomer is left out. No conformer where the stereocentres exclude
    each other; None where the generator finds nothing else either.
    """
    systems = systems_of(bare) if limit > 1 else []
    is_cage = _is_cage(bare)
    if is_cage and _is_excluded(bare, seed, key):  # by the way that finds it soonest
        return Chem.AddHs(bare), []
    crystals, flat, free = _piece_ways(seed, key)
    if is_cage:
        bones = _with_fusions(bare)
        tries = [(bones, flat), (Chem.AddHs(bare), flat), (bones, free)]
    else:  # groups that are cut short may not be as flat as those of a crystal
        tries = [(bare, crystals if _is_puckered(bare) else flat), (bare, free)]
    with rdBase.BlockLogs():  # it says that there are no hydrogens
        for mol, way in tries:
            found = _embedded(mol, systems, limit, way, _piece_ways(seed, key)[1])
            if found:
                break
        else:
            excluded = not is_cage and _is_excluded(bare, seed, key)
            return (Chem.AddHs(bare), []) if excluded else None
    _keep(mol, found)
    mol = Chem.AddHs(mol, addCoords=True)
    sides = _sides(mol)
    energies = relax(mol, PIECE_STEPS)
    order = sorted(_unchanged(mol, sides), key=lambda number: (energies[number], number))
    if not order:
        return None
    order = [number for number in order if energies[number] <= energies[order[0]] + BROKEN]
    _keep(mol, order)
    if systems:
        different = list(first_of_each(shapes_of_all(mol, systems)).values())[:limit]
        _keep(mol, different)
        order = [order[number] for number in different]
    return mol, [energies[number] for number in order]


def _embedded(
    mol: Chem.Mol,
    systems: Sequence[System],
    limit: int,
    way: rdDistGeom.EmbedParameters,
    bounded: rdDistGeom.EmbedParameters,
) -> list[int]:
    """Give a piece conformers; the ids of up to `limit` of them that differ in their rings.

    `bounded` makes those whose six-membered rings are chairs.
    """
    rings = chair_rings(mol)
    if not systems:
        if rings and _embed_chairs(mol, rings, kinds_of_chairs(mol, rings), 1, bounded):
            return [0]
        return list(rdDistGeom.EmbedMultipleConfs(mol, 1, way))
    way.clearConfs = False
    # Hardly two conformers of most macrocycles have one shape, and theirs take longest.
    has_axis = not all(isinstance(system, frozenset) for system in systems)
    is_macrocycle = macrocycle(mol.GetRingInfo().AtomRings())
    least = AXIS_TRIES if has_axis else 0
    share = OTHERS if rings and not is_macrocycle else TRIES
    most = max(round(share * limit), 0 if rings else least)
    bridged = []
    if not is_macrocycle and _is_bridged(mol):
        most = max(most, BRIDGED_TRIES)
        bridged = chair_rings(mol, ONE_ATOM_BRIDGE)
    first = limit if is_macrocycle else most
    for count in dict.fromkeys((first, most)):
        mol.RemoveAllConformers()
        if rings:  # first, as of shapes that are met equally often the first ones stay
            kinds = kinds_of_chairs(mol, rings)
            _embed_chairs(mol, rings, kinds, max(round(CHAIRS * limit), least), bounded)
        if len(bridged) > len(rings):
            _embed_chairs(mol, bridged, [None], BRIDGED_CHAIRS, bounded)
        if not len(rdDistGeom.EmbedMultipleConfs(mol, count, way)):
            return []
        found = distinct(mol, systems, TRIES * limit, SAME_START)
        if len(found) >= limit:
            break
    return found


def _embed_chairs(
    mol: Chem.Mol,
    rings: Sequence[Sequence[int]],
    kinds: Sequence[bool | None],
    count: int,
    way: rdDistGeom.EmbedParameters,
) -> bool:
    """Add up to `count` conformers of some kinds of chairs; whether there is one."""
    way.clearConfs = False
    way.boundsMatForceScaling = PULL
    kinds = kinds[:count]
    for number, kind in enumerate(kinds):
        way.SetBoundsMat(chair_bounds(mol, rings, kind))
        way.randomSeed ^= number  # of its own, else all kinds fail where one does
        rdDistGeom.EmbedMultipleConfs(mol, count // len(kinds), way)
    return mol.GetNumConformers() > 0


def _is_excluded(bare: Chem.Mol, seed: int, key: str) -> bool:
    """Whether a rigid piece has a conformer, but none with the stereochemistry that is marked."""
    crystals, _, free = _piece_ways(seed, key)
    free.maxIterations = LAST_ATTEMPTS
    with rdBase.BlockLogs():
        mol = Chem.Mol(_with_fusions(bare)) if _is_cage(bare) else Chem.AddHs(bare)
        if rdDistGeom.EmbedMolecule(mol, free) == 0:
            return False
        Chem.RemoveStereochemistry(mol)
        return bool(rdDistGeom.EmbedMolecule(mol, crystals) == 0)


def _piece_ways(seed: int, key: str) -> list[rdDistGeom.EmbedParameters]:
    """With the torsions and flat groups of known crystals, with flat groups alone, and without.

    The torsions take longest; rings that are saturated in part come out too flat without them.
    """
    return [
        _parameters(way, seed, key, PIECE_ATTEMPTS)
        for way in (rdDistGeom.ETKDGv3(), rdDistGeom.KDG(), rdDistGeom.EmbedParameters())
    ]


def _is_cage(mol: Chem.Mol) -> bool:
    """Whether rings may exclude a drawing: a bridge can force a hydrogen to where none fits."""
    rings = mol.GetRingInfo()
    return any(
        rings.NumAtomRings(atom.GetIdx()) > (1 if atom.GetChiralTag() else 2)
        for atom in mol.GetAtoms()
    )


def _is_bridged(mol: Chem.Mol) -> bool:
    """Whether two rings share more than a bond."""
    rings = map(set, mol.GetRingInfo().AtomRings())
    return any(len(one & other) > 2 for one, other in combinations(rings, 2))


def _is_puckered(mol: Chem.Mol) -> bool:
    """Whether a ring has an sp3 atom."""
    return any(
        atom.IsInRing() and atom.GetHybridization() == Chem.HybridizationType.SP3
        for atom in atoms_of(mol)
    )


def _with_fusions(bare: Chem.Mol) -> Chem.Mol:
    """A molecule with hydrogens at ring fusions: they keep a bridgehead from turning inside out."""
    rings = bare.GetRingInfo()
    fusions = [
        atom.GetIdx()
        for atom in atoms_of(bare)
        if rings.NumAtomRings(atom.GetIdx()) > 1 and atom.GetTotalNumHs()
    ]
    return Chem.AddHs(bare, onlyOnAtoms=fusions) if fusions else bare


def _sides(mol: Chem.Mol) -> list[list[bool]]:
    """Of each conformer the hands of its marked centres and the sides of its double bonds.

    To be compared with those after the minimisation: strain can turn a double bond of a ring of
    nine atoms, or a centre of a macrocycle, into the other one.
    """
    centres = [
        (atom.GetIdx(), *[other.GetIdx() for other in atom.GetNeighbors()][:3])
        for atom in atoms_of(mol)
        if atom.GetChiralTag() != Chem.ChiralType.CHI_UNSPECIFIED and atom.GetDegree() > 2
    ]
    bonds = [
        (ends[0], bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), ends[1])
        for bond in mol.GetBonds()
        if bond.GetStereo() > Chem.BondStereo.STEREOANY and len(ends := bond.GetStereoAtoms()) > 1
    ]
    result = []
    for conformer in mol.GetConformers():
        xyz = conformer.GetPositions()
        arms = [xyz[list(others)] - xyz[centre] for centre, *others in centres]
        angles = [rdMolTransforms.GetDihedralDeg(conformer, *bond) for bond in bonds]
        result.append(
            [
                *map(is_positive, arms),
                *(abs(angle) < RIGHT_ANGLE for angle in angles),
            ]
        )
    return result


def _unchanged(mol: Chem.Mol, sides: Sequence[list[bool]]) -> list[int]:
    """The conformers, by number, that are still the isomer that they were."""
    return [number for number, now in enumerate(_sides(mol)) if now == sides[number]]


def _square(mol: Chem.Mol) -> None:
    """Make octahedra of groups such as SF5, in place: neither field knows their angles."""
    for atom in atoms_of(mol):
        if atom.GetHybridization() != Chem.HybridizationType.SP3D2:
            continue
        ends = [other.GetIdx() for other in atom.GetNeighbors() if other.GetDegree() == 1]
        inner = [other.GetIdx() for other in atom.GetNeighbors() if other.GetDegree() > 1]
        if len(ends) == len(inner) + 4 == 5:
            for conformer in mol.GetConformers():
                _make_octahedron(conformer, atom.GetIdx(), inner[0], ends)


def _make_octahedron(conformer: Chem.Conformer, centre: int, inner: int, ends: list[int]) -> None:
    """Place five atoms about a centre, those beside its axis as far from others as they can be."""
    xyz = conformer.GetPositions()
    along = xyz[centre] - xyz[inner]
    along /= np.linalg.norm(along)
    aside = np.cross(along, np.eye(3)[np.abs(along).argmin()])
    aside /= np.linalg.norm(aside)
    across = np.cross(along, aside)
    xyz[centre] = xyz[inner] + OCTAHEDRAL_BOND[0] * along
    others = np.delete(xyz, [centre, *ends], axis=0)

    def placed(turn: float) -> np.ndarray:
        angles = turn + np.arange(4) * np.pi / 2
        square = np.cos(angles)[:, None] * aside + np.sin(angles)[:, None] * across
        return xyz[centre] + OCTAHEDRAL_BOND[1] * np.vstack([along, square])

    def nearest(turn: float) -> float:
        return float(np.linalg.norm(placed(turn)[:, None] - others, axis=2).min())

    xyz[ends] = placed(max(np.deg2rad(np.arange(0, 90, 15)), key=nearest))
    conformer.SetPositions(xyz)


def relax(mol: Chem.Mol, steps: int = STEPS) -> list[float]:
    """Minimise every conformer in MMFF94s, or in UFF where an atom has no parameters there.

    The search turns torsions only: bond lengths, angles and the shapes of rings stay as they are
    made here. Charges are left out, as in a vacuum they would fold a molecule onto itself.

    Returns:
        The energy of each conformer in kcal/mol; 0 where neither field has parameters.
    """
    held = axes(mol)
    properties = rdForceFieldHelpers.MMFFGetMoleculeProperties(mol, mmffVariant="MMFF94s")
    if properties is None and not rdForceFieldHelpers.UFFHasAllMoleculeParams(mol):
        _square(mol)
        return [0.0] * mol.GetNumConformers()
    if held:
        if properties is not None:
            properties.SetMMFFEleTerm(False)
        conformers = mol.GetConformers()
        return [_relaxed(mol, conformer, properties, held) for conformer in conformers]
    if properties is None:
        field = rdForceFieldHelpers.UFFGetMoleculeForceField(mol)
    else:
        properties.SetMMFFEleTerm(False)
        field = rdForceFieldHelpers.MMFFGetMoleculeForceField(mol, properties)
    found = rdForceFieldHelpers.OptimizeMoleculeConfs(mol, field, maxIters=steps)
    if properties is None:
        _square(mol)
    return [energy for _, energy in found]


def _relaxed(
    mol: Chem.Mol,
    conformer: Chem.Conformer,
    properties: rdForceField.MMFFMolProperties | None,
    held: Sequence[Axis],
) -> float:
    """`relax` of a conformer whose axes are held; its energy in kcal/mol."""
    number = conformer.GetId()
    if properties is None:
        field = rdForceFieldHelpers.UFFGetMoleculeForceField(mol, confId=number)
        hold = field.UFFAddTorsionConstraint
    else:
        field = rdForceFieldHelpers.MMFFGetMoleculeForceField(mol, properties, confId=number)
        hold = field.MMFFAddTorsionConstraint
    for axis in held:
        angle = axis.angle(conformer)
        hold(*axis.atoms, False, angle, angle, TWIST)
    field.Initialize()
    field.Minimize(maxIts=AXIS_STEPS)
    return float(field.CalcEnergy())


def _parameters(
    parameters: rdDistGeom.EmbedParameters, seed: int, key: str, attempts: int, random: bool = False
) -> rdDistGeom.EmbedParameters:
    """Those of a few attempts, from distances or from random coordinates."""
    digest = hashlib.sha256(f"{seed}/{key}".encode()).digest()
    options = {
        "randomSeed": int.from_bytes(digest[:4], "little") >> 1,
        "maxIterations": attempts,
        "trackFailures": True,
        "useRandomCoords": random,
        "ignoreSmoothingFailures": random,
    }
    for name, value in options.items():
        setattr(parameters, name, value)
    return parameters


def _keep(mol: Chem.Mol, chosen: list[int]) -> None:
    """Leave the chosen conformers, in that order, numbered from 0."""
    kept = [Chem.Conformer(mol.GetConformer(number)) for number in chosen]
    mol.RemoveAllConformers()
    for conformer in kept:
        mol.AddConformer(conformer, assignId=True)
