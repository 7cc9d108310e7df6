"""Ask a finished campaign: choose columns, filter, sort, and write the answer in any format.

    ligen query results/campaign.h5 --where "score > 3 and mw < 450" --sort logp --limit 20

Without filters: the best molecules of every target. Columns of numbers are read whole, which takes
less than a second for a million molecules; texts, structures and poses only of what passes the
filters on numbers, best first, until --limit is reached.
"""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ligen_py import cli
from ligen_py.store.files.seal import is_broken
from ligen_py.summary.queries.forms import FORMATS, LIMIT


def main(argv: Sequence[str] | None = None) -> int:
    """Answer a question from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.query", __doc__)
    parser.add_argument("campaign", type=cli.input_file, help="campaign file of `aggregate`")
    parser.add_argument("--target", metavar="NAME", help="one target (default: every one)")
    parser.add_argument(
        "--columns",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="columns to show: 'all', or names, such as: rank name score vina.total weight (or mw) "
        "logp tpsa donors acceptors rotatable rings heavy charge library smiles input.price",
    )
    parser.add_argument(
        "--networks",
        type=cli.input_file,
        metavar="FILE",
        help="file of `networks`, for columns such as network.pose (default: networks.h5 beside "
        "the campaign file)",
    )
    _add_filters(parser)
    _add_order(parser)
    parser.add_argument(
        "--sql",
        metavar="STATEMENT",
        help="ask in SQL instead, over the table `molecules`; dots in names are underscores there",
    )
    parser.add_argument(
        "--format", choices=FORMATS, help="default: as the output's ending says, else a table"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: the terminal")
    return cli.run(parser, argv, _answer)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    """Flags that say which molecules: those that pass all of them."""
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="EXPRESSION",
        help='condition on columns: "score > 3 and mw < 450", "library == \'vendor\'"',
    )
    parser.add_argument(
        "--match",
        action="append",
        default=[],
        metavar="[COLUMN=]REGEX",
        help="text that contains this regular expression, upper and lower case alike; by default "
        "in the name",
    )
    parser.add_argument(
        "--name",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="molecules of these names, ranked or not",
    )
    parser.add_argument(
        "--unscored",
        action="store_true",
        help="in place of molecules: the input records that are not scored, with the reason",
    )
    parser.add_argument(
        "--smarts",
        action="append",
        default=[],
        metavar="SMARTS",
        help="molecules with this substructure",
    )
    parser.add_argument(
        "--not-smarts",
        action="append",
        default=[],
        metavar="SMARTS",
        help="molecules without this substructure",
    )
    parser.add_argument(
        "--interacts",
        action="append",
        default=[],
        metavar="[KIND:]RESIDUE",
        help="molecules whose best pose interacts with a residue, such as ASP168, A/ASP/168 or "
        "'hydrogen bond:ASP168'; only of poses that the campaign stores (aggregate.top_poses)",
    )


def _add_order(parser: argparse.ArgumentParser) -> None:
    """Flags that say in which order, and how many."""
    parser.add_argument(
        "--sort", metavar="EXPRESSION", help="smallest value first, such as: score / heavy"
    )
    parser.add_argument("--descending", action="store_true", help="largest value first")
    parser.add_argument(
        "--limit",
        "--top",
        type=cli.at_least(0),
        metavar="N",
        help=f"molecules of each target; 0: all of them (default: {LIMIT}; with --name: all)",
    )


def _answer(options: argparse.Namespace) -> None:
    # Half of the time of a question is the file's checksum, and the other half the libraries'
    # loading: they share it. What is wrong with the file is reported when it is opened.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(is_broken, options.campaign)
        from ligen_py.summary.queries.question import answer
    answer(options)


if __name__ == "__main__":
    sys.exit(main())
