"""Lines of a plain or compressed text file, from any byte on, within bounds of memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ligen_py.errors import InputError

LINE_LIMIT = 1 << 24
"""Longest line in bytes; a longer one is not a line of text."""
RATIO_LIMIT = 400
"""Most bytes out of one compressed byte (libraries reach 5 to 30; a bomb 1000)."""
RATIO_GRACE = 1 << 26
"""Bytes that may come out of a compressed file before its ratio is judged."""
TOTAL_LIMIT = 1 << 40
"""Most bytes out of one compressed file."""

MAGIC = {
    **{b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"},
    # A frame to be skipped, with which files of `pzstd` begin.
    **{bytes([low]) + b"\x2a\x4d\x18": "zstd" for low in range(0x50, 0x60)},
}
"""First bytes of compressed files -> what Arrow calls the method."""

NO_TEXT = {
    b"PK\x03\x04": "a ZIP archive, or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"\xfd7zXZ": "packed with xz",
    b"7z\xbc\xaf": "a 7z archive",
}
"""First bytes of other files that may have the name of a library -> what they are."""

_BLOCK = 1 << 17


class Line(NamedTuple):
    """One line of a file."""

    start: int
    """Its first byte in the (unpacked) file."""
    number: int
    """From 1."""
    content: bytes
    """With its line end, without a byte-order mark; of a piece all its lines."""


def compression(path: Path) -> str:
    """How a file is compressed, a value of `MAGIC`, or an empty text; by its first bytes."""
    with path.open("rb") as file:
        head = file.read(4)
    return next((method for magic, method in MAGIC.items() if head.startswith(magic)), "")


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
            _require_text(path, content)
            content = content.removeprefix(b"\xef\xbb\xbf")
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


def _require_text(path: Path, first: bytes) -> None:
    first = first.partition(b"\n")[0]
    if first.startswith((b"\xff\xfe", b"\xfe\xff")) or first[:2].count(0) == 1:
        raise InputError(f"{path}: is UTF-16 text; save it as UTF-8")
    for magic, kind in NO_TEXT.items():
        if first.startswith(magic):
            raise InputError(f"{path}: is {kind}; unpack it, or save the table as CSV")
    if b"\r" in first.rstrip(b"\r\n"):
        raise InputError(
            f"{path}: its lines end with bare carriage returns; convert the file, as with "
            r"tr '\r' '\n'"
        )


@contextmanager
def unpacked(path: Path) -> Iterator["BufferedReader[Any]"]:
    """The content of a compressed file, stopped when it is damaged or swells beyond reason."""
    import pyarrow  # not every library needs it

    with pyarrow.OSFile(str(path)) as file:
        bounded: Any = _Bounded(path, file, pyarrow.CompressedInputStream(file, compression(path)))
        yield BufferedReader(bounded, _BLOCK)


def require_complete(path: Path) -> None:
    """Unpack a compressed file to its end; InputError where it is damaged or cut short."""
    if compression(path):
        with unpacked(path) as stream:
            while stream.read(_BLOCK):
                pass


class _Bounded:
    """A raw stream that names what is wrong with its compressed file."""

    closed = False

    def __init__(self, path: Path, file: Any, stream: Any) -> None:
        self._path, self._file, self._stream = path, file, stream
        self._given = 0

    def readable(self) -> bool:
        """Always; `RawIOBase` asks before it reads."""
        return True

    def writable(self) -> bool:
        """Never: a library is not changed."""
        return False

    def seekable(self) -> bool:
        """Never: what was unpacked is gone."""
        return False

    def close(self) -> None:
        """Close this view alone; who opened the file closes that."""
        self.closed = True

    def readinto(self, buffer: memoryview) -> int:
        """Unpacked bytes that were put into a buffer, 0 at the end.

        InputError for damaged data, and where far more comes out than went in.
        """
        try:
            count = int(self._stream.readinto(buffer))
        except OSError as error:
            raise InputError(
                f"{self._path}: the compressed data are damaged or cut short ({error}); "
                "copy the file again"
            ) from error
        self._given += count
        if self._given > RATIO_GRACE and self._given > RATIO_LIMIT * self._file.tell():
            raise InputError(
                f"{self._path}: more than {RATIO_LIMIT} bytes come out of each compressed byte; "
                "if that is right, unpack the file and give the plain one"
            )
        if self._given > TOTAL_LIMIT:
            raise InputError(
                f"{self._path}: more than {TOTAL_LIMIT} bytes come out; cut it into several files"
            )
        return count
