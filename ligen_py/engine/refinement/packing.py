"""Ligands of a batch as the refine kernels read them, and the heats that they go through.

After each heat the quarter of a ligand's poses with the lowest energies goes on, from where they
are, with four times the rounds: every heat costs about as much as the first.
"""

from dataclasses import dataclass

import numpy as np

from ligen_py.engine.refinement.chemical_field import ChemicalField, shapes_of
from ligen_py.engine.refinement.ligand_keys import RIGID, keys_of
from ligen_py.records.ligands import Ligands
from ligen_py.settings.refine import RefineSettings

LIGAND = np.dtype(
    [
        (name, np.int32)
        for name in (
            "first_atom",
            "atoms",
            "first_torsion",
            "torsions",
            "first_word",
            "words",
            "first_row",
            "rounds",
            "first_round",
        )
    ]
    + [("key", np.uint32), ("radius_of_gyration", np.float32)]
)
"""One ligand of a batch in one heat; its last two numbers are a key of its content and Angstrom.

`first_round` is the number of rounds of the heats before: each has random numbers of its own."""

STRUCTS = {"field_ligand_t": LIGAND}
"""Rows of tables that energies in a field need (kernels/include/energy.clh)."""


EMPTY = -1
"""A place of a heat that no pose took."""

FEWER = 4
"""After a heat one pose in so many goes on, with so many times the rounds."""

FEW_TORSIONS, MOST_ROUNDS = 6, 5
"""A ligand with more torsions than this gets more rounds; at most so many times as many."""


def rounds_of(torsions: np.ndarray, rounds: int) -> np.ndarray:
    """Rounds of a chain by the torsions of its ligand, int64, where those with few have `rounds`.

    They grow with the square of the torsions: the more there are, the more changes of one miss.
    Single descents stay single.
    """
    if rounds < 2:
        return np.full(len(torsions), rounds, np.int64)
    grown = rounds * torsions.astype(np.int64) ** 2 // FEW_TORSIONS**2
    return np.clip(grown, rounds, MOST_ROUNDS * rounds)


def rivals_of(ligands: Ligands, settings: RefineSettings) -> np.ndarray:
    """For each ligand a number (ligands,) that it shares with those whose poses it competes with.

    Those are the conformers of one state, or, unless `settings` say so, none.
    """
    if not settings.conformers_compete:
        return np.arange(len(ligands.entry))
    begins = (np.diff(ligands.entry) != 0) | (ligands.smiles[1:] != ligands.smiles[:-1])
    return np.concatenate([[0], np.cumsum(begins)])[: len(ligands.entry)]


def heats_of(
    counts: np.ndarray, rivals: np.ndarray, settings: RefineSettings
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Most poses of each ligand in each heat, of `counts` in the first, and those of its rivals.

    Each array is (ligands,). Without rounds and without finalists there is one heat.
    """
    most = np.zeros(rivals.max(initial=-1) + 1, np.int64)
    np.maximum.at(most, rivals, counts)
    heats, together = [counts], [most[rivals]]
    while settings.rounds and (fewer := quarter(together[-1], settings.finalists)).any():
        together.append(fewer)
        heats.append(np.minimum(heats[-1], fewer))
    return heats, together


def limits_of(
    rivals: np.ndarray, counts: np.ndarray, together: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What kernels/batched/heats.cl reads of each ligand, and of its rivals, int32 (ligands, 4).

    Args:
        rivals: numbers from 0, ascending (ligands,).
        counts: places in the heat that has ended (ligands,).
        together: places of all rivals in the next (ligands,).
    """
    fewer = np.minimum(counts, together)
    start = np.cumsum(counts) - counts
    of_ligand = start, counts, np.cumsum(fewer) - fewer, fewer
    first, last = (np.searchsorted(rivals, rivals, side) for side in ("left", "right"))
    of_rivals = start[first], (start + counts)[last - 1], together, np.zeros_like(together)
    ligands, everyone = (np.stack(each, axis=1) for each in (of_ligand, of_rivals))
    return ligands.astype(np.int32), everyone.astype(np.int32)


def quarter(counts: np.ndarray, finalists: int) -> np.ndarray:
    """How many poses of each ligand (ligands,) go on; 0 where no more than the finalists are left.

    Without finalists none goes on.
    """
    fewer = np.maximum(-(-counts // FEWER), finalists)
    return np.where((counts > finalists) & (finalists > 0), fewer, 0)


@dataclass(frozen=True)
class RefineBatch:
    """Some ligands as the flat arrays that the refine kernel reads, Angstrom."""

    heats: tuple[np.ndarray, ...]
    """Rows of `LIGAND` of each heat."""
    conformers: np.ndarray
    kinds: np.ndarray
    torsions: np.ndarray
    inverse_lengths: np.ndarray
    pairs: np.ndarray


def pack(
    ligands: Ligands,
    rows: np.ndarray,
    field: ChemicalField,
    settings: RefineSettings,
    kinds: np.ndarray,
    heats: int = 1,
) -> RefineBatch:
    """Flat arrays of the ligands `rows` in a field, for so many heats."""
    atoms = field.particles(ligands, rows)
    torsions = np.diff(ligands.first_torsion)[rows]
    words = (atoms.counts + 31) // 32
    table = np.zeros(len(rows), LIGAND)
    counts = (
        ("atom", atoms.counts),
        ("torsion", torsions),
        ("word", atoms.counts * words),
        ("row", most_rows(atoms.counts)),
    )
    for name, count in counts:
        table[f"first_{name}"] = np.cumsum(count) - count
    table["atoms"], table["torsions"], table["words"] = atoms.counts, torsions, words
    table["rounds"] = rounds_of(torsions, settings.rounds)
    table["key"] = keys_of(ligands, rows, settings.seed, kinds)
    conformers, turns, inverse_lengths, table["radius_of_gyration"] = shapes_of(
        ligands, rows, atoms
    )
    tables = [table]
    for heat in range(1, heats):
        tables.append(tables[-1].copy())
        tables[-1]["first_round"] += tables[-1]["rounds"]
        tables[-1]["rounds"] = rounds_of(torsions, FEWER**heat * settings.rounds)
    return RefineBatch(
        tuple(tables),
        conformers,
        atoms.kinds.astype(np.int32),
        turns,
        inverse_lengths,
        atoms.pairs,
    )


BATCH_COLUMNS = ("conformers", "kinds", "torsions", "inverse_lengths", "pairs")


def most_rows(atoms: np.ndarray) -> np.ndarray:
    """Rows of the pairs of ligands with so many atoms, at most (kernels/include/energy.clh)."""
    return atoms // 2


def scratch_reals(ligands: np.ndarray) -> int:
    """Numbers that a lane keeps for any of some ligands (rows of `LIGAND`) in refine_lanes.cl.

    In its order: atoms, pieces, vectors and the triangle of a descent, four sets of torsions.
    """
    atoms, torsions = (ligands[name].astype(np.int64) for name in ("atoms", "torsions"))
    freedoms = RIGID + torsions
    triangle = freedoms * (freedoms + 1) // 2
    found = 6 * atoms + 18 * (torsions + 1) + 5 * freedoms + triangle + 4 * torsions
    return int(found.max(initial=1))
