"""A campaign of seconds for the tests of faults and of the cluster, and what it must come to."""

import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.workflow import forked
from tests.workflow.test_plan import DHFR, ROOT

CHANGING = re.compile(rb'<time>.*?</time>|<div class="card wide" id="times">.*?</div>', re.DOTALL)

FAULTS = Path(__file__).parent / "faults"
"""On the PYTHONPATH, it makes stages misbehave as asked: see sitecustomize.py there."""

LOCAL = ("--workflow-profile", str(ROOT / "workflow" / "profiles" / "local"), "--cores", "2")
"""Flags of Snakemake for one computer."""

LIBRARY = """\
CC(=O)Oc1ccccc1C(=O)O aspirin
Cn1cnc2c1c(=O)n(C)c(=O)n2C caffeine
this is no molecule
COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC trimethoprim
CC(C)Cc1ccc(cc1)C(C)C(=O)O ibuprofen
CC(=O)Nc1ccc(O)cc1 paracetamol
CCc1nc(N)nc(N)c1-c1ccc(Cl)cc1 pyrimethamine
OC(=O)c1ccccc1O salicylate
"""


def campaign(chunks: int) -> dict[str, Any]:
    """Settings of a small campaign without a control."""
    return {
        "targets": {
            "dhfr": {
                "receptor": f"{DHFR}protein_one_lig_removed.pdb",
                "site": {"center": [-2.7, 27.8, 3.4], "radius": 8},
            }
        },
        "libraries": {"drugs": {"file": "drugs.smi", "chunks": chunks}},
        "dock": {"num_restart": 8, "num_iterations": 1, "n_angles": 8},
        "filter": {"max_num_poses": 4},
        "aggregate": {"top_poses": 4},
        "export": {"count": 4},
        "report": {"top": 2},
    }


def write_campaign(folder: Path, chunks: int) -> Path:
    """Write config and library into a new folder."""
    folder.mkdir(parents=True)
    (folder / "drugs.smi").write_text(LIBRARY)
    (folder / "c.yaml").write_text(yaml.safe_dump(campaign(chunks)))
    return folder


def command(*words: str) -> list[str]:
    """Snakemake on the campaign of the working folder."""
    return [sys.executable, "-m", "snakemake", *_flags(*words)]


def _flags(*words: str) -> list[str]:
    return ["--snakefile", str(ROOT / "Snakefile"), "--configfile", "c.yaml", *words]


def run(
    folder: Path, *words: str, extra: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the campaign in a folder; all that it says is in stdout."""
    return forked.snakemake(folder, _flags(*words), extra)


def run_local(folder: Path, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the campaign on this machine with the profile for one computer."""
    return run(folder, *LOCAL, *words, **options)


def contents(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of the results, hidden and half-written ones included."""
    results = folder / "results"
    return {
        str(path.relative_to(results)): hashlib.sha256(_lasting(path)).hexdigest()
        for path in sorted(results.rglob("*"))
        # Snakemake's own mark in a folder that a rule wrote.
        if path.is_file() and path.name != ".snakemake_timestamp"
    }


def _lasting(path: Path) -> bytes:
    """A file without what differs from run to run: the page shows the day and the jobs' times."""
    content = path.read_bytes()
    return CHANGING.sub(b"", content) if path.name == "report.html" else content


def ask_fault(folder: Path, stage: str, part: str, kind: str, value: object = "") -> dict[str, str]:
    """Ask for one fault, once; returns the environment in which it happens."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stage}.{part}.{kind}").write_text(str(value))
    return {"PYTHONPATH": str(FAULTS), "LIGEN_TEST_FAULTS": str(folder)}


def happened(folder: Path, stage: str, part: str, kind: str) -> bool:
    """Has a fault that was asked for begun?"""
    return (folder / f"{stage}.{part}.{kind}.begun").exists()


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[Path]:
    """A small file system of its own; a test that asks for it is skipped where none may be made."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root may mount a small file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def working_in(folder: Path) -> Iterator[str]:
    """The processes whose working folder is a campaign's."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is another user's
            if (process / "cwd").readlink() == folder:
                yield process.name


def wait_until(true: Callable[[], object]) -> None:
    """Wait for something to become true; the limit of every test ends a wait in vain."""
    while not true():
        time.sleep(0.2)
