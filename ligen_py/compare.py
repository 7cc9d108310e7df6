"""Compare the same molecules in two campaigns, or in two targets of one.

    ligen compare before/results/campaign.h5 after/results/campaign.h5
    ligen compare results/campaign.h5:kinase results/campaign.h5:other --sort selectivity

Molecules are matched by name, and by canonical structure where the names differ. Prints how many
are matched, the correlation of their ranks, who came into the best and who left them, and a table.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ligen_py import cli
from ligen_py.errors import InputError, UsageError
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.summary.facts import score_definition
from ligen_py.summary.queries.answer import Answer, write_answer
from ligen_py.summary.queries.comparison import (
    Pairs,
    Ranking,
    correlation,
    pairs_of,
    selectivity,
)
from ligen_py.summary.queries.forms import FORMATS, format_of
from ligen_py.summary.table import cut, readable

SORTS = {
    "best": "better rank of the two, best first",
    "rise": "largest rise of the rank first",
    "fall": "largest fall of the rank first",
    "selectivity": "most selective for A first",
    "anti": "most selective for B first",
}

NAMED = 10
"""Molecules that came or went whose names are printed."""

LIMIT = 20
"""Molecules in the table where no other number is given."""


def main(argv: Sequence[str] | None = None) -> int:
    """Compare two rankings from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.compare", __doc__)
    for name in "AB":
        parser.add_argument(
            name.lower(),
            metavar=name,
            help="campaign file, with :TARGET behind it where it has several targets",
        )
    parser.add_argument(
        "--best",
        type=cli.at_least(1),
        default=100,
        metavar="N",
        help="size of the best part in which molecules come and go (default: %(default)s)",
    )
    sorts = "; ".join(f"{name}: {meaning}" for name, meaning in SORTS.items())
    parser.add_argument("--sort", choices=SORTS, default="best", help=f"{sorts} (default: best)")
    parser.add_argument(
        "--limit",
        type=cli.at_least(0),
        metavar="N",
        help=f"molecules in the table; 0: all of them (default: {LIMIT})",
    )
    forms = [form for form in FORMATS if form != "sdf"]
    parser.add_argument(
        "--format", choices=forms, help="default: as the output's ending says, else a table"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="file of the table (default: the terminal)"
    )
    return cli.run(parser, argv, _compare)


def _compare(options: argparse.Namespace) -> None:
    form = format_of(options.format, options.output)
    if form == "sdf":
        raise UsageError("--output: a comparison has no poses; give .csv, .tsv, .jsonl or .parquet")
    for given in (options.a, options.b):
        cli.keep_input(options.output, _file(given)[0])
    with _ranking(options.a, "A") as one, _ranking(options.b, "B") as other:
        pairs = pairs_of(one, other)
        if not len(pairs.one):
            raise InputError(f"{one.label} and {other.label}: no molecule is ranked in both")
        # What is read by a program is alone on the standard output.
        to = sys.stdout if form == "table" or options.output else sys.stderr
        for line in _words(one, other, pairs, options.best):
            print(line, file=to)
        table = _table(one, other, pairs, options)
    write_answer(table, form, options.output)


def _file(given: str) -> tuple[Path, str]:
    """The file that an argument names, and the target; empty where it names none."""
    if not Path(given).exists() and ":" in given:
        file, _, target = given.rpartition(":")
        return Path(file), target
    return Path(given), ""


@contextmanager
def _ranking(given: str, which: str) -> Iterator[Ranking]:
    """The ranking that an argument names, while its file is open."""
    path, target = _file(given)
    if not path.is_file():
        what = "is no file" if path.exists() else "does not exist"
        raise UsageError(f"{which}: {path} {what}; give a campaign file, or FILE:TARGET")
    with open_campaign(path) as campaign:
        if not target and len(campaign.targets) > 1:
            raise UsageError(
                f"{which}: {path} has several targets; choose one as {path}:{campaign.targets[0]} "
                f"(there are: {', '.join(campaign.targets)})"
            )
        found = campaign.target(target or campaign.targets[0])
        yield Ranking.of(f"{path}:{found.name}", found, score_definition(campaign))


def _words(one: Ranking, other: Ranking, pairs: Pairs, best: int) -> Iterator[str]:
    """What the comparison found, in sentences."""
    yield f"A  {one.label}: {len(one.name)} molecules ranked"
    yield f"B  {other.label}: {len(other.name)} molecules ranked"
    other_scale = [key for key in one.scored_by if one.scored_by[key] != other.scored_by.get(key)]
    if other_scale:
        yield f"Scores differ in {', '.join(other_scale)}: compare ranks, not scores"
    count, named = len(pairs.one), int(pairs.by_name.sum())
    yield f"In both: {count}; {named} matched by name, {count - named} by canonical structure"
    strange = int((pairs.by_name & ~pairs.same_structure).sum())
    if strange:
        yield f"Of those matched by name {strange} have another structure in B"
    yield f"Only in A: {len(one.name) - count}; only in B: {len(other.name) - count}"
    found = correlation(pairs)
    if found:
        yield (
            f"Rank correlation (Spearman) {found.value:.3f}, 95 % interval {found.low:.3f} to "
            f"{found.high:.3f}"
        )
    else:
        yield "Rank correlation: too few common molecules"
    size = min(best, len(one.name), len(other.name))
    common = int(((pairs.one < size) & (pairs.other < size)).sum())
    yield f"Best {size}: {common} are in both"
    came = np.setdiff1d(np.arange(size), pairs.other[pairs.one < size])
    went = np.setdiff1d(np.arange(size), pairs.one[pairs.other < size])
    yield f"  came into the best of B: {_names(other, came)}"
    yield f"  left the best of A: {_names(one, went)}"
    yield ""


def _names(ranking: Ranking, places: np.ndarray) -> str:
    names = [cut(readable(name)) for name in ranking.names(places[:NAMED])]
    more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return f"{len(places)} ({', '.join(names)}{more})" if names else "none"


def _table(one: Ranking, other: Ranking, pairs: Pairs, options: argparse.Namespace) -> Answer:
    """The common molecules; a shift is positive for a molecule that ranks better in B."""
    i, j = pairs.one, pairs.other
    shift, selective = i - j, selectivity(one.score[i], other.score[j])
    keys = {
        "best": np.minimum(i, j),
        "rise": -shift,
        "fall": shift,
        "selectivity": -selective,
        "anti": selective,
    }
    limit = LIMIT if options.limit is None else options.limit
    if options.limit is None and limit < len(i):
        print(f"the first {limit} of {len(i)} molecules; --limit 0 gives all", file=sys.stderr)
    order = np.argsort(keys[options.sort], kind="stable")[: limit or len(i)]
    i, j = i[order], j[order]
    columns = {
        "name": one.names(i),
        "name_b": other.names(j),
        "rank_a": i + 1,
        "rank_b": j + 1,
        "shift": shift[order],
        "score_a": one.score[i],
        "score_b": other.score[j],
        "difference": other.score[j] - one.score[i],
        "selectivity": selective[order],
    }
    if pairs.by_name.all():
        del columns["name_b"]
    return columns


if __name__ == "__main__":
    sys.exit(main())
