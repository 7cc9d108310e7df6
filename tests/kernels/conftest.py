"""Every OpenCL device found; tests that ask for it also run with sub-groups of 64 lanes."""

import pytest

from ligen_py.opencl.device import Device, devices

FOUND = devices()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test every device, and those of the platforms in `lanes_64` again with 64 lanes.

    AMD's GPUs have 64. Without sub-groups of its own a runtime takes any size: the simulator runs
    every kernel so, PoCL those that it compiles in seconds.
    """
    if "device" not in metafunc.fixturenames:
        return
    marks = metafunc.definition.iter_markers("lanes_64")
    platforms = tuple(name for mark in marks for name in mark.args)
    wide = [device for device in FOUND if device.handle.platform.name.startswith(platforms)]
    chosen = [*FOUND, *(Device(device.handle, 64) for device in wide)]
    names = [device.handle.platform.name for device in FOUND]
    names += [f"{device.handle.platform.name}, 64 lanes" for device in wide]
    metafunc.parametrize("device", chosen, ids=names, indirect=True, scope="session")


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> Device:
    """Each device in turn; the simulator is slow, so tests size their input by `is_simulator`."""
    found: Device = request.param
    if found.fault is not None:
        pytest.skip(f"{found.handle.platform.name} cannot build a kernel here: {found.fault}")
    return found
