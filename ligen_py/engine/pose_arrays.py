"""Poses as flat arrays for kernels that rebuild coordinates from genotypes (filter, score)."""

from dataclasses import dataclass

import numpy as np

from ligen_py.engine.geometry import BLOCK, inverse_bond_lengths, rebuild
from ligen_py.records.ligands import Ligands
from ligen_py.records.poses import Poses


def ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """start, start + 1, ... of each range, one after another."""
    before = np.cumsum(counts) - counts
    return np.arange(counts.sum()) + np.repeat(starts - before, counts)


def gathered(values: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The values of each range, one range after another: `values[ranges(starts, counts)]`."""
    ends = np.cumsum(counts)
    shifts, found = starts - (ends - counts), np.empty(counts.sum(), values.dtype)
    begin = 0
    for first in range(0, len(starts), BLOCK):
        some = slice(first, first + BLOCK)
        end = int(ends[some][-1])
        places = np.repeat(shifts[some], counts[some])
        places += np.arange(begin, end)
        values.take(places, out=found[begin:end], mode="clip")  # "raise" would copy once more
        begin = end
    return found


def joined_slices(values: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """`values[first:last]` of each, one after another; for slices that are long."""
    slices = [values[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)]
    return np.concatenate([values[:0], *slices])


def kernel_torsions(axis: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Rows (torsions, 8) of `torsion_t` in geometry.clh: axis, ranges of the far side, padding."""
    return np.pad(np.concatenate([axis, limits], axis=1).astype(np.int16), ((0, 0), (0, 2)))


def places(ligands: Ligands, poses: Poses, number: int, rows: slice | None = None) -> np.ndarray:
    """Coordinates (poses, atoms, 3) of all poses of a ligand or of some; Angstrom, float32."""
    atoms = slice(*ligands.first_atom[number : number + 2])
    torsions = slice(*ligands.first_torsion[number : number + 2])
    rows = rows or slice(*poses.first_pose[number : number + 2])
    turns = slice(*poses.first_torsion[[rows.start, rows.stop]])
    return rebuild(
        ligands.xyz[atoms],
        ligands.torsion_axis[torsions],
        ligands.torsion_range[torsions],
        poses.torsion[turns].reshape(rows.stop - rows.start, -1),
        poses.quaternion[rows],
        poses.translation[rows],
    )


def take(poses: Poses, rows: np.ndarray, counts: np.ndarray) -> Poses:
    """The chosen rows (in that order) as a new record with `counts` poses per ligand."""
    torsions = np.diff(poses.first_torsion)[rows]
    return Poses(
        first_pose=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        first_torsion=np.concatenate([[0], np.cumsum(torsions)]).astype(np.int64),
        restart=poses.restart[rows],
        translation=poses.translation.take(
            rows, axis=0
        ),  # rows of several values: `take` is faster
        quaternion=poses.quaternion.take(rows, axis=0),
        torsion=gathered(poses.torsion, poses.first_torsion[rows], torsions),
        score=poses.score[rows],
        internal_bumps=poses.internal_bumps[rows],
        pocket_bumps=poses.pocket_bumps[rows],
        outside=poses.outside[rows],
    )


@dataclass(frozen=True)
class Genotypes:
    """The poses of some consecutive ligands, as a kernel reads them: views."""

    degrees: np.ndarray
    """Of every torsion of every pose."""
    quaternions: np.ndarray
    translations: np.ndarray
    """Angstrom."""

    @classmethod
    def of(cls, poses: Poses, first: int, last: int) -> "Genotypes":
        """Genotypes of ligands first <= ligand < last."""
        rows = slice(poses.first_pose[first], poses.first_pose[last])
        turns = slice(poses.first_torsion[rows.start], poses.first_torsion[rows.stop])
        return cls(
            degrees=poses.torsion[turns],
            quaternions=poses.quaternion[rows],
            translations=poses.translation[rows],
        )


@dataclass(frozen=True)
class Conformers:
    """Start conformers and torsions of some consecutive ligands, as kernels read them."""

    atoms: np.ndarray
    torsions: np.ndarray
    inverse_lengths: np.ndarray

    @classmethod
    def of(cls, ligands: Ligands, first: int, last: int) -> "Conformers":
        """Conformers of ligands first <= ligand < last, in Angstrom."""
        rows = slice(ligands.first_atom[first], ligands.first_atom[last])
        torsions = slice(ligands.first_torsion[first], ligands.first_torsion[last])
        owner = np.repeat(np.arange(first, last), np.diff(ligands.first_torsion[first : last + 1]))
        start = ligands.first_atom[owner] - rows.start
        axis, limits = ligands.torsion_axis[torsions], ligands.torsion_range[torsions]
        return cls._with(ligands.xyz[rows], axis, limits, start)

    @classmethod
    def of_heavy(cls, ligands: Ligands, rows: np.ndarray) -> "Conformers":
        """Heavy atoms of the ligands `rows`, in Angstrom."""
        atoms, turns = ligands.heavy[rows].astype(np.int64), np.diff(ligands.first_torsion)[rows]
        xyz = ligands.xyz[ranges(ligands.first_atom[rows], atoms)]
        torsions = ranges(ligands.first_torsion[rows], turns)
        limits = ligands.torsion_range[torsions] * np.array([1, 1, 0, 0], np.int16)
        start = np.repeat(np.cumsum(atoms) - atoms, turns)
        return cls._with(xyz, ligands.torsion_axis[torsions], limits, start)

    @classmethod
    def _with(
        cls, xyz: np.ndarray, axis: np.ndarray, limits: np.ndarray, start: np.ndarray
    ) -> "Conformers":
        """`start` (torsions,): the first atom of each one's ligand."""
        atoms = np.zeros((len(xyz), 4), np.float32)
        atoms[:, :3] = xyz
        return cls(
            atoms=atoms,
            torsions=kernel_torsions(axis, limits),
            inverse_lengths=inverse_bond_lengths(xyz, axis + start[:, None]),
        )
