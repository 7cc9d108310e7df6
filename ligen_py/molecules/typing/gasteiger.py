"""Gasteiger charges (J. Gasteiger, M. Marsili, Tetrahedron 36 (1980) 3219-3228), as by RDKit.

Those of a batch of molecules are computed as arrays, in a fifth of RDKit's time: the same sums in
the same order, so that no bit differs. RDKit is asked where an atom has no parameters here.

Sulfoxides count as drawn with a double bond, as AutoDock's programs have them: their oxygen has
-0.26, where the charges of ChEMBL's drawing, S+ and O-, give -0.62.
"""

from collections import defaultdict

import numpy as np
from rdkit import Chem
from rdkit.Chem import rdPartialCharges

from ligen_py.molecules.arrays import Arrays
from ligen_py.molecules.graph import atoms_of, matches

Hybrid = Chem.HybridizationType
PROPERTY = "_GasteigerCharge"
SULFOXIDE = "[#16+;X3]-[OX1-]"

STEPS = 12
"""How often charge flows, each time damped by a further half."""
PROTON = 20.02
"""Electronegativity of the cation of hydrogen, eV."""

UNKNOWN, S, SP, SP2, SP3 = range(Hybrid.SP3 + 1)
PARAMETERS = {
    (1, UNKNOWN): (7.17, 6.24, -0.56),
    (1, S): (7.17, 6.24, -0.56),
    (6, SP3): (7.98, 9.18, 1.88),
    (6, SP2): (8.79, 9.32, 1.51),
    (6, SP): (10.39, 9.45, 0.73),
    (7, SP3): (11.54, 10.82, 1.36),
    (7, SP2): (12.87, 11.15, 0.85),
    (7, SP): (15.68, 11.7, -0.27),
    (8, SP3): (14.18, 12.92, 1.39),
    (8, SP2): (17.07, 13.79, 0.47),
    (9, SP3): (14.66, 13.85, 2.31),
    (15, SP3): (8.90, 8.24, 0.96),
    (16, SP3): (10.14, 9.13, 1.38),
    (16, SP2): (10.88, 9.49, 1.33),
    (17, SP3): (11.00, 9.69, 1.35),
    (35, SP3): (10.08, 8.47, 1.16),
    (53, SP3): (9.9, 7.96, 0.96),
}
"""Element and hybridisation -> a, b, c of the electronegativity a + b q + c q^2 at a charge q."""
_TABLE = np.full((256, 1 + max(Hybrid.values), 3), np.nan)
for _kind, _abc in PARAMETERS.items():
    _TABLE[_kind] = _abc


def gasteiger(mol: Chem.Mol) -> np.ndarray:
    """Gasteiger charges f8 (atoms,) by RDKit, which the atoms get as a property too.

    Where an atom has no parameters, all charges are the formal ones.
    """
    mol = _with_double_bonds(mol)
    rdPartialCharges.ComputeGasteigerCharges(mol, throwOnParamFailure=False)
    Chem.CreateAtomDoublePropertyList(mol, PROPERTY)  # one call, and no digit is lost
    charges = np.array([float(word) for word in mol.GetProp(f"atom.dprop.{PROPERTY}").split()])
    if np.isfinite(charges).all():
        return charges
    return np.array([atom.GetFormalCharge() for atom in atoms_of(mol)], "f8")


def _with_double_bonds(mol: Chem.Mol) -> Chem.Mol:
    """A molecule with its sulfoxides drawn as S=O; the same object where it has none."""
    pairs = matches(mol, SULFOXIDE)
    if not pairs:
        return mol
    changed = Chem.RWMol(mol)
    for pair in pairs:
        changed.GetBondBetweenAtoms(*pair).SetBondType(Chem.BondType.DOUBLE)
        for atom in pair:
            changed.GetAtomWithIdx(atom).SetFormalCharge(0)
    Chem.SanitizeMol(changed)
    return changed.GetMol()


def gasteiger_of(arrays: Arrays, order: np.ndarray) -> np.ndarray:
    """Those of some molecules, f8 (atoms,), with their atoms in another order.

    `order` is the old number of each new atom. It counts where two formal charges of one element
    stand at conjugated bonds.
    """
    hybrid, formal = arrays.atoms["hybridisation"], arrays.charge
    ends = np.concatenate([(arrays.near, arrays.far), (arrays.far, arrays.near)], axis=1)
    ions = np.take(arrays.element * formal, ends)
    sulfur, oxygen = ends[:, (ions[0] == 16) & (ions[1] == -8)]
    if len(oxygen):  # sulfoxides
        hybrid, formal = hybrid.copy(), formal.copy()
        hybrid[oxygen] = SP2
        formal[np.concatenate([sulfur, oxygen])] = 0
    kinds = _TABLE[arrays.element, hybrid]
    a, b, c = np.ascontiguousarray(kinds.T)
    cation = np.where(arrays.element == 1, PROTON, a + b + c)
    end = np.stack([arrays.near, arrays.far], axis=1).ravel()  # in the order of RDKit's sums
    other = np.stack([arrays.far, arrays.near], axis=1).ravel()
    takes = cation[other]
    gives = cation[end] - takes + takes  # rounded as RDKit rounds it
    charge = _spread(arrays, formal, order)
    damping = 1.0
    for _ in range(STEPS):
        damping /= 2
        energy = a + charge * (b + c * charge)
        along = energy[other] - energy[end]
        flow = along / np.where(along < 0, takes, gives)
        charge += damping * np.bincount(end, flow, len(charge))
    result = charge[order]
    unknown = np.isnan(a) | (arrays.atoms["hydrogens"] > 0)
    for molecule in np.unique(arrays.owner[unknown]).tolist():
        first, last = arrays.first[molecule : molecule + 2]
        own = (order[first:last] - first).tolist()
        result[first:last] = gasteiger(Chem.RenumberAtoms(arrays.lists[molecule].mol, own))
    return result


def _spread(arrays: Arrays, formal: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Formal charges, f8, each spread over the atoms of its element that it is conjugated with."""
    result = np.zeros(len(order))
    charged = order[formal[order] != 0].tolist()
    if not charged:
        return result
    has_charge = np.bincount(arrays.owner[charged], minlength=len(arrays.lists)) > 0
    bonds = np.flatnonzero(arrays.bonds["conjugated"] & has_charge[arrays.bond_owner])
    beside = defaultdict(list)
    for near, far in zip(arrays.near[bonds].tolist(), arrays.far[bonds].tolist(), strict=True):
        beside[near].append(far)
        beside[far].append(near)
    element = arrays.element
    for atom in charged:
        if not result[atom]:
            ends = [end for middle in beside[atom] for end in beside[middle] if end != atom]
            group = [atom, *(end for end in ends if element[end] == element[atom])]
            result[group] = formal[group].sum() / len(group)
    return result
