"""Make OpenCL runtimes visible and keep them to the job, before pyopencl is imported.

Intel's CPU runtime comes as a wheel whose vendor file has no usable path, and the OpenCL loader
reads one vendor folder only. So a folder is made in the user's cache with the system's
vendor files and one for Intel's library; a user's own OCL_ICD_VENDORS is left alone.

Processors' runtimes see the whole machine, whatever cores and memory a cluster or Snakemake gave
this process; `keep_to_the_job` sets the variables that limit them.
"""

import hashlib
import importlib.metadata
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from ligen_py import granted
from ligen_py.paths import local_cache, temporary_cache, user_cache
from ligen_py.whole_files import write_whole

SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")


def intel_library() -> Path:
    """Intel's runtime, or where it would be; pip for a user, and Debian's, put it elsewhere."""
    usual = Path(sys.prefix) / "lib" / "libintelocl.so"
    if not usual.exists():
        with suppress(importlib.metadata.PackageNotFoundError):
            for file in importlib.metadata.files("intel-opencl-rt") or ():
                if file.name == usual.name:
                    return Path(str(file.locate())).resolve()
    return usual


INTEL_LIBRARY = intel_library()

OWN = "opencl-vendors-"
"""How the name of a folder begins that this module makes for the loader."""


def register() -> None:
    """Point the OpenCL loader at every runtime here; does nothing where nothing is added."""
    if os.environ.get("OCL_ICD_VENDORS") or not INTEL_LIBRARY.exists():
        return
    vendors = dict(_readable(sorted(SYSTEM_VENDORS.glob("*.icd"))))
    vendors["intel-from-pip.icd"] = f"{INTEL_LIBRARY}\n"
    try:
        folder = _written(vendors, user_cache())
    except OSError:  # its disk or the user's share of it is full
        folder = _written(vendors, temporary_cache())
    os.environ["OCL_ICD_VENDORS"] = str(folder)


def given_vendors() -> str:
    """Where the user has the OpenCL loader look, and nowhere else; empty where it is our folder."""
    given = os.environ.get("OCL_ICD_VENDORS", "")
    return "" if Path(given).name.startswith(OWN) else given


def _readable(files: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Names and texts of vendor files, without those that the loader could not use either.

    What is left of a driver that was removed is often a link that leads nowhere.
    """
    for file in files:
        with suppress(OSError, UnicodeDecodeError):
            yield file.name, file.read_text(encoding="utf-8")


def _written(vendors: dict[str, str], cache: Path) -> Path:
    """A folder in a cache with these vendor files, and no others."""
    digest = hashlib.sha256(repr(sorted(vendors.items())).encode()).hexdigest()[:12]
    folder = cache / "ligen_py" / f"{OWN}{digest}"
    for name, text in vendors.items():
        target = folder / name
        if not target.exists() or target.read_bytes() != text.encode():
            write_whole(target, text.encode())  # several processes may start at once
    return folder


def keep_to_the_job() -> None:
    """Limit processors' runtimes to the cores and memory of this job; set their caches' folder."""
    # Its database would end a command where it is damaged, another user's, or locked.
    os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
    if user_cache().name != ".cache":  # not the home folder's, which needs no word
        os.environ["XDG_CACHE_HOME"] = str(user_cache())
    for variable in ("DPCPP_CPU_NUM_CUS", "POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"):
        os.environ[variable] = str(cores())
    # It binds PoCL's threads to the machine's first cores, which may be another job's.
    os.environ.pop("POCL_AFFINITY", None)
    limit = granted.memory()
    if limit is not None:
        # Half, because the host holds a copy of most of what is on the device.
        os.environ["CL_CONFIG_CPU_FORCE_GLOBAL_MEM_SIZE"] = f"{limit >> 21}MB"
        os.environ["POCL_MEMORY_LIMIT"] = str(max(1, limit >> 31))
    if "SLURM_JOB_ID" in os.environ:
        _cache_on_the_node()


@cache
def instruction_sets() -> str:
    """The names of this processor's instruction sets, as Linux lists them; none elsewhere.

    Behind them is the one that Intel's runtime has to compile for, where that is set.
    """
    names, told = "", os.environ.get("CL_CONFIG_CPU_TARGET_ARCH", "")
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
        names = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return f"{names} {told}"


def cores() -> int:
    """Cores for kernels: those that are granted, or fewer if the rule has fewer threads.

    Snakemake sets OMP_NUM_THREADS to the threads of a rule.
    """
    threads = re.match(r"[1-9]\d*", os.environ.get("OMP_NUM_THREADS", ""))
    return min(granted.cores(), int(threads.group())) if threads else granted.cores()


def _cache_on_the_node() -> None:
    """Keep compiled kernels on the node: home folders are shared, slow and written by all jobs."""
    folder = local_cache()
    if folder is not None:
        os.environ.setdefault("XDG_CACHE_HOME", str(folder))
        os.environ.setdefault("CUDA_CACHE_PATH", str(folder / "cuda"))
