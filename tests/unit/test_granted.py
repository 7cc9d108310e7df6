"""What a process may use: the least of affinity mask, control groups and Slurm."""

import os
from pathlib import Path

import pytest

from ligen_py import granted

HERE = len(os.sched_getaffinity(0))
GIB = 1 << 30


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for control groups, of which this process is in none; 64 cores by the mask."""
    for variable in ("SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_NODE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(granted, "CONTROL_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(granted, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64))
    return tmp_path


def limit(folder: Path, own: str, files: dict[str, str]) -> None:
    """Put this process into control groups with these files."""
    (folder / "own").write_text(own)
    for name, text in files.items():
        file = folder / "groups" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")


def test_without_limits_the_mask_counts(groups: Path) -> None:
    assert granted.cores() == 64
    assert granted.memory() is None


@pytest.mark.parametrize(
    ("own", "files", "cores", "memory"),
    [
        # A group of version 2; one that it is in has the lower limit of memory.
        (
            "0::/slurm/job_7\n",
            {
                "slurm/job_7/cpu.max": "800000 100000",
                "slurm/job_7/memory.max": "max",
                "slurm/cpu.max": "max 100000",
                "slurm/memory.max": str(3 * GIB),
            },
            *(8, 3 * GIB),
        ),
        # In a container the group is the highest one, under whatever name it has outside.
        ("0::/\n", {"cpu.max": "150000 100000", "memory.max": str(GIB)}, 2, GIB),
        ("0::/../docker/1\n", {"cpu.max": "20000 100000", "memory.max": str(GIB)}, 1, GIB),
        (
            "5:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n1:name=systemd:/docker/1\n",
            {
                "cpu/cpu.cfs_quota_us": "400000",
                "cpu/cpu.cfs_period_us": "100000",
                "memory/memory.limit_in_bytes": str(2 * GIB),
            },
            *(4, 2 * GIB),
        ),
        # Version 1 writes "no limit" as -1, and as a number of exabytes.
        (
            "5:memory:/\n4:cpu:/\n0::/\n",
            {
                "cpu/cpu.cfs_quota_us": "-1",
                "cpu/cpu.cfs_period_us": "100000",
                "memory/memory.limit_in_bytes": "9223372036854771712",
            },
            *(64, None),
        ),
    ],
)
def test_control_groups_limit(
    groups: Path, own: str, files: dict[str, str], cores: int, memory: int | None
) -> None:
    limit(groups, own, files)
    assert granted.cores() == cores
    assert granted.memory() == memory


def test_slurm_limits(groups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(groups, "0::/\n", {"cpu.max": "800000 100000", "memory.max": str(GIB)})
    for given, cores in (("4", 4), ("16", 8), ("", 8)):
        monkeypatch.setenv("SLURM_CPUS_PER_TASK", given)
        assert granted.cores() == cores
    for megabytes, memory in (("500", 500 << 20), ("5000", GIB), ("0", GIB)):
        monkeypatch.setenv("SLURM_MEM_PER_NODE", megabytes)
        assert granted.memory() == memory


def test_this_process_has_at_most_the_cores_of_its_mask() -> None:
    assert 1 <= granted.cores() <= HERE
