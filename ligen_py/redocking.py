"""The reference ligand docked anew, beside its crystal pose: for `aggregate` and `controls`."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ligen_py.engine.geometry import rebuild
from ligen_py.errors import InputError
from ligen_py.molecules.export import symmetric_rmsd
from ligen_py.records.ledger import Status
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.campaign.part import Part, Poses, read_best


class Redocking(NamedTuple):
    """The first record of a control's ligands file."""

    part: Part
    rmsd: tuple[float, float] | None
    """RMSD to the crystal pose of the best-scored pose, and the least of all, in Angstrom."""
    poses: int
    """All of these: of every state and conformer, in every conformation."""
    problem: str
    """Why there is none, in words."""


def redock(members: Sequence[PartFiles]) -> Redocking:
    """Measure a control, one part for each conformation of its target.

    Raises InputError where the ligands file is empty or the crystal pose cannot be read.
    """
    crystal = members[0].crystal
    if crystal is None:
        raise ValueError(f"{members[0].label} is no control")
    part = read_best(members)
    if not len(part.status):
        raise InputError(f"{members[0].ligands}: contains no reference ligand; check {crystal}")
    if part.status[0] != Status.SCORED:
        return Redocking(part, None, 0, str(part.detail[0]))
    best, found, count = int(part.scored()[0]), list[np.ndarray | None](), 0
    for number, files in enumerate(members):
        with Poses(files) as poses:
            for ligand in np.flatnonzero(part.entry == 0).tolist():
                kept = poses.kept(ligand)
                count += len(kept)
                if kept:
                    xyz = rebuild(*poses.genotypes(ligand, kept))
                    found.append(symmetric_rmsd(poses.molecule(ligand), xyz, crystal))
                if (number, ligand) == (part.member[best], best):
                    of_best, place = found[-1], part.best[best] - kept.start
    if of_best is None:
        return Redocking(part, None, count, f"{crystal.name} contains another molecule")
    least = min(float(rmsd.min()) for rmsd in found if rmsd is not None)
    return Redocking(part, (float(of_best[place]), least), count, "")
