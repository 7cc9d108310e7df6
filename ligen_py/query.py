"""Ask a finished campaign: the best molecules, molecules by name, molecules by score.

Prints one line a molecule, tab-separated, best first; reads only the rows that it prints (by name:
the column of names, piece by piece). A record that is not ranked has a dash for its rank and its
score, and the reason in its last column.
"""

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence

from ligen_py import cli
from ligen_py.errors import InputError, UsageError
from ligen_py.records.ledger import Status
from ligen_py.store.campaign.layout import Left
from ligen_py.store.campaign.reader import CampaignReader, Ranked, TargetReader, open_campaign
from ligen_py.summary.table import readable

log = logging.getLogger("ligen_py")

PIECE = 10_000
"""Molecules read and printed at a time."""


def main(argv: Sequence[str] | None = None) -> int:
    """Answer a question from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.query", __doc__)
    parser.add_argument("campaign", type=cli.input_file, help="campaign file of `aggregate`")
    parser.add_argument("--target", metavar="NAME", help="one target (default: every one)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--top",
        type=cli.at_least(0),
        default=10,
        metavar="N",
        help="the N best (default: %(default)s)",
    )
    what.add_argument("--name", nargs="+", metavar="NAME", help="molecules of these names")
    what.add_argument(
        "--score",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        help="every molecule with a score from LOW to HIGH, both included",
    )
    return cli.run(parser, argv, _answer)


def _answer(options: argparse.Namespace) -> None:
    if options.score and options.score[0] > options.score[1]:
        low, high = options.score
        raise UsageError(f"--score {low:g} {high:g}: give the lower score first")
    with open_campaign(options.campaign) as campaign:
        chosen = [options.target] if options.target else campaign.targets
        met: set[str] = set()
        for number, name in enumerate(chosen):
            for line in _lines(campaign, name, options, met, header=not number):
                print(line)
    unknown = [name for name in options.name or () if name not in met]
    if unknown:
        names = ", ".join(readable(name) for name in dict.fromkeys(unknown))
        where = f" for the target {options.target}" if options.target else ""
        raise InputError(f"{options.campaign}: contains no record{where} named {names}")


def _lines(
    campaign: CampaignReader,
    name: str,
    options: argparse.Namespace,
    met: set[str],
    header: bool,
) -> Iterator[str]:
    target = campaign.target(name)
    if header:
        columns = (
            "target",
            "rank",
            "name",
            "score",
            *target.terms,
            "library",
            "file",
            "line",
            "status",
        )
        yield "\t".join(columns)
    for found in _found(target, options):
        met.update(found.scored.name if options.name else ())
        for i, rank in enumerate(found.rank):
            row = found.scored
            terms = (f"{values[i]:.4f}" for values in found.terms.values())
            words = (name, str(rank), readable(row.name[i]), f"{row.score[i]:.4f}", *terms)
            where = campaign.libraries[row.library[i]], campaign.files[row.file[i]]
            yield "\t".join((*words, *where, str(row.line[i]), "scored"))
    if options.name:
        left = target.left_named(frozenset(options.name))
        met.update(left.name)
        yield from _left(name, campaign, left, len(target.terms))


def _found(target: TargetReader, options: argparse.Namespace) -> Iterator[Ranked]:
    if options.name:
        yield target.named(frozenset(options.name))
        return
    first, last = 0, min(options.top, target.size)
    if options.score:
        first, last = target.ranks_between(*options.score)
    for start in range(first, last, PIECE):
        yield target.ranked(start, min(start + PIECE, last))


def _left(name: str, campaign: CampaignReader, left: Left, terms: int) -> Iterator[str]:
    for i, status in enumerate(left.status):
        why = f"{Status(status).name.lower()}: {readable(left.detail[i])}"
        none = ["-"] * terms
        words = (name, "-", readable(left.name[i]), "-", *none)
        where = campaign.libraries[left.library[i]], campaign.files[left.file[i]]
        yield "\t".join((*words, *where, str(left.line[i]), why))


if __name__ == "__main__":
    sys.exit(main())
