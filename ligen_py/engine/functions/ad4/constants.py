"""AutoDock4's free-energy function: its constants and tables, once for host and kernels.

Sources: R. Huey, G. M. Morris, A. J. Olson, D. S. Goodsell, J. Comput. Chem. 28 (2007) 1145-1152;
parameters of AutoDock 4.2 ("bound" model); directional hydrogen bonds as AutoGrid 4.2 sums them
(after D. N. A. Boobbyer, P. J. Goodford et al., J. Med. Chem. 32 (1989) 1083-1094).
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from ligen_py.engine.internal_pairs import internal_pairs
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Receptor, Ad4Type

TYPES = len(Ad4Type)
CUTOFF = 8.0
"""Angstrom; van der Waals, hydrogen bonds and the receptor's desolvation end here."""
SMOOTHING = 0.25
"""Angstrom; a pair has the lowest energy within this distance of its own."""
CLAMP = 100_000.0
"""kcal/mol; no pair is worse than this."""
NEAREST_CHARGE = 0.5
"""Angstrom; charges nearer than this count as this far apart."""
FARTHEST = 20.48
"""Angstrom; charges and desolvation within a ligand end here."""

WEIGHTS = {
    "VDW": 0.1662, "HBOND": 0.1209, "ESTAT": 0.1406, "DESOLV": 0.1322, "TORSION": 0.2983,
}  # fmt: skip
COULOMB = 332.06363
"""kcal/mol Angstrom / e^2."""
SOLVATION_WIDTH = 3.6
"""Angstrom."""
CHARGE_SOLVATION = 0.01097
"""Solvation parameter per unit of absolute charge."""
DIELECTRIC = {"A": -8.5525, "B": 78.4 + 8.5525, "K": 7.7839, "LAMBDA": 0.003627}
"""eps(r) = A + B / (1 + K exp(-LAMBDA B r)); Mehler, Solmajer, Protein Eng. 4 (1991) 903-910."""

DONOR, NITROGEN_ACCEPTOR, ACCEPTOR = 1, 2, 3

TERMS = ("vdw", "hbond", "estat", "desolv", "intra", "torsional", "affinity", "total")
"""Columns, as the kernel writes them, kcal/mol, weighted. The first four are sums over the atoms of
the ligand in the receptor, `intra` is the sum over pairs within the ligand, `torsional` the loss of
freedom of the active torsions. `affinity`, more negative is better, is the first four and
`torsional`: the unbound ligand is taken to be as the bound one, so `intra` cancels. `total`,
larger is better, is -affinity."""


class Parameters(NamedTuple):
    """What AutoDock4 knows of one type."""

    distance: float
    """Sum of two like radii, Angstrom."""
    depth: float
    """Of the well, kcal/mol."""
    volume: float
    """Cubic Angstrom."""
    solvation: float
    bond_distance: float = 0.0
    """Of an acceptor from the hydrogen, Angstrom."""
    bond_depth: float = 0.0
    bond_kind: int = 0
    """DONOR, one of the acceptors, or 0."""


PARAMETERS = {
    Ad4Type.NONE: Parameters(0.0, 0.0, 0.0, 0.0),
    Ad4Type.HD: Parameters(2.00, 0.020, 0.0, 0.00051, 0.0, 0.0, DONOR),
    Ad4Type.C: Parameters(4.00, 0.150, 33.5103, -0.00143),
    Ad4Type.A: Parameters(4.00, 0.150, 33.5103, -0.00052),
    Ad4Type.N: Parameters(3.50, 0.160, 22.4493, -0.00162),
    Ad4Type.NA: Parameters(3.50, 0.160, 22.4493, -0.00162, 1.9, 5.0, NITROGEN_ACCEPTOR),
    Ad4Type.OA: Parameters(3.20, 0.200, 17.1573, -0.00251, 1.9, 5.0, ACCEPTOR),
    Ad4Type.S: Parameters(4.00, 0.200, 33.5103, -0.00214),
    Ad4Type.SA: Parameters(4.00, 0.200, 33.5103, -0.00214, 2.5, 1.0, ACCEPTOR),
    Ad4Type.P: Parameters(4.20, 0.200, 38.7924, -0.00110),
    Ad4Type.F: Parameters(3.09, 0.080, 15.4480, -0.00110),
    Ad4Type.CL: Parameters(4.09, 0.276, 35.8235, -0.00110),
    Ad4Type.BR: Parameters(4.33, 0.389, 42.5661, -0.00110),
    Ad4Type.I: Parameters(4.72, 0.550, 55.0585, -0.00110),
    Ad4Type.SI: Parameters(4.60, 0.200, 50.9650, -0.00143),
    Ad4Type.MG: Parameters(1.30, 0.875, 1.5600, -0.00110),
    Ad4Type.CA: Parameters(1.98, 0.550, 2.7700, -0.00110),
    Ad4Type.MN: Parameters(1.30, 0.875, 2.1400, -0.00110),
    Ad4Type.FE: Parameters(1.30, 0.010, 1.8400, -0.00110),
    Ad4Type.ZN: Parameters(1.48, 0.550, 1.7000, -0.00110),
}
"""Of AutoDock 4.2; silicon, which it lacks, as in AutoDock Vina 1.2."""


