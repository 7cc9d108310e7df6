"""X-Score's types of cofactors' atoms, which have no table, from their geometry."""

from collections.abc import Sequence

import numpy as np

from ligen_py.molecules.elements import BOND_TOLERANCE, COVALENT_RADIUS, METALS
from ligen_py.molecules.typing.xscore_residues import (
    ANGLED,
    DA,
    STRAIGHT,
    A,
    D,
    H,
    P,
    ReceptorType,
    by_element,
    typed,
)

FLAT = 354.0
"""Three bonds lie in a plane when their angles sum to more than this (degree; ideal sp3: 328)."""


def cofactor_types(elements: Sequence[str], xyz: np.ndarray) -> list[ReceptorType]:
    """Type the heavy atoms of one hetero residue, which has no bond orders, from its geometry.

    `elements` are symbols, `xyz` is (atoms, 3) in Angstrom. Bonds come from distances, planarity
    from angles and flat five- and six-rings; what hydrogens would decide stays open (a ring
    nitrogen is donor and acceptor, as in the histidine of X-Score). Carbons and nitrogens get the
    ligand's types, as X-Score gives them to a cofactor; oxygens without hydrogens are acceptors
    of 1.55, as in its tables of phosphate and carboxylate. X-Score gives a cofactor the ligand's
    logP too, which asks for bond orders and hydrogens; here it is 0, so that a cofactor's atoms
    neither make nor spoil a hydrophobic match.
    """
    symbols = [symbol.strip().upper() for symbol in elements]
    xyz = np.asarray(xyz, "f8").reshape(len(symbols), 3)
    bonded = _bonded(symbols, xyz)
    ring = _flat_rings(symbols, xyz, bonded)
    flat = {atom for atom in range(len(symbols)) if _is_flat(atom, symbols, xyz, bonded)} | ring
    return [_cofactor_type(atom, symbols, xyz, bonded, flat, ring) for atom in range(len(symbols))]


def _bonded(symbols: Sequence[str], xyz: np.ndarray) -> list[list[int]]:
    """Bonded neighbours of every atom; metals and hydrogens have none."""
    radius = np.array([COVALENT_RADIUS.get(symbol, -9.0) for symbol in symbols])
    distance = np.linalg.norm(xyz[:, None] - xyz[None], axis=-1)
    near = distance < radius[:, None] + radius[None] + BOND_TOLERANCE
    np.fill_diagonal(near, False)
    return [np.flatnonzero(row).tolist() for row in near]


def _angle(xyz: np.ndarray, first: int, apex: int, second: int) -> float:
    one, two = xyz[first] - xyz[apex], xyz[second] - xyz[apex]
    cosine = one @ two / max(float(np.linalg.norm(one) * np.linalg.norm(two)), 1e-9)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def _is_flat(
    atom: int, symbols: Sequence[str], xyz: np.ndarray, bonded: Sequence[Sequence[int]]
) -> bool:
    """Whether a carbon or nitrogen is trigonal: three bonds in a plane, or a short open angle."""
    near = bonded[atom]
    if symbols[atom] not in ("C", "N") or not 2 <= len(near) <= 3:
        return False
    if len(near) == 3:
        a, b, c = near
        angles = _angle(xyz, a, atom, b) + _angle(xyz, b, atom, c) + _angle(xyz, a, atom, c)
        return angles > FLAT
    return symbols[atom] == "C" and all(np.linalg.norm(xyz[near] - xyz[atom], axis=1) < 1.46)


def _flat_rings(
    symbols: Sequence[str], xyz: np.ndarray, bonded: Sequence[Sequence[int]]
) -> set[int]:
    """Atoms of five- and six-membered rings of C, N, O, S that lie within 0.1 A of a plane."""
    atoms: set[int] = set()
    for start in range(len(symbols)):
        for ring in _rings_from(start, bonded):
            points = xyz[list(ring)] - xyz[list(ring)].mean(axis=0)
            off_plane = np.abs(points @ np.linalg.svd(points)[2][2])
            organic = all(symbols[atom] in ("C", "N", "O", "S") for atom in ring)
            if organic and off_plane.max() < 0.1:
                atoms.update(ring)
    return atoms


