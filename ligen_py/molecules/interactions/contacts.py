"""The interactions of a pose with a receptor, residue by residue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ligen_py.molecules.interactions import criteria
from ligen_py.molecules.interactions.criteria import angle, distances, tilt, turning_angle
from ligen_py.molecules.interactions.groups import Donor, Groups, Ring
from ligen_py.molecules.interactions.receptor import Surroundings

KINDS = {
    "hydrogen bond": "H",
    "salt bridge": "S",
    "metal": "M",
    "halogen bond": "X",
    "pi stacking": "P",
    "cation-pi": "C",
    "water": "W",
    "water bridge": "B",
    "hydrophobic": "h",
}
"""Kinds of interactions, the strongest first, with a letter each."""

POLAR = frozenset(("hydrogen bond", "salt bridge", "metal", "halogen bond"))
"""Interactions with the receptor that hold polar groups; waters are not counted."""

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Contact:
    """One interaction."""

    kind: str
    residue: str
    """Of the receptor, as `ASP27 A`."""
    distance: float
    """Angstrom."""
    start: Point
    """On the ligand."""
    end: Point
    """On the receptor."""


def contacts(ligand: Groups, around: Surroundings) -> list[Contact]:
    """All interactions of a pose, the strongest kinds first.

    Of each pair of atoms a hydrogen bond, halogen bond or metal contact is listed; of the other
    kinds the nearest pair of each residue.
    """
    every = [
        *_hydrogen_bonds(ligand, around),
        *_metals(ligand, around),
        *_halogen_bonds(ligand, around),
        *_nearest(_salt_bridges(ligand, around)),
        *_nearest(_stacking(ligand, around)),
        *_nearest(_cations(ligand, around)),
        *_nearest(_hydrophobic(ligand, around)),
    ]
    every += _nearest(_bridges(ligand, around, every))
    order = list(KINDS)
    return sorted(every, key=lambda one: (order.index(one.kind), one.residue, one.distance))


def _nearest(found: Iterator[Contact]) -> list[Contact]:
    """Of each residue and kind the one of least distance."""
    least: dict[tuple[str, str], Contact] = {}
    for one in found:
        key = one.kind, one.residue
        if key not in least or one.distance < least[key].distance:
            least[key] = one
    return list(least.values())


def _pairs(
    ligand: Groups, mine: Sequence[int], around: Surroundings, theirs: Sequence[int], most: float
) -> Iterator[tuple[int, int, float]]:
    """Atoms of the ligand and of the receptor up to `most` Angstrom apart, and their distance."""
    if not len(mine) or not len(theirs):
        return
    apart = distances(ligand.xyz[list(mine)], around.groups.xyz[list(theirs)])
    for one, two in np.argwhere(apart <= most):
        yield mine[one], theirs[two], float(apart[one, two])


def _contact(
    kind: str, ligand: Groups, one: int, around: Surroundings, two: int, apart: float
) -> Contact:
    ends = _point(ligand.xyz[one]), _point(around.groups.xyz[two])
    return Contact(kind, around.residue[two], apart, *ends)


def _point(place: np.ndarray) -> Point:
    return float(place[0]), float(place[1]), float(place[2])


def _hydrogen_bonds(ligand: Groups, around: Surroundings) -> Iterator[Contact]:
    other = around.groups
    found: dict[tuple[int, int], float] = {}
    for giver, taker, flipped in ((ligand, other, False), (other, ligand, True)):
        donors = {donor.atom: donor for donor in giver.donors}
        mine, theirs = list(donors), taker.acceptors
        ends = (theirs, mine) if flipped else (mine, theirs)
        for one, two, apart in _pairs(ligand, ends[0], around, ends[1], criteria.HYDROGEN_BOND):
            donor, acceptor = (two, one) if flipped else (one, two)
            if _points_at(donors[donor], giver.xyz, taker.xyz[acceptor]):
                found[one, two] = apart
    for (one, two), apart in found.items():
        kind = "water" if around.water[two] else "hydrogen bond"
        yield _contact(kind, ligand, one, around, two, apart)


def _points_at(donor: Donor, xyz: np.ndarray, acceptor: np.ndarray) -> bool:
    """Whether a hydrogen of a donor points at an acceptor (3,), or can turn so."""
    place, least = xyz[donor.atom], criteria.HYDROGEN_BOND_ANGLE
    if donor.neighbour is not None:
        return turning_angle(xyz[donor.neighbour], place, acceptor) >= least
    angles = [angle(place, np.array(hydrogen), acceptor) for hydrogen in donor.hydrogens]
    return not angles or max(angles) >= least


def _salt_bridges(ligand: Groups, around: Surroundings) -> Iterator[Contact]:
    other = around.groups
    for mine, theirs in ((ligand.positive, other.negative), (ligand.negative, other.positive)):
        for one, two, apart in _pairs(ligand, mine, around, theirs, criteria.SALT_BRIDGE):
            yield _contact("salt bridge", ligand, one, around, two, apart)


def _hydrophobic(ligand: Groups, around: Surroundings) -> Iterator[Contact]:
    ends = ligand.hydrophobic, around, around.groups.hydrophobic
    for one, two, apart in _pairs(ligand, *ends, criteria.HYDROPHOBIC):
        yield _contact("hydrophobic", ligand, one, around, two, apart)


def _metals(ligand: Groups, around: Surroundings) -> Iterator[Contact]:
    ends = ligand.chelators, around, around.groups.metals
    for one, two, apart in _pairs(ligand, *ends, criteria.METAL):
        yield _contact("metal", ligand, one, around, two, apart)


def _halogen_bonds(ligand: Groups, around: Surroundings) -> Iterator[Contact]:
    most, least, (low, high) = criteria.HALOGEN_BOND
    carbon = {halogen: carbon for carbon, halogen in ligand.halogens}
    neighbours: dict[int, list[int]] = {}
    for acceptor, neighbour in around.groups.halogen_acceptors:
        neighbours.setdefault(acceptor, []).append(neighbour)
    mine, theirs = list(carbon), list(neighbours)
    for one, two, apart in _pairs(ligand, mine, around, theirs, most):
        halogen, acceptor = ligand.xyz[one], around.groups.xyz[two]
        ends = [around.groups.xyz[row] for row in neighbours[two]]
        if angle(ligand.xyz[carbon[one]], halogen, acceptor) >= least and any(
            low <= angle(halogen, acceptor, end) <= high for end in ends
        ):
            yield _contact("halogen bond", ligand, one, around, two, apart)


def _stacking(ligand: Groups, around: Surroundings) -> Iterator[Contact]:
    for mine in ligand.rings:
        for theirs in around.groups.rings:
            centres = mine.centre, theirs.centre
            apart = float(np.linalg.norm(centres[0] - centres[1]))
            if criteria.stacked(centres, (mine.normal, theirs.normal)):
                residue = around.residue[theirs.atoms[0]]
                ends = _point(mine.centre), _point(theirs.centre)
                yield Contact("pi stacking", residue, apart, *ends)


def _cations(ligand: Groups, around: Surroundings) -> Iterator[Contact]:
    other = around.groups
    for ring in other.rings:
        for atom in ligand.positive:
            if apart := _above(ring, ligand.xyz[atom]):
                ends = _point(ligand.xyz[atom]), _point(ring.centre)
                yield Contact("cation-pi", around.residue[ring.atoms[0]], apart, *ends)
    for ring in ligand.rings:
        for atom in other.positive:
            if apart := _above(ring, other.xyz[atom]):
                ends = _point(ring.centre), _point(other.xyz[atom])
                yield Contact("cation-pi", around.residue[atom], apart, *ends)


def _above(ring: Ring, charge: np.ndarray) -> float:
    """Distance of a charge (3,) that lies above a ring; 0 where it does not."""
    line = charge - ring.centre
    most, lean = criteria.CATION_PI
    apart = float(np.linalg.norm(line))
    return apart if apart <= most and tilt(ring.normal, line) <= lean else 0.0


def _bridges(ligand: Groups, around: Surroundings, found: Sequence[Contact]) -> Iterator[Contact]:
    """Residues that a water holds which the ligand binds."""
    polar = np.flatnonzero(around.polar)
    for one in found:
        if one.kind == "water" and len(polar):
            apart = distances(np.array([one.end]), around.groups.xyz[polar])[0]
            for row in np.flatnonzero(apart <= criteria.HYDROGEN_BOND):
                atom = int(polar[row])
                ends = one.end, _point(around.groups.xyz[atom])
                residue = around.residue[atom]
                yield Contact("water bridge", residue, float(apart[row]), *ends)
