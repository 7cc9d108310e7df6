"""Run a campaign: check its config and files, run Snakemake, show the table of results.

Finished files are kept: the same command continues a run that was stopped, and after a change it
makes again what depends on the change.
"""

import argparse
import importlib.util
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from ligen_py import cli, granted
from ligen_py.campaign.earlier import EarlierRun
from ligen_py.chain import PART, STAGES
from ligen_py.config_checks import WRITTEN, check_apart, check_machine, checked
from ligen_py.ending import PART_OF, this_process
from ligen_py.errors import InputError, StoppedError, UsageError
from ligen_py.paths import PACKAGE, examples, profile, snakefile, unknown_user
from ligen_py.settings.document import read_document
from ligen_py.store.campaign.contents import DEEP, require_past, require_records
from ligen_py.store.campaign.verdicts import read_verdict

log = logging.getLogger("ligen_py")

LOCAL = "local"
"""The profile where none is named."""

DRY_RUN = frozenset(("-n", "--dry-run", "--dryrun", "-np"))
"""Flags with which Snakemake says what it would do."""

NO_RUN = DRY_RUN | {"--unlock", "--lint", "--touch", "-t", "--summary", "--report", "--dag"}
NO_RUN |= {"--rulegraph", "--delete-all-output", "--list-changes"}
"""Flags with which Snakemake runs no campaign, so that there is no table to show."""

A_PART = frozenset(("--until", "-U", "--omit-from", "-O", "--batch"))
"""Flags with which it makes a part of a campaign; the table may be of an earlier run then."""

UNTIL, OMITTED, FORCED = ("--until", "-U"), ("--omit-from", "-O"), ("--forcerun", "-R")
"""Flags with names of rules behind them: to end with, to end before, and to run again."""

ADDED = ("--set-resources", "--set-threads", "--default-resources")
"""Flags with entries behind them, KEY=VALUE, beside which the profile's own entries hold."""

IN_CHUNKS = tuple(name for name, stage in STAGES.items() if stage.path.endswith(PART))
"""Stages that run in the job of a chunk."""

VALIDATE: tuple[str, ...] = ("validate",)
"""The target of Snakemake that makes the controls and their verdicts."""

EVERYTHING: tuple[str, ...] = ()

_REFUSED = re.compile(r'^WorkflowError in file ".*\.smk", line \d+:\n(.+)', re.MULTILINE)
"""What the rules say in Snakemake's log of a run that they do not let begin."""

_ENDED = re.compile(r"^Error in rule (\w+):\n((?: .*\n)+)", re.MULTILINE)
"""What it says there of a job that failed: its rule, and lines about it."""

_ITS_LOGS = re.compile(r"^ +log: (.+?) \(check", re.MULTILINE)
"""The logs among these lines: that of the stage, and behind it that of Slurm."""

_BY_SLURM = re.compile(r"SLURM-job '(\w+)' failed.*?, SLURM status is: '(\w+)'")
"""The number that the job has in Slurm, and the state in which it ended, there."""

_NOT_TAKEN = re.compile(
    r"[^\n]+\n +message: SLURM sbatch failed\. The error message was '(.*?)'\.\n +sbatch call:",
    re.DOTALL,
)
"""What Slurm says where it takes no such job, there; it may have several lines."""

CURES = {
    "OUT_OF_MEMORY": "it exceeded its memory; raise it with '-- --set-resources {rule}:mem_mb=N' "
    "(megabytes) or in the profile, or cut the work into more chunks",
    "TIMEOUT": "it exceeded its time; raise it with '-- --set-resources {rule}:runtime=N' "
    "(minutes) or in the profile, or cut the work into more chunks",
    "NODE_FAIL": "its node failed; the same command goes on from here",
    "CANCELLED": "someone cancelled it; the same command goes on from here",
    "DEADLINE": "it would not have ended before its deadline; the same command goes on from here",
    "BOOT_FAIL": "its node did not start; the same command goes on from here",
    "PREEMPTED": "a job of more urgency took its place; the same command goes on from here",
}
"""State in which Slurm ends a job -> why, and what to do."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals to end: Ctrl-C, a request of the system, a terminal that closes."""

LOST = 10
"""Files of an earlier run that are missing or changed and are named."""

