"""X-Score of poses on a device: receptor and ligands as flat arrays, and the kernel's launches."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ligen_py.engine.functions.xscore.constants import (
    CUTOFF,
    HMSCORE,
    HPSCORE,
    PKD_ENERGY,
    TERMS,
    signed_radii,
)
from ligen_py.engine.neighbours import neighbours
from ligen_py.engine.scoring.pose_kernel import PoseBatch, PoseKernel, ligand_table, runs
from ligen_py.errors import InputError
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.records.functions.xscore import Interaction, XScoreLigands, XScoreReceptor

NEIGHBOURS = 3
"""Most heavy neighbours of a polar atom: no donor or acceptor of X-Score has more."""


@dataclass(frozen=True)
class XScoreLaunch:
    """Consecutive ligands as the kernel reads them."""

    ligands: np.ndarray
    """Rows of the kernel's table (ligands,)."""
    atoms: np.ndarray
    """float32 (atoms, 4): conformer; radius, negative for hydrophobic atoms, 0 for hydrogens."""
    heavy: np.ndarray
    """int16 (heavy atoms,): numbers local to the ligand."""
    logp: np.ndarray
    """float32 (heavy atoms,)."""
    polar: np.ndarray
    """int16 (polar atoms, 8): atom, donor, acceptor, most bonds given and taken, 3 neighbours."""

    @classmethod
    def of(cls, ligands: XScoreLigands, first: int, last: int) -> "XScoreLaunch":
        """Pack ligands first <= ligand < last."""
        rows = slice(ligands.first_atom[first], ligands.first_atom[last])
        first_atom = ligands.first_atom[first : last + 1] - rows.start
        owner = np.repeat(np.arange(last - first), np.diff(first_atom))
        radius = ligands.radius[rows]
        bonds = (ligands.donor[rows] > 0) | (ligands.acceptor[rows] > 0)
        heavy, polar = np.flatnonzero(radius > 0), np.flatnonzero((radius > 0) & bonds)
        names = ("first_heavy", "heavy", "first_polar", "polar")
        table = ligand_table(ligands, first, last, *names)
        table["first_heavy"], table["heavy"] = runs(np.searchsorted(heavy, first_atom))
        table["first_polar"], table["polar"] = runs(np.searchsorted(polar, first_atom))
        atoms = np.column_stack([ligands.xyz[rows], signed_radii(ligands, rows)])
        local = np.arange(len(owner)) - first_atom[owner]
        return cls(
            ligands=table,
            atoms=atoms.astype(np.float32),
            heavy=local[heavy].astype(np.int16),
            logp=ligands.logp[rows][heavy],
            polar=_polar_rows(ligands, first, last, polar, local),
        )


def _polar_rows(
    ligands: XScoreLigands, first: int, last: int, polar: np.ndarray, local: np.ndarray
) -> np.ndarray:
    """Rows of `XScoreLaunch.polar`.

    `polar` numbers the atoms of all the ligands, `local` those of each.
    """
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


def _heavy_neighbours(
    ligands: XScoreLigands, first: int, last: int
) -> tuple[np.ndarray, np.ndarray]:
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


class XScore:
    """X-Score (Wang, Lai, Wang 2002; v1.3) of poses in one receptor, on one device."""

    terms = TERMS

    def __init__(self, device: Device, receptor: XScoreReceptor, near_sites: int = 24) -> None:
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
            *neighbours(device, atoms[:, :3], CUTOFF),
            np.int32(len(positions)),
            *(buffers.upload(device, array) for array in arrays),
        )
        definitions = {
            "NEAR_SITES": near_sites,
            **HPSCORE.definitions("HPSCORE"),
            **HMSCORE.definitions("HMSCORE"),
        }
        self._kernel = PoseKernel(device, "batched/xscore.cl", "xscore", definitions, len(TERMS))

    def score(self, ligands: XScoreLigands, batch: PoseBatch) -> np.ndarray:
        """All poses of a batch: float32 (terms, poses).

        NaN where a pose's coordinates are not finite.
        """
        launch = XScoreLaunch.of(ligands, batch.first, batch.last)
        return self._kernel.run(
            batch,
            launch.ligands["atoms"],
            self._receptor,
            (launch.ligands, ligands.rotors[batch.first : batch.last], launch.atoms),
            (launch.heavy, launch.logp, launch.polar),
        )


OWN = None
"""The term of the ligand's own energy that `pose_energy` includes."""


def pose_energy(terms: Mapping[str, np.ndarray]) -> np.ndarray:
    """The energy that compares poses of one ligand, kcal/mol (poses,): pKd as a free energy.

    Without X-Score's constant and rotors, which all poses of a ligand share: a molecule's score
    divides by size, so with a constant the smallest molecules would be the best.
    """
    constant, rt = (
        (getattr(HPSCORE, name) + getattr(HMSCORE, name)) / 2 for name in ("constant", "rt")
    )
    return -PKD_ENERGY * (terms["total"] - (constant + rt * terms["rt"]))


SCORER = XScore
