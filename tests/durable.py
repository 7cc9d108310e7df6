"""Whether a disk that loses what was not synced would lose anything that a program wrote.

Within `traced` each call of fsync notes what a file holds, and each call of rename is compared with
that: a file that gets its name must be on disk as it is then, and its folder must follow.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISDIR
from typing import Any

import pytest


@dataclass
class Trace:
    """What was synced and named so far."""

    folder: Path
    contents: dict[int, str] = field(default_factory=dict)
    """Digest of what a file (inode) held when it was synced last."""
    named: list[Path] = field(default_factory=list)
    unsynced: set[Path] = field(default_factory=set)
    """Folders that got a name after they were synced last."""
    faults: list[str] = field(default_factory=list)

    def synced(self, handle: int) -> None:
        """After a call of fsync."""
        path, status = Path(f"/proc/self/fd/{handle}").readlink(), os.fstat(handle)
        if S_ISDIR(status.st_mode):
            self.unsynced.discard(path)
        else:
            self.contents[status.st_ino] = _digest(path)

    def renamed(self, source: Path, target: Path) -> None:
        """Before a call of rename."""
        files = [source] if source.is_file() else list(source.rglob("*"))
        for file in filter(Path.is_file, files):
            if self.contents.get(file.stat().st_ino) != _digest(file):
                self.faults.append(f"{target}: gets its name before {file.name} is on disk")
        self.named.append(target.resolve())
        self.unsynced.add(target.resolve().parent)

    def lost(self) -> list[str]:
        """What a power failure now would lose of the folder."""
        left = [f"{folder}: its names are not on disk" for folder in sorted(self.unsynced)]
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and self.contents.get(path.stat().st_ino) != _digest(path):
                left.append(f"{path}: its contents are not on disk")
        return self.faults + left


@contextmanager
def traced(folder: Path) -> Iterator[Trace]:
    """Trace what this process writes."""
    trace, fsync = Trace(folder), os.fsync

    def traced_fsync(handle: int) -> None:
        fsync(handle)
        trace.synced(handle)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", traced_fsync)
        for name in ("rename", "replace"):
            patch.setattr(os, name, _traced_rename(trace, getattr(os, name)))
        yield trace


def _traced_rename(trace: Trace, rename: Any) -> Any:
    def traced_rename(source: Any, target: Any, **words: Any) -> None:
        trace.renamed(Path(source), Path(target))
        rename(source, target, **words)

    return traced_rename


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
