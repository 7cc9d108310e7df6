"""Pose scores and affinities of poses on a device, and what they have to say in the choice."""

from collections.abc import Mapping

import numpy as np

from ligen_py.engine.functions.gnina.atoms import Atoms, posed
from ligen_py.engine.functions.gnina.constants import NETWORKS, TERMS, radii
from ligen_py.engine.functions.gnina.device import Ensemble
from ligen_py.engine.functions.gnina.networks import OUTPUTS
from ligen_py.engine.functions.gnina.outputs import terms
from ligen_py.engine.functions.gnina.weights import load
from ligen_py.engine.scoring.pose_kernel import PoseBatch
from ligen_py.opencl.device import Device
from ligen_py.records.functions.gnina import GninaLigands, GninaReceptor


class Gnina:
    """gnina's networks for poses in one receptor, on one device."""

    terms = TERMS

    def __init__(
        self, device: Device, receptor: GninaReceptor, ensemble: Ensemble | None = None
    ) -> None:
        """Read the weights, where no `ensemble` has them; InputError where there are none."""
        self._ensemble = ensemble or Ensemble(device, load(NETWORKS))
        self._receptor = Atoms.of(receptor.xyz, receptor.channel, radii(receptor.element))

    def score(self, ligands: GninaLigands, batch: PoseBatch) -> np.ndarray:
        """All poses of a batch: float32 (terms, poses).

        NaN where a pose's coordinates are not finite.
        """
        placed, poses = [], batch.poses
        for number in range(batch.first, batch.last):
            rows = slice(poses.first_pose[number], poses.first_pose[number + 1])
            placed += posed(ligands, poses, number, rows)
        known = [row for row, ligand in enumerate(placed) if np.isfinite(ligand.xyz).all()]
        outputs = np.full((len(NETWORKS), len(placed), len(OUTPUTS)), np.nan)
        outputs[:, known] = self._ensemble.outputs(self._receptor, [placed[row] for row in known])
        found = terms(outputs)
        return np.stack([found[name] for name in TERMS])


OWN = None
"""The term of the ligand's own energy that `pose_energy` includes."""


def pose_energy(terms: Mapping[str, np.ndarray]) -> np.ndarray:
    """What compares poses of one ligand (poses,): minus the logit; a weight makes it kcal/mol."""
    return -terms["logit"]


SCORER = Gnina
"""Makes a `ScoringFunction`."""
