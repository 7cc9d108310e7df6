"""The Vina kernel against its NumPy twin, on every OpenCL device found."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.engine.functions.vina import reference as vina_reference
from ligen_py.engine.functions.vina.constants import TERMS
from ligen_py.engine.functions.vina.scorer import Vina
from ligen_py.engine.functions.vinardo import reference as vinardo_reference
from ligen_py.engine.functions.vinardo.scorer import Vinardo
from ligen_py.engine.random_input import make_ligands, make_poses
from ligen_py.engine.scoring import scores as scoring
from ligen_py.engine.scoring.pose_kernel import PoseBatch
from ligen_py.opencl.device import Device
from ligen_py.records.column import extended
from ligen_py.records.functions.vina import VinaLigands, VinaReceptor, VinaType
from ligen_py.records.poses import Poses
from ligen_py.records.typed import Typed
from tests.xscore_input import as_vina, random_receptor, with_types

SCORERS = {"vina": Vina, "vinardo": Vinardo}
TWINS = {"vina": vina_reference, "vinardo": vinardo_reference}
TYPES = len(VinaType)


def system(device: Device) -> tuple[VinaLigands, VinaReceptor, Poses]:
    """Ligands of both size classes and a receptor of a protein's density, all types in both."""
    rng = np.random.default_rng(1)
    sizes = [(12, 2)] if device.is_simulator else [(5, 0), (30, 4), (64, 6), (65, 3)]
    ligands = make_ligands(sizes)
    kinds = rng.integers(1, TYPES, len(ligands.element))
    ligands = extended(
        ligands,
        VinaLigands,
        type=np.where(ligands.element > 1, kinds, VinaType.NONE).astype("u1"),
        rotors=(rng.integers(0, 20, len(sizes)) / 2).astype("f4"),
    )
    atoms = 60 if device.is_simulator else 400
    receptor = as_vina(
        random_receptor(atoms, (atoms * 20.0) ** (1 / 3) / 2), rng.integers(0, TYPES, atoms)
    )
    return ligands, receptor, make_poses(ligands, 3)


def all_terms(
    device: Device, scorer: Vina, ligands: VinaLigands, poses: Poses
) -> dict[str, np.ndarray]:
    batch = PoseBatch(device, ligands, poses, 0, len(ligands.entry))
    return dict(zip(TERMS, scorer.score(ligands, batch), strict=True))


@pytest.mark.lanes_64("Oclgrind", "Portable")
@pytest.mark.parametrize("form", SCORERS)
def test_kernel_equals_twin(device: Device, form: str) -> None:
    ligands, receptor, poses = system(device)
    expected = TWINS[form].score_poses(ligands, receptor, poses)
    found = all_terms(device, SCORERS[form](device, receptor), ligands, poses)
    for term in TERMS:
        assert found[term] == pytest.approx(expected[term], rel=1e-5, abs=1e-4), term
        assert np.abs(expected[term]).max() > 0 or (form, term) == ("vinardo", "gauss2")


def test_batches_change_no_bit(device: Device) -> None:
    if device.is_simulator:
        pytest.skip("a simulator runs one batch only, for time")
    ligands, receptor, poses = system(device)
    typed = dict.fromkeys(SCORERS, Typed(ligands, receptor))
    whole = scoring.score(device, typed, poses)
    single = scoring.score(device, typed, poses, batch_bytes=1)
    for name in SCORERS:
        for term in TERMS:
            assert np.array_equal(whole[name][term], single[name][term]), (name, term)


