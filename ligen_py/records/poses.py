"""Docked poses: the file of `dock`."""

from dataclasses import dataclass

import numpy as np

from ligen_py.records.column import Bounds, Kind, Record, column
from ligen_py.records.ledger import Ledger

WORST_RUN = -(10**9)
"""The lowest score of a genetic algorithm's run, in -cal/mol."""
BEHIND = 2**30
"""What is taken off the scores of geometric poses beside such runs, which count in other units: so
the runs, which are few, stand before them in the filter."""


@dataclass(frozen=True, slots=True)
class Poses(Record):
    """Genotypes: x = R(quaternion) * conformer(torsion) + translation (see docs/method.md)."""

    first_pose: np.ndarray = column("i8", "ligand+1", into="pose", doc="offsets of poses")
    first_torsion: np.ndarray = column("i8", "pose+1", into="torsion", doc="offsets of torsions")
    restart: np.ndarray = column("i4", "pose", doc="restart that made the pose")
    translation: np.ndarray = column("f4", "pose", 3, units="angstrom", doc="image of the centroid")
    quaternion: np.ndarray = column("f4", "pose", 4, doc="rotation of the root piece: w, x, y, z")
    torsion: np.ndarray = column(
        "f4", "torsion", units="degree", doc="rotation of the far side, from the start conformer"
    )
    score: np.ndarray = column(
        "i4",
        "pose",
        doc="geometric score; of a run of `lga` -1000 times the energy in kcal/mol, of a geometric "
        "pose beside the runs less 2^30; larger is better",
    )
    internal_bumps: np.ndarray = column(
        "i4", "pose", doc="bumped pairs within the ligand; 0 in a run of `lga`"
    )
    pocket_bumps: np.ndarray = column(
        "i4", "pose", doc="heavy atoms in receptor cores; 0 in a run of `lga`"
    )
    outside: np.ndarray = column(
        "i4", "pose", doc="heavy atoms outside the box; 0 in a run of `lga`"
    )

    def bounds(self) -> Bounds:
        """Numbers of restarts."""
        yield "restart", self.restart >= 0


POSES = Kind("poses", 1, {"ledger": Ledger, "poses": Poses})