def _rings_from(start: int, bonded: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Rings of five and six atoms whose lowest atom is `start`."""
    found: list[tuple[int, ...]] = []
    paths: list[tuple[int, ...]] = [(start,)]
    while paths:
        path = paths.pop()
        for following in bonded[path[-1]]:
            if following == start and len(path) in (5, 6) and path[1] < path[-1]:
                found.append(path)
            elif following > start and following not in path and len(path) < 6:
                paths.append((*path, following))
    return found


def _cofactor_type(
    atom: int,
    symbols: Sequence[str],
    xyz: np.ndarray,
    bonded: Sequence[Sequence[int]],
    flat: set[int],
    ring: set[int],
) -> ReceptorType:
    symbol, near = symbols[atom], bonded[atom]
    if symbol in METALS or not near:
        return by_element(symbol)
    if symbol == "C":
        polar = any(symbols[other] in ("N", "O", "F", "P", "S", "CL", "BR", "I") for other in near)
        radius = 2.00 if atom in ring else 1.90 if atom in flat else 2.10
        return typed(radius, P if polar else H, 0.0, 0)
    if symbol == "N":
        return _cofactor_nitrogen(near, atom in ring, atom in flat, any(n in flat for n in near))
    if symbol == "O":
        return _cofactor_oxygen(atom, symbols, xyz, bonded, flat)
    if symbol in ("S", "SE"):
        return typed(*((2.10, H) if len(near) <= 2 else (2.00, P)), 0.0, 0)
    bound = {"F": (1.50, P), "CL": (1.75, H), "BR": (1.90, H), "I": (2.05, H)}
    return typed(*bound.get(symbol, (2.00, P)), 0.0, 0)


def _cofactor_nitrogen(
    near: Sequence[int], ring: bool, flat: bool, beside_flat: bool
) -> ReceptorType:
    if len(near) == 3:
        return typed(1.75 if flat else 1.80, P, 0.0, 0)
    if len(near) > 3:
        return typed(1.80, P, 0.0, 0)
    if ring:
        return typed(1.75, DA, 0.0, STRAIGHT)
    if beside_flat:
        return typed(1.75, D, 0.0, ANGLED if len(near) == 1 else STRAIGHT)
    return typed(1.80, D, 0.0, ANGLED)


def _cofactor_oxygen(
    atom: int,
    symbols: Sequence[str],
    xyz: np.ndarray,
    bonded: Sequence[Sequence[int]],
    flat: set[int],
) -> ReceptorType:
    """Two bonds: ether. One: carbonyl, carboxylate, oxo acid, else hydroxyl (C-O > 1.30 A)."""
    if len(bonded[atom]) > 1:
        return typed(1.65, A, 0.0, ANGLED)
    other = bonded[atom][0]
    terminal = sum(symbols[i] == "O" and len(bonded[i]) == 1 for i in bonded[other])
    short = float(np.linalg.norm(xyz[atom] - xyz[other])) < 1.30
    if symbols[other] != "C" or (other in flat and (short or terminal > 1)):
        return typed(1.55, A, 0.0, ANGLED)
    return typed(1.65, DA, 0.0, ANGLED)


def with_hydrogens(
    kind: ReceptorType, symbol: str, bonds: int, hydrogens: int, accepts: bool
) -> ReceptorType:
    """The type of a nitrogen or oxygen whose hydrogens and lone pair are known; others stay.

    `bonds` are to heavy atoms. A hydroxyl gives and takes; a nitrogen does one or the other.
    """
    symbol = symbol.strip().upper()
    if symbol == "O":
        radius = 1.65 if hydrogens or bonds > 1 else 1.55
        return typed(radius, DA if hydrogens else A, kind.logp, ANGLED)
    if symbol != "N":
        return kind
    role = D if hydrogens else A if accepts else P
    where = ANGLED if hydrogens and bonds == 1 else STRAIGHT
    return typed(kind.radius, role, kind.logp, where)
