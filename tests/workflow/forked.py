"""Snakemake in a child of a process that has imported it: that takes most of the time of a plan.

It starts as `python -m snakemake` does, in a folder and an environment of its own, and ends as any
other process does. Tests of signals, and those of `ligen run`, start it without this.
"""

import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

LATER = ("h5py", "posebusters", "smart_open")
"""What it and the rules import while they work. Nothing of the project: some have a copy of it."""


def snakemake(
    folder: Path, words: list[str], extra: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in a folder; all that it and its jobs print is in stdout."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.NamedTemporaryFile() as printed:
        request = {
            "folder": str(folder),
            "words": words,
            "environment": {**os.environ, **(extra or {})},
            "printed": printed.name,
        }
        try:
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            code = int(server.stdout.readline())
        except BaseException:  # of a time limit, or Ctrl-C: its answer must not be the next one's
            server.kill()
            _server.cache_clear()
            raise
        return subprocess.CompletedProcess(words, code, Path(printed.name).read_text())


@cache
def _server() -> "subprocess.Popen[str]":
    """One for all tests of this process; it ends with it, as its input does."""
    return subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _serve() -> None:
    """Answer each line, a request, with the exit code of a child; returns in the children."""
    for name in ("snakemake.cli", *LATER):
        import_module(name)
    sys.modules["snakemake.cli"].parse_args(["--cores", "1"])  # imports its plugins, too
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _become(json.loads(line))
            return
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    os._exit(0)


def _become(request: dict[str, Any]) -> None:
    """Make this process what `python -m snakemake` would be."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    for descriptor, path, mode in (
        (0, os.devnull, os.O_RDONLY),
        (1, request["printed"], os.O_WRONLY | os.O_APPEND),
    ):
        opened = os.open(path, mode)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.dup2(1, 2)
    sys.path[0] = request["folder"]
    sys.argv = ["snakemake", *request["words"]]


if __name__ == "__main__":
    _serve()
    runpy.run_module("snakemake", run_name="__main__", alter_sys=True)