TAIL = 1 << 14
"""Bytes at the end of a log in which an error message is sought."""


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
        raise UsageError("Snakemake is missing; install it: pip install 'ligen_py[workflow]'")
    options.flags = _apart(options.flags)
    chosen = _profile(options.profile)
    options.flags = _beside_profile(options.flags, chosen)
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
    if options.profile == LOCAL and not {"--executor", "-e"} & set(options.flags):
        check_machine(plan)
    _require_writable(folder)
    if not (NO_RUN - DRY_RUN) & set(options.flags):
        EarlierRun(plan, folder).require_networks()
    if not {*NO_RUN - DRY_RUN, "-F", "--forceall"} & set(options.flags):
        require_records(folder)
    if not NO_RUN & set(options.flags):
        require_past(folder)
        try:
            lost = EarlierRun(plan, folder).lost()
        except InputError as error:
            raise InputError(f"{error}; delete it and type the same command again") from error
        for file, how in lost[:LOST]:
            log.warning("%s %s; it is made again", file, how)
        if others := EarlierRun(plan, folder).other_targets():
            log.warning(
                "%s: is of a campaign with other targets (%s), whose ranking and exported files "
                "this one replaces; name another folder by --directory to keep them",
                *(folder / "results", ", ".join(others)),
            )
        if plan.without_networks:
            log.warning("%s", plan.without_networks)
    before = _logs(folder)
    table = folder / "results" / "report.txt"
    reported = table.stat().st_mtime_ns if table.is_file() else 0
    # In a run of its own: no library is docked before it ends, and none again because of it.
    runs = [VALIDATE] if plan.settings.controls or options.only_controls else []
    if not options.only_controls:
        runs = [*(runs if not NO_RUN & set(options.flags) else []), EVERYTHING]
    for target in runs:
        if target == EVERYTHING and plan.settings.duplicates == "campaign":
            options.flags = _until_parsed(options.flags, plan.parsed_last("results"))
        status, signals = _snakemake(options, chosen, folder, target)
        options.flags = _once(options.flags)
        if signals and (status or target != runs[-1]):
            raise StoppedError("stopped as asked; the same command goes on from here", signals[0])
        if status:
            said = _why(folder, before)
            if said.startswith("accept: ") and not options.quiet:  # what was measured, on all
                _show(folder, plan.ranked, only_controls=True)
                sys.stdout.flush()
            raise InputError(said)
    if NO_RUN & set(options.flags):
        return
    if options.quiet:
        _warn(folder, plan.ranked)
        return
    if A_PART & {flag.partition("=")[0] for flag in options.flags} and not (
        table.is_file() and table.stat().st_mtime_ns != reported
    ):
        print(f"A part of the campaign was asked for; {table} was not made in this run")
        return
    _show(folder, plan.ranked, options.only_controls)
    sys.stdout.flush()
    _warn(folder, plan.ranked)


def _apart(flags: Sequence[str]) -> list[str]:
    """Flags of Snakemake, with words of their own for what a flag has behind a "=" in its own.

    UsageError where one asks for a stage that is a part of a job only.

    >>> _apart(["--until=parse", "--forcerun=score", "-Rdock", "--cores=2"])
    ['--until', 'parse', '--forcerun', 'score', '-R', 'dock', '--cores=2']
    """
    words: list[str] = []
    flag = ""
    for given in flags:
        name, equals, value = given.partition("=")
        if not equals and not given.startswith("--"):
            name, value = given[:2], given[2:]
        if not given.startswith("-"):
            words.append(given)
        else:
            flag = name
            apart = name in (*UNTIL, *OMITTED, *FORCED, *ADDED)
            words += [name, value] if value and apart else [given]
        if words[-1] in IN_CHUNKS and flag in ("", *UNTIL, *OMITTED):
            raise UsageError(
                f"{flag or 'the target'} {words[-1]}: it is a part of the job screen; name "
                f"that, or have every part run it again with -R {words[-1]}"
            )
    return words


def _beside_profile(flags: Sequence[str], chosen: Path) -> list[str]:
    """Flags of Snakemake, with the entries of a profile before those that the same flag gives.

    Snakemake takes the last entry of a key, and a flag's entries in place of all of the profile's:
    `--set-resources screen:runtime=300` alone would take the card away from every job. InputError
    or UsageError where the profile cannot be read.
    """
    if not {*flags} & {*ADDED}:
        return [*flags]
    # Of several files Snakemake takes that of the latest version, as profile.v9+.yaml.
    file = max(chosen.glob("*.y*ml"), key=lambda path: [*map(int, re.findall(r"\d+", path.name))])
    theirs = read_document(file).values
    if "__use_yte__" in theirs:
        raise UsageError(f"{file}: is a template; write there what you add by {' or '.join(ADDED)}")
    entries = {name: [*_entries(theirs.get(name.removeprefix("--"), []))] for name in ADDED}
    words: list[str] = []
    flag = ""
    for given in flags:
        words.append(given)
        if given.startswith("-"):
            flag = given
            words += entries.get(flag, [])
        elif flag in entries:
            entries[flag].append(given)  # of equal flags Snakemake takes the last one only
    return words


