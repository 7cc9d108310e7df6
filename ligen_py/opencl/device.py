"""Choose one OpenCL device by a readable selector; never a silent fall-back."""

import hashlib
import logging
import os
import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property

from ligen_py.errors import DeviceError
from ligen_py.opencl import runtimes, watchdog

runtimes.keep_to_the_job()
runtimes.register()

import numpy as np  # noqa: E402
import pyopencl as cl  # noqa: E402  (the loader reads its environment on import)

from ligen_py.opencl.compiled import compiled  # noqa: E402

log = logging.getLogger("ligen_py")

INSTALL_HINT = (
    "install a GPU vendor's driver, or a CPU runtime with "
    "'pip install intel-opencl-rt intel-cmplr-lib-rt'"
)
_broken: dict[str, str] = {}
"""Platforms whose driver fails when it is asked for its devices, and what it says."""
FUNCTIONS = """
__kernel void functions(__global float *found) {
  const int i = get_global_id(0), n = get_global_size(0);
  const float x = 0.0371f * (i + 1);
  const float values[8] = {exp(-x), log(x), sin(x), rsqrt(x), 1.0f / x,
                           native_exp(-x), native_rsqrt(x), native_recip(x)};
  for (int k = 0; k < 8; k++) found[k * n + i] = values[k];
}
"""
"""Functions whose last bits depend on what a compiler makes of them."""
ARGUMENTS = 256
TYPES = {
    cl.device_type.GPU: "gpu",
    cl.device_type.CPU: "cpu",
    cl.device_type.ACCELERATOR: "accelerator",
}
NUMBERS = re.compile(r"\d+(,\d+)*")
VECTORS = {"cpu": 16}
"""Poses, or points, that a work-item computes side by side, by kind of device; else 1 (POSES in
kernels/include/real.clh)."""
SUB_GROUP_SIZE = 32
"""Lanes of a sub-group, except on AMD's: a size that NVIDIA fixes and every Intel device offers."""


