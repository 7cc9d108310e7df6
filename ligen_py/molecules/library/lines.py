"""Lines of a plain or compressed text file, from any byte on, within bounds of memory."""

from collections.abc import Iterator
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ligen_py.errors import InputError
from ligen_py.unpacking import BOM, compression, refuse_bare_returns, refuse_no_text, unpacked

LINE_LIMIT = 1 << 24
"""Longest line in bytes; a longer one is not a line of text."""

_BLOCK = 1 << 17


class Line(NamedTuple):
    """One line of a file."""

    start: int
    """Its first byte in the (unpacked) file."""
    number: int
    """From 1."""
    content: bytes
    """With its line end, without a byte-order mark; of a piece all its lines."""


def lines(path: Path, start: int = 0, before: bytes = b"") -> Iterator[Line]:
    """The lines of a file that start at byte `start` or later, with their true numbers.

    `start` is for plain files; a compressed file is read from its beginning. Several lines may come
    as one piece, none but its first starting with `before`, which saves the time of cutting them.

    Raises InputError for compressed data that are damaged, cut short or out of proportion, for a
    line beyond `LINE_LIMIT`, and for text in UTF-16 or with bare carriage returns as line ends.
    """
    if compression(path):
        with unpacked(path) as stream:
            yield from _lines(path, stream, 0, 1, before)
        return
    with BufferedReader(FileIO(path), _BLOCK) as file:
        position, number = 0, 1
        if start:
            number += _count_newlines(file, start - 1)
            position = start - 1 + len(file.readline())
            number += position >= start
        yield from _lines(path, file, position, number, before)


def _count_newlines(file: BinaryIO, end: int) -> int:
    """Newlines before byte `end`; leaves the file there."""
    file.seek(0)
    count = 0
    while end > 0:
        piece = file.read(min(end, 1 << 20))
        if not piece:
            break
        count += piece.count(b"\n")
        end -= len(piece)
    return count


def _lines(
    path: Path, stream: "BufferedReader[Any]", position: int, number: int, before: bytes
) -> Iterator[Line]:
    made = tuple.__new__  # in half the time of calling Line
    # The first line may have a mark before it, which hides what it starts with.
    while content := (position and _piece(stream, before)) or stream.readline(LINE_LIMIT):
        if len(content) == LINE_LIMIT:
            raise InputError(
                f"{path}: line {number} is longer than {LINE_LIMIT} bytes; not a library"
            )
        start = position
        position += len(content)
        if start == 0:
            first = content.partition(b"\n")[0]
            refuse_no_text(path, first)
            refuse_bare_returns(path, first)
            content = content.removeprefix(BOM)
        yield made(Line, (start, number, content))
        number += content.count(b"\n") if before else 1


def _piece(stream: "BufferedReader[Any]", before: bytes) -> bytes:
    """The lines in the buffer up to one that starts with `before`; nothing where that is the next.

    All whole lines of the buffer where no line starts so, none where it has no whole line.
    """
    if not before:
        return b""
    ahead = stream.peek()
    if ahead.startswith(before):
        return b""
    return stream.read(ahead.find(b"\n" + before) + 1 or ahead.rfind(b"\n") + 1)
