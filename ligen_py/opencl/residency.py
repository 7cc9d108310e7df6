"""How many sub-groups of a kernel a device holds at a time: what fills it, and no more."""

import re
from typing import NamedTuple

from ligen_py.opencl.program import Program

SHARED_MEMORY = {7: 96 << 10, 8: 100 << 10, 9: 227 << 10}
"""Local memory of a multiprocessor of NVIDIA's by compute capability (major); 8.0 has more. OpenCL
reports only how much one work-group may take."""

REGISTERS, REGISTER_UNIT = 65_536, 8
"""Registers of a multiprocessor of NVIDIA's; a thread takes a multiple of the unit."""

WARPS = 48
"""Warps of a multiprocessor that `resident` counts with, if nothing else is short. Since compute
capability 7.0 all hold as many but those of 7.5 (`MOST_WARPS`), where the rest waits."""

OTHER_GPU = 16
"""Sub-groups of one compute unit where a GPU reports nothing but its local memory."""


TYPICAL = 96
"""Registers of a thread where the build log has none: the program came from a cache."""

MOST_WARPS = {(7, 0): 64, (7, 5): 32, (8, 0): 64, (9, 0): 64, (10, 0): 64}
"""Warps that a multiprocessor can hold by compute capability; `WARPS` elsewhere."""

PARTITIONS = 4
"""Parts of a multiprocessor, each with its own registers and warps."""


class Usage(NamedTuple):
    """What the compiler says of a kernel: registers of a thread, bytes of them spilled."""

    registers: int
    spilled: int


def usage(log: str) -> dict[str, Usage]:
    """Registers and spills by kernel from a build log of NVIDIA's; empty where it has none."""
    found = {}
    for part in log.split("Compiling entry function '")[1:]:
        name, rest = part.split("'", 1)
        used = re.search(r"Used (\d+) registers", rest)
        own = rest[rest.find(f"Function properties for {name}") :]
        spilled = re.search(r"(\d+) bytes spill stores", own)
        if used:
            found[name] = Usage(int(used.group(1)), int(spilled.group(1)) if spilled else 0)
    return found


def registers(log: str) -> int:
    """Most registers that a thread of any kernel takes, from a build log of NVIDIA's."""
    found = [int(count) for count in re.findall(r"Used (\d+) registers", log)]
    return max(found, default=TYPICAL)


def occupancy(program: Program, name: str, group: int) -> tuple[int, int]:
    """Sub-groups of a kernel on one multiprocessor of NVIDIA's at a time, and the most it holds.

    In work-groups of `group`, from registers (in units, and a partition each) and local memory.
    """
    handle = program.device.handle
    major = int(handle.compute_capability_major_nv)
    most = MOST_WARPS.get((major, int(handle.compute_capability_minor_nv)), WARPS)
    kernel = usage(program.log).get(name, Usage(TYPICAL, 0))
    used = -(-kernel.registers // REGISTER_UNIT) * REGISTER_UNIT
    warps = PARTITIONS * (REGISTERS // PARTITIONS // (used * program.device.sub_group_size))
    memory = SHARED_MEMORY.get(major, int(handle.local_mem_size))
    groups = memory // max(1, program.local_bytes(name))
    return group * min(min(warps, most) // group, groups), most


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
        warps = min(WARPS, REGISTERS // (used * device.sub_group_size))
    else:
        memory, warps = int(device.handle.local_mem_size), OTHER_GPU
    return units * group * max(1, min(warps // group, memory // local))