@dataclass(frozen=True)
class Device:
    """One OpenCL device with its own context and in-order queue.

    `back_end` names how sub-groups work there: "khr" (the OpenCL functions), "ptx" (NVIDIA, inline
    assembly) or "local" (local memory and barriers; the work-group is the sub-group).
    """

    handle: cl.Device
    sub_group_size: int = SUB_GROUP_SIZE

    @cached_property
    def context(self) -> cl.Context:
        """The context that owns every buffer and program of this device."""
        return cl.Context([self.handle])

    @cached_property
    def queue(self) -> cl.CommandQueue:
        """An in-order queue that records the times of its commands."""
        properties = cl.command_queue_properties.PROFILING_ENABLE
        return cl.CommandQueue(self.context, properties=properties)

    def queues(self, count: int) -> list[cl.CommandQueue]:
        """As many such queues, whose commands may run side by side; the first is `queue`."""
        properties = cl.command_queue_properties.PROFILING_ENABLE
        found = self._queues
        while len(found) < count:
            found.append(cl.CommandQueue(self.context, properties=properties))
        return found[:count]

    @cached_property
    def _queues(self) -> list[cl.CommandQueue]:
        return [self.queue]

    def finish(self) -> None:
        """Wait for these queues, whatever becomes of their commands, whose memory is free then."""
        for queue in list(self._queues):
            with suppress(cl.Error), watchdog.waiting():
                queue.finish()

    @cached_property
    def copies(self) -> cl.CommandQueue:
        """A second queue, for copies that pass while the first one computes."""
        return cl.CommandQueue(self.context)

    @property
    def kind(self) -> str:
        """The type of the device: gpu, cpu or accelerator."""
        return TYPES.get(self.handle.type & ~cl.device_type.DEFAULT, "device")

    @property
    def label(self) -> str:
        """Platform, device and driver in words, as recorded in result files."""
        platform = self.handle.platform.name.strip()
        name, driver = self.handle.name.strip(), self.handle.driver_version
        return f"{platform} / {name} ({self.kind}, driver {driver})"

    @property
    def is_simulator(self) -> bool:
        """True for Oclgrind, which checks kernels but is far too slow to dock with."""
        return "oclgrind" in self.handle.platform.name.lower()

    @cached_property
    def back_end(self) -> str:
        """Which of the three sub-group implementations this device uses."""
        platform = self.handle.platform.name
        if "NVIDIA" in platform:
            return "ptx"
        # PoCL 5 has sub-groups, but crashed with several of them in one work-group.
        if "Portable Computing Language" in platform:
            return "local"
        if "cl_intel_required_subgroup_size" in self.handle.extensions and self._sub_groups() > 0:
            return "khr"
        return "local"

    def _sub_groups(self) -> int:
        try:
            return int(self.handle.max_num_sub_groups)
        except (cl.LogicError, AttributeError):
            return 0

    @cached_property
    def origin(self) -> str:
        """The label as result files record it: of a processor also a digest of what it computes.

        A runtime compiles for the instruction sets of the processor, and with others exp() has
        other last bits. A name is not enough: five generations are called AMD EPYC.
        """
        if self.kind != "cpu":
            return self.label
        found = np.empty((8, ARGUMENTS), np.float32)
        buffer = cl.Buffer(self.context, cl.mem_flags.WRITE_ONLY, found.nbytes)
        with watchdog.waiting():
            cl.Kernel(self._functions, "functions")(self.queue, (ARGUMENTS,), None, buffer)
            cl.enqueue_copy(self.queue, found, buffer)
        digest = hashlib.sha256(found.tobytes()).hexdigest()[:8]
        return f"{self.label.removesuffix(')')}, functions {digest})"

    @cached_property
    def _functions(self) -> cl.Program:
        return compiled(self.context, FUNCTIONS)[0]

    @cached_property
    def fault(self) -> str | None:
        """What the runtime says where it cannot build a small kernel here; None: it can.

        A compiler that is older than the processor is such a runtime (PoCL 3.0 on AMD's Zen 5). On
        Zen 4 it builds that kernel, and aborts the process at functions of its own library.
        """
        older = re.search(r"znver[123]$", self.handle.version)
        if older and " avx512f " in runtimes.instruction_sets():
            return f"its compiler takes this processor for a {older.group()}, without AVX-512"
        try:
            _ = self._functions
        except cl.Error as error:
            library = runtimes.INTEL_LIBRARY.resolve()
            if "Intel" in self.handle.platform.name and " " in str(library):
                # It looks for itself in /proc/self/maps, and reads a path as far as a blank.
                return (
                    f"Intel's runtime finds its files in no folder with a blank in its path, such "
                    f"as {library.parent}; install it into another folder"
                )
            return _compilers_words(str(error))
        return None


def devices() -> list[Device]:
    """Every device of every platform, in the loader's order without repeats, simulators last."""
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:
        return []
    found: dict[str, Device] = {}
    for platform in platforms:
        # A vendor file that is registered twice shows its platform twice.
        seen_here: dict[str, Device] = {}
        for number, handle in enumerate(_devices_of(platform)):
            device = _device_of(handle)
            seen_here.setdefault(f"{device.label} #{number}", device)
        for name, device in seen_here.items():
            found.setdefault(name, device)
    return sorted(found.values(), key=lambda device: device.is_simulator)


def _compilers_words(text: str) -> str:
    """The build log in one line; all of an error's first line where there is no log."""
    log_of_build = re.search(r"\nBuild on [^\n]*:\n(.*?)(\n\(options:|$)", text, re.DOTALL)
    said = " ".join((log_of_build.group(1) if log_of_build else "").split())
    return said[:200] or text.strip().splitlines()[0][:200]


@cache
def _device_of(handle: cl.Device) -> Device:
    """The one device of a handle.

    What runs stage after stage in one process, such as `verify`, would else gather contexts, and
    in each of them the buffers that its kernels used last.
    """
    return Device(handle, _sub_group_size(handle))


