"""Why a run stopped, by the logs of Snakemake and of the stages."""

import re
from pathlib import Path

_REFUSED = re.compile(r'^WorkflowError in file ".*\.smk", line \d+:\n(.+)', re.MULTILINE)
"""What the rules say in Snakemake's log, or in Slurm's, of a run or a job that they refuse."""

_ENDED = re.compile(r"^Error in rule (\w+):\n((?: .*\n)+)", re.MULTILINE)
"""What it says there of a job that failed: its rule, and lines about it."""

_ITS_LOGS = re.compile(r"^ +log: (.+?) \(check", re.MULTILINE)
"""The logs among these lines: that of the stage, and behind it that of Slurm."""

_BY_SLURM = re.compile(r"SLURM-job '(\w+)' failed.*?, SLURM status is: '(\w+)'")
"""The number that the job has in Slurm, and the state in which it ended, there."""

_NOT_TAKEN = re.compile(
    r"[^\n]+\n +message: SLURM sbatch failed\. The error message was '(.*?)'\.\n +sbatch call:",
    re.DOTALL,
)
"""What Slurm says where it takes no such job, there; it may have several lines."""

CURES = {
    "OUT_OF_MEMORY": "it exceeded its memory; raise it with '-- --set-resources {rule}:mem_mb=N' "
    "(megabytes) or in the profile, or cut the work into more chunks",
    "TIMEOUT": "it exceeded its time; raise it with '-- --set-resources {rule}:runtime=N' "
    "(minutes) or in the profile, or cut the work into more chunks",
    "NODE_FAIL": "its node failed; the same command goes on from here",
    "CANCELLED": "someone cancelled it; the same command goes on from here",
    "DEADLINE": "it would not have ended before its deadline; the same command goes on from here",
    "BOOT_FAIL": "its node did not start; the same command goes on from here",
    "PREEMPTED": "a job of more urgency took its place; the same command goes on from here",
}
"""State in which Slurm ends a job -> why, and what to do."""

TAIL = 1 << 14
"""Bytes at the end of a log in which an error message is sought."""


def logs_of(folder: Path) -> dict[Path, int]:
    """Every log of a campaign, with the time of its last change."""
    found = [*folder.glob("logs/**/*.log"), *folder.glob(".snakemake/log/*.log")]
    return {path: path.stat().st_mtime_ns for path in found}


def why_stopped(folder: Path, before: dict[Path, int]) -> str:
    """What stopped a run, from the logs that it wrote."""
    now = logs_of(folder)
    changed = sorted((path for path in now if now[path] != before.get(path)), key=now.__getitem__)
    stages = [path for path in changed if ".snakemake" not in path.parts]
    failed = {path: said for path in stages if (said := error_at_the_end(path))}
    for path, said in failed.items():
        more = f"; {len(failed) - 1} other jobs failed, too" if len(failed) > 1 else ""
        return f"{said} (log: {path}{more})"
    others = [path for path in changed if path not in stages]
    if any("--unlock" in path.read_text(encoding="utf-8", errors="replace") for path in others):
        return (
            f"{folder.absolute()}: another run works in this folder, or one was killed there; wait "
            "for it, or, if none is running, type the same command with '-- --unlock' behind, then "
            "the command itself"
        )
    for path in others:
        text = path.read_text(encoding="utf-8", errors="replace")
        if refused := _REFUSED.search(text):
            return f"{refused[1]} (log: {path})"
        for ended in list(_ENDED.finditer(text))[-1:]:
            rule, about = ended.groups()
            if refused := _NOT_TAKEN.match(text, ended.start()):
                return f"{_not_taken(rule, refused[1])} (log: {path})"
            found = _by_slurm(rule, about, folder) or _refused_there(about, folder)
            return found or _silent(rule, about, folder)
    where = f" (log: {others[-1]})" if others else ""
    return f"Snakemake stopped, see its messages above{where}"


def _not_taken(rule: str, said: str) -> str:
    """What to say of a job that Slurm refused, from what `sbatch` said."""
    lines = [line.removeprefix("sbatch: ").removeprefix("error: ") for line in said.splitlines()]
    why = "; ".join(line.removeprefix("Batch job submission failed: ") for line in lines)
    return (
        f"{rule}: Slurm refused the job: {why}; correct the profile, or what '--set-resources' "
        "adds to it: partition, account, time, memory, processors"
    )


def _by_slurm(rule: str, about: str, folder: Path) -> str:
    """What to say of a job that Slurm ended; empty where it did not."""
    said, logs = _BY_SLURM.search(about), _ITS_LOGS.search(about)
    if not said or said[2] not in CURES:  # FAILED: the stage ended by itself
        return ""
    cure = CURES[said[2]].format(rule=rule)
    where = f" (log: {folder / logs[1].split(', ')[-1]})" if logs else ""
    return f"{rule}: Slurm ended job {said[1]} as {said[2]}: {cure}{where}"


def _refused_there(about: str, folder: Path) -> str:
    """What the rules say in Slurm's log of a job that they refused; empty where they did not."""
    logs = _ITS_LOGS.search(about)
    path = folder / logs[1].split(", ")[-1] if logs else folder
    refused = _REFUSED.search(_tail(path)) if path.is_file() else None
    return f"{refused[1]} (log: {path})" if refused else ""


def _silent(rule: str, about: str, folder: Path) -> str:
    """What to say of a job that failed and whose log has no error message."""
    logs = _ITS_LOGS.search(about)
    if not logs:
        return f"{rule} failed, see Snakemake's messages above"
    path = folder / logs[1].split(", ")[0]
    lines = [line for line in _tail(path).splitlines() if line.strip()] if path.is_file() else []
    last = f"; its last line: {lines[-1].strip()}" if lines else ""
    return (
        f"{rule} ended without an error message, as what is killed does, for lack of memory as an "
        f"example{last} (log: {path})"
    )


def _tail(path: Path) -> str:
    """The end of a log."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - TAIL))
        return stream.read().decode("utf-8", "replace")


def error_at_the_end(path: Path) -> str:
    """The error message at the end of a stage's log; empty where it did not fail."""
    text = _tail(path)
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    if " error: " in f" {lines[-1]}":
        # "ligen stage dock: error: this" is shown as "dock: this".
        return lines[-1].removeprefix("ligen ").removeprefix("stage ").replace(": error: ", ": ", 1)
    if "Traceback (most recent call last)" in text:
        return f"{lines[-1].strip()}; this is a fault of the program, please report it"
    return ""
