"""Run a campaign: check its config and files, run Snakemake, show the table of results.

Finished files are kept: the same command continues a run that was stopped, and after a change it
makes again what depends on the change.
"""

import argparse
import importlib.util
import logging
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ligen_py import cli, granted
from ligen_py.campaign.earlier import EarlierRun
from ligen_py.campaign.workplan import Workplan
from ligen_py.config_checks import WRITTEN, check_apart, check_machine, checked
from ligen_py.ending import PART_OF, this_process
from ligen_py.errors import InputError, StoppedError, UsageError, install
from ligen_py.paths import PACKAGE, examples, profile, snakefile, unknown_user
from ligen_py.running.flags import (
    A_PART,
    FORCE_ALL,
    beside_profile,
    forced_once,
    makes,
    separated,
    until_parsed,
    works,
)
from ligen_py.running.process import started
from ligen_py.running.stopped import logs_of, why_stopped
from ligen_py.store.campaign.contents import DEEP, require_past, require_records
from ligen_py.store.campaign.verdicts import read_verdict
from ligen_py.summary.table import shortened

log = logging.getLogger("ligen_py")

LOCAL = "local"
"""The profile where none is named."""

VALIDATE: tuple[str, ...] = ("validate",)
"""The target of Snakemake that makes the controls and their verdicts."""

EVERYTHING: tuple[str, ...] = ()


def main(argv: Sequence[str] | None = None) -> int:
    """Run a campaign from a command line; returns the exit code."""
    return command("run", __doc__, argv)


def command(name: str, description: str | None, argv: Sequence[str] | None) -> int:
    """Run the whole campaign, `run`, or its controls alone, `validate`; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    cut = words.index("--") if "--" in words else len(words)
    parser = cli.parser(f"ligen_py.{name}", description)
    parser.usage = f"{parser.prog} CONFIG [options] [-- FLAGS OF SNAKEMAKE]"
    proteins = "their proteins come with 'pip install posebusters'"
    parser.epilog = f"Example campaigns are in {examples()}; {proteins}."
    parser.add_argument("config", type=cli.input_file, help="config file of the campaign")
    parser.add_argument(
        "--directory",
        type=Path,
        metavar="FOLDER",
        help="folder that gets results/ and logs/ (default: the folder of the config file)",
    )
    parser.add_argument(
        "--profile",
        default=LOCAL,
        metavar="NAME",
        help="where to run: 'local', 'slurm', or a folder with your own profile of Snakemake "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--cores",
        type=cli.at_least(1),
        metavar="N",
        help="cores to use on this computer (default: the profile's; 'local': all that it grants)",
    )
    cli.add_deep(parser)
    cli.add_device(parser, "several share the chunks: 'gpu:0,1', or 'gpu:all' for every GPU")
    parser.set_defaults(flags=words[cut + 1 :], only_controls=name == "validate")
    return cli.run(parser, words[:cut], _run)


def _run(options: argparse.Namespace) -> None:
    if importlib.util.find_spec("snakemake") is None:
        raise UsageError(f"Snakemake is missing; install it: {install('workflow')}")
    given = separated(options.flags)
    chosen = _profile(options.profile)
    flags = beside_profile(given, chosen)
    folder = options.directory or options.config.parent
    if folder.resolve().is_relative_to(PACKAGE):
        raise UsageError("this config is a part of ligen_py; name a folder: --directory FOLDER")
    if options.device:
        os.environ["LIGEN_DEVICE"] = options.device
    if options.deep:
        os.environ[DEEP] = "1"
    plan = checked(options.config)
    check_apart(plan, folder)
    if options.only_controls and not plan.pockets:
        raise InputError(f"{options.config}: has no target, so there is no control")
    if options.profile == LOCAL and not {"--executor", "-e"} & {*flags}:
        check_machine(plan)
    _require_writable(folder)
    _look_before(plan, folder, flags)
    before = logs_of(folder)
    table = folder / "results" / "report.txt"
    reported = table.stat().st_mtime_ns if table.is_file() else 0
    # In a run of its own: no library is docked before it ends, and none again because of it.
    runs = [VALIDATE] if plan.settings.controls or options.only_controls else []
    if not options.only_controls:
        runs = [*(runs if makes(flags) else []), EVERYTHING]
    for target in runs:
        if target == EVERYTHING and plan.settings.duplicates == "campaign":
            flags = until_parsed(flags, plan.parsed_last("results"))
        status, signals = _snakemake(options, chosen, folder, [*target, *flags])
        flags = forced_once(flags)
        if signals and (status or target != runs[-1]):
            raise StoppedError("stopped as asked; the same command goes on from here", signals[0])
        if status:
            said = why_stopped(folder, before)
            if said.startswith("accept: ") and not options.quiet:  # what was measured, on all
                _show(folder, plan.ranked, only_controls=True)
                sys.stdout.flush()
            raise InputError(said)
    if not makes(flags):
        return
    if options.quiet:
        _warn(folder, plan.ranked)
        return
    if A_PART & {flag.partition("=")[0] for flag in flags} and not (
        table.is_file() and table.stat().st_mtime_ns != reported
    ):
        print(f"A part of the campaign was asked for; {table} was not made in this run")
        return
    _show(folder, plan.ranked, options.only_controls)
    sys.stdout.flush()
    _warn(folder, plan.ranked)


def _look_before(plan: Workplan, folder: Path, flags: Sequence[str]) -> None:
    """Look at an earlier run: InputError where this one would spoil it; warn of what it changes."""
    if not works(flags):
        return
    earlier = EarlierRun(plan, folder)
    earlier.require_networks()
    if not FORCE_ALL & {*flags}:
        require_records(folder)
    if not makes(flags):
        return
    require_past(folder)
    try:
        lost = earlier.lost()
    except InputError as error:
        raise InputError(f"{error}; delete it and type the same command again") from error
    lines = [f"{file} {how}; it is made again" for file, how in lost]
    for line in shortened(lines, "missing or changed"):
        log.warning("%s", line)
    if others := earlier.other_targets():
        log.warning(
            "%s: is of a campaign with other targets (%s), whose ranking and exported files "
            "this one replaces; name another folder by --directory to keep them",
            folder / "results",
            ", ".join(others),
        )
    if plan.without_networks:
        log.warning("%s", plan.without_networks)


def _profile(name: str) -> Path:
    """The folder of a profile: one of the project's, or a path."""
    for folder in (profile(name), Path(name)) if name else ():
        if any(folder.glob("profile*.y*ml")) or any(folder.glob("config*.y*ml")):
            return folder.absolute()
    known = ", ".join(sorted(path.name for path in profile(LOCAL).parent.iterdir()))
    raise UsageError(
        f"--profile {name}: no such profile; there are: {known}; or name a folder with a "
        "profile.yaml of your own"
    )


