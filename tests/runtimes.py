"""What a runtime need not run since another one of the same processor does."""

from functools import cache

import pytest

from ligen_py.opencl.device import Device, devices

POCL = "Portable Computing Language"


@cache
def is_second(device: Device) -> bool:
    """Whether it is PoCL, and Intel's runtime tests this processor too."""
    if not device.label.startswith(POCL):
        return False
    firsts = (one for one in devices() if one.kind == "cpu" and not one.label.startswith(POCL))
    return any(not one.is_simulator and one.fault is None for one in firsts)


def leave_to_the_first(device: Device) -> None:
    """Skip a case that is another size or option of a kernel which PoCL runs elsewhere."""
    if is_second(device):
        pytest.skip("another size or option of this kernel; the processor's first runtime runs it")
