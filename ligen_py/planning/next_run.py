"""What a run would do now, and why: stale, missing and damaged files, and Snakemake's jobs."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from ligen_py.campaign.earlier import EarlierRun
from ligen_py.campaign.old_parts import old_parts
from ligen_py.campaign.workplan import Workplan
from ligen_py.errors import InputError
from ligen_py.paths import snakefile, unknown_user
from ligen_py.provenance import Run
from ligen_py.records.kinds import KINDS
from ligen_py.search_changes import search_changes
from ligen_py.store.campaign.contents import DEEP, Contents, require_past, require_records
from ligen_py.store.campaign.manifest import read_manifest
from ligen_py.store.files.fresh import asked_again, is_fresh, stale
from ligen_py.store.files.inputs import input_digests
from ligen_py.store.files.read import run_record, searched
from ligen_py.summary.table import NAMED, shortened

_EXCEPTION = re.compile(r"^\w+(?:Error|Exception)\b[^\n]*:\n(?:Error:\n)?(.+)", re.MULTILINE)
"""What Snakemake says where it lets no run begin."""


def next_run(
    plan: Workplan, config: Path, folder: Path, command: str, *, deep: bool
) -> Iterator[str]:
    """Lines on what the run of a config in its folder would do; `command` is that run's.

    With `deep` the contents of all sources are compared, not only of those that look changed.
    """
    contents = Contents(folder, deep=deep)
    if plan.pockets:
        yield from _stale_list(plan, folder)
        yield from _stale_files(plan, folder, contents)
    yield from _stale_searches(plan, folder, contents)
    yield from _lost(plan, folder, command)
    yield from _damaged(plan, folder)
    yield from _old_parts(plan, folder)
    try:
        EarlierRun(plan, folder).require_networks()
        pending = list(_pending(config, folder, deep=deep))
    except InputError as error:
        pending = [f"would stop: {error}"]
    yield from pending
    yield from _files_kept(plan, folder, pending)


def _stale_list(plan: Workplan, folder: Path) -> Iterator[str]:
    """Whether the list of parts of an earlier run is that of this config."""
    path = folder / "results" / "manifest.tsv"
    if not path.exists():
        return
    try:
        found = plan.manifest().differences(read_manifest(path).moved(folder))
    except InputError as error:
        yield f"{error}; delete it, and a run makes it again"
        return
    if found:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        yield f"{path} is stale: it {found[0]}{more}; a run makes it again"


def _stale_files(plan: Workplan, folder: Path, contents: Contents) -> Iterator[str]:
    """Files of an earlier run that were made from other contents than their sources have now."""
    seen: set[Path] = set()
    files = plan.manifest(str(folder / "results")).parts
    for part, place in zip(files, plan.parts(), strict=True):
        for kind in ("pocket", "ligands"):
            file: Path = getattr(part, kind)
            reused = kind == "ligands" and plan.is_reused(place.library)
            if file in seen or reused or not file.is_file():
                continue
            seen.add(file)
            try:
                known = input_digests(file, run_record(file, KINDS[kind]))
            except InputError as error:  # the run reads it, and stops
                yield f"would stop: {error}"
                continue
            for source in plan.sources(place, kind):
                if contents.digest(source) not in known:
                    name = place.library if kind == "ligands" else place.target
                    yield (
                        f"{source} has changed: {file}, and all results of '{name}', are stale; "
                        "a run makes them again"
                    )


def _stale_searches(plan: Workplan, folder: Path, contents: Contents) -> Iterator[str]:
    """Searches of an earlier run that were made from other contents than their sources have now."""
    seen: set[tuple[Path, str]] = set()
    try:
        for source, file, search in search_changes(plan, folder / "results", contents.digest):
            if (source, search) not in seen:
                seen.add((source, search))
                what = "the selectivity" if file.parent.name == "pockets" else "all results"
                yield (
                    f"{source} has changed: {file}, and {what} of the search '{search}', are "
                    "stale; a run makes them again"
                )
    except InputError as error:  # the run reads it, and stops
        yield f"would stop: {error}"


def _lost(plan: Workplan, folder: Path, command: str) -> Iterator[str]:
    """Files of an earlier run that are not there, or no longer as it wrote them."""
    try:
        lost = EarlierRun(plan, folder).lost()
    except InputError:  # the list of parts is damaged, as said above
        return
    lines = [f"{file} {how}; '{command}' makes it again" for file, how in lost]
    yield from shortened(lines, "missing or changed")


def _damaged(plan: Workplan, folder: Path) -> Iterator[str]:
    """Files of an earlier run at which the ranking would stop, if nothing makes them again."""
    damaged = []
    for part in plan.manifest(str(folder / "results")).parts:
        for kind in ("refined", "scores"):
            file: Path = getattr(part, kind)
            try:
                if file.is_file():
                    with searched():  # checksums would read all of it
                        run_record(file, KINDS[kind])
            except InputError as error:
                damaged.append(str(error))
    yield from shortened(damaged, "damaged")


def _old_parts(plan: Workplan, folder: Path) -> Iterator[str]:
    """Files of parts that the campaign has no longer, and how many there are."""
    found = list(old_parts(plan, folder / "results"))
    if found:
        count, size = sum(old.files for old in found), sum(old.size for old in found)
        files = f"{count:,} old file{'s' * (count > 1)}, {size / 1e6:,.1f} MB"
        yield (
            f"{files}, of parts that this config does not have; no job of it reads them; delete "
            "them unless you go back to these parts, or they are of another config:"
        )
    for old in found[:NAMED]:
        yield f"  {old.pattern}"
    if len(found) > NAMED:
        yield f"  ... and {sum(old.files for old in found[NAMED:]):,} files in further folders"


def _pending(config: Path, folder: Path, *, deep: bool) -> Iterator[str]:
    """What Snakemake would run in the campaign's folder, rule by rule, and its reasons."""
    try:
        require_records(folder)
        require_past(folder)
    except InputError as error:
        yield f"would stop: {error}"
        return
    if find_spec("snakemake") is None:
        yield "what it would do is not known: Snakemake is not installed here"
        return
    for place in filter(Path.exists, (folder, folder / ".snakemake")):
        if not os.access(place, os.W_OK):
            yield (
                f"what it would do is not known: {place} cannot be written, and Snakemake plans "
                "only where it can; name a copy of the folder by --directory"
            )
            return
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1"]
    # As the profiles have it: without, Snakemake lists nothing while a run works or after a kill.
    command += ["--rerun-incomplete"]
    command += ["--snakefile", str(snakefile()), "--configfile", str(config.absolute())]
    command += ["--directory", str(folder)]
    environment = {**os.environ, **unknown_user(), **({DEEP: "1"} if deep else {})}
    try:
        made = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        yield f"what it would do is not known: {error}"
        return
    lines = (made.stdout + made.stderr).splitlines()
    if made.returncode:
        said = _EXCEPTION.search("\n".join(lines))
        last = next((line for line in reversed(lines) if line.strip()), "Snakemake says nothing")
        yield f"what it would do is not known: {said[1].strip() if said else last}"
        return
    # The counts stand at both ends of what Snakemake prints, the reasons after the last.
    stats = [i for i, line in enumerate(lines) if line.startswith("Job stats")]
    if not stats:
        yield "would do nothing: every result is up to date"
        return
    yield from _table_and_reasons(lines[stats[-1] + 1 :])


