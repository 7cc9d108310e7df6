"""Files that are seen whole or not at all, and what has reached the disk."""

import os
from pathlib import Path
from uuid import uuid4


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under another name, then rename it into place; its folder is made.

    Several processes may do so at once. After a power failure the file may be empty or cut short:
    whoever reads it has to notice. Raises OSError, and leaves nothing behind, where the disk takes
    no more.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not by `tempfile`: other users of a shared cache could not read it.
    temporary = path.with_name(f".{uuid4().hex}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    """Wait until a file or a folder is on disk, where a power failure leaves it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
