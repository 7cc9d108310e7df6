"""What gnina's networks say of the best molecules' poses: the file of `networks`."""

from dataclasses import dataclass

import numpy as np

from ligen_py.records.column import STRING, Bounds, Kind, Record, column

NETWORK_SHARE = 0.3
"""What a unit of the networks' logit adds to a molecule's score where networks help to rank.

Chosen on ligands docked into the pockets of others and on actives among decoys of three targets
(docs/accuracy.md)."""


@dataclass(frozen=True, slots=True)
class Judged(Record):
    """The best molecules of each target, best first, and all kept poses of their best states.

    A target's crystal ligand, docked again, follows its molecules.
    """

    target: np.ndarray = column(STRING, "molecule", doc="name of the target")
    rank: np.ndarray = column(
        "i8", "molecule", doc="rank in the campaign file; 0: the crystal ligand, docked again"
    )
    row: np.ndarray = column(
        "i8", "molecule", doc="row of the target's `scored` in the campaign file; -1 for rank 0"
    )
    name: np.ndarray = column(STRING, "molecule", doc="name of the molecule")
    first_pose: np.ndarray = column("i8", "molecule+1", into="pose", doc="offsets of poses")
    physics: np.ndarray = column(
        "i4", "molecule", doc="the pose that energies choose, counted from the molecule's first"
    )
    network: np.ndarray = column(
        "i4",
        "molecule",
        doc="the pose of lowest energy - weight * logit, counted from the molecule's first",
    )
    score: np.ndarray = column(
        "f4",
        "molecule",
        doc="the score with networks, larger is better: that of the scores file plus "
        f"{NETWORK_SHARE:g} times the logit of the networks' pose",
    )
    moved: np.ndarray = column(
        "f4",
        "molecule",
        units="angstrom",
        doc="RMSD between these two poses, heavy atoms, symmetry in mind",
    )
    crystal: np.ndarray = column(
        "f4",
        "molecule",
        units="angstrom",
        doc="of rank 0: RMSD of the networks' pose to the crystal's, symmetry-corrected, heavy "
        "atoms, no alignment; NaN of the others, and where it could not be measured",
    )
    restart: np.ndarray = column("i4", "pose", doc="restart that made the pose")
    energy: np.ndarray = column(
        "f4", "pose", units="kcal/mol", doc="energy of the pose, as in its scores file"
    )
    logit: np.ndarray = column(
        "f4", "pose", doc="logit of `pose`; NaN where its coordinates are not finite"
    )
    pose: np.ndarray = column(
        "f4", "pose", doc="probability that the pose is within 2 Angstrom of the crystal's"
    )
    affinity: np.ndarray = column("f4", "pose", doc="predicted affinity in the pose, a pK")
    first_atom: np.ndarray = column("i8", "molecule+1", into="atom", doc="offsets of atoms")
    xyz: np.ndarray = column(
        "f4",
        "atom",
        3,
        units="angstrom",
        doc="position in the networks' pose; atoms as in the campaign file's `top` and `reference`",
    )

    def bounds(self) -> Bounds:
        """Both chosen poses are among the molecule's."""
        count = np.diff(self.first_pose)
        for name in ("physics", "network"):
            values = getattr(self, name)
            yield name, (values >= 0) & (values < count)
        yield "rank", self.rank >= 0
        yield "row", (self.row >= 0) | (self.rank == 0)


NETWORKS = Kind("networks", 2, {"networks": Judged})
