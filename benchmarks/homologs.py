"""How fast proteins are aligned with a database, by the length of the query.

    python benchmarks/homologs.py [--device SELECTOR] [--residues MILLIONS] [--parasail PYTHON]
                                  [--folder FOLDER] [--json FILE]

The database is random, with the composition and the log-normal lengths of Swiss-Prot (mean 390,
clipped to 20 .. 35,213), from a fixed seed. For each query the table has the cells of its matrices
(its residues times the database's), the best of `REPEATS` times on the device, and cells a second.
On a processor also cells a second of processor time (GCUPS a core-second), which other programs on
the machine disturb least.

Before that, scores and alignments of all queries with some short targets are compared with those of
the NumPy twin. Two more lines time all queries together: from an opened database file to the
printed lists, with reading and upload; first with the seal of the file checked, then with all of
that done before.

With --parasail, a Python that has parasail (pip install parasail) aligns the first query of 256
residues with 20 million residues, made as those of the database, in the same minute:
sw_striped_profile_16 and sw_striped_profile_sat, one thread, first gap residue 10, further ones 2.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from ligen_py.cli import at_least
from ligen_py.engine.alignment import reference
from ligen_py.engine.alignment.methods import Resident, method_of
from ligen_py.engine.alignment.packing import pack, pack_all, pieces
from ligen_py.engine.alignment.ranking import merged
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.engine.alignment.search import Searcher
from ligen_py.engine.alignment.tracing import tracer
from ligen_py.opencl.device import Device, select
from ligen_py.provenance import Run
from ligen_py.records.database import Blocks, Proteins
from ligen_py.records.ledger import Ledger
from ligen_py.sequences.alphabets import decode
from ligen_py.sequences.substitution import read_matrix
from ligen_py.settings.section import Section
from ligen_py.store.sequences.database import open_database, write_database
from ligen_py.summary.homologs import listing

LENGTHS = (60, 64, 128, 144, 189, 256, 365, 375, 512, 729, 851, 1000, 1165, 2005, 3005, 4061, 5478)
REPEATS = 5
PEER_RESIDUES = 20_000_000
FREQUENCIES = (
    *(8.25, 5.53, 4.06, 5.46, 1.38, 3.93, 6.71, 7.07, 2.27, 5.91),
    *(9.64, 5.80, 2.41, 3.86, 4.74, 6.65, 5.36, 1.10, 2.92, 6.85),
)
"""Of the amino acids ARNDCQEGHILKMFPSTWYV in Swiss-Prot, in per cent."""

PEER = """
import sys, time, parasail
query, *targets = [line.strip() for line in open(sys.argv[1])]
cells = len(query) * sum(map(len, targets))
for name in ("sw_striped_profile_16", "sw_striped_profile_sat"):
    make = {"16": parasail.profile_create_16, "sat": parasail.profile_create_sat}
    profile = make[name.rsplit("_", 1)[1]](query, parasail.blosum62)
    align = getattr(parasail, name)
    start = time.process_time()
    for target in targets:
        align(profile, target, 10, 2)
    print(name, cells / (time.process_time() - start) / 1e9)
