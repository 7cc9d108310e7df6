"""Which refined poses of a ligand are kept, chosen on the device that has them.

Most poses of a ligand are not kept, so they stay there (kernels/batched/keep.cl and filter.cl).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ligen_py.engine.filtering.batched import BATCH_BYTES, LIGAND, PLACE_BYTES, program_of
from ligen_py.engine.pose_arrays import Conformers
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import Program, build
from ligen_py.records.kept import Verdict
from ligen_py.records.ligands import Ligands
from ligen_py.settings.refine import RefineSettings

KEEP = "batched/keep.cl"

GROUP = 64
"""Work-items of a work-group of its kernels."""

Call = tuple[Program, str, tuple[int, ...], tuple[int, ...], tuple[Any, ...]]
"""A kernel's program and name, work-items in all and of a group, arguments."""


class Best(NamedTuple):
    """The kept poses of some ligands, those of a ligand together, lowest energy first."""

    ligand: np.ndarray
    """Rows (poses,) of their ligands."""
    number: np.ndarray
    """(poses,): which of its ligand's given poses each was."""
    cluster: np.ndarray
    quaternion: np.ndarray
    translation: np.ndarray
    """Angstrom."""
    radians: np.ndarray
    """Torsions, one pose after another."""
    energies: np.ndarray
    """(poses, 2): before and after, kcal/mol."""


