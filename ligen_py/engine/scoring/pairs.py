"""Pairs of atoms within ligands on a device (kernels/batched/pairs.cl)."""

from typing import Any, NamedTuple

import numpy as np

from ligen_py.engine.scoring.pose_kernel import ATOM_CLASSES, PoseBatch, ligand_table, runs
from ligen_py.opencl import buffers
from ligen_py.opencl.program import build
from ligen_py.records.limits import MAX_TORSIONS

GROUP = 64
"""Work-items of a ligand."""


class Pairs(NamedTuple):
    """What `internal_pairs` finds, where kernels read it."""

    first: np.ndarray
    """(ligands,): row of each ligand's first pair."""
    pairs: Any
    """Buffer of int16 (rows, 2), atoms local to the ligand; a ligand has more rows than pairs."""
    counts: Any
    """Buffer of int32 (ligands,)."""


def find_pairs(batch: PoseBatch, chosen: np.ndarray) -> Pairs:
    """The pairs of the ligands of a batch, of `chosen` atoms only: bool (atoms of these,).

    See `ligen_py.engine.internal_pairs`, which is the NumPy twin.
    """
    device, ligands, span = batch.device, batch.ligands, slice(batch.first, batch.last + 1)
    table = ligand_table(ligands, batch.first, batch.last, "first_bond", "bonds", "first_pair")
    table["first_bond"], table["bonds"] = runs(ligands.first_bond[span])
    before = np.concatenate([[0], np.cumsum(chosen)])
    atoms = np.diff(before[ligands.first_atom[span] - ligands.first_atom[batch.first]])
    room = atoms * (atoms - 1) // 2
    table["first_pair"] = np.cumsum(room) - room
    bonds = slice(*ligands.first_bond[[batch.first, batch.last]])
    pairs = buffers.empty(device, int(room.sum()) * 2, np.int16)
    counts = buffers.empty(device, len(table), np.int32)
    most = int(table["atoms"].max(initial=0))
    definitions = {
        "MAX_ATOMS": next(size for size in ATOM_CLASSES if size >= most),
        "PIECE_WORDS": MAX_TORSIONS // 32 + 1,
    }
    structs = {"pairs_ligand_t": table.dtype}
    program = build(device, "batched/pairs.cl", definitions, structs=structs)
    program.kernel("find_pairs")(
        device.queue,
        (len(table) * GROUP,),
        (GROUP,),
        buffers.upload(device, table),
        buffers.upload(device, chosen.astype(np.uint8)),
        buffers.upload(device, ligands.bond[bonds]),
        batch.torsions[0],
        pairs,
        counts,
    )
    return Pairs(table["first_pair"], pairs, counts)
