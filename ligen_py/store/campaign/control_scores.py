"""Scores of known actives and decoys: one row a molecule, whatever became of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ligen_py.records.ledger import Reason, Status
from ligen_py.records.properties import PROPERTY_NAMES
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.campaign.part import read_best

UNREAD = (Reason.UNPARSABLE, Reason.NO_ATOMS, Reason.NO_STRUCTURE)
"""Of records that are no molecules."""

COULD_NOT_BE_READ = "could not be read, and are left out"
GIVEN_BEFORE = "were given before, and are left out"
NOT_DOCKED = "could not be docked, and rank last"


@dataclass(frozen=True)
class ControlScores:
    """Columns have one value a molecule; a score is -inf where there is none.

    Molecules that could be read, without duplicates and decoys that are actives.
    """

    is_active: np.ndarray
    score: np.ndarray
    totals: dict[str, np.ndarray]
    """Function -> its score of the best pose."""
    properties: dict[str, np.ndarray]
    left_out: list[str]
    """What is not among them, and what has no score, in words."""


def read_controls(actives: Sequence[PartFiles], decoys: Sequence[PartFiles]) -> ControlScores:
    """Read the parts of both, each with all conformations of the target.

    Left out are duplicates, and decoys that are actives. Raises InputError for a damaged part.
    """
    known: set[str] = set()
    pieces, left_out = [], []
    for group, parts in (("actives", actives), ("decoys", decoys)):
        found = Counter[str]()
        for members in _chunks(parts):
            pieces.append(_piece(members, group == "actives", known, found))
        left_out += [f"{group} that {what}: {n}" for what, n in found.items() if n]
    names = list(pieces[0]) if pieces else []
    columns = {name: np.concatenate([piece[name] for piece in pieces]) for name in names}
    totals = {
        name.removesuffix("/total"): values
        for name, values in columns.items()
        if name.endswith("/total")
    }
    properties = {name: columns[name] for name in (*PROPERTY_NAMES, "states")}
    return ControlScores(columns["is_active"], columns["score"], totals, properties, left_out)


def _chunks(parts: Sequence[PartFiles]) -> list[list[PartFiles]]:
    chunks: dict[Path, list[PartFiles]] = {}
    for files in parts:
        chunks.setdefault(files.ligands, []).append(files)
    return list(chunks.values())


def _piece(
    members: list[PartFiles], is_active: bool, known: set[str], left_out: Counter[str]
) -> dict[str, np.ndarray]:
    """The columns of a chunk; counts in `left_out` what is not among them or has no score."""
    part = read_best(members)
    rows = []
    for row, key in enumerate(part.key):
        if part.reason[row] in UNREAD:
            left_out[COULD_NOT_BE_READ] += 1
        elif part.status[row] == Status.DUPLICATE or (key and key in known):
            left_out[GIVEN_BEFORE] += 1
        else:
            left_out[NOT_DOCKED] += part.status[row] != Status.SCORED
            rows.append(row)
            known.add(key)
    chosen, scored = np.array(rows, "i8"), part.scored()
    result = {"is_active": np.full(len(rows), is_active)}
    for name, values in {"score": part.score, **part.terms}.items():
        by_record = np.full(len(part.status), -np.inf)
        by_record[part.entry[scored]] = values[scored]
        result[name] = by_record[chosen]
    for name in PROPERTY_NAMES:
        result[name] = getattr(part.properties, name)[chosen]
    states = part.states()[chosen]
    result["states"] = np.where(states > 0, states, np.nan)  # what was not docked has no number
    return result
