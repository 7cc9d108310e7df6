"""Ligands as the flat arrays that the genetic algorithm's kernels read."""

from dataclasses import dataclass, fields

import numpy as np

from ligen_py.engine.functions.ad4.constants import (
    CHARGE_SOLVATION,
    COULOMB,
    WEIGHTS,
    pair_table,
    type_table,
)
from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.genetic import pair_steps
from ligen_py.engine.genetic.effort import looks_every, most_evaluations
from ligen_py.engine.refinement.chemical_field import Particles, shapes_of
from ligen_py.engine.refinement.ligand_keys import keys_of
from ligen_py.records.functions.ad4 import Ad4Ligands
from ligen_py.settings.lga import LgaSettings

TORSION = 7
"""Genes before the torsions: translation, quaternion."""

LIGAND = np.dtype(
    [("first_gene", np.int64)]
    + [
        (name, np.int32)
        for name in (
            *("first_atom", "atoms", "first_torsion", "torsions", "first_pair", "pairs"),
            *("first_step", "steps", "levels"),
        )
    ]
    + [("key", np.uint32), ("evaluations", np.uint32), ("arm", np.float32)]
    + [("stop_every", np.int32), ("unused", np.int32)]
)
"""One ligand of a batch: its rows, the key of its random numbers, evaluations that a run of it may
take, how far its atoms are from its centre (Angstrom), generations between two looks of the
automatic stop (0: there is none)."""

PAIR = np.dtype(
    [("first", np.int32), ("second", np.int32)]
    + [
        (name, np.float32)
        for name in ("repulsion", "attraction", "distance", "power", "charges", "overlap")
    ]
)
"""Two atoms of a ligand and what their types and charges make of their energy."""


@dataclass(frozen=True)
class LgaBatch:
    """Some ligands as the flat arrays that the kernels read, Angstrom."""

    ligands: np.ndarray
    conformers: np.ndarray
    kinds: np.ndarray
    torsions: np.ndarray
    inverse_lengths: np.ndarray
    pairs: np.ndarray
    """Rows of `PAIR`, or the steps of `paired`."""


COLUMNS = tuple(column.name for column in fields(LgaBatch))


def pack(
    ligands: Ad4Ligands,
    rows: np.ndarray,
    field: Ad4Field,
    settings: LgaSettings,
    kinds: np.ndarray | None = None,
    lanes: int = 0,
) -> LgaBatch:
    """Flat arrays of the ligands `rows` in a field.

    Args:
        ligands: of which these rows are.
        rows: of the batch.
        field: of the receptor.
        settings: of the stage.
        kinds: u1 (atoms,), a kind of each atom for `keys_of`; without, AutoDock4's types.
        lanes: of the sub-group that shares an individual; 0: a lane has one by itself.
    """
    atoms = field.particles(ligands, rows)
    torsions = np.diff(ligands.first_torsion)[rows]
    pairs, counts = pairs_of(atoms)
    table = np.zeros(len(rows), LIGAND)
    for name, count in (("atom", atoms.counts), ("torsion", torsions), ("pair", counts)):
        table[f"first_{name}"], table[f"{name}s"] = np.cumsum(count) - count, count
    genes = settings.runs * settings.population * (TORSION + torsions.astype(np.int64))
    table["first_gene"] = np.cumsum(genes) - genes
    table["key"] = keys_of(ligands, rows, settings.seed, ligands.type if kinds is None else kinds)
    table["evaluations"] = [most_evaluations(settings, int(count)) for count in torsions]
    if settings.stop:
        table["stop_every"] = [looks_every(settings, int(count)) for count in torsions]
    conformers, turns, inverse_lengths, table["arm"] = shapes_of(ligands, rows, atoms)
    of_atom = (atoms.kinds >> 8).astype(np.int32)
    if lanes:
        gradients = settings.local_search != "solis_wets"
        pairs, counts = paired(pairs, table, lanes, apart=gradients)
        table["first_step"], table["steps"] = np.cumsum(counts) - counts, counts
        pieces, table["levels"] = pieces_of(atoms, table)
        of_atom |= pieces << 16
    return LgaBatch(
        table,
        conformers,
        of_atom,
        turns,
        inverse_lengths,
        pairs,
    )


