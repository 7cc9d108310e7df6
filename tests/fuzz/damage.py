"""Damaged files for the readers, and a process in which a reader may crash, hang or swell."""

import os
import resource
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

LONGEST = 20.0
"""Seconds of processor time that a reader may take for one small file."""
MOST_PATIENCE = 300.0
"""Seconds by the clock, on a busy machine."""
MOST_BYTES = 1 << 30
"""Memory that a reader may take beyond what its process started with."""

TOKENS = (
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b" ", b"#"),
    *(b'"', b",", b";", b"|", b"|&1:0|", b"-1", b"0", b"999999999999", b"1e999", b"nan", b"\xe9"),
    *(b"$$$$\n", b"M  END\n", b"M  V30 ", b"-\n", b"> <x>\n", b"  0999 V3000\n", b"999", b"V3000"),
    *(b"@<TRIPOS>MOLECULE\n", b"@<TRIPOS>ATOM\n", b"@<TRIPOS>BOND\n", b"ar", b"C.ar", b"[", b"]"),
    *(b"(", b")", b"%99", b"C1", b"[U+200]", b"[999C]", b"*", b"smiles", b"{", b"}", b"&a", b"*a"),
    *(b"ATOM  ", b"HETATM", b"MODEL", b"END", b"loop_\n", b"data_x\n", b"_atom_site.id\n", b"'"),
    *(b"!!python/object", b": ", b"- ", b"\x00" * 64, b"C" * 300, b"(" * 200, b"9" * 40),
)
"""Bytes that mean something to one reader or another."""


fuzz = settings(
    max_examples=int(os.environ.get("LIGEN_TEST_FUZZ", "20")),
    suppress_health_check=list(HealthCheck),
)
"""Cases of each test; `make fuzz` asks for more than `make test`."""


@st.composite
def damaged(draw: st.DrawFn, *seeds: bytes) -> bytes:
    """One of some files with a few bytes cut out, put in, doubled or overwritten."""
    content = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 5))):
        place = draw(st.integers(0, len(content)))
        length = draw(st.integers(0, 40))
        how = draw(st.sampled_from(("cut", "put", "double", "over", "end")))
        head, middle, tail = content[:place], content[place : place + length], content[place:]
        if how == "cut":
            content = head + tail[length:]
        elif how == "put":
            content = head + draw(st.sampled_from(TOKENS)) + tail
        elif how == "double":
            content = head + middle + tail
        elif how == "over":
            written = draw(st.binary(min_size=1, max_size=8))
            content = head + written + tail[len(written) :]
        else:
            content = head
    return content


class CrashedError(Exception):
    """The process of a reader ended."""


def alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function in a process with little memory and time; raises what it raises."""
    try:
        return _process().submit(_timed, function, *arguments).result(MOST_PATIENCE)
    except (BrokenProcessPool, TimeoutError) as error:
        _process.cache_clear()
        raise CrashedError(f"{type(error).__name__}: {error}") from error


def _timed(function: Callable[..., Any], *arguments: Any) -> Any:
    signal.setitimer(signal.ITIMER_PROF, LONGEST)  # its signal ends the process, even in C++
    try:
        return function(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@cache
def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("forkserver"), _confine)


def _confine() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    most = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
