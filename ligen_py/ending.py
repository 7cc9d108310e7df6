"""Signals that end a process: they raise as Ctrl-C does, but not where an exception is lost.

Python calls a signal's handler wherever it is. What a handler raises while a C library waits for a
callback never arrives: HDF5 goes on as if its data were written, and a file is damaged.
"""

import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""A request to end, of a batch system as an example; a terminal that closes."""

AGAIN = 0.02
"""Seconds after which a signal comes again that came where it could not raise."""

PART_OF = "LIGEN_PART_OF"
"""Environment variable of Snakemake and of its jobs: the process that has started it."""

EVERY = 1.0
"""Seconds between two looks whether that is still there."""

AT_MOST = 10.0
"""Seconds that the signal to end has until the process ends whatever it does."""

_callbacks: set[CodeType] = set()


def callback(function: Function) -> Function:
    """Mark a function that C calls, so that no signal raises in it."""
    _callbacks.add(function.__code__)
    return function


class Ended(KeyboardInterrupt):
    """A signal to end has come."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.value, self.name = number, signal.Signals(number).name


@contextmanager
def ending_as_ctrl_c() -> Iterator[None]:
    """Let signals to end raise, as Ctrl-C does: else temporary files and folders would stay.

    A signal that is ignored, as under `nohup`, stays so; in another thread than the first nothing
    is done. What follows the first signal but for Ctrl-C is ignored, so that the files do go. A
    signal that comes where an exception would be lost comes again a moment later.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {one: signal.getsignal(one) for one in (signal.SIGINT, *ENDING)}
    kept = [
        one for one, does in usual.items() if does in (signal.SIG_DFL, signal.default_int_handler)
    ]
    if not kept:  # all are ignored, or a block around this one hears them
        yield
        return
    waiting: list[tuple[int, threading.Timer]] = []
    mine = threading.get_ident()

    def again(number: int) -> None:
        """Send a signal once more, to this thread, so that it ends what it waits for."""
        timer = threading.Timer(AGAIN, signal.pthread_kill, [mine, number])
        timer.daemon = True
        timer.start()
        waiting.append((number, timer))

    def end(number: int, frame: FrameType | None) -> None:
        """Raise, but not where that would be lost."""
        if _is_callback(frame):
            again(number)
            return
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        for one in kept:
            if one != signal.SIGINT:
                signal.signal(one, signal.SIG_IGN)
        raise Ended(number)

    def listen() -> None:
        """Hear the signals, also those that the first one has had ignored."""
        for one in kept:
            signal.signal(one, end)

    def unraisable(lost: "sys.UnraisableHookArgs") -> None:
        """Have a signal that was lost all the same come again."""
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            before(lost)
            return
        if threading.current_thread() is threading.main_thread():
            listen()
        again(getattr(lost.exc_value, "value", signal.SIGINT))

    before, sys.unraisablehook = sys.unraisablehook, unraisable
    listen()
    try:
        yield
    finally:
        for one in kept:
            signal.signal(one, usual[one])
        sys.unraisablehook = before
        late = [number for number, timer in waiting if timer.is_alive()]
        for _, timer in waiting:
            timer.cancel()
        if late:
            raise KeyboardInterrupt if late[0] == signal.SIGINT else Ended(late[0])


@contextmanager
def ending_as_asked() -> Iterator[None]:
    """As `ending_as_ctrl_c`, for a program of someone else: then the signal does what it did."""
    try:
        with ending_as_ctrl_c():
            yield
    except Ended as ended:
        signal.raise_signal(ended.value)
        raise


def this_process() -> str:
    """This process for `end_with`: its number, and the namespace in which that is its number."""
    return f"{os.getpid()} {_namespace()}"


def end_with(process: str) -> None:
    """End this process, as by SIGTERM, soon after the one that is named by its `this_process`.

    Nothing else would end the job of a Snakemake that was killed: it would replace what a later run
    has made. Of another namespace, as of a container, nothing is known, so that nothing is done.
    """
    number, _, namespace = process.partition(" ")
    if namespace == _namespace():
        threading.Thread(target=_end_after, args=(int(number),), daemon=True).start()


def _namespace() -> str:
    """Of the numbers of processes; empty where the system has but one."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _end_after(number: int) -> None:
    while _is_there(number):
        time.sleep(EVERY)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(AT_MOST)
    os._exit(128 + signal.SIGTERM)


def _is_there(number: int) -> bool:
    """Whether a process has not ended; one that nobody has waited for is still listed."""
    try:
        os.kill(number, 0)
        status = Path(f"/proc/{number}/stat")
        # The state is the first word behind the name, which is in brackets.
        return not (status.exists() and status.read_bytes().rpartition(b")")[2].split()[0] == b"Z")
    except OSError:  # its number may be that of another user's process by now
        return False


def _is_callback(frame: FrameType | None) -> bool:
    """Whether a frame, or one that has called it, is of a function that C calls."""
    while frame is not None:
        if frame.f_code in _callbacks or frame.f_code.co_filename == weakref.__file__:
            return True
        frame = frame.f_back
    return False
