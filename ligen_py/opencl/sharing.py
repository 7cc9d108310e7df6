"""Which of several devices a process takes: the one that the fewest others of this computer use.

Each process holds a lock on an empty file for as long as it lives, so that a killed one counts no
more. The files are in a folder of this computer (`paths.local_cache`).
"""

import fcntl
import os
import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from ligen_py.opencl.device import selectors
from ligen_py.paths import local_cache

_taken: list[int] = []
"""Open files whose locks this process has, until it ends."""


def take_one(selector: str | None) -> str | None:
    """A selector of one of the devices that a selector names (`select_all`).

    Any of them where another user has the folder's name, so that none can be counted. Raises
    DeviceError as `select_all` does.
    """
    named = selectors(selector)
    if len(named) == 1:
        return named[0]
    home = local_cache()
    if home is None:
        return named[os.getpid() % len(named)]
    folder = home / "devices"
    folder.mkdir(exist_ok=True)
    return least_used([str(name) for name in named], folder)


def least_used(named: Sequence[str], folder: Path) -> str:
    """The name that the fewest processes have taken, the first of equals; it is taken from now on.

    A name that occurs twice may be taken twice as often.
    """
    for turn in count():
        for place, name in enumerate(named):
            again = named[:place].count(name)
            file = folder / re.sub(r"[^\w,-]", "_", f"{name}.{again}.{turn}")
            handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                continue
            _taken.append(handle)
            return name
    raise AssertionError("the count has no end")
