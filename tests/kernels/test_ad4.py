"""The AutoDock4 kernel against its NumPy twin, on every OpenCL device found."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.engine.functions.ad4 import reference as ad4_reference
from ligen_py.engine.functions.ad4.constants import TERMS
from ligen_py.engine.functions.ad4.scorer import Ad4
from ligen_py.engine.random_input import make_ligands, make_poses
from ligen_py.engine.scoring.pose_kernel import PoseBatch
from ligen_py.molecules.typing.ad4 import charged_receptor
from ligen_py.opencl.device import Device
from ligen_py.records.column import extended
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Receptor, Ad4Type
from ligen_py.records.poses import Poses
from tests.xscore_input import charged_receptor as random_charges
from tests.xscore_input import with_types

TYPES = len(Ad4Type)


def system(device: Device) -> tuple[Ad4Ligands, Ad4Receptor, Poses]:
    """Ligands of both size classes, a receptor of a protein's density; all types in both."""
    rng = np.random.default_rng(2)
    sizes = [(12, 2)] if device.is_simulator else [(5, 0), (30, 4), (64, 6), (65, 3)]
    ligands = make_ligands(sizes)
    atoms = len(ligands.element)
    kinds = rng.choice([0, 1, 2, 3, 4, 5, 6, 8, 11], atoms)
    ligands = extended(
        ligands,
        Ad4Ligands,
        type=kinds.astype("u1"),
        partial_charge=np.where(kinds > 0, rng.uniform(-0.6, 0.4, atoms), 0).astype("f4"),
        torsions=rng.integers(0, 9, len(sizes)).astype("f4"),
    )
    count = 60 if device.is_simulator else 400
    receptor = random_charges(count, (count * 12.0) ** (1 / 3) / 2)
    return ligands, receptor, make_poses(ligands, 3)


def all_terms(device: Device, ligands: Ad4Ligands, receptor: Ad4Receptor, poses: Poses) -> dict:
    batch = PoseBatch(device, ligands, poses, 0, len(ligands.entry))
    return dict(zip(TERMS, Ad4(device, receptor).score(ligands, batch), strict=True))


@pytest.mark.lanes_64("Oclgrind")
def test_kernel_equals_twin(device: Device) -> None:
    ligands, receptor, poses = system(device)
    expected = ad4_reference.score_poses(ligands, receptor, poses)
    found = all_terms(device, ligands, receptor, poses)
    for term in TERMS:
        # Random atoms overlap: energies on the walls are large and steep.
        assert found[term] == pytest.approx(expected[term], rel=2e-4, abs=2e-3), term
        assert np.abs(expected[term]).max() > 0


def test_batches_change_no_bit(device: Device) -> None:
    if device.is_simulator:
        pytest.skip("a simulator runs one batch only, for time")
    ligands, receptor, poses = system(device)
    scorer = Ad4(device, receptor)
    count = len(ligands.entry)
    whole = scorer.score(ligands, PoseBatch(device, ligands, poses, 0, count))
    parts = [
        scorer.score(ligands, PoseBatch(device, ligands, poses, n, n + 1)) for n in range(count)
    ]
    assert np.array_equal(whole, np.concatenate(parts, axis=1))


def atom_at(kind: Ad4Type, charge: float, x: float) -> tuple[Ad4Ligands, Poses]:
    """A ligand whose only typed atom stands on the x axis."""
    ligands = replace(
        with_types(make_ligands([(5, 0)]))["ad4"],
        xyz=np.zeros((5, 3), "f4"),
        type=np.array([kind, 0, 0, 0, 0], "u1"),
        partial_charge=np.array([charge, 0, 0, 0, 0], "f4"),
        torsions=np.array([3], "f4"),
    )
    poses = replace(
        make_poses(ligands, 1),
        translation=np.array([[x, 0, 0]], "f4"),
        quaternion=np.array([[1, 0, 0, 0]], "f4"),
    )
    return ligands, poses


def amide() -> Ad4Receptor:
    """N-H along x, the hydrogen at the origin."""
    xyz = np.array([[-1.0, 0, 0], [0, 0, 0]])
    return charged_receptor(xyz, np.array([Ad4Type.N, Ad4Type.HD]), np.array([-0.35, 0.16]))


def test_worked_hydrogen_bond(device: Device) -> None:
    # An oxygen straight before an N-H, 1.9 A off: the minimum, so -0.1209 * 5. Van der Waals with N
    # at 2.9 A: eps 0.1662 sqrt(0.16 * 0.2) = 0.029731, Rij 3.35, smoothed to 3.15: ratio^6 =
    # 1.446818, eps (ratio^12 - 2 ratio^6) = -0.023796. Torsions 3 * 0.2983.
    ligands, poses = atom_at(Ad4Type.OA, 0.0, 1.9)
    found = all_terms(device, ligands, amide(), poses)
    assert found["hbond"] == pytest.approx(-0.6045, abs=1e-4)
    assert found["vdw"] == pytest.approx(-0.023796, abs=1e-5)
    assert found["estat"] == pytest.approx(0)
    assert found["torsional"] == pytest.approx(0.8949)
    assert found["total"] == pytest.approx(-found["affinity"])


def test_worked_charges(device: Device) -> None:
    # eps(4.0) = -8.5525 + 86.9525 / (1 + 7.7839 exp(-0.003627 * 86.9525 * 4)) = 18.5811 and
    # eps(5.0) = 24.7844; 0.1406 * 332.06363 * 0.5 * (0.16 / (4 * 18.5811) - 0.35 / (5 * 24.7844)).
    ligands, poses = atom_at(Ad4Type.C, 0.5, 4.0)
    found = all_terms(device, ligands, amide(), poses)
    assert found["estat"] == pytest.approx(-0.015679, abs=2e-6)


def test_behind_the_donor_there_is_no_bond(device: Device) -> None:
    receptor = amide()
    behind = charged_receptor(
        receptor.xyz * [-1.0, 1, 1], receptor.type, receptor.partial_charge.astype(float)
    )
    ligands, poses = atom_at(Ad4Type.OA, 0.0, 3.5)
    assert all_terms(device, ligands, behind, poses)["hbond"] == pytest.approx(0, abs=1e-7)
    assert all_terms(device, ligands, receptor, poses)["hbond"][0] < -0.01


def test_a_pose_that_is_not_finite_has_no_score(device: Device) -> None:
    ligands, poses = atom_at(Ad4Type.OA, 0.1, np.nan)
    found = all_terms(device, ligands, amide(), poses)
    expected = ad4_reference.score_poses(ligands, amide(), poses)
    for term in TERMS:
        assert np.isnan(found[term][0]) == (term != "torsional"), term
        assert np.isnan(expected[term][0]) == (term != "torsional"), term
