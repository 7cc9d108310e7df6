"""Vina's form and its numbers, once for host and kernels; Vinardo has the form with others.

Sources: O. Trott, A. J. Olson, J. Comput. Chem. 31 (2010) 455-461; J. Eberhardt et al., J. Chem.
Inf. Model. 61 (2021) 3891-3898 (AutoDock Vina 1.2).
"""

from dataclasses import dataclass, fields

import numpy as np

from ligen_py.engine.internal_pairs import internal_pairs
from ligen_py.records.functions.vina import VinaLigands, VinaType

TYPES = len(VinaType)
"""Size of every per-type table; type 0 (NONE: hydrogens) takes no part in any term."""

CUTOFF = 8.0
"""Pairs at this distance (Angstrom) or farther do not interact."""

CAP = 1000.0
"""A ligand atom's energy e > 0 in the receptor counts e * CAP / (CAP + e), as in Vina; likewise the
energy of a pair within the ligand."""

TERMS = (
    "gauss1", "gauss2", "repulsion", "hydrophobic", "hbond", "intra", "rotors", "affinity", "total",
)  # fmt: skip
"""Columns, as the kernel writes them. The first five are sums over ligand-receptor pairs, `intra`
that of pairs within the ligand, all weighted, kcal/mol. `rotors` is N_rot; `affinity` is Vina's
kcal/mol, more negative is better: the five, capped, over 1 + rotor_weight * N_rot. `total`,
larger is better, is -affinity. `intra` is in no total, as in Vina's score of a single pose."""

HYDROPHOBIC = frozenset((VinaType.C_H, VinaType.F_H, VinaType.CL_H, VinaType.BR_H, VinaType.I_H))
DONORS = frozenset((VinaType.N_D, VinaType.N_DA, VinaType.O_D, VinaType.O_DA, VinaType.MET_D))
ACCEPTORS = frozenset((VinaType.N_A, VinaType.N_DA, VinaType.O_A, VinaType.O_DA))


@dataclass(frozen=True)
class Weights:
    """Numbers of one functional form: kcal/mol and Angstrom, of the surface distance s = r - R_ij.

    gauss1_weight exp(-(s / gauss1_width)^2) + gauss2_weight exp(-((s - gauss2_offset) /
    gauss2_width)^2) + repulsion_weight s^2 [s < 0] + hydrophobic_weight ramp(s) + hbond_weight
    ramp(s); a ramp is 1 up to `good`, 0 from `bad`, linear between. The sum over pairs is divided
    by 1 + rotor_weight * N_rot.
    """

    gauss1_weight: float
    gauss1_width: float
    gauss2_weight: float
    gauss2_offset: float
    gauss2_width: float
    repulsion_weight: float
    hydrophobic_weight: float
    hydrophobic_good: float
    hydrophobic_bad: float
    hbond_weight: float
    hbond_good: float
    hbond_bad: float
    rotor_weight: float

    def definitions(self) -> dict[str, str]:
        """The weights as -D macros for kernels/include/vina.clh, named VINA_GAUSS1_WEIGHT etc."""
        macros = {f"VINA_{item.name.upper()}": getattr(self, item.name) for item in fields(self)}
        macros |= {"VINA_CUTOFF": CUTOFF, "VINA_CAP": CAP}
        return {name: f"{float(value)!r}f" for name, value in macros.items()} | {
            "VINA_TYPES": str(TYPES)
        }


@dataclass(frozen=True)
class Form:
    """A functional form: weights, and the radius (Angstrom) of every type, float64 (TYPES,)."""

    weights: Weights
    radii: np.ndarray

    def pair_table(self) -> np.ndarray:
        """What a pair of types is: float32 (TYPES, TYPES, 4), symmetric, for `vina.clh`.

        Components: R_i + R_j in Angstrom; 1 where both are hydrophobic, else 0; 1 where one gives
        and the other takes a hydrogen bond, else 0; 1 where the pair interacts at all, else 0 (a
        type is NONE; the others are 0 then as well).
        """
        real = np.arange(TYPES) != VinaType.NONE
        fat, gives, takes = (
            np.isin(np.arange(TYPES), list(kinds)) for kinds in (HYDROPHOBIC, DONORS, ACCEPTORS)
        )
        both = np.outer(real, real)
        bonds = np.outer(gives, takes)
        contact = np.where(both, self.radii[:, None] + self.radii, 0)
        table = [contact, np.outer(fat, fat), bonds | bonds.T, both]
        return np.stack(table, axis=-1).astype(np.float32)


def element_radii(**elements: float) -> np.ndarray:
    """Radius of every type from that of its element (the first part of its name)."""
    radii = [elements.get(kind.name.split("_")[0], 0.0) for kind in VinaType]
    return np.array(radii)


VINA = Form(
    Weights(
        gauss1_weight=-0.035579, gauss1_width=0.5,
        gauss2_weight=-0.005156, gauss2_offset=3.0, gauss2_width=2.0,
        repulsion_weight=0.840245,
        hydrophobic_weight=-0.035069, hydrophobic_good=0.5, hydrophobic_bad=1.5,
        hbond_weight=-0.587439, hbond_good=-0.7, hbond_bad=0.0,
        rotor_weight=0.05846,
    ),
    element_radii(C=1.9, N=1.8, O=1.7, S=2.0, P=2.1, F=1.5, CL=1.8, BR=2.0, I=2.2, SI=2.2, AT=2.3,
           MET=1.2),
)  # fmt: skip
"""AutoDock Vina 1.2."""


def vina_pairs(ligands: VinaLigands, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of heavy atoms that Vina's internal energy counts, as `internal_pairs` gives them."""
    return internal_pairs(ligands, first, last, has_pairs(ligands, first, last))


def has_pairs(ligands: VinaLigands, first: int, last: int) -> np.ndarray:
    """Which atoms of ligands first <= ligand < last have such pairs: bool (atoms,)."""
    atoms = slice(ligands.first_atom[first], ligands.first_atom[last])
    chosen: np.ndarray = ligands.type[atoms] != VinaType.NONE
    return chosen
