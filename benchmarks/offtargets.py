"""Time the off-target search on a synthetic genome, and check it against the NumPy twin.

Prints the time of the whole stage from FASTA and from the cache, and of the search alone with that
of its kernels, without bulges and with bulges of 1.

    python benchmarks/offtargets.py --megabases 100 --guides 1000
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # runs from a checkout as it is

from benchmarks.leaving import in_words
from ligen_py.cli import at_least
from ligen_py.engine.offtargets.reference import search as twin
from ligen_py.engine.offtargets.results import rows_of
from ligen_py.engine.offtargets.search import Form, Searcher, joined, pieces, search
from ligen_py.opencl.device import Device, select
from ligen_py.sequences.genome import read_genome
from ligen_py.sequences.guides import Guide, Query

PATTERN = "N" * 21 + "RG"
LINE = 60
BASES = np.frombuffer(b"ACGT", np.uint8)


def genome_file(path: Path, megabases: float, rng: np.random.Generator) -> None:
    """FASTA of one chromosome a hundred million bases, with N at its ends."""
    left = int(megabases * 1e6)
    with path.open("wb") as stream:
        number = 0
        while left > 0:
            number += 1
            length = min(left, 100_000_000)
            left -= length
            letters = BASES[rng.integers(0, 4, length, dtype=np.uint8)]
            letters[:5000] = letters[-5000:] = ord("N")
            stream.write(b">chr%d random\n" % number)
            rows = length // LINE
            lines = np.full((rows, LINE + 1), 10, np.uint8)
            lines[:, :LINE] = letters[: rows * LINE].reshape(-1, LINE)
            stream.write(lines.tobytes())
            stream.write(letters[rows * LINE :].tobytes() + b"\n")


def random_guides(count: int, limit: int, rng: np.random.Generator) -> tuple[Guide, ...]:
    """Guides of 20 random bases."""
    letters = BASES[rng.integers(0, 4, (count, 20))]
    return tuple(Guide("", bytes(row).decode() + "NNN", limit) for row in letters)


def check(device: Device, rng: np.random.Generator, folder: Path) -> int:
    """Compare a small search with the twin, bulges included; the number of rows."""
    letters = BASES[rng.integers(0, 4, 30_000)].copy()
    guides = random_guides(4, 5, rng)
    for place in range(1000, 29_000, 250):  # sites near guides, with letters lost or gained
        text = bytearray(guides[place // 250 % 4].sequence[:20].encode() + b"TGG")
        for _ in range(int(rng.integers(0, 5))):
            text[int(rng.integers(0, 20))] = int(rng.choice(BASES))
        cut = int(rng.integers(1, 19))
        kind = place // 250 % 3
        text = (
            text[:cut] + text[cut + (kind == 1) :] if kind < 2 else text[:cut] + b"A" + text[cut:]
        )
        letters[place : place + len(text)] = np.frombuffer(bytes(text), np.uint8)
    letters[20_000:20_030] = ord("N")
    path = folder / "small.fa"
    path.write_bytes(b">small\n" + letters.tobytes() + b"\n")
    genome, total = read_genome(path), 0
    for bulge in (0, 1, 2):
        query = Query(PATTERN, guides, bulge, bulge)
        sites, _ = search([device], query, genome)
        rows, _ = rows_of(genome, query, sites, every=True, skip_n=False)
        found = [
            (int(g), int(p), "+-"[s], int(z), int(a), int(m))
            for g, p, s, z, a, m in zip(
                rows.guide, rows.position, rows.strand, rows.size, rows.at, rows.mismatches,
                strict=True,
            )
        ]  # fmt: skip
        wanted = [
            (r.guide, r.position, r.strand, r.size, r.at, r.mismatches)
            for r in twin([letters.tobytes()], query)
        ]
        if found != wanted:
            raise SystemExit(f"bulges {bulge}: {len(found)} rows, the twin has {len(wanted)}")
        total += len(found)
    return total


def against(what: str, value: float, goal: float, unit: str, most: bool = True) -> None:
    """Print a figure beside its goal: at most so much, or at least."""
    reached = value <= goal if most else value >= goal
    word = "reached" if reached else "missed"
    print(f"goal {word}: {what} {value:,.2f} {unit}, goal {goal:,.2f}", flush=True)


def stage(arguments: list[str]) -> float:
    """Wall-clock seconds of the whole stage."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "ligen_py.offtargets", *arguments]
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": paths})
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabases", type=float, default=100)
    parser.add_argument("--guides", type=at_least(1), default=1000)
    parser.add_argument("--mismatches", type=at_least(0), default=4)
    parser.add_argument("--device")
    parser.add_argument("--goals", action="store_true", help="print figures beside their goals")
    parser.add_argument("--forms", nargs="*", default=[], help="such as lanes=1,group=128")
    options = parser.parse_args()
    device = select(options.device)
    rng = np.random.default_rng(20261121)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"twin: {check(device, rng, folder)} rows agree")
        path = folder / "genome.fa"
        genome_file(path, options.megabases, rng)
        guides = random_guides(options.guides, options.mismatches, rng)
        words = "".join(f"{guide.sequence} {guide.limit}\n" for guide in guides)
        (folder / "input.txt").write_text(f"{path}\n{PATTERN}\n{words}")
        flags = ["--input", str(folder / "input.txt"), "--output", str(folder / "out.h5")]
        flags += ["--cache", str(folder / "cache")]
        flags += ["--device", options.device] if options.device else []
        time.sleep(2.5)  # younger files are not known by their times
        from_fasta = stage(flags)
        print(f"stage from FASTA {from_fasta:.2f} s", flush=True)
        cached = [stage(flags) for _ in range(3)]
        print(f"stage from the cache {', '.join(f'{seconds:.2f}' for seconds in cached)} s")
        if options.goals:
            against("stage from FASTA", from_fasta, 2.0, "s")
            against("stage from the cache", min(cached), 1.0, "s")
        start = time.perf_counter()
        genome = read_genome(path)
        print(f"FASTA to bit planes {time.perf_counter() - start:.2f} s")
        genome = read_genome(path, folder / "cache")
        forms = [Form.of(device)]
        for text in options.forms:
            changes = {key: int(value) for key, value in (w.split("=") for w in text.split(","))}
            forms.append(Form(**{**vars(forms[0]), **changes}))
        best: dict[int, float] = {}
        for bulge in (0, 1):
            for form in forms:
                searcher = Searcher(device, Query(PATTERN, guides, bulge, bulge), form)
                for _ in range(3):
                    searcher.kernel_seconds = dict.fromkeys(searcher.kernel_seconds, 0.0)
                    start, used = time.perf_counter(), os.times()
                    todo = pieces(genome, (1, 1), searcher.piece)
                    sites = joined(list(searcher.search(genome, todo)))
                    wall, now = time.perf_counter() - start, os.times()
                    cpu = now.user - used.user + now.system - used.system
                    best[bulge] = min(best.get(bulge, wall), wall)
                rate = options.megabases * len(guides) / max(cpu, 1e-9)
                kernels = ", ".join(f"{k} {v:.3f}" for k, v in searcher.kernel_seconds.items())
                print(
                    f"bulges {bulge}: search {wall:.3f} s, {len(sites.guide)} sites; {kernels}; "
                    f"{cpu:.2f} core-s, {rate:,.0f} Mbp x guides a core-s; {form}",
                    flush=True,
                )
                if options.goals and device.kind == "cpu" and not bulge:
                    against("search", rate, 200_000, "Mbp x guides a core-s", most=False)
        if options.goals:
            against("bulges 1/1, times the plain search", best[1] / best[0], 4.0, "")


if __name__ == "__main__":
    with in_words():
        main()