"""


class Letters:
    """Random residues with the composition of Swiss-Prot."""

    def __init__(self, seed: int) -> None:
        """Start a stream of numbers."""
        self._random = np.random.default_rng(seed)
        ends = np.cumsum(FREQUENCIES) / sum(FREQUENCIES)
        self._table = np.searchsorted(ends, (np.arange(1 << 16) + 0.5) / (1 << 16)).astype("u1")

    def some(self, count: int) -> np.ndarray:
        """So many residues, u1."""
        return self._table[self._random.integers(0, 1 << 16, count, dtype="u2")]

    def lengths(self, residues: int) -> np.ndarray:
        """Lengths (i4) of sequences with so many residues together, about."""
        count = residues // 300
        found = np.exp(self._random.normal(np.log(294), 0.75, count)).clip(20, 35_213).astype("i4")
        return found[: np.searchsorted(np.cumsum(found, dtype="i8"), residues)]


def database(residues: int) -> Blocks:
    """The random database."""
    letters = Letters(20261121)
    lengths = letters.lengths(residues)
    flat = letters.some(int(lengths.sum(dtype="i8")))
    ends = np.cumsum(lengths, dtype="i8")
    return pack(lengths, lambda number: flat[ends[number] - lengths[number] : ends[number]])


def check(device: Device) -> int:
    """Compare queries of all lengths with the twin, each with a damaged copy of a part of itself.

    The number of pairs; scores, ends and ways of all of them agree.
    """
    scoring, pairs = Scoring(read_matrix("BLOSUM62")), 0
    align = tracer(device, scoring)
    for length in LENGTHS:
        letters, query = Letters(length + 1), Letters(length).some(length)
        part = query[: min(length, 400)]
        near = np.where(letters.some(len(part)) < 9, part, letters.some(len(part)))
        cut = len(part) // 2
        near = np.concatenate([near[:cut], letters.some(7), near[cut:]])
        targets = [near, *(letters.some(size) for size in (1, 20, 150, 300)), near[5:-5]]
        blocks = pack_all(targets)
        (found,) = Searcher(device, scoring).scores([query], blocks)
        expected = reference.align(query, targets, scoring)
        scores = [found[blocks.record.reshape(-1) == number][0] for number in range(len(targets))]
        if scores != [one.score for one in expected] or align(query, targets) != expected:
            raise SystemExit(f"a query of {length} residues: the twin has other alignments")
        pairs += len(targets)
    return pairs


def by_length(device: Device, blocks: Blocks, lengths: tuple[int, ...]) -> list[dict[str, Any]]:
    """Times of each query, its kernels alone."""
    method = method_of(device)(device, Scoring(read_matrix("BLOSUM62")))
    there = Resident(device, blocks)
    residues = int(blocks.length.sum(dtype="i8"))
    rows = []
    for length in lengths:
        query = Letters(length).some(length)
        times = []
        for _ in range(REPEATS):
            spent = time.process_time()
            events = method.launch(there, query, method.widths[0], there.next_scores())
            for event in events:
                event.wait()
            spent = time.process_time() - spent
            start = min(event.profile.start for event in events)
            times.append((max(event.profile.end for event in events) - start, spent))
        cells = residues * length
        seconds = min(wall for wall, _ in times) * 1e-9
        row = {"length": length, "cells": cells, "seconds": seconds, "GCUPS": cells / seconds / 1e9}
        if device.kind == "cpu":
            row["GCUPS a core-second"] = cells / min(spent for _, spent in times) / 1e9
        rows.append(row)
        print("  ".join(f"{key} {value:,.4g}" for key, value in row.items()), flush=True)
    return rows


def query_file(path: Path) -> None:
    """Write the queries of LENGTHS as FASTA."""
    lines = [f">{length}\n{decode(Letters(length).some(length))}\n" for length in LENGTHS]
    path.write_text("".join(lines))


def database_file(blocks: Blocks, path: Path) -> np.ndarray:
    """Write a database file; the residues of each record."""
    records = int(blocks.record.max()) + 1
    names = np.array([f"s{number}" for number in range(records)], object)
    residues = np.zeros(records, "i4")
    there = blocks.record >= 0
    residues[blocks.record[there]] = blocks.length[there]
    none = np.zeros(records, "u1")
    ledger = Ledger(none, none, np.full(records, "", object))
    write_database(
        path, Run("database", Section()), ledger, Proteins(names, names, residues), blocks
    )
    return residues


def from_file(device: Device, blocks: Blocks, folder: Path) -> list[dict[str, Any]]:
    """From the database file to the printed lists, all queries of LENGTHS together."""
    path = folder / "random.h5"
    residues = database_file(blocks, path)
    queries = [Letters(length).some(length) for length in LENGTHS]
    cells = int(residues.sum(dtype="i8")) * sum(LENGTHS)
    rows = []
    for what in ("first opening", "again"):
        start = time.perf_counter()
        with open_database(path) as file:
            opened = time.perf_counter() - start
            searcher = Searcher(device, Scoring(read_matrix("BLOSUM62")))
            first, parts = file.first, []
            for begin, end in pieces(first, 0, len(file.record), 1 << 30):
                parts.append(searcher.search(queries, file.blocks(begin, end), 20))
            ranked = [merged(list(found), 20) for found in zip(*parts, strict=True)]
            headers = file.headers([best.record for best in ranked])
            lines = [
                line
                for length, header, best in zip(LENGTHS, headers, ranked, strict=True)
                for line in listing(str(length), header, best.score)
            ]
            (folder / "list.txt").write_text("".join(lines))
        seconds = time.perf_counter() - start
        row = {
            "what": what,
            "seconds": seconds,
            "of these opening": opened,
            "of these kernels": searcher.kernel_seconds,
            "GCUPS": cells / seconds / 1e9,
        }
        rows.append(row)
        print(
            f"database file to list, {len(queries)} queries, {what}: {seconds:.3f} s "
            f"({opened:.3f} to open, {searcher.kernel_seconds:.3f} in kernels), "
            f"{row['GCUPS']:,.0f} GCUPS",
            flush=True,
        )
    return rows


def peer(python: str, folder: Path) -> dict[str, float]:
    """GCUPS a core-second of parasail, with a query of the table and residues as there."""
    letters = Letters(20261121)
    lengths = letters.lengths(PEER_RESIDUES)
    flat = letters.some(int(lengths.sum(dtype="i8")))
    query = Letters(256).some(256)
    lines = [decode(query), *map(decode, np.split(flat, np.cumsum(lengths)[:-1]))]
    path = folder / "peer.txt"
    path.write_text("\n".join(lines))
    asked = [python, "-c", PEER, str(path)]
    answer = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    found = {line.split()[0]: float(line.split()[1]) for line in answer.splitlines()}
    for name, rate in found.items():
        print(f"parasail {name}: {rate:.2f} GCUPS a core-second", flush=True)
    return found


def imports(python: str, module: str) -> bool:
    """Whether an interpreter is there, and has a module."""
    try:
        return not subprocess.run(
            [python, "-c", f"import {module}"], capture_output=True
        ).returncode
    except OSError:
        return False


def _goals(device: Device, found: dict[str, Any]) -> None:
    """Print figures beside their goals."""
    cpu = device.kind == "cpu"
    key, goal = ("GCUPS a core-second", 15.0) if cpu else ("GCUPS", 5300.0)
    rows = [row for row in found["queries"] if 256 <= row["length"] <= 1000]
    aims = [(f"{row['length']} residues", row[key], goal) for row in rows]
    if not cpu:
        aims.append(("database file to list", found["from file"][-1]["GCUPS"], 4500.0))
    for what, value, aim in aims:
        word = "reached" if value >= aim else "missed"
        print(f"goal {word}: {what} {value:,.1f}, goal {aim:,.1f} {key}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", help="OpenCL device, by words of its name")
    parser.add_argument(
        "--residues", type=float, help="millions of the database; default: 200, on processors 20"
    )
    parser.add_argument(
        "--lengths", type=at_least(1), nargs="+", default=LENGTHS, help="of queries"
    )
    parser.add_argument("--parasail", metavar="PYTHON", help="interpreter that has parasail")
    parser.add_argument("--goals", action="store_true", help="print figures beside their goals")
    parser.add_argument("--folder", type=Path, help="for the database file; default: a new one")
    parser.add_argument("--json", type=writable, help="file to write the figures to")
    options = parser.parse_args()
    if options.parasail and not imports(options.parasail, "parasail"):
        parser.error(f"--parasail {options.parasail}: is no interpreter that has parasail")
    device = select(options.device)
    millions = options.residues or (200 if device.kind == "gpu" else 20)
    print(device.label)
    print(f"twin: {check(device)} pairs agree")
    blocks = database(int(millions * 1e6))
    print(
        f"{int((blocks.record >= 0).sum()):,} sequences, {int(blocks.length.sum(dtype='i8')):,} "
        f"residues, the longest {int(blocks.length.max(initial=0)):,}"
    )
    found: dict[str, Any] = {"device": device.label}
    found["queries"] = by_length(device, blocks, tuple(options.lengths))
    save(options.json, found)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if options.parasail:
            found["parasail"] = peer(options.parasail, folder)
            found["beside parasail"] = by_length(device, blocks, (256,))
            save(options.json, found)
        found["from file"] = from_file(device, blocks, folder)
        save(options.json, found)
    if options.goals:
        _goals(device, found)


if __name__ == "__main__":
    with in_words():
        main()
