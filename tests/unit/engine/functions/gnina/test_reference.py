"""Densities, networks and scores in NumPy against libmolgrid and PyTorch."""

import json

import numpy as np
import pytest

from ligen_py.engine.functions.gnina import reference
from ligen_py.engine.functions.gnina.atoms import Atoms
from ligen_py.engine.functions.gnina.constants import radii
from ligen_py.engine.functions.gnina.networks import (
    UnknownNetworkError,
    multiplications,
    network,
)
from ligen_py.engine.functions.gnina.outputs import terms
from ligen_py.engine.functions.gnina.weights import read
from tests.gnina import DATA, ELEMENTS, NETWORKS, moved, places, random_tensors, receptor
from tests.gnina import weights_folder as weights

COMPLEXES = json.loads((DATA / "gnina.json").read_text())["complexes"]
TOLERANCE = 1e-4
"""Of pose scores and affinities; 1e-3 is asked for."""


def atoms(complex_: dict) -> tuple[Atoms, list[Atoms]]:
    """The receptor, and the ligand in every pose."""
    rows, known = receptor(complex_["complex"]), complex_["receptor"]
    element = np.array([ELEMENTS[row["type"]] for row in rows])
    chosen = np.array(known["row"])
    around = Atoms.of(places(rows)[chosen], np.array(known["channel"]), radii(element[chosen]))
    ligand = complex_["ligand"]
    xyz, channel = np.array(ligand["xyz"]), np.array(ligand["channel"])
    radius = np.array(ligand["radius"], "f4")
    poses = [
        Atoms.of(moved(xyz, pose["turn"], pose["shift"]), channel, radius)
        for pose in complex_["poses"]
    ]
    return around, poses


def expected(complex_: dict, name: str) -> np.ndarray:
    """Pose score and affinity of every pose (poses, 2)."""
    return np.array([pose["scores"][name] for pose in complex_["poses"]])


def grids(complex_: dict, numbers: list[int]) -> np.ndarray:
    around, poses = atoms(complex_)
    return np.stack(
        [
            reference.density(
                reference.joined(around, poses[n]), reference.origin(poses[n].center())
            )
            for n in numbers
        ]
    )


@pytest.mark.parametrize("complex_", COMPLEXES, ids=lambda one: one["complex"])
def test_networks_of_random_weights(complex_: dict) -> None:
    numbers = [0, 7, 24]
    grid = grids(complex_, numbers)
    for name, tensors in (("plain", "plain"), ("dense_random", "dense")):
        found = terms(reference.run(network(random_tensors(tensors)), grid)[None])
        for column, term in enumerate(("pose", "affinity")):
            assert found[term] == pytest.approx(
                expected(complex_, name)[numbers, column], abs=TOLERANCE
            )


@pytest.mark.skipif(weights() is None, reason="the weights of gnina's networks are not installed")
@pytest.mark.parametrize("name", NETWORKS)
def test_gninas_networks(name: str) -> None:
    numbers = [0, 12, 24]
    own = read((weights() or DATA) / f"{name}.pt")
    for complex_ in COMPLEXES:
        found = terms(reference.run(own, grids(complex_, numbers))[None])
        for column, term in enumerate(("pose", "affinity")):
            assert found[term] == pytest.approx(
                expected(complex_, name)[numbers, column], abs=TOLERANCE
            )


def test_multiplications_of_a_pose() -> None:
    # 24^3 x 27 x 28 x 32 + 24^3 x 32 x 32 + 12^3 x 27 x 32 x 64 + ...
    assert multiplications(network(random_tensors("plain"))) == 499_074_048
    assert multiplications(network(random_tensors("dense"))) == 2_270_786_208


def test_an_ensembles_score_is_the_mean_of_probabilities() -> None:
    outputs = np.array([[[0.0, 2.0, 5.0]], [[3.0, 0.0, 7.0]]])
    found = terms(outputs)
    pose = (1 / (1 + np.exp(-2)) + 1 / (1 + np.exp(3))) / 2
    assert found["pose"][0] == pytest.approx(pose)
    assert found["logit"][0] == pytest.approx(np.log(pose / (1 - pose)), rel=1e-6)
    assert found["affinity"][0] == 6
    assert found["total"][0] == pytest.approx(6 * pose)
    sure = terms(np.array([[[-60.0, 60.0, 1.0]]]))
    assert sure["pose"][0] == 1
    assert np.isfinite(sure["logit"][0])


@pytest.mark.parametrize(
    ("kind", "name", "shape"),
    [
        ("plain", "unit1_conv.weight", (32, 28, 5, 5, 5)),
        ("plain", "unit1_conv.weight", ()),
        ("plain", "unit3_conv.weight", (64, 16, 3, 3, 3)),
        ("plain", "unit5_conv.weight", (160, 64, 3, 3, 3)),
        ("plain", "unit1_conv.bias", (1,)),
        ("plain", "pose_output.weight", (2, 100)),
        ("plain", "affinity_output.bias", ()),
        ("dense", "dense_block_0.data_enc_level0_batchnorm_conv0.running_var", (3,)),
        ("dense", "data_enc_level0_bottleneck.weight", (8, 96, 1, 1, 1)),
    ],
)
def test_a_tensor_of_another_shape_is_named(kind: str, name: str, shape: tuple[int, ...]) -> None:
    """Kernels would read past its end, or leave a part of it out."""
    tensors = random_tensors(kind) | {name: np.zeros(shape, "f4")}
    with pytest.raises(UnknownNetworkError) as raised:
        network(tensors)
    assert str(raised.value).startswith(f"{name} has the shape {shape}, not (")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pose_output.bias", np.nan),
        ("data_enc_init_conv.weight", np.inf),
        ("dense_block_1.data_enc_level1_batchnorm_conv2.running_var", -1),
    ],
)
def test_weights_are_finite(name: str, value: float) -> None:
    tensors = random_tensors("dense")
    tensors[name].flat[0] = value
    with pytest.raises(UnknownNetworkError, match="not all finite"):
        network(tensors)


def test_a_missing_tensor_is_named() -> None:
    with pytest.raises(UnknownNetworkError, match=r"no tensor unit1_conv\.weight"):
        network({"one.weight": np.zeros(3, "f4")})
