"""AutoDock4's view of molecules: atom types, united-atom charges, directions of hydrogen bonds.

Types as AutoDock's usual preparation, Meeko, gives them; charges are RDKit's Gasteiger charges (J.
Gasteiger, M. Marsili, Tetrahedron 36 (1980) 3219-3228).
"""

from dataclasses import fields

import numpy as np

from ligen_py.molecules.graph import Graph
from ligen_py.molecules.typing.input import LigandAtoms, ReceptorAtoms
from ligen_py.molecules.typing.vina import POLAR_HYDROGEN_ON, active_torsions
from ligen_py.records.functions.ad4 import Ad4Receptor, Ad4Type

TO_HYDROGEN, TO_HEAVY, IN_CARBONYL = 1.3, 1.9, 1.7
"""Angstrom; two atoms nearer than this are bonded: with a hydrogen, around an acceptor oxygen or
sulfur, around a nitrogen or a carbonyl's carbon."""

DONOR_BOND = 1.378
"""Angstrom; the longest bond of a donor's hydrogen, S-H included (its square is 1.9)."""

LONE_PAIR_ACCEPTORS = (Ad4Type.OA, Ad4Type.SA)

BY_ELEMENT = {
    8: Ad4Type.OA, 9: Ad4Type.F, 12: Ad4Type.MG, 14: Ad4Type.SI, 15: Ad4Type.P, 17: Ad4Type.CL,
    20: Ad4Type.CA, 25: Ad4Type.MN, 26: Ad4Type.FE, 30: Ad4Type.ZN, 35: Ad4Type.BR, 53: Ad4Type.I,
}  # fmt: skip

LIGAND_TYPE = np.zeros(256, "u1")
"""Type by atomic number, where neighbours say nothing else."""
LIGAND_TYPE[[6, 7, 16, *BY_ELEMENT]] = [Ad4Type.C, Ad4Type.N, Ad4Type.S, *BY_ELEMENT.values()]


def ligand_columns(atoms: LigandAtoms) -> dict[str, np.ndarray]:
    """The columns that `Ad4Ligands` adds to ligands."""
    types, charges = ligand_types(atoms.graph, atoms.partial)
    turning = atoms.owner[atoms.graph.bond[active_torsions(atoms.graph), 0]]
    return {"torsions": atoms.sums(turning), "type": types, "partial_charge": charges}


def receptor_columns(atoms: ReceptorAtoms) -> dict[str, np.ndarray]:
    """The columns of `Ad4Receptor`."""
    return {spec.name: getattr(atoms.charged, spec.name) for spec in fields(atoms.charged)}


def ligand_types(graph: Graph, partial: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Types u1 (atoms,) and charges f4 (atoms,) of molecules with explicit hydrogens.

    `partial` are the charges (atoms,) of `gasteiger`. Hydrogens on carbon are merged into it: they
    have type NONE and charge 0.
    """
    element = graph.element
    types = LIGAND_TYPE[element]
    polar = np.isin(element, list(POLAR_HYDROGEN_ON))
    types[(element == 1) & (graph.count(~polar) == 0)] = Ad4Type.HD
    types[(element == 6) & graph.aromatic] = Ad4Type.A
    types[(element == 7) & graph.accepts] = Ad4Type.NA
    types[(element == 16) & (graph.degree == 2) & ~graph.aromatic] = Ad4Type.SA
    charges = partial.copy()
    merged = np.flatnonzero((types == Ad4Type.NONE) & (element == 1))
    np.add.at(charges, graph.far[np.searchsorted(graph.near, merged)], charges[merged])
    charges[merged] = 0.0
    return types, charges.astype("f4")


def charged_receptor(xyz: np.ndarray, types: np.ndarray, charges: np.ndarray) -> Ad4Receptor:
    """A receptor of heavy atoms and polar hydrogens with the directions of its hydrogen bonds.

    As AutoGrid 4.2 finds them, from distances: a donor's along its bond; a nitrogen acceptor's away
    from the mean of its neighbours; an oxygen's or sulfur's between its lone pairs, whose plane is
    that of the carbonyl, or stands upright on that of two bonds.

    Args:
        xyz: (atoms, 3), Angstrom.
        types: `Ad4Type` (atoms,), none of them NONE.
        charges: (atoms,), e.
    """
    axis, normal = np.zeros((len(xyz), 3)), np.zeros((len(xyz), 3))
    exponent = np.zeros(len(xyz), "u1")
    for i, kind in enumerate(types.tolist()):
        distance = np.linalg.norm(xyz - xyz[i], axis=1)
        distance[i] = np.inf
        if kind == Ad4Type.HD:
            axis[i], exponent[i] = _donor(i, xyz, types, distance)
        elif kind == Ad4Type.NA:
            near = _bonded(types, distance, IN_CARBONYL)[:3]
            axis[i] = _unit(xyz[i] - xyz[near].mean(axis=0)) if len(near) else 0
        elif kind in LONE_PAIR_ACCEPTORS:
            axis[i], normal[i] = _lone_pairs(i, xyz, types, distance)
    return Ad4Receptor(
        xyz=xyz.astype("f4"),
        type=types.astype("u1"),
        partial_charge=charges.astype("f4"),
        axis=axis.astype("f4"),
        normal=normal.astype("f4"),
        exponent=exponent,
    )


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / max(float(np.linalg.norm(vector)), 1e-6)


def _bonded(types: np.ndarray, distance: np.ndarray, longest: float) -> np.ndarray:
    limit = np.where(types == Ad4Type.HD, TO_HYDROGEN, longest)
    return np.flatnonzero(distance < limit)


def _donor(
    i: int, xyz: np.ndarray, types: np.ndarray, distance: np.ndarray
) -> tuple[np.ndarray, int]:
    """Direction of a donor's bond, and the power of the angle to it."""
    near = np.flatnonzero(distance < DONOR_BOND)
    if not len(near):
        return np.zeros(3), 2
    parent = near[0]
    return _unit(xyz[i] - xyz[parent]), 4 if types[parent] in LONE_PAIR_ACCEPTORS else 2


def _lone_pairs(
    i: int, xyz: np.ndarray, types: np.ndarray, distance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Direction between an acceptor's lone pairs, and the normal of their plane."""
    near = _bonded(types, distance, TO_HEAVY)[:2]
    if not len(near):
        return np.zeros(3), np.zeros(3)
    first = near[0]
    if len(near) == 2:
        normal = _unit(xyz[near[1]] - xyz[first])
        along = xyz[i] - xyz[first]
        return _unit(along - (along @ normal) * normal), normal
    axis = _unit(xyz[i] - xyz[first])
    around = np.linalg.norm(xyz - xyz[first], axis=1)
    around[[i, first]] = np.inf
    beyond = _bonded(types, around, IN_CARBONYL)
    if not len(beyond):
        return axis, np.zeros(3)
    return axis, _unit(np.cross(axis, xyz[beyond[-1]] - xyz[first]))