@dataclass(frozen=True)
class Choice:
    """Kernels that choose the kept poses of a batch, and where these go."""

    calls: tuple[Call, ...]
    chosen: tuple[Any, ...]
    """Buffers of filter.cl: number, verdict and cluster of each pose that could be kept."""
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
        conformers = Conformers.of_heavy(ligands, rows)
        heavy = ligands.heavy[rows].astype(np.int64)
        torsions = np.diff(ligands.first_torsion)[rows]
        room = np.minimum(counts, settings.max_num_poses)
        places = heavy * counts
        spans = list(_spans(places, min(BATCH_BYTES, buffers.budget(device)) // PLACE_BYTES))

        quaternions, translations, radians, energies = refined
        total, turns, kept = int(counts.sum()), int((counts * torsions).sum()), int(room.sum())
        widths = _widths(torsions)
        on_device = buffers.upload(device, _table(heavy, torsions, counts, room, spans))
        scores = buffers.empty(device, total, np.int32)
        angles = buffers.empty(device, 2 * turns, np.float32)
        chosen = tuple(buffers.empty(device, kept, kind) for kind in CHOSEN)
        poses = tuple(buffers.empty(device, kept * width, np.float32) for width in widths)
        largest = max((int(places[first:last].sum()) for first, last in spans), default=0)
        room_for_places = buffers.empty(device, 4 * largest, np.float32)
        owner = np.repeat(np.arange(len(rows), dtype=np.int32), counts)
        posed = (
            on_device,
            buffers.upload(device, owner),
            buffers.upload(device, conformers.atoms),
            buffers.upload(device, conformers.torsions),
            buffers.upload(device, conformers.inverse_lengths),
            np.int32(0),
            buffers.upload(device, np.zeros(0, np.uint8)),
            angles,
            quaternions,
            translations,
            buffers.upload(device, _numbers(heavy)),
            room_for_places,
        )
        judged = (
            np.int32(settings.max_num_poses),
            np.float32(settings.cluster_rmsd * settings.cluster_rmsd),
            on_device,
            scores,
            buffers.upload(device, np.zeros(total, np.uint8)),
            room_for_places,
            buffers.upload(device, np.zeros(0, np.uint16)),
            *chosen,
        )

        keep = build(device, KEEP, structs={"filter_ligand_t": LIGAND})
        calls: list[Call] = [
            (keep, "scores", _whole(total), (GROUP,), (np.int32(total), energies, scores)),
            (keep, "turns", _whole(turns), (GROUP,), (np.int32(turns), radians, angles)),
        ]
        program, group = program_of(device, int(heavy.max()), int(counts.max()))
        before = np.concatenate([[0], np.cumsum(counts)])
        for first, last in spans:
            of_poses = int(before[first]), int(before[last])
            calls.append(_by_sub_groups(device, program, group, "place", of_poses, posed))
            of_ligands = first, last
            calls.append(_by_sub_groups(device, program, group, "select_poses", of_ligands, judged))
        several = (*_whole(int(room.max())), len(rows))
        given = quaternions, translations, radians, energies
        rooms = buffers.upload(device, room.astype(np.int32))
        moved = (np.int32(widths[2]), on_device, rooms, chosen[0], *given, *poses)
        calls.append((keep, "gather", several, (GROUP, 1), moved))
        return cls(tuple(calls), chosen, poses, rows, room, torsions)

    def download(self, device: Device, after: Any) -> Best:
        """The kept poses, after an event."""
        kept, widths = int(self.room.sum()), _widths(self.torsions)
        number, verdict, cluster = (
            buffers.download(device, buffer, kept, kind, after)
            for buffer, kind in zip(self.chosen, CHOSEN, strict=True)
        )
        leads = verdict == Verdict.REPRESENTATIVE
        quaternion, translation, radians, energies = (
            buffers.download(device, buffer, (kept, width), np.float32, after)[leads]
            for buffer, width in zip(self.poses, widths, strict=True)
        )
        owner = np.repeat(np.arange(len(self.ligands)), self.room)[leads]
        return Best(
            self.ligands[owner],
            number[leads].astype(np.int64),
            cluster[leads].astype(np.int32),
            quaternion,
            translation,
            radians[np.arange(widths[2]) < self.torsions[owner, None]],
            energies,
        )


CHOSEN = np.uint16, np.uint8, np.int16
"""Types of `Choice.chosen`."""


def _widths(torsions: np.ndarray) -> tuple[int, int, int, int]:
    """Numbers of a pose in each buffer of `gather`, for ligands with so many torsions."""
    return 4, 3, int(torsions.max(initial=1)), 2


def _by_sub_groups(
    device: Device,
    program: Program,
    group: int,
    kernel: str,
    span: tuple[int, int],
    arguments: tuple[Any, ...],
) -> Call:
    """A kernel of filter.cl for some poses or ligands, the first and one past the last."""
    local = group * device.sub_group_size
    size = (-(-(span[1] - span[0]) // group) * local,)
    return program, kernel, size, (local,), (*map(np.int32, span), *arguments)


def _table(
    heavy: np.ndarray,
    torsions: np.ndarray,
    counts: np.ndarray,
    room: np.ndarray,
    spans: Sequence[tuple[int, int]],
) -> np.ndarray:
    """Rows of `LIGAND` of ligands without hydrogens; places start anew in each span."""
    table = np.zeros(len(heavy), LIGAND)
    of_ligand = {"atom": heavy, "torsion": torsions, "heavy": heavy, "pose": counts}
    of_ligand |= {"turn": counts * torsions, "kept": room}
    for name, count in of_ligand.items():
        table[f"first_{name}"] = np.cumsum(count) - count
    for span in spans:
        places = (heavy * counts)[slice(*span)]
        table["first_place"][slice(*span)] = np.cumsum(places) - places
    table["atoms"], table["heavy"], table["torsions"] = heavy, heavy, torsions
    table["poses"] = counts
    return table


def _spans(sizes: np.ndarray, room: int) -> Iterator[tuple[int, int]]:
    """First and one past the last of consecutive ligands whose sizes fit into some room."""
    before, first = np.concatenate([[0], np.cumsum(sizes)]), 0
    while first < len(sizes):
        fits = int(np.searchsorted(before, before[first] + room, side="right")) - 1
        last = max(first + 1, fits)
        yield first, last
        first = last


def _numbers(counts: np.ndarray) -> np.ndarray:
    """0, 1, ... of each ligand, int32."""
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    return (np.arange(int(counts.sum())) - starts).astype(np.int32)


def _whole(count: int) -> tuple[int]:
    """Work-items for so many, in whole groups."""
    return (max(1, -(-count // GROUP)) * GROUP,)
