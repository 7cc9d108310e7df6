"""Compiled programs, kept from run to run: one file each, renamed into place, without a lock.

pyopencl keeps programs too, behind one lock for all of a user's processes. A process that is killed
while it holds the lock leaves it behind, and no later one builds a kernel: so that cache is off.
Runtimes with a cache of their own (NVIDIA's, PoCL) get the source.
"""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pyopencl as cl
from pyopencl.characterize import has_src_build_cache

from ligen_py.opencl import runtimes
from ligen_py.paths import cache_folder
from ligen_py.whole_files import write_whole


def compiled(
    context: cl.Context, text: str, options: Sequence[str] = (), places: Sequence[str] = ()
) -> tuple[cl.Program, str]:
    """A program, built for a context's only device, and what its compiler said.

    It comes from the cache or from its source.

    `places` are further options that name folders: a program from another folder is the same, if
    its text is. cl.RuntimeError carries the compiler's words.
    """
    (device,) = context.devices
    file = cache_folder("kernels") / _key(device, text, options)
    keeps = not has_src_build_cache(device)
    if keeps:
        with suppress(OSError, ValueError, cl.Error):  # none yet, damaged, or not for this driver
            log, binary = _read(file)
            program = cl.Program(context, [device], [binary])
            return program.build([*options, *places], cache_dir=False), log
    # PoCL prints the number of warnings itself, whatever a command may say. Errors stay in the log.
    quiet = ["-w"] if "Portable Computing Language" in device.platform.name else []
    program = cl.Program(context, text).build([*options, *quiet, *places], cache_dir=False)
    log = str(program.get_build_info(device, cl.program_build_info.LOG))
    if keeps:
        with suppress(OSError):  # a full disk, or a home that takes nothing
            _write(file, log, program.get_info(cl.program_info.BINARIES)[0])
    return program, log


def _key(device: cl.Device, text: str, options: Sequence[str]) -> str:
    # One name covers processors with several instruction sets, and they may share a home.
    compiler = (device.platform.name, device.platform.version, device.driver_version)
    words = [*compiler, device.name, device.version, runtimes.instruction_sets(), *options, text]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def _read(file: Path) -> tuple[str, bytes]:
    digest, _, content = file.read_bytes().partition(b"\n")
    if hashlib.sha256(content).hexdigest() != digest.decode():
        raise ValueError(f"{file} is damaged")
    log, _, binary = content.partition(b"\n")
    return json.loads(log), binary


def _write(file: Path, log: str, binary: bytes) -> None:
    content = json.dumps(log).encode() + b"\n" + binary
    write_whole(file, hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
