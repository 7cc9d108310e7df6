"""Which refined poses of a ligand are kept, chosen on the device that has them.

Most poses of a ligand are not kept, so they stay there (kernels/batched/keep.cl and filter.cl).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ligen_py.engine.filtering.batched import STRUCTS, Call, Posed, Selection
from ligen_py.engine.refinement.found import Found
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import build
from ligen_py.records.kept import Verdict
from ligen_py.records.ligands import Ligands
from ligen_py.settings.refine import RefineSettings

KEEP = "batched/keep.cl"

GROUP = 64
"""Work-items of a work-group of its kernels."""


@dataclass(frozen=True)
class Choice:
    """Kernels that choose the kept poses of a batch, and where these go."""

    calls: tuple[Call, ...]
    selection: Selection
    """What filter.cl chooses: of each pose that could be kept its number, verdict and cluster."""
    poses: tuple[Any, ...]
    """Buffers of `gather`: quaternions, translations, angles, energies of each."""
    ligands: np.ndarray
    room: np.ndarray
    """(ligands,): poses that could be kept."""
    torsions: np.ndarray
    """(ligands,)."""

    @classmethod
    def of(
        cls,
        device: Device,
        ligands: Ligands,
        rows: np.ndarray,
        counts: np.ndarray,
        refined: Sequence[Any],
        settings: RefineSettings,
    ) -> "Choice":
        """For the ligands `rows` and their `counts` (rows,) poses, which `refined` will have.

        These are buffers: quaternions, translations (Angstrom), torsions (radians), energies.
        """
        torsions = np.diff(ligands.first_torsion)[rows]
        room = np.minimum(counts, settings.max_num_poses)
        quaternions, translations, radians, energies = refined
        total, turns = int(counts.sum()), int((counts * torsions).sum())
        widths = _widths(torsions)
        scores = buffers.empty(device, total, np.int32)
        angles = buffers.empty(device, 2 * turns, np.float32)
        none = buffers.upload(device, np.zeros(0, np.uint8))
        unbumped = buffers.upload(device, np.zeros(total, np.uint8))
        posed = Posed(scores, unbumped, (np.int32(0), none, angles, quaternions, translations))
        limits = settings.max_num_poses, settings.cluster_rmsd
        selection = Selection.of(device, ligands, rows, counts, posed, *limits)
        poses = tuple(buffers.empty(device, selection.count * n, np.float32) for n in widths)
        most = np.int32(settings.max_num_poses), np.int32(widths[2])
        moved = (*most, selection.ligands, selection.chosen[0], *refined, *poses)
        several = (*_whole(int(room.max())), len(rows))
        keep = build(device, KEEP, structs=STRUCTS)
        calls = (
            (keep, "scores", _whole(total), (GROUP,), (np.int32(total), energies, scores)),
            (keep, "turns", _whole(turns), (GROUP,), (np.int32(turns), radians, angles)),
            *selection.calls,
            (keep, "gather", several, (GROUP, 1), moved),
        )
        return cls(calls, selection, poses, rows, room, torsions)

    def download(self, device: Device, after: Any) -> Found:
        """The kept poses, those of a ligand by energy, lowest first; after an event."""
        kept, widths = self.selection.count, _widths(self.torsions)
        number, verdict, cluster = self.selection.download(device, after)
        leads = verdict == Verdict.REPRESENTATIVE
        quaternion, translation, radians, energies = (
            buffers.download(device, buffer, (kept, width), np.float32, after)[leads]
            for buffer, width in zip(self.poses, widths, strict=True)
        )
        owner = np.repeat(np.arange(len(self.ligands)), self.room)[leads]
        return Found(
            self.ligands[owner],
            number[leads].astype(np.int64),
            cluster[leads].astype(np.int32),
            quaternion,
            translation,
            radians[np.arange(widths[2]) < self.torsions[owner, None]],
            energies,
            np.zeros((len(owner), 0), np.float32),
        )


def _widths(torsions: np.ndarray) -> tuple[int, int, int, int]:
    """Numbers of a pose in each buffer of `gather`, for ligands with so many torsions."""
    return 4, 3, int(torsions.max(initial=1)), 2


def _whole(count: int) -> tuple[int]:
    """Work-items for so many, in whole groups."""
    return (max(1, -(-count // GROUP)) * GROUP,)