def _require_writable(folder: Path) -> None:
    """Make the campaign's folder; InputError where nothing can be written into it, or below it."""
    for place in (folder, *(folder / name for name in (*WRITTEN, ".snakemake"))):
        try:
            if place == folder:
                folder.mkdir(parents=True, exist_ok=True)
            elif not os.path.lexists(place):  # a link that leads nowhere is there
                continue
            with tempfile.TemporaryFile(dir=place) as file:
                file.write(b"x")
        except OSError as error:
            raise InputError(
                f"{place.absolute()}: cannot be written ({error.strerror}); name another folder: "
                "--directory FOLDER"
            ) from error


def _snakemake(
    options: argparse.Namespace, chosen: Path, folder: Path, words: Sequence[str]
) -> tuple[int, list[int]]:
    """Run Snakemake in the campaign's folder, with a target and flags behind its own words.

    Returns its exit code, and the signals to end that came.
    """
    command = [sys.executable, "-m", "snakemake"]
    command += ["--quiet", "all"] if options.quiet else []  # not last: it takes words behind it
    command += ["--snakefile", str(snakefile())]
    # Not resolved: paths in a config are relative to the folder in which it is named.
    command += ["--configfile", str(options.config.absolute()), "--directory", str(folder)]
    command += ["--workflow-profile", str(chosen)]
    cores = options.cores
    if options.profile == LOCAL and cores is None:
        cores = granted.cores()  # Snakemake's `all` knows no limit of a container or of Slurm
    command += ["--cores", str(cores)] if cores else []
    sys.stdout.flush()
    # workflow/rules/start.smk reads the last ones.
    environment = {**os.environ, **unknown_user(), "LIGEN_CHECKED": "1", PART_OF: this_process()}
    with started([*command, *words], environment) as (process, signals):
        return process.wait(), signals


def _warn(folder: Path, targets: Sequence[str]) -> None:
    """Say which controls failed, last; the stages' own warnings stand in their logs."""
    for target in targets:
        verdict = folder / "results" / "controls" / target / "controls.json"
        if verdict.is_file() and not (found := read_verdict(verdict))["passed"]:
            log.warning(
                "%s; see %s, and 'When a control fails' in docs/controls.md",
                found["sentence"],
                verdict.with_suffix(".txt"),
            )


def _show(folder: Path, targets: Sequence[str], only_controls: bool) -> None:
    """Print the table of the report and the controls, and where the files that it names are."""
    results = folder / "results"
    table = results / "report.txt"
    if table.is_file() and not only_controls:
        print(table.read_text(encoding="utf-8"))
    for target in targets:
        verdict = results / "controls" / target / "controls.txt"
        if verdict.is_file():
            print(verdict.read_text(encoding="utf-8"))
    print(f"These files are in {folder.absolute()}")


if __name__ == "__main__":
    sys.exit(main())
