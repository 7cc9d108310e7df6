"""A line behind the contents of a file that says what they must be, before HDF5 looks at them.

HDF5's own checksums leave out texts and much of its bookkeeping: a single wrong bit there can go
unnoticed, or send the library into an endless loop. HDF5 takes no notice of the line, and drops it
when a program changes the file.
"""

import hashlib
from functools import lru_cache
from pathlib import Path

MAGIC = b"ligen_py sha256 "
LENGTH = len(MAGIC) + 64 + 1

LARGEST = 1 << 30
"""Bytes of a file above which opening it does not read it all; `verify` merges such a file anew."""


def seal(path: Path) -> None:
    """Append the line to a file that is complete."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    with path.open("ab") as stream:
        stream.write(MAGIC + digest.encode() + b"\n")


def is_broken(path: Path) -> bool:
    """Does a file end with the line, and hold something else than it says?"""
    status = path.stat()
    if not path.is_file() or not LENGTH < status.st_size <= LARGEST:
        return False
    return _is_broken(path, status.st_size, status.st_mtime_ns, status.st_ino)


@lru_cache(maxsize=64)
def _is_broken(path: Path, size: int, changed: int, number: int) -> bool:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        stream.seek(size - LENGTH)
        line = stream.read()
        if not line.startswith(MAGIC):
            return False
        stream.seek(0)
        left = size - LENGTH
        while left and (block := stream.read(min(left, 1 << 20))):
            digest.update(block)
            left -= len(block)
    return line[len(MAGIC) : -1] != digest.hexdigest().encode()
