"""A checksum line after the contents of a file, checked before HDF5 reads them.

HDF5's own checksums do not cover texts and much of its metadata: a single wrong bit there can
remain unnoticed, or cause an endless loop in the library. HDF5 ignores the line, and drops it when
a program changes the file. So the root of the file says that the line must be there: a file whose
end was lost, zeroed or written anew by another program is not one without a line.
"""

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

MAGIC = b"ligen_py sha256 "
LENGTH = len(MAGIC) + 64 + 1

SEALED = "sealed"
"""Attribute of the root group: 1 where the file must end with the line."""

BLOCK = 1 << 24
"""Bytes that are hashed separately, so that several cores can work on a large file."""

PIECE = 1 << 18
"""Bytes of a block that are in memory at a time: new memory costs as much as hashing it."""

THREADS = 8

LARGEST = 1 << 32
"""Files with more bytes are not checked when they are opened; `verify` merges such a file again."""


def seal(path: Path) -> None:
    """Append the line to a file that is complete."""
    digest = _digest(path, path.stat().st_size)
    with path.open("ab") as stream:
        stream.write(MAGIC + digest.encode() + b"\n")


def is_broken(path: Path) -> bool:
    """Whether a file ends with the line, and its contents do not match it."""
    status = path.stat()
    if not path.is_file() or not LENGTH < status.st_size <= LARGEST:
        return False
    return _is_broken(path, status.st_size, status.st_mtime_ns, status.st_ino)


def has_line(path: Path) -> bool:
    """Whether a file ends with the line, matching or not."""
    return path.stat().st_size > LENGTH and _last(path).startswith(MAGIC)


def _last(path: Path) -> bytes:
    with path.open("rb") as stream:
        stream.seek(-LENGTH, os.SEEK_END)
        return stream.read()


@lru_cache(maxsize=64)
def _is_broken(path: Path, size: int, changed: int, number: int) -> bool:
    line = _last(path)
    if not line.startswith(MAGIC):
        return False
    return line[len(MAGIC) : -1] != _digest(path, size - LENGTH).encode()


def _digest(path: Path, size: int) -> str:
    """SHA-256 over the SHA-256 of every block of the first `size` bytes, hexadecimal."""

    def of_block(first: int) -> bytes:
        """SHA-256 of the block that begins at a byte."""
        digest, left = hashlib.sha256(), min(BLOCK, size - first)
        piece = memoryview(bytearray(min(PIECE, left)))
        with path.open("rb", buffering=0) as stream:
            stream.seek(first)
            while left and (count := stream.readinto(piece[:left])):
                digest.update(piece[:count])
                left -= count
        return digest.digest()

    if size <= BLOCK:  # starting threads would take longer
        return hashlib.sha256(of_block(0) if size else b"").hexdigest()
    with ThreadPoolExecutor(THREADS) as pool:
        return hashlib.sha256(b"".join(pool.map(of_block, range(0, size, BLOCK)))).hexdigest()
