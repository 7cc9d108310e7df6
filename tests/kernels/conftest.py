"""Every OpenCL device found."""

import pytest

from ligen_py.opencl.device import Device, devices

FOUND = devices()


@pytest.fixture(
    scope="session", params=FOUND, ids=[device.handle.platform.name for device in FOUND]
)
def device(request: pytest.FixtureRequest) -> Device:
    """Each device in turn; the simulator is slow, so tests size their input by `is_simulator`."""
    found: Device = request.param
    if found.fault is not None:
        pytest.skip(f"{found.handle.platform.name} cannot build a kernel here: {found.fault}")
    return found
