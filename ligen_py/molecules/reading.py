"""Records of a library file, whole or one part of it, without looking at any chemistry.

A record is one line of a SMILES file or one block of an SDF file. Part k of n of a plain file is a
byte range: the reader skips to the next record and owns every record that starts in its range, so
that n parts hold every record exactly once and nobody has to split the file. A compressed file
cannot be entered in the middle: there part k holds the records k, k + n, k + 2n, ... of the stream.
"""

import gzip
import io
import os
import re
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ligen_py.errors import InputError

SMILES_SUFFIXES = (".smi", ".smiles", ".txt")
SDF_SUFFIXES = (".sdf", ".sd")

LINE_LIMIT = 1 << 24
"""Longest line in bytes; a longer one is not a line of text."""
BLOCK_LIMIT = 1 << 24
"""Most bytes of one SDF record that are kept; a molecule never comes near."""
RATIO_LIMIT = 400
"""Most bytes out of one compressed byte (libraries reach 5 to 30; a bomb 1000)."""
RATIO_GRACE = 1 << 26
"""Bytes that may come out of a compressed file before its ratio is judged."""

_WHITE = " \t\r\n\v\f"
_DELIMITER = b"$$$$"
_END = b"M  END"


@dataclass(frozen=True)
class Part:
    """Part `index` of `count`, from 1."""

    index: int
    count: int

    def __str__(self) -> str:
        """As on the command line and in file names."""
        return f"{self.index}-of-{self.count}"

    @classmethod
    def parse(cls, text: str) -> "Part":
        """Read "K-of-N"; ValueError unless 1 <= K <= N."""
        found = re.fullmatch(r"([0-9]{1,9})-of-([0-9]{1,9})", text)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise ValueError(f"a part is K-of-N with 1 <= K <= N, such as 1-of-8, not {text!r}")
        return cls(int(found[1]), int(found[2]))


WHOLE = Part(1, 1)


class Record(NamedTuple):
    """One molecule as written in a library file."""

    line: int
    """First line of the record in its file, from 1."""
    name: str
    """Name as given; "line-N" where there is none. Control characters have become spaces."""
    text: str
    """A SMILES, or an SDF block up to and including its end of molecule."""
    is_block: bool
    """True for an SDF block."""


class _Line(NamedTuple):
    start: int
    number: int
    content: bytes


def records(path: Path, part: Part = WHOLE) -> Iterator[Record]:
    """The records of one part of a library, in the order of the file.

    SMILES files hold ``SMILES<white space>name`` a line, the name being the rest of the line; blank
    lines and lines that start with # are no records. SDF records end with a ``$$$$`` line; a last
    one without it counts unless it is blank. Text is UTF-8, with or without a byte-order mark, or
    else Latin-1, with Unix or Windows line ends. Whether a file is compressed is read from its
    content, its format from its name.

    Raises InputError for an unknown format and for compressed data that are damaged, cut short or
    out of proportion.
    """
    sdf = is_sdf(path)
    with path.open("rb") as file:
        magic = file.read(2)
        file.seek(0)
        if magic in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError(f"{path}: is UTF-16 text; save it as UTF-8")
        if magic == b"\x1f\x8b":
            lines = _compressed_lines(path, file)
            every = _sdf(lines, True, None) if sdf else _smiles(lines, None)
            yield from islice(every, part.index - 1, None, part.count)
        else:
            size = os.fstat(file.fileno()).st_size
            start = size * (part.index - 1) // part.count
            end = size * part.index // part.count
            lines = _plain_lines(path, file, start)
            yield from _sdf(lines, start == 0 < end, end) if sdf else _smiles(lines, end)


def is_sdf(path: Path) -> bool:
    """Whether a file's name says SDF (True) or SMILES (False); InputError if neither."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in SMILES_SUFFIXES + SDF_SUFFIXES:
        known = ", ".join(SMILES_SUFFIXES + SDF_SUFFIXES)
        raise InputError(
            f"{path}: format unknown; name it *{known.replace(', ', ', *')}, or with .gz"
        )
    return suffix in SDF_SUFFIXES


def clean_name(text: str) -> str:
    """A name fit for logs and tables: control characters and line separators become spaces.

    Nothing else changes: commas, quotes, slashes, any script, any length.
    """
    if text.isprintable():
        return text.strip(_WHITE)
    kept = (" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    return "".join(kept).strip(_WHITE)


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _smiles(lines: Iterator[_Line], end: int | None) -> Iterator[Record]:
    for line in lines:
        if end is not None and line.start >= end:
            return
        words = _decode(line.content).strip(_WHITE)
        if not words or words.startswith("#"):
            continue
        smiles, *rest = re.split(r"[ \t\v\f\r]+", words, maxsplit=1)
        name = clean_name(rest[0]) if rest else ""
        yield Record(line.number, name or f"line-{line.number}", smiles, False)


def _sdf(lines: Iterator[_Line], owned: bool, end: int | None) -> Iterator[Record]:
    """A record belongs to the part in which the delimiter before it starts.

    `owned` says whether the part begins with the first record of the file, which has none.
    """
    block: list[bytes] = []
    first = 1
    ended, size = False, 0
    for line in lines:
        if line.content.startswith(_DELIMITER):
            if owned:
                yield _block(first, block)
            if end is not None and line.start >= end:
                return
            block, first, owned, ended, size = [], line.number + 1, True, False, 0
        elif owned and not ended:
            size += len(line.content)
            if size <= BLOCK_LIMIT:
                block.append(line.content)
            ended = line.content.startswith(_END)
    if owned and any(content.strip() for content in block):
        yield _block(first, block)


def _block(first: int, block: list[bytes]) -> Record:
    text = _decode(b"".join(block)).replace("\r\n", "\n")
    name = clean_name(text.partition("\n")[0])
    return Record(first, name or f"line-{first}", text, True)


def _plain_lines(path: Path, file: BinaryIO, start: int) -> Iterator[_Line]:
    """Lines that start at byte `start` or later, with their true numbers in the file."""
    position, number = 0, 1
    if start:
        number += _count_newlines(file, start - 1)
        position = start - 1 + len(file.readline())
        number += position >= start
    yield from _lines(path, file, position, number)


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


def _compressed_lines(path: Path, file: BinaryIO) -> Iterator[_Line]:
    """Lines of a gzip file, stopped when the file is damaged or swells beyond reason."""
    with _damage_named(path), gzip.GzipFile(fileobj=file) as stream:
        for line in _lines(path, io.BufferedReader(stream, 1 << 18), 0, 1):
            if line.start > RATIO_GRACE and line.start > RATIO_LIMIT * file.tell():
                raise InputError(
                    f"{path}: more than {RATIO_LIMIT} bytes come out of each compressed byte; "
                    "if that is right, unpack the file and give the plain one"
                )
            yield line


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{path}: the compressed data are damaged or cut short ({error}); copy the file again"
        ) from error


def _lines(path: Path, stream: BinaryIO, position: int, number: int) -> Iterator[_Line]:
    while content := stream.readline(LINE_LIMIT):
        if len(content) == LINE_LIMIT:
            raise InputError(
                f"{path}: line {number} is longer than {LINE_LIMIT} bytes; not a library"
            )
        start = position
        position += len(content)
        if start == 0:
            content = content.removeprefix(b"\xef\xbb\xbf")
        yield _Line(start, number, content)
        number += 1