def paired(
    pairs: np.ndarray, ligands: np.ndarray, lanes: int, *, apart: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (`PAIR`) in the steps of ad4_pose.clh, and how many steps each ligand has.

    Float32 (steps, lanes, 4): of each lane its atom, the other one and whether lanes have another
    atom than in the step before, as bits of one number; distance of the minimum, negative for
    hydrogen bonds; coefficient of the repulsion in units of that distance; overlap of desolvation.
    `apart`: see `pair_steps.steps`.
    """
    terms = np.zeros((len(pairs) + 1, 3))  # the last: no pair
    distance = np.where(pairs["repulsion"] > 0, pairs["distance"], 1.0).astype(float)
    terms[:-1, 0] = np.where(pairs["power"] > 6, -distance, distance)
    terms[:-1, 1] = pairs["repulsion"] / distance**12
    terms[:-1, 2] = pairs["overlap"]
    terms[-1, 0] = 1
    found, counts = [], []
    tables: dict[tuple[int, bytes], np.ndarray] = {}  # conformers of a ligand share theirs
    for ligand in ligands:
        first, count, atoms = (int(ligand[name]) for name in ("first_pair", "pairs", "atoms"))
        some = pairs[first : first + count]
        ends = np.column_stack([some["first"], some["second"]])
        key = atoms, ends.tobytes()
        if key not in tables:
            tables[key] = pair_steps.steps(ends, atoms, lanes, apart=apart)
        table = tables[key]
        row = np.zeros((len(table), lanes, 4), np.float32)
        changed = np.any(np.diff(table[:, :, 0], axis=0, prepend=-1), axis=1)
        bits = table[:, :, 0] | table[:, :, 1] << 10 | changed[:, None] << 20
        row[:, :, 0] = bits.astype(np.int32).view(np.float32)
        none = table[:, :, 2] == pair_steps.NONE
        row[:, :, 1:] = terms[np.where(none, len(pairs), table[:, :, 2] + first)]
        found.append(row)
        counts.append(len(table))
    found.append(np.zeros((2, lanes, 4), np.float32))  # which are read, but not used
    return np.concatenate(found), np.array(counts, np.int64)


def pieces_of(atoms: Particles, ligands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rigid piece of each atom, and how often motions of pieces are joined (ligands,).

    Piece 0 is the root, piece 1 + n the far side of torsion n up to the next torsions. Each time
    that motions are joined twice as many torsions are behind an atom.
    """
    piece = np.zeros(len(atoms.rows), np.int32)
    levels = np.zeros(len(ligands), np.int32)
    for number, ligand in enumerate(ligands):
        own = piece[ligand["first_atom"] :][: ligand["atoms"]]
        here = slice(ligand["first_torsion"], ligand["first_torsion"] + ligand["torsions"])
        depth = [0]
        for n, (first, last) in enumerate(atoms.torsion_range[here]):
            depth.append(depth[own[atoms.torsion_axis[here][n, 0]]] + 1)
            own[first:last] = n + 1
        levels[number] = max(depth).bit_length()
    return piece, levels


def pairs_of(atoms: Particles) -> tuple[np.ndarray, np.ndarray]:
    """The interacting pairs of some ligands as rows of `PAIR`, and how many each ligand has."""
    first_atom = np.cumsum(atoms.counts) - atoms.counts
    words = (atoms.counts + 31) // 32
    first_word = np.cumsum(atoms.counts * words) - atoms.counts * words
    found, counts = [np.zeros((0, 2), np.int64)], []
    for count, width, word, start in zip(atoms.counts, words, first_word, first_atom, strict=True):
        mask = atoms.pairs[word : word + count * width].reshape(count, width)
        bits = np.unpackbits(mask.view("u1"), axis=1, bitorder="little")[:, :count]
        one, two = np.nonzero(np.triu(bits, 1))
        found.append(np.column_stack([one, two]) + start)
        counts.append(len(one))
    one, two = np.concatenate(found).T
    owner = np.repeat(first_atom, counts)
    types, charges = atoms.kinds & 255, atoms.values.astype(float)
    solvation, volume = type_table().astype(float)[types, :2].T
    solvation = solvation + CHARGE_SOLVATION * np.abs(charges)
    rows = np.zeros(len(one), PAIR)
    rows["first"], rows["second"] = one - owner, two - owner
    table = pair_table()[types[one], types[two]]
    for column, name in enumerate(("repulsion", "attraction", "distance", "power")):
        rows[name] = table[:, column]
    rows["charges"] = charges[one] * charges[two] * COULOMB * WEIGHTS["ESTAT"]
    overlap = solvation[one] * volume[two] + solvation[two] * volume[one]
    rows["overlap"] = overlap * WEIGHTS["DESOLV"]
    return rows, np.array(counts, np.int64)
