"""The contents of the files that a campaign is made from, known again by their sizes and times.

Snakemake compares times only. A file that was replaced by an older one, as `cp -p`, `rsync -a` and
`tar` do, is newer than nothing that was made from it. Here its contents count: the rules give them
to Snakemake as a parameter, so that what was made from other contents is made again.

A correction may have the size and the time of modification of the file before (`rsync -a`), but not
its time of change, which the system keeps. A copy or `chmod` changes that, too: then the file is
read once more.
"""

import json
import stat
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from shlex import quote

from ligen_py.errors import InputError
from ligen_py.provenance import file_digest
from ligen_py.store.files.text import write_texts

KEPT = Path(".snakemake", "ligen_contents.json")
"""Where a campaign's folder has what was read before; it may be deleted at any time."""

DEEP = "LIGEN_DEEP"
"""Environment variable: where it is set, every file is read, whatever its size and times."""

THREADS = 8

AHEAD = 5.0
"""Seconds that a result may be newer than now: they pass before the first job has made another."""

RECORDS = ("metadata/*", "metadata.db", "incomplete/*")
"""Where Snakemake's folder has a record of each file, by its two ways to keep them."""


def require_records(folder: Path) -> None:
    """Raise InputError where a campaign has results, but not Snakemake's records of them.

    It would take them for up to date, whatever has changed in config, inputs or program since.
    """
    started = any((folder / "results").rglob("[!.]*.h5"))  # not what a killed job left behind
    if started and not any(any((folder / ".snakemake").glob(records)) for records in RECORDS):
        raise InputError(
            f"{folder / 'results'}: Snakemake's records of how these files were made are gone with "
            f"{folder / '.snakemake'}, so that it would notice no change; type the same command "
            "with '-- --forceall' behind to make them again (what is docked already is kept where "
            "nothing has changed), or with '-- --forceall --touch' to take them as they are"
        )


def require_past(folder: Path) -> None:
    """Raise InputError where a result is newer than now, as a machine whose clock is ahead made it.

    Snakemake compares times: it would call what a job makes from it older than its input, and
    delete it.
    """
    now = time.time()
    for path in (folder / "results").rglob("*"):
        with suppress(OSError):  # gone meanwhile
            found = path.lstat()
            if found.st_mtime > now + AHEAD and stat.S_ISREG(found.st_mode):
                raise InputError(
                    f"{path}: is {found.st_mtime - now:,.0f} s newer than this machine's time, so "
                    "that all that is made from it would count as old; set the clocks, then give "
                    "such files the time of now: find "
                    f"{quote(str(folder / 'results'))} -newermt now -exec touch {{}} +"
                )


class Contents:
    """SHA-256 of files, each read once; later runs read it again where size or times differ."""

    def __init__(self, folder: Path, deep: bool = False) -> None:
        """`folder` is the campaign's; with `deep` all files are read again."""
        self._store = folder / KEPT
        self._before, self._deep = _read(self._store), deep
        self._now: dict[str, list[str | int]] = {}

    def digest(self, path: Path) -> str:
        """SHA-256 of a file. Raises InputError where it cannot be read."""
        name = str(path.absolute())
        if name not in self._now:
            try:
                status = path.stat()
                seen: list[str | int] = [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
                before = None if self._deep else self._before.get(name)
                known = before[3:] if before and before[:3] == seen else [file_digest(path)]
            except OSError as error:
                raise InputError(f"{path}: cannot be read ({error.strerror})") from error
            self._now[name] = [*seen, *known]
        return str(self._now[name][3])

    def digests(self, paths: Iterable[Path]) -> list[str]:
        """SHA-256 of several files, of which some are read at a time."""
        wanted = list(paths)
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(self.digest, dict.fromkeys(wanted)))  # each file once
        return [self.digest(path) for path in wanted]

    def keep(self) -> None:
        """Write what is known for the next run; where that fails, it reads the files again."""
        known = self._before | self._now
        if known == self._before:
            return
        try:
            write_texts(self._store.parent, {self._store.name: json.dumps(known)})
        except (OSError, InputError):
            return


def _read(store: Path) -> dict[str, list[str | int]]:
    try:
        found = json.loads(store.read_text(encoding="utf-8"))
        return {str(name): [*seen, str(sha)] for name, (*seen, sha) in found.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
