"""Flags of Snakemake that `ligen run` is given: what they ask for, and what is changed in them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ligen_py.chain import PART, STAGES
from ligen_py.errors import UsageError
from ligen_py.settings.document import read_document

DRY_RUN = frozenset(("-n", "--dry-run", "--dryrun", "-np"))
"""Flags with which Snakemake says what it would do."""

NO_WORK = frozenset(("--unlock", "--lint", "--touch", "-t", "--summary", "--report", "--dag"))
NO_WORK |= {"--rulegraph", "--delete-all-output", "--list-changes"}
"""Flags with which it does something else than to run a campaign."""

FORCE_ALL = frozenset(("--forceall", "-F"))
"""Flags with which it makes everything again."""

A_PART = frozenset(("--until", "-U", "--omit-from", "-O", "--batch"))
"""Flags with which it makes a part of a campaign; the table may be of an earlier run then."""

UNTIL, OMITTED, FORCED = ("--until", "-U"), ("--omit-from", "-O"), ("--forcerun", "-R")
"""Flags with names of rules behind them: to end with, to end before, and to run again."""

ADDED = ("--set-resources", "--set-threads", "--default-resources")
"""Flags with entries behind them, KEY=VALUE, beside which the profile's own entries hold."""

IN_CHUNKS = tuple(name for name, stage in STAGES.items() if stage.path.endswith(PART))
"""Stages that run in the job of a chunk."""


def works(flags: Sequence[str]) -> bool:
    """Whether Snakemake runs jobs, or says which it would run."""
    return not NO_WORK & {*flags}


def makes(flags: Sequence[str]) -> bool:
    """Whether Snakemake runs jobs, so that there is a table to show."""
    return works(flags) and not DRY_RUN & {*flags}


def separated(flags: Sequence[str]) -> list[str]:
    """Flags of Snakemake, with words of their own for what a flag has behind a "=" in its own.

    UsageError where one asks for a stage that is a part of a job only.

    >>> separated(["--until=parse", "--forcerun=score", "-Rdock", "--cores=2"])
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
            splits = name in (*UNTIL, *OMITTED, *FORCED, *ADDED)
            words += [name, value] if value and splits else [given]
        if words[-1] in IN_CHUNKS and flag in ("", *UNTIL, *OMITTED):
            raise UsageError(
                f"{flag or 'the target'} {words[-1]}: it is a part of the job screen; name "
                f"that, or have every part run it again with -R {words[-1]}"
            )
    return words


def beside_profile(flags: Sequence[str], chosen: Path) -> list[str]:
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


def forced_once(flags: Sequence[str]) -> list[str]:
    """Flags of Snakemake without the stages of a chunk behind -R, which a run has just made again.

    That they were asked for is kept beside the results: a second run has the libraries' chunks run
    them, and would have the controls' run them once more.

    >>> forced_once(["-R", "score", "--keep-going"])
    ['-R', '--keep-going']
    >>> forced_once(["--forcerun", "parse", "score"])
    ['--forcerun', 'parse']
    """
    words: list[str] = []
    forced = False
    for flag in flags:
        if flag.startswith("-"):
            forced = flag in FORCED
        if not (forced and flag in IN_CHUNKS):
            words.append(flag)
    return words


def until_parsed(flags: Sequence[str], files: Sequence[str]) -> list[str]:
    """Flags of Snakemake with the files that are parsed last for `parse` behind --until.

    Of the jobs of a rule that stands there it lets none begin that awaits another of them, as parts
    do that are parsed one after another. The controls' own parts await none.

    >>> until_parsed(["-n", "--until", "parse", "--touch", "parse"], ["3-of-3.h5", "crystal.h5"])
    ['-n', '--until', '3-of-3.h5', 'crystal.h5', '--touch', 'parse']
    >>> until_parsed(["-U", "pocket", "parse"], ["3-of-3.h5"])
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
