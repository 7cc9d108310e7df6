"""SHA-256 of large files, which is not computed again while a file does not change."""

import hashlib
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from ligen_py.whole_files import write_whole

AT_ONCE = 8
"""Files that are read at a time."""

BLOCK = 1 << 24
"""Bytes that are read at a time: seldom does a thread that hashes wait for the others."""


class Known:
    """SHA-256 of files that were hashed before: by path, size, and times of change."""

    def __init__(self, cache: Path | None) -> None:
        """Digests are kept in a file of the cache folder."""
        self._folder = None if cache is None else cache / "digests"

    def digest(self, path: Path) -> str | None:
        """The digest of a file that has not changed since, or None."""
        if self._folder is None:
            return None
        digest = b""
        with suppress(OSError):  # none yet, or of a user who lets no other read it
            digest = (self._folder / _file_key(path)).read_bytes()
        return digest.decode() if re.fullmatch(rb"[0-9a-f]{64}", digest) else None

    def hash(self, path: Path) -> str:
        """Read a file for its digest."""
        key, now = _file_key(path), time.time()
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256", _bufsize=BLOCK).hexdigest()
        # A change within the clock's step would go unseen, so a fresh file is not kept.
        if self._folder is not None and now - path.stat().st_ctime > 2 and key == _file_key(path):
            with suppress(OSError):  # what cannot be kept is computed again next time
                write_whole(self._folder / key, digest.encode())
        return digest

    def hash_all(self, paths: Sequence[Path]) -> list[str]:
        """Read several files at once for their digests."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(self.hash, paths))


def _file_key(path: Path) -> str:
    status = path.stat()
    facts = path.resolve(), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