def _sub_group_size(handle: cl.Device) -> int:
    """Lanes that a device runs in step: AMD's GPUs have 32 or 64, and say so."""
    if handle.type & cl.device_type.GPU and "cl_amd_device_attribute_query" in handle.extensions:
        return int(handle.wavefront_width_amd)
    return SUB_GROUP_SIZE


def _devices_of(platform: cl.Platform) -> list[cl.Device]:
    try:
        return list(platform.get_devices())
    except cl.LogicError:  # a driver without a device, such as a GPU driver on a login node
        pass
    except (cl.RuntimeError, MemoryError) as error:
        _broken[platform.name.strip()] = str(error)
    return []


def _complaints() -> str:
    """What drivers said that were asked for their devices and failed, to begin a sentence with."""
    return "".join(
        f"{name}: its devices cannot be listed ({why}); " for name, why in _broken.items()
    )


def select(selector: str | None = None) -> Device:
    """The first device that a selector names: see `select_all`. Others cause a warning."""
    chosen = select_all(selector)
    if len(chosen) > 1:
        _warn_once(
            f"only the first of {len(chosen)} devices is used; the stage `dock` uses all of them"
        )
    return chosen[0]


@cache
def _warn_once(words: str) -> None:
    """Log a warning the first time in this process: each stage of a chain chooses its device."""
    log.warning("%s", words)


def select_all(selector: str | None = None) -> list[Device]:
    """The devices that a selector names, or the best one; the choice is logged.

    A selector is words joined by ':' that must all occur in the platform's name, the device's name
    or its type. Numbers pick among the matches ("gpu:1", "gpu:0,1"; a device twice is two workers
    on it), "all" takes every one ("gpu:all"; "all" alone: every GPU, or the best device). Without
    either it is the first match. Without a selector, the environment's LIGEN_DEVICE or
    PYOPENCL_CTX counts; without these it is the first GPU, else the CPU runtime whose sub-groups
    are fastest. A device that cannot build a small kernel is left out with a warning, or is
    an error where it was picked by number. Raises DeviceError, with the list of devices, when
    nothing matches.

    A Slurm job keeps to its own cards: without one it takes the processor, unless a selector says
    otherwise, and it stops where more cards are seen than it was given, because the first of them
    would be that of every job. Only a job that was given none may name some by number, or all.
    """
    found = devices()
    if not found:
        given = runtimes.given_vendors()
        only = f" by OCL_ICD_VENDORS={given}; unset it, or" if given else ";"
        raise DeviceError(f"{_complaints()}no OpenCL device was found{only} {INSTALL_HINT}")
    wanted = _wanted(selector)
    words = wanted.lower().split(":")
    by_number, every = any(NUMBERS.fullmatch(word) for word in words), "all" in words
    if words in ([""], ["all"]):
        candidates = _best_first(found)
        every = every and candidates[0].kind == "gpu"
    else:
        candidates = _matches(found, words)
        if not candidates:
            raise DeviceError(
                f"no OpenCL device matches '{wanted}'; found: {_listing(found)}; "
                f"name one of these by words of its line, or {INSTALL_HINT}"
            )
    chosen: list[Device] = []
    left_out: list[str] = []
    for device in candidates:
        _require_own_card(device, found, by_number or every)
        if device.fault is None:
            chosen.append(device)
        elif f"{device.label} cannot build a kernel: {device.fault}" not in left_out:
            left_out.append(f"{device.label} cannot build a kernel: {device.fault}")
        if chosen and not (by_number or every):
            break
    if not chosen or (by_number and left_out):
        raise DeviceError(
            f"{'; '.join(left_out)}; update its driver or runtime, name another device with "
            f"--device, or {INSTALL_HINT}"
        )
    for line in left_out:
        _warn_once(f"device left out: {line}")
    for device in chosen:
        what = f"{device.label}, sub-groups of {device.sub_group_size} ({device.back_end})"
        log.info("device: %s", what)
    watchdog.arm(chosen[0].kind == "gpu")
    return chosen


