"""Every OpenCL device found, and those without sub-groups of their own also with 64 lanes."""

import pytest

from ligen_py.opencl.device import SUB_GROUP_SIZE, Device, devices

FOUND = devices()
# Where a sub-group is a work-group it has any size: 64 stands for AMD's.
WIDE = [Device(device.handle, 64) for device in FOUND if device.back_end == "local"]


def name(device: Device) -> str:
    wide = device.sub_group_size != SUB_GROUP_SIZE
    return device.handle.platform.name + f", {device.sub_group_size} lanes" * wide


@pytest.fixture(scope="session", params=[*FOUND, *WIDE], ids=name)
def device(request: pytest.FixtureRequest) -> Device:
    """Each device in turn; the simulator is slow, so tests size their input by `is_simulator`."""
    found: Device = request.param
    if found.fault is not None:
        pytest.skip(f"{found.handle.platform.name} cannot build a kernel here: {found.fault}")
    return found
