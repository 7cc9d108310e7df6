"""Faults that tests ask for; Python imports this first where PYTHONPATH names its folder.

A file `dock.3-of-8.hold` in the folder LIGEN_TEST_FAULTS makes one run of that stage on that part
misbehave, once; the file's text is the fault's value. A text of several lines is for as many runs.
Nothing of the project knows of this.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path


def _hold(value: str) -> None:
    """Wait with the finished temporary file in hand until a file of that name is there."""
    fsync, awaited = os.fsync, Path(os.environ["LIGEN_TEST_FAULTS"], value)

    def patient(handle: int) -> None:
        fsync(handle)
        end = time.monotonic() + 900
        while not awaited.exists() and time.monotonic() < end:
            time.sleep(0.2)

    os.fsync = patient


def _hog(value: str) -> None:
    """Take so many MB of memory and keep them."""
    block = bytearray(int(value) << 20)
    block[::4096] = b"x" * len(block[::4096])
    time.sleep(600)


def _kill() -> None:
    Path(os.environ["LIGEN_TEST_FAULTS"], f"{os.getpid()}.killed").touch()
    os.kill(os.getpid(), signal.SIGKILL)


def _late(value: str) -> None:
    """Be killed after so many seconds."""

    def end() -> None:
        time.sleep(float(value))
        _kill()

    threading.Thread(target=end, daemon=True).start()


def _die(value: str) -> None:
    """Be killed at the n-th step of writing the output."""
    import h5py

    left = [int(value)]

    def counted(function, is_step=lambda *_: True):
        def wrapper(*arguments, **options):
            if is_step(*arguments):
                left[0] -= 1
                if not left[0]:
                    _kill()
            return function(*arguments, **options)

        return wrapper

    h5py.Group.create_dataset = counted(h5py.Group.create_dataset)
    # A file that is read may be closed at any moment, by another thread.
    h5py.File.close = counted(h5py.File.close, lambda file: file and file.mode != "r")
    os.fsync = counted(os.fsync)
    Path.chmod = counted(Path.chmod)
    Path.replace = counted(Path.replace)


def _sleep(value: str) -> None:
    """Do nothing for a while: a job that runs out of its time."""
    time.sleep(float(value))


def _hang(value: str) -> None:
    """A kernel that never ends: waiting for anything from the device takes for ever.

    The value is the limit of this one process, in minutes.
    """
    import pyopencl

    os.environ["LIGEN_DEVICE_MINUTES"] = value

    def never(*_arguments, **_options):
        time.sleep(3600)

    pyopencl.Event.wait = never
    pyopencl.enqueue_copy = never


def _refuse(value: str) -> None:
    """A device that is out of resources at the n-th copy of results."""
    import pyopencl

    words = ("clFinish", pyopencl.status_code.OUT_OF_RESOURCES, "")
    error = pyopencl.RuntimeError(pyopencl._cl._ErrorRecord(*words))
    copy, left = pyopencl.enqueue_copy, [int(value)]

    def once(*arguments, **options):
        left[0] -= 1
        if not left[0]:
            raise error
        return copy(*arguments, **options)

    pyopencl.enqueue_copy = once


def _begin() -> None:
    folder = os.environ.get("LIGEN_TEST_FAULTS")
    words = sys.orig_argv
    outputs = [word for word in ("--output", "--scores") if word in words]
    if not folder or "-m" not in words or not outputs:
        return
    stage = words[words.index("-m") + 1].removeprefix("ligen_py.")
    part = Path(words[words.index(outputs[0]) + 1]).stem
    for kind in ("late", "die", "hog", "hold", "sleep", "hang", "refuse"):
        token = Path(folder) / f"{stage}.{part}.{kind}"
        with contextlib.suppress(FileNotFoundError):
            value, _, further = token.read_text().partition("\n")
            token.rename(f"{token}.begun")
            if further:
                token.write_text(further)
            globals()[f"_{kind}"](value)
            return


_begin()