def two_atoms(
    kinds: tuple[VinaType, VinaType], distance: float
) -> tuple[VinaLigands, VinaReceptor, Poses]:
    """A ligand of one atom at the origin, a receptor of one atom on the x axis."""
    ligands = replace(
        with_types(make_ligands([(5, 0)]))["vina"],
        heavy=np.array([1], "i4"),
        first_pair=np.array([0, 1], "i8"),
        pair_mask=np.zeros(1, "u4"),
        xyz=np.zeros((5, 3), "f4"),
        element=np.array([6, 1, 1, 1, 1], "u1"),
        type=np.array([kinds[0], 0, 0, 0, 0], "u1"),
        rotors=np.array([2], "f4"),
    )
    receptor = replace(
        as_vina(random_receptor(1, 1.0)),
        xyz=np.array([[distance, 0, 0]], "f4"),
        type=np.array([kinds[1]], "u1"),
    )
    poses = replace(
        make_poses(ligands, 1),
        translation=np.zeros((1, 3), "f4"),
        quaternion=np.array([[1, 0, 0, 0]], "f4"),
    )
    return ligands, receptor, poses


def test_worked_pairs(device: Device) -> None:
    # O_DA and N_D at 2.9 A: contact 3.5, s = -0.6. gauss1 -0.035579 exp(-1.44) = -0.008430; gauss2
    # -0.005156 exp(-3.24) = -0.000202; repulsion 0.840245 * 0.36 = 0.302488; hydrogen bond
    # -0.587439 * 0.6 / 0.7 = -0.503519. Affinity -0.209663 / 1.11692 = -0.187715.
    ligands, receptor, poses = two_atoms((VinaType.O_DA, VinaType.N_D), 2.9)
    found = all_terms(device, Vina(device, receptor), ligands, poses)
    assert found["gauss1"] == pytest.approx(-0.008430, abs=1e-6)
    assert found["gauss2"] == pytest.approx(-0.000202, abs=1e-6)
    assert found["repulsion"] == pytest.approx(0.302488, abs=1e-5)
    assert found["hydrophobic"] == pytest.approx(0)
    assert found["hbond"] == pytest.approx(-0.503519, abs=1e-5)
    assert found["affinity"] == pytest.approx(-0.187715, abs=1e-5)
    assert found["total"] == pytest.approx(0.187715, abs=1e-5)
    # Vinardo, two carbons at 4.5 A: s = 0.5. gauss1 -0.045 exp(-0.390625) = -0.030449;
    # hydrophobic -0.035 * 2 / 2.5 = -0.028.
    ligands, receptor, poses = two_atoms((VinaType.C_H, VinaType.C_H), 4.5)
    found = all_terms(device, Vinardo(device, receptor), ligands, poses)
    assert found["gauss1"] == pytest.approx(-0.030449, abs=1e-6)
    assert found["hydrophobic"] == pytest.approx(-0.028, abs=1e-6)
    assert found["affinity"] == pytest.approx(-0.058449 / 1.11692, abs=1e-6)


def test_a_clash_is_capped_in_the_affinity_alone(device: Device) -> None:
    ligands, receptor, poses = two_atoms((VinaType.N_P, VinaType.N_P), 0.0)
    found = all_terms(device, Vina(device, receptor), ligands, poses)
    energy = 0.840245 * 3.6**2
    assert found["repulsion"] == pytest.approx(energy, rel=1e-5)
    assert found["affinity"] == pytest.approx(energy * 1000 / (1000 + energy) / 1.11692, abs=1e-4)


def test_atoms_at_the_cut_off_do_not_interact(device: Device) -> None:
    ligands, receptor, poses = two_atoms((VinaType.C_H, VinaType.C_H), 8.0)
    found = all_terms(device, Vina(device, receptor), ligands, poses)
    assert found["affinity"] == pytest.approx(0, abs=0)


def test_a_pose_that_is_not_finite_has_no_score(device: Device) -> None:
    ligands, receptor, poses = system(device)
    broken = poses.translation.copy()
    broken[1, 2] = np.inf
    found = all_terms(device, Vina(device, receptor), ligands, replace(poses, translation=broken))
    for term in TERMS:
        assert np.isnan(found[term][1]) == (term != "rotors"), term
        assert np.isfinite(found[term][[0, 2]]).all()
    expected = vina_reference.score_poses(ligands, receptor, replace(poses, translation=broken))
    assert np.flatnonzero(np.isnan(expected["affinity"])).tolist() == [1]
