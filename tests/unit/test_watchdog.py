"""The limit on waits for a device."""

import os
import subprocess
import sys

import pytest

from ligen_py.opencl import watchdog

ONE_OF_TWO_ENDS = """
import threading, time
from ligen_py.opencl import watchdog

def wait(seconds):
    with watchdog.waiting():
        time.sleep(seconds)

watchdog.arm(is_gpu=False)
threading.Thread(target=wait, args=(SECONDS,), daemon=True).start()
time.sleep(0.1)
wait(0.1)
time.sleep(2)
"""


@pytest.mark.parametrize(("seconds", "status"), [(20, 2), (0.05, 0)])
def test_a_wait_counts_until_it_ends_whatever_other_threads_wait_for(
    seconds: float, status: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ONE_OF_TWO_ENDS.replace("SECONDS", str(seconds))],
        env={**os.environ, watchdog.MINUTES: "0.01"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == status
    assert ("the device has not answered for 0.01 minutes" in done.stderr) == bool(status)
