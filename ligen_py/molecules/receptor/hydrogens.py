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

TURNS = (Ad4Type.OA, Ad4Type.S, Ad4Type.SA)
"""What turns about its bond with its hydrogen."""

TETRAHEDRAL, TRIGONAL = np.radians(109.47), np.radians(120.0)

HYDROXYL_TURNS = np.radians(np.arange(0, 360, 30))
"""Torsions tried for a hydroxyl or thiol."""

WATER_TURNS = np.radians(sorted(range(-150, 181, 30), key=abs))
"""Torsions tried for the second hydrogen of a water, the first of which points to an acceptor."""

CROWDED = 1.6
"""Angstrom; a hydrogen this near to another atom turns away, if it can."""

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


def turns(i: int, template: Template, heavy: Heavy) -> bool:
    """Whether an atom's polar hydrogens turn: of a water, and of a hydroxyl or thiol."""
    is_hydroxyl = template.hydrogens > 0 and len(heavy.bonded[i]) == 1 and template.kind in TURNS
    return is_hydroxyl or heavy.residue_name[i] in WATERS


def build(
    i: int, template: Template, heavy: Heavy, acceptors: np.ndarray, hydrogens: np.ndarray
) -> np.ndarray:
    """Positions (hydrogens, 3) of an atom's polar hydrogens from those of its neighbours.

    `acceptors` says of each heavy atom whether it is one: hydroxyls and waters turn to them, away
    from the polar hydrogens (n, 3) that are placed before.
    """
    count, near = template.hydrogens, list(heavy.bonded[i])
    if heavy.residue_name[i] in WATERS:
        return _water(i, heavy, acceptors, hydrogens)
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
    if template.kind in TURNS:
        places = _cone(here, towards[0], reference, length, TETRAHEDRAL, HYDROXYL_TURNS)
        return _best_turn(i, places, heavy, acceptors, hydrogens)
    if template.flat:
        return _cone(here, towards[0], reference, length, angle, np.radians([0, 180])[:count])
    places = _cone(here, towards[0], reference, length, angle, np.radians([60, 180, 300]))
    room = _to_others(i, places, heavy).min(axis=1)
    # The lone pair of an amine is where there is least room, as towards a metal.
    return places[np.sort(np.argsort(-room, kind="stable")[:count])]


def _water(i: int, heavy: Heavy, acceptors: np.ndarray, hydrogens: np.ndarray) -> np.ndarray:
    """Hydrogens (2, 3): one towards the nearest acceptor, one on the side of the next.

    Where that is crowded, the second turns about the first, and then that points elsewhere.
    """
    here, length = heavy.xyz[i], BOND_LENGTH[Ad4Type.OA]
    others = np.flatnonzero(acceptors)
    distance = np.linalg.norm(heavy.xyz[others] - here, axis=1)
    order = [j for j in others[np.argsort(distance, kind="stable")].tolist() if j != i]
    near = [j for j in order if np.linalg.norm(heavy.xyz[j] - here) < REACH]
    towards = [unit(heavy.xyz[j] - here) for j in near]
    found = []
    for first in (*towards, *np.eye(3), *-np.eye(3)):
        side = next((one for one in towards if one is not first), np.array([0.3, 0.5, 0.8]))
        second = _cone(here, first, side, length, TETRAHEDRAL, WATER_TURNS)
        places = np.concatenate([here + length * first[None], second])
        to_others = np.where(acceptors, 9.0, _to_others(i, places, heavy))
        apart = _apart(places, to_others, hydrogens)
        apart = np.minimum(apart[0], apart[1:])
        best = int(np.argmin(_is_crowded(apart)))
        found.append((float(apart[best]), places[[0, 1 + best]]))
        if apart[best] >= CROWDED:
            break
    return max(found, key=lambda pair: pair[0])[1]


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
    i: int, places: np.ndarray, heavy: Heavy, acceptors: np.ndarray, hydrogens: np.ndarray
) -> np.ndarray:
    """The place nearest to an acceptor among those least crowded; (1, 3)."""
    distance = _to_others(i, places, heavy)
    to_acceptor = np.where(acceptors, distance, 9.0).min(axis=1, initial=9.0)
    crowded = _is_crowded(_apart(places, distance, hydrogens))
    best = int(np.argmin(to_acceptor + 100.0 * crowded))
    return places[best : best + 1]


def _is_crowded(apart: np.ndarray) -> np.ndarray:
    """Whether places are too near to another atom; where all are, all but those farthest."""
    return apart < min(CROWDED, apart.max())


def _apart(places: np.ndarray, to_others: np.ndarray, hydrogens: np.ndarray) -> np.ndarray:
    """How far places (places, 3) are from the nearest heavy atom (places, atoms) or hydrogen."""
    to_hydrogens = np.linalg.norm(hydrogens[None] - places[:, None], axis=2)
    return np.concatenate([to_others, to_hydrogens], axis=1).min(axis=1, initial=9.0)


def _to_others(i: int, places: np.ndarray, heavy: Heavy) -> np.ndarray:
    """Distances (places, atoms) of places from the atoms, far from itself and its neighbours."""
    distance: np.ndarray = np.linalg.norm(heavy.xyz[None] - places[:, None], axis=2)
    distance[:, [i, *heavy.bonded[i]]] = 9.0
    return distance
