"""Report what a campaign found: a table on the terminal, and one HTML page that needs no network.

Per target: the best molecules, the redocking control, how the groups of molecules that the
settings name rank among all others, as measured, good or bad, and what became of every record.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TextIO

from ligen_py import cli, granted
from ligen_py.errors import InputError
from ligen_py.molecules.decoys import candidates_of
from ligen_py.molecules.library.reading import records
from ligen_py.records.networks import NETWORKS
from ligen_py.settings.report import ReportSettings
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.campaign.times import read_times
from ligen_py.store.files.read import run_record
from ligen_py.store.files.text import write_texts
from ligen_py.summary.dossier import Dossier, add_known, dossier_of
from ligen_py.summary.facts import Target, by_networks, effort_of, networks_of, targets_of
from ligen_py.summary.glossary import NETWORK_EFFORTS
from ligen_py.summary.page import page_of
from ligen_py.summary.searches import read_search
from ligen_py.summary.searches import text_of as searches_text
from ligen_py.summary.table import readable
from ligen_py.summary.text import text_of


class Inputs(NamedTuple):
    """What the stage reads."""

    campaign: Path | None
    """None for a campaign of searches alone."""
    exported: Path | None = None
    """Folder of `export`, to be named, not read."""
    searches: tuple[Path, ...] = ()
    """Files of `panel`, `offtargets`, `guides` and `selectivity`."""
    references: tuple[Path, ...] = ()
    """Files of known molecules."""
    times: Path | None = None
    """Folder of Snakemake's measurements, for the page's table of times."""
    networks: Path | None = None
    """What networks say of the campaign's best molecules."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.report", __doc__, ReportSettings)
    parser.add_argument("--campaign", type=cli.input_file, help="campaign file")
    parser.add_argument(
        "--searches",
        type=cli.input_file,
        nargs="+",
        action="extend",
        default=[],
        help="files of searches: homologs.h5, offtargets.h5, guides.h5, selectivity.tsv",
    )
    parser.add_argument(
        "--references",
        type=cli.input_file,
        nargs="+",
        action="extend",
        default=[],
        help="files of known molecules; the page names the one most similar to each hit",
    )
    parser.add_argument(
        "--networks", type=cli.input_file, help="file of `networks`, to be shown, too"
    )
    parser.add_argument("--output", type=Path, required=True, help="HTML page to write")
    parser.add_argument(
        "--exported", type=Path, help="folder of `export`, if the report is to name it"
    )
    parser.add_argument(
        "--times", type=Path, help="folder of Snakemake's benchmarks, for a table of times"
    )
    parser.add_argument(
        "--jobs",
        type=cli.at_least(1),
        default=granted.cores(),
        metavar="N",
        help="processes that analyse hits (default: one for each processor)",
    )
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    if not (options.campaign or options.searches):
        raise InputError("command line: give --campaign, --searches, or both")
    searches = tuple(options.searches)
    references = tuple(options.references)
    if options.networks and not options.campaign:
        raise InputError("command line: --networks needs the --campaign that they judged")
    inputs = Inputs(
        options.campaign, options.exported, searches, references, options.times, options.networks
    )
    settings = cli.settings_from(ReportSettings, options)
    run(inputs, settings, None, options.output, jobs=options.jobs)


def run(
    inputs: Inputs,
    settings: ReportSettings,
    device: str | None,
    output: Path,
    jobs: int = 1,
    printed: TextIO | None = None,
) -> None:
    """Write the page, and print the table, to standard output where nothing else is given."""
    targets: list[Target] = []
    dossiers: list[Dossier] = []
    runs, effort, date, files = None, "", "", {"this report as a page": str(output)}
    parts: list[tuple[str, str, str]] = []
    if inputs.campaign:
        known = _known(inputs.references)
        with open_campaign(inputs.campaign) as campaign:
            networks = networks_of(inputs.networks, inputs.campaign) if inputs.networks else None
            targets = targets_of(campaign, settings.top, settings.groups, networks)
            runs, effort = campaign.runs(), effort_of(campaign)
            if effort in NETWORK_EFFORTS and not by_networks(targets):
                effort += " (without gnina's networks)"
            made = campaign.parts()
            parts = list(zip(made.target, made.library, made.chunk, strict=True))
            dossiers = [dossier_of(campaign, one, settings.hits, known, jobs) for one in targets]
        date = f"{datetime.fromtimestamp(inputs.campaign.stat().st_mtime, UTC):%-d %B %Y}"
        files = {"every score": str(inputs.campaign)} | files
    if inputs.exported:
        files["best poses (SDF, CSV)"] = str(inputs.exported)
    searches = [read_search(path) for path in inputs.searches]
    times = read_times(inputs.times, parts, inputs.networks is not None) if inputs.times else []
    judged = run_record(inputs.networks, NETWORKS) if inputs.networks else None
    page = page_of(dossiers, runs, files, effort, date, times, searches, judged)
    write_texts(output.parent, {output.name: page})
    if targets:
        print(text_of(targets, files, effort), end="", file=printed)
    print("\n".join(["", *searches_text(searches)]) if searches else "", end="", file=printed)


def _known(files: Sequence[Path]) -> dict[str, str]:
    """SMILES by name of the known molecules in some files; equal names get a number behind them."""
    found: dict[str, str] = {}
    for path in files:
        molecules = candidates_of(records(path))
        if not molecules.name:
            raise InputError(f"{path}: contains no molecule; give a file of known molecules")
        for name, smiles in zip(map(readable, molecules.name), molecules.smiles, strict=True):
            add_known(found, name, smiles)
    return found


if __name__ == "__main__":
    sys.exit(main())
