"""Ledger of library files, compared with an independent count of their records.

    python benchmarks/reading.py FOLDER ...
    python benchmarks/reading.py --lines 1000000 FOLDER

For every file below the folders: its records by an independent count (SDF: RDKit's supplier; MOL2:
lines that start a record; SMILES: lines that are not blank; compressed files and tables are not
counted), the ledger's total, and its counts by status and reason. With --lines a SMILES file of
this many lines is written into FOLDER, plain, compressed and as Parquet, and read in parts without
embedding; prints time and the largest memory of a process.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow
from pyarrow import parquet
from rdkit import Chem, RDLogger

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.leaving import in_words
from ligen_py.cli import at_least
from ligen_py.formats import COMPRESSED, format_of, library_files
from ligen_py.molecules.library.parsing import parse, summary
from ligen_py.molecules.library.reading import GUESSED, WHOLE, Part, records
from ligen_py.settings.parse import ParseSettings

PARTS = 10


def counted(path: Path) -> int | None:
    """Records of a plain file by another reader, or by its lines; None of any other file."""
    kind = format_of(path)
    if kind in ("csv", "parquet") or path.suffix.lower() in COMPRESSED:
        return None
    if kind == "sdf":
        return len(Chem.SDMolSupplier(str(path), sanitize=False, strictParsing=False))
    lines = path.read_bytes().splitlines()
    if kind == "mol2":
        return sum(line.startswith(b"@<TRIPOS>MOLECULE") for line in lines)
    return sum(bool(line.strip()) for line in lines)


def ledger_of(path: Path, settings: ParseSettings, jobs: int) -> tuple[int, str]:
    """The ledger's total and what it says, of a file with or without usable records."""
    library = parse(path, WHOLE, settings, jobs, GUESSED, allow_empty=True)
    return len(library.ledger.status), summary(library.ledger)


def files_below(folders: list[Path]) -> Iterator[Path]:
    """Library files of the folders, by name."""
    for folder in folders:
        yield from (file.path for file in library_files(folder))


def read_part(path: Path, number: int) -> tuple[int, float, int]:
    """Records of a part, CPU seconds, and the most memory of this process in bytes."""
    started = time.process_time()
    count = sum(1 for _ in records(path, Part(number, PARTS)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return count, time.process_time() - started, peak


def large(folder: Path, count: int) -> None:
    """Write a large library in four forms and read each in parts, a process a part."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = folder / "large.smi"
    with plain.open("w", encoding="utf-8") as file:
        for i in range(count):
            file.write(f"CC(C)Cc1ccc(cc1)C(C)C(=O)N{'C' * (i % 9)} ZINC{i:012d}\n")
    paths = [plain]
    for ending, method in ((".gz", "gzip"), (".zst", "zstd")):
        paths.append(Path(f"{plain}{ending}"))
        with pyarrow.CompressedOutputStream(str(paths[-1]), method) as stream:
            stream.write(plain.read_bytes())
    paths.append(folder / "large.parquet")
    lines = (line.split() for line in plain.read_text(encoding="utf-8").splitlines())
    smiles, name = zip(*lines, strict=True)
    parquet.write_table(pyarrow.table({"smiles": smiles, "name": name}), paths[-1])
    print(f"\n| {count} lines in {PARTS} parts | MB | records | CPU s a part | MiB a process |")
    print("|---|---|---|---|---|")
    for path in paths:
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            parts = [pool.apply(read_part, (path, k)) for k in range(1, PARTS + 1)]
        total = sum(part[0] for part in parts)
        seconds, peak = max(part[1] for part in parts), max(part[2] for part in parts)
        size = path.stat().st_size / 1e6
        print(f"| {path.name} | {size:.0f} | {total} | {seconds:.2f} | {peak / 2**20:.0f} |")


def main() -> int:
    """Print the table; exit 1 where a ledger's total is not the count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--lines", type=at_least(1), help="write and read a file of so many lines")
    parser.add_argument("--jobs", type=at_least(1), default=2)
    options = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    if options.lines:
        large(options.folder[0], options.lines)
        return 0
    settings = ParseSettings()
    wrong = 0
    print("| file | counted | ledger |\n|---|---|---|")
    for path in files_below(options.folder):
        count = counted(path)
        total, said = ledger_of(path, settings, options.jobs)
        differs = count not in (None, total)
        wrong += differs
        shown = "not" if count is None else f"{count} (WRONG: {total})" if differs else count
        print(f"| {path.name} | {shown} | {said.partition(': ')[2]} |", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
