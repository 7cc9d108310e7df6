"""A Python that starts soon: in a child of a process that has imported what takes the most time.

What it runs with -m, Snakemake as an example, starts as in any Python, in a folder and an
environment of its own, and so do the jobs that it starts. Any other words are for the real one.
Tests of signals start that, as no signal reaches the child.
"""

import ast
import atexit
import gc
import os
import runpy
import select
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

IMPORTED = (
    *("snakemake.cli", "chembl_structure_pipeline", "gemmi", "h5py", "jinja2", "numpy"),
    *("pdb2pqr.main", "posebusters", "pyarrow.parquet", "pydantic", "rdkit.Chem.AllChem"),
    *("smart_open", "yaml"),
)
"""What takes long. Nothing of the project: some have a copy of it; and pyopencl reads variables."""

SENDS_ITSELF = """\
#!{real} -IS
import os, socket, sys
if sys.argv[1:2] != ["-m"]:
    os.execv("{real}", ["{real}", *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect("{address}")
request = repr((os.getcwd(), sys.argv[2:], dict(os.environ)))
socket.send_fds(server, [request.encode()], [0, 1, 2])
code = int(server.recv(16) or 1)
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
"""What stands in its place among processes: it waits for the child, and ends as that does."""


def snakemake(
    folder: Path, words: list[str], extra: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in a folder; all that it and its jobs print is in stdout."""
    return subprocess.run(
        [python(), "-m", "snakemake", *words],
        cwd=folder,
        env={**os.environ, **(extra or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def python() -> str:
    """The path of this Python."""
    return f"{_server()[0].name}/python"


@cache
def _server() -> "tuple[TemporaryDirectory[str], subprocess.Popen[bytes]]":
    """One for all tests of this process; it ends with it, as its input does."""
    folder = TemporaryDirectory()
    address, path = f"{folder.name}/socket", Path(folder.name) / "python"
    path.write_text(SENDS_ITSELF.format(real=sys.executable, address=address))
    path.chmod(0o755)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(address)
        listening.listen()
        number = listening.fileno()
        words = [sys.executable, __file__, str(path), str(number)]
        return folder, subprocess.Popen(words, stdin=subprocess.PIPE, pass_fds=[number])


def _serve(path: str, number: str) -> None:
    """Tell whoever asks how a child ended that does what was asked for; returns in the children."""
    for name in IMPORTED:
        import_module(name)
    sys.modules["snakemake.cli"].parse_args(["--cores", "1"])  # imports its plugins, too
    gc.freeze()  # what is collected is copied
    listening = socket.socket(fileno=int(number))
    while listening in select.select([listening, 0], [], [])[0]:
        asking = listening.accept()[0]
        if not os.fork():
            child = os.fork()
            if not child:
                listening.close()
                _become(path, asking)
                return
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with suppress(BrokenPipeError):
                asking.send(str(code).encode())
            os._exit(0)
        asking.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    os._exit(0)


def _become(path: str, asking: socket.socket) -> None:
    """Make this process what the real Python would be."""
    with asking:
        request, given, *_ = socket.recv_fds(asking, 1 << 20, 3)
    folder, words, environment = ast.literal_eval(request.decode())
    for number, descriptor in enumerate(given):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.executable, sys.argv, sys.orig_argv = path, words, [path, "-m", *words]
    first = environment.get("PYTHONPATH", "")
    sys.path[:1] = [folder, *filter(None, first.split(os.pathsep))]
    with suppress(ModuleNotFoundError):
        import_module("sitecustomize")


def _leave() -> None:
    """End as the last of all that is done at the end: taking everything apart is slow."""
    sys.stdout.flush()
    os._exit(_status[0])


_status = [1]

if __name__ == "__main__":
    atexit.register(_leave)
    _serve(*sys.argv[1:])
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        _status = [0]
    except SystemExit as ended:
        _status = [ended.code if isinstance(ended.code, int) else int(ended.code is not None)]
        raise
