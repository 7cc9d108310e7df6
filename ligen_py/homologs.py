"""Find the homologs of proteins in a database, by exact Smith-Waterman alignment.

Reads queries and a database (FASTA, plain or compressed, or a file of `database`), prints the best
records of each query, and writes them with their alignments. A FASTA database is converted once and
kept under a name that its content gives.
"""

import argparse
import logging
import re
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ligen_py import cli
from ligen_py.database import convert
from ligen_py.engine.alignment.packing import BLOCK, pieces, share
from ligen_py.engine.alignment.ranking import NONE, Ranked, merged
from ligen_py.engine.alignment.results import results
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.engine.alignment.search import Searcher
from ligen_py.errors import InputError
from ligen_py.molecules.library.record import WHOLE, Part
from ligen_py.opencl.device import Device, labels, select_all
from ligen_py.opencl.workers import spread
from ligen_py.pace import Pace
from ligen_py.paths import cache_folder
from ligen_py.provenance import Input, Run
from ligen_py.records.homologs import HOMOLOGS
from ligen_py.sequences.proteins import Proteins, read_proteins
from ligen_py.sequences.statistics import statistics_of
from ligen_py.sequences.substitution import MATRICES, read_matrix
from ligen_py.settings.homologs import HomologsSettings
from ligen_py.store.files.write import write
from ligen_py.store.sequences.database import is_database, open_database
from ligen_py.summary.homologs import listing, write_tables

log = logging.getLogger("ligen_py")

MILLION = 1_000_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.homologs", __doc__, HomologsSettings)
    parser.add_argument(
        "--query", type=cli.input_file, required=True, help="FASTA file, plain or compressed"
    )
    parser.add_argument(
        "--database", type=cli.input_file, required=True, help="FASTA file, or file of `database`"
    )
    parser.add_argument("--output", type=Path, help="homologs file to write")
    parser.add_argument("--tables", type=Path, help="folder for hits.tsv and hits.blast.tsv")
    parser.add_argument(
        "--cache",
        type=Path,
        default=cache_folder("databases"),
        help="folder of converted databases (default: %(default)s)",
    )
    parser.add_argument(
        "--part", type=_part, default=WHOLE, metavar="K-of-N", help="part of the database to search"
    )
    parser.add_argument(
        "--site",
        type=_residues,
        default=(),
        metavar="RESIDUES",
        help="residues of the query's binding site, such as 12,34-40: identity over them, too",
    )
    cli.add_device(parser, several=True)
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    settings: HomologsSettings = cli.settings_from(HomologsSettings, options)
    scoring = Scoring(read_matrix(settings.matrix), settings.gap_first, settings.gap_next)
    queries = read_proteins(options.query)
    if queries.unknown:
        log.info("queries: %d letters U, O or J are read as X", queries.unknown)
    _require_site(options.query, queries, options.site)
    chosen = select_all(options.device)
    path, source = _database(options.database, options.cache)
    with open_database(path) as database:
        first = database.first
        start, end = share(first, options.part.index, options.part.count)
        # Several devices have a range each; more than this is not in memory at a time.
        most = min(1 << 30, -(-int(first[end] - first[start]) * BLOCK // len(chosen)))
        ranges = list(pieces(first, start, end, most))
        cells = int(database.length[start:end].sum(dtype="i8")) * queries.residues
        pace = Pace("million cells", cells // MILLION)
        work = partial(_searcher, path=path, letters=queries.letters, scoring=scoring)
        work = partial(work, top=settings.top, pace=pace if len(chosen) == 1 else None)
        began = time.perf_counter()
        found = list(spread(chosen, work, ranges))
        seconds = time.perf_counter() - began
        ranked = [merged(list(parts), settings.top) for parts in zip(*found, strict=True)]
        ranked = ranked or [NONE] * len(queries)
        for line in listing(queries.header, ranked, database.names):
            print(line)
        log.info(
            "%d queries against %d sequences: %.3g cells in %.2f s, %.1f GCUPS",
            *(len(queries), database.sequences, cells, seconds, cells / seconds / 1e9),
        )
        known = statistics_of(settings.matrix, settings.gap_first, settings.gap_next)
        where = (start, end), options.part, [residue - 1 for residue in options.site]
        records = results(queries, ranked, database, scoring, known, *where)
    if options.output:
        files = () if settings.matrix.upper() in MATRICES else (Path(settings.matrix),)
        run = Run("homologs", settings, (options.query, source, *files), labels(chosen))
        write(options.output, HOMOLOGS, run, records._asdict())
    if options.tables:
        write_tables(options.tables, records.queries, records.hits)


def _database(given: Path, cache: Path) -> tuple[Path, Path | Input]:
    """The database file of what was given, and what it was made from."""
    if is_database(given):
        return given, given
    source = Input.of(given)
    kept = cache / f"{source.sha256}.h5"
    if not kept.exists():
        convert(given, kept)
    return kept, source


def _searcher(
    device: Device,
    path: Path,
    letters: Sequence[np.ndarray],
    scoring: Scoring,
    top: int,
    pace: Pace | None,
) -> Callable[[tuple[int, int]], list[Ranked]]:
    """The work of a device: read a range of blocks, and find the best of it for each query."""
    searcher = Searcher(device, scoring)

    def search(blocks: tuple[int, int]) -> list[Ranked]:
        with open_database(path) as database:
            some = database.blocks(*blocks)
        tell = (lambda cells: pace.add(cells // MILLION)) if pace else (lambda _: None)
        return searcher.search(letters, some, top, tell=tell)

    return search


def _residues(text: str) -> tuple[int, ...]:
    found: set[int] = set()
    for word in text.split(","):
        match = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", word.strip())
        if not match:
            raise argparse.ArgumentTypeError(f"{word!r} is no residue or range such as 34-40")
        found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(sorted(found))


def _require_site(path: Path, queries: Proteins, site: Sequence[int]) -> None:
    if site and (len(queries) != 1 or not 1 <= site[0] <= site[-1] <= queries.residues):
        raise InputError(
            f"{path}: --site names residues {site[0]} to {site[-1]} of one query, but it holds "
            f"{len(queries)} with {queries.residues} residues; give the right file or residues"
        )


def _part(text: str) -> Part:
    try:
        return Part.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


if __name__ == "__main__":
    sys.exit(main())
