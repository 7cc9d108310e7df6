"""Find the homologs of proteins in a database, by exact Smith-Waterman alignment.

Reads queries (FASTA, or the chains of a receptor) and a database (FASTA, or a file of `database`),
prints the best records of each query, and writes them with their alignments. A FASTA database is
converted once, and kept under a name that its content gives.
"""

import argparse
import logging
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ligen_py import cli
from ligen_py.database import database_of
from ligen_py.engine.alignment.packing import BLOCK, pieces, share
from ligen_py.engine.alignment.ranking import NONE, Ranked, merged
from ligen_py.engine.alignment.results import results
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.engine.alignment.search import Searcher
from ligen_py.molecules.library.record import WHOLE, Part
from ligen_py.opencl.device import Device, labels, select_all
from ligen_py.opencl.workers import spread
from ligen_py.pace import Pace
from ligen_py.paths import cache_folder
from ligen_py.provenance import Run
from ligen_py.queries import Queries, add_queries, queries_of
from ligen_py.records.homologs import HOMOLOGS
from ligen_py.sequences.statistics import statistics_of
from ligen_py.sequences.substitution import MATRICES, read_matrix
from ligen_py.settings.homologs import HomologsSettings
from ligen_py.store.files.write import write
from ligen_py.store.sequences.database import open_database
from ligen_py.summary.homologs import listing, write_tables

log = logging.getLogger("ligen_py")

MILLION = 1_000_000

MOST = 1 << 30
"""Bytes of letters in memory at a time."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.homologs", __doc__, HomologsSettings)
    add_queries(parser)
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
        "--part", type=Part.parse, default=WHOLE, metavar="K-of-N", help="part to search"
    )
    cli.add_device(parser, several=True)
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    settings: HomologsSettings = cli.settings_from(HomologsSettings, options)
    scoring = Scoring(read_matrix(settings.matrix), settings.gap_first, settings.gap_next)
    queries = queries_of(options)
    chosen = select_all(options.device)
    path, source = database_of(options.database, options.cache)
    with open_database(path) as database:
        blocks = share(database.first, options.part.index, options.part.count)
        residues = int(database.length[slice(*blocks)].sum(dtype="i8"))
        cells = residues * queries.proteins.residues
        began = time.perf_counter()
        ranked = _search(chosen, path, database.first, blocks, queries, scoring, settings.top)
        seconds = time.perf_counter() - began
        for line in listing(queries.proteins.header, ranked, database.names):
            print(line)
        log.info(
            "%d queries against %d sequences: %.3g cells in %.2f s, %.1f GCUPS",
            *(len(queries.proteins), database.sequences, cells, seconds, cells / seconds / 1e9),
        )
        known = statistics_of(settings.matrix, settings.gap_first, settings.gap_next)
        how = scoring, known, blocks, options.part, queries.sites
        records = results(queries.proteins, ranked, database, *how)
    if options.output:
        files = () if settings.matrix.upper() in MATRICES else (Path(settings.matrix),)
        run = Run("homologs", settings, (*queries.files, source, *files), labels(chosen))
        write(options.output, HOMOLOGS, run, records._asdict())
    if options.tables:
        write_tables(options.tables, records.queries, records.hits)


def _search(
    chosen: Sequence[Device],
    path: Path,
    first: np.ndarray,
    blocks: tuple[int, int],
    queries: Queries,
    scoring: Scoring,
    top: int,
) -> list[Ranked]:
    """The best records of each query in a range of a database's blocks."""
    letters = int(first[blocks[1]] - first[blocks[0]]) * BLOCK
    ranges = list(pieces(first, *blocks, min(MOST, max(-(-letters // len(chosen)), 1))))
    pace = Pace("million cells", letters * queries.proteins.residues // MILLION)
    work = partial(_searcher, path=path, letters=queries.proteins.letters, scoring=scoring, top=top)
    found = list(spread(chosen, partial(work, pace=pace if len(chosen) == 1 else None), ranges))
    return [merged(list(parts), top) for parts in zip(*found, strict=True)] or [NONE] * len(
        queries.proteins
    )


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


if __name__ == "__main__":
    sys.exit(main())
