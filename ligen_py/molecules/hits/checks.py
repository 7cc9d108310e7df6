"""Whether a pose is physically plausible: tests and limits of PoseBusters, computed here.

M. Buttenschoen, G. M. Morris, C. M. Deane, Chem. Sci. 2024, 15, 3130; limits of version 0.4. Of the
tests of a pose by itself and against a receptor these are all but three: its energy against other
conformers takes seconds a molecule (`strain` stands beside); a docked molecule is always connected;
and unpaired electrons are as the input draws them, of which the record's note says so.
"""

from collections.abc import Mapping

import numpy as np
from rdkit import Chem
from rdkit.Chem import rdDistGeom

from ligen_py.molecules.graph import matches
from ligen_py.molecules.interactions.receptor import Surroundings

CHECKS = {
    "stereo": "stereocentres and double bonds are those of the docked state",
    "bonds": "bond lengths and angles are within 25 % of what distance geometry allows",
    "clash": "no two atoms of the ligand are 30 % nearer than distance geometry allows",
    "flat": "aromatic rings and double bonds are flat to 0.25 Å",
    "contact": "no atom is nearer to the receptor than 0.75 of the sum of the radii",
    "overlap": "at most 7.5 % of the ligand's volume lies inside the receptor",
}
"""Name of each check, and what passes it."""

WIDER_BONDS, WIDER_CLASH = 0.25, 0.30
FLAT = 0.25
NEAREST, MOST_OVERLAP, SHRUNK = 0.75, 0.075, 0.8
FLAT_SYSTEMS = (
    "[ar5^2]1[ar5^2][ar5^2][ar5^2][ar5^2]1",
    "[ar6^2]1[ar6^2][ar6^2][ar6^2][ar6^2][ar6^2]1",
    "[C;X3;^2](*)(*)=[C;X3;^2](*)(*)",
)

UNREAD = frozenset((7, 15, 33))
"""Elements whose stereo with three bonds RDKit does not read from coordinates, or not always."""

GRID = 0.4
"""Distance of the points at which volumes are measured, Angstrom."""
SHELL, STEPS = 0.25, np.arange(3)
"""Volumes are RDKit's, which PoseBusters compares: a point counts three times inside a sphere, and
once less in each shell of this thickness (Angstrom) around it."""

TABLE = Chem.GetPeriodicTable()
RADIUS = np.array([1.5, *(TABLE.GetRvdw(number) for number in range(1, 119))])
"""Van der Waals radii by atomic number, Angstrom."""
COVALENT = np.array([1.0, *(TABLE.GetRcovalent(number) for number in range(1, 119))])


def checks(mol: Chem.Mol, state: str, around: Surroundings | None) -> Mapping[str, bool]:
    """Name of each check -> whether a pose passes it.

    Args:
        mol: molecule with hydrogens and one conformer, the pose.
        state: SMILES of the state that was docked.
        around: the receptor; without one only the checks of the pose itself are made.
    """
    heavy = Chem.RemoveHs(mol)
    bonds, clash = _distances(heavy)
    found = {
        "stereo": _stereo(mol, state),
        "bonds": bonds,
        "clash": clash,
        "flat": _flat(mol),
    }
    if around is not None:
        xyz = heavy.GetConformer().GetPositions()
        element = np.array([atom.GetAtomicNum() for atom in heavy.GetAtoms()])
        found |= {"contact": _contact(xyz, element, around)}
        found |= {"overlap": overlap(xyz, element, around) <= MOST_OVERLAP}
    return found


def _stereo(mol: Chem.Mol, state: str) -> bool:
    """Whether the pose has the stereo that its state names; where none is named, any passes.

    Of nitrogen, phosphorus and arsenic with three bonds RDKit reads none from coordinates, or that
    of bridgeheads alone: any passes.
    """
    wanted = Chem.MolFromSmiles(state)
    if wanted is None:
        return False
    for atom in wanted.GetAtoms():
        if atom.GetAtomicNum() in UNREAD and atom.GetTotalDegree() == 3:
            atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
    Chem.AssignStereochemistry(wanted, cleanIt=True, force=True)
    return bool(Chem.RemoveHs(from_coordinates(mol)).HasSubstructMatch(wanted, useChirality=True))


