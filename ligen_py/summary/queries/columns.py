"""The columns of a target's ranked molecules, by the names that a question uses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ligen_py.records.properties import COUNTS, PROPERTY_NAMES
from ligen_py.store.campaign.judged import CRYSTAL, ITEMS, Beside, Judgements
from ligen_py.store.campaign.reader import CampaignReader, TargetReader
from ligen_py.summary.facts import score_definition
from ligen_py.summary.fence import fenced
from ligen_py.summary.queries.expression import Column, Texts

NUMBERS = ("rank", "score", "states", "poses", "restart", "line")
TEXTS = ("target", "name", "library", "file", "smiles", "key", "note")

ALIASES = {"mw": "weight", "hbd": "donors", "hba": "acceptors", "rotb": "rotatable"}
"""Short names that the field uses."""

INPUT = "input."
"""What the name of a further column of the input starts with."""

OF_POSE = ("state", "conformation")
"""Known of molecules with a stored pose; as columns of the input they are shown only."""

NETWORK = "network."
"""What the name of a column of gnina's networks starts with."""

REFERENCES = "over_references"
"""The score less SHARE of the molecule's mean score in the campaign's other targets."""

SHARE = 0.5
"""Of that mean."""


def is_shown_only(name: str) -> bool:
    """Whether a column is known of molecules with a stored pose alone, so that none is compared."""
    return name in OF_POSE or name.startswith(INPUT)


