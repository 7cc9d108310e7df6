"""End the process when the device stops answering, so that the job can be tried again."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ligen_py.errors import DeviceError

MINUTES = "LIGEN_DEVICE_MINUTES"
"""Environment variable: the longest time, in minutes, that one wait for the device may take."""

GPU_MINUTES = 30.0
"""Default limit for a GPU; a processor has none, because it may need hours for a batch."""

_waits: dict[object, float] = {}
"""When each wait that is going on began; several threads may wait at a time."""

_armed = False


def arm(is_gpu: bool) -> None:
    """Watch the waits of this process from now on; DeviceError if the limit cannot be one."""
    global _armed
    text = os.environ.get(MINUTES) or (str(GPU_MINUTES) if is_gpu else "")
    try:
        minutes = float(text or "inf")
    except ValueError:
        minutes = 0.0
    if not minutes > 0:
        cure = "give one, or inf for no limit"
        raise DeviceError(f"{MINUTES}={text} is no number of minutes above 0; {cure}")
    if not _armed and minutes < float("inf"):
        _armed = True
        threading.Thread(target=_watch, args=(minutes,), daemon=True).start()


@contextmanager
def waiting() -> Iterator[None]:
    """Mark a wait for the device."""
    wait = object()
    _waits[wait] = time.monotonic()
    try:
        yield
    finally:
        del _waits[wait]


def _watch(minutes: float) -> None:
    while True:
        time.sleep(min(10.0, minutes * 6))
        began = min(list(_waits.values()), default=None)
        if began is not None and time.monotonic() - began > minutes * 60:
            print(
                f"error: the device has not answered for {minutes:g} minutes, so the stage ends "
                "and can be tried again: a kernel or the driver hangs; where a batch does take "
                f"so long, set {MINUTES} higher",
                file=sys.stderr,
                flush=True,
            )
            # No clean-up: it would wait for the device as well.
            os._exit(2)
