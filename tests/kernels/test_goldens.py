"""Kernels against values of independent programs, on every OpenCL device found."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.engine.filtering.batched import filter_poses
from ligen_py.engine.functions.vina.constants import TERMS
from ligen_py.engine.functions.vina.scorer import Vina
from ligen_py.engine.functions.vinardo.scorer import Vinardo
from ligen_py.engine.random_input import make_ligands, make_poses
from ligen_py.engine.scoring.pose_kernel import PoseBatch
from ligen_py.opencl.device import Device
from ligen_py.records.functions.vina import VinaLigands, VinaType
from ligen_py.records.kept import Verdict
from ligen_py.settings.filter import FilterSettings
from tests import goldens, pdbqt
from tests.vina_values import (
    GROUPS,
    LIGANDS,
    REACH,
    group,
    known_pairs,
    pocket,
    poses,
    receptor_of,
)
from tests.xscore_input import with_types

SCORERS = {"vina": Vina, "vinardo": Vinardo}


def groups_as_ligands() -> VinaLigands:
    """Each group as a ligand of two heavy atoms, of which the second may have no type."""
    count = len(GROUPS)
    kinds = np.full((count, 5), VinaType.NONE, "u1")
    for row, names in zip(kinds, GROUPS.values(), strict=True):
        row[: len(names)] = [VinaType[name] for name in names]
    xyz = np.zeros((count, 5, 3), "f4")
    xyz[:, 1, 0] = -1.4
    return replace(
        with_types(make_ligands([(5, 0)] * count))["vina"],
        heavy=np.full(count, 2, "i4"),
        first_pair=2 * np.arange(count + 1, dtype="i8"),
        pair_mask=np.zeros(2 * count, "u4"),
        xyz=xyz.reshape(-1, 3),
        element=np.tile(np.array([6, 6, 1, 1, 1], "u1"), count),
        type=kinds.ravel(),
        rotors=np.zeros(count, "f4"),
    )


@pytest.mark.parametrize("form", SCORERS)
def test_pairs_have_vinas_energies(device: Device, form: str) -> None:
    if device.is_simulator:
        pytest.skip("3456 pairs take a simulator too long")
    ligands = groups_as_ligands()
    places = [(40 * j, 40 * i) for i in range(len(GROUPS)) for j in range(len(REACH))]
    atoms = [
        (xyz + np.array([x, y, 0], "f4"), types)
        for i, name in enumerate(GROUPS)
        for j, distance in enumerate(REACH)
        for (x, y), (xyz, types) in [(places[i * len(REACH) + j], group(name, distance, 1))]
    ]
    receptor = receptor_of(*(np.concatenate(part) for part in zip(*atoms, strict=True)))
    start = make_poses(ligands, len(places))
    translation = np.column_stack([np.array(places), np.zeros(len(places))])
    placed = replace(
        start,
        translation=np.tile(translation, (len(GROUPS), 1)).astype("f4"),
        quaternion=np.tile(np.array([1, 0, 0, 0], "f4"), (len(start.restart), 1)),
    )
    batch = PoseBatch(device, ligands, placed, 0, len(GROUPS))
    found = SCORERS[form](device, receptor).score(ligands, batch)
    affinity = found[TERMS.index("affinity")].reshape(len(GROUPS), len(GROUPS), len(REACH))
    names = list(GROUPS)
    # What Vina's table of 1/32 A^2 is worth at these distances.
    different = np.argwhere(np.abs(affinity - known_pairs(form)) > 2e-3)
    assert not [(names[i], names[j], REACH[k]) for i, j, k in different]


@pytest.mark.parametrize("form", SCORERS)
@pytest.mark.parametrize("name", LIGANDS)
def test_poses_score_as_in_vina(device: Device, name: str, form: str) -> None:
    if device.is_simulator:
        pytest.skip("whole pockets take a simulator too long")
    scorer = SCORERS[form](device, pocket(LIGANDS[name]["pocket"]))
    for ligands, pose in poses(name):
        batch = PoseBatch(device, ligands, pdbqt.start_poses(ligands), 0, 1)
        values = scorer.score(ligands, batch)[:, 0]
        found = dict(zip(TERMS, values, strict=True))
        # Vina's look-up table alone is worth up to 0.015 kcal/mol of a total.
        assert found["affinity"] == pytest.approx(pose[form]["total"], abs=0.015)
        assert found["intra"] == pytest.approx(pose[form]["intra"], abs=0.015)


def test_clusters_are_those_of_spyrmsd(device: Device) -> None:
    ligands, placed, rmsd, limit = goldens.clustered()
    settings = FilterSettings(
        max_num_poses=len(placed.score), max_pocket_bumps=0, cluster_rmsd=limit
    )
    kept, verdicts = filter_poses(device, ligands, placed, settings)
    leader = goldens.leaders(placed.score, rmsd, limit)
    ahead = verdicts.verdict == Verdict.REPRESENTATIVE
    best = sorted(set(leader.tolist()), key=lambda pose: -placed.score[pose])
    assert kept.number[ahead].tolist() == best
    numbers = dict(zip(verdicts.cluster[ahead].tolist(), best, strict=True))
    found = [numbers[cluster] for cluster in verdicts.cluster.tolist()]
    assert found == leader[kept.number].tolist()
