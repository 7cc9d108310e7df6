"""Clusters of the poses of one ligand, by RMSD over heavy atoms with its symmetry in mind."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from rdkit import Chem

from ligen_py.records.ligands import Ligands
from ligen_py.records.molecule import parts_of

MOST_SYMMETRIES = 1000
"""Ways to map a molecule onto itself that are tried at most."""


def symmetries(element: np.ndarray, bond: np.ndarray) -> np.ndarray:
    """All ways to number the heavy atoms so that elements and bonds stay: (ways, heavy atoms).

    Args:
        element: atomic numbers (atoms,), heavy atoms first.
        bond: bonded atoms (bonds, 2). Their order is not asked, so that carboxylates, whose two
            oxygens are equal, have both ways.
    """
    heavy = int(np.count_nonzero(element > 1))
    mol = Chem.RWMol()
    for number in element[:heavy].tolist():
        mol.AddAtom(Chem.Atom(int(number)))
    for one, two in bond.tolist():
        if max(one, two) < heavy:
            mol.AddBond(int(one), int(two), Chem.BondType.SINGLE)
    mol.UpdatePropertyCache(strict=False)
    found = mol.GetSubstructMatches(mol, uniquify=False, maxMatches=MOST_SYMMETRIES)
    ways = np.array(found or [range(heavy)], int)
    if not (ways == np.arange(heavy)).all(axis=1).any():  # of more than these, not the first
        ways[-1] = np.arange(heavy)
    return ways


def symmetries_of(ligands: Ligands) -> list[np.ndarray]:
    """`symmetries` of each ligand, uint16."""
    found = []
    for number in range(len(ligands.entry)):
        atoms = slice(ligands.first_atom[number], ligands.first_atom[number + 1])
        bonds = slice(ligands.first_bond[number], ligands.first_bond[number + 1])
        found.append(symmetries(ligands.element[atoms], ligands.bond[bonds]).astype(np.uint16))
    return found


def symmetries_of_stored(octets: np.ndarray) -> np.ndarray:
    """`symmetries` of a stored molecule, u1, whose heavy atoms stand first."""
    parts = parts_of(octets)
    element = np.array([atom.element for atom in parts.atoms])
    bond = [(bond.near, bond.far) for bond in parts.bonds]
    return symmetries(element, np.array(bond, int).reshape(-1, 2))


def rmsd(one: np.ndarray, other: np.ndarray, ways: np.ndarray) -> float:
    """Smallest RMSD of two poses (heavy atoms, 3) over `symmetries`, not aligned."""
    squares = ((one[ways] - other) ** 2).sum(axis=2).mean(axis=1)
    return float(np.sqrt(squares.min()))


class Member(NamedTuple):
    """A pose in a cluster."""

    pose: int
    rmsd: float
    """From the best pose of the cluster, Angstrom."""


def clusters(
    poses: Sequence[np.ndarray], energies: np.ndarray, limit: float, ways: np.ndarray
) -> list[list[Member]]:
    """Clusters, the best first, each led by its best pose, as AutoDock makes them.

    In the order of energies a pose joins the first cluster whose best pose is nearer than `limit`
    (Angstrom), or opens one.
    """
    found, places = list[list[Member]](), np.array(poses)
    centers = places.mean(axis=1)
    waiting = np.argsort(energies, kind="stable")
    while len(waiting):
        leader, least = places[waiting[0]], np.full(len(waiting), np.inf)
        # Poses are at least as far apart as their centres, in whatever way atoms are mapped.
        between = np.linalg.norm(centers[waiting] - centers[waiting[0]], axis=1)
        close = np.flatnonzero(between < limit + 1e-6)
        for way in ways:
            squares = ((leader[way] - places[waiting[close]]) ** 2).sum(axis=2).mean(axis=1)
            least[close] = np.minimum(least[close], squares)
        apart = np.sqrt(least)
        near = apart < limit
        near[0] = True
        own = zip(waiting[near].tolist(), apart[near].tolist(), strict=True)
        found.append([Member(*member) for member in own])
        waiting = waiting[~near]
    return found