def _entries(section: Any, above: str = "") -> Iterator[str]:
    """The entries of a profile's section as they stand on the command line.

    >>> list(_entries({"screen": {"gpu": 1, "slurm_account": "07"}}))
    ['screen:gpu=1', "screen:slurm_account='07'"]
    """
    if not isinstance(section, dict):
        yield from section or ()
        return
    for key, value in section.items():
        if isinstance(value, dict):
            yield from _entries(value, f"{key}:")
        else:  # a number in quotes is a name
            is_name = isinstance(value, str) and value.replace(".", "").isdecimal()
            yield f"{above}{key}={repr(value) if is_name else value}"


def _once(flags: Sequence[str]) -> list[str]:
    """Flags of Snakemake without the stages of a chunk behind -R, which a run has just made again.

    That they were asked for is kept beside the results: a second run has the libraries' chunks run
    them, and would have the controls' run them once more.

    >>> _once(["-R", "score", "--keep-going"]), _once(["--forcerun", "parse", "score"])
    (['-R', '--keep-going'], ['--forcerun', 'parse'])
    """
    words: list[str] = []
    forced = False
    for flag in flags:
        if flag.startswith("-"):
            forced = flag in FORCED
        if not (forced and flag in IN_CHUNKS):
            words.append(flag)
    return words


def _until_parsed(flags: Sequence[str], files: Sequence[str]) -> list[str]:
    """Flags of Snakemake with the files that are parsed last for `parse` behind --until.

    Of the jobs of a rule that stands there it lets none begin that awaits another of them, as parts
    do that are parsed one after another. The controls' own parts await none.

    >>> _until_parsed(["-n", "--until", "parse", "--touch", "parse"], ["3-of-3.h5", "crystal.h5"])
    ['-n', '--until', '3-of-3.h5', 'crystal.h5', '--touch', 'parse']
    >>> _until_parsed(["-U", "pocket", "parse"], ["3-of-3.h5"])
    ['-U', 'pocket', '3-of-3.h5']
    """
    words: list[str] = []
    last = False
    for flag in flags:
        if flag.startswith("-"):
            last = flag in UNTIL
        if last and flag == "parse" and files:
            words += files
        else:
            words.append(flag)
    return words


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
    options: argparse.Namespace, chosen: Path, folder: Path, target: Sequence[str]
) -> tuple[int, list[int]]:
    """Run Snakemake in the campaign's folder: its exit code, and the signals to end that came."""
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
    command += [*target, *options.flags]
    with _started(command, environment) as (process, signals):
        return process.wait(), signals


@contextmanager
def _started(
    command: Sequence[str], environment: Mapping[str, str]
) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """Start Snakemake; pass signals to end on to it, and to its jobs, for which it would wait.

    Gives the process and the signals. What `nohup` or a shell has us ignore stays ignored.
    """
    signals: list[int] = []
    kept = {number: signal.getsignal(number) for number in SIGNALS}
    # Of a terminal that closes Snakemake would die at once, and leave its lock.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with subprocess.Popen(command, env=environment) as process:

            def pass_on(number: int, frame: FrameType | None) -> None:
                """Remember a signal, and send it on if the terminal did not."""
                signals.append(number)
                if number == signal.SIGINT and _reaches_all():
                    return
                # Snakemake first: it must not take the next job for that of an ended one. But
                # listed before it knows, since `scancel`, which it starts then, must live.
                for one in (process.pid, *_started_by(process.pid)):
                    with suppress(ProcessLookupError):
                        os.kill(one, signal.SIGTERM if number == signal.SIGHUP else number)

            for number, handler in kept.items():
                signal.signal(number, handler if handler == signal.SIG_IGN else pass_on)
            yield process, signals
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _started_by(process: int) -> list[int]:
    """The processes that a process has started, and those that they have; none without /proc."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            # The parent is the second word behind the name, which is in brackets.
            parent = int(status.read_text(errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(status.parent.name))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found[1:]


def _reaches_all() -> bool:
    """Whether Ctrl-C of a terminal reaches this process, and so those that it has started."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _logs(folder: Path) -> dict[Path, int]:
    """Every log of a campaign, with the time of its last change."""
    found = [*folder.glob("logs/**/*.log"), *folder.glob(".snakemake/log/*.log")]
    return {path: path.stat().st_mtime_ns for path in found}


