"""What networks say of the molecules of a campaign: read from the file of `networks`."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.provenance import file_digest
from ligen_py.records.networks import NETWORKS, Judged
from ligen_py.store.files.inputs import input_digests
from ligen_py.store.files.read import content_of, read, run_record

log = logging.getLogger("ligen_py")

CRYSTAL = -1
"""Stands for the row of the crystal ligand, docked again."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the networks say of one molecule."""

    restart: int
    """That made the networks' pose."""
    energy: float
    """Of the networks' pose, kcal/mol."""
    score: float
    """Of the molecule with networks: the campaign's and a share of the logit of their pose."""
    pose: float
    """Their score of their pose: the probability that it is right."""
    affinity: float
    """pK, in their pose."""
    physics_pose: float
    """Their score of the pose that energies choose."""
    physics_affinity: float
    moved: float
    """RMSD between the two, Angstrom."""
    crystal: float
    """RMSD of their pose to the crystal's, of the crystal ligand alone, Angstrom; else NaN."""
    is_same: bool
    """Whether energies choose the same pose."""
    xyz: np.ndarray
    """Their pose (atoms, 3), Angstrom."""

    def items(self) -> dict[str, str]:
        """As items of an SDF record and cells of a table."""
        values = (np.float32(getattr(self, name)) for name in NUMBERS)
        cells = {name: str(value) for name, value in zip(ITEMS, values, strict=False)}
        return cells | {ITEMS[-1]: str(self.restart)}


NUMBERS = ("score", "pose", "affinity", "physics_pose", "physics_affinity", "moved")
"""Of a judgement, as columns."""

ITEMS = (*(f"network.{name}" for name in NUMBERS), "network.restart")
"""Names of `Judgement.items`."""

Judgements = Mapping[int, Judgement]
"""By row of a target's `scored`, or CRYSTAL."""


class Beside:
    """What networks say of a campaign's molecules, read when it is asked for, or is given."""

    def __init__(self, campaign: Path, given: Path | None = None) -> None:
        """The file `given`; None: networks.h5 beside the campaign file, where it was made of it.

        Raises InputError where the given one is no such file, or of another campaign file.
        """
        self._campaign, self._given = campaign, given
        self._path = given or campaign.with_name("networks.h5")
        if given:
            _ = self._read

    def of(self, target: str) -> Judgements | None:
        """What they say of a target's best molecules; None where there is no such file."""
        return None if self._read is None else self._read.get(target, {})

    @cached_property
    def _read(self) -> dict[str, dict[int, Judgement]] | None:
        if self._given is None and not self._path.is_file():
            return None
        try:
            return read_judgements(self._path, self._campaign)
        except InputError as error:
            if self._given:
                raise
            log.warning("without what networks say: %s", error)
            return None


def read_judgements(path: Path, campaign: Path) -> dict[str, dict[int, Judgement]]:
    """What the networks say of the best molecules of each target, by the target's name.

    Raises InputError where the file was made from another campaign file than this one.
    """
    if file_digest(campaign) not in input_digests(path, run_record(path, NETWORKS)):
        raise InputError(
            f"{path}: was not made from {campaign} as it is now; run the networks stage again"
        )
    record: Judged = read(path, NETWORKS, Judged)
    found: dict[str, dict[int, Judgement]] = {}
    for number, target in enumerate(record.target):
        found.setdefault(str(target), {})[int(record.row[number])] = _judgement(record, number)
    return found


def weight_of(path: Path) -> float:
    """kcal/mol that a unit of the networks' logit takes off a pose's energy when they choose."""
    with content_of(path, NETWORKS):
        return float(json.loads(run_record(path, NETWORKS)["settings"])["weight"])


def _judgement(record: Judged, number: int) -> Judgement:
    start = int(record.first_pose[number])
    physics, network = (start + int(own[number]) for own in (record.physics, record.network))
    atoms = slice(*record.first_atom[number : number + 2])
    return Judgement(
        restart=int(record.restart[network]),
        energy=float(record.energy[network]),
        score=float(record.score[number]),
        pose=float(record.pose[network]),
        affinity=float(record.affinity[network]),
        physics_pose=float(record.pose[physics]),
        physics_affinity=float(record.affinity[physics]),
        moved=float(record.moved[number]),
        crystal=float(record.crystal[number]),
        is_same=physics == network,
        xyz=record.xyz[atoms],
    )
