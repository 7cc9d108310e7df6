"""Ask a campaign of a million invented molecules: seconds of each kind of question.

    python benchmarks/query.py [--molecules N] [--json FILE]

Each question is a process of its own, timed from its start to its end; the median of five
counts. What Python and the libraries take to start is the row 'nothing'.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from ligen_py.cli import at_least
from ligen_py.provenance import Run
from ligen_py.records.properties import PROPERTY_NAMES, Properties
from ligen_py.records.site import Site
from ligen_py.settings.aggregate import AggregateSettings
from ligen_py.store.campaign.layout import Runs, Scored
from ligen_py.store.campaign.writer import TargetWriter, control_of, new_campaign, reference_of

ROOT = Path(__file__).resolve().parents[1]

PIECE = 100_000

QUESTIONS: dict[str, list[str]] = {
    "the ten best": [],
    "score and weight": ["--where", "score > 4 and mw < 450"],
    "sorted by efficiency": ["--sort", "score / heavy", "--descending", "--limit", "100"],
    "half of them as Parquet": ["--where", "mw < 400", "--limit", "0", "--output", "x.parquet"],
    "text of the name": ["--match", "77777"],
    "SMARTS, 10 of the best": ["--smarts", "c1ccncc1"],
    "compared with itself": [],
}


NO_TEXTS = np.empty(0, object)
NOWHERE = Site(
    xyz=np.empty((0, 3), "f4"),
    element=np.empty(0, "u1"),
    residue=np.empty(0, "i4"),
    label=NO_TEXTS,
    role=np.empty(0, "u1"),
    conformation=NO_TEXTS,
    receptor=NO_TEXTS,
    box=NO_TEXTS,
    warning=NO_TEXTS,
)
"""A target without atoms."""


def invent(path: Path, molecules: int) -> None:
    """Write a campaign of one target with random scores and properties."""
    rng = np.random.default_rng(0)
    scores = rng.normal(3, 1, molecules).astype("f4")
    smiles = np.array(["CCO", "c1ccncc1CC(=O)N", "CC(=O)Oc1ccccc1C(=O)O"], object)
    with new_campaign(path, Run("aggregate", AggregateSettings())) as campaign:
        target = campaign.target("t")
        for start in range(0, molecules, PIECE):
            count = min(PIECE, molecules - start)
            _append(target, rng, smiles, scores[start : start + count], start)
        order = np.argsort(-scores, kind="stable").astype("i8")
        target.write_ranking([order], len(order))
        target.finish(control_of(None), NOWHERE, reference_of({}))
        texts = [np.empty(0, object)] * 5
        campaign.finish(["lib"], ["lib.smi"], Runs(*texts))


def _append(
    target: TargetWriter,
    rng: np.random.Generator,
    smiles: np.ndarray,
    scores: np.ndarray,
    start: int,
) -> None:
    count = len(scores)
    number = np.arange(start, start + count)
    target._scored.append(
        Scored(
            library=np.zeros(count, "u2"),
            file=np.zeros(count, "u4"),
            line=number + 1,
            name=np.array([f"CHEMBL{n}" for n in number], object),
            key=np.array([f"key{n:027d}" for n in number], object),
            smiles=smiles[number % 3],
            note=np.full(count, "", object),
            score=scores,
            states=np.ones(count, "i4"),
            poses=np.ones(count, "i4"),
            restart=np.zeros(count, "i4"),
            heavy=np.full(count, 28, "i4"),
            duplicate=np.zeros(count, "u1"),
        )
    )
    values = rng.uniform(0, 1, (len(PROPERTY_NAMES), count)).astype("f4")
    values[0] = rng.normal(400, 80, count)
    values[7] = np.round(values[0] / 14)
    target._properties.append(Properties(*values))
    terms = {f"{name}/total": rng.normal(8, 1, count).astype("f4") for name in ("vina", "ad4")}
    target._append_terms(terms, "invented")


def seconds(words: list[str], folder: Path) -> tuple[float, float]:
    """The median of five times of a process: of the clock, and of the processors."""
    times = []
    for _ in range(5):
        before, started = os.times(), time.perf_counter()
        subprocess.run([sys.executable, *words], cwd=folder, check=True, capture_output=True)
        clock, after = time.perf_counter() - started, os.times()
        used = after.children_user + after.children_system
        times.append((clock, used - before.children_user - before.children_system))
    return median(time for time, _ in times), median(used for _, used in times)


def main() -> None:
    """Invent a campaign and ask it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--molecules", type=at_least(1), default=1_000_000)
    parser.add_argument("--json", type=writable, help="also write the seconds here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "campaign.h5"
        invent(path, options.molecules)
        print(f"{options.molecules:,} molecules; campaign of {path.stat().st_size / 1e6:,.0f} MB")
        start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
        code = f"{start}import ligen_py.query, ligen_py.summary.queries.question"
        found = {"nothing": seconds(["-c", code], folder)}
        for question, words in QUESTIONS.items():
            command, files = "query", [str(path)]
            if question.startswith("compared"):
                command, files = "compare", [str(path), str(path)]
            code = f"{start}from ligen_py.{command} import main; sys.exit(main({files + words}))"
            found[question] = seconds(["-c", code], folder)
            save(options.json, found)
        for question, value in found.items():
            print(f"  {question:26} {value[0]:6.2f} s, processor {value[1]:.2f} s")


if __name__ == "__main__":
    with in_words():
        main()