@dataclass
class Molecules:
    """All scored molecules of a target: whole columns are read when they are asked for."""

    campaign: CampaignReader
    target: TargetReader
    networks: Beside
    _read: dict[str, Column] = field(default_factory=dict)

    @property
    def judgements(self) -> Judgements | None:
        """What networks say of the best molecules; None where they were not asked."""
        return self.networks.of(self.target.name)

    @property
    def names(self) -> list[str]:
        """Every column, in the order in which all of them are shown."""
        return [*self._own, *self._optional, *PROPERTY_NAMES, *TEXTS[2:], *NUMBERS[2:]]

    @cached_property
    def _optional(self) -> list[str]:
        """Columns that a campaign has with several targets, and with networks."""
        # Mean ranks of two targets cannot be compared.
        ranks_alone = score_definition(self.campaign)["rank_by"] == "consensus"
        references = [REFERENCES] if len(self.campaign.targets) > 1 and not ranks_alone else []
        return [*references, *(ITEMS if self.judgements is not None else ())]

    @property
    def _own(self) -> list[str]:
        terms = [name.replace("/", ".") for name in self.target.terms]
        return ["target", "rank", "name", "score", *terms]

    @property
    def default(self) -> list[str]:
        """The columns that are shown where none are chosen."""
        totals = [name.replace("/", ".") for name in self.target.terms if name.endswith("/total")]
        return ["target", "rank", "name", "score", *totals, "weight", "logp", "library"]

    def plain(self, name: str) -> str:
        """A column's own name; KeyError where there is none."""
        name = ALIASES.get(name.lower(), name.replace("/", "."))
        known = (*self._own, *PROPERTY_NAMES, *TEXTS, *NUMBERS, *OF_POSE)
        if name in known or (name.startswith(INPUT) and len(name) > len(INPUT)):
            return name
        # Asked last: whether networks judged this campaign takes the hash of its whole file.
        if name not in self._optional:
            raise KeyError(name)
        return name

    def column(self, name: str) -> Column:
        """A whole column, one value a scored record; KeyError where there is none."""
        name = self.plain(name)
        if is_shown_only(name):
            raise KeyError(name)
        if name not in self._read:
            self._read[name] = self._whole(name)
        return self._read[name]

    def _whole(self, name: str) -> Column:
        if name == "rank":
            return self.rank
        if name == "target":
            return Texts(np.zeros(self.target.scored, "u1"), [self.target.name])
        if name == REFERENCES:
            return self._over_references()
        if name in ITEMS:
            return self._judged(name, np.arange(self.target.scored))
        if name in ("library", "file"):
            names = self.campaign.libraries if name == "library" else self.campaign.files
            return Texts(self.target.column(name), names)
        values = self.target.column(name)
        return Texts(values) if name in TEXTS else values

    @property
    def rank(self) -> np.ndarray:
        """Ranks from 1 (i8), 0 of what is not ranked."""
        if "rank" not in self._read:
            ranks, order = np.zeros(self.target.scored, "i8"), self.target.order()
            ranks[order] = np.arange(1, len(order) + 1)
            self._read["rank"] = ranks
        found = self._read["rank"]
        assert isinstance(found, np.ndarray)
        return found

    def some(self, names: list[str], rows: np.ndarray) -> dict[str, np.ndarray]:
        """Columns of some rows: numbers, or texts as `object`; None where there is no text."""
        return {name: self._some(name, rows) for name in names}

    def _some(self, name: str, rows: np.ndarray) -> np.ndarray:
        if name == "rank":
            is_best = np.array_equal(rows, self.target.order(len(rows)))
            return np.arange(1, len(rows) + 1) if is_best else self.rank[rows]
        if name == "target":
            return np.full(len(rows), self.target.name, object)
        if name.startswith(INPUT):
            found = self.target.inputs(rows)
            return _objects([columns.get(name.removeprefix(INPUT)) for columns in found])
        if name in OF_POSE:
            known = self.target.of_poses(name, rows)
            return _objects([known.get(row) for row in rows.tolist()])
        if name == REFERENCES:
            values = self.column(name)
            assert isinstance(values, np.ndarray)
            return values[rows]
        if name in ITEMS:
            return self._judged(name, rows)
        values = self.target.column(name, rows)
        if name in COUNTS and np.isfinite(values).all():
            return values.astype("i4")
        if name in ("library", "file"):
            names = self.campaign.libraries if name == "library" else self.campaign.files
            return _objects([names[number] for number in values])
        return values

    def _over_references(self) -> np.ndarray:
        """The column REFERENCES, f4; NaN of a molecule that no other target has."""
        own = _records(self.target)
        sums, counts = np.zeros(len(own)), np.zeros(len(own))
        for name in self.campaign.targets:
            if name == self.target.name:
                continue
            other = self.campaign.target(name)
            theirs = _records(other)
            _, here, there = np.intersect1d(own, theirs, assume_unique=True, return_indices=True)
            sums[here] += fenced(other.column("score"))[there]
            counts[here] += 1
        mean = np.divide(sums, counts, out=np.full(len(own), np.nan), where=counts > 0)
        result: np.ndarray = (self.target.column("score") - SHARE * mean).astype("f4")
        return result

    def _judged(self, name: str, rows: np.ndarray) -> np.ndarray:
        """What networks say of some rows, f4; NaN of those that they did not judge."""
        values = np.full(self.target.scored, np.nan, np.float32)
        for row, found in (self.judgements or {}).items():
            if row != CRYSTAL:
                values[row] = getattr(found, name.removeprefix(NETWORK))
        return values[rows]


def _records(target: TargetReader) -> np.ndarray:
    """Of each scored record a number that its file and line alone have, i8."""
    result: np.ndarray = (target.column("file").astype("i8") << 40) + target.column("line")
    return result


def _objects(values: list[Any]) -> np.ndarray:
    result = np.empty(len(values), object)
    result[:] = values
    return result


def blank(count: int, like: np.ndarray) -> np.ndarray:
    """So many missing values for a column of numbers: a score keeps its precision, and digits."""
    return np.full(count, np.nan, like.dtype if like.dtype.kind == "f" else "f8")


def joined(parts: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The columns of several targets one below the other, in the order of their first mention.

    A column that a target lacks is empty there.
    """
    names = list(dict.fromkeys(name for part in parts for name in part))
    sizes = [len(next(iter(part.values()))) if part else 0 for part in parts]
    result = {}
    for name in names:
        like = next(part[name] for part in parts if name in part)
        pieces = [
            part[name] if name in part else blank(size, like)
            for part, size in zip(parts, sizes, strict=True)
        ]
        text = any(piece.dtype == object for piece in pieces)
        result[name] = np.concatenate([piece.astype(object) if text else piece for piece in pieces])
    return result