@cache
def pair_table() -> np.ndarray:
    """What a pair of types is: float32 (TYPES, TYPES, 4), symmetric, not to be changed.

    Components: A and B of A / r^12 - B / r^n, weighted (kcal/mol); distance of the minimum
    (Angstrom); n, 10 for donor and acceptor, else 6, or 0 where a type is NONE.
    """
    table = np.zeros((TYPES, TYPES, 4))
    for one, first in PARAMETERS.items():
        for two, second in PARAMETERS.items():
            if Ad4Type.NONE in (one, two):
                continue
            donors = (first.bond_kind == DONOR) + (second.bond_kind == DONOR)
            bond_distance = max(first.bond_distance, second.bond_distance)
            if donors == 1 and bond_distance > 0:
                depth = WEIGHTS["HBOND"] * max(first.bond_depth, second.bond_depth)
                distance, power = bond_distance, 10
            else:
                depth = WEIGHTS["VDW"] * float(np.sqrt(first.depth * second.depth))
                distance, power = (first.distance + second.distance) / 2, 6
            scale = depth / (12 - power)
            table[one, two] = (
                scale * distance**12 * power,
                scale * distance**power * 12,
                distance,
                power,
            )
    result = table.astype(np.float32)
    result.setflags(write=False)  # the next caller gets the same array
    return result


@cache
def type_table() -> np.ndarray:
    """Solvation parameter, volume (A^3) and hydrogen-bond kind by type: float32 (TYPES, 4)."""
    rows = [(row.solvation, row.volume, row.bond_kind, 0) for row in PARAMETERS.values()]
    result = np.array(rows, np.float32)
    result.setflags(write=False)
    return result


def definitions() -> dict[str, str]:
    """The constants as -D macros for kernels/include/ad4.clh."""
    values = {
        "AD4_CUTOFF": CUTOFF,
        "AD4_SMOOTHING": SMOOTHING,
        "AD4_CLAMP": CLAMP,
        "AD4_NEAREST_CHARGE": NEAREST_CHARGE,
        "AD4_FARTHEST": FARTHEST,
        "AD4_COULOMB": COULOMB * WEIGHTS["ESTAT"],
        "AD4_DESOLV": WEIGHTS["DESOLV"],
        "AD4_TORSION": WEIGHTS["TORSION"],
        "AD4_SOLVATION_WIDTH": SOLVATION_WIDTH,
        "AD4_CHARGE_SOLVATION": CHARGE_SOLVATION,
        **{f"AD4_DIELECTRIC_{name}": value for name, value in DIELECTRIC.items()},
    }
    floats = {name: f"{float(value)!r}f" for name, value in values.items()}
    return floats | {"AD4_TYPES": str(TYPES)}


def ad4_pairs(ligands: Ad4Ligands, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of atoms that AutoDock's internal energy counts, as `internal_pairs` gives them."""
    return internal_pairs(ligands, first, last, has_type(ligands, first, last))


def has_type(ligands: Ad4Ligands, first: int, last: int) -> np.ndarray:
    """Which atoms of ligands first <= ligand < last have a type: bool (atoms,)."""
    atoms = slice(ligands.first_atom[first], ligands.first_atom[last])
    chosen: np.ndarray = ligands.type[atoms] != Ad4Type.NONE
    return chosen


def receptor_arrays(receptor: Ad4Receptor) -> tuple[int, list[np.ndarray]]:
    """A receptor as kernels read it, donors first: their number, and arrays float32 (atoms, 4).

    These are: position and charge; axis and type; normal and the power of a donor's angle.
    """
    donor = receptor.type == Ad4Type.HD
    order = np.argsort(~donor, kind="stable")
    columns = (
        (receptor.xyz, receptor.partial_charge),
        (receptor.axis, receptor.type),
        (receptor.normal, receptor.exponent),
    )
    arrays = [np.column_stack(pair)[order].astype(np.float32) for pair in columns]
    return int(np.count_nonzero(donor)), arrays
