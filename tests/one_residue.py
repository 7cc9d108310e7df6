"""Receptors of one residue, by hand."""

import numpy as np

from ligen_py.molecules.receptor.charges import charge
from ligen_py.molecules.receptor.heavy import Heavy
from ligen_py.records.functions.xscore import Interaction

ROLES = {"N": Interaction.DONOR, "O": Interaction.ACCEPTOR, "C": Interaction.POLAR}

IMIDAZOLE = {
    "CG": [0.0, 1.15, 0], "ND1": [-1.09, 0.36, 0], "CE1": [-0.68, -0.93, 0],
    "NE2": [0.68, -0.93, 0], "CD2": [1.09, 0.36, 0],
}  # fmt: skip

RING = [("CG", "ND1"), ("ND1", "CE1"), ("CE1", "NE2"), ("NE2", "CD2"), ("CD2", "CG")]

AMINO_ACID = {
    "N": [0.0, 0, 0], "CA": [1.46, 0, 0], "C": [2.0, 1.4, 0], "O": [1.2, 2.35, 0],
    "CB": [2.0, -0.75, 1.2],
}  # fmt: skip

BONDS = [("N", "CA"), ("CA", "C"), ("C", "O"), ("CA", "CB")]

AT_NITROGEN = [[-0.33, -0.95, 0], [-0.33, 0.48, 0.82], [-0.33, 0.48, -0.82]]


def heavy(atoms: dict[str, list[float]], residue: str, bonds: list[tuple[str, str]]) -> Heavy:
    """One residue of named atoms."""
    names = list(atoms)
    bonded: list[list[int]] = [[] for _ in names]
    for one, two in bonds:
        bonded[names.index(one)].append(names.index(two))
        bonded[names.index(two)].append(names.index(one))
    symbols = ["ZN" if name == "ZN" else name[0] for name in names]
    return Heavy(
        xyz=np.array(list(atoms.values()), float),
        symbol=symbols,
        name=names,
        residue=np.zeros(len(names), int),
        residue_name=[residue] * len(names),
        role=[ROLES.get(symbol, Interaction.POLAR) for symbol in symbols],
        bonded=bonded,
    )


def total(heavy_atoms: Heavy, hydrogens: list[list[float]], **options: set[int]) -> float:
    """The charge of a residue whose hydrogens are these."""
    given = np.array(hydrogens, float).reshape(-1, 3)
    return float(charge(heavy_atoms, given, **options).receptor.partial_charge.sum())