def _table_and_reasons(lines: Sequence[str]) -> Iterator[str]:
    """The jobs and why they run; what follows is Snakemake's own advice.

    It says how a result of other settings can be kept as it is: wrong here.
    """
    reasons = False
    for line in lines:
        if line.startswith("This was a dry-run") or (reasons and line[:1].strip()):
            return
        reasons |= line.startswith("Reasons:")
        if line.strip() and "individual jobs above" not in line:
            yield line


def _files_kept(plan: Workplan, folder: Path, pending: Sequence[str]) -> Iterator[str]:
    """Which files of a part a run keeps that screens it again; Snakemake does not know it.

    One part speaks for all, as all have the same settings and code, unless it is up to date.
    """
    jobs = {words[0] for words in map(str.split, pending) if len(words) == 2}
    # What is made before a part decides, too, and is not known before it is made.
    if "screen" not in jobs or jobs & {"parse", "reuse", "pocket"}:
        return
    parts = plan.manifest(str(folder / "results")).parts
    part = next((part for part in parts if part.poses.is_file()), None)
    if part is None:
        return
    stages, files, settings = plan.screening(part)
    marks = [folder / "results" / ".again" / stage.name for stage in stages]
    again = asked_again(marks, files["scores"])
    first, last = stale(stages, files, settings, again, plan.dropped), stages[-1]
    if stages[first] == last:
        inputs = tuple(files[kind] for kind in last.inputs.values())
        expected = Run(last.name, settings[last.name], inputs)
        if is_fresh(files[last.kind], KINDS[last.kind], expected):
            return
    kept, made = (", ".join(s.name for s in some) for some in (stages[:first], stages[first:]))
    if kept:
        yield f"Of {part.label} the files of {kept} are kept; those of {made} are made again"
