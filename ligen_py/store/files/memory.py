"""Records that the stages of one process hand on in memory while a thread writes their files.

Within `handing_on` a file is read once, and what one stage writes the next one takes from memory. A
thread writes the files one after another, in the stages' order, because each names the digests of
those before it. Outside of the block nothing is kept, and a file is complete when its writer goes
on.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from ligen_py.records.column import Kind, Record

R = TypeVar("R", bound=Record)


class Memory:
    """The records of some files, and the thread that writes those which are not on disk yet."""

    def __init__(self) -> None:
        self._locks: defaultdict[tuple[Path, type[Record]], RLock] = defaultdict(RLock)
        self._records: dict[tuple[Path, type[Record]], Record] = {}
        self._kinds: dict[Path, Kind] = {}
        self._thread = ThreadPoolExecutor(1)
        self._last: Future[None] | None = None

    def lock(self, path: Path, declared: type[Record]) -> RLock:
        """For whoever reads a record that another thread may be reading."""
        return self._locks[path, declared]

    def keep(self, path: Path, kind: Kind, record: Record, declared: type[Record]) -> None:
        """Keep a record under the type that the kind of file declares for it."""
        self._kinds[path] = kind
        self._records[path, declared] = record

    def record(self, path: Path, declared: type[R]) -> R | None:
        """A record of a file, or None where it is not kept."""
        found: Any = self._records.get((path, declared))
        return found

    def kind(self, path: Path) -> Kind | None:
        """The kind of a file of which anything is kept."""
        return self._kinds.get(path)

    def forget(self, path: Path) -> None:
        """Free the records of a file that no later stage reads."""
        for key in [key for key in self._records if key[0] == path]:
            del self._records[key]
        self._kinds.pop(path, None)

    def later(self, task: Callable[[], None]) -> None:
        """Have the thread do something after all that it was given before, unless that failed."""
        before = self._last
        if before is not None and before.done():
            before.result()  # what failed ends the stages now

        def follow() -> None:
            """The task, unless what was given before it failed: that error is raised again."""
            if before is not None:
                before.result()
            task()

        self._last = self._thread.submit(follow)

    def finish(self) -> None:
        """Wait until all files are written; raises the first error that there was."""
        if self._last is not None:
            self._last.result()

    def close(self) -> None:
        """Wait for the thread, whatever became of its files."""
        self._thread.shutdown(wait=True)


_current: ContextVar[Memory | None] = ContextVar("memory", default=None)
"""Of one thread: what others read and write meanwhile is not affected."""


def current() -> Memory | None:
    """The memory of the block that runs in this thread, if one does."""
    return _current.get()


@contextmanager
def handing_on() -> Iterator[Memory]:
    """A block whose stages hand on their records; at its end all files are written.

    Where the block fails, files that stages have finished before are written all the same.
    """
    if _current.get() is not None:
        raise RuntimeError("records are handed on already")
    memory = Memory()
    token = _current.set(memory)
    try:
        yield memory
        memory.finish()
    finally:
        memory.close()
        _current.reset(token)
