"""X-Score: its coefficients, once for host and kernels.

Source: R. Wang, L. Lai, S. Wang, J. Comput.-Aided Mol. Des. 16 (2002) 11-26; version 1.3. X-Score
is the mean of three functions that model the hydrophobic effect in three ways. HPScore and HMScore
are here. HSScore is left out: it adds up the buried surface of hydrophobic ligand atoms dot by dot,
each dot compared with the atoms around it, which is costly.
"""

from dataclasses import dataclass, fields

import numpy as np

from ligen_py.records.functions.xscore import Interaction, XScoreLigands, XScoreReceptor

TERMS = ("vdw", "hb", "hp", "hm", "rt", "hpscore", "hmscore", "total")
"""Columns, as the kernel writes them: van der Waals, hydrogen bonds, hydrophobic pairs, hydrophobic
match, rotors, unweighted; the predicted pKd of HPScore and HMScore, and `total`, their mean."""


@dataclass(frozen=True)
class Coefficients:
    """One function of X-Score: a constant, and what each term is multiplied by, to give a pKd."""

    constant: float
    vdw: float
    hb: float
    hydrophobic: float
    """Of HP in HPScore, of HM in HMScore."""
    rt: float

    def definitions(self, name: str) -> dict[str, str]:
        """The coefficients as -D macros for kernels/batched/xscore.cl: HPSCORE_VDW etc."""
        return {
            f"{name}_{item.name.upper()}": f"{getattr(self, item.name)!r}f" for item in fields(self)
        }


HPSCORE = Coefficients(constant=3.441, vdw=0.004, hb=0.054, hydrophobic=0.009, rt=-0.061)
HMSCORE = Coefficients(constant=3.567, vdw=0.004, hb=0.101, hydrophobic=0.387, rt=-0.097)

PKD_ENERGY = 1.364
"""Free energy of one unit of pKd at 298 K, kcal/mol: RT ln 10."""

CUTOFF = 8.0
"""Angstrom; contacts up to this distance count."""
FIELD_CUTOFF = 8.0
"""Angstrom; pairs at this distance or farther have no energy in the field."""
FIELD_NEAREST = 1.0
"""Angstrom; in the field atoms nearer than this repel as at this distance."""
FIELD_VDW, FIELD_HYDROPHOBIC = HPSCORE.vdw * PKD_ENERGY, -HPSCORE.hydrophobic * PKD_ENERGY
"""kcal/mol: the weights of HPScore's terms as free energies."""


def field_definitions() -> dict[str, str]:
    """The constants as -D macros for kernels/include/xscore_field.clh."""
    values = {
        "CUTOFF": FIELD_CUTOFF, "NEAREST": FIELD_NEAREST,
        "VDW_WEIGHT": FIELD_VDW, "HYDROPHOBIC_WEIGHT": FIELD_HYDROPHOBIC,
    }  # fmt: skip
    return {f"XSCORE_{name}": f"{value!r}f" for name, value in values.items()}


def signed_radii(
    atoms: XScoreLigands | XScoreReceptor, rows: slice | np.ndarray = np.s_[:]
) -> np.ndarray:
    """Radii of some atoms, Angstrom, float32: negative for hydrophobic, 0 for unscored ones."""
    radius, fat = atoms.radius[rows], atoms.interaction[rows] == Interaction.HYDROPHOBIC
    return np.where(fat, -radius, radius)