def _why(folder: Path, before: dict[Path, int]) -> str:
    """What stopped a run, from the logs that it wrote."""
    now = _logs(folder)
    changed = sorted((path for path in now if now[path] != before.get(path)), key=now.__getitem__)
    stages = [path for path in changed if ".snakemake" not in path.parts]
    failed = {path: said for path in stages if (said := _error_at_the_end(path))}
    for path, said in failed.items():
        more = f"; {len(failed) - 1} other jobs failed, too" if len(failed) > 1 else ""
        return f"{said} (log: {path}{more})"
    others = [path for path in changed if path not in stages]
    if any("--unlock" in path.read_text(encoding="utf-8", errors="replace") for path in others):
        return (
            f"{folder.absolute()}: another run works in this folder, or one was killed there; wait "
            "for it, or, if none is running, type the same command with '-- --unlock' behind, then "
            "the command itself"
        )
    for path in others:
        text = path.read_text(encoding="utf-8", errors="replace")
        if refused := _REFUSED.search(text):
            return f"{refused[1]} (log: {path})"
        for ended in list(_ENDED.finditer(text))[-1:]:
            rule, about = ended.groups()
            if refused := _NOT_TAKEN.match(text, ended.start()):
                return f"{_not_taken(rule, refused[1])} (log: {path})"
            return _by_slurm(rule, about, folder) or _silent(rule, about, folder)
    where = f" (log: {others[-1]})" if others else ""
    return f"Snakemake stopped, see its messages above{where}"


def _not_taken(rule: str, said: str) -> str:
    """What to say of a job that Slurm refused, from what `sbatch` said."""
    lines = [line.removeprefix("sbatch: ").removeprefix("error: ") for line in said.splitlines()]
    why = "; ".join(line.removeprefix("Batch job submission failed: ") for line in lines)
    return (
        f"{rule}: Slurm refused the job: {why}; correct the profile, or what '--set-resources' "
        "adds to it: partition, account, time, memory, processors"
    )


def _by_slurm(rule: str, about: str, folder: Path) -> str:
    """What to say of a job that Slurm ended; empty where it did not."""
    said, logs = _BY_SLURM.search(about), _ITS_LOGS.search(about)
    if not said or said[2] not in CURES:  # FAILED: the stage ended by itself
        return ""
    cure = CURES[said[2]].format(rule=rule)
    where = f" (log: {folder / logs[1].split(', ')[-1]})" if logs else ""
    return f"{rule}: Slurm ended job {said[1]} as {said[2]}: {cure}{where}"


def _silent(rule: str, about: str, folder: Path) -> str:
    """What to say of a job that failed and whose log has no error message."""
    logs = _ITS_LOGS.search(about)
    if not logs:
        return f"{rule} failed, see Snakemake's messages above"
    path = folder / logs[1].split(", ")[0]
    lines = [line for line in _tail(path).splitlines() if line.strip()] if path.is_file() else []
    last = f"; its last line: {lines[-1].strip()}" if lines else ""
    return (
        f"{rule} ended without an error message, as what is killed does, for lack of memory as an "
        f"example{last} (log: {path})"
    )


def _tail(path: Path) -> str:
    """The end of a log."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - TAIL))
        return stream.read().decode("utf-8", "replace")


def _error_at_the_end(path: Path) -> str:
    """The error message at the end of a stage's log; empty where it did not fail."""
    text = _tail(path)
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    if " error: " in f" {lines[-1]}":
        # "ligen stage dock: error: this" is shown as "dock: this".
        return lines[-1].removeprefix("ligen ").removeprefix("stage ").replace(": error: ", ": ", 1)
    if "Traceback (most recent call last)" in text:
        return f"{lines[-1].strip()}; this is a fault of the program, please report it"
    return ""


def _warn(folder: Path, targets: Sequence[str]) -> None:
    """Say which controls failed, last; the stages' own warnings stand in their logs."""
    for target in targets:
        verdict = folder / "results" / "controls" / target / "controls.json"
        if verdict.is_file() and not (found := read_verdict(verdict))["passed"]:
            log.warning(
                "%s; see %s, and 'When a control fails' in docs/controls.md",
                *(found["sentence"], verdict.with_suffix(".txt")),
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
