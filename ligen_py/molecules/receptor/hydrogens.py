"""Polar hydrogens: those of a file by their atoms, and places of those that a file lacks."""

import numpy as np

from ligen_py.molecules.receptor.heavy import Heavy, is_bridge
from ligen_py.molecules.receptor.templates import Template
from ligen_py.molecules.residues import WATERS
from ligen_py.records.functions.ad4 import Ad4Type

BOND_LENGTH = {
    Ad4Type.N: 1.01,
    Ad4Type.NA: 1.01,
    Ad4Type.OA: 0.96,
    Ad4Type.S: 1.34,
    Ad4Type.SA: 1.34,
    Ad4Type.P: 1.42,
}
"""Angstrom, from a donor to its hydrogen."""

TETRAHEDRAL, TRIGONAL = np.radians(109.47), np.radians(120.0)

HYDROXYL_TURNS = np.radians(np.arange(0, 360, 30))
"""Torsions tried for a hydroxyl or thiol."""

BOUND = 1.3
"""Angstrom; a hydrogen of the file nearer than this to N, O or S is a polar one."""

REACH = 3.5
"""Angstrom; hydrogens of waters and histidines point to acceptors this near."""


def reach(symbol: str) -> float:
    """How far (Angstrom) a polar hydrogen may be from its atom."""
    return BOUND + 0.1 * (symbol == "S")


def given_hydrogens(heavy: Heavy, hydrogens: np.ndarray) -> dict[int, list[int]]:
    """Numbers of the polar ones among hydrogens (n, 3), by the atom that they belong to."""
    found: dict[int, list[int]] = {}
    polar = np.array([symbol in ("N", "O", "S") for symbol in heavy.symbol], bool)
    # PDB2PQR takes the sulfurs of a long disulfide for thiols.
    polar &= [not is_bridge(i, heavy) for i in range(len(polar))]
    donors = np.flatnonzero(polar)
    for number, place in enumerate(hydrogens if len(donors) else ()):
        distance = np.linalg.norm(heavy.xyz - place, axis=1)
        nearest = int(distance.argmin())
        if polar[nearest] and distance[nearest] < reach(heavy.symbol[nearest]):
            found.setdefault(nearest, []).append(number)
    return found


def build(i: int, template: Template, heavy: Heavy, acceptors: np.ndarray) -> np.ndarray:
    """Positions (hydrogens, 3) of an atom's polar hydrogens from those of its neighbours.

    `acceptors` says of each heavy atom whether it is one: hydroxyls and waters turn to them.
    """
    count, near = template.hydrogens, list(heavy.bonded[i])
    if heavy.residue_name[i] in WATERS:
        return _water(i, heavy, acceptors)
    if not count or not near:
        return np.empty((0, 3))
    length, here = BOND_LENGTH[template.kind], heavy.xyz[i]
    towards = [unit(heavy.xyz[other] - here) for other in near]
    if len(near) > 1:
        outward = unit(-np.sum(towards, axis=0))
        if count == 1 or len(near) > 2:
            return here + length * outward[None]
        # A secondary ammonium ion has one on either side of the plane of its bonds.
        aside = unit(np.cross(towards[0], towards[1])) * np.sin(TETRAHEDRAL / 2)
        return here + length * (np.cos(TETRAHEDRAL / 2) * outward + np.outer([1, -1], aside))
    beyond = [other for other in heavy.bonded[near[0]] if other != i]
    reference = heavy.xyz[beyond[0]] - heavy.xyz[near[0]] if beyond else np.array([0.3, 0.5, 0.8])
    angle = TRIGONAL if template.flat else TETRAHEDRAL
    if template.kind in (Ad4Type.OA, Ad4Type.S, Ad4Type.SA):
        places = _cone(here, towards[0], reference, length, TETRAHEDRAL, HYDROXYL_TURNS)
        return _best_turn(i, places, near, heavy, acceptors)
    if template.flat:
        return _cone(here, towards[0], reference, length, angle, np.radians([0, 180])[:count])
    places = _cone(here, towards[0], reference, length, angle, np.radians([60, 180, 300]))
    room = _to_others(i, places, near, heavy).min(axis=1)
    # The lone pair of an amine is where there is least room, as towards a metal.
    return places[np.sort(np.argsort(-room, kind="stable")[:count])]


def _water(i: int, heavy: Heavy, acceptors: np.ndarray) -> np.ndarray:
    """Hydrogens (2, 3): one towards the nearest acceptor, one on the side of the next."""
    here, length = heavy.xyz[i], BOND_LENGTH[Ad4Type.OA]
    others = np.flatnonzero(acceptors)
    distance = np.linalg.norm(heavy.xyz[others] - here, axis=1)
    order = [j for j in others[np.argsort(distance, kind="stable")].tolist() if j != i]
    near = [j for j in order[:2] if np.linalg.norm(heavy.xyz[j] - here) < REACH]
    towards = [unit(heavy.xyz[j] - here) for j in near]
    first = towards[0] if towards else np.array([1.0, 0.0, 0.0])
    side = towards[1] if len(towards) > 1 else np.array([0.3, 0.5, 0.8])
    second = _cone(here, first, side, length, TETRAHEDRAL, np.zeros(1))
    return np.concatenate([here + length * first[None], second])


def unit(vector: np.ndarray) -> np.ndarray:
    """The direction of a vector (3,); of one without a length 0."""
    return vector / max(float(np.linalg.norm(vector)), 1e-6)


def _cone(
    here: np.ndarray,
    towards: np.ndarray,
    reference: np.ndarray,
    length: float,
    angle: float,
    turns: np.ndarray,
) -> np.ndarray:
    """Places at an angle to the only bond, turned about it from the direction of `reference`."""
    first = unit(reference - (reference @ towards) * towards)
    second = np.cross(towards, first)
    around = np.cos(turns)[:, None] * first + np.sin(turns)[:, None] * second
    places: np.ndarray = here + length * (np.cos(angle) * towards + np.sin(angle) * around)
    return places


def _best_turn(
    i: int, places: np.ndarray, near: list[int], heavy: Heavy, acceptors: np.ndarray
) -> np.ndarray:
    """The place nearest to an acceptor among those least crowded; (1, 3)."""
    distance = _to_others(i, places, near, heavy)
    free = distance.min(axis=1, initial=9.0)
    to_acceptor = np.where(acceptors, distance, 9.0).min(axis=1, initial=9.0)
    crowded = free < min(1.6, free.max())
    best = int(np.argmin(to_acceptor + 100.0 * crowded))
    return places[best : best + 1]


def _to_others(i: int, places: np.ndarray, near: list[int], heavy: Heavy) -> np.ndarray:
    """Distances (places, atoms) of places from the atoms, far from itself and its neighbours."""
    distance: np.ndarray = np.linalg.norm(heavy.xyz[None] - places[:, None], axis=2)
    distance[:, [i, *near]] = 9.0
    return distance
