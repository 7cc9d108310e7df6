"""What would a campaign cost? Check its config, look at its inputs, time a sample, and add up.

Prints every setting of preparation, docking and scoring, the receptor atoms in each box, what
becomes of a sample of each library, the speed of each stage on this device, and from these the
jobs, hours and disk of the whole campaign; then what a run would do now, and why. It writes no
results. In the campaign's folder it leaves the folder `.snakemake/`, with what Snakemake notes and
with the speed, in `ligen_expected.json`: a run begins with it to estimate its time.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ligen_py import cli
from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import screen
from ligen_py.config_checks import check_apart, checked
from ligen_py.planning.cost import show_cost
from ligen_py.planning.next_run import next_run
from ligen_py.settings.campaign import PRESETS, Method
from ligen_py.settings.section import Section


def main(argv: Sequence[str] | None = None) -> int:
    """Plan a campaign from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.plan", __doc__)
    parser.add_argument("config", type=cli.input_file, help="config file of the campaign")
    parser.add_argument(
        "--sample",
        type=cli.at_least(1),
        default=100,
        metavar="N",
        help="records to time (default: 100)",
    )
    parser.add_argument(
        "--directory", type=Path, help="folder of the campaign (default: that of the config file)"
    )
    cli.add_deep(parser)
    cli.add_device(parser)
    return cli.run(parser, argv, _plan)


def _command(options: argparse.Namespace) -> str:
    """The command that runs the campaign."""
    where = [] if options.directory is None else ["--directory", str(options.directory)]
    return shlex.join(["ligen", "run", str(options.config), *where])


def _plan(options: argparse.Namespace) -> None:
    plan = checked(options.config)
    folder = Path(options.directory or options.config.parent)
    check_apart(plan, folder)
    if plan.pockets:
        print(f"{options.config}: sound, effort {plan.settings.effort}")
        for line in (*_overridden(plan), *_unused(plan), *_settings(plan)):
            print(line)
        if plan.without_networks:
            print(plan.without_networks)
        show_cost(plan, folder, options.sample, options.device)
    else:  # searches of sequences alone, which have no stage that the effort sets
        print(f"{options.config}: sound")
    print("\nA run now")
    for line in next_run(plan, options.config, folder, _command(options), deep=options.deep):
        print(f"  {line}")


def _overridden(plan: Workplan) -> Iterator[str]:
    """Says which keys of its effort the config sets to something else."""
    effort, search = plan.settings.effort, plan.settings.search
    usual, keys = Method(effort=effort, search=search), []
    if search != Method(effort=effort).search:
        keys.append("search")
    for section, preset in PRESETS[effort].items():
        mine, its = getattr(plan.settings, section), getattr(usual, section)
        # Where networks are for the best alone, or not installed, the functions are other ones.
        free = {"functions", "rank_by"} if plan.settings.networks.best else set()
        differ = [key for key in preset if getattr(mine, key) != getattr(its, key)]
        if "functions" in differ:  # without gnina among them networks rank no molecule
            free |= {"rank_by"}
        keys += [f"{section}.{key}" for key in differ if key not in free]
    if keys:
        yield f"the file sets other values than the effort's: {', '.join(keys)}"


def _unused(plan: Workplan) -> Iterator[str]:
    """Names what the file sets of a search that the campaign does not use."""
    settings = plan.settings
    usual = Method(effort=settings.effort, search=settings.search)
    if settings.search == "ligen" and settings.lga != usual.lga:
        yield "lga has no effect, as search is ligen; write search: lga to use it"
    if settings.search == "lga" and settings.dock != usual.dock:
        both = (
            "its restarts have the defaults of dock, and of lga their number"
            if settings.lga.restarts
            else "write lga: {restarts: N} to use both searches"
        )
        yield f"dock has no effect, as search is lga; {both}"
    bumps = settings.filter.max_pocket_bumps != usual.filter.max_pocket_bumps
    if bumps and settings.search == "lga" and not settings.lga.restarts:
        yield (
            "filter.max_pocket_bumps has no effect, as search is lga: its runs count as free of "
            "bumps; take it out"
        )


def _settings(plan: Workplan) -> Iterator[str]:
    screened = (stage.name for stage in screen(plan.settings.search))
    networks = ("networks",) if plan.settings.networks.best else ()
    for name in ("parse", "pocket", *screened, *networks):
        section: Section = getattr(plan.settings, name)
        values = ", ".join(f"{key} {_text(value)}" for key, value in section.model_dump().items())
        yield f"  {name}: {values}"


def _text(value: Any) -> str:
    return " ".join(map(str, value)) or "-" if isinstance(value, list | tuple) else str(value)


if __name__ == "__main__":
    sys.exit(main())
