"""The kernels of gnina's networks against their NumPy twin, libmolgrid and PyTorch."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from ligen_py.engine.functions.gnina import device as of_device
from ligen_py.engine.functions.gnina import reference
from ligen_py.engine.functions.gnina.atoms import Atoms
from ligen_py.engine.functions.gnina.device import Ensemble
from ligen_py.engine.functions.gnina.networks import Network, network
from ligen_py.engine.functions.gnina.outputs import terms
from ligen_py.engine.functions.gnina.weights import read
from ligen_py.opencl.device import Device
from tests.gnina import NETWORKS, random_tensors
from tests.gnina import weights_folder as weights
from tests.runtimes import leave_to_the_first
from tests.unit.engine.functions.gnina.test_reference import (
    COMPLEXES,
    TOLERANCE,
    atoms,
    expected,
)

POSES = 5
"""More than one batch of a processor with two cores."""


@pytest.fixture(scope="module")
def networks() -> list[Network]:
    return [network(random_tensors(name)) for name in ("plain", "dense")]


def twin(around: Atoms, poses: Sequence[Atoms], found: Network) -> np.ndarray:
    grids = [
        reference.density(reference.joined(around, pose), reference.origin(pose.center()))
        for pose in poses
    ]
    return reference.run(found, np.stack(grids))


@pytest.fixture
def ensemble(device: Device, networks: list[Network]) -> Ensemble:
    if device.is_simulator:
        pytest.skip("a pose takes the simulator hours")
    return Ensemble(device, networks)


def test_kernels_can_number_the_values_of_a_launch_on_many_cores(networks: list[Network]) -> None:
    handle = SimpleNamespace(max_compute_units=768, global_mem_size=1 << 50)
    handle.max_mem_alloc_size = handle.global_mem_size
    device = cast("Device", SimpleNamespace(kind="cpu", handle=handle))
    widest = (of_device.POOLED + 2) ** 3 * 96  # the first block of `dense`
    batch = of_device._batch(device, networks)
    assert batch * widest <= np.iinfo(np.int32).max < (batch + 1) * widest


def test_outputs_are_the_twins_and_pytorchs(ensemble: Ensemble, networks: list[Network]) -> None:
    for complex_ in COMPLEXES[:2]:
        around, poses = atoms(complex_)
        outputs = ensemble.outputs(around, poses[:POSES])
        for number, name in enumerate(("plain", "dense_random")):
            own = twin(around, poses[:2], networks[number])
            assert outputs[number, :2] == pytest.approx(own, abs=TOLERANCE)
            found = terms(outputs[[number]])
            known = expected(complex_, name)[:POSES]
            assert found["pose"] == pytest.approx(known[:, 0], abs=TOLERANCE)
            assert found["affinity"] == pytest.approx(known[:, 1], abs=TOLERANCE)


def test_no_pose_depends_on_those_beside_it(device: Device, ensemble: Ensemble) -> None:
    leave_to_the_first(device)
    around, poses = atoms(COMPLEXES[1])
    together = ensemble.outputs(around, poses[:POSES])
    alone = np.concatenate([ensemble.outputs(around, [pose]) for pose in poses[:POSES]], axis=1)
    assert together.tobytes() == alone.tobytes()
    turned = ensemble.outputs(around, poses[POSES - 1 :: -1])
    assert turned[:, ::-1].tobytes() == together.tobytes()


def test_without_receptor_and_without_poses(ensemble: Ensemble, networks: list[Network]) -> None:
    around, poses = atoms(COMPLEXES[0])
    nothing = Atoms(around.xyz[:0], around.channel[:0], around.radius[:0])
    far = Atoms(around.xyz + 500, around.channel, around.radius)
    alone = ensemble.outputs(nothing, poses[:1])
    assert alone[0] == pytest.approx(twin(nothing, poses[:1], networks[0]), abs=TOLERANCE)
    assert ensemble.outputs(far, poses[:1]).tobytes() == alone.tobytes()
    assert ensemble.outputs(around, []).shape == (2, 0, 3)


@pytest.mark.skipif(weights() is None, reason="the weights of gnina's networks are not installed")
def test_gninas_networks(device: Device) -> None:
    if device.is_simulator:
        pytest.skip("a pose takes the simulator hours")
    folder = weights()
    assert folder is not None
    own = Ensemble(device, [read(folder / f"{name}.pt") for name in NETWORKS])
    for complex_ in COMPLEXES:
        outputs = own.outputs(*atoms(complex_))
        for number, name in enumerate(NETWORKS):
            found, known = terms(outputs[[number]]), expected(complex_, name)
            assert found["pose"] == pytest.approx(known[:, 0], abs=TOLERANCE)
            assert found["affinity"] == pytest.approx(known[:, 1], abs=TOLERANCE)


def test_the_form_of_gpus_on_a_processor(
    device: Device, ensemble: Ensemble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One lane a work-item, in work-groups: the same sums in the same order."""
    leave_to_the_first(device)
    networks = [network(random_tensors("plain"))]
    monkeypatch.setattr(of_device, "LANES", {device.kind: 1})
    monkeypatch.setattr(of_device, "BATCH", {device.kind: 3})
    around, poses = atoms(COMPLEXES[2])
    found = Ensemble(device, networks).outputs(around, poses[:4])
    assert found[0] == pytest.approx(ensemble.outputs(around, poses[:4])[0], abs=TOLERANCE)