def from_coordinates(mol: Chem.Mol) -> Chem.Mol:
    """A molecule with the stereo that its coordinates have."""
    built = Chem.Mol(mol)
    Chem.AssignStereochemistryFrom3D(built)
    return built


def _distances(heavy: Chem.Mol) -> tuple[bool, bool]:
    """Whether bonds and angles are right, and whether atoms farther apart do not clash."""
    bounds = rdDistGeom.GetMoleculeBoundsMatrix(
        heavy, set15bounds=True, scaleVDW=True, doTriangleSmoothing=True
    )
    apart = Chem.Get3DDistanceMatrix(heavy)
    steps = Chem.GetDistanceMatrix(heavy)
    one, two = np.triu_indices(len(apart), 1)
    high, low, found, far = bounds[one, two], bounds[two, one], apart[one, two], steps[one, two]
    near = far <= 2
    right = (found >= low * (1 - WIDER_BONDS)) & (found <= high * (1 + WIDER_BONDS))
    free = found >= low * (1 - WIDER_CLASH)
    return bool(right[near].all()), bool(free[~near].all())


def _flat(mol: Chem.Mol) -> bool:
    """Of double bonds the hydrogens count, too: without them only those with four heavy atoms."""
    xyz = mol.GetConformer().GetPositions()
    systems = [match for smarts in FLAT_SYSTEMS for match in matches(mol, smarts)]
    for system in systems:
        places = xyz[list(system)] - xyz[list(system)].mean(axis=0)
        normal = np.linalg.svd(places)[2][2]
        if np.abs(places @ normal).max() > FLAT:
            return False
    return True


def _contact(xyz: np.ndarray, element: np.ndarray, around: Surroundings) -> bool:
    places, kinds = around.groups.xyz, np.minimum(around.element, len(RADIUS) - 1)
    metal = np.zeros(len(places), bool)
    metal[around.groups.metals] = True
    apart = np.linalg.norm(xyz[:, None] - places, axis=2)
    sums = np.where(
        metal,
        COVALENT[element][:, None] + COVALENT[kinds],
        RADIUS[element][:, None] + RADIUS[kinds],
    )
    return bool((apart >= NEAREST * sums).all())


def overlap(xyz: np.ndarray, element: np.ndarray, around: Surroundings) -> float:
    """Share of a ligand's volume (atoms, 3) inside the receptor, of radii scaled by 0.8.

    Metals and waters are left out, as in PoseBusters.
    """
    mine = SHRUNK * RADIUS[element]
    reach = mine.max() + SHELL * STEPS[-1]
    low = xyz.min(axis=0) - reach
    size = np.ceil((xyz.max(axis=0) + reach - low) / GRID).astype(int) + 1
    chosen = ~around.water
    chosen[around.groups.metals] = False
    places = around.groups.xyz
    chosen &= ((places > low - 3) & (places < low + GRID * size + 3)).all(axis=1)
    theirs = SHRUNK * RADIUS[np.minimum(around.element[chosen], len(RADIUS) - 1)]
    ligand = _filled(xyz, mine, low, size)
    receptor = _filled(places[chosen], theirs, low, size)
    return float(np.minimum(ligand, receptor).sum() / max(1, ligand.sum()))


def _filled(xyz: np.ndarray, radius: np.ndarray, low: np.ndarray, size: np.ndarray) -> np.ndarray:
    """How often points low + GRID * (i, j, k) of a grid of some size count: i1."""
    found = np.zeros(size, "i1")
    for place, inside in zip(xyz, radius, strict=True):
        reach = inside + SHELL * STEPS[-1]
        first = np.clip(np.ceil((place - reach - low) / GRID), 0, size).astype(int)
        last = np.clip(np.floor((place + reach - low) / GRID) + 1, 0, size).astype(int)
        if (first < last).all():
            x, y, z = (
                (low[k] + GRID * np.arange(first[k], last[k]) - place[k]) ** 2 for k in range(3)
            )
            box = found[first[0] : last[0], first[1] : last[1], first[2] : last[2]]
            square = x[:, None, None] + y[:, None] + z
            counts = sum((square <= limit**2).view("i1") for limit in inside + SHELL * STEPS)
            np.maximum(box, counts, out=box)
    return found
