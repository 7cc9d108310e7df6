"""Put the parts of a search of homologs together, and choose the anti-targets among them.

Reads the homologs files of all parts; writes homologs.h5, hits.txt, hits.tsv, hits.blast.tsv and
panel.tsv into a folder. An anti-target is a protein other than the query that is like it:
`min_identity` of the alignment and `max_evalue` decide. Where the matrix and gap costs have no
E-values, the alignment must cover half of the query instead. A protein with all residues of the
query is the query itself.
"""

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py import cli
from ligen_py.engine.alignment.merging import merge
from ligen_py.errors import InputError
from ligen_py.provenance import Run
from ligen_py.records.homologs import HOMOLOGS, Hits, Queries, Results, SearchSpace
from ligen_py.records.ledger import Ledger
from ligen_py.settings.homologs import PanelSettings
from ligen_py.store.files.read import read, run_record
from ligen_py.store.files.write import write
from ligen_py.summary.homologs import LEAST_COVERAGE, write_tables

log = logging.getLogger("ligen_py")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.panel", __doc__, PanelSettings)
    parser.add_argument(
        "--hits", type=cli.input_file, nargs="+", required=True, help="files of `homologs`"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder to write into")
    return cli.run(parser, argv, _stage)


class Inputs(NamedTuple):
    """Files that the stage reads."""

    hits: Sequence[Path]


def _stage(options: argparse.Namespace) -> None:
    settings: PanelSettings = cli.settings_from(PanelSettings, options)
    run(Inputs(options.hits), settings, None, options.output / "homologs.h5")


def run(inputs: Inputs, settings: PanelSettings, device: str | None, output: Path) -> None:
    """Merge the parts of a search into one file; tables lie beside it."""
    runs = [run_record(path, HOMOLOGS) for path in inputs.hits]
    for path, other in zip(inputs.hits, runs, strict=True):
        if other["stage"] != "homologs":
            raise InputError(
                f"{path}: was made by '{other['stage']}', not by 'homologs'; give every part of "
                "one search"
            )
        for what in ("settings", "inputs"):
            if other.get(what) != runs[0].get(what):
                raise InputError(
                    f"{path}: was made with other {what} than {inputs.hits[0]}; "
                    "search all parts again with the same"
                )
    parts = [_records(path) for path in inputs.hits]
    try:
        top = int(json.loads(runs[0]["settings"])["top"])
        found = merge(parts, top)
    except (ValueError, TypeError) as error:
        raise InputError(f"{inputs.hits[0]}: {error}; give every part of one search") from error
    output.parent.mkdir(parents=True, exist_ok=True)
    made_by = Run("panel", settings, tuple(inputs.hits), runs[0].get("device", ""))
    write(output, HOMOLOGS, made_by, found._asdict())
    if np.isnan(found.hits.evalue).any():
        log.warning(
            "no E-values are known for this matrix with these gap costs: max_evalue is not "
            "applied, and an anti-target must be aligned with at least %d %% of the query",
            round(100 * LEAST_COVERAGE),
        )
    limits = settings.min_identity, settings.max_evalue
    count = write_tables(output.parent, found.queries, found.hits, limits)
    log.info("%d hits, %d anti-targets", len(found.hits.entry), count)


def _records(path: Path) -> Results:
    return Results(
        read(path, HOMOLOGS, Ledger),
        read(path, HOMOLOGS, Queries),
        read(path, HOMOLOGS, Hits),
        read(path, HOMOLOGS, SearchSpace),
    )


if __name__ == "__main__":
    sys.exit(main())
