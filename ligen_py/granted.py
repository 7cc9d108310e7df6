"""Cores and memory that this process may use, of those that its computer has.

A cluster, a container or `taskset` may grant less: by the affinity mask, by the limits of control
groups (of version 1 or 2), or by what Slurm says of the job.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

CONTROL_GROUPS = Path("/sys/fs/cgroup")

OWN_GROUPS = Path("/proc/self/cgroup")
"""Lists the control groups of this process: a line for each hierarchy."""

NO_LIMIT = 1 << 60
"""Bytes from which on a limit is none: version 1 has to write a number."""


def cores() -> int:
    """Cores, the fewest that anything grants; 1.5 of a control group are 2."""
    if hasattr(os, "sched_getaffinity"):
        found = [len(os.sched_getaffinity(0))]
    else:
        found = [os.cpu_count() or 1]
    for folder, version in _groups("cpu"):
        if version == 2:
            words = _words(folder / "cpu.max")
        else:
            words = _words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us")
        # No quota is "max" in version 2, and -1 in version 1.
        if len(words) == 2 and all(word.isdecimal() and int(word) for word in words):
            quota, period = map(int, words)
            found.append(-(-quota // period))
    task = re.match(r"[1-9]\d*", os.environ.get("SLURM_CPUS_PER_TASK", ""))
    return min([*found, int(task.group())] if task else found)


def memory() -> int | None:
    """Bytes, the least limit of the control groups and of the Slurm job; None without a limit."""
    found = []
    for folder, version in _groups("memory"):
        words = _words(folder / ("memory.max" if version == 2 else "memory.limit_in_bytes"))
        found += [int(word) for word in words if word.isdecimal() and int(word) < NO_LIMIT]
    megabytes = os.environ.get("SLURM_MEM_PER_NODE", "")
    if megabytes.isdecimal() and int(megabytes):
        found.append(int(megabytes) << 20)
    return min(found, default=None)


def _groups(controller: str) -> Iterator[tuple[Path, int]]:
    """Folders of the control groups that limit this process, and the version of each.

    A limit of a group holds for all below it. Inside a container the names may be those of its
    host, and only the highest folder be there, which is then the container's own.
    """
    try:
        lines = OWN_GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, inside = line.split(":", 2)
        if not controllers:
            root, version = CONTROL_GROUPS, 2
        elif controller in controllers.split(","):
            root, version = CONTROL_GROUPS / controller, 1
        else:
            continue
        group = root / inside.strip("/")
        for folder in (group, *group.parents):
            yield folder, version
            if folder == root:
                break


def _words(file: Path) -> list[str]:
    """The words of a control group's file; none where there is no such file."""
    try:
        return file.read_text(encoding="utf-8").split()
    except OSError:
        return []
