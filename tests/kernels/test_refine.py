"""Maps and refinement against their NumPy twin, on every OpenCL device found."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.engine import refining
from ligen_py.engine import refining_reference as twin
from ligen_py.engine.random_input import make_field, make_ligands, make_poses
from ligen_py.engine.refining import Chain, Refiner, keep_best, refiner_for, types_in
from ligen_py.engine.vina import CUTOFF, FORMS
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.tuning import Tuning
from ligen_py.records import Ligands, Poses, Receptor
from tests.xscore_input import random_receptor

CENTER = np.array([0, 7.5, 6.5])
FORM = FORMS["vina"]


def system(device: Device, spacing: float = 0.5) -> tuple[Ligands, Poses, Receptor, Refiner]:
    """Ligands, some atoms outside the box, in a loosely packed receptor.

    Of one class where kernels take long to compile, of several elsewhere.
    """
    rng = np.random.default_rng(1)
    sizes = (
        [(5, 0), (20, 4), (33, 6), (70, 12)] if device.back_end != "local" else [(20, 4), (9, 2)]
    )
    sizes = [(9, 2)] if device.is_simulator else sizes
    ligands = make_ligands(sizes)
    types = np.where(ligands.element == 1, 0, rng.integers(1, 13, len(ligands.xyz)))
    ligands = replace(ligands, vina_type=types.astype("u1"))
    poses = make_poses(ligands, 2 if device.is_simulator else 5)
    poses = replace(poses, translation=(poses.translation + CENTER).astype("f4"))
    receptor = random_receptor(120, 9.0)
    receptor = replace(
        receptor,
        xyz=(receptor.xyz + CENTER).astype("f4"),
        vina_type=rng.integers(1, 13, 120).astype("u1"),
    )
    field = make_field(shape=(9, 9, 9) if device.is_simulator else (21, 23, 25))
    return ligands, poses, receptor, refiner_for(device, receptor, field, ligands, "vina", spacing)


def maps_of(refiner: Refiner, ligands: Ligands) -> np.ndarray:
    shape = (len(types_in(ligands)), *refiner.maps.grid.shape)
    return buffers.download(refiner.device, refiner.maps.buffer, shape, np.float32)


def owners(poses: Poses) -> np.ndarray:
    return np.repeat(np.arange(len(poses.first_pose) - 1), np.diff(poses.first_pose))


def test_maps_equal_the_direct_sum(device: Device) -> None:
    ligands, _, receptor, refiner = system(device, 1.0)
    points, types = refiner.maps.grid.points, types_in(ligands)
    found = maps_of(refiner, ligands).reshape(len(types), -1)
    expected = twin.field_energy(points, receptor.xyz, receptor.vina_type, types, FORM)
    # The terms end with a jump at the cut-off; leave out points where rounding decides on it.
    distance = np.linalg.norm(points[:, None] - receptor.xyz, axis=-1)
    clear = (np.abs(distance - CUTOFF) > 1e-4).all(axis=1)
    assert clear.sum() > 0.9 * len(points)
    assert np.abs(expected).max() > 1
    assert found[:, clear] == pytest.approx(expected[:, clear], abs=1e-3)


def test_energies_and_gradients_equal_the_twin(device: Device) -> None:
    ligands, poses, _, refiner = system(device)
    maps = maps_of(refiner, ligands)
    found = refiner.refine(ligands, poses, Chain(0, 1, 1.2, 2.0))
    for pose, number in enumerate(owners(poses)):
        energy, gradient = twin.Problem.of(ligands, number, refiner.maps, maps).evaluate(
            twin.Genotype.of(poses, pose)
        )
        size = np.abs(gradient).max()
        assert found.before[pose] == pytest.approx(energy, rel=1e-5, abs=1e-3)
        assert found.gradients[pose, : len(gradient)] == pytest.approx(gradient, abs=1e-4 * size)


def test_gradients_are_derivatives(device: Device) -> None:
    if device.is_simulator:
        pytest.skip("the devices' maps serve a test of the twin; one more adds nothing")
    ligands, poses, _, refiner = system(device)
    maps = maps_of(refiner, ligands)
    for number in range(len(ligands.entry)):
        pocket = twin.Problem.of(ligands, number, refiner.maps, maps)
        start = twin.Genotype.of(poses, int(poses.first_pose[number]))
        gradient = pocket.evaluate(start)[1]
        for freedom, slope in enumerate(gradient):
            step = np.zeros(len(gradient))
            step[freedom] = 1e-6
            ahead, back = (pocket.evaluate(start.moved(s))[0] for s in (step, -step))
            assert (ahead - back) / 2e-6 == pytest.approx(slope, rel=1e-5, abs=1e-3)


def test_a_short_descent_equals_the_twin(device: Device) -> None:
    ligands, poses, _, refiner = system(device)
    maps = maps_of(refiner, ligands)
    found = refiner.refine(ligands, poses, Chain(1, 2, 1.2, 2.0))
    for pose, number in enumerate(owners(poses)):
        pocket = twin.Problem.of(ligands, number, refiner.maps, maps)
        energy, _ = twin.descend(
            pocket.evaluate, twin.Genotype.of(poses, pose), 2, pocket.squared_scale
        )
        assert found.after[pose] == pytest.approx(energy, rel=1e-3, abs=1e-2)


def test_random_changes_equal_the_twin(device: Device) -> None:
    # One evaluation a descent leaves a pose where it is, so a pose that got better in the second
    # round is exactly what the random change made of it.
    ligands, poses, _, refiner = system(device)
    found = refiner.refine(ligands, poses, Chain(2, 1, 1.2, 1.5), seed=5)
    numbers = np.arange(len(ligands.entry))
    rows = refining.pack(ligands, numbers, refiner.maps, 5).ligands
    better = np.flatnonzero(found.after < found.before)
    assert len(better) or device.is_simulator
    for pose in better:
        row = rows[owners(poses)[pose]]
        place, spread = twin.Genotype.of(poses, pose), float(row["radius_of_gyration"])
        expected = twin.perturbed(place, int(row["key"]), int(poses.restart[pose]), 1, 1.5, spread)
        changed = twin.Genotype.of(found.poses, pose)
        assert changed.translation == pytest.approx(expected.translation, abs=1e-4)
        alike = abs(float(changed.quaternion @ expected.quaternion))
        assert alike == pytest.approx(np.linalg.norm(place.quaternion), abs=1e-5)
        assert np.cos(changed.torsion - expected.torsion) == pytest.approx(1, abs=1e-6)


def test_no_rounds_change_no_bit(device: Device) -> None:
    ligands, poses, _, refiner = system(device)
    found = refiner.refine(ligands, poses, Chain(0, 30, 1.2, 2.0))
    assert np.array_equal(found.before, found.after)
    for column in ("translation", "quaternion", "torsion"):
        assert np.array_equal(getattr(found.poses, column), getattr(poses, column))


def test_rounds_lower_the_energy_and_it_is_that_of_the_pose(device: Device) -> None:
    if device.is_simulator:
        pytest.skip("too slow")
    ligands, poses, _, refiner = system(device)
    once = refiner.refine(ligands, poses, Chain(1, 30, 1.2, 2.0))
    often = refiner.refine(ligands, poses, Chain(6, 30, 1.2, 2.0))
    assert (once.after < once.before).any()
    assert (once.after <= once.before).all()
    assert (often.after <= once.after).all()
    again = refiner.refine(ligands, often.poses, Chain(0, 1, 1.2, 2.0))
    assert again.before == pytest.approx(often.after, rel=1e-3, abs=1e-2)


def test_batches_and_work_groups_change_no_bit(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    if device.is_simulator:
        pytest.skip("too slow")
    ligands, poses, _, refiner = system(device)
    chain = Chain(3, 12, 1.2, 2.0)
    expected = refiner.refine(ligands, poses, chain)
    monkeypatch.setattr(refining, "BATCH_LIGANDS", 1)
    if device.back_end != "local":
        monkeypatch.setattr(refining, "tuned", lambda *_: Tuning(sub_groups=3))
    found = refiner.refine(ligands, poses, chain)
    assert np.array_equal(found.after, expected.after)
    for column in ("translation", "quaternion", "torsion"):
        assert np.array_equal(getattr(found.poses, column), getattr(expected.poses, column))


def test_the_best_of_each_minimum_is_kept(device: Device) -> None:
    ligands, poses, _, refiner = system(device)
    refined = refiner.refine(ligands, poses, Chain(0, 1, 1.2, 2.0))
    kept, verdicts, energies = keep_best(device, ligands, refined, 4, 0.0)
    assert (np.diff(kept.first_pose) == min(4, poses.first_pose[1])).all()
    for first, last in zip(kept.first_pose[:-1], kept.first_pose[1:], strict=True):
        assert (np.diff(energies.after[first:last]) >= -1e-3).all()
    assert (verdicts.verdict == 0).all()
    alone, _, lowest = keep_best(device, ligands, refined, 4, 20.0)
    assert (np.diff(alone.first_pose) == 1).all()
    for number, energy in enumerate(lowest.after):
        rows = slice(poses.first_pose[number], poses.first_pose[number + 1])
        assert energy == pytest.approx(refined.after[rows].min(), abs=1e-3)
