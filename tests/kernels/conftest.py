"""Every OpenCL device found; tests that ask for it also run with sub-groups of 64 lanes.

Oclgrind watches every kernel that it runs: no access out of bounds, no data race.
"""

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ligen_py.opencl.device import Device, devices

FOLDER = tempfile.TemporaryDirectory(prefix="oclgrind-")
LOG = Path(FOLDER.name) / "log"
os.environ.update(OCLGRIND_DATA_RACES="1", OCLGRIND_LOG=str(LOG), OCLGRIND_MAX_ERRORS="1000000")

HANDED_OVER = re.compile(r"\S+ data race at global memory address \w+\n\tKernel: generations\n")
"""Work-groups of this kernel hand genotypes to others of the same launch, by fences and atomic
counts. Oclgrind knows barriers only: it takes what one writes and another then reads for a race."""

FOUND = devices()

_seen = 0


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


@pytest.fixture
def complaints() -> Callable[[], str]:
    """What Oclgrind has complained of since it was last asked."""
    return _complaints


@pytest.fixture(autouse=True)
def no_complaint() -> Iterator[None]:
    """A test ends without a complaint, those of fixtures included."""
    yield
    assert _complaints() == ""


def _complaints() -> str:
    global _seen
    text = LOG.read_text() if LOG.exists() else ""
    new, _seen = text[_seen:], len(text)
    parts = re.split(r"^(?=\S)", new, flags=re.MULTILINE)  # further lines of one are indented
    return "".join(one for one in parts if not HANDED_OVER.match(one)).strip()
