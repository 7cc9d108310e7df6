"""Build kernels from the files in kernels/, once per device and set of definitions."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyopencl as cl

from ligen_py.errors import DeviceError
from ligen_py.opencl.buffers import memory_named
from ligen_py.opencl.compiled import compiled
from ligen_py.opencl.device import Device
from ligen_py.paths import kernel_folder

Structs = Mapping[str, np.dtype]
"""Rows of a kernel's tables: structured types by the names that they have in the kernel."""

C_TYPES = {
    np.dtype(np.int32): "int",
    np.dtype(np.uint32): "uint",
    np.dtype(np.int64): "long",
    np.dtype(np.float32): "float",
}

INCLUDE = re.compile(r'^ *# *include "(.+)"', re.MULTILINE)

_programs: dict[tuple[Any, ...], "Program"] = {}

_launched: "list[Launched] | None" = None


class Program:
    """A built kernel file; each kernel object is fetched once and kept."""

    def __init__(self, device: Device, name: str, text: str, options: list[str]) -> None:
        """Compile a text; DeviceError has `name` and the compiler's words."""
        self.device = device
        includes = ["-I", str(_includes())]
        try:
            self._program, self.log = compiled(device.context, text, options, includes)
        except cl.RuntimeError as error:
            raise DeviceError(f"{device.label} cannot build {name}: {error}") from error
        self._kernels: dict[str, Callable[..., cl.Event]] = {}

    def kernel(self, name: str) -> Callable[..., cl.Event]:
        """The kernel of that name, to be called with queue, sizes and arguments.

        Several threads may call it: two workers on one device have the same kernel. The call raises
        OutOfMemoryError where there is no room for what it needs: drivers allocate buffers when a
        kernel first uses them.
        """
        if name not in self._kernels:
            kernel, lock = self.new_kernel(name), Lock()

            def launch(*given: Any) -> cl.Event:
                # A kernel keeps its arguments from when they are set until it is launched.
                with lock, memory_named(self.device):
                    event = kernel(*given)
                if _launched is not None:
                    _launched.append(Launched(self, name, event))
                return event

            self._kernels[name] = launch
        return self._kernels[name]

    def local_bytes(self, name: str) -> int:
        """Local memory that a work-group of a kernel takes on the device."""
        info = cl.kernel_work_group_info.LOCAL_MEM_SIZE
        return int(self.new_kernel(name).get_work_group_info(info, self.device.handle))

    def most_items(self, name: str) -> int:
        """Work-items that a work-group of a kernel may have on the device, given its registers."""
        info = cl.kernel_work_group_info.WORK_GROUP_SIZE
        return int(self.new_kernel(name).get_work_group_info(info, self.device.handle))

    def new_kernel(self, name: str) -> cl.Kernel:
        """A kernel object that keeps its arguments to itself."""
        return cl.Kernel(self._program, name)


def build(
    device: Device,
    source: str,
    definitions: Mapping[str, object] | None = None,
    registers: int = 0,
    structs: Structs = MappingProxyType({}),
) -> Program:
    """Build kernels/`source` for a device, with -D definitions and the sub-group back end's own.

    `registers` caps the registers of a thread where the compiler takes a cap (NVIDIA's), 0 does
    not. `structs` are declared before the source. Equal calls return the same Program. Contraction
    of a * b + c is off in every kernel (a pragma in the sources): where a fused operation is meant,
    it is written as fma().
    """
    macros = {
        "SG_SIZE": str(device.sub_group_size),
        f"SG_{device.back_end.upper()}": "1",
        **{name: str(value) for name, value in (definitions or {}).items()},
    }
    if device.back_end == "ptx" and int(device.handle.compute_capability_major_nv) >= 8:
        macros["SG_PTX_REDUX"] = "1"
    cap = registers if device.back_end == "ptx" else 0
    rows = tuple(sorted(structs.items(), key=lambda item: item[0]))
    key = (device.context.int_ptr, source, tuple(sorted(macros.items())), cap, rows)
    if key not in _programs:
        options = [f"-D{name}={value}" for name, value in macros.items()]
        options += [f"-cl-std={_standard(device)}"]
        options += ["-cl-nv-verbose"] if device.back_end == "ptx" else []
        options += [f"-cl-nv-maxrregcount={cap}"] if cap else []
        # Oclgrind stops at what its compiler's optimiser says about aliases.
        options += ["-cl-opt-disable"] if device.is_simulator else []
        path = kernel_folder() / source
        own = path.read_text(encoding="utf-8")
        included = includes_digest(own, macros.get("FIELD", ""))
        text = f"// {included}\n{declared(structs)}\n#line 1\n{own}"
        _programs[key] = Program(device, path.name, text, options)
    return _programs[key]


class Launched(NamedTuple):
    """A kernel that was launched."""

    program: Program
    name: str
    event: cl.Event


@contextmanager
def launches() -> Iterator[list[Launched]]:
    """All kernels that a block launches by `Program.kernel`, for their times."""
    global _launched
    _launched = []
    try:
        yield _launched
    finally:
        _launched = None


def includes_digest(text: str, field: str = "") -> str:
    """A digest of all that a source includes, a field's file in angle brackets too.

    It stands in the source, because compiled programs are kept by source, here and by drivers.
    """
    waiting, texts = [*INCLUDE.findall(text), *([field.strip("<>")] if field else [])], {}
    while waiting:
        name = waiting.pop()
        if name not in texts:
            texts[name] = (_includes() / name).read_text(encoding="utf-8")
            waiting += INCLUDE.findall(texts[name])
    return hashlib.sha256("".join(texts[name] for name in sorted(texts)).encode()).hexdigest()


def _includes() -> Path:
    return kernel_folder() / "include"


def declared(structs: Structs) -> str:
    """C declarations of structured types. ValueError where C lays one out in another way.

    The standard of OpenCL aligns a number to its size, on every device.
    """
    texts = []
    for name, dtype in structs.items():
        fields = [(field, dtype[field]) for field in dtype.names or ()]
        if np.dtype(fields, align=True) != dtype:
            raise ValueError(f"{name} has gaps in C that {dtype} has not")
        members = [
            f"{C_TYPES[of.base]} {field}{''.join(f'[{size}]' for size in of.shape)};"
            for field, of in fields
        ]
        texts.append(f"typedef struct {{ {' '.join(members)} }} {name};")
    return "\n".join(texts)


def _standard(device: Device) -> str:
    if device.back_end != "khr":
        return "CL1.2"
    # Drivers of OpenCL 2.1 have sub-groups, too, but not the later language.
    version = re.match(r"OpenCL (\d+)", device.handle.version)
    return "CL2.0" if version is not None and int(version[1]) == 2 else "CL3.0"
