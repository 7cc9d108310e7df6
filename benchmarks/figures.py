"""The file that --json names: refused before the work, and written as figures come.

Some are one document, which is written again with every figure. Others have a line of JSON for each
figure, and a run that was stopped goes on where they end, one run at a time.
"""

import argparse
import fcntl
import json
import os
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from ligen_py.errors import InputError


def writable(text: str) -> Path:
    """A file on the command line that is written later; refused where that will not be possible."""
    path = Path(text)
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} cannot be written")
    return path


def save(file: Path | None, document: Any) -> None:
    """Write all that is known by now, if a file is asked for."""
    if file is not None:
        file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def append(file: Path | None, row: dict[str, Any]) -> None:
    """Add a line of JSON, if a file is asked for; one that was cut short before it stands alone."""
    if file is not None:
        with file.open("a+b") as stream:
            if stream.tell() and stream.seek(-1, os.SEEK_END) and stream.read(1) != b"\n":
                stream.write(b"\n")
            stream.write(json.dumps(row).encode() + b"\n")


def lines(file: Path | None) -> list[dict[str, Any]]:
    """What `append` has written, without lines that were cut short; InputError for other files."""
    found = []
    for line in file.read_text().splitlines() if file is not None and file.exists() else ():
        try:
            row = json.loads(line)
        except ValueError:
            if line.startswith("{"):  # cut short, as the disk was full or the run was killed
                continue
            row = None
        if not isinstance(row, dict):
            raise InputError(f"{file}: is no file of figures; give another")
        found.append(row)
    return found


def resumed(file: Path | None, about: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines that a run left which began with `about`; a file that is new gets this line.

    InputError where another run began the file, or is at work on it.
    """
    if file is not None:
        _taken(file)
    found = lines(file)
    if not found:
        append(file, about)
    elif found[0] != about:
        raise InputError(
            f"{file}: was begun with other settings, code, cores or device; give another file"
        )
    return found[1:]


@cache
def _taken(file: Path) -> BinaryIO:
    """A file that no other process takes until this one ends; InputError where one has it."""
    stream = file.open("ab")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        raise InputError(
            f"{file}: another run writes it; wait until that ends, or give another file"
        ) from None
    return stream
