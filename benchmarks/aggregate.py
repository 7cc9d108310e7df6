"""Time and memory of `aggregate`, `query`, `export` and `report` on synthetic parts.

    python benchmarks/aggregate.py FOLDER [--parts N] [--ligands N] [--poses N]

Writes a campaign of one target (PDB 1IA1) into FOLDER, with drug-sized molecules, random poses and
scores. Then runs each command in a separate process and prints its time in seconds and its peak
memory, and that of its largest worker (Linux). `--ligands` is the number of ligands in one part.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # runs from a checkout as it is

from benchmarks.docking import pocket_of
from benchmarks.leaving import in_words
from benchmarks.screen import packaged_complex
from ligen_py.chain import FILES
from ligen_py.cli import at_least
from ligen_py.engine.scoring.checks import table
from ligen_py.molecules.library.parsing import Library, assemble
from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands.preparation import Prepared, prepare
from ligen_py.provenance import Run
from ligen_py.records.kept import Verdicts
from ligen_py.records.ledger import Reason, Status
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.poses import Poses
from ligen_py.records.refined import REFINED, Refinement
from ligen_py.records.scores import SCORES, Scores
from ligen_py.settings.parse import AS_GIVEN, ParseSettings
from ligen_py.settings.pocket import PocketSettings
from ligen_py.settings.refine import RefineSettings
from ligen_py.settings.score import ScoreSettings
from ligen_py.store.campaign.manifest import COLUMNS
from ligen_py.store.files.write import write

SMILES = (
    "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "CN1CCN(CC1)Cc1ccc(cc1)C(=O)Nc1ccc(C)c(Nc2nccc(n2)-c2cccnc2)c1",
    "COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC",
    "CC(C)(C)NCC(O)c1ccc(O)c(CO)c1",
)


def library(number: int, size: int, models: list[Prepared]) -> Library:
    """Part `number` of a library: `size` records that all count as different molecules."""
    first = number * size
    return assemble(
        (
            Record(first + i + 1, f"molecule {first + i}", ""),
            replace(models[i % len(models)], key=f"{first + i:032x}"),
        )
        for i in range(size)
    )


def poses_of(part: Library, each: int, rng: np.random.Generator) -> Poses:
    """`each` random poses of every ligand."""
    torsions = np.repeat(np.diff(part.ligands.first_torsion), each)
    count = len(torsions)
    quaternion = rng.standard_normal((count, 4)).astype("f4")
    zeros = np.zeros(count, "i4")
    return Poses(
        first_pose=np.arange(0, count + 1, each, dtype="i8"),
        first_torsion=np.concatenate([[0], np.cumsum(torsions)]).astype("i8"),
        restart=np.tile(np.arange(each, dtype="i4"), count // each),
        translation=rng.standard_normal((count, 3)).astype("f4"),
        quaternion=quaternion / np.linalg.norm(quaternion, axis=1)[:, None],
        torsion=rng.uniform(-180, 180, int(torsions.sum())).astype("f4"),
        score=zeros,
        internal_bumps=zeros,
        pocket_bumps=zeros,
        outside=zeros,
    )


def campaign(folder: Path, options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """Write the files of every part; yield the rows of the manifest."""
    settings = ParseSettings(**AS_GIVEN)
    models = [prepare(Record(1, "", smiles), settings) for smiles in SMILES]
    pocket = pocket_of(*packaged_complex(), 10.0, folder, PocketSettings())
    for number in range(options.parts):
        rng = np.random.default_rng(number)
        paths = [folder / kind / f"{number}.h5" for kind in ("ligands", "refined", "scores")]
        ligands, refined, scores = paths
        part = library(number, options.ligands, models)
        write(ligands, LIGANDS, Run("parse", ParseSettings()), part.groups)
        poses = poses_of(part, options.poses, rng)
        count = len(poses.restart)
        run = Run("refine", RefineSettings(), (ligands, pocket))
        records = {
            "ledger": part.ledger,
            "poses": poses,
            "verdicts": Verdicts(verdict=np.zeros(count, "u1"), cluster=np.zeros(count, "i4")),
            "refinement": Refinement(before=np.zeros(count, "f4"), after=np.zeros(count, "f4")),
        }
        write(refined, REFINED, run, records)
        terms = {name: rng.normal(6, 1, count).astype("f4") for name in ("vdw", "hb", "total")}
        total = terms["total"].reshape(-1, options.poses)
        every = np.arange(options.ligands)
        best = total.argmax(axis=1) + every * options.poses
        ledger = part.ledger.marked(every, Status.SCORED, Reason.NONE, [""] * options.ligands)
        columns = poses.first_pose, poses.restart, -terms["total"], best.astype("i8")
        found = Scores(*columns, total.max(axis=1))
        run = Run("score", ScoreSettings(), (ligands, pocket, refined), "none")
        write(
            scores,
            SCORES,
            run,
            {"ledger": ledger, "scores": found, "checks": table([])},
            {"xscore": terms},
        )
        made = {"pocket": pocket, "ligands": ligands, "refined": refined, "scores": scores}
        files = (str(made.get(name, folder / name / f"{number}.h5")) for name in FILES)
        yield ("target", "library", "library.smi", *files, "0", "", "")


def main() -> None:
    """Make the campaign, aggregate it, print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", type=at_least(1), default=1000)
    parser.add_argument("--ligands", type=at_least(1), default=1000)
    parser.add_argument("--poses", type=at_least(1), default=10)
    options = parser.parse_args()
    folder = options.folder
    rows = [COLUMNS, *campaign(folder, options)]
    manifest, output = folder / "manifest.tsv", folder / "campaign.h5"
    manifest.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    ligands = options.parts * options.ligands
    inputs = sum(path.stat().st_size for path in folder.glob("*/*.h5"))
    print(f"{ligands} ligands in {options.parts} parts, {inputs / 1e6:.0f} MB of input files")
    for jobs in ("1", "4"):
        paths = "--manifest", str(manifest), "--output", str(output)
        measure("aggregate", *paths, "--quiet", "--jobs", jobs)
    print(f"campaign file {output.stat().st_size / 1e6:.0f} MB")
    measure("query", str(output), "--top", "1000")
    measure("query", str(output), "--name", f"molecule {ligands // 2}")
    measure("query", str(output), "--where", "score > 8 and score < 8.001")
    measure("export", "--campaign", str(output), "--output", str(folder / "export"), "--quiet")
    measure("report", "--campaign", str(output), "--output", str(folder / "report.html"))


RUN = """
import importlib, re, resource, sys
try:
    status = importlib.import_module(f"ligen_py.{sys.argv[1]}").main(sys.argv[2:])
except SystemExit as end:
    status = end.code
own = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]
print(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""
"""What `measure` runs: it prints its own peak; `wait4` would report this process's, if higher."""


def measure(module: str, *words: str) -> None:
    """Run a command; print what it was and what it cost."""
    started = time.perf_counter()
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    done = subprocess.run(
        [sys.executable, "-c", RUN, module, *words],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    seconds = time.perf_counter() - started
    if done.returncode:
        sys.exit(f"{module} failed: {done.stderr}")
    what = " ".join([module, *(word for word in words if not Path(word).is_absolute())])
    own, child = (int(word) / 1024 for word in done.stderr.split()[-2:])
    workers = f" (a worker: {child:.0f} MB)" if "--jobs" in words and words[-1] != "1" else ""
    print(f"{seconds:8.1f} s {own:6.0f} MB  {what}{workers}", flush=True)


if __name__ == "__main__":
    with in_words():
        main()
