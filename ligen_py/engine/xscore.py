"""X-Score: its coefficients, once for host and kernel, and its scores of poses on a device.

Source: R. Wang, L. Lai, S. Wang, J. Comput.-Aided Mol. Des. 16 (2002) 11-26; version 1.3. X-Score
is the mean of three functions that tell the hydrophobic effect in three ways. HPScore and HMScore
are here. HSScore is left out: it adds up the buried surface of hydrophobic ligand atoms dot by dot,
each dot compared with the atoms around it, which is costly.
"""

from dataclasses import dataclass, fields

import numpy as np

from ligen_py.engine.pose_kernel import PoseBatch, PoseKernel
from ligen_py.errors import InputError
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.records import Interaction, Ligands, Poses, Receptor

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
        """The coefficients as -D macros for kernels/batched/score.cl: HPSCORE_VDW etc."""
        return {
            f"{name}_{item.name.upper()}": f"{getattr(self, item.name)!r}f" for item in fields(self)
        }


HPSCORE = Coefficients(constant=3.441, vdw=0.004, hb=0.054, hydrophobic=0.009, rt=-0.061)
HMSCORE = Coefficients(constant=3.567, vdw=0.004, hb=0.101, hydrophobic=0.387, rt=-0.097)

PKD_ENERGY = 1.364
"""Free energy of one unit of pKd at 298 K, kcal/mol: RT ln 10."""

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


LIGAND = np.dtype(
    [
        (name, np.int32)
        for name in (
            "first_atom",
            "atoms",
            "first_torsion",
            "torsions",
            "first_heavy",
            "heavy",
            "first_polar",
            "polar",
        )
    ]
)
"""One ligand of a batch, as `ligand_t` in score.cl."""

NEIGHBOURS = 3
"""Most heavy neighbours of a polar atom: no donor or acceptor of X-Score has more."""


@dataclass(frozen=True)
class Batch:
    """Consecutive ligands as the kernel reads them."""

    ligands: np.ndarray
    """LIGAND (ligands,)."""
    atoms: np.ndarray
    """float32 (atoms, 4): conformer; radius, negative for hydrophobic atoms, 0 for hydrogens."""
    heavy: np.ndarray
    """int16 (heavy atoms,): numbers local to the ligand."""
    logp: np.ndarray
    """float32 (heavy atoms,)."""
    polar: np.ndarray
    """int16 (polar atoms, 8): atom, donor, acceptor, most bonds given and taken, 3 neighbours."""

    @classmethod
    def of(cls, ligands: Ligands, first: int, last: int) -> "Batch":
        """Pack ligands first <= ligand < last."""
        rows = slice(ligands.first_atom[first], ligands.first_atom[last])
        first_atom = ligands.first_atom[first : last + 1] - rows.start
        first_torsion = ligands.first_torsion[first : last + 1] - ligands.first_torsion[first]
        owner = np.repeat(np.arange(last - first), np.diff(first_atom))
        radius = ligands.radius[rows]
        bonds = (ligands.donor[rows] > 0) | (ligands.acceptor[rows] > 0)
        heavy, polar = np.flatnonzero(radius > 0), np.flatnonzero((radius > 0) & bonds)
        table = np.zeros(last - first, LIGAND)
        table["first_atom"], table["atoms"] = first_atom[:-1], np.diff(first_atom)
        table["first_torsion"], table["torsions"] = first_torsion[:-1], np.diff(first_torsion)
        table["first_heavy"], table["heavy"] = _runs(owner[heavy], last - first)
        table["first_polar"], table["polar"] = _runs(owner[polar], last - first)
        atoms = np.column_stack([ligands.xyz[rows], signed_radii(ligands, rows)])
        local = np.arange(len(owner)) - first_atom[owner]
        return cls(
            ligands=table,
            atoms=atoms.astype(np.float32),
            heavy=local[heavy].astype(np.int16),
            logp=ligands.logp[rows][heavy],
            polar=_polar_rows(ligands, first, last, polar, local),
        )


def _runs(owner: np.ndarray, owners: int) -> tuple[np.ndarray, np.ndarray]:
    """First index and length of each owner's run in a sorted array of owners."""
    count = np.bincount(owner, minlength=owners)
    return np.cumsum(count) - count, count