def selectors(selector: str | None = None) -> list[str | None]:
    """A selector of each device that a selector names, which `select` takes; see `select_all`."""
    chosen = select_all(selector)
    if len(chosen) == 1:
        return [selector]
    words = _wanted(selector).lower().split(":")
    texts = [word for word in words if not NUMBERS.fullmatch(word) and word != "all"]
    matches = _matches(devices(), texts)
    return [":".join([*texts, str(matches.index(device))]) for device in chosen]


def _wanted(selector: str | None) -> str:
    """A selector, or that of the environment; empty where there is none."""
    return selector or os.environ.get("LIGEN_DEVICE") or os.environ.get("PYOPENCL_CTX") or ""


def _best_first(found: list[Device]) -> list[Device]:
    """What may be taken where none is named: the GPUs, else the processors' runtimes.

    A processor never stands in for a GPU that does not work: a campaign would take far longer, and
    nobody would know why.
    """
    usable = [device for device in found if not device.is_simulator]
    if not usable:
        raise DeviceError(f"only a simulator was found: {_listing(found)}; {INSTALL_HINT}")
    if _cards_given() == 0:
        usable = [device for device in usable if device.kind != "gpu"]
    if not usable:
        raise DeviceError(
            "this Slurm job was given no card, and only cards were found; ask for one "
            "(--gpus=1, or gpu: 1 in the profile), or name one with LIGEN_DEVICE"
        )
    gpus = [device for device in usable if device.kind == "gpu"]
    if _broken and not gpus and _cards_given() != 0:
        raise DeviceError(
            f"{_complaints()}repair this driver, or name a device with --device: {_listing(found)}"
        )
    return gpus or sorted(usable, key=lambda device: device.back_end == "local")


def _cards_given() -> int | None:
    """Cards that Slurm gave this job on this node; None outside of Slurm."""
    if "SLURM_JOB_ID" not in os.environ:
        return None
    given = os.environ.get("SLURM_GPUS_ON_NODE", "")
    if given.isdecimal():
        return int(given)
    # The numbers that they have on the node, "0,3", where Slurm does not say how many.
    listed = os.environ.get("SLURM_STEP_GPUS") or os.environ.get("SLURM_JOB_GPUS") or ""
    return len([number for number in listed.split(",") if number])


def _require_own_card(chosen: Device, found: list[Device], named: bool) -> None:
    given = _cards_given()
    if chosen.kind != "gpu" or given is None or (not given and named):
        return
    platform = chosen.handle.platform
    seen = sum(item.kind == "gpu" and item.handle.platform == platform for item in found)
    if seen > max(given, 1):
        raise DeviceError(
            f"this Slurm job was given {given or 'none'} of the {seen} cards that OpenCL shows, "
            "and cannot know which; ask for all of a node's cards, or have the cluster hide the "
            "others (ConstrainDevices=yes in its cgroup.conf)"
            + ("" if given else "; ask for a card, or name one by number, such as gpu:0")
        )


def labels(chosen: Sequence[Device]) -> str:
    """All devices in words, each kind of device once, as recorded in result files."""
    return "; ".join(sorted({device.origin for device in chosen}))


def _matches(found: list[Device], words: list[str]) -> list[Device]:
    """The devices of a selector's words; those that its numbers pick, where it has numbers."""
    numbers = [word for word in words if NUMBERS.fullmatch(word)]
    texts = [word for word in words if word not in numbers and word != "all"]
    matches = [device for device in found if all(text in _words(device) for text in texts)]
    if not numbers:
        return matches
    picked = [int(number) for number in numbers[-1].split(",")]
    return [matches[number] for number in picked] if max(picked) < len(matches) else []


def _words(device: Device) -> str:
    platform = device.handle.platform
    return f"{device.label} {device.handle.vendor} {platform.version}".lower()


def _listing(found: list[Device]) -> str:
    return "; ".join(f"[{number}] {device.label}" for number, device in enumerate(found))


warnings.filterwarnings("ignore", category=cl.CompilerWarning)
