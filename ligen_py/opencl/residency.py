"""How many sub-groups of a kernel a device holds at a time: what fills it, and no more."""

import re

from ligen_py.opencl.device import SUB_GROUP_SIZE
from ligen_py.opencl.program import Program

SHARED_MEMORY = {7: 96 << 10, 8: 100 << 10, 9: 227 << 10}
"""Local memory of a multiprocessor of NVIDIA's by compute capability (major); 8.0 has more. OpenCL
tells only how much one work-group may take."""

REGISTERS, REGISTER_UNIT = 65_536, 8
"""Registers of a multiprocessor of NVIDIA's; a thread takes a multiple of the unit."""

WARPS = 48
"""Warps that every multiprocessor since compute capability 7.0 holds, if nothing else is short."""

OTHER_GPU = 16
"""Sub-groups of one compute unit where a GPU tells nothing but its local memory."""


TYPICAL = 96
"""Registers of a thread where the build log tells none: the program came from a cache."""


def registers(log: str) -> int:
    """Most registers that a thread of any kernel takes, from a build log of NVIDIA's."""
    found = [int(count) for count in re.findall(r"Used (\d+) registers", log)]
    return max(found, default=TYPICAL)


def resident(program: Program, name: str, group: int) -> int:
    """Sub-groups of a kernel that the whole device runs at a time, in work-groups of `group`.

    From the compiled kernel's local memory and, on NVIDIA, its registers. A CPU runs one work-group
    a core. At least `group` times the compute units.
    """
    device = program.device
    units = int(device.handle.max_compute_units)
    if device.kind == "cpu":
        return units * group
    local = max(1, program.local_bytes(name))
    if device.back_end == "ptx":
        major = int(device.handle.compute_capability_major_nv)
        memory = SHARED_MEMORY.get(major, int(device.handle.local_mem_size))
        used = -(-registers(program.log) // REGISTER_UNIT) * REGISTER_UNIT
        warps = min(WARPS, REGISTERS // (used * SUB_GROUP_SIZE))
    else:
        memory, warps = int(device.handle.local_mem_size), OTHER_GPU
    return units * group * max(1, min(warps // group, memory // local))
