"""Look this machine over: can it run a campaign, on which devices, and what is missing?

Prints versions, every OpenCL device, whether the kernels equal their NumPy twins on the one that a
stage takes, and a line of advice for each thing that is missing. Ends with 0 where a campaign can
run.
"""

import argparse
import importlib.metadata
import logging
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ligen_py import __version__, cli, granted
from ligen_py.engine.functions.gnina.constants import NETWORKS
from ligen_py.engine.functions.gnina.weights import load
from ligen_py.engine.selftest import self_test
from ligen_py.errors import DeviceError, InputError, UsageError, install
from ligen_py.molecules.hits.depiction import drawer
from ligen_py.opencl.device import Device, devices, select
from ligen_py.paths import NETWORKS_HINT, network_folder

log = logging.getLogger("ligen_py")

NEEDED = ("h5py", "numpy", "pydantic", "pyopencl", "rdkit")
CAMPAIGNS = "snakemake"
FOR_CAMPAIGNS = {
    CAMPAIGNS: f"campaigns need it: {install('workflow')}",
    "snakemake-executor-plugin-slurm": f"only for Slurm: {install('workflow')}",
}
BACK_ENDS = {
    "khr": "sub-groups of the runtime",
    "ptx": "warps",
    "local": "none of its own: through local memory, slower",
}
LITTLE_MEMORY = 2 << 30
LITTLE_DISK = 5 << 30
GIGABYTE = 1 << 30


def main(argv: Sequence[str] | None = None) -> int:
    """Look the machine over; returns 0 where a campaign can run, 2 where not."""
    parser = cli.parser("ligen_py.doctor", __doc__)
    parser.add_argument("--no-test", action="store_true", help="list devices, test no kernels")
    cli.add_device(parser)
    return cli.run(parser, argv, _examine)


def _examine(options: argparse.Namespace) -> None:
    advice = [*_versions(), *_networks(), *_machine()]
    print("\nOpenCL devices")
    for device in devices():
        print(f"  {device.label}")
        for line in _described(device):
            print(f"      {line}")
    try:
        chosen = select(options.device)
        unasked = "" if options.device else ", where none is named"
        print(f"\nA stage takes {chosen.label}{unasked}")
        if chosen.kind != "gpu":
            advice.append("no GPU is used: a campaign runs on the processor, far slower")
        passed = options.no_test or _passes(chosen)
    finally:  # also where there is no device
        for line in advice:
            print(f"Advice: {line}")
    if not passed:
        raise DeviceError("the device failed its test: update its driver, or name another --device")
    drawer()
    if _version(CAMPAIGNS) is None:
        raise UsageError(
            f"{CAMPAIGNS} is missing, so that this machine runs single stages and 'ligen dock', "
            f"but no campaign; install it: {install('workflow')}"
        )
    print("This machine can run a campaign.")


def _versions() -> Iterator[str]:
    """Print what is installed; advice for what is not."""
    print(f"ligen_py {__version__}, Python {platform.python_version()}, {platform.platform()}")
    for name in (*NEEDED, *FOR_CAMPAIGNS):
        version = _version(name)
        print(f"  {name} {version or 'is missing'}")
        if version is None:
            yield f"{name}: {FOR_CAMPAIGNS.get(name, 'reinstall ligen_py')}"


def _version(name: str) -> str | None:
    """The version of a package; None where it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _networks() -> Iterator[str]:
    """Print where gnina's networks are; advice where there are none."""
    folder = network_folder()
    print(f"  gnina's networks {f'in {folder}' if folder else 'are not installed'}")
    if folder is None:
        efforts = "the efforts 'thorough' and 'exhaustive'"
        yield f"{efforts} go without gnina's networks; {NETWORKS_HINT}"
        return
    try:
        load(NETWORKS, folder)
    except (InputError, OSError) as error:
        yield f"a campaign of the effort 'thorough' or 'exhaustive' will not start: {error}"


def _machine() -> Iterator[str]:
    """Print cores, memory and disk of this process; advice where they are few."""
    cores, limit = granted.cores(), granted.memory()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    memory = memory if limit is None else min(memory, limit)
    here, temporary = shutil.disk_usage("."), tempfile.gettempdir()
    print(
        f"  {cores} cores, {memory / GIGABYTE:.0f} GiB of memory, "
        f"{here.free / GIGABYTE:.0f} GiB free in this folder"
    )
    if memory < LITTLE_MEMORY:
        yield "memory is short: cut libraries into more chunks"
    if here.free < LITTLE_DISK:
        yield "little room is left in this folder: results take about 5 GiB per 100,000 ligands"
    wanted = os.environ.get("TMPDIR") or temporary
    if Path(wanted).resolve() != Path(temporary).resolve():
        yield f"TMPDIR, {wanted}, cannot be written: temporary files go to {temporary}"


def _described(device: Device) -> Iterator[str]:
    handle = device.handle
    if device.is_simulator:
        yield "a simulator: it checks kernels, is too slow to dock, and is never chosen unasked"
    if device.fault is not None:
        yield f"left out, because it cannot build a kernel: {device.fault}"
    yield f"{handle.version.strip()}, sub-groups: {device.back_end} ({BACK_ENDS[device.back_end]})"
    yield (
        f"{handle.max_compute_units} compute units, "
        f"{handle.global_mem_size / GIGABYTE:.1f} GiB, at most "
        f"{handle.max_mem_alloc_size / GIGABYTE:.1f} GiB in one piece, "
        f"{handle.local_mem_size >> 10} KiB local"
    )


def _passes(device: Device) -> bool:
    """Whether every tested kernel equals its twin; prints what was found."""
    started = time.perf_counter()
    try:
        results = dict(self_test(device))
    except DeviceError as error:
        print(f"Kernels cannot run on it: {error}")
        return False
    wrong = [name for name, equal in results.items() if not equal]
    seconds = time.perf_counter() - started
    if wrong:
        print(f"Kernels with wrong results on it: {', '.join(wrong)}")
        return False
    print(f"Kernels equal to their twins bit for bit: {', '.join(results)} ({seconds:.1f} s)")
    return True


if __name__ == "__main__":
    sys.exit(main())
