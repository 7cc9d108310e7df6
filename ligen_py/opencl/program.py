"""Build kernels from the files in kernels/, once per device and set of definitions."""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.tools import match_dtype_to_c_struct

from ligen_py.errors import DeviceError
from ligen_py.opencl import watchdog
from ligen_py.opencl.device import Device
from ligen_py.paths import kernel_folder

Structs = Mapping[str, np.dtype]
"""Rows of a kernel's tables: structured types by the names that they have in the kernel."""

_programs: dict[tuple[Any, ...], "Program"] = {}


class Program:
    """A built kernel file; each kernel object is fetched once and kept."""

    def __init__(
        self, device: Device, source: Path, options: list[str], declarations: str = ""
    ) -> None:
        """Compile `source` behind declarations; DeviceError carries the compiler's words."""
        self.device = device
        try:
            text = f"{declarations}\n#line 1\n{source.read_text(encoding='utf-8')}"
            self._program = cl.Program(device.context, text).build(options)
        except cl.RuntimeError as error:
            raise DeviceError(f"{device.label} cannot build {source.name}: {error}") from error
        self._kernels: dict[str, cl.Kernel] = {}

    def kernel(self, name: str) -> cl.Kernel:
        """The kernel of that name."""
        if name not in self._kernels:
            self._kernels[name] = cl.Kernel(self._program, name)
        return self._kernels[name]

    def local_bytes(self, name: str) -> int:
        """Local memory that a work-group of a kernel takes on the device."""
        info = cl.kernel_work_group_info.LOCAL_MEM_SIZE
        return int(self.new_kernel(name).get_work_group_info(info, self.device.handle))

    def new_kernel(self, name: str) -> cl.Kernel:
        """A kernel object that keeps its arguments to itself."""
        return cl.Kernel(self._program, name)

    @cached_property
    def log(self) -> str:
        """What the compiler said (registers and spills on NVIDIA)."""
        return str(self._program.get_build_info(self.device.handle, cl.program_build_info.LOG))


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
        options += ["-I", str(kernel_folder() / "include"), f"-cl-std={_standard(device)}"]
        options += ["-cl-nv-verbose"] if device.back_end == "ptx" else []
        options += [f"-cl-nv-maxrregcount={cap}"] if cap else []
        # Oclgrind stops at what its compiler's optimiser says about aliases.
        options += ["-cl-opt-disable"] if device.is_simulator else []
        text = f"// {includes_digest(macros.get('FIELD', ''))}\n{declared(device, structs)}"
        _programs[key] = Program(device, kernel_folder() / source, options, text)
    return _programs[key]


def includes_digest(field: str) -> str:
    """A digest of all includes, also of a field's by its full path in angle brackets.

    It stands in the source, because pyopencl keeps compiled programs by their source and by the
    includes that it finds in it. It does not find one that a macro names, such as FIELD.
    """
    paths = sorted((kernel_folder() / "include").glob("*.clh"))
    named = Path(field.strip("<>"))
    paths += [named] if named.is_absolute() else []
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def declared(device: Device, structs: Structs) -> str:
    """C declarations of structured types, as the device lays them out.

    ValueError where it lays one out in another way than the host does.
    """
    texts = []
    for name, dtype in structs.items():
        with watchdog.waiting():  # a kernel runs there
            laid_out, text = match_dtype_to_c_struct(device.handle, name, dtype, device.context)
        if laid_out != dtype:
            raise ValueError(f"{name} is {laid_out} on {device.label}, {dtype} on the host")
        texts.append(text)
    return "\n".join(texts)


def _standard(device: Device) -> str:
    return "CL3.0" if device.back_end == "khr" else "CL1.2"
