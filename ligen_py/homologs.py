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
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np

from ligen_py import cli
from ligen_py.engine.alignment.packing import BLOCK, pieces, share
from ligen_py.engine.alignment.ranking import Ranked, merged
from ligen_py.engine.alignment.results import results
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.engine.alignment.search import Searcher
from ligen_py.engine.alignment.tracing import tracer
from ligen_py.opencl.device import Device, labels, select_all
from ligen_py.opencl.workers import spread
from ligen_py.pace import Pace
from ligen_py.provenance import Input, Run
from ligen_py.records.homologs import HOMOLOGS
from ligen_py.search_inputs import Inputs, add_inputs, database_of, inputs_of, queries_of
from ligen_py.sequences.statistics import statistics_of
from ligen_py.sequences.substitution import MATRICES, known_as, read_matrix
from ligen_py.settings.homologs import HomologsSettings
from ligen_py.store.files.write import write
from ligen_py.store.sequences.database import open_database
from ligen_py.summary.homologs import listing, warn_of_rejected, write_tables

log = logging.getLogger("ligen_py")

MOST = 1 << 30
"""Bytes of letters in memory at a time."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.homologs", __doc__, HomologsSettings)
    add_inputs(parser)
    cli.add_outputs(parser, "homologs file to write", "folder for hits.txt, .tsv, .blast.tsv")
    cli.add_device(parser, cli.EACH)
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    settings: HomologsSettings = cli.settings_from(HomologsSettings, options)
    run(inputs_of(options), settings, options.device, options.output)


def run(
    inputs: Inputs, settings: HomologsSettings, device: str | None, output: Path | None
) -> None:
    """Search a part of a database, print the best records of each query, and write them.

    Without `output` nothing but tables is written, if `inputs` asks for them.
    """
    scoring = Scoring(read_matrix(settings.matrix), settings.gap_first, settings.gap_next)
    queries = queries_of(inputs)
    chosen = select_all(device)
    with ThreadPoolExecutor(1) as thread, ExitStack() as ending:
        path, source = database_of(inputs.database, inputs.cache, ending)
        database = ending.enter_context(open_database(path))
        if output and isinstance(source, Path):
            thread.submit(Input.of, source)  # for the run record, while the device is at work
        blocks = share(database.first, inputs.part.index, inputs.part.count)
        cells = int(database.length[slice(*blocks)].sum(dtype="i8")) * queries.proteins.residues
        bytes_each = int(np.diff(database.first[list(blocks)])[0]) * BLOCK // len(chosen) + 1
        ranges = list(pieces(database.first, *blocks, min(bytes_each, MOST)))
        began = time.perf_counter()
        ranked = _search(chosen, path, ranges, queries.proteins.letters, scoring, settings.top)
        seconds = time.perf_counter() - began
        headers = database.headers([best.record for best in ranked])
        for query, found, best in zip(queries.proteins.shown, headers, ranked, strict=True):
            sys.stdout.writelines(listing(query, found, best.score))
        log.info("%.3g cells in %.2f s, %.1f GCUPS", cells, seconds, cells / seconds / 1e9)
        costs = settings.gap_first, settings.gap_next
        known = statistics_of(known_as(scoring.matrix), *costs)
        if known is None:
            why = "no bit scores and E-values: none are known for %s with gap costs %d and %d"
            log.info(why, settings.matrix, *costs)
        rest = scoring, tracer(chosen[0], scoring), known, blocks, inputs.part, queries.sites
        records = results(queries.proteins, ranked, database, *rest)
        # Of a file from the cache, too, which was converted long ago.
        warn_of_rejected(records.ledger, lambda row: str(database.names([row])["name"][0]))
    if output:
        files = () if settings.matrix.upper() in MATRICES else (Path(settings.matrix),)
        made_by = Run("homologs", settings, (*queries.files, source, *files), labels(chosen))
        write(output, HOMOLOGS, made_by, records._asdict())
    if inputs.tables:
        write_tables(inputs.tables, records.queries, records.hits)


def _search(
    chosen: Sequence[Device],
    path: Path,
    ranges: list[tuple[int, int]],
    letters: Sequence[np.ndarray],
    scoring: Scoring,
    top: int,
) -> list[Ranked]:
    """The best records of each query in some ranges of a database's blocks."""
    work = partial(_searcher, path=path, letters=letters, scoring=scoring, top=top)
    found = list(spread(chosen, work, ranges))
    return [merged([parts[query] for parts in found], top) for query in range(len(letters))]


def _searcher(
    device: Device,
    path: Path,
    letters: Sequence[np.ndarray],
    scoring: Scoring,
    top: int,
) -> Callable[[tuple[int, int]], list[Ranked]]:
    """The work of a device: read a range of blocks, and find the best of it for each query."""
    searcher, pace = Searcher(device, scoring), Pace("million cells")

    def search(blocks: tuple[int, int]) -> list[Ranked]:
        """The `top` hits of each query among blocks (first, end) of the database."""
        with open_database(path) as database:
            some = database.blocks(*blocks)
        return searcher.search(letters, some, top, done=lambda cells: pace.add(cells // 1_000_000))

    return search


if __name__ == "__main__":
    sys.exit(main())