def _polar_rows(
    ligands: Ligands, first: int, last: int, polar: np.ndarray, local: np.ndarray
) -> np.ndarray:
    """Rows of `Batch.polar`; `polar` numbers the batch's atoms, `local` those of each ligand."""
    rows = np.full((len(polar), 8), -1, np.int16)
    everyone = ligands.first_atom[first] + polar
    donor, acceptor = ligands.donor[everyone], ligands.acceptor[everyone]
    rows[:, 0], rows[:, 1], rows[:, 2] = local[polar], donor, acceptor
    gives = np.maximum(1, ligands.hydrogens[everyone])
    rows[:, 3] = np.where((donor > 0) & (acceptor > 0), 1, gives)
    rows[:, 4] = np.where(ligands.element[everyone] == 7, 1, 2)
    atom, other = _heavy_neighbours(ligands, first, last)
    wanted = np.isin(atom, polar)
    rank = (np.arange(len(atom)) - np.searchsorted(atom, atom))[wanted]
    if (rank >= NEIGHBOURS).any():
        raise InputError(f"a donor or acceptor has more than {NEIGHBOURS} heavy neighbours")
    rows[np.searchsorted(polar, atom[wanted]), 5 + rank] = local[other[wanted]]
    return rows


def _heavy_neighbours(ligands: Ligands, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Every atom of a batch with every heavy neighbour, sorted by both (numbers in the batch)."""
    bonds = slice(ligands.first_bond[first], ligands.first_bond[last])
    per_ligand = np.diff(ligands.first_bond[first : last + 1])
    start = np.repeat(ligands.first_atom[first:last] - ligands.first_atom[first], per_ligand)
    one_way = ligands.bond[bonds].astype(np.int64) + start[:, None]
    atom, other = np.concatenate([one_way, one_way[:, ::-1]]).T
    heavy = ligands.element[ligands.first_atom[first] + other] > 1
    atom, other = atom[heavy], other[heavy]
    order = np.lexsort((other, atom))
    return atom[order], other[order]


def signed_radii(atoms: Ligands | Receptor, rows: slice | np.ndarray = np.s_[:]) -> np.ndarray:
    """Radii of some atoms, Angstrom, float32: negative for hydrophobic, 0 for unscored ones."""
    radius, fat = atoms.radius[rows], atoms.interaction[rows] == Interaction.HYDROPHOBIC
    return np.where(fat, -radius, radius)


class XScore:
    """X-Score (Wang, Lai, Wang 2002; v1.3) of poses in one receptor, on one device."""

    terms = TERMS

    def __init__(self, device: Device, receptor: Receptor, near_sites: int = 24) -> None:
        """Upload the receptor. `near_sites` sizes the kernel's list of candidates, no more."""
        scored = receptor.radius > 0
        atoms = np.column_stack([receptor.xyz, signed_radii(receptor)])[scored]
        polar = scored & ((receptor.donor > 0) | (receptor.acceptor > 0))
        rooted = (receptor.rooted > 0) & (receptor.interaction != Interaction.METAL)
        code = receptor.donor + 4 * receptor.acceptor.astype(np.int32) + 16 * rooted
        positions = np.column_stack([receptor.xyz[polar], receptor.radius[polar]])
        roots = np.column_stack([receptor.root[polar], code[polar]])
        logp = receptor.logp[scored]
        arrays = [array.astype(np.float32) for array in (atoms, logp, positions, roots)]
        self._receptor = (
            np.int32(len(atoms)),
            np.int32(len(positions)),
            *(buffers.upload(device, array) for array in arrays),
        )
        definitions = {
            "NEAR_SITES": near_sites,
            **HPSCORE.definitions("HPSCORE"),
            **HMSCORE.definitions("HMSCORE"),
        }
        self._kernel = PoseKernel(device, "batched/score.cl", "xscore", definitions, len(TERMS))

    def score(self, ligands: Ligands, poses: Poses, first: int, last: int) -> np.ndarray:
        """All poses of ligands first <= ligand < last: float32 (terms, poses).

        NaN where a pose's coordinates are not finite.
        """
        batch = Batch.of(ligands, first, last)
        return self._kernel.run(
            PoseBatch.of(ligands, poses, first, last),
            batch.ligands["atoms"],
            self._receptor,
            (batch.ligands, ligands.rotors[first:last], batch.atoms),
            (batch.heavy, batch.logp, batch.polar),
        )
