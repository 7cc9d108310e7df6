"""The X-Score kernel against its NumPy twin, on every OpenCL device found."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.engine.functions.xscore import reference as xscore_reference
from ligen_py.engine.functions.xscore.constants import TERMS
from ligen_py.engine.functions.xscore.scorer import XScore
from ligen_py.engine.random_input import make_poses
from ligen_py.engine.scoring import scores as scoring
from ligen_py.engine.scoring.pose_kernel import PoseBatch
from ligen_py.errors import InputError
from ligen_py.opencl.device import Device
from ligen_py.records.functions.xscore import Interaction, XScoreLigands, XScoreReceptor
from ligen_py.records.poses import Poses
from ligen_py.records.typed import Typed
from tests.xscore_input import MATCHES, random_receptor, receptor, typed_ligands


def system(device: Device, crowded: bool = False) -> tuple[XScoreLigands, XScoreReceptor, Poses]:
    """Ligands of both size classes in a receptor of a protein's density, or a far denser one."""
    sizes = [(12, 2)] if device.is_simulator else [(5, 0), (30, 4), (64, 6), (65, 3)]
    ligands = typed_ligands(sizes)
    poses = make_poses(ligands, 3)
    atoms = 60 if device.is_simulator else 400
    per_atom = 5.0 if crowded else 20.0  # cubic Angstrom
    return ligands, random_receptor(atoms, (atoms * per_atom) ** (1 / 3) / 2), poses


def all_terms(
    device: Device, scorer: XScore, ligands: XScoreLigands, poses: Poses
) -> dict[str, np.ndarray]:
    batch = PoseBatch(device, ligands, poses, 0, len(ligands.entry))
    return dict(zip(TERMS, scorer.score(ligands, batch), strict=True))


@pytest.mark.lanes_64("Oclgrind", "Portable")
@pytest.mark.parametrize("crowded", [False, True])
def test_kernel_equals_twin(device: Device, crowded: bool) -> None:
    ligands, pocket, poses = system(device, crowded)
    expected = xscore_reference.score_poses(ligands, pocket, poses)
    found = all_terms(device, XScore(device, pocket), ligands, poses)
    assert expected["hb"].max() > 0
    assert expected["hp"].max() > 0
    assert expected["hm"].max() > 0
    assert expected["vdw"].max() > 0
    for term in TERMS:
        assert found[term] == pytest.approx(expected[term], rel=1e-4, abs=1e-4), term


def test_the_length_of_the_candidate_list_changes_no_bit(device: Device) -> None:
    ligands, pocket, poses = system(device)
    long_list = all_terms(device, XScore(device, pocket), ligands, poses)
    short_list = all_terms(device, XScore(device, pocket, near_sites=1), ligands, poses)
    assert long_list["hb"].max() > 0
    for term in TERMS:
        assert np.array_equal(long_list[term], short_list[term]), term


def test_batches_change_no_bit(device: Device) -> None:
    if device.is_simulator:
        pytest.skip("a simulator runs one batch only, for time")
    ligands, pocket, poses = system(device)
    typed = {"xscore": Typed(ligands, pocket)}
    whole = scoring.score(device, typed, poses)["xscore"]
    single = scoring.score(device, typed, poses, batch_bytes=1)["xscore"]
    for term in TERMS:
        assert np.array_equal(whole[term], single[term]), term


def carbonyl(xyz: tuple[float, float, float]) -> tuple[XScoreLigands, Poses]:
    """A carbon with an acceptor oxygen 1.2 A along x, the carbon at `xyz`."""
    ligands = replace(
        typed_ligands([(2, 0)]),
        xyz=np.array([[0, 0, 0], [1.2, 0, 0]], "f4"),
        element=np.array([6, 8], "u1"),
        radius=np.array([1.9, 1.55], "f4"),
        interaction=np.array([Interaction.POLAR, Interaction.ACCEPTOR], "u1"),
        donor=np.zeros(2, "u1"),
        acceptor=np.array([0, 2], "u1"),
        logp=np.array([0.0, 0.9], "f4"),
        rotors=np.array([1.5], "f4"),
    )
    poses = replace(
        make_poses(ligands, 1),
        translation=np.array([xyz], "f4"),
        quaternion=np.array([[1, 0, 0, 0]], "f4"),
    )
    return ligands, poses


def test_worked_system(device: Device) -> None:
    # The pose puts C at (1, 0, 0) and O at (2.2, 0, 0); one donor, rootless, radius 1.75, at
    # (2.2, 3.2, 0): 3.2 A from O. HB: contact 3.3, f = (3.5 - 3.2) / 0.6 = 0.5; the acceptor's
    # angle N -> O against O -> C is 90 degrees, angled: (95 - 90) / 25 = 0.2; value 0.1.
    # VDW of O: (3.3 / 3.2)^4 = 1.131001, 2x - x^2 = 0.982839. C is 3.417602 A off, d0 = 3.65:
    # x = 1.301009, 2x - x^2 = 0.909393; VDW 1.892232, times 0.004: 0.007569.
    # HPScore 3.441 + 0.007569 + 0.054 * 0.1 - 0.061 * 1.5 = 3.362469
    # HMScore 3.567 + 0.007569 + 0.101 * 0.1 - 0.097 * 1.5 = 3.439169; mean 3.400819
    ligands, poses = carbonyl((1, 0, 0))
    pocket = receptor([[2.2, 3.2, 0]], 1.75, Interaction.DONOR, donor=1)
    found = all_terms(device, XScore(device, pocket), ligands, poses)
    assert found["hb"] == pytest.approx(0.1, abs=1e-5)
    assert found["vdw"] == pytest.approx(1.892232, abs=1e-4)
    assert found["hp"] == pytest.approx(0)
    assert found["hm"] == pytest.approx(0)
    assert found["rt"] == pytest.approx(1.5)
    assert found["hpscore"] == pytest.approx(3.362469, abs=1e-5)
    assert found["hmscore"] == pytest.approx(3.439169, abs=1e-5)
    assert found["total"] == pytest.approx(3.400819, abs=1e-5)


@pytest.mark.parametrize(("own", "around", "counts"), MATCHES)
def test_hydrophobic_match(
    device: Device, own: float, around: list[tuple[float, float]], counts: bool
) -> None:
    # The carbon at (1, 0, 0) is hydrophobic, the oxygen behind it is not.
    ligands, poses = carbonyl((1, 0, 0))
    ligands = replace(
        ligands,
        radius=np.array([2.1, 1.55], "f4"),
        interaction=np.array([Interaction.HYDROPHOBIC, Interaction.ACCEPTOR], "u1"),
        logp=np.array([own, 0.9], "f4"),
    )
    places, logp = [[1 - distance, 0, 0] for distance, _ in around], [value for _, value in around]
    pocket = receptor(places, interaction=Interaction.POLAR, logp=logp)
    found = all_terms(device, XScore(device, pocket), ligands, poses)
    assert found["hm"] == pytest.approx(own if counts else 0)
    assert found["hp"] == pytest.approx(0)


def test_an_empty_receptor_scores_the_constant_and_the_rotors(device: Device) -> None:
    ligands, poses = carbonyl((0, 0, 0))
    found = all_terms(device, XScore(device, receptor([])), ligands, poses)
    # HPScore 3.441 - 0.061 * 1.5 = 3.3495; HMScore 3.567 - 0.097 * 1.5 = 3.4215
    assert found["total"] == pytest.approx(3.3855)


def test_a_pose_that_is_not_finite_has_no_score(device: Device) -> None:
    ligands, poses = carbonyl((float("nan"), 0, 0))
    found = all_terms(device, XScore(device, receptor([[3, 0, 0]])), ligands, poses)
    assert np.isnan(found["total"]).all()


def test_a_ligand_on_top_of_a_receptor_atom_stays_finite(device: Device) -> None:
    ligands, poses = carbonyl((0, 0, 0))
    pocket = receptor([[0, 0, 0], [1.2, 0, 0]], 1.55, Interaction.DONOR, donor=1)
    found = all_terms(device, XScore(device, pocket), ligands, poses)
    assert found["vdw"] == pytest.approx(0)
    assert found["total"] == pytest.approx(3.3855, abs=1e-5)


def test_a_donor_with_too_many_neighbours_is_refused(device: Device) -> None:
    ligands = replace(
        typed_ligands([(5, 0)]),
        element=np.full(5, 6, "u1"),
        bond=np.array([[0, 1], [0, 2], [0, 3], [0, 4]], "u1"),
        donor=np.array([1, 0, 0, 0, 0], "u1"),
        radius=np.full(5, 1.8, "f4"),
    )
    with pytest.raises(InputError, match="heavy neighbours"):
        all_terms(device, XScore(device, receptor([[3, 0, 0]])), ligands, make_poses(ligands, 1))
